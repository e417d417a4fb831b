//! What one handoff costs: in the README, the report, the evidence of a study, and on a terminal.

use std::fmt::Write as _; // Writing to a String cannot fail, so its results are dropped.

use super::markdown::{Table, cell, code, text};
use super::parts::{EVIDENCE, some};
use crate::claims::handoffs::Way;
use crate::fmt;
use crate::judge::figures::{self, or_nothing};
use crate::judge::prices::{JudgedPrice, OnHost};
use crate::page::view::{StudyView, price_host};

/// How a handoff is made, in the order of the columns.
const WAYS: [Way; 2] = [Way::Sync, Way::Async];
/// A handoff adds less than 5 % to work that takes so many times as long.
const FEW: f64 = 20.0;
const ADDS_LITTLE: &str = "Adds under 5 % to work longer than";

/// The prices that the README shows, from cheap to dear, and below them what has a sentence of its own; nothing if none of them was measured.
pub fn short(studies: &[StudyView]) -> String {
    let host = price_host(studies);
    let mut shown: Vec<_> = priced(studies).filter(|(_, price)| price.price.is_in_readme).collect();
    if shown.is_empty() {
        return String::new();
    }
    let dearest = |price: &JudgedPrice| {
        let seconds = WAYS.iter().rev().find_map(|way| price.seconds(host, *way));
        seconds.unwrap_or(f64::INFINITY)
    };
    shown.sort_by(|(_, a), (_, b)| dearest(a).total_cmp(&dearest(b)));
    let (said, rows): (Vec<_>, Vec<_>) = shown.into_iter().partition(|(_, price)| !price.price.uses.is_empty());
    let mut table = Table::new(&format!("A handoff | >Sync | >Async | >{ADDS_LITTLE}"));
    for (view, price) in rows {
        let [sync, asynchronous] = WAYS.map(|way| figure(price.on(host), way));
        table.row([link(view, &price.price.text), sync, asynchronous, some(text(&thresholds(price)))]);
    }
    let said = said.iter().map(|(view, price)| format!("\n{}.\n", link(view, &price.use_in_words())));
    format!(
        "{} On your machine: `make prices`.\n\n{}{}",
        lead(studies),
        table.render(),
        said.collect::<Vec<_>>().concat()
    )
}

/// The prices that the report shows, by study: a section of it; nothing if none was measured.
pub fn section(studies: &[StudyView]) -> String {
    let all = priced(studies).count();
    if all == 0 {
        return String::new();
    }
    let mut table = Table::new("A handoff | >Sync | >Async | Over hosts");
    let mut rows = 0;
    for (view, price) in priced(studies).filter(|(_, price)| price.price.is_in_readme || price.price.is_in_report) {
        let on = price.on(price_host(studies));
        let [sync, asynchronous] = WAYS.map(|way| figure(on, way));
        table.row([link(view, &price.price.text), sync, asynchronous, some(text(&over_hosts(price)))]);
        rows += 1;
    }
    let rest = fmt::plural(all - rows, "more price", "more prices");
    let more = if rows < all { format!(" and {rest}") } else { String::new() };
    format!(
        "<a id=\"prices\"></a>\n\n## Prices\n\n{} The evidence behind each link has the conditions{more}.\n\n{}",
        lead(studies),
        table.render()
    )
}

/// The prices of a study by host: a section of its evidence; nothing if none was measured.
pub fn by_host(view: &StudyView) -> String {
    if view.prices.is_empty() {
        return String::new();
    }
    let mut table = Table::new("Price | A handoff | Host | >Sync | >Async | >In place | >Blocks | Round");
    for price in &view.prices {
        for (at, on) in price.hosts.iter().enumerate() {
            let first = [code(&price.price.id), named(price)].map(|words| if at == 0 { words } else { String::new() });
            let blocks = on.rows.iter().filter_map(|(_, row)| Some(row.estimate?.n)).max().unwrap_or_default();
            let round = format!("[{}](../../results/{})", on.round.rsplit('/').next().unwrap_or_default(), on.round);
            let figures = [Way::Sync, Way::Async, Way::Base].map(|way| figure(Some(on), way));
            let host = cell(view.origin.name(on.host));
            table.row([&first[..], &[host], &figures, &[blocks.to_string(), round]].concat());
        }
    }
    format!("<a id=\"prices\"></a>\n\n## Prices\n\n{}\n", table.render())
}

/// Prices for a terminal, all or those of the README.
pub fn in_text(studies: &[StudyView], is_short: bool) -> String {
    let mut out = String::new();
    for (_, price) in priced(studies).filter(|(_, price)| price.price.is_in_readme || !is_short) {
        let on = price.on(price_host(studies));
        let figure = |way: Way| Some(format!("{} {}", way.into_str(), figures::estimate(on?.row(way)?)));
        let figures = WAYS.into_iter().filter_map(figure).collect::<Vec<_>>().join(", ");
        let _ = writeln!(out, "{}", words(price));
        let hosts = over_hosts(price);
        let hosts = if hosts.is_empty() { hosts } else { format!("over hosts: {hosts}") };
        let usable = match thresholds(price) {
            _ if !price.price.uses.is_empty() => price.use_in_words(),
            thresholds if thresholds.is_empty() => thresholds,
            thresholds => format!("{}: {thresholds}", ADDS_LITTLE.to_lowercase()),
        };
        for line in [figures, hosts, usable].iter().filter(|line| !line.is_empty()) {
            let _ = writeln!(out, "    {}", line.replace('`', ""));
        }
    }
    if out.is_empty() { out } else { format!("What one handoff costs, on {}:\n{out}", host_name(studies)) }
}

/// The prices that were measured, with their studies.
fn priced(studies: &[StudyView]) -> impl Iterator<Item = (&StudyView, &JudgedPrice)> {
    studies.iter().flat_map(|view| view.prices.iter().map(move |price| (view, price)))
}

fn host_name(studies: &[StudyView]) -> &str {
    studies.first().map_or("", |view| view.origin.name(price_host(studies)))
}

fn lead(studies: &[StudyView]) -> String {
    let is_ranged = priced(studies).any(|(_, price)| price.hosts.len() > 1);
    let and_range = if is_ranged { "; thresholds are ranges over hosts" } else { "" };
    format!(
        "A handoff passes work or data to another thread or task. These are the costs of one on [{}]({EVIDENCE}MACHINES.md) with their confidence intervals{and_range}. \
         The cost of the same work in place is subtracted.",
        cell(host_name(studies))
    )
}

/// The text as a link to the prices of the study.
fn link(view: &StudyView, text: &str) -> String {
    format!("[{}]({EVIDENCE}{}.md#prices)", cell(text), view.judged.study)
}

/// "sync 1.6 ms, async 220 µs": work to which a handoff adds as little as [`ADDS_LITTLE`] says; empty for what is no time.
fn thresholds(price: &JudgedPrice) -> String {
    let is_time = |way: &Way| price.hosts.iter().any(|on| price.seconds(on.host, *way).is_some());
    let threshold = |way: Way| Some((way.into_str(), price.times(way, FEW)?));
    match WAYS.into_iter().filter(is_time).filter_map(threshold).collect::<Vec<_>>().as_slice() {
        [(_, only)] => only.clone(),
        both => both.iter().map(|(way, said)| format!("{way} {said}")).collect::<Vec<_>>().join(", "),
    }
}

/// What is handed over, and under what it was measured.
fn words(price: &JudgedPrice) -> String {
    let (text, condition) = (&price.price.text, &price.price.condition);
    if condition.is_empty() { text.clone() } else { format!("{text} ({condition})") }
}

fn named(price: &JudgedPrice) -> String {
    cell(&words(price))
}

/// What a host measured this way, with its interval.
fn figure(on: Option<&OnHost>, way: Way) -> String {
    or_nothing(on.and_then(|on| on.row(way)), |row| text(&figures::estimate(row)))
}

/// "sync 1.2 to 3.4 µs, async 0.3 to 0.5 µs"; empty if one host alone measured it.
fn over_hosts(price: &JudgedPrice) -> String {
    if price.hosts.len() < 2 {
        return String::new();
    }
    let range = |way: Way| Some(format!("{} {}", way.into_str(), price.range(way)?));
    WAYS.into_iter().filter_map(range).collect::<Vec<_>>().join(", ")
}
