//! Every setup gives the answer of the naive oracle: the same accounts byte for byte, the same accepted rows, the same errors.

mod files;

use std::collections::BTreeMap;
use std::fs;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use tempfile::TempDir;

use txn_engine::generate::{self, Shape};
use txn_engine::setup::Runner;
use txn_engine::{ErrorKind, Outcome, Session, Setup, process_files};
use txn_engine_oracle::{Answer, Oracle, process};

const BEST: [Setup; 2] = [Setup::BEST_ONE_CORE, Setup::BEST_ALL_CORES];

/// Every runner, every way of reading, and channels with messages of several rows.
fn setups() -> Vec<Setup> {
    use Runner::{AllCores, CurrentThread, MultiThread, OneCore, ThreadPerFile, TwoThreads, TwoThreadsAwake};
    let all = [ThreadPerFile, TwoThreads, TwoThreadsAwake, CurrentThread, MultiThread, OneCore, AllCores];
    let mut setups = all.map(|runner| Setup { runner, ..Setup::SYNC }).to_vec();
    for runner in [TwoThreads, CurrentThread] {
        setups.extend([16, 4096].map(|batch| Setup { runner, batch, ..Setup::SYNC }));
    }
    setups.extend(BEST);
    setups
}

fn write(folder: &TempDir, name: &str, text: &[u8]) -> PathBuf {
    let path = folder.path().join(name);
    fs::write(&path, text).expect("a temporary file can be written");
    path
}

fn assert_accounts(setup: Setup, paths: &[PathBuf], session: Session, right: &Answer) -> Outcome {
    let done = process_files(setup, paths, session).unwrap_or_else(|error| panic!("{setup:?}: {error}"));
    let accounts = done.accounts_csv();
    let accounts = [&accounts, &right.accounts_csv].map(|csv| String::from_utf8_lossy(csv));
    assert_eq!(accounts[0], accounts[1], "accounts of {setup:?}");
    done
}

/// Writes `texts` to files, has `setups` process them, and compares with what the oracle says to one file after the other.
fn assert_agree<T: AsRef<[u8]>>(setups: &[Setup], texts: &[T]) -> Answer {
    let folder = TempDir::new().expect("a temporary folder can be made");
    let mut oracle = Oracle::default();
    let mut paths = Vec::new();
    for (number, text) in texts.iter().enumerate() {
        oracle.feed(text.as_ref()).expect("the header is valid");
        paths.push(write(&folder, &format!("{number}.csv"), text.as_ref()));
    }
    let right = oracle.finish();
    for &setup in setups {
        let done = assert_accounts(setup, &paths, Session::default(), &right);
        let errors = ErrorKind::ALL.iter().map(|&kind| (kind.name(), done.errors.count(kind)));
        let errors: BTreeMap<_, _> = errors.filter(|&(_, count)| count > 0).collect();
        assert_eq!(errors, right.errors, "row errors of {setup:?}");
        assert_eq!(done.accepted, right.accepted, "accepted rows of {setup:?}");
        // Which errors of several files come first depends on which file was faster.
        if texts.len() == 1 {
            let first: Vec<_> = done.errors.first.iter().map(|&(line, kind)| (line, kind.name())).collect();
            assert_eq!(first, right.first_errors, "first row errors of {setup:?}");
        }
    }
    right
}

#[test]
fn every_setup_gives_the_answer_of_the_oracle_on_generated_files() {
    let mut occurred = BTreeMap::<&str, u64>::new();
    let mut runner = files::seeded_runner();
    let setups = setups();
    for number in 0..files::FILES {
        // Shown if the test fails: the same seed draws the same file.
        eprintln!("file {number}");
        let right = assert_agree(&setups, &[files::draw(&mut runner)]);
        for (name, count) in right.errors.iter().chain(&right.operations) {
            *occurred.entry(name).or_default() += count;
        }
    }

    let operations = ["deposit", "withdrawal", "dispute", "resolve", "chargeback", "dispute again"];
    for name in ErrorKind::ALL.iter().map(|kind| kind.name()).chain(operations) {
        assert!(occurred.get(name).is_some_and(|&count| count >= 100), "{name} is rare: {occurred:?}");
    }
}

#[test]
fn every_setup_agrees_on_files_that_span_many_blocks() {
    let mut runner = files::seeded_runner();
    // One header, then the rows of many generated files: their own headers become rows with an unknown type, other layouts
    // become rows with fields in the wrong place, and all share one state.
    let mut text = b"type,client,tx,amount\n".to_vec();
    while text.len() < 8 << 20 {
        text.extend(files::draw(&mut runner));
        // New ids and clients, so that not everything ends up locked.
        let round = text.len();
        for row in 0..200 {
            let client = 1_000 + (round + row) % 50_000;
            text.extend(format!("\ndeposit,{client},{},{row}.5", 100 + round * 7 % 1_000_000 + row).bytes());
        }
        text.push(b'\n');
    }
    let right = assert_agree(&setups(), &[text]);
    assert!(right.accepted > 10_000, "most rows are rejected: {:?}", right.errors);
}

#[test]
fn the_best_setups_read_a_row_that_lies_across_the_border_of_two_blocks_at_every_byte() {
    // Rows up to the end of the first block and some more, moved by a byte at a time.
    let rows: Vec<String> = (1..6_500).map(|n| format!("deposit,{},{n},{n}.0625\n", n % 9)).collect();
    let rows = rows.concat();
    for shift in 0..26 {
        let text = format!("type,client,tx,amount{}\n{rows}dispute,1,6499,\n", " ".repeat(shift));
        assert!(text.len() > 128 * 1024, "it is a single block");
        assert_agree(&BEST, &[text]);
    }
}

#[test]
fn every_setup_gives_the_sequential_answer_on_several_files_with_clients_and_ids_of_their_own() {
    let text = |file: i32| {
        let mut text = "type,client,tx,amount\n".to_owned();
        for row in 0..2_000 {
            let (client, tx) = (file * 100 + row % 37, file * 10_000 + row);
            // Rows that lie 37 apart are of one client; a dispute names a withdrawal, and what follows it 37 rows later the same.
            let line = match row % 9 {
                0..=4 => format!("deposit,{client},{tx},{row}.25\n"),
                5 | 6 => format!("withdrawal,{client},{tx},{}\n", row % 300),
                7 => format!("dispute,{client},{},\n", tx - 37),
                _ if row % 243 == 89 => format!("chargeback,{client},{},\n", tx - 74),
                _ => format!("resolve,{client},{},\nnonsense\n", tx - 74),
            };
            text.push_str(&line);
        }
        text
    };
    let right = assert_agree(&setups(), &[0, 1, 2, 3].map(text));
    assert!(right.operations.len() >= 5 && right.errors.len() > 4, "the files exercise too little: {right:?}");
}

/// Every setup with tokio, or every one without, on the three files of the published concurrency test: they share neither clients nor ids. They
/// have 100,000 rows each, or as many as the environment says.
fn assert_agree_on_the_published_files(with_tokio: bool) {
    let mut setups = setups();
    setups.retain(|setup| matches!(setup.runner, Runner::CurrentThread | Runner::MultiThread) == with_tokio);
    let rows = std::env::var("TXN_ENGINE_TEST_ROWS").unwrap_or("100000".to_owned());
    let rows = rows.parse().expect("TXN_ENGINE_TEST_ROWS is a number of rows");
    let text = |(clients, first_tx): (RangeInclusive<u16>, u32)| {
        let shape = Shape::Regression { clients, first_tx };
        let mut text = Vec::new();
        generate::write(&shape, rows, u64::from(first_tx), &mut text).expect("a vector takes all");
        text
    };
    let texts = [(1..=10, 0), (200..=300, 1_000_001), (400..=500, 2_000_001)].map(text);
    let right = assert_agree(&setups, &texts);
    assert!(right.operations.len() >= 5 && right.errors.len() > 4, "the files exercise too little: {right:?}");
    let lines = right.accounts_csv.split(|&byte| byte == b'\n').count();
    assert_eq!(lines, 1 + 10 + 101 + 101 + 1, "every client has an account");
}

#[test]
fn reg_test_engine_consistency_with_concurrent_processing() {
    assert_agree_on_the_published_files(false);
}

#[test]
fn reg_test_engine_consistency_with_concurrent_processing_async() {
    assert_agree_on_the_published_files(true);
}

#[test]
fn one_core_and_all_cores_give_the_sequential_answer_on_files_that_share_clients_and_ids() {
    let first = "type,client,tx,amount\ndeposit,1,1,5\ndeposit,2,2,5\nwithdrawal,1,3,2\n";
    let second = "type,client,tx,amount\ndispute,1,1,\ndeposit,2,1,9\nchargeback,1,1,\ndeposit,1,4,1\n";
    assert_agree(&BEST, &[first, second]);
}

#[test]
fn a_session_goes_on_where_the_last_file_ended_in_every_setup() {
    let folder = TempDir::new().expect("a temporary folder can be made");
    let mut runner = files::seeded_runner();
    for _ in 0..50 {
        let halves = [(); 2].map(|()| files::draw(&mut runner));
        let rights = [assert_agree(&[], &halves[..1]), assert_agree(&[], &halves)];
        for setup in setups() {
            let mut session = Session::default();
            for (half, right) in halves.iter().zip(&rights) {
                let path = write(&folder, "half.csv", half);
                let done = assert_accounts(setup, &[path], session, right);
                session = done.books.session();
            }
        }
    }
}

#[test]
fn every_setup_can_be_used_within_an_async_runtime() {
    let text = "type,client,tx,amount\ndeposit,1,1,5\nwithdrawal,1,2,1.5\nwithdrawal,1,3,9\n";
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("it needs no thread");
    let right = runtime.block_on(async { assert_agree(&setups(), &[text]) });
    assert_eq!(right.accepted, 2);
}

#[test]
fn every_setup_refuses_what_has_no_valid_header() {
    let folder = TempDir::new().expect("a temporary folder can be made");
    let long_header = format!("type,client,tx,amount,{}\n", "x".repeat(65_536));
    for text in [
        "",
        "\n \n\r\n",
        "\u{feff}",
        "type,client,tx\ndeposit,1,1\n",
        "type,client,tx,amount,Tx\n",
        "type,client,tx,amount,\" AMOUNT \"\n",
        "deposit,1,1,5\n",
        "\"type,client,tx,amount\n",
        "type;client;tx;amount\n",
        "type,client,tx,amount,note\rdeposit,1,1,5,rent\r",
        "\r\ntype,client,tx,amount\rdeposit,1,1,5\r\n",
        &long_header,
    ] {
        assert!(process(text.as_bytes()).is_err(), "the oracle takes {text:.40?} for a header");
        let path = write(&folder, "refused.csv", text.as_bytes());
        for setup in setups() {
            let done = process_files(setup, std::slice::from_ref(&path), Session::default());
            assert!(done.is_err(), "{setup:?} takes {text:.40?} for a header");
        }
    }
    // Nor is a file overlooked that is missing among others.
    let paths = [write(&folder, "good.csv", b"type,client,tx,amount\n"), folder.path().join("missing.csv")];
    for setup in setups() {
        let error = process_files(setup, &paths, Session::default()).map(drop).expect_err("a file is missing");
        assert!(error.to_string().contains("missing.csv"), "{setup:?} does not name the file: {error}");
    }
}

/// Whoever breaks any single rule is caught by one of the generated files. The mutants are made of the oracle, but since every setup must
/// equal it on the same files, one with such a bug would be caught as well.
#[test]
fn breaking_any_rule_changes_the_answer_to_a_generated_file() {
    let mut runner = files::seeded_runner();
    let files: Vec<_> = (0..files::FILES).map(|_| files::draw(&mut runner)).collect();
    // The operations are nothing that setups are compared by.
    let answer = |mut oracle: Oracle, file: &[u8]| {
        oracle.feed(file).ok()?;
        Some(Answer { operations: BTreeMap::new(), ..oracle.finish() })
    };
    let right: Vec<_> = files.iter().map(|file| answer(Oracle::default(), file)).collect();

    let mut survivors = Oracle::rules_in(&files).expect("generated files have a valid header");
    assert_eq!(survivors.len(), 80, "a rule is never asked for, or goes by two names: {survivors:?}");
    survivors
        .retain(|rule| files.iter().zip(&right).all(|(file, right)| answer(Oracle::that_breaks(rule), file) == *right));
    assert!(survivors.is_empty(), "no generated file notices that these rules are broken: {survivors:?}");
}

/// What the oracle says: the error of the last row, and the accounts in one line.
fn worked_out(rows: &str) -> (Option<&'static str>, String) {
    let text = format!("type,client,tx,amount\n{rows}");
    let answer = process(text.as_bytes()).expect("the header is valid");
    let last = text.lines().count() as u64;
    let error = answer.first_errors.iter().find(|(line, _)| *line == last).map(|(_, kind)| *kind);
    let accounts = String::from_utf8(answer.accounts_csv).expect("accounts are text");
    (error, accounts.lines().skip(1).collect::<Vec<_>>().join(" "))
}

#[test]
fn accounts_and_errors_worked_out_by_hand_are_what_the_oracle_says() {
    for (rows, accounts) in [
        ("deposit,2,1,5\ndeposit,1,2,1.5", "1,1.5000,0.0000,1.5000,false 2,5.0000,0.0000,5.0000,false"),
        ("deposit,1,1,5\nwithdrawal,1,2,0.0001", "1,4.9999,0.0000,4.9999,false"),
        ("deposit,1,1,5\nwithdrawal,1,2,4\ndispute,1,1,", "1,-4.0000,5.0000,1.0000,false"),
        ("deposit,1,1,5\nwithdrawal,1,2,4\ndispute,1,2,", "1,5.0000,-4.0000,1.0000,false"),
        ("deposit,1,1,5\nwithdrawal,1,2,4\ndispute,1,2,\nchargeback,1,2,", "1,5.0000,0.0000,5.0000,true"),
        ("deposit,1,1,5\ndispute,1,1,\nresolve,1,1,", "1,5.0000,0.0000,5.0000,false"),
        ("deposit,1,1,5\nwithdrawal,1,2,5\ndispute,1,1,\nchargeback,1,1,", "1,-5.0000,0.0000,-5.0000,true"),
        ("deposit,1,1,.5\ndeposit,1,2,7.\ndeposit,1,3,+3.25000", "1,10.7500,0.0000,10.7500,false"),
        ("withdrawal,1,1,5\ndispute,2,1,", ""),
    ] {
        assert_eq!(worked_out(rows).1, accounts, "{rows}");
    }
    for (rows, error) in [
        ("deposit,1,1,5\ndeposit,1,1,5", Some("RepeatedTx")),
        ("withdrawal,1,1,5\ndeposit,1,1,5", None),
        ("deposit,1,1,5\ndispute,1,1\nchargeback,1,1\ndeposit,1,1,5", Some("RepeatedTx")),
        ("deposit,1,1,5\ndispute,1,1\nchargeback,1,1\ndispute,1,1", Some("AccountLocked")),
        ("deposit,1,1,5\ndispute,1,1\nresolve,1,1\ndispute,1,1", None),
        ("deposit,1,1,5\ndispute,1,1\ndispute,1,1", Some("AlreadyDisputed")),
        ("deposit,1,1,5\ndeposit,2,2,5\nresolve,1,2", Some("DifferentClient")),
        ("deposit,1,1,5\ndispute,2,1", Some("AccountNotFound")),
        ("deposit,1,1,922337203685477.5807\ndeposit,1,2,0.0001", Some("Overflow")),
        ("deposit,1,1,922337203685477.5808", Some("BadAmount")),
        ("deposit,1,1,-922337203685477.5808", Some("NotPositive")),
        ("deposit,1,1,1.00001", Some("BadAmount")),
        ("deposit,1,1", Some("NoAmount")),
        ("deposit,1,x,1e3", Some("BadNumber")),
        ("dispute,65536,1,1e3", Some("BadNumber")),
        ("\"deposit,1,1,5", Some("OpenQuote")),
        ("deposit,1,1,\"5", Some("OpenQuote")),
        ("deposit,1,1,5,\"note", Some("OpenQuote")),
        ("deposit,1,1,5,the \"note", None),
    ] {
        assert_eq!(worked_out(rows).0, error, "{rows}");
    }
}
