//! Test data and the published stress test.

use txn_engine::ErrorKind;
use txn_engine_oracle::process;

use crate::rows::HEADER;
use crate::{Folder, stdout_of};

#[test]
fn generated_rows_are_as_many_as_asked_for_and_the_same_for_the_same_seed() {
    let folder = Folder::new();
    for shape in ["original", "accepted", "hot", "uniform"] {
        let generate = |rows: usize, seed: u32| {
            stdout_of(&mut folder.txn_engine(&format!("generate --rows {rows} --seed {seed} --shape {shape}")))
        };
        let text = generate(2_000, 1);
        assert!(text.starts_with(HEADER), "{shape}: {text:.60}");
        assert_eq!(text.lines().count(), 2_001, "{shape}");
        assert_eq!(text, generate(2_000, 1), "{shape}");
        assert_ne!(text, generate(2_000, 2), "{shape}");
        assert!(text.starts_with(&generate(500, 1)), "{shape}: the smaller file is no prefix of the larger");
        // A saturating cast sends most rows of the published shape to the last client.
        let last = text.lines().filter(|line| line.split(',').nth(1) == Some("65535")).count();
        assert_eq!((1_840..1_900).contains(&last), shape == "original", "{shape}: {last} rows");
        let right = process(text.as_bytes()).expect("the header is valid");
        let parse_errors: Vec<_> =
            ErrorKind::ALL[..6].iter().filter(|kind| right.errors.contains_key(kind.name())).collect();
        assert!(parse_errors.is_empty(), "{shape}: {parse_errors:?}");
        if matches!(shape, "accepted" | "hot") {
            assert!(right.accepted > 1_960, "{shape}: {:?}", right.errors);
        }
        folder.write("generated.csv", &text);
        let accounts = stdout_of(&mut folder.txn_engine("generated.csv"));
        assert_eq!(accounts, String::from_utf8_lossy(&right.accounts_csv), "{shape}");
    }
}

#[test]
fn the_stress_test_prints_the_three_lines_of_the_published_program_on_stderr() {
    let folder = Folder::new();
    for typed in ["stress-test 1000", "async stress-test 1000", "stress-test 1000 --engine best_all_cores"] {
        let assert = folder.txn_engine(typed).assert().success();
        let stderr = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        let names: Vec<&str> = stderr.lines().filter_map(|line| line.split_once(": ").map(|(name, _)| name)).collect();
        assert_eq!(names, ["Elapsed time", "Engine Memory size", "Memory consumption delta"], "{typed}: {stderr}");
    }
}

#[test]
fn records_of_stress_tests_make_the_published_table() {
    let folder = Folder::new();
    folder.txn_engine("stress-test 100 --record runs.jsonl").assert().success();
    folder.txn_engine("stress-test 1000 --record runs.jsonl").assert().success();
    let table = stdout_of(&mut folder.txn_engine("stress-table runs.jsonl"));
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 3, "{table}");
    for header in ["Transactions Count", "Time", "Process Memory", "Engine Memory"] {
        assert!(lines[0].contains(header), "{table}");
    }
    assert!(lines[1].starts_with("100 ") && lines[2].starts_with("1000 "), "{table}");
}
