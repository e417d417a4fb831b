//! Generated files: few clients and few ids, so that every rule is met often, and everything that people do to CSV.

use std::fmt;

use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

pub const FILES: u32 = 1_000;

const LONGEST_LINE_BYTES: usize = 65_536;

/// The text of one input; printed escaped, and cut where a line is only long.
#[derive(Clone)]
pub struct TestFile(pub Vec<u8>);

impl fmt::Debug for TestFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in self.0.split_inclusive(|&byte| byte == b'\n') {
            let shown = &line[..line.len().min(200)];
            writeln!(f, "\n{:6} bytes: {}", line.len(), shown.escape_ascii())?;
        }
        Ok(())
    }
}

/// A runner of [`FILES`] cases that draws the same files every time.
pub fn seeded_runner() -> TestRunner {
    let config = Config { cases: FILES, failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]))
}

pub fn draw(runner: &mut TestRunner) -> Vec<u8> {
    files().new_tree(runner).expect("the strategy rejects nothing").current().0
}

/// Files of up to 80 rows with a valid header.
pub fn files() -> impl Strategy<Value = TestFile> {
    (layout(), prop_oneof![2 => Just(false), 1 => Just(true)], vec(line(), 0..80), any::<bool>()).prop_map(
        |(layout, at_the_edge, lines, ends_with_a_line_break)| {
            let mut text = layout.header();
            for line in &lines {
                text.extend(layout.render(line, at_the_edge));
            }
            if !ends_with_a_line_break {
                text.pop();
            }
            TestFile(text)
        },
    )
}

/// Where the columns stand and how lines end, the same for a whole file.
#[derive(Clone, Debug)]
struct Layout {
    before_the_text: &'static str,
    /// 0 to 3 are type, client, tx and amount; others are extra columns.
    columns: Vec<usize>,
    write_name: fn(&str) -> String,
    line_break: &'static str,
}

fn layout() -> impl Strategy<Value = Layout> {
    let columns = prop_oneof![
        3 => Just(vec![0, 1, 2, 3]),
        1 => Just(vec![0, 1, 2, 3, 4, 5]),
        1 => Just(vec![0, 1, 2, 3]).prop_shuffle(),
        1 => Just(vec![0, 1, 2, 3, 4, 5]).prop_shuffle(),
    ];
    let before_the_text = prop_oneof![
        6 => Just(""),
        2 => Just("\u{feff}"),
        1 => Just("\n \r\n\t\n"),
        1 => Just("\u{feff}\n\n"),
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
    let layout = |(before_the_text, columns, write_name, line_break)| Layout {
        before_the_text,
        columns,
        write_name,
        line_break,
    };
    (before_the_text, columns, select(names.to_vec()), line_break).prop_map(layout)
}

impl Layout {
    fn header(&self) -> Vec<u8> {
        let names = ["type", "client", "tx", "amount", "note", "note"];
        let names: Vec<String> = self.columns.iter().map(|&column| (self.write_name)(names[column])).collect();
        format!("{}{}{}", self.before_the_text, names.join(","), self.line_break).into_bytes()
    }

    fn render(&self, line: &Line, at_the_edge: bool) -> Vec<u8> {
        let mut text = match line {
            Line::Raw(raw) => raw.to_vec(),
            Line::Row(row) => self.render_row(row, at_the_edge),
        };
        if let Line::Row(Row { habit: Some(Habit::PaddedTo(bytes)), .. }) = line {
            text.resize((*bytes).saturating_sub(self.line_break.len() - 1), b' ');
        }
        text.extend(self.line_break.bytes());
        text
    }

    fn render_row(&self, row: &Row, at_the_edge: bool) -> Vec<u8> {
        let moves_money = matches!(row.kind, "deposit" | "withdrawal");
        let amount = row.amounts[usize::from(at_the_edge)];
        let mut fields: [Vec<u8>; 6] = [
            row.kind.into(),
            row.client.to_string().into(),
            row.tx.to_string().into(),
            if moves_money { amount.into() } else { Vec::new() },
            row.note.into(),
            row.note.into(),
        ];
        for (field, odd) in fields.iter_mut().zip(row.odd_fields) {
            if let Some(odd) = odd {
                *field = odd.into();
            }
        }
        let last = *self.columns.last().expect("a layout has columns");
        match row.habit {
            Some(Habit::UpperCaseType) => fields[0].make_ascii_uppercase(),
            Some(Habit::Spaces) => {
                for field in &mut fields {
                    *field = [b" \t", &field[..], b"  "].concat();
                }
            }
            Some(Habit::QuotesAround(field)) => {
                fields[field] = [b"\"", &fields[field][..], b"\""].concat();
            }
            Some(Habit::SpacesInQuotes(field)) => {
                fields[field] = [b"\" ", &fields[field][..], b" \""].concat();
            }
            Some(Habit::QuoteNeverClosed) => fields[last].insert(0, b'"'),
            Some(Habit::LoneCarriageReturn) => fields[1].push(b'\r'),
            Some(Habit::LeadingZeros) => {
                for field in &mut fields[1..=2] {
                    field.splice(0..0, *b"0000000000000000000000");
                }
            }
            Some(Habit::ByteOrderMark | Habit::PaddedTo(_) | Habit::ShortBy(_)) | None => {}
        }
        let mut written: Vec<&[u8]> = self.columns.iter().map(|&column| &fields[column][..]).collect();
        if let Some(Habit::ShortBy(count)) = row.habit {
            written.truncate(written.len() - count);
        }
        let text = written.join(&b',');
        if matches!(row.habit, Some(Habit::ByteOrderMark)) { [b"\xEF\xBB\xBF", &text[..]].concat() } else { text }
    }
}

#[derive(Clone, Debug)]
enum Line {
    Row(Row),
    Raw(&'static [u8]),
}

fn line() -> impl Strategy<Value = Line> {
    prop_oneof![40 => row().prop_map(Line::Row), 1 => select(RAW_LINES).prop_map(Line::Raw)]
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

#[derive(Clone, Debug)]
struct Row {
    kind: &'static str,
    client: u16,
    tx: u32,
    /// An ordinary one, and one for files at the edge of 64 bits.
    amounts: [&'static str; 2],
    note: &'static [u8],
    odd_fields: [Option<&'static [u8]>; 4],
    habit: Option<Habit>,
}

/// What somebody's export does to a row.
#[derive(Clone, Copy, Debug)]
enum Habit {
    UpperCaseType,
    Spaces,
    QuotesAround(usize),
    SpacesInQuotes(usize),
    QuoteNeverClosed,
    LoneCarriageReturn,
    LeadingZeros,
    ByteOrderMark,
    /// The line has so many bytes without its line feed.
    PaddedTo(usize),
    /// So many fields at the end are absent.
    ShortBy(usize),
}

fn row() -> impl Strategy<Value = Row> {
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
    let amounts = [select(AMOUNTS), select(EDGE_AMOUNTS)];
    (kind, client, tx, amounts, select(NOTES), odd_fields, weighted(0.25, habit())).prop_map(
        |(kind, client, tx, amounts, note, odd_fields, habit)| Row {
            kind,
            client,
            tx,
            amounts,
            note,
            odd_fields,
            habit,
        },
    )
}

fn habit() -> impl Strategy<Value = Habit> {
    let lengths = [65_535, LONGEST_LINE_BYTES, LONGEST_LINE_BYTES + 1, LONGEST_LINE_BYTES + 2, 70_000];
    prop_oneof![
        10 => Just(Habit::UpperCaseType),
        10 => Just(Habit::Spaces),
        10 => (0_usize..6).prop_map(Habit::QuotesAround),
        10 => (0_usize..6).prop_map(Habit::SpacesInQuotes),
        10 => Just(Habit::QuoteNeverClosed),
        5 => Just(Habit::LoneCarriageReturn),
        10 => Just(Habit::LeadingZeros),
        2 => Just(Habit::ByteOrderMark),
        3 => select(lengths.to_vec()).prop_map(Habit::PaddedTo),
        10 => (1_usize..4).prop_map(Habit::ShortBy),
    ]
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
