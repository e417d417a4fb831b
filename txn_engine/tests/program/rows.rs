//! Random rows, and what the naive engine answers to them.

use std::collections::BTreeMap;
use std::ops::Range;

use rand::{Rng, RngExt};
use txn_engine::ErrorKind;
use txn_engine_oracle::{self as oracle, Oracle};

pub const HEADER: &str = "type,client,tx,amount\n";

/// What one connection sends, and is answered.
pub struct Dialogue {
    /// Without line breaks.
    pub rows: Vec<Vec<u8>>,
    /// One to each row.
    pub answers: Vec<String>,
}

impl Dialogue {
    /// Rows with clients and transactions that no dialogue of another number has: few of each, so that the rules are met often.
    pub fn draw(rng: &mut impl Rng, number: u32, length: usize) -> Self {
        let rows: Vec<_> = (0..length).map(|_| row(rng, number)).collect();
        let answers = answers(&rows);
        Dialogue { rows, answers }
    }

    /// All rows, each with a line break.
    pub fn text(&self) -> Vec<u8> {
        lines(&self.rows)
    }
}

/// What the naive engine says to the dialogues one after the other: the accounts, and how often each operation was accepted.
pub fn outcome<'a>(dialogues: impl IntoIterator<Item = &'a Dialogue>) -> (String, BTreeMap<&'static str, u64>) {
    let mut oracle = Oracle::default();
    for dialogue in dialogues {
        oracle.feed(&with_header(&dialogue.rows)).expect("the header is valid");
    }
    let answer = oracle.finish();
    (String::from_utf8(answer.accounts_csv).expect("accounts are text"), answer.operations)
}

/// The accounts after rows as text, each with a line break.
pub fn accounts_after(rows: &str) -> String {
    let answer = oracle::process(format!("{HEADER}{rows}").as_bytes()).expect("the header is valid");
    String::from_utf8(answer.accounts_csv).expect("accounts are text")
}

/// The answer to every row: what it adds to the counts of those before it.
fn answers(rows: &[Vec<u8>]) -> Vec<String> {
    let process = |count: usize| oracle::process(&with_header(&rows[..count])).expect("the header is valid");
    let mut before = process(0);
    (1..=rows.len())
        .map(|count| {
            let after = process(count);
            let error = after.errors.iter().find(|(name, count)| before.errors.get(*name) != Some(count));
            let answer = error.map_or("ok".to_owned(), |(name, _)| rejected(name));
            assert_eq!(after.accepted - before.accepted, u64::from(error.is_none()), "a row is accepted or rejected");
            before = after;
            answer
        })
        .collect()
}

/// The answer to a row with the error of this name.
pub fn rejected(name: &str) -> String {
    let kind = ErrorKind::ALL.iter().find(|kind| kind.name() == name).expect("errors are among those");
    format!("{name}: {kind}")
}

/// Deposits of 1 with these ids, each with a line break.
pub fn deposits(client: u16, ids: Range<u32>) -> String {
    ids.fold(String::new(), |text, tx| text + &format!("deposit,{client},{tx},1\n"))
}

/// A file in which each of these clients has 1.
pub fn clients(numbers: Range<u32>) -> String {
    numbers.fold(HEADER.to_owned(), |text, number| text + &format!("deposit,{number},{number},1\n"))
}

fn with_header(rows: &[Vec<u8>]) -> Vec<u8> {
    [HEADER.as_bytes(), &lines(rows)].concat()
}

fn lines(rows: &[Vec<u8>]) -> Vec<u8> {
    rows.iter().flat_map(|row| row.iter().copied().chain([b'\n'])).collect()
}

fn pick<T: Copy>(rng: &mut impl Rng, choices: &[T]) -> T {
    choices[rng.random_range(0..choices.len())]
}

/// One of the pieces between the bars.
fn odd(rng: &mut impl Rng, pieces: &[u8]) -> Vec<u8> {
    pick(rng, &pieces.split(|&byte| byte == b'|').collect::<Vec<_>>()).to_vec()
}

fn row(rng: &mut impl Rng, number: u32) -> Vec<u8> {
    let kind = match rng.random_range(0..40) {
        0..12 => "deposit",
        12..22 => "withdrawal",
        22..32 => "dispute",
        32..38 => "resolve",
        _ => "chargeback",
    };
    // The third of a dialogue's clients seldom has an account.
    let client = number * 3 + pick(rng, &[1, 1, 1, 1, 1, 1, 2, 2, 2, 3]);
    let tx = number * 100 + rng.random_range(0..12);
    let moves_money = matches!(kind, "deposit" | "withdrawal");
    let amount = if moves_money { pick(rng, AMOUNTS) } else { "" };
    let mut fields = [kind.to_owned(), client.to_string(), tx.to_string(), amount.to_owned()].map(String::into_bytes);
    match rng.random_range(0..80) {
        0..3 => return odd(rng, ODD_LINES),
        3..6 => fields[rng.random_range(0..2)] = odd(rng, ODD_FIELDS),
        6..9 => fields[2] = odd(rng, ODD_FIELDS),
        9..16 => fields[3] = odd(rng, ODD_AMOUNTS),
        16..19 => fields[0].make_ascii_uppercase(),
        19..22 => fields.iter_mut().for_each(|field| *field = [b" \t", &field[..], b"  "].concat()),
        22..25 => fields.iter_mut().for_each(|field| *field = [b"\"", &field[..], b"\""].concat()),
        25..28 => fields[1] = [b"000", &fields[1][..]].concat(),
        28..31 if !moves_money => return fields[..3].join(&b','),
        31..33 => return [&fields.join(&b',')[..], b",a note,\xFF"].concat(),
        _ => {}
    }
    fields.join(&b',')
}

/// Few, so that withdrawals often take just what is there; two of the largest overflow.
const AMOUNTS: &[&str] =
    &["1", "2", "2.0", "3.5", "0.0001", "1.2345", "10", "1", "2", "5", "7", "3.5", "922337203685477.5807"];

const ODD_LINES: &[u8] = b"deposit|,,,|\"|\x00\x01\xFF|deposit;1;1;1|STATS|stats,1,1,1|busy: no|\xEF\xBB\xBF";

/// Neither a type nor a number, nor one that another dialogue could mean.
const ODD_FIELDS: &[u8] = b"| |-1|65536000000|one|1.0|\xC3\x28|transfer";

const ODD_AMOUNTS: &[u8] = b"|0|-1|1.00001|+.5|7.|1e3|\xFF|abc|0.00000";
