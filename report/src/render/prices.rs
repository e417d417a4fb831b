//! What one handoff costs: in the README, the report, the evidence of a study, and on a terminal.

use std::fmt::Write as _; // Writing to a String cannot fail, so its results are dropped.

use super::markdown::{Table, cell, code, text};
use super::parts::{EVIDENCE, some};
use crate::claims::handoffs::Way;
use crate::fmt::anchor;
use crate::judge::figures::{self, or_nothing};
use crate::judge::prices::{JudgedPrice, OnHost};
use crate::page::view::{StudyView, price_host};

/// How a handoff is made, in the order of the columns.
const WAYS: [Way; 2] = [Way::Sync, Way::Async];

/// The prices that the README shows; nothing if none of them was measured.
pub fn short(studies: &[StudyView]) -> String {
    let mut table = Table::new("A handoff | >Sync | >Async | Over hosts | Use");
    let mut rows = 0;
    for (view, price) in priced(studies).filter(|(_, price)| price.price.is_in_readme) {
        let link = format!("[{}]({EVIDENCE}{}.md#prices)", cell(&price.price.text), view.judged.study);
        let [sync, asynchronous] = WAYS.map(|way| figure(price.on(price_host(studies)), way));
        table.row([link, sync, asynchronous, some(text(&over_hosts(price))), cell(&price.use_in_words())]);
        rows += 1;
    }
    if rows == 0 { String::new() } else { format!("{}\n{}", lead(studies), table.render()) }
}

/// All prices, by study: a section of the report; nothing if none was measured.
pub fn section(studies: &[StudyView]) -> String {
    if priced(studies).next().is_none() {
        return String::new();
    }
    let mut table = Table::new("Study | A handoff | >Sync | >Async | >In place | Over hosts | Use");
    for view in studies {
        for (at, price) in view.prices.iter().enumerate() {
            let study = &view.judged.study;
            let study = if at == 0 { format!("[{study}](#{})", anchor(study, "")) } else { String::new() };
            let on = price.on(price_host(studies));
            let [sync, asynchronous, base] = [Way::Sync, Way::Async, Way::Base].map(|way| figure(on, way));
            let hosts = some(text(&over_hosts(price)));
            table.row([study, named(price), sync, asynchronous, base, hosts, cell(&price.use_in_words())]);
        }
    }
    format!("<a id=\"prices\"></a>\n\n## Prices\n\n{}\n{}", lead(studies), table.render())
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
        let lines =
            [figures, if hosts.is_empty() { hosts } else { format!("over hosts: {hosts}") }, price.use_in_words()];
        for line in lines.iter().filter(|line| !line.is_empty()) {
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
    let and_range = if is_ranged { ", and the range over hosts" } else { "" };
    format!(
        "What one handoff costs on {}, with its confidence interval{and_range}; less the same thing done in place, where that was measured. It is *small* \
         against work of twenty times as much, to which it adds 5 %. On your machine: `make prices`.\n",
        cell(host_name(studies))
    )
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
    let range = |way: Way| Some(format!("{} {}", way.into_str(), price.range(way, 1.0)?));
    WAYS.into_iter().filter_map(range).collect::<Vec<_>>().join(", ")
}
