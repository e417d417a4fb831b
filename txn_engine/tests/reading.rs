//! The two ways of reading see the same rows and the same errors in any bytes, wherever a block of them ends.

mod files;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::strategy::ValueTree;
use txn_engine::parse::{Columns, Parser, Reading};
use txn_engine::row::Entry;

const HEADERS: [&str; 4] = [
    "type,client,tx,amount",
    "type,client,tx,amount,note",
    "note,amount,tx,note,client,type",
    "a,b,c,d,e,tx,client,type,amount",
];

fn both(header: &str) -> [Parser; 2] {
    let columns = Columns::from_header(header.as_bytes(), "a test").expect("the header is valid");
    [Reading::Bytes, Reading::Windows].map(|reading| Parser::new(columns, reading))
}

/// Compares what the parsers make of `block` and one more line break.
fn assert_same(parsers: &mut [Parser; 2], block: &[u8]) {
    let block = [block, b"\n"].concat();
    let [bytes, windows] = parsers.each_mut().map(|parser| {
        let mut entries: Vec<Entry> = Vec::new();
        let next = parser.read_block(&block, 1, |entry| {
            entries.push(entry);
            true
        });
        (entries, next)
    });
    assert_eq!(bytes, windows, "{}", block.escape_ascii());
}

/// Bytes that mean something, and some that mean nothing anywhere.
const SPICES: &[u8] = b",|\"|\"\"|\n|\r\n|\r| |\t|0|9|.|-|+|a|\x00|\xFF|\xC3\xA9|\xEF\xBB\xBF|";

#[test]
fn both_read_the_same_from_generated_files_with_bytes_changed_at_random() {
    let mut runner = files::seeded_runner();
    let changes = (vec((any::<Index>(), 0_usize..3, select(files::pieces(SPICES))), 0..30), select(&HEADERS[..]));
    for _ in 0..files::FILES {
        let mut text = files::draw(&mut runner);
        let (changes, header) = changes.new_tree(&mut runner).expect("the strategy rejects nothing").current();
        for (at, removed, spice) in changes {
            let at = at.index(text.len() + 1);
            let end = text.len().min(at + removed);
            text.splice(at..end, spice.iter().copied());
        }
        assert_same(&mut both(header), &text);
    }
}

#[test]
fn both_read_the_same_wherever_a_block_starts_and_ends() {
    let text = b"deposit,1,1,12.3456\nwithdrawal,65535,12345678,99999.9999\r\ndispute,1,1,\n\n\xEF\xBB\xBFdeposit,2,3,1\nresolve,1,1\n\
        ,,,\ndeposit,1,,1\ndeposit,65536,1,1\ndeposit,1,4294967296,1\ndeposit,1,1,0.00001\ndeposits,1,1,1\n\
        \"deposit\",2,4,\"1.5\"\n deposit , 3,5 ,2.5000 \r\nchargeback,1,1,\"\ndeposit,1,\xFF,1\ndeposit,4,4294967295,1234567890.1234,a \"note\"\n";
    for header in HEADERS {
        let mut parsers = both(header);
        for start in 0..50 {
            for end in start..text.len() {
                assert_same(&mut parsers, &text[start..end]);
            }
        }
    }
}

#[test]
fn a_column_that_a_line_lacks_is_not_taken_from_the_next_line() {
    let mut parsers = both(HEADERS[0]);
    for zeros in 40..64 {
        for line in ["deposit,1,2", "deposit,1,2\r", "deposit,1", "deposit"] {
            let text = format!("{line}\n{}1.5\n{}", "0".repeat(zeros), "x".repeat(99));
            assert_same(&mut parsers, text.as_bytes());
        }
    }
}
