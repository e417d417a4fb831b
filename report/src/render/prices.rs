//! What one handoff costs: in the README, the report, the evidence of a study, and on a terminal.

use std::collections::BTreeSet;
use std::fmt::Write as _; // Writing to a String cannot fail, so its results are dropped.

use super::markdown::{EVIDENCE, Table, around, bullets, cell, code, heading, known, round};
use super::rule;
use crate::claims::handoffs::Way;
use crate::fmt;
use crate::judge::figures;
use crate::judge::prices::{JudgedPrice, OnHost};
use crate::page::view::{StudyView, predicted, price_host};

const WAYS: [Way; 2] = [Way::Sync, Way::Async];
/// A handoff adds less than 5 % to work that takes so many times as long.
const FEW: f64 = 20.0;

/// The prices that the README shows, from cheap to dear, and below them what has a sentence of its own; nothing if none of them was measured.
pub fn short(studies: &[StudyView]) -> String {
    let host = price_host(studies);
    let seconds = |price: &JudgedPrice| WAYS.iter().rev().find_map(|way| price.seconds(host, *way));
    let mut shown: Vec<_> = priced(studies).filter(|(_, price)| price.price.is_in_readme).collect();
    if shown.is_empty() {
        return String::new();
    }
    shown.sort_by(|(_, a), (_, b)| {
        let [a, b] = [a, b].map(|price| seconds(price).unwrap_or(f64::INFINITY));
        a.total_cmp(&b)
    });
    let found = predicted(studies);
    let rule = format!(
        "**Overhead = cost of a handoff ÷ work between two handoffs.** So 50 µs per 1 ms of work is 5 %. This rule predicts [{} of {} effects](REPORT.md#the-rule) to within a quarter (effects below 20 %: to within 5 points). ",
        rule::agreeing(&found),
        found.len()
    );
    let apart = format!(
        " Most of a wake's cost is [getting an idle core out of sleep]({EVIDENCE}MACHINES.md#idle-cores-that-sleep-or-poll). Where idle cores poll for up to 200 µs before they sleep, a wake within that time is cheap; [after more work](REPORT.md#prices) it is not. A trip to the blocking pool costs more after more work. `make prices` tells about your machine."
    );
    let is_apart = shown.iter().any(|(_, price)| !polling(price).is_empty());
    let (apart, rule) = (if is_apart { &apart[..] } else { "" }, if found.is_empty() { "" } else { &rule });
    let (from, at) = match Vec::from_iter(ranged(studies))[..] {
        [only] => (format!(", on [{}", cell(studies[0].host_name(only))), ", with one round's confidence interval"),
        ref hosts => (format!("; ranges are over up to [{} hosts", hosts.len()), ""),
    };
    let lead = format!("A price is what a handoff adds to the same work in place{from}]({EVIDENCE}MACHINES.md){at}.");
    let (said, rows): (Vec<_>, Vec<_>) = shown.into_iter().partition(|(_, price)| !price.price.uses.is_empty());
    let sentence = |(view, price): &(&StudyView, &JudgedPrice)| {
        let words = price.use_in_words();
        if words.is_empty() { words } else { format!("\n{}.\n", link(view, &words)) }
    };
    let (table, said) = (table(studies, &rows), said.iter().map(sentence).collect::<String>());
    let chart = rule::chart(&found);
    format!("A handoff passes work or data to another thread or task. {rule}{lead}{apart}\n\n{table}{said}{chart}")
}

/// The prices that the report shows beside those of the README, by study: a section of it; nothing if none was measured.
pub fn section(studies: &[StudyView]) -> String {
    let others = priced(studies).filter(|(_, price)| !price.price.is_in_readme);
    let (shown, rest): (Vec<_>, Vec<_>) = others.partition(|(_, price)| price.price.is_in_report);
    if shown.is_empty() && rest.is_empty() {
        return String::new();
    }
    let more = format!(" and {}", fmt::plural(rest.len(), "more price", "more prices"));
    let more = if rest.is_empty() { "" } else { &more };
    let (title, table) = (heading("prices", "## Prices"), table(studies, &shown));
    format!(
        "{title}[README](README.md#what-a-handoff-costs) has the most used. Links lead to conditions{more}.\n\n{table}"
    )
}

/// A row per price: the range over hosts, or what the only one says; two more columns where idle cores poll.
fn table(studies: &[StudyView], rows: &[(&StudyView, &JudgedPrice)]) -> String {
    let mut table = Table::new("Price of | >Sync | >Async | >Sync, cores poll | >Async, cores poll");
    let all = ranged(studies).len();
    for (view, price) in rows {
        let hosts: Vec<&OnHost> = price.ranged().collect();
        let figure = |way| match hosts[..] {
            [only] if all == 1 => figure(only, way),
            _ => known(price.range(way)),
        };
        let [sync, asynchronous] = WAYS.map(figure);
        let [sync_polling, async_polling] = WAYS.map(|way| known(price.polling_range(way)));
        let fewer = Some(hosts.len()).filter(|hosts| (1..all).contains(hosts));
        let of = fewer.map(|hosts| format!(" ({})", fmt::plural(hosts, "host", "hosts"))).unwrap_or_default();
        table.row([link(view, &price.price.text) + &of, sync, asynchronous, sync_polling, async_polling]);
    }
    table.render()
}

/// The prices of a study by host: a section of its evidence; nothing if none was measured.
pub fn by_host(view: &StudyView) -> String {
    let mut table = Table::new("Id | Price of | Host | >Sync | >Async | >In place | >Blocks | Round");
    let mut notes = BTreeSet::new();
    for price in &view.prices {
        let mut first = [code(&price.price.id), cell(&words(price))];
        for on in &price.hosts {
            let blocks = on.rows.iter().filter_map(|(_, row)| Some(row.estimate?.n)).max().unwrap_or_default();
            let figures = [Way::Sync, Way::Async, Way::Base].map(|way| figure(on, way));
            let host = cell(view.host_name(on.at.host));
            table.row([&first[..], &[host], &figures, &[blocks.to_string(), round(&on.at.round)]].concat());
            first = [const { String::new() }; 2];
            notes.extend(on.rows.iter().flat_map(|(_, row)| {
                let (what, host) = (figures::what(&row.scale), view.host_name(on.at.host));
                figures::aside(row).map(move |said| format!("{what}: {said} ({host})."))
            }));
        }
    }
    table.below(&heading("prices", "## Prices")) + &bullets(&notes)
}

/// Prices for a terminal, all or those of the README.
pub fn in_text(studies: &[StudyView], is_short: bool) -> String {
    let mut out = String::new();
    for (_, price) in priced(studies).filter(|(_, price)| price.price.is_in_readme || !is_short) {
        let on = price.on(price_host(studies));
        let over =
            if price.polling_apart && !polling(price).is_empty() { "if idle cores sleep: " } else { "over hosts: " };
        let threshold = around("least work for under 5 %: ", thresholds(price), "");
        let lines = [
            by_way(|way| Some(figures::estimate(on?.row(way)?))),
            around(over, by_way(|way| price.range(way).filter(|_| price.ranged().count() > 1)), ""),
            around("if idle cores poll: ", polling(price), ""),
            if price.price.uses.is_empty() { threshold } else { price.use_in_words() },
        ];
        let _ = writeln!(out, "{}", words(price));
        out.extend(lines.map(|line| around("    ", line.replace('`', ""), "\n")));
    }
    let host = studies.first().map_or("", |view| view.host_name(price_host(studies)));
    around(&format!("What one handoff costs, on {host}:\n"), out, "")
}

fn priced(studies: &[StudyView]) -> impl Iterator<Item = (&StudyView, &JudgedPrice)> {
    studies.iter().flat_map(|view| view.prices.iter().map(move |price| (view, price)))
}

/// The hosts that a range is over.
fn ranged(studies: &[StudyView]) -> BTreeSet<usize> {
    priced(studies).flat_map(|(_, price)| price.ranged()).map(|on| on.at.host).collect()
}

fn link(view: &StudyView, text: &str) -> String {
    format!("[{}]({EVIDENCE}{}.md#prices)", cell(text), view.judged.study)
}

/// What is handed over, and under what it was measured.
fn words(price: &JudgedPrice) -> String {
    price.price.text.clone() + &around(" (", &price.price.condition, ")")
}

fn figure(on: &OnHost, way: Way) -> String {
    known(on.row(way).map(figures::estimate))
}

/// "sync 1.6 ms, async 220 µs": the least work to which a handoff adds less than 5 %; empty for what is no time.
fn thresholds(price: &JudgedPrice) -> String {
    let is_time = |way: Way| price.hosts.iter().any(|on| price.seconds(on.at.host, way).is_some());
    of_ways(|way| price.times(way, FEW).filter(|_| is_time(way)))
}

/// "sync 7 µs, async 7.4 µs": what it takes where idle cores poll, if that stands apart.
fn polling(price: &JudgedPrice) -> String {
    of_ways(|way| price.polling_range(way))
}

/// What is said of the only way, or of each behind its name.
fn of_ways(said: impl Fn(Way) -> Option<String>) -> String {
    match WAYS.map(&said) {
        [Some(only), None] | [None, Some(only)] => only,
        _ => by_way(said),
    }
}

/// What is said of each way, behind its name.
fn by_way(said: impl Fn(Way) -> Option<String>) -> String {
    let said = WAYS.into_iter().filter_map(|way| Some(format!("{} {}", way.into_str(), said(way)?)));
    said.collect::<Vec<_>>().join(", ")
}
