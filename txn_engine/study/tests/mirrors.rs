//! Every mirror gives the answer of the oracle.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::{fs, slice};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use txn_engine::ErrorKind;
use txn_engine::amount::Amount;
use txn_engine::generate::{self, Shape};
use txn_engine::row::{Kind, Row};
use txn_engine_oracle::{Answer, Oracle};

use txn_engine_study::cases::{ARMS, Subject};
use txn_engine_study::inputs::Expected;
use txn_engine_study::mirror::{BATCH, Mirror};

const HEADER: &str = "type,client,tx,amount\n";

type Ready = (&'static str, Mirror, Option<Runtime>);

fn mirrors() -> Vec<Ready> {
    let ready = |&(name, subject): &(&'static str, Subject)| match subject {
        Subject::Published(mirror) => Some((name, mirror, mirror.runtime().unwrap())),
        _ => None,
    };
    ARMS.iter().filter_map(ready).collect()
}

/// Writes `texts` to files and has every mirror process them, so many at once.
fn assert_agree(mirrors: &[Ready], texts: &[Vec<u8>], at_once: usize) -> Answer {
    let folder = TempDir::new().unwrap();
    let mut oracle = Oracle::default();
    let mut paths = Vec::new();
    for (number, text) in texts.iter().enumerate() {
        paths.push(folder.path().join(format!("{number}.csv")));
        fs::write(&paths[number], text).unwrap();
        oracle.feed(text).unwrap();
    }
    let right = oracle.finish();
    let errors = |kind: ErrorKind| right.errors.get(kind.name()).copied().unwrap_or(0);
    for (name, mirror, runtime) in mirrors {
        let done = mirror.process(runtime.as_ref(), &paths, at_once).unwrap();
        let came = Expected::new(&done.accounts_csv(), done.counts.accepted, |kind| done.counts.rejected(kind));
        let wanted = Expected::new(&right.accounts_csv, right.accepted, errors);
        assert_eq!(came, wanted, "{name}: {}", String::from_utf8_lossy(&right.accounts_csv));
    }
    right
}

/// A file whose clients and ids are those of no other `file`: few of them, so that every rule has its turn.
fn text(file: u16) -> impl Strategy<Value = Vec<u8>> {
    let amounts = prop_oneof![47 => (0..1_000_000_i64).prop_map(Some), 1 => Just(None), 1 => Just(Some(0)), 1 => Just(Some(-15_000))];
    let row = (select(Kind::ALL), 0..4_u16, 0..20_u32, amounts).prop_map(move |(kind, client, tx, units)| {
        let amount = units.filter(|_| kind.needs_amount()).map(Amount);
        Row { amount, tx: u32::from(file) * 1_000 + tx, client: file * 100 + client, kind }
    });
    vec(row, 0..300).prop_map(|rows| {
        let mut text = HEADER.as_bytes().to_vec();
        for row in rows {
            row.write(&mut text).unwrap();
        }
        text
    })
}

#[test]
fn every_mirror_gives_the_answer_of_the_oracle_on_random_rows() {
    let mirrors = mirrors();
    let occurred = RefCell::new(BTreeMap::<&str, u64>::new());
    let config = Config { cases: 40, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let done = runner.run(&[0, 1, 2].map(text), |texts| {
        for (texts, at_once) in [(&texts[..1], 1), (&texts[..], 1), (&texts[..], 3)] {
            let right = assert_agree(&mirrors, texts, at_once);
            for (name, count) in right.operations.iter().chain(&right.errors) {
                *occurred.borrow_mut().entry(name).or_default() += count;
            }
        }
        Ok(())
    });
    done.unwrap_or_else(|failure| panic!("{failure}"));
    // What these rows never come to: lines that cannot be read stand before the first, and no balance leaves 64 bits.
    let rules = ErrorKind::ALL.iter().skip_while(|&&kind| kind != ErrorKind::NoAmount);
    let rules = rules.filter(|&&kind| kind != ErrorKind::Overflow).map(|kind| kind.name());
    for name in rules.chain(Kind::ALL.iter().map(|kind| kind.name())) {
        assert!(occurred.borrow().get(name).is_some_and(|&count| count >= 100), "{name}: {occurred:?}");
    }
}

#[test]
fn every_mirror_gives_the_answer_of_the_oracle_on_files_of_each_shape() {
    let mirrors = mirrors();
    let regression = Shape::Regression { clients: 1..=10, first_tx: 0 };
    for shape in [Shape::Original, Shape::Accepted, Shape::Hot, Shape::Uniform, regression] {
        // One more than fills a message, and less than that.
        for rows in [0, 1, BATCH as u64 + 1, 20_000] {
            let mut text = Vec::new();
            generate::write(&shape, rows, 7, &mut text).unwrap();
            assert_agree(&mirrors, &[text], 1);
        }
    }
}

#[test]
fn a_row_that_cannot_be_read_stops_no_mirror_and_a_missing_file_does() {
    let folder = TempDir::new().unwrap();
    let (odd, missing) = (folder.path().join("odd.csv"), folder.path().join("missing.csv"));
    fs::write(&odd, format!("{HEADER}deposit,1,1,5\nrefund,1,2,5\ndeposit,1,x,5\ndeposit,1,3,2\n")).unwrap();
    for (name, mirror, runtime) in mirrors() {
        let done = mirror.process(runtime.as_ref(), slice::from_ref(&odd), 1).unwrap();
        assert_eq!(done.counts.accepted, 2, "{name}");
        assert_eq!(done.accounts_csv(), b"client,available,held,total,locked\n1,7.0000,0.0000,7.0000,false\n");
        for at_once in [1, 2] {
            assert!(mirror.process(runtime.as_ref(), &[odd.clone(), missing.clone()], at_once).is_err(), "{name}");
        }
    }
}
