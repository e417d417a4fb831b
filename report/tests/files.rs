//! The readers of JSON lines and exports of hyperfine, old and new: they refuse what would otherwise be read as something else.

use report::folder::hyperfine::Export;
use report::folder::machine::Machine;
use report::folder::runs::{self, Run};

fn read(text: &str) -> Result<Vec<Run>, Vec<String>> {
    runs::read_lines(text, "runs.jsonl").map_err(|errors| errors.iter().map(ToString::to_string).collect())
}

#[test]
fn a_run_says_that_it_has_no_export_or_record_and_does_not_leave_them_out() {
    assert!(read("{\"run\":\"t-1\",\"exit\":1,\"hyperfine\":null,\"record\":null}\n").is_ok());
    for (text, name) in [
        ("{\"run\":\"t-1\",\"exit\":1,\"record\":null}\n", "hyperfine"),
        ("{\"run\":\"t-1\",\"exit\":1,\"hyperfine\":null}\n", "record"),
    ] {
        let errors = read(text).expect_err(name);
        let [error] = errors.as_slice() else { panic!("{name}: {errors:?}") };
        assert!(error.starts_with("runs.jsonl:1: ") && error.contains(&format!("missing field `{name}`")), "{error}");
    }
}

#[test]
fn every_bad_line_is_named_and_a_torn_last_one_as_such() {
    let good = "{\"run\":\"t-1\",\"exit\":1,\"hyperfine\":null,\"record\":null}\n";
    let errors = read(&format!("{good}{{}}\n\n{good}{}", good.trim_end())).expect_err("three lines are bad");
    let [field, empty, torn] = errors.as_slice() else { panic!("{errors:?}") };
    assert!(field.starts_with("runs.jsonl:2: missing field `run`"), "{field}");
    assert!(empty.starts_with("runs.jsonl:3: "), "{empty}");
    assert!(torn.starts_with("runs.jsonl:5: ") && torn.contains("interrupted"), "{torn}");
    assert_eq!(read("").map(|runs| runs.len()), Ok(0));
}

#[test]
fn a_key_that_stands_twice_in_one_object_is_refused() {
    let record = |metrics: &str| {
        format!(
            "{{\"run\":\"t-1\",\"exit\":0,\"hyperfine\":null,\"record\":{{\"schema\":2,\"run\":\"t-1\",\"study\":\"t\",\
             \"scenario\":\"s\",\"arm\":\"a\",\"seed\":0,\"block\":0,\"digest\":\"\",\"metrics\":{{{metrics}}}}}}}\n"
        )
    };
    assert!(read(&record("\"work_s\":1,\"user_s\":1")).is_ok());
    let errors = read(&record("\"work_s\":1,\"work_s\":2")).expect_err("one time or the other");
    assert!(errors[0].starts_with("runs.jsonl:1: the key 'work_s' stands twice"), "{errors:?}");
    let machine = "{\"schema\":2,\n\"values\":{\"a\":1,\n\"a\":2},\"reasons\":{}}";
    let error = Machine::parse(machine, "machine.json").expect_err("one value or the other").to_string();
    assert!(error.starts_with("machine.json:3: the key 'a' stands twice"), "{error}");
}

const FILES: [(&str, &str); 3] = [
    ("1.15", include_str!("fixtures/hyperfine/1.15.json")),
    ("1.20", include_str!("fixtures/hyperfine/1.20.json")),
    ("2.0", include_str!("fixtures/hyperfine/2.0.json")),
];

#[test]
fn every_dialect_gives_the_time_of_the_process() {
    for (version, text) in FILES {
        let Export { wall_s } = serde_json::from_str(text).unwrap_or_else(|error| panic!("{version}: {error}"));
        // All three ran `sleep 0.25`.
        assert!((0.25..0.27).contains(&wall_s), "{version}: {wall_s}");
    }
}

#[test]
fn of_an_export_the_time_is_kept_and_what_was_kept_is_read_again() {
    let [(_, text), ..] = FILES;
    let export: Export = serde_json::from_str(text).expect("it is an export");
    let kept = serde_json::to_string(&export).expect("it is JSON");
    assert_eq!(kept, "{\"wall_s\":0.25212484}");
    assert_eq!(serde_json::from_str::<Export>(&kept).expect("it can be read"), export);
    for (text, expected) in [
        ("{\"wall_s\":-1.0}", "the time -1 s"),
        ("{\"wall_s\":1.0,\"user\":1.0}", "no JSON export"),
        ("{\"wall_s\":null}", "no JSON export"),
    ] {
        let error = serde_json::from_str::<Export>(text).expect_err(expected).to_string();
        assert!(error.contains(expected), "'{expected}' is not in '{error}'");
    }
}

#[test]
fn what_no_version_writes_of_one_run_that_succeeded_is_refused_and_named() {
    let [(_, old), (_, middle), (_, new)] = FILES;
    let known = "known are 1.15 to 1.20 and 2.0";
    for (text, expected) in [
        ("{}".to_owned(), known),
        ("1".to_owned(), known),
        ("{\"version\":3}".to_owned(), known),
        (middle.replace("\"times\"", "\"moments\""), known),
        (new.replace("\"schema_version\": 2", "\"schema_version\": 3"), "schema version 3"),
        (new.replace("\"second\"", "\"millisecond\""), "millisecond"),
        (old.replace("        0.25212484\n", "        0.25212484,\n        0.26\n"), "-r 1"),
        ("{\"results\": []}".to_owned(), "-r 1"),
        (old.replace("        0\n", "        1\n"), "exit code"),
        (new.replace("\"exit_code\": 0", "\"exit_code\": null"), "exit code"),
        (new.replace("0.25766514", "0.0"), "the time 0 s"),
    ] {
        let error = serde_json::from_str::<Export>(&text).expect_err(expected).to_string();
        assert!(error.contains(expected) && error.contains("hyperfine"), "'{expected}' is not in '{error}'");
    }
}
