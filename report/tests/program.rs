//! The program as it is typed.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use predicates::prelude::*;
use predicates::str::contains;
use support::{
    CLAIMS, FIRST, PAGE, SECOND, Toy, forge, judging, plan, plannable, read, render, report, sealed, temporary, usual,
    write,
};

mod support;

#[test]
fn the_help_of_every_command_explains_itself() {
    report().arg("--help").assert().success().stdout(contains("Examples:").and(contains("Exit codes:")));
    for command in ["plan", "append", "machine", "seal", "check", "verdicts", "render"] {
        report().args([command, "--help"]).assert().success().stdout(contains("Usage: report"));
    }
    report().arg("guess").assert().code(2).stderr(contains("unrecognized subcommand"));
}

#[test]
fn a_plan_that_cannot_be_made_names_the_line() {
    let missing = contains("claims.toml").and(contains("No such file"));
    plan(temporary().path(), &[]).code(2).stderr(missing);
    let temp = plannable(&CLAIMS.replace("margin = 0.10", "margin = 10"));
    let wrong = contains("claims.toml:").and(contains("not between 0 and 1")).and(contains("report: ").count(1));
    plan(temp.path(), &[]).code(2).stderr(wrong);
}

#[test]
fn check_exits_1_with_one_line_per_finding() {
    let (temp, sealed) = sealed();
    report().arg("check").arg(temp.path()).assert().success().stdout("");
    write(&sealed, "notes.txt", "I was here\n");
    forge(&Toy::default().seal(temp.path(), SECOND, usual), "runs.jsonl", |text| {
        text.replacen("\"exit\":0", "\"exit\":9", 1)
    });
    let found = contains("\n").count(2).and(contains("notes.txt: ")).and(contains("runs.jsonl.gz:1: toy-0001 failed"));
    report().arg("check").arg(temp.path()).assert().code(1).stdout(found);
    report().arg("check").arg(temp.path().join("nowhere")).assert().code(2).stderr(contains("nowhere"));
    report().arg("check").arg(temporary().path()).assert().code(2).stderr(contains("holds no results folder"));
}

#[test]
fn the_manifest_is_one_that_sha256sum_accepts() {
    let (_temp, sealed) = sealed();
    let sums = read(&sealed, "SHA256SUMS");
    let names: Vec<&str> = sums.lines().filter_map(|line| line.split_once("  ")).map(|(_, name)| name).collect();
    let expected = "cases.tsv claims.toml machine.json memory.jsonl.gz plan.json plan.tsv runs.jsonl.gz seals.tsv";
    assert_eq!(names.join(" "), expected);
    match Command::new("sha256sum").args(["--check", "--strict", "SHA256SUMS"]).current_dir(&sealed).output() {
        Ok(output) => assert!(output.status.success(), "{output:?}"),
        Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::NotFound, "{error}"),
    }
}

#[test]
fn the_verdicts_are_one_document_of_json() {
    let (temp, _) = sealed();
    let json = judging("verdicts", temp.path()).args(["--study", "toy"]).assert().success();
    let json: serde_json::Value =
        serde_json::from_slice(&json.get_output().stdout).expect("it is one document of JSON");
    let claims = &json["studies"][0]["claims"];
    let published = &claims[0]["published"];
    assert_eq!((&published["verdict"], &published["hosts"][0]["rows"][0]["n"]), (&"holds".into(), &8.into()));
    assert_eq!(claims[0]["fair"]["absent"], "both do the same work as published");
    assert_eq!(claims[1]["published"]["hosts"][0]["reason"], "their allocator is not built yet");
    judging("verdicts", temp.path()).args(["--study", "joy"]).assert().code(2).stderr(contains("joy"));
}

#[test]
fn a_page_that_rests_on_what_is_not_judged_or_divides_what_is_of_two_things_is_refused_before_anything_is_written() {
    let (temp, _) = sealed();
    let claims = CLAIMS.replacen("budget =", "scope = { archive = [\"operations_count\"] }\nbudget =", 1);
    write(&temp.path().join("toy/study"), "claims.toml", &claims);
    for (from, to, what) in [
        ("Do not.", "{C9.fair.range}", "the claim C9"),
        ("Do not.", "{C1.fair.nowhere.range}", "C1 in nowhere"),
        ("Do not.", "{C1.fair.shorter}", "`range` or `theirs`"),
        ("metric = \"work_s\" }", "metric = \"work_s\", per = \"operations_count\" }", "work_s by operations_count"),
    ] {
        let page = PAGE.replacen(from, to, 1);
        write(&temp.path().join("toy/study"), "page.toml", &page);
        let out = temporary();
        render(temp.path(), out.path(), &[]).code(2).stderr(contains("page.toml").and(contains(what)));
        assert!(!out.path().join("REPORT.md").exists());
    }
    fs::remove_file(temp.path().join("toy/study/claims.toml")).expect("it is there");
    render(temp.path(), temporary().path(), &[]).code(2).stderr(contains("claims.toml"));
}

#[test]
fn a_claim_is_said_in_three_lines_here_over_hosts_and_as_published() {
    let (temp, _) = sealed();
    let said = judging("verdicts", temp.path()).args(["--study", "toy", "--claim", "C1"]).assert().success();
    let text = String::from_utf8(said.get_output().stdout.clone()).expect("it is text");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4, "{text}");
    assert!(lines[1].starts_with("here:      as published +50 % (+50 to +51), holds"), "{text}");
    assert_eq!(lines[2], "range:     as published +50 %, holds on 1 of 1");
    assert_eq!(lines[3], "published: +50 %");
    judging("verdicts", temp.path()).args(["--study", "toy", "--claim", "C9"]).assert().code(2).stderr(contains("C9"));
}

#[test]
fn nothing_measured_is_said_with_the_remedy() {
    let temp = temporary();
    judging("verdicts", temp.path()).assert().code(2).stderr(contains("make all-reports"));
    Toy::default().measure(temp.path(), FIRST, usual);
    judging("verdicts", temp.path()).assert().code(2).stderr(contains("SHA256SUMS"));
}

#[test]
fn rendering_twice_gives_the_same_bytes() {
    let (temp, _) = sealed();
    let (once, again) = (temporary(), temporary());
    render(temp.path(), once.path(), &[]).success();
    render(temp.path(), again.path(), &[]).success();
    let effects = read(once.path(), "charts/toy-claims.svg");
    assert!(effects.contains("class=\"published\""), "the published figure is a mark");
    for file in ["REPORT.md", "charts/claims.svg", "charts/toy-claims.svg"] {
        assert_eq!(read(once.path(), file), read(again.path(), file), "{file}");
    }
    let text = read(once.path(), "REPORT.md");
    let evidence = read(&once.path().join("docs/evidence"), "toy.md");
    assert!(evidence.contains(&format!("{FIRST}-quick")), "the evidence names its samples");
    assert!(!text.contains(&temp.path().display().to_string()), "and no path of this machine");
    fs::write(once.path().join("charts/toy-gone.svg"), "<svg/>").expect("it can be written");
    render(temp.path(), once.path(), &[]).success();
    assert!(!once.path().join("charts/toy-gone.svg").exists(), "a chart that is drawn no more goes");
}

#[test]
fn blocks_in_other_documents_are_replaced_between_their_marks() {
    let ((temp, _), out) = (sealed(), temporary());
    let readme = out.path().join("README.md");
    let text = "# Toy\n<!-- answers:begin -->\nold\n<!-- answers:end -->\nkept\n<!-- goals-toy:begin -->\n<!-- goals-toy:end -->\n";
    fs::write(&readme, text).expect("it can be written");
    render(temp.path(), out.path(), &[&readme]).success();
    let spliced = read(out.path(), "README.md");
    assert!(spliced.starts_with("# Toy\n<!-- answers:begin -->\n") && spliced.contains("\nkept\n"), "{spliced}");
    assert!(
        !spliced.contains("\nold\n") && spliced.contains("over up to [1 host](docs/evidence/MACHINES.md)"),
        "{spliced}"
    );
    assert!(spliced.contains("a takes at most twice as long as b"), "{spliced}");
    render(temp.path(), out.path(), &[&readme]).success();
    assert_eq!(read(out.path(), "README.md"), spliced, "splicing again changes nothing");

    for (text, line, what) in [
        ("<!-- answers:begin -->\nold\n", 1, "has no end"),
        ("a\n<!-- answers:end -->\n", 2, "without a beginning"),
        ("<!-- goals-joy:begin -->\n<!-- goals-joy:end -->\n", 1, "the block 'goals-joy' is none"),
    ] {
        fs::write(&readme, text).expect("it can be written");
        let place = format!("README.md:{line}: ");
        render(temp.path(), out.path(), &[&readme]).code(2).stderr(contains(place).and(contains(what)));
        assert_eq!(read(out.path(), "README.md"), text, "a document that cannot be spliced stays as it is");
    }
}

#[test]
fn a_reader_that_has_had_enough_is_no_error() {
    let (temp, sealed) = sealed();
    for verb in ["verdicts", "check"] {
        if verb == "check" {
            write(&sealed, "notes.txt", "so that it has something to say\n");
        }
        let mut child = Command::new(assert_cmd::cargo::cargo_bin!("report"))
            .arg(verb)
            .arg(temp.path())
            .args(if verb == "verdicts" {
                vec!["--studies".into(), temp.path().as_os_str().to_owned()]
            } else {
                vec![]
            })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code().is_some_and(|code| code < 2), "{verb}: {:?} {stderr}", output.status);
        assert!(!stderr.contains("roken pipe") && !stderr.contains("panicked"), "{verb}: {stderr}");
    }
}

/// The program as a shell starts it in `folder`.
#[cfg(unix)]
fn in_shell(folder: &Path, words: &str) -> assert_cmd::assert::Assert {
    let mut shell = assert_cmd::Command::new("sh");
    shell.args(["-c", &format!("exec \"$0\" {words}"), env!("CARGO_BIN_EXE_report")]).current_dir(folder).assert()
}

#[test]
#[cfg(unix)]
fn output_that_cannot_be_written_is_a_failure_of_every_command_that_prints() {
    let (results, sealed) = sealed();
    fs::create_dir(results.path().join("planned")).unwrap();
    for file in ["claims.toml", "cases.tsv"] {
        fs::copy(sealed.join(file), results.path().join("planned").join(file)).unwrap();
    }
    let toy = sealed.strip_prefix(results.path()).unwrap().display().to_string();
    let prints = [
        "cases planned --profile quick".to_owned(),
        "plan planned --profile quick --seed 1".to_owned(),
        format!("passes {toy}"),
        "verdicts toy".to_owned(),
        "verdicts toy --study toy --claim C1".to_owned(),
        "check bad".to_owned(),
        "--help".to_owned(),
        "--version".to_owned(),
        "plan --help".to_owned(),
        "help append runs".to_owned(),
    ];
    fs::create_dir(results.path().join("bad")).unwrap();
    Toy::default().seal(&results.path().join("bad"), SECOND, usual);
    let bad = fs::read_dir(results.path().join("bad/toy")).unwrap().next().unwrap().unwrap().path();
    write(&bad, "notes.txt", "I was here\n");
    for words in prints {
        let why = "report: cannot write to standard output: ";
        in_shell(results.path(), &format!("{words} >&-")).code(2).stderr(contains(format!("{why}it is closed\n")));
        if cfg!(target_os = "linux") {
            in_shell(results.path(), &format!("{words} >/dev/full")).code(2).stderr(contains(format!("{why}No space")));
        }
        let written = in_shell(results.path(), &format!("{words} 1<>/dev/null"));
        written.code(i32::from(words == "check bad"));
    }
    // What prints nothing needs no output.
    write(results.path(), "facts.tsv", "cpu_count\t2\t\n");
    for words in [
        format!("check {toy}"),
        "machine planned facts.tsv".to_owned(),
        "render toy --out REPORT.md --charts charts".to_owned(),
    ] {
        in_shell(results.path(), &format!("{words} >&-")).success();
    }
}
