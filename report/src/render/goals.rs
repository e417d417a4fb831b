//! The goals of a study, for the README of its crate.

use super::markdown::{Table, cell, code, text};
use super::parts::{some, supplements};
use crate::figures::{self, NOTHING, or_nothing};
use crate::judged::Kept;
use crate::view::StudyView;

/// The table of a study's goals; marks are explained below it.
pub fn table(view: &StudyView) -> String {
    let mut table = Table::new("| Goal | >Aim | Scenario | Ours | Medians | Result");
    for goal in &view.judged.goals {
        let bound = goal.bound.replace("<=", "≤").replace(">=", "≥");
        let first = [cell(&goal.id), cell(&goal.text), text(&bound)];
        let standing = match goal.standing {
            Kept::Met | Kept::NotMeasured => goal.standing.into_str().to_owned(),
            Kept::Missed | Kept::Undecided => format!("**{}**", goal.standing.into_str()),
        };
        let mut rows = goal.rows.iter().map(|row| {
            let figure = or_nothing(row.estimate.as_ref(), |estimate| {
                format!("{}, {}", figures::estimate(row), figures::sample_size(estimate))
            });
            [code(&row.scenario), figures::marked(text(&figure), goal.mark), some(text(&figures::named_sides(row)))]
        });
        let figures = rows.next().unwrap_or_else(|| [NOTHING; 3].map(str::to_owned));
        table.row([&first[..], &figures, &[standing + goal.mark]].concat());
        for figures in rows {
            table.row([&[const { String::new() }; 3][..], &figures].concat());
        }
    }
    let is_marked = view.judged.goals.iter().any(|goal| !goal.mark.is_empty());
    let notes = if is_marked { format!("\n{}", supplements(view)) } else { String::new() };
    table.render() + &notes
}
