//! Generated files: few clients and few ids, so that every rule is met often, and everything that people do to CSV.

use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::{Union, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

pub const FILES: u32 = 1_000;

const LONGEST_LINE_BYTES: usize = 65_536;

/// A runner that draws the same files every time.
pub fn seeded_runner() -> TestRunner {
    TestRunner::new_with_rng(Config::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]))
}

pub fn draw(runner: &mut TestRunner) -> Vec<u8> {
    files().new_tree(runner).expect("the strategy rejects nothing").current()
}

/// Files of up to 80 rows with a valid header.
fn files() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![2 => files_of(AMOUNTS), 1 => files_of(EDGE_AMOUNTS)]
}

/// Files with these amounts; where the columns stand and how lines end is the same for a whole file.
fn files_of(amounts: &'static [&'static str]) -> impl Strategy<Value = Vec<u8>> {
    let before_the_text = prop_oneof![
        6 => Just(""),
        2 => Just("\u{feff}"),
        1 => Just("\n \r\n\t\n"),
        1 => Just("\u{feff}\n\n"),
    ];
    // 0 to 3 are type, client, tx and amount; others are extra columns.
    let columns = prop_oneof![
        3 => Just(vec![0, 1, 2, 3]),
        1 => Just(vec![0, 1, 2, 3, 4, 5]),
        1 => Just(vec![0, 1, 2, 3]).prop_shuffle(),
        1 => Just(vec![0, 1, 2, 3, 4, 5]).prop_shuffle(),
    ];
    let names: [fn(&str) -> String; 6] = [
        str::to_owned,
        str::to_owned,
        str::to_uppercase,
        |name| format!(" {name}\t"),
        |name| format!("\"{name}\""),
        |name| format!("\" {}\"", name.to_uppercase()),
    ];
    let line_break = prop_oneof![3 => Just("\n"), 1 => Just("\r\n")];
    let line = prop_oneof![40 => row(amounts), 1 => select(RAW_LINES).prop_map(Line::Raw)];
    (before_the_text, columns, select(names.to_vec()), line_break, vec(line, 0..80), any::<bool>()).prop_map(
        |(before_the_text, columns, write_name, line_break, lines, ends_with_a_line_break)| {
            let names =
                columns.iter().map(|&column| write_name(["type", "client", "tx", "amount", "note", "note"][column]));
            let header = names.collect::<Vec<_>>().join(",");
            let mut text = format!("{before_the_text}{header}{line_break}").into_bytes();
            for line in lines {
                text.extend(line.render(&columns));
                text.extend(line_break.bytes());
            }
            if !ends_with_a_line_break {
                text.pop();
            }
            text
        },
    )
}

#[derive(Clone, Debug)]
enum Line {
    Row(Fields, Option<(Habit, usize)>),
    Raw(&'static [u8]),
}

/// By column.
type Fields = [Vec<u8>; 6];

impl Line {
    fn render(self, columns: &[usize]) -> Vec<u8> {
        match self {
            Line::Raw(raw) => raw.to_vec(),
            Line::Row(mut fields, habit) => {
                let mut columns = columns.to_vec();
                if let Some((habit, number)) = habit {
                    habit(&mut fields, &mut columns, number);
                }
                columns.iter().map(|&column| &fields[column][..]).collect::<Vec<_>>().join(&b',')
            }
        }
    }
}

/// Whole lines that are no rows.
const RAW_LINES: &[&[u8]] = &[
    b"",
    b"",
    b" \t ",
    b"\x0C",
    b"\x0B",
    b",,,",
    b"\"\"",
    b"\"",
    b"\"deposit,1,1,1",
    b"deposit,1,\"1",
    b"1\",5",
    b"type,client,tx,amount",
    b"\x00\x01\x02\xFF\xFE",
    b"# no comment, just text",
    &[b' '; LONGEST_LINE_BYTES - 1],
    &[b' '; LONGEST_LINE_BYTES + 1],
];

fn row(amounts: &'static [&'static str]) -> impl Strategy<Value = Line> {
    let kind = prop_oneof![
        10 => Just("deposit"),
        8 => Just("withdrawal"),
        18 => Just("dispute"),
        12 => Just("resolve"),
        4 => Just("chargeback"),
    ];
    let client = prop_oneof![12 => Just(1), 4 => Just(2), 1 => Just(3), 1 => Just(65_535)];
    let tx = prop_oneof![30 => 1_u32..=6, 1 => Just(0), 1 => Just(u32::MAX)];
    let odd_fields = [
        weighted(0.015, select(pieces(ODD_TYPES))),
        weighted(0.03, select(pieces(ODD_NUMBERS))),
        weighted(0.03, select(pieces(ODD_NUMBERS))),
        weighted(0.1, select(pieces(ODD_AMOUNTS))),
    ];
    let habits = Union::new_weighted(HABITS.map(|(weight, habit)| (weight, Just(habit))).to_vec());
    (kind, client, tx, select(amounts), select(NOTES), odd_fields, weighted(0.25, (habits, 0_usize..60))).prop_map(
        |(kind, client, tx, amount, note, odd_fields, habit)| {
            let amount = if matches!(kind, "deposit" | "withdrawal") { amount } else { "" };
            let [client, tx] = [client, tx].map(|id: u32| id.to_string());
            let texts = [kind.as_bytes(), client.as_bytes(), tx.as_bytes(), amount.as_bytes(), note, note];
            let mut fields = texts.map(<[u8]>::to_vec);
            for (field, odd) in fields.iter_mut().zip(odd_fields) {
                *field = odd.map_or_else(|| std::mem::take(field), <[u8]>::to_vec);
            }
            Line::Row(fields, habit)
        },
    )
}

/// What somebody's export does to a row, to the fields or to the columns that are written; the number is a random one.
type Habit = fn(&mut Fields, &mut Vec<usize>, usize);

/// How often, and what.
const HABITS: [(u32, Habit); 10] = [
    (10, |fields, _, _| fields[0].make_ascii_uppercase()),
    (10, |fields, _, _| fields.iter_mut().for_each(|field| put_around(field, b" \t", b"  "))),
    (10, |fields, _, number| put_around(&mut fields[number % 6], b"\"", b"\"")),
    (10, |fields, _, number| put_around(&mut fields[number % 6], b"\" ", b" \"")),
    // A quote that is never closed.
    (10, |fields, columns, _| fields[columns[columns.len() - 1]].insert(0, b'"')),
    (5, |fields, _, _| fields[1].push(b'\r')),
    (10, |fields, _, _| fields[1..=2].iter_mut().for_each(|id| put_around(id, b"0000000000000000000000", b""))),
    // A byte order mark.
    (2, |fields, columns, _| put_around(&mut fields[columns[0]], b"\xEF\xBB\xBF", b"")),
    // Spaces until the line is as long as it may be, or nearly, or longer.
    (3, |fields, columns, number| {
        let length = columns.iter().map(|&column| fields[column].len() + 1).sum::<usize>() - 1;
        let wanted = [65_534, 65_535, LONGEST_LINE_BYTES, LONGEST_LINE_BYTES + 1, 70_000][number % 5];
        put_around(&mut fields[columns[columns.len() - 1]], b"", &vec![b' '; wanted - length]);
    }),
    // Fields at the end are absent.
    (10, |_, columns, number| columns.truncate(columns.len() - 1 - number % 3)),
];

fn put_around(field: &mut Vec<u8>, before: &[u8], after: &[u8]) {
    *field = [before, field, after].concat();
}

/// What stands between the bars.
pub fn pieces(text: &'static [u8]) -> Vec<&'static [u8]> {
    text.split(|&byte| byte == b'|').collect()
}

/// Ordinary amounts: few values, so that withdrawals often take exactly what is there.
const AMOUNTS: &[&str] = &["1", "2", "2.0", "3.5", "0.0001", "1.2345", "10"];

/// Amounts of which one, two or three fill 64 bits, and small ones that tip the balance.
const EDGE_AMOUNTS: &[&str] =
    &[LARGEST, LARGEST, LARGEST, "922337203685477.5806", "461168601842738.7904", "461168601842738.7903", "1", "0.0001"];

const LARGEST: &str = "922337203685477.5807";

const NOTES: &[&[u8]] =
    &[b"", b"salary", b"\xFF\xFE", b"\"a, b\"", b"\"say \"\"hi\"\", twice\"", b"in \"the\" middle", b"\"open, "];

const ODD_TYPES: &[u8] = b"|  |transfer|deposits|dxposit|dispute\x00|d\xC3\xA9p\xC3\xB4t|\xFFdeposit|dEpOsIt";

const ODD_NUMBERS: &[u8] =
    b"| |0|65535|65536|65537|4294967295|4294967296|18446744073709551617|-1|-0|+1|1.0|1 2|0x1|one|\xD9\xA1|\
    \xC3\x28|1\xFF";

const ODD_AMOUNTS: &[u8] = b"| |.5|7.|+3.25|+.5|0.00010|00001.50000000000000000000000000|1.00001|0|\
    0.0000000000000000000000000000000000000000000000|-0|-1|-.5|-922337203685477.5808|-922337203685477.5809|\
    922337203685477.5808|922337203685477.58070|9223372036854775807|\
    99999999999999999999999999999999999999999999999999|1e3|1E-2|+|-|.|-.|--1|+-1|1-|1.2.3|1..2|1 000|1_000|1,5|\
    \"1,5\"|0x10|NaN|inf|1\x00|\xEF\xBC\x91|\xFF|abc";
