//! The report and its charts from a made-up study with one claim per verdict.
//!
//! `UPDATE_GOLDEN=1 cargo test --test rendering` rewrites `tests/golden/` after an intended change.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use report::charts;
use report::charts::canvas::{WIDTH, width_of};
use report::claims::Form;
use report::dataset::Dataset;
use report::judged::{Estimate, Judged, JudgedClaim, JudgedStudy, Scale, Verdict};
use report::machine::Machine;
use report::page::Page;
use report::render::{self, splice_blocks};
use report::view::StudyView;
use strum::VariantArray as _;

mod fixture;

use fixture::{claim, ratio, twelve};

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
    let pages = render::pages(views).into_iter().filter(|(path, _)| is_markdown(path));
    pages.map(|(_, page)| page).collect()
}

fn is_markdown(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|is| is == "md")
}

/// Those of the made-up study.
fn report() -> String {
    report_md(&[fixture::view()])
}

/// Its charts.
fn all_charts() -> BTreeMap<String, String> {
    charts::all(&[fixture::view()])
}

/// A study without claims, samples, tables or prose.
fn empty() -> StudyView {
    let JudgedStudy { study, folder, profile, plan_seed, plan_hash, runs, measured_s, .. } = fixture::view().judged;
    let page = Page { table: vec![], measured: vec![], advice: vec![], ..fixture::view().page };
    StudyView {
        judged: JudgedStudy {
            study,
            folder,
            profile,
            plan_seed,
            plan_hash,
            runs,
            measured_s,
            ..JudgedStudy::default()
        },
        page,
        data: Dataset::default(),
        machine: Machine::default(),
        ..fixture::view()
    }
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

/// Every way in which a picture would be unreadable: not XML, text too small or beyond the card.
fn faults(name: &str, picture: &str) -> Vec<String> {
    let document = match roxmltree::Document::parse(picture) {
        Ok(document) => document,
        Err(error) => return vec![format!("{name}: {error}")],
    };
    let number = |node: &roxmltree::Node, attribute: &str| {
        node.attribute(attribute).and_then(|text| text.parse::<f64>().ok()).unwrap_or(f64::NAN)
    };
    let height = number(&document.root_element(), "height");
    let mut faults = Vec::new();
    for node in document.descendants().filter(|node| node.has_tag_name("text")) {
        let text = node.text().unwrap_or_default().trim();
        let (x, y, size) = (number(&node, "x"), number(&node, "y"), number(&node, "font-size"));
        let width = width_of(text, size);
        let left = match node.attribute("text-anchor") {
            Some("middle") => x - width / 2.0,
            Some("end") => x - width,
            _ => x,
        };
        let inside = left >= 0.0 && left + width <= WIDTH && y - size >= 0.0 && y <= height;
        if !inside || size < 12.0 {
            faults.push(format!("{name}: {text:?} from {left:.0} to {:.0} at {y:.0}, size {size}", left + width));
        }
    }
    for node in document.descendants().filter(|node| node.has_tag_name("circle")) {
        let (x, y) = (number(&node, "cx"), number(&node, "cy"));
        if !((0.0..=WIDTH).contains(&x) && (0.0..=height).contains(&y)) {
            faults.push(format!("{name}: a point at {x}, {y}"));
        }
    }
    faults
}

/// The texts of a picture as a reader sees them.
fn texts(picture: &str) -> Vec<String> {
    let document = roxmltree::Document::parse(picture).expect("a picture is XML");
    let texts = document.descendants().filter(|node| node.has_tag_name("text"));
    texts.map(|node| node.text().unwrap_or_default().trim().to_owned()).collect()
}

fn marks(picture: &str, class: &str) -> usize {
    picture.matches(&format!("class=\"{class}\"")).count()
}

#[test]
fn the_report_of_every_verdict_is_the_golden_one() {
    for (path, page) in render::pages(&[fixture::view()]) {
        golden(path.rsplit('/').next().unwrap_or(&path), &page);
    }
}

#[test]
fn the_blocks_for_other_documents_are_the_golden_ones() {
    let blocks = splice_blocks(&[fixture::view()]);
    assert_eq!(blocks.keys().collect::<Vec<_>>(), ["answers", "goals-made_up"]);
    golden("answers.md", &blocks["answers"]);
    golden("goals.md", &blocks["goals-made_up"]);
}

#[test]
fn the_charts_are_the_golden_ones() {
    for (name, picture) in all_charts() {
        golden(&name, &picture);
    }
}

#[test]
fn the_made_up_study_has_a_claim_for_every_verdict_and_the_report_names_each() {
    let view = fixture::view();
    let report = report_md(std::slice::from_ref(&view));
    for verdict in Verdict::VARIANTS.iter().copied() {
        let mut found = view.judged.claims.iter().flat_map(JudgedClaim::forms);
        assert!(found.any(|(_, found)| found.verdict == verdict), "no claim is {verdict}");
        assert!(report.contains(&format!("**{verdict}**")), "{verdict} is not in bold");
    }
}

#[test]
fn every_link_between_the_pages_leads_to_one_anchor() {
    let mut second = fixture::view();
    second.judged.study = "another".to_owned();
    let views = [fixture::view(), second];
    let pages = render::pages(&views);
    let mut count = 0;
    for (path, page) in pages.iter().filter(|(path, _)| is_markdown(path)) {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for link in page.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let file = match file.strip_prefix("../../") {
                Some(file) => file.to_owned(),
                None if file.is_empty() => path.clone(),
                None if folder.is_empty() => file.to_owned(),
                None => format!("{folder}/{file}"),
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
    assert!(count > 100, "only {count} links");
}

#[test]
fn every_picture_named_in_the_report_is_drawn_and_the_other_way_round() {
    let views = [fixture::view()];
    // The README takes one from its block.
    let text = report_md(&views) + &splice_blocks(&views)["answers"];
    let mut named: Vec<&str> = text.split("charts/").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    named.sort_unstable();
    // The first chart of a study stands in the report and in the evidence.
    named.dedup();
    assert_eq!(named, charts::all(&views).keys().collect::<Vec<_>>());
}

#[test]
fn advice_is_shown_only_where_the_verdict_bears_it_out() {
    let report = report();
    assert!(report.contains("Read one file with a pipeline"));
    assert!(!report.contains("Never shown"));
}

#[test]
fn claims_stand_in_both_forms_and_further_tests_in_the_evidence_only() {
    let pages = render::pages(&[fixture::view()]);
    let (report, evidence) = (&pages["REPORT.md"], &pages["docs/evidence/made_up.md"]);
    let answers = &splice_blocks(&[fixture::view()])["answers"];
    for page in [report, answers] {
        assert!(page.contains("made_up) | 21 | 1 | 0 | 1 | 19 | 6 | 9 | 4 | 2 |"), "{page}");
    }
    let line = |id: &str| {
        let link = format!(" <sub>[{id}](docs/evidence/made_up.md#made_up-{})</sub> |", id.to_lowercase());
        report.lines().find(|line| line.contains(&link)).unwrap_or_default()
    };
    assert!(line("T1").contains("| **undecided**: async ÷ sync "), "{}", line("T1"));
    assert!(line("T1").ends_with("| fair: second core; part: channel |"), "{}", line("T1"));
    assert!(line("T3").contains("| *the authors measured what is fair* | **holds, larger**: "));
    assert!(evidence.contains("| as published: three files | `three_files_debug` |"));
    assert!(evidence.contains("| T1-batched | `rows_2000100` |"));
    assert_eq!(evidence.matches("T1-batched").count(), 2, "a line of its own, and one of the table");
    assert!(!report.contains("T1-batched") && evidence.contains("`make claim-T1`"));
    let picture = &all_charts()["claims.svg"];
    assert!(answers.contains("(charts/claims.svg)") && picture.contains(">\nT11: ") && !picture.contains("T1-batched"));
}

#[test]
fn an_answer_says_what_the_verdicts_bear_out_with_their_figures() {
    let answers = &splice_blocks(&[fixture::view()])["answers"];
    let line = |start: &str| answers.lines().find(|line| line.starts_with(start)).unwrap_or_default();
    assert!(
        line("> ").contains("async is &#126;20 % faster")
            && line("> ").ends_with("(https://example.org/engines), 2025")
    );
    let published = line("- **As published: holds, smaller** ([T2](docs/evidence/made_up.md#made_up-t2)). Sync takes ");
    assert!(published.contains(" % longer (") && published.ends_with(")."), "{published}");
    assert!(line("- **Fair: ").ends_with("A message takes 412 ns."), "{answers}");
    assert!(line("- **What to do.** Measure it.").ends_with("it.") && !answers.contains("Never said"), "{answers}");
}

#[test]
fn causes_of_what_is_undecided_are_shown_and_not_stated() {
    let report = report();
    let causes = |form: &str| {
        let lines = report.lines().skip_while(|line| !line.starts_with(&format!("Causes that were tested, {form}")));
        lines.take(3).collect::<Vec<_>>().join("\n")
    };
    let published = causes("as published");
    assert!(published.contains("say nothing of an effect that is undecided"), "{published}");
    assert!(published.contains("- **Undecided**: second core."), "{published}");
    assert!(causes("fair").contains("- **The cause**: second core."));
}

#[test]
fn a_single_run_is_marked_where_it_stands_beside_medians() {
    let mut view = fixture::view();
    let first = view.data.samples("rows_100100", "sync")[0].clone();
    let mut data = Dataset::default();
    data.extend(&view.data, |scenario, arm| (scenario, arm) != ("rows_100100", "sync"));
    data.add("rows_100100", "sync", first);
    view.data = data;
    let report = report_md(&[view]);
    let table = report.lines().skip_while(|line| !line.starts_with("**Stress test**")).take(9).collect::<Vec<_>>();
    let marked: Vec<&&str> = table.iter().filter(|line| line.contains("¹ |")).collect();
    assert_eq!(marked.len(), 1, "{table:#?}");
    assert!(marked[0].starts_with("| 100,100 |"), "{marked:?}");
    assert!(table.contains(&"¹ A single run; the other figures are medians."), "{table:#?}");
    assert!(!self::report().contains('¹'));
}

#[test]
fn a_ratio_of_a_table_that_a_claim_judges_is_the_claims_estimate() {
    let mut view = fixture::view();
    let table = &mut view.page.table[0];
    table.column.truncate(1);
    (table.column[0].arm, table.column[0].dividend) = (Some("sync".to_owned()), Some("async".to_owned()));
    let line = |view: &StudyView| {
        let report = report_md(std::slice::from_ref(view));
        report.lines().find(|line| line.starts_with("| 2,000,100 | ")).unwrap().to_owned()
    };
    assert_eq!(line(&view), "| 2,000,100 | 1.312 |", "async ÷ sync of T1");
    let column = &mut view.page.table[0].column[0];
    (column.arm, column.dividend) = (Some("async".to_owned()), Some("sync".to_owned()));
    assert_eq!(line(&view), "| 2,000,100 | 0.762 |", "the other way round");
}

#[test]
fn the_verdicts_as_json_say_what_was_judged_and_how() {
    let text = report::render::verdicts_json(&[fixture::view()]);
    let json: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    let study = &json["studies"][0];
    assert_eq!((&json["schema"], &study["study"], &study["profile"]), (&2.into(), &"made_up".into(), &"quick".into()));
    assert_eq!(study["host"]["cpu_model"], "Made-up CPU @ 2.00GHz");
    assert_eq!(study["counts"]["fair"]["does_not_hold"], 9);
    assert_eq!(study["counts"]["published"]["absent"], 19);
    let claims = study["claims"].as_array().expect("claims are a list");
    assert_eq!(claims.len(), 21);
    let t1 = &claims[0];
    assert_eq!((&t1["fair"]["verdict"], &t1["fair"]["count"]), (&"holds".into(), &"holds".into()));
    let row = &t1["fair"]["rows"][0];
    for (key, value) in
        [("estimate", 1.312), ("lo", 1.281), ("hi", 1.354), ("level", 0.042), ("floor", 0.05), ("margin", 0.05)]
    {
        assert_eq!(row[key], value, "{key}");
    }
    assert_eq!((&row["n"], &row["scenario"]), (&12.into(), &"rows_2000100".into()));
    assert_eq!(t1["published"]["causes"][0]["standing"], "undecided");
    assert_eq!(t1["fair"]["causes"][0]["standing"], "the cause");
    assert_eq!(
        (&t1["further"][0]["id"], &t1["further"][0]["verdict"]),
        (&"T1-batched".into(), &"no difference".into())
    );
    let open = claims.iter().find(|claim| claim["id"] == "T9").expect("T9 is there");
    assert_eq!(open["published"]["absent"], "the authors measured what is fair");
    assert!(open["fair"]["rows"][0]["hi"].is_null() && open["fair"]["rows"][0]["lo"].is_f64(), "{open}");
}

#[test]
fn pictures_are_well_formed_and_no_text_leaves_the_card() {
    let mut long = fixture::view();
    for claim in &mut long.judged.claims {
        claim.id = format!("{}-with-a-very-long-identifier-that-nobody-should-choose-but-somebody-will", claim.id);
    }
    for chart in &mut long.page.chart {
        chart.title = format!("{} {}", chart.title, "with a title that goes on and on ".repeat(6));
    }
    let mut faults_found = Vec::new();
    for view in [fixture::view(), long, empty()] {
        for (name, picture) in charts::all(&[view]) {
            faults_found.extend(faults(&name, &picture));
        }
    }
    assert!(faults_found.is_empty(), "{}", faults_found.join("\n"));
}

#[test]
fn every_sample_is_a_point_and_every_arm_has_its_name() {
    let charts = all_charts();
    // Four arms in twelve blocks; one run failed and has no point.
    let one_size = 4 * 12 - 1;
    assert_eq!(marks(&charts["made_up-arms.svg"], "sample"), one_size);
    assert_eq!(marks(&charts["made_up-scaling.svg"], "sample"), 4 * 4 * 12 + one_size);
    for arm in ["sync", "async", "sync_pipelined", "best_split_by_range_and_sharded"] {
        for name in ["made_up-arms.svg", "made_up-scaling.svg", "made_up-linear.svg"] {
            assert!(texts(&charts[name]).iter().any(|text| text == arm), "{arm} in {name}");
        }
    }
    let strip = texts(&charts["made_up-arms.svg"]);
    assert!(strip.iter().any(|text| text == "work time (s)"), "{strip:?}");
    assert!(strip.iter().any(|text| text.ends_with("n = 11, 1 failed")), "{strip:?}");
}

#[test]
fn a_chart_of_percentiles_names_what_is_left_out_and_its_ticks_end_with_the_counts() {
    let charts = all_charts();
    let picture = texts(&charts["made_up-percentiles.svg"]);
    let all = picture.join(" ");
    assert!(
        all.contains("Failed runs are left out: 1 of deadpool_sqlite.") && all.contains("Not run: absent."),
        "{all}"
    );
    // 40,000 values have one beyond the 99.99th percentile and none beyond the 99.999th.
    for (tick, there) in [("0 %", true), ("99 %", true), ("99.99 %", true), ("99.999 %", false), ("10 ms", true)] {
        assert_eq!(picture.iter().any(|text| text == tick), there, "{tick}");
    }
    let several = texts(&charts["made_up-percentiles-of-holds.svg"]);
    assert!(several.iter().any(|text| text == "direct, hold_10s"), "{several:?}");
}

#[test]
fn the_best_arms_are_named_with_their_labels_and_ties_are_said() {
    let report = report();
    assert!(report.contains("| 100 ms | WAL Pool | 166.9x | Direct Blocking = tokio_rusqlite |"), "{report}");
    assert!(report.contains("Not measured in this profile: 1 h.") && !report.contains("| 1 h |"), "{report}");
    let mut view = fixture::view();
    view.page.table[1].row[0].scenario = "rows_2000100".to_owned();
    view.page.table[1].column.truncate(2);
    for column in &mut view.page.table[1].column {
        column.best = Some(vec!["broken".to_owned()]);
        column.metric = Some("work_s".to_owned());
    }
    assert!(report_md(&[view]).contains("| 100 ms | failed |"));
}

#[test]
fn a_cell_may_be_what_divides_the_time_of_another_arm() {
    let ratio = |dividend: &str, row: Option<&str>| {
        let mut view = fixture::view();
        let table = &mut view.page.table[0];
        table.column.truncate(1);
        table.column[0].dividend = Some(dividend.to_owned());
        table.row[0].dividend = row.map(str::to_owned);
        let report = report_md(&[view]);
        let line = report.lines().find(|line| line.starts_with("| 100,100 | "))?.to_owned();
        line.trim_matches(['|', ' ']).rsplit(' ').next().map(str::to_owned)
    };
    assert_eq!(ratio("async", None).as_deref(), Some("1.000"));
    let other = ratio("sync", None);
    let parsed = other.as_ref().and_then(|other| other.parse::<f64>().ok());
    assert!(parsed.is_some_and(|ratio| ratio > 0.0 && (ratio - 1.0).abs() > 0.001), "{other:?}");
    assert_eq!(ratio("row", Some("sync")), other);
    assert_eq!(ratio("row", Some("async")).as_deref(), Some("1.000"));
    // An arm that did not run divides nothing.
    assert_eq!(ratio("absent", None), None);
}

#[test]
fn a_table_of_which_nothing_was_measured_is_a_line() {
    let mut view = fixture::view();
    for row in &mut view.page.table[0].row {
        row.scenario = "rows_nowhere".to_owned();
    }
    let report = report_md(&[view]);
    assert!(report.contains("**Stress test**: nothing of it was measured in this profile."), "{report}");
    assert!(!report.contains("Theirs was one run each."));
}

#[test]
fn the_chart_of_claims_has_a_mark_for_every_form_with_a_ratio() {
    let view = fixture::view();
    let has_figure = |(_, found): &(Form, &Judged)| {
        found.deciding_row().is_some_and(|row| row.estimate.is_some() && matches!(row.scale, Scale::Ratio { .. }))
    };
    let with_figure = view.judged.claims.iter().flat_map(JudgedClaim::forms).filter(has_figure).count();
    let picture = &charts::all(&[view])["claims.svg"];
    // The legend shows three estimates and one published figure of its own.
    assert_eq!(marks(picture, "estimate"), with_figure + 3);
    assert_eq!(marks(picture, "published"), 3 + 1, "once for both forms");
    assert!(picture.contains("Without a ratio, and in the tables only: "));
}

#[test]
fn pipes_tags_and_line_breaks_in_texts_break_neither_tables_nor_pictures() {
    let nasty = "a | b <img src=x onerror=alert(1)> & \"c\"\n| d |";
    let mut view = fixture::view();
    for claim in &mut view.judged.claims {
        nasty.clone_into(&mut claim.text);
        nasty.clone_into(&mut claim.original);
        for test in &mut claim.further {
            nasty.clone_into(&mut test.text);
        }
        for (_, found) in claim.forms_mut() {
            nasty.clone_into(&mut found.reason);
            for cause in &mut found.causes {
                nasty.clone_into(&mut cause.short);
            }
            for row in &mut found.rows {
                nasty.clone_into(&mut row.scenario);
                nasty.clone_into(&mut row.part);
            }
        }
        if let report::judged::JudgedForm::Absent(reason) = &mut claim.published {
            nasty.clone_into(reason);
        }
    }
    nasty.clone_into(&mut view.page.title);
    nasty.clone_into(&mut view.page.chart[0].title);
    nasty.clone_into(&mut view.page.table[0].column[0].header);
    view.machine.values.insert("host | <b>".to_owned(), Some(serde_json::json!(nasty)));
    let views = [view];
    let report = report_md(&views);
    for report in [&report, &report_md(&[fixture::view(), empty()])] {
        assert_eq!(ragged_rows(report), Vec::<String>::new());
    }
    assert!(!report.replace('`', "\0").split('\0').step_by(2).any(|outside| outside.contains("<img")), "a tag is live");
    for (name, picture) in charts::all(&views) {
        assert_eq!(faults(&name, &picture), Vec::<String>::new());
    }
}

#[test]
fn without_any_study_and_with_an_empty_one_there_is_still_a_whole_report() {
    for views in [vec![], vec![empty()]] {
        let report = report_md(&views);
        for title in
            ["# Async or not", "# Can you trust this run?", "# Machines", "## Threats to all of them", "## Rebuild"]
        {
            assert!(report.contains(title), "{title}");
        }
        assert!(charts::all(&views)["claims.svg"].contains("No claim has been measured yet."));
    }
}

#[test]
fn open_and_single_figures_are_said_in_words() {
    let mut view = fixture::view();
    let open = |id: &str, point, lo, hi, (n, level), verdict| {
        claim(id, "open", "-", "ratio", ratio(Some(Estimate { point, lo, hi, n, level }), verdict))
    };
    let infinite = f64::INFINITY;
    view.judged.claims = vec![
        open("O1", 1.9, 1.2, infinite, (8, 0.039), Verdict::Holds),
        open("O2", 0.7, 0.0, 0.9, (8, 0.039), Verdict::Opposite),
        open("O3", 1.23, 1.23, 1.23, (1, 1.0), Verdict::NotMeasured),
        open("O4", infinite, 0.0, infinite, (8, 0.039), Verdict::Undecided),
    ];
    let views = [view];
    let report = report_md(&views);
    for expected in [
        "1.90 [1.20, no upper bound] | n = 8 |",
        "0.70 [no lower bound, 0.90] | n = 8 |",
        "| 1.23 | single run |",
        "no figure (failed runs)",
    ] {
        assert!(report.contains(expected), "{expected}");
    }
    let charts = charts::all(&views);
    assert_eq!(faults("claims.svg", &charts["claims.svg"]), Vec::<String>::new());
}

#[test]
fn huge_and_tiny_numbers_stay_readable_in_text_and_picture() {
    for scale in [1e-12, 1e-3, 1e9, 1e200] {
        let mut view = fixture::view();
        let huge = ratio(Some(twelve(scale, scale * 0.9, scale * 1.1)), Verdict::Holds);
        view.judged.claims = vec![claim("H1", "huge", "-", "ratio", huge)];
        view.data = fixture::samples::scaled(scale);
        let views = [view];
        let report = report_md(&views);
        let is_number = |word: &&str| word.bytes().all(|byte| byte.is_ascii_digit() || byte == b',');
        let longest = report.split_whitespace().filter(is_number).map(str::len).max();
        assert!(longest.unwrap_or(0) < 24, "{scale}");
        for (name, picture) in charts::all(&views) {
            assert_eq!(faults(&name, &picture), Vec::<String>::new(), "{scale}");
        }
    }
}

#[test]
fn a_ratio_never_stands_in_a_claim_without_both_absolute_values() {
    let report = report();
    for line in report.lines().filter(|line| line.contains("async ÷ sync") && line.starts_with("| fair |")) {
        let measured = !line.contains("| - | - |");
        assert!(!measured || (line.contains("async 1.75 s") && line.contains("sync 1.34 s")), "{line}");
    }
}
