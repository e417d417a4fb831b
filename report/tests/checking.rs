//! `report check` and `report seal`: whatever is wrong with a results folder is found, with file and line.

use std::fs;
use std::path::{Path, PathBuf};

use predicates::prelude::*;
use predicates::str::contains;
use report::commands::check;
use report::folder::plan_file::{self, PlannedRun};
use report::folder::seals;
use support::{
    CASES, CLAIMS, FIRST, Outcome, SECOND, THIRD, Toy, cases, findings, forge, gzip, judging, line_of, planned, read,
    render, rendered, report, reseal, seal_blocks, sealed, temporary, usual, write,
};
use tempfile::TempDir;

mod support;

/// Expects exactly one finding, which begins with `FOLDER/PLACE: ` and contains `what`.
#[track_caller]
fn expect_one(folder: &Path, place: &str, what: &str) {
    let found = findings(folder);
    let [finding] = found.as_slice() else { panic!("one finding at {place} about '{what}' is expected: {found:#?}") };
    let start = format!("{}: ", folder.join(place).display());
    assert!(finding.starts_with(&start) && finding.contains(what), "'{finding}' is not '{start} ... {what}'");
}

/// Expects a finding with all of `parts`.
#[track_caller]
fn expect(folder: &Path, parts: &[&str]) {
    let found = findings(folder);
    assert!(found.iter().any(|finding| parts.iter().all(|part| finding.contains(part))), "{parts:?}: {found:#?}");
}

/// Expects that nothing is found.
#[track_caller]
fn expect_none(folder: &Path) {
    assert_eq!(findings(folder), Vec::<String>::new());
}

/// The usual toy with a forged file.
fn forged(name: &str, change: impl FnOnce(&str) -> String) -> (TempDir, PathBuf) {
    let (results, folder) = sealed();
    forge(&folder, name, change);
    (results, folder)
}

/// The lines of a text with its breaks.
fn lines(text: &str) -> Vec<String> {
    text.split_inclusive('\n').map(str::to_owned).collect()
}

/// Changes the lines of a text.
fn in_lines(text: &str, change: impl Fn(&mut Vec<String>)) -> String {
    let mut lines = lines(text);
    change(&mut lines);
    lines.concat()
}

#[test]
fn one_changed_digit_contradicts_the_manifest() {
    let (_results, folder) = sealed();
    let changed = read(&folder, "runs.jsonl").replacen("\"system_s\":0.005", "\"system_s\":0.006", 1);
    write(&folder, "runs.jsonl", &changed);
    let found = findings(&folder);
    let [file, block] = found.as_slice() else { panic!("{found:#?}") };
    assert!(file.contains("runs.jsonl.gz: it was changed after it was sealed"), "{file}");
    assert!(block.contains("seals.tsv:1: the seal is not that of the lines"), "{block}");
}

#[test]
fn files_that_are_missing_or_unknown_contradict_the_manifest() {
    let (_results, folder) = sealed();
    write(&folder, "notes.txt", "I was here\n");
    expect_one(&folder, "notes.txt", "does not list it");
    fs::remove_file(folder.join("notes.txt")).expect("it can be removed");
    fs::remove_file(folder.join("memory.jsonl.gz")).expect("it can be removed");
    expect(&folder, &["memory.jsonl.gz: it is missing, SHA256SUMS lists it"]);
}

#[test]
fn a_manifest_that_is_none_or_lists_a_file_twice_is_named_with_its_line() {
    let (_results, folder) = sealed();
    let manifest = read(&folder, "SHA256SUMS");
    write(&folder, "SHA256SUMS", &manifest.replacen("  ", " ", 1));
    expect_one(&folder, "SHA256SUMS:1", "two spaces");
    write(&folder, "SHA256SUMS", &format!("{}  cases.tsv\n{manifest}", "0".repeat(64)));
    expect(&folder, &["SHA256SUMS:2: cases.tsv stands twice"]);
    fs::remove_file(folder.join("SHA256SUMS")).expect("it can be removed");
    expect(&folder, &["SHA256SUMS"]);
}

/// A forgery of lines.
type Change = fn(&mut Vec<String>);

#[test]
fn lines_that_are_gone_twice_there_out_of_order_unplanned_or_torn_are_found() {
    let changes: [(Change, usize, &str); 7] = [
        (|lines| drop(lines.remove(4)), 5, "toy-0006, planned is the run toy-0005"),
        (|lines| lines.truncate(30), 31, "toy-0031"),
        (|lines| lines.insert(5, lines[4].clone()), 6, "here stands the run toy-0005, planned is the run toy-0006"),
        (|lines| lines.swap(4, 5), 5, "planned is the run toy-0005"),
        (
            |lines| lines.push(lines[0].replace("toy-0001", "toy-9999")),
            34,
            "here stands the run toy-9999, planned is nothing",
        ),
        (|lines| lines[32].truncate(100), 33, "interrupted"),
        (|lines| lines[0] = lines[0].replacen("\"exit\":0", "\"exit\":9", 1), 1, "toy-0001 failed: exit code 9"),
    ];
    for (change, line, what) in changes {
        let (_results, folder) = forged("runs.jsonl", |text| in_lines(text, change));
        expect(&folder, &[&format!("runs.jsonl.gz:{line}: "), what]);
    }
}

#[test]
fn what_a_line_lacks_does_not_know_or_says_of_another_run_is_named_with_its_line() {
    for [name, from, to, what] in [
        ["runs.jsonl", "\"digest\":", "\"digits\":", "unknown field `digits`"],
        ["runs.jsonl", "\"exit\":0", "\"exit\":0,\"host\":\"x\"", "unknown field `host`"],
        ["runs.jsonl", "\"times\":", "\"moments\":", "no JSON export of one run by hyperfine"],
        ["runs.jsonl", "\"seed\":0,", "", "missing field `seed`"],
        ["runs.jsonl", "\"schema\":2", "\"schema\":1", "schema 1 is unknown"],
        ["runs.jsonl", "\"system_s\":", "\"system\":0,\"x_s\":", "does not end in a unit"],
        ["runs.jsonl", "\"block\":3", "\"block\":4", "block '4', planned is '3'"],
        ["runs.jsonl", "\"scenario\":\"small\"", "\"scenario\":\"tiny\"", "scenario 'tiny', planned is 'small'"],
        ["runs.jsonl", "\"arm\":\"b@slow\"", "\"arm\":\"b\"", "arm 'b', planned is 'b@slow'"],
        ["runs.jsonl", "\"study\":\"toy\"", "\"study\":\"joy\"", "study 'joy'"],
        ["memory.jsonl", "\"run\":\"memory-0\"", "\"run\":\"memory-1\"", "run 'memory-1', planned is 'memory-0'"],
        ["memory.jsonl", "\"block\":0,\"digest\"", "\"block\":0,\"digits\"", "unknown field `digits`"],
        ["memory.jsonl", "\"max_rss_kib\"", "\"max_rss\"", "unknown field `max_rss`"],
    ] {
        let mut line = 0;
        let (_results, folder) = forged(name, |text| {
            line = line_of(text, from);
            text.replacen(from, to, 1)
        });
        expect_one(&folder, &format!("{name}.gz:{line}"), what);
    }
}

#[test]
fn files_that_do_not_agree_with_each_other_or_with_themselves_are_found() {
    let [passes, cut] = ["  \"memory_passes\"", "  \"cut\": true,\n  \"memory_passes\""];
    for [name, from, to, place, what] in [
        ["claims.toml", "margin = 0.10", "margin = 0.50", "plan.json", "hash"],
        ["machine.json", "\"governor\":\"", "\"gouverneur\":\"", "machine.json", "governor is null without a reason"],
        ["plan.json", "passes\": 1", "passes\": 0", "plan.json", "memory_passes is 0, by what else is there it is 1"],
        ["plan.json", "_s\": 16.5", "_s\": 1.5", "plan.json", "planned_s is 1.5, by what else is there it is 16.5"],
        ["plan.json", passes, cut, "plan.json", "cut is true, by what else is there it is false"],
    ] {
        expect_one(&forged(name, |text| text.replacen(from, to, 1)).1, place, what);
    }
    for (from, to, parts) in [
        ("\"seed\": 7", "\"seed\": 8", &["plan.tsv:", "planned again"][..]),
        ("\"layouts\": 1", "\"layouts\": 6", &["plan.tsv:", "planned again"]),
        ("\"profile\": \"quick\"", "\"profile\": \"full\"", &["plan.tsv:", "planned again"]),
        ("\"layouts\": 1", "\"layouts\": 0", &["plan.json:"]),
    ] {
        expect(&forged("plan.json", |text| text.replacen(from, to, 1)).1, parts);
    }
}

#[test]
fn arms_that_give_different_answers_are_found() {
    // The last run of the scenario on the input of seed 1: others gave the answer before it.
    let mut line = 0;
    let (_results, folder) = forged("runs.jsonl", |text| {
        let place = text.rfind("\"digest\":\"big-1\"").expect("seed 1 was used");
        line = text[..place].matches('\n').count() + 1;
        format!("{}{}", &text[..place], text[place..].replacen("big-1", "another", 1))
    });
    expect_one(&folder, &format!("runs.jsonl.gz:{line}"), "another answer");
}

#[test]
fn failed_runs_are_listed_and_do_not_hinder_the_seal() {
    let results = temporary();
    let folder = Toy::default().seal(results.path(), FIRST, |run| match (run.case.arm.as_str(), run.block) {
        ("a", 2) => Outcome::Failed("the balance of client 3 differs"),
        _ => usual(run),
    });
    let line = line_of(&read(&folder, "runs.jsonl"), "the balance");
    expect_one(&folder, &format!("runs.jsonl.gz:{line}"), "failed: the balance of client 3 differs");
}

#[test]
fn memory_passes_are_those_that_were_promised() {
    let (_results, folder) = forged("memory.jsonl", |text| text.to_owned() + &lines(text)[0]);
    expect_one(&folder, "memory.jsonl.gz:4", "planned is nothing");
    forge(&folder, "memory.jsonl", |text| lines(text)[..3].concat().replace("\"pass\":0", "\"pass\":1"));
    expect(&folder, &["memory.jsonl.gz:1: here stands the pass memory-1"]);
    let (_results, folder) = forged("memory.jsonl", |text| lines(text)[..2].concat());
    expect_one(&folder, "memory.jsonl.gz:3", "the pass memory-0 of the test case big b@aa is missing");
    fs::remove_file(folder.join("memory.jsonl.gz")).expect("it can be removed");
    reseal(&folder);
    expect_one(&folder, "memory.jsonl:1", "is missing");
}

#[test]
fn an_incomplete_measurement_is_not_sealed() {
    let results = temporary();
    let folder = Toy::default().measure(results.path(), FIRST, usual);
    let text = read(&folder, "runs.jsonl");
    for (left, count, line, what) in [
        (lines(&text)[..30].concat(), 1, "runs.jsonl:31: the run toy-0031", "report seal --cut"),
        (text[..text.len() - 9].to_owned(), 1, "runs.jsonl:33: the run toy-0033", "go on measuring"),
    ] {
        write(&folder, "runs.jsonl", &left);
        seal_blocks(&folder);
        let said = contains(line).and(contains(what)).and(contains("\n").count(count));
        report().arg("seal").arg(&folder).assert().code(2).stderr(said);
        assert!(!folder.join("SHA256SUMS").exists());
    }
}

/// Changes plan.tsv and everything that vouches for it, so that only its content can give it away.
fn forge_plan(folder: &Path, change: impl Fn(&str) -> String) {
    forge(folder, "plan.tsv", change);
    let hash = plan_file::hash(&read(folder, "claims.toml"), &read(folder, "cases.tsv"), &read(folder, "plan.tsv"));
    let meta = report::folder::read_meta(folder).expect("plan.json can be read");
    forge(folder, "plan.json", |text| text.replace(&meta.hash, &hash));
}

#[test]
fn a_plan_with_a_run_twice_or_in_another_way_than_listed_is_found() {
    for (from, to, what) in [
        ("toy-0007\t", "toy-0006\t", "plan.tsv:7: planned again from the seed 7 it reads 'toy-0007 "),
        ("\trelease\t", "\tdev\t", "plan.tsv:1: planned again"),
        ("run --scenario", "run --fast --scenario", "plan.tsv:1: planned again"),
    ] {
        let (_results, folder) = sealed();
        forge_plan(&folder, |text| text.replacen(from, to, 1));
        expect(&folder, &[what]);
    }
}

#[test]
fn three_blocks_that_were_left_out_of_twelve_are_found_by_planning_again() {
    let results = temporary();
    let folder = Toy { profile: "full", ..Toy::default() }.seal(results.path(), FIRST, usual);
    expect_none(&folder);
    let plan = planned(&folder);
    let is_unwelcome = |run: &PlannedRun| run.case.scenario == "big" && run.block < 3;
    // The rest is numbered anew and sealed again, seals of blocks and all.
    let renumbered = |text: &str| -> String {
        let kept = plan.iter().zip(lines(text)).filter(|(run, _)| !is_unwelcome(run));
        kept.zip(1..).map(|((run, line), number)| line.replace(&run.run, &format!("toy-{number:04}"))).collect()
    };
    write(&folder, "runs.jsonl", &renumbered(&read(&folder, "runs.jsonl")));
    forge_plan(&folder, renumbered);
    seal_blocks(&folder);
    reseal(&folder);
    let first = plan.iter().position(is_unwelcome).expect("there is one");
    expect_one(&folder, &format!("plan.tsv:{}", first + 1), "planned again from the seed 7");
    let refused = || contains("plan.tsv:").and(contains("planned again"));
    judging("verdicts", results.path()).assert().code(2).stderr(refused());
    render(results.path(), temporary().path(), &[]).code(2).stderr(refused());
}

#[test]
fn a_folder_that_is_called_otherwise_than_its_plan_says_is_found() {
    for name in ["20261121T050000Z-full", "20261121-quick", "20261121T050000Z", "20261121T05000xZ-quick"] {
        let (_results, folder) = sealed();
        let renamed = folder.with_file_name(name);
        fs::rename(&folder, &renamed).expect("it can be renamed");
        assert_eq!(findings(&renamed).len(), 1, "{name}");
        expect(&renamed, &[name, "its plan.json says toy/STAMP-quick"]);
    }
    let (results, folder) = sealed();
    let other = results.path().join("joy");
    fs::create_dir(&other).expect("it can be made");
    let moved = other.join(folder.file_name().expect("it has a name"));
    fs::rename(&folder, &moved).expect("it can be moved");
    expect(&moved, &["it is called joy/"]);
}

#[test]
fn a_span_that_is_no_time_or_longer_than_its_process_is_found() {
    // The toy's process takes 3 ms more than its span.
    for seconds in ["0.0", "-1.5", "1e9"] {
        let (_results, folder) = forged("runs.jsonl", |text| {
            let place = text.find("\"work_s\":").expect("a time of work") + "\"work_s\":".len();
            let end = place + text[place..].find('}').expect("the metrics end");
            format!("{}{seconds}{}", &text[..place], &text[end..])
        });
        expect_one(&folder, "runs.jsonl.gz:1", "0 < work_s <= process_s");
    }
}

#[test]
fn all_runs_of_a_case_record_the_same_metrics() {
    let (_results, folder) = sealed();
    let plan = planned(&folder);
    let line = plan.iter().position(|run| run.case.name() == ("big", "a")).expect("a is planned") + 1;
    let whole = read(&folder, "runs.jsonl");
    // Whatever asks for it, a claim, a chart or nothing at all.
    let in_line = |from: &str, to: &str| in_lines(&whole, |lines| lines[line - 1] = lines[line - 1].replace(from, to));
    forge(&folder, "runs.jsonl", |_| in_line(",\"system_s\":0.005", ""));
    expect(&folder, &["has no system_s, "]);
    forge(&folder, "runs.jsonl", |_| in_line("\"system_s\"", "\"rows_count\":3,\"system_s\""));
    expect(&folder, &["has no rows_count, "]);
    // What older rounds recorded is no metric.
    forge(&folder, "runs.jsonl", |_| in_line("\"metrics\"", "\"histograms\":{\"read_ns\":\"AAAA\"},\"metrics\""));
    expect_none(&folder);
    // Of nothing there is neither mean nor percentile.
    for metric in ["gap_p99_ms", "gap_mean_ms", "gap_max_ms"] {
        forge(&folder, "runs.jsonl", |_| in_line("\"system_s\"", &format!("\"{metric}\":3,\"system_s\"")));
        expect_none(&folder);
    }
}

/// The toy with a goal more.
fn with_goal(goal: &str, more: &[(&str, &str)]) -> Toy {
    let rest = "id = \"more\"\ntext = \"t\"\nscenarios = [\"big\"]\nblocks = { quick = 8 }\n";
    let claims = format!("{CLAIMS}\n[[goal]]\n{goal}\n{rest}");
    Toy { claims, cases: cases(&[&CASES[..], more].concat()), ..Toy::default() }
}

#[test]
fn a_percentile_that_is_asked_for_is_in_all_runs_of_a_case() {
    let results = temporary();
    let toy = with_goal("metric = \"gap_p99_ms\"\narm = \"a\"\nunit = \"ms\"\nat_most = 9.0", &[]);
    let folder = toy.seal(results.path(), FIRST, usual);
    forge(&folder, "runs.jsonl", |text| text.replacen("\"system_s\"", "\"gap_p99_ms\":3,\"system_s\"", 1));
    expect(&folder, &["has no gap_p99_ms"]);
}

#[test]
fn a_run_without_its_timed_span_is_found_even_if_all_lack_it() {
    let (_results, folder) = forged("runs.jsonl", |text| text.replace("\"work_s\"", "\"walk_s\""));
    let found = findings(&folder);
    assert_eq!(found.len(), planned(&folder).len());
    assert!(found.iter().all(|finding| finding.contains("a run needs work_s, its timed span")), "{found:#?}");
}

#[test]
fn duets_have_both_orders_equally_often_and_as_many_pairs_in_all_runs() {
    let results = temporary();
    let toy = with_goal("ratio = \"a / b\"\nreplicate = \"duet\"\nat_most = 2.0", &[("big", "a~b")]);
    let folder = toy.seal(results.path(), FIRST, usual);
    expect_none(&folder);
    let whole = read(&folder, "runs.jsonl");
    let pair = |order: &str| format!("{{\"a_s\":0.14,\"b_s\":0.1,\"order\":\"{order}\"}},");
    let (ab, ba) = (pair("ab"), pair("ba"));
    for (from, to, what) in [
        (ba.as_str(), ab.as_str(), "a duet needs both orders equally often, not 3 times ab and 1 times ba"),
        (&format!("{ab}{ba}"), "", "both of big a~b"),
    ] {
        forge(&folder, "runs.jsonl", |_| whole.replacen(from, to, 1));
        expect(&folder, &["runs.jsonl.gz:", what]);
    }
    // One is over of an odd number.
    forge(&folder, "runs.jsonl", |_| whole.replace(&format!("{ba}{ba}"), &ba));
    expect_none(&folder);
}

#[test]
fn a_whole_round_of_a_machine_that_was_not_probed_is_found() {
    for (kernel, probe, is_found) in [
        ("", "\"probe_hop_us\":0", true),
        ("\"kernel\":\"Linux 6.1 x86_64\",", "\"probe_hops\":12", true),
        ("\"kernel\":\"Darwin 24.0 arm64\",", "\"probe_hops\":12", false),
        ("\"kernel\":\"Linux 6.1 x86_64\",", "\"probe_hop_us\":12", false),
    ] {
        let (_results, folder) = forged("machine.json", |text| {
            // A space, so that something changes where nothing is forged.
            let values = format!("\"values\": {{{kernel}");
            text.replacen("\"probe_hop_us\":12", probe, 1).replacen("\"values\":{", &values, 1)
        });
        if is_found {
            expect_one(&folder, "machine.json", "probe_hop_us is no figure above zero");
        } else {
            expect_none(&folder);
        }
    }
}

#[test]
fn only_the_newest_seal_may_be_missing_when_a_round_is_sealed() {
    let results = temporary();
    let folder = Toy::default().measure(results.path(), FIRST, usual);
    let whole = read(&folder, "seals.tsv");
    let older = lines(&whole)[..lines(&whole).len() - 1].concat();
    for lost in [String::new(), lines(&older)[..2].concat()] {
        write(&folder, "seals.tsv", &lost);
        for cut in [false, true] {
            let errors = check::seal(&folder, cut).expect_err("seals are missing");
            assert!(errors[0].to_string().contains("its seals are not of the lines"), "{}", errors[0]);
        }
        assert_eq!(read(&folder, "seals.tsv"), lost);
    }
    // Ended before it was written, or within.
    for (stamp, left) in [(SECOND, older.len()), (THIRD, whole.len() - 9)] {
        let folder = Toy::default().measure(results.path(), stamp, usual);
        let whole = read(&folder, "seals.tsv");
        write(&folder, "seals.tsv", &whole[..left]);
        check::seal(&folder, false).expect("one seal was missing");
        assert_eq!(read(&folder, "seals.tsv"), whole);
    }
}

#[test]
fn one_measurement_under_two_names_is_found() {
    let (results, folder) = sealed();
    let copy = folder.with_file_name(format!("{SECOND}-quick"));
    fs::create_dir(&copy).expect("it can be made");
    for file in fs::read_dir(&folder).expect("it can be listed") {
        let file = file.expect("it can be listed");
        fs::copy(file.path(), copy.join(file.file_name())).expect("it can be copied");
    }
    let check = || report().arg("check").arg(results.path()).assert().code(1);
    let place = |line: usize| format!("{}:{line}: ", copy.join("runs.jsonl.gz").display());
    check().stdout(contains(place(1)).and(contains("33 runs are the same as in")));
    // Some of them changed is some of them copied.
    forge(&copy, "runs.jsonl", |text| {
        text.replace("\"system_s\":0.005", "\"system_s\":0.006").replacen("0.006", "0.005", 2)
    });
    check().stdout(contains(place(1)).and(contains("2 runs are the same as in")));
    judging("verdicts", results.path()).assert().code(2).stderr(contains("the same as in"));
    Toy::default().seal(results.path(), THIRD, usual);
    fs::remove_dir_all(&copy).expect("it can be removed");
    report().arg("check").arg(results.path()).assert().success();
}

#[cfg(unix)]
#[test]
fn what_is_no_file_among_the_files_of_a_round_is_found_and_not_opened() {
    let link = |path: &Path| std::os::unix::fs::symlink("/dev/zero", path).expect("a link can be made");
    let pipe = |path: &Path| {
        assert!(std::process::Command::new("mkfifo").arg(path).status().expect("mkfifo is there").success());
    };
    let sub = |path: &Path| fs::create_dir(path).expect("it can be made");
    let made: [&dyn Fn(&Path); 3] = [&link, &pipe, &sub];
    for make in made {
        for name in ["machine.json", "SHA256SUMS", "runs.jsonl.gz", "more"] {
            let (results, folder) = sealed();
            let _ = fs::remove_file(folder.join(name));
            make(&folder.join(name));
            expect_one(&folder, name, "no regular file");
            judging("verdicts", results.path()).assert().code(2).stderr(contains("no regular file"));
        }
    }
    let (results, _) = sealed();
    pipe(&results.path().join("toy/pipe"));
    report().arg("check").arg(results.path()).assert().code(1).stdout(contains("neither a folder nor a file"));
}

#[test]
fn seals_that_do_not_fit_the_runs_are_found() {
    for change in [
        |text: &str| text.replacen("big", "bag", 1),
        |text: &str| text.to_owned() + lines(text).last().expect("there is one"),
        |text: &str| lines(text)[1..].concat(),
        |text: &str| String::from(text.trim_end()),
    ] {
        let (_results, folder) = forged("seals.tsv", change);
        assert_eq!(findings(&folder).len(), 1);
        expect(&folder, &["seals.tsv:", "the seal is not that of the lines"]);
    }
    // A run was changed, and the manifest with it, after the block was sealed.
    let (_results, folder) = sealed();
    let changed =
        in_lines(&read(&folder, "runs.jsonl"), |lines| lines[4] = lines[4].replace("\"user\":0.9", "\"user\":0.8"));
    write(&folder, "runs.jsonl", &changed);
    reseal(&folder);
    let seal = seals::of(&planned(&folder), &changed).iter().position(|seal| seal.lines > 4).expect("there is one");
    expect_one(&folder, &format!("seals.tsv:{}", seal + 1), "they were changed after the block was complete");
}

#[test]
fn a_measurement_that_was_cut_off_stands_with_its_complete_blocks() {
    let results = temporary();
    let folder = Toy::default().measure(results.path(), FIRST, usual);
    let blocks = seals::of(&planned(&folder), &read(&folder, "runs.jsonl"));
    let kept = blocks[4].lines;
    // It ended inside the sixth block, with a torn line, before the memory passes.
    let text = read(&folder, "runs.jsonl");
    write(&folder, "runs.jsonl", &(lines(&text)[..=kept].concat() + "{\"run\":\"to"));
    write(&folder, "seals.tsv", &lines(&read(&folder, "seals.tsv"))[..5].concat());
    fs::remove_file(folder.join("memory.jsonl")).expect("it can be removed");
    assert!(check::seal(&folder, false).is_err());
    report().arg("seal").arg("--cut").arg(&folder).assert().success();
    expect_none(&folder);
    assert_eq!(read(&folder, "runs.jsonl").lines().count(), kept);
    let (page, []) = rendered(results.path(), []);
    let row = page.lines().find(|line| line.contains("| decides |")).expect("its round is listed");
    assert!(row.contains("| 5 of 9 |") && page.contains("1 round was cut off by its machine"), "{row}");

    // Whoever cuts it by hand must say so, and cut between blocks.
    forge(&folder, "plan.json", |text| text.replacen(",\n  \"cut\": true", "", 1));
    expect(&folder, &["is missing, and 12 behind it: go on measuring"]);
    forge(&folder, "plan.json", |text| {
        text.replacen("  \"memory_passes\"", "  \"cut\": true,\n  \"memory_passes\"", 1)
    });
    forge(&folder, "runs.jsonl", |text| lines(text)[..kept - 1].concat());
    expect(&folder, &[&format!("runs.jsonl.gz:{}: it ends inside block", kept - 1)]);
    forge(&folder, "runs.jsonl", |_| lines(&text)[1..kept].concat());
    expect(&folder, &["planned is the run toy-0001"]);
}

#[test]
fn a_measurement_without_one_complete_block_is_not_cut_but_lost() {
    let results = temporary();
    let folder = Toy::default().measure(results.path(), FIRST, usual);
    write(&folder, "runs.jsonl", "{\"run\":\"to");
    seal_blocks(&folder);
    let errors = check::seal(&folder, true).expect_err("nothing is there");
    assert!(errors[0].to_string().contains("no block is complete"), "{}", errors[0]);
    // One that is whole is not marked as cut.
    let folder = Toy::default().measure(results.path(), SECOND, usual);
    check::seal(&folder, true).expect("it is whole");
    assert!(!read(&folder, "plan.json").contains("cut"));
}

#[test]
fn faults_of_several_files_are_all_named_at_once() {
    let (_results, folder) = sealed();
    forge(&folder, "cases.tsv", |text| text.replacen("small", "Small", 1));
    forge(&folder, "runs.jsonl", |text| text.replacen("\"exit\":0", "\"exit\":0,\"host\":\"x\"", 2));
    for place in ["cases.tsv:5: ", "runs.jsonl.gz:1: ", "runs.jsonl.gz:2: "] {
        expect(&folder, &[place]);
    }
}

/// A damage of bytes.
type Damage = fn(&mut Vec<u8>);

#[test]
fn logs_that_cannot_be_unpacked_are_found() {
    let changes: [(Damage, &str); 5] = [
        (|bytes| bytes.truncate(bytes.len() / 2), "incomplete"),
        (|bytes| bytes[1000] ^= 1, "corrupt"),
        (|bytes| bytes.extend(b"more"), "cannot unpack"),
        (|bytes| *bytes = b"{\"run\":\"toy-0001\"}\n".to_vec(), "invalid gzip header"),
        // A mebibyte in a few bytes, over and over.
        (|bytes| *bytes = gzip(&" ".repeat(1 << 20)).repeat(257), "its text has over 256 MiB"),
    ];
    for (change, what) in changes {
        let (_results, folder) = sealed();
        let packed = folder.join("runs.jsonl.gz");
        let mut bytes = fs::read(&packed).expect("it is there");
        change(&mut bytes);
        fs::write(&packed, bytes).expect("it can be written");
        expect(&folder, &["runs.jsonl.gz: it was changed after it was sealed"]);
        reseal(&folder);
        let found = findings(&folder);
        assert!(found.len() == 1 && found[0].contains("runs.jsonl.gz: ") && found[0].contains(what), "{found:#?}");
    }
}

#[test]
fn rounds_whose_logs_lie_plain_are_read_and_seal_to_the_same_bytes() {
    let (_results, folder) = sealed();
    let bytes = |name: &str| fs::read(folder.join(name)).unwrap_or_default();
    let all = || ["SHA256SUMS", "runs.jsonl.gz", "memory.jsonl.gz", "runs.jsonl", "memory.jsonl"].map(bytes);
    let whole = all();
    let logs = ["runs.jsonl", "memory.jsonl"].map(|name| (name, read(&folder, name)));
    let unpack = || logs.iter().for_each(|(name, text)| fs::write(folder.join(name), text).expect("it can be written"));
    // As older rounds are.
    unpack();
    for name in ["runs.jsonl.gz", "memory.jsonl.gz"] {
        fs::remove_file(folder.join(name)).expect("it can be removed");
    }
    reseal(&folder);
    expect_none(&folder);
    forge(&folder, "runs.jsonl", |text| text.replacen("\"exit\":0", "\"exit\":9", 1));
    expect_one(&folder, "runs.jsonl:1", "toy-0001 failed");
    unpack();
    seal_blocks(&folder);
    check::seal(&folder, false).expect("it is whole");
    assert!(all() == whole);
    // As `report seal` leaves it if it is ended before its last step.
    unpack();
    expect(&folder, &["runs.jsonl: SHA256SUMS does not list it"]);
    check::seal(&folder, false).expect("it is whole");
    assert!(all() == whole);
}
