//! `--dump` and `--load`: a later run goes on where an earlier one ended, or refuses to.

use std::fs;
use std::process::Stdio;

use predicates::prelude::*;
use predicates::str::{contains, is_empty};

use txn_engine::Setup;
use txn_engine_oracle::process;

use crate::rows::{HEADER, clients};
use crate::{ACCOUNTS, Folder, PAYMENTS, assert_one_line, one_line, txn_engine_after};

#[test]
fn a_dumped_session_goes_on_as_if_both_files_were_one() {
    // The second file repeats an id, disputes what the first accepted, charges back what it left open, and uses the id of a
    // rejected row.
    let first = "deposit,1,1,5\ndeposit,2,2,7\nwithdrawal,1,3,1.5\ndispute,2,2,\nwithdrawal,1,9,100\ndeposit,4,8,2.5\n";
    let second = "deposit,3,1,9\ndispute,1,3,\nchargeback,2,2,\ndeposit,2,5,1\ndeposit,3,9,0.0001\ndispute,1,1,\n";
    let right = process(format!("{HEADER}{first}{second}").as_bytes()).expect("the header is valid");
    for (engine, _) in Setup::NAMED {
        let folder = Folder::with("first.csv", format!("{HEADER}{first}"));
        folder.write("second.csv", format!("{HEADER}{second}"));
        folder.txn_engine(&format!("--engine {engine} first.csv --dump session")).assert().success();
        let run = folder.txn_engine(&format!("--engine {engine} --load session second.csv")).assert().success();
        run.stdout(right.accounts_csv.clone());
    }
}

fn assert_load_is_refused(folder: &Folder, why: &str) {
    eprintln!("{why}");
    let run = folder.txn_engine("--load session payments.csv").assert().code(2).stdout(is_empty());
    run.stderr(one_line().and(contains("session")));
}

#[test]
fn a_dump_with_a_flipped_byte_or_truncated_or_incomplete_is_refused() {
    let folder = Folder::with("payments.csv", PAYMENTS);
    folder.txn_engine("payments.csv --dump session").assert().success();
    let entries = fs::read_dir(folder.path("session")).expect("the dump made its folder");
    let files: Vec<_> = entries.map(|entry| entry.expect("the folder can be listed").path()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    for file in files {
        let whole = fs::read(&file).expect("the dump can be read");
        // White space carries no meaning, so only bytes that do are flipped.
        let flipped = (0..whole.len()).filter(|&index| whole[index].is_ascii_alphanumeric()).step_by(7).map(|index| {
            let mut damaged = whole.clone();
            damaged[index] ^= 1;
            damaged
        });
        let cut = [0, whole.len() / 2, whole.len() - 2].map(|length| whole[..length].to_vec());
        for damaged in flipped.chain(cut) {
            fs::write(&file, &damaged).expect("the dump can be written");
            assert_load_is_refused(&folder, &format!("{}: {}", file.display(), damaged.escape_ascii()));
        }
        fs::remove_file(&file).expect("the file can be removed");
        assert_load_is_refused(&folder, &format!("{} removed", file.display()));
        fs::write(&file, &whole).expect("the dump can be written");
    }
    folder.txn_engine("--load session payments.csv").assert().success();
}

#[test]
fn a_foreign_folder_is_no_session_and_is_left_alone() {
    let folder = Folder::with("payments.csv", PAYMENTS);
    assert_load_is_refused(&folder, "no such folder");
    fs::create_dir(folder.path("session")).expect("a folder can be made");
    assert_load_is_refused(&folder, "an empty folder");
    for text in ["{}", "not JSON", r#"{"format":"other program","version":1}"#] {
        folder.write("session/session.json", text);
        assert_load_is_refused(&folder, text);
        folder.txn_engine("payments.csv --dump session").assert().code(2).stderr(one_line().and(contains("session")));
        assert_eq!(fs::read_to_string(folder.path("session/session.json")).expect("it still stands there"), text);
    }
}

#[test]
fn a_dump_that_cannot_be_written_whole_leaves_the_earlier_session_whole() {
    let folder = Folder::with("payments.csv", PAYMENTS);
    folder.txn_engine("payments.csv --dump session").assert().success();
    folder.write("many.csv", clients(10..10_000));
    // A file ends after some KiB, as on a full disk, and writing to it fails instead of ending the program.
    let mut command = txn_engine_after("trap '' XFSZ; ulimit -f 64", "many.csv --load session --dump session");
    command.current_dir(&folder.0).stdout(Stdio::null());
    assert_one_line(command, &["session", "File too large"]);
    folder.write("nothing.csv", HEADER);
    folder.txn_engine("--load session nothing.csv").assert().success().stdout(ACCOUNTS);
}
