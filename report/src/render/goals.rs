//! The goals of a study, for the README of its crate.

use super::markdown::{Table, cell, code, text};
use super::parts::{marked, some, supplements};
use crate::figures::{self, NOTHING, or_nothing};
use crate::judged::Row;
use crate::view::StudyView;

/// The table of a study's goals; marks are explained below it.
pub fn table(view: &StudyView) -> String {
    let mut table = Table::new("| Goal | >Aim | Scenario | Ours | Medians | Result");
    for goal in &view.judged.goals {
        let first = [cell(&goal.id), cell(&goal.text), bound(&goal.bound)];
        let standing = figures::goal_standing(goal.standing);
        let mut rows = goal.rows.iter().map(|row| {
            [code(&row.scenario), marked(text(&goal_figure(row)), goal.mark), some(text(&figures::named_sides(row)))]
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

/// "≤ 2.5" for "<= 2.5".
fn bound(raw: &str) -> String {
    text(&raw.replace("<=", "≤").replace(">=", "≥"))
}

fn goal_figure(row: &Row) -> String {
    or_nothing(row.estimate.as_ref(), |estimate| {
        format!("{}, {}", figures::estimate(row), figures::sample_size(estimate))
    })
}
