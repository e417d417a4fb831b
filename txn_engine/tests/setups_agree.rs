//! Every setup gives the answer of the naive oracle: the same accounts byte for byte, the same accepted rows, the same errors.

mod files;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use txn_engine::oracle::{Answer, Oracle, process};
use txn_engine::setup::Runner;
use txn_engine::{ErrorKind, Options, Outcome, Setup, process_files};

/// How often every error and every accepted operation must occur over all generated files.
const OCCURRENCES_AT_LEAST: u64 = 100;

/// Every runner, every way of reading, and channels with messages of several rows.
fn setups() -> Vec<Setup> {
    use Runner::{AllCores, CurrentThread, EnginePerFile, MultiThread, OneCore, ThreadPerFile, TwoThreads};
    let all = [ThreadPerFile, EnginePerFile, TwoThreads, CurrentThread, MultiThread, OneCore, AllCores];
    let mut setups = all.map(|runner| Setup { runner, ..Setup::SYNC }).to_vec();
    for runner in [TwoThreads, CurrentThread] {
        setups.extend([16, 4096].map(|batch| Setup { runner, batch, ..Setup::SYNC }));
    }
    setups.extend([Setup::BEST_ONE_CORE, Setup::BEST_ALL_CORES]);
    setups
}

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(TempDir::new().expect("a temporary folder can be made"))
    }

    fn file(&self, name: &str, text: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, text).expect("a temporary file can be written");
        path
    }
}

fn outcome(setup: Setup, paths: &[PathBuf]) -> Outcome {
    match process_files(setup, paths, Options::default()) {
        Ok(outcome) => outcome,
        Err(error) => panic!("{setup:?} cannot process {paths:?}: {error}"),
    }
}

/// A setup's outcome in the words of the oracle, but for its count of operations, which has no counterpart.
fn in_words_of_the_oracle(outcome: &Outcome) -> Answer {
    Answer {
        accounts_csv: outcome.accounts_csv(),
        accepted: outcome.accepted,
        errors: ErrorKind::ALL
            .iter()
            .map(|&kind| (kind.name(), outcome.errors.count(kind)))
            .filter(|&(_, count)| count > 0)
            .collect(),
        first_errors: outcome.errors.first.iter().map(|&(line, kind)| (line, kind.name())).collect(),
        operations: BTreeMap::new(),
    }
}

fn assert_equal(setup: Setup, found: &Answer, right: &Answer) {
    assert_eq!(
        String::from_utf8_lossy(&found.accounts_csv),
        String::from_utf8_lossy(&right.accounts_csv),
        "accounts of {setup:?}"
    );
    assert_eq!(found.errors, right.errors, "row errors of {setup:?}");
    assert_eq!(found.first_errors, right.first_errors, "first row errors of {setup:?}");
    assert_eq!(found.accepted, right.accepted, "accepted rows of {setup:?}");
}

fn assert_all_agree(path: &Path, right: &Answer) {
    for setup in setups() {
        assert_equal(setup, &in_words_of_the_oracle(&outcome(setup, &[path.to_owned()])), right);
    }
}

#[test]
fn every_setup_gives_the_answer_of_the_oracle_on_generated_files() {
    let folder = Folder::new();
    let occurred = RefCell::new(BTreeMap::<&str, u64>::new());

    files::seeded_runner()
        .run(&files::files(), |file| {
            let right = process(&file.0).expect("generated files have a valid header");
            for (name, count) in right.errors.iter().chain(&right.operations) {
                *occurred.borrow_mut().entry(name).or_default() += count;
            }
            assert_all_agree(&folder.file("generated.csv", &file.0), &right);
            Ok(())
        })
        .unwrap_or_else(|failure| panic!("{failure}"));

    let operations = ["deposit", "withdrawal", "dispute", "resolve", "chargeback", "dispute again"];
    let rare: Vec<_> = ErrorKind::ALL
        .iter()
        .map(|kind| kind.name())
        .chain(operations)
        .map(|name| (name, occurred.borrow().get(name).copied().unwrap_or(0)))
        .filter(|&(_, count)| count < OCCURRENCES_AT_LEAST)
        .collect();
    assert!(rare.is_empty(), "these occur less than {OCCURRENCES_AT_LEAST} times in all files: {rare:?}");
}

#[test]
fn every_setup_agrees_on_files_that_span_many_blocks() {
    let folder = Folder::new();
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
    let right = process(&text).expect("the header is valid");
    assert!(right.accepted > 10_000, "most rows are rejected: {:?}", right.errors);
    assert_all_agree(&folder.file("large.csv", &text), &right);
}

#[test]
fn the_best_setups_read_a_row_that_lies_across_the_border_of_two_blocks_at_every_byte() {
    let folder = Folder::new();
    // Rows up to the end of the first block and some more, moved by a byte at a time.
    let rows: Vec<String> = (1..6_500).map(|n| format!("deposit,{},{n},{n}.0625\n", n % 9)).collect();
    let rows = rows.concat();
    for shift in 0..26 {
        let text = format!("type,client,tx,amount{}\n{rows}dispute,1,6499,\n", " ".repeat(shift));
        assert!(text.len() > 128 * 1024, "it is a single block");
        let right = process(text.as_bytes()).expect("the header is valid");
        let path = folder.file("shifted.csv", text.as_bytes());
        for setup in [Setup::BEST_ONE_CORE, Setup::BEST_ALL_CORES] {
            assert_equal(setup, &in_words_of_the_oracle(&outcome(setup, std::slice::from_ref(&path))), &right);
        }
    }
}

#[test]
fn every_setup_gives_the_sequential_answer_on_several_files_with_clients_and_ids_of_their_own() {
    let folder = Folder::new();
    let mut oracle = Oracle::new();
    let mut paths = Vec::new();
    for file in 0..4 {
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
        oracle.feed(text.as_bytes()).expect("the header is valid");
        paths.push(folder.file(&format!("{file}.csv"), text.as_bytes()));
    }
    let right = oracle.finish();
    assert!(right.operations.len() >= 5 && right.errors.len() > 4, "the files exercise too little: {right:?}");
    for setup in setups() {
        let mut found = in_words_of_the_oracle(&outcome(setup, &paths));
        // Which errors come first depends on which file was faster.
        found.first_errors.clone_from(&right.first_errors);
        assert_equal(setup, &found, &right);
    }
}

#[test]
fn one_core_and_all_cores_give_the_sequential_answer_on_files_that_share_clients_and_ids() {
    let folder = Folder::new();
    let halves = [
        "type,client,tx,amount\ndeposit,1,1,5\ndeposit,2,2,5\nwithdrawal,1,3,2\n",
        "type,client,tx,amount\ndispute,1,1,\ndeposit,2,1,9\nchargeback,1,1,\ndeposit,1,4,1\n",
    ];
    let mut oracle = Oracle::new();
    let paths: Vec<_> = halves
        .iter()
        .zip(["first.csv", "second.csv"])
        .map(|(half, name)| {
            oracle.feed(half.as_bytes()).expect("the header is valid");
            folder.file(name, half.as_bytes())
        })
        .collect();
    let right = oracle.finish();
    for setup in [Setup::BEST_ONE_CORE, Setup::BEST_ALL_CORES] {
        let mut found = in_words_of_the_oracle(&outcome(setup, &paths));
        found.first_errors.clone_from(&right.first_errors);
        assert_equal(setup, &found, &right);
    }
}

#[test]
fn a_session_goes_on_where_the_last_file_ended_in_every_setup() {
    let folder = Folder::new();
    let mut runner = files::seeded_runner();
    for _ in 0..50 {
        let halves = [(); 2].map(|()| files::draw(&mut runner));
        let mut oracle = Oracle::new();
        for half in &halves {
            oracle.feed(half).expect("generated files have a valid header");
        }
        let right = oracle.finish();
        let [first, second] =
            [("first.csv", &halves[0]), ("second.csv", &halves[1])].map(|(name, half)| folder.file(name, half));
        for setup in setups() {
            let session = outcome(setup, std::slice::from_ref(&first)).books.session();
            let options = Options { session, ..Options::default() };
            let last = process_files(setup, std::slice::from_ref(&second), options)
                .unwrap_or_else(|error| panic!("{setup:?} cannot go on: {error}"));
            assert_eq!(
                String::from_utf8_lossy(&last.accounts_csv()),
                String::from_utf8_lossy(&right.accounts_csv),
                "{setup:?} after {halves:?}"
            );
        }
    }
}

#[test]
fn every_setup_refuses_what_has_no_valid_header() {
    let folder = Folder::new();
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
        &long_header,
    ] {
        assert!(process(text.as_bytes()).is_err(), "the oracle takes {text:.40?} for a header");
        let path = folder.file("refused.csv", text.as_bytes());
        for setup in setups() {
            let refused = process_files(setup, std::slice::from_ref(&path), Options::default()).is_err();
            assert!(refused, "{setup:?} takes {text:.40?} for a header");
        }
    }
}

#[test]
fn every_setup_refuses_a_file_that_does_not_exist_even_among_others() {
    let folder = Folder::new();
    let good = folder.file("good.csv", b"type,client,tx,amount\ndeposit,1,1,5\n");
    let missing = folder.0.path().join("missing.csv");
    for setup in setups() {
        let result = process_files(setup, &[good.clone(), missing.clone()], Options::default());
        let message = result.err().unwrap_or_else(|| panic!("{setup:?} overlooks a missing file")).to_string();
        assert!(message.contains("missing.csv"), "{setup:?} does not name the file: {message}");
    }
}
