//! The goals of a study, for the README of its crate.

use super::markdown::{Table, cell, code, text};
use super::parts::some;
use crate::judge::figures::{self, NOTHING, or_nothing};
use crate::judge::judged::Verdict;
use crate::page::view::StudyView;

/// The table of a study's goals.
pub fn table(view: &StudyView) -> String {
    let mut table = Table::new("| Goal | >Aim | Scenario | Ours | Medians | Result");
    for goal in &view.judged.goals {
        let bound = goal.bound.replace("<=", "≤").replace(">=", "≥");
        let first = [cell(&goal.id), cell(&goal.text), text(&bound)];
        let verdict = match goal.verdict {
            Verdict::Holds | Verdict::NotTested => goal.verdict.to_string(),
            verdict => format!("**{verdict}**"),
        };
        let mut rows = goal.rows.iter().map(|row| {
            let figure = or_nothing(row.estimate.as_ref(), |estimate| {
                format!("{}, {}", figures::estimate(row), figures::sample_size(estimate))
            });
            [code(&row.scenario), text(&figure), some(text(&figures::named_sides(row)))]
        });
        let figures = rows.next().unwrap_or_else(|| [NOTHING; 3].map(str::to_owned));
        table.row([&first[..], &figures, &[verdict]].concat());
        for figures in rows {
            table.row([&[const { String::new() }; 3][..], &figures].concat());
        }
    }
    table.render()
}
