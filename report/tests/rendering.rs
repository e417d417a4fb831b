//! The report and its charts from a made-up study with one claim per verdict.
//!
//! `UPDATE_GOLDEN=1 cargo test --test rendering` rewrites `tests/golden/` after an intended change.

use std::path::PathBuf;

use report::charts;
use report::charts::canvas::{WIDTH, width_of};
use report::claims::{Form, Unit};
use report::folder::machine::Machine;
use report::judge::figures::{coverage, estimate, figure, floor, short};
use report::judge::judged::{Estimate, JudgedStudy, Range, Row, Scale, Verdict};
use report::judge::rounds::Source;
use report::page::Page;
use report::page::view::StudyView;
use report::render::{self, splice_blocks};
use strum::VariantArray as _;

mod fixture;
mod painted;

use fixture::{claim, ratio, scaled, side, twelve, value};

fn golden(name: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, text).expect("the golden folder is writable");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        expected == text,
        "{name} has changed; if intended: UPDATE_GOLDEN=1 cargo test --test rendering, then read the diff"
    );
}

/// All pages for people, one after the other: REPORT.md, the machines, the trust, the evidence of each study.
fn report_md(views: &[StudyView]) -> String {
    render::pages(views).into_values().collect()
}

/// A study without claims, samples, tables or prose.
fn empty() -> StudyView {
    let StudyView { judged: JudgedStudy { study, folder, profile, .. }, page, .. } = fixture::view();
    let page = Page { table: vec![], measured: vec![], advice: vec![], ..page };
    StudyView { judged: JudgedStudy { study, folder, profile, ..JudgedStudy::default() }, page, ..StudyView::default() }
}

/// Rows of Markdown tables in which the number of cells differs from their heading's.
fn ragged_rows(markdown: &str) -> Vec<String> {
    let cells = |line: &str| line.replace("\\|", "").matches('|').count();
    let lines: Vec<&str> = markdown.lines().collect();
    let tables =
        lines.chunk_by(|a, b| a.starts_with('|') == b.starts_with('|')).filter(|lines| lines[0].starts_with('|'));
    let ragged = tables.flat_map(|table| table.iter().filter(|line| cells(line) != cells(table[0])));
    ragged.map(|line| (*line).to_owned()).collect()
}

/// That every picture of `views` can be read: it is XML, no text is too small, nothing lies beyond the card.
fn assert_readable(views: &[StudyView]) {
    for (name, picture) in charts::all(views) {
        let document = roxmltree::Document::parse(&picture).unwrap_or_else(|error| panic!("{name}: {error}"));
        let number = |node: &roxmltree::Node, attribute: &str| {
            node.attribute(attribute).and_then(|text| text.parse::<f64>().ok()).unwrap_or(f64::NAN)
        };
        let height = number(&document.root_element(), "height");
        for node in document.descendants().filter(|node| node.has_tag_name("text")) {
            let text = node.text().unwrap_or_default().trim();
            let (x, y, size) = (number(&node, "x"), number(&node, "y"), number(&node, "font-size"));
            let width = width_of(text, size);
            let left = match node.attribute("text-anchor") {
                Some("middle") => x - width / 2.0,
                Some("end") => x - width,
                _ => x,
            };
            let is_inside = left >= 0.0 && left + width <= WIDTH && y - size >= 0.0 && y <= height;
            assert!(is_inside && size >= 12.0, "{name}: {text:?} at {left:.0}, {y:.0}, {width:.0} wide, size {size}");
        }
        for node in document.descendants().filter(|node| node.has_tag_name("circle")) {
            let (x, y) = (number(&node, "cx"), number(&node, "cy"));
            assert!((0.0..=WIDTH).contains(&x) && (0.0..=height).contains(&y), "{name}: a point at {x}, {y}");
        }
    }
}

#[test]
fn pages_charts_and_the_blocks_for_other_documents_are_the_golden_ones() {
    let views = [fixture::view()];
    let blocks = splice_blocks(&views);
    assert_eq!(blocks.keys().collect::<Vec<_>>(), ["answers", "goals-made_up", "prices", "why"]);
    golden("answers.md", &blocks["answers"]);
    golden("why.md", &blocks["why"]);
    golden("goals.md", &blocks["goals-made_up"]);
    golden("verdicts.json", &render::verdicts_json(&views));
    for (path, text) in render::pages(&views).into_iter().chain(charts::all(&views)) {
        golden(path.rsplit('/').next().unwrap_or(&path), &text);
    }
}

#[test]
fn the_made_up_study_has_a_claim_for_every_verdict_and_the_report_names_each() {
    let view = fixture::view();
    let report = report_md(std::slice::from_ref(&view));
    for verdict in Verdict::VARIANTS.iter().copied() {
        let mut found = view.judged.claims.iter().flat_map(|claim| claim.forms().map(move |(form, _)| (claim, form)));
        assert!(found.any(|(claim, form)| view.over(&claim.id, form).verdict == verdict), "no claim is {verdict}");
        assert!(report.contains(&format!("**{verdict}")), "{verdict} is not in bold");
    }
}

#[test]
fn every_link_between_the_pages_leads_to_one_anchor() {
    let mut second = fixture::view();
    second.judged.study = "another".to_owned();
    let views = [fixture::view(), second];
    let pages = render::pages(&views);
    let mut count = 0;
    for (path, page) in &pages {
        let folder = &path[..path.rfind('/').map_or(0, |at| at + 1)];
        for link in page.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let file = match file.strip_prefix("../../") {
                Some(file) => file.to_owned(),
                None if file.is_empty() => path.clone(),
                None => format!("{folder}{file}"),
            };
            // Charts and the documents that are written by hand.
            let Some(target) = pages.get(&file) else { continue };
            count += 1;
            let heading = |line: &str| {
                line.strip_prefix("## ").is_some_and(|title| title.to_lowercase().replace(' ', "-") == anchor)
            };
            let found = target.matches(&format!("<a id=\"{anchor}\"></a>")).count()
                + target.lines().filter(|line| heading(line)).count();
            assert!(anchor.is_empty() || found == 1, "{path}: {link} leads to {found} places");
        }
    }
    assert!(count > 80, "only {count} links");
}

#[test]
fn every_picture_named_in_the_report_is_drawn_and_the_other_way_round() {
    let views = [fixture::view()];
    // The README takes one from its block.
    let text = report_md(&views) + &splice_blocks(&views)["why"];
    let mut named: Vec<&str> = text.split("charts/").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    named.sort_unstable();
    assert_eq!(named, charts::all(&views).keys().collect::<Vec<_>>());
}

#[test]
fn a_superseded_figure_of_a_host_widens_no_range() {
    let mut view = fixture::view();
    let claim = &mut view.judged.claims[0];
    let (id, found) = (claim.id.clone(), claim.tests[0].of.as_mut().expect("the first claim has this form"));
    let mut older = Row { beside: true, ..found.rows[0].clone() };
    older.estimate.as_mut().expect("it has a figure").point *= 9.0;
    found.rows.push(older);
    let shown = |view: &StudyView| view.deciding_settings(&id, Form::Published).concat().len();
    let with_both = shown(&view);
    view.judged.claims[0].tests[0].of.as_mut().expect("the same").rows.pop();
    assert_eq!(with_both, shown(&view));
}

#[test]
fn a_row_of_single_runs_is_left_out() {
    let mut view = fixture::view();
    for arm in ["sync", "async"] {
        let first = view.data.samples("rows_100100", arm)[0].clone();
        view.data.add("single", arm, first);
    }
    view.page.table[0].row[0].scenario = "single".to_owned();
    let report = report_md(&[view]);
    let table: Vec<&str> = report.lines().skip_while(|line| *line != "**Stress test**").take(9).collect();
    assert!(table.iter().any(|line| line.starts_with("| 2,000,100 |")), "{table:#?}");
    assert!(!table.iter().any(|line| line.starts_with("| 100,100 |")), "{table:#?}");
}

/// The cell of a row of the first table in a column that divides the time of `dividend`, or of the arm that the row names, by that of `arm`.
fn divided(row: usize, arm: &str, dividend: &str, of_row: Option<&str>) -> Option<String> {
    let mut view = fixture::view();
    let table = &mut view.page.table[0];
    table.column.truncate(1);
    (table.column[0].arm, table.column[0].dividend) = (Some(arm.to_owned()), Some(dividend.to_owned()));
    table.row[row].dividend = of_row.map(str::to_owned);
    let label = format!("| {} | ", table.row[row].label);
    let report = report_md(&[view]);
    let cell = report.lines().find_map(|line| line.strip_prefix(&label)?.strip_suffix(" |"));
    cell.map(str::to_owned)
}

#[test]
fn a_cell_may_be_what_divides_the_time_of_another_arm_and_is_the_estimate_of_the_claim_that_judges_it() {
    for (row, arm, dividend, of_row, expected) in [
        // Async ÷ sync of T1, and the other way round.
        (1, "sync", "async", None, Some("1.312")),
        (1, "async", "sync", None, Some("0.762")),
        (0, "async", "async", None, Some("1.000")),
        (0, "async", "row", Some("async"), Some("1.000")),
        // An arm that did not run divides nothing.
        (0, "async", "absent", None, None),
    ] {
        assert_eq!(divided(row, arm, dividend, of_row).as_deref(), expected, "{dividend} over {arm}");
    }
    let other = divided(0, "async", "sync", None);
    let parsed = other.as_ref().and_then(|other| other.parse::<f64>().ok());
    assert!(parsed.is_some_and(|ratio| ratio > 0.0 && (ratio - 1.0).abs() > 0.001), "{other:?}");
    assert_eq!(divided(0, "async", "row", Some("sync")), other);
}

#[test]
fn pictures_are_well_formed_and_no_text_leaves_the_card() {
    let mut long = fixture::view();
    for claim in &mut long.judged.claims {
        claim.id = format!("{}-with-a-very-long-identifier-that-nobody-should-choose-but-somebody-will", claim.id);
    }
    // Open ends, and no figure at all.
    let mut open = fixture::view();
    let infinite = f64::INFINITY;
    for (claim, (point, lo, hi)) in
        open.judged.claims.iter_mut().zip([(1.9, 1.2, infinite), (0.7, 0.0, 0.9), (infinite, 0.0, infinite)])
    {
        let rows = claim.tests[1].of.as_mut().into_iter().flat_map(|found| &mut found.rows);
        rows.for_each(|row| row.estimate = Some(twelve(point, lo, hi)));
    }
    for view in [fixture::view(), long, open, empty()] {
        assert_readable(&[view]);
    }
}

#[test]
fn a_table_of_which_nothing_was_measured_is_left_out() {
    let mut view = fixture::view();
    for row in &mut view.page.table[0].row {
        row.scenario = "rows_nowhere".to_owned();
    }
    let report = report_md(&[view]);
    assert!(!report.contains("Stress test") && !report.contains("Theirs was one run each."), "{report}");
}

#[test]
fn pipes_tags_and_line_breaks_in_texts_break_neither_tables_nor_pictures() {
    let nasty = "a | b <img src=x onerror=alert(1)> & \"c\"\n| d |";
    let mut view = fixture::view();
    for claim in &mut view.judged.claims {
        nasty.clone_into(&mut claim.text);
        nasty.clone_into(&mut claim.original);
        for test in &mut claim.tests {
            nasty.clone_into(&mut test.text);
        }
        for found in claim.tests.iter_mut().take(2).flat_map(|test| &mut test.of) {
            nasty.clone_into(&mut found.reason);
            for cause in &mut found.causes {
                nasty.clone_into(&mut cause.short);
            }
            for row in &mut found.rows {
                nasty.clone_into(&mut row.scenario);
                nasty.clone_into(&mut row.part);
            }
        }
        if let Err(reason) = &mut claim.tests[0].of {
            nasty.clone_into(reason);
        }
    }
    nasty.clone_into(&mut view.page.title);
    nasty.clone_into(&mut view.page.table[0].column[0].header);
    let views = [view];
    let report = report_md(&views);
    for report in [&report, &report_md(&[fixture::view(), empty()])] {
        assert_eq!(ragged_rows(report), Vec::<String>::new());
    }
    assert!(!report.replace('`', "\0").split('\0').step_by(2).any(|outside| outside.contains("<img")), "a tag is live");
    assert_readable(&views);
}

#[test]
fn a_text_is_printed_as_it_is_and_a_long_name_may_break() {
    let mut view = fixture::view();
    view.judged.failures[0].3 = "a|b <script>\nc~d *e".to_owned();
    let claim = &mut view.judged.claims[0];
    claim.text = "a | `x<y|z` <b>".to_owned();
    let row = &mut claim.tests[1].of.as_mut().expect("the first claim has this form").rows[0];
    let arm = || "sync_pipelined_as_published".to_owned();
    row.scale = Scale::Ratio { numerator: arm(), denominator: "b".into(), metric: "work_s".into(), unit: Unit::Plain };
    let report = report_md(&[view]);
    for printed in [
        "a\\|b &lt;script&gt; c&#126;d \\*e",
        "a \\| `x<y\\|z` &lt;b&gt;",
        "sync_<wbr>pipelined_<wbr>as_<wbr>published ÷ b,",
    ] {
        assert!(report.contains(printed), "{printed}");
    }
}

#[test]
fn rounds_that_were_cut_off_are_counted() {
    for (count, said) in [
        (1, "1 round was cut off by its machine and stands with its complete blocks."),
        (2, "2 rounds were cut off and stand with their complete blocks."),
    ] {
        let mut view = fixture::view();
        let machine = Machine::default();
        let source = Source {
            folder: "made_up/x".into(),
            host: 0,
            part: "decides",
            blocks: (5, 9),
            machine,
            core_to_core_ns: vec![],
        };
        view.rounds = vec![source; count];
        assert!(report_md(&[view]).contains(said), "{said}");
    }
}

#[test]
fn a_column_that_says_nothing_in_any_row_is_left_out() {
    let mut view = fixture::view();
    for control in &mut view.judged.controls {
        control.layout_sd = None;
    }
    let report = report_md(&[view]);
    assert!(report.contains("| Control | Measured | Planted | Floor | Result |\n| --- | --- | --: | --: | --- |\n"));
}

#[test]
fn with_an_empty_study_there_is_still_a_whole_report() {
    let report = report_md(&[empty()]);
    for title in
        ["# Async or not", "# Can you trust this run?", "# Machines", "## Threats to all of them", "## Rebuild"]
    {
        assert!(report.contains(title), "{title}");
    }
    assert!(charts::all(&[empty()])["claims.svg"].contains("No claim has been measured yet."));
}

#[test]
fn huge_and_tiny_numbers_stay_readable_in_text_and_picture() {
    for scale in [1e-12, 1e-3, 1e9, 1e200] {
        let mut view = fixture::view();
        let huge = ratio(Some(twelve(scale, scale * 0.9, scale * 1.1)), Verdict::Holds);
        view.judged.claims = vec![claim("H1", "huge", "-", huge)];
        view.data = fixture::samples::scaled(scale);
        let views = [view];
        let report = report_md(&views);
        let is_number = |word: &&str| word.bytes().all(|byte| byte.is_ascii_digit() || byte == b',');
        let longest = report.split_whitespace().filter(is_number).map(str::len).max();
        assert!(longest.unwrap_or(0) < 24, "{scale}");
        assert_readable(&views);
    }
}

/// The ratio `async ÷ sync` of work time.
fn of(point: f64, lo: f64, hi: f64) -> Row {
    ratio(Some(twelve(point, lo, hi)), Verdict::Holds)
}

#[test]
fn a_figure_names_its_arms_interval_blocks_and_absolute_values_in_as_many_digits_as_it_bears() {
    let said = |row: &Row| figure(row).expect("it has an estimate");
    let closed = of(1.312, 1.28, 1.354);
    let single = Estimate { n: 1, level: 1.0, ..twelve(1.2, 1.2, 1.2) };
    let sides = vec![side("a", "work_s", 1.75), side("b", "work_s", 0.012)];
    let single = Row { sides, ..ratio(Some(single), Verdict::Holds) };
    let time = scaled(value("work_s", "channel", None, "ns"), twelve(1_840.0, 900.0, 2_010.0), Verdict::Holds);
    let share = scaled(Scale::Share { of: "T2".into() }, twelve(0.873, 0.7, 1.02), Verdict::ExplainsIt);
    let blocks = Scale::Blocks { criterion: "failed requests".into() };
    let blocks = scaled(blocks, Estimate { n: 8, ..twelve(0.875, 0.47, 1.0) }, Verdict::Holds);
    let no_figure = "no figure (failed runs) (no lower bound to no upper bound)";
    for (said, expected) in [
        (said(&closed), "+31 % (+28 to +35), n = 12; 1.75 s against 1.34 s"),
        (coverage(&closed.estimate.expect("it has one")).expect("it has an interval"), "95.8 %"),
        (floor(&closed), "5 %"),
        (estimate(&of(2.0, 1.5, f64::INFINITY)), "+100 % (+50 to no upper bound)"),
        (estimate(&of(0.5, 0.0, 0.7)), "−50 % (no lower bound to −30)"),
        (estimate(&of(f64::INFINITY, 0.0, f64::INFINITY)), no_figure),
        (said(&single), "+20 %, single run; 1.75 s against 12.0 ms"),
        // Values share one unit, and shares are percentages.
        (estimate(&time), "1.8 µs (0.9 to 2.0)"),
        (said(&share), "87 % (70 to 102), n = 12"),
        (said(&blocks), "7 of 8 blocks, n = 8"),
        // As many digits as the interval is narrow: no more than four of its own, and none of what has no width.
        (estimate(&of(1.312_34, 0.9, 1.9)), "+31 % (−10 to +90)"),
        (estimate(&of(1.312_34, 1.29, 1.33)), "+31 % (+29 to +33)"),
        (estimate(&of(1.312_34, 1.2, 1.45)), "+31 % (+20 to +45)"),
        (estimate(&of(1.312_34, 1.312_3, 1.312_4)), "+31 % (+31 to +31)"),
        (estimate(&of(1.312_34, 1.312_34, 1.312_34)), "+31 % (+31 to +31)"),
        (estimate(&of(48.23, 31.0, 75.0)), "48 times (31 to 75)"),
        (estimate(&of(1_234.5, 900.0, 2_000.0)), "1,234 times (900 to 2,000)"),
    ] {
        assert_eq!(said, expected);
    }
    assert_eq!(figure(&Row { estimate: None, ..single }), None);
}

#[test]
fn a_slope_of_a_direction_is_the_factor_between_its_ends() {
    let over = |metric: &str, from, to| Some(Range { metric: metric.to_owned(), from, to, levels: None });
    let infinite = f64::NEG_INFINITY;
    for (range, estimate, expected) in [
        (over("batch_delay_ms", 1.0, 100.0), (-0.15, -0.2, -0.1), "0.50 times (0.40 to 0.63)"),
        (over("rows_count", 1e3, 1e4), (1.0, infinite, 2.0), "10.0 times (no lower bound to 100.0)"),
        (None, (0.987, 0.971, 1.008), "0.987 (0.971 to 1.008)"),
    ] {
        let scale = Scale::Slope { of: "async ÷ sync".to_owned(), range };
        let row = scaled(scale, twelve(estimate.0, estimate.1, estimate.2), Verdict::Holds);
        assert_eq!(short(&row).as_deref(), Some(expected));
    }
}

#[test]
fn a_ratio_is_said_in_the_unit_of_its_authors_and_its_range_over_hosts_beside_what_they_printed() {
    use report::claims::Unit::{Inverse, Percent, Plain, Times};
    use report::claims::rules::Band;
    use report::judge::figures::{is_outside, published, published_on_scale, range};
    for (unit, points, figure, expected, printed, outside) in [
        (Plain, [1.05, 1.42], 6.0, "+5 to +42 %", "+6 %", false),
        (Plain, [0.91, 1.06], 6.0, "−9 to +6 %", "+6 %", false),
        (Plain, [6.47, 25.6], 7.2, "6 to 26 times", "+7.2 %", true),
        (Times, [6.47, 25.6], 8.2, "6 to 26 times", "8.2 times", false),
        (Times, [1.5, 1.9], 2.0, "1.50 to 1.90 times", "2 times", true),
        (Inverse, [1.25, 1.6], -23.8, "−38 to −20 %", "−23.8 %", false),
        (Inverse, [1.6, 2.0], -23.8, "−50 to −38 %", "−23.8 %", true),
        (Percent, [4.0, 5.0], 74.5, "+300 to +400 %", "+74.5 %", true),
    ] {
        let scale = Scale::Ratio { numerator: "a".into(), denominator: "b".into(), metric: "work_s".into(), unit };
        let figure = Some(Band { lo: figure, hi: figure });
        let rows =
            points.map(|point| Row { figure, ..scaled(scale.clone(), twelve(point, point, point), Verdict::Holds) });
        let rows: Vec<&Row> = rows.iter().collect();
        assert_eq!(range(&rows).as_deref(), Some(expected));
        assert_eq!(published(rows[0]).as_deref(), Some(printed));
        assert_eq!(is_outside(&rows, &[]), outside, "{expected} beside {printed}");
        let theirs = [published_on_scale(rows[0]).expect("there is a figure").lo];
        assert!(!is_outside(&rows, &theirs), "their own code showed {printed}");
    }
}

#[test]
fn the_charts_of_claims_are_painted_for_light_and_dark_pages() {
    for (name, picture) in charts::all(&[fixture::view()]) {
        painted::check(&name, &picture);
    }
}

#[test]
fn the_chart_of_claims_cuts_no_label_and_has_a_dot_per_host() {
    let view = fixture::view();
    let picture = &charts::all(std::slice::from_ref(&view))["claims.svg"];
    let document = roxmltree::Document::parse(picture).expect("it is XML");
    let texts: Vec<&str> =
        document.descendants().filter(|node| node.has_tag_name("text")).filter_map(|node| node.text()).collect();
    assert!(!texts.iter().any(|text| text.contains('…')), "{texts:?}");
    let all = texts.join(" ");
    for claim in &view.judged.claims[..2] {
        let label = format!("{}: {}", claim.id, claim.text);
        assert!(all.split_whitespace().collect::<Vec<_>>().join(" ").contains(&label), "{label}");
    }
    assert!(
        all.contains("as published +12\u{a0}%") && !all.contains("T5:"),
        "what the answers quote, with its range: {all}"
    );
}
