//! The exports of hyperfine, old and new.

use report::hyperfine::Export;

const FILES: [(&str, &str); 3] = [
    ("1.15", include_str!("fixtures/hyperfine/1.15.json")),
    ("1.20", include_str!("fixtures/hyperfine/1.20.json")),
    ("2.0", include_str!("fixtures/hyperfine/2.0.json")),
];

fn read(text: &str) -> Result<Export, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

#[test]
fn every_dialect_gives_the_times_of_the_process() {
    for (version, text) in FILES {
        let export = read(text).unwrap_or_else(|error| panic!("{version}: {error}"));
        // All three ran `sleep 0.25`.
        assert!((0.25..0.27).contains(&export.wall_s), "{version}: {}", export.wall_s);
        assert!((0.0..0.01).contains(&export.user_s), "{version}: {}", export.user_s);
        assert!((0.0..0.01).contains(&export.system_s), "{version}: {}", export.system_s);
        assert!(export.user_s + export.system_s > 0.0, "{version}: even sleeping costs something");
    }
}

#[test]
fn what_no_version_writes_is_refused_and_named() {
    let [(_, old), (_, middle), (_, new)] = FILES;
    for (text, expected) in [
        (middle.replace("\"mean\"", "\"average\""), "unknown field `average`"),
        (old.replace("\"results\"", "\"version\": 1, \"results\""), "unknown field `version`"),
        (new.replace("\"schema_version\": 2", "\"schema_version\": 3"), "schema version 3"),
        (new.replace("\"second\"", "\"millisecond\""), "millisecond"),
        (new.replace("\"primary_metric\"", "\"secondary_metric\""), "unknown field `secondary_metric`"),
        (old.replace("\"median\": 0.25212484,", ""), "missing field `median`"),
    ] {
        let error = read(&text).expect_err(expected);
        assert!(error.contains(expected), "'{expected}' is not in '{error}'");
        assert!(error.contains("hyperfine"), "{error}");
    }
}

#[test]
fn more_than_one_run_or_command_is_refused() {
    let [(_, old), ..] = FILES;
    let twice = old.replace("        0.25212484\n", "        0.25212484,\n        0.26\n");
    assert!(read(&twice).expect_err("two times").contains("-r 1"));
    assert!(read("{\"results\": []}").expect_err("no result").contains("0 results"));
}

#[test]
fn a_failed_or_timeless_run_has_no_export() {
    let [(_, old), _, (_, new)] = FILES;
    let failed = old.replace("        0\n", "        1\n");
    assert!(read(&failed).expect_err("exit code 1").contains("exit code"));
    let killed = new.replace("\"exit_code\": 0", "\"exit_code\": null");
    assert!(read(&killed).expect_err("ended by a signal").contains("exit code"));
    assert!(read(&new.replace("0.25766514", "0.0")).is_err(), "no time at all");
}
