//! From bytes to rows and from money to text, one line and one field at a time.

use super::rule::{ErrorName, Rule, Rules};

/// The longest line that is parsed, in bytes without its line break.
const LONGEST_LINE_BYTES: usize = 65_536;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The five types of row.
#[derive(Clone, Copy, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub(super) enum Type {
    Deposit,
    Withdrawal,
    Dispute,
    Resolve,
    Chargeback,
}

/// A row that parsed; client and tx are wider than they need to be, for the mutants without a range check.
pub(super) struct Row {
    pub(super) kind: Type,
    pub(super) client: u64,
    pub(super) tx: u64,
    /// In ten-thousandths; absent for disputes, resolves and chargebacks.
    pub(super) amount: Option<i128>,
}

/// Where the header says that the four needed columns are.
pub(super) struct Columns {
    kind: usize,
    client: usize,
    tx: usize,
    amount: usize,
}

impl Columns {
    pub(super) fn find(rules: Rules, header: &[u8]) -> Result<Self, String> {
        if header.len() > LONGEST_LINE_BYTES {
            return Err(format!("the header is longer than {LONGEST_LINE_BYTES} bytes"));
        }
        if ends_in_quotes(rules, header) {
            return Err("the header has a quote that is not closed".to_owned());
        }
        let names: Vec<Vec<u8>> = split(rules, header)
            .into_iter()
            .map(|name| if rules.broken(Rule::HeaderNamesInAnyCase) { name } else { name.to_ascii_lowercase() })
            .map(|name| if rules.broken(Rule::HeaderNamesAreTrimmed) { name } else { name.trim_ascii().to_vec() })
            .collect();
        let position = |wanted: &str| {
            let found: Vec<usize> = (0..names.len()).filter(|&index| names[index] == wanted.as_bytes()).collect();
            match found[..] {
                [index] => Ok(index),
                [] => Err(format!("the header has no column {wanted}")),
                _ => Err(format!("the header has the column {wanted} more than once")),
            }
        };
        let found = Self {
            kind: position("type")?,
            client: position("client")?,
            tx: position("tx")?,
            amount: position("amount")?,
        };
        let in_the_usual_order = Self { kind: 0, client: 1, tx: 2, amount: 3 };
        Ok(if rules.broken(Rule::ColumnsAreFoundByName) { in_the_usual_order } else { found })
    }
}

/// The physical lines of an input, without their line breaks; a line break at the very end starts no further line.
pub(super) fn lines(rules: Rules, input: &[u8]) -> Vec<Vec<u8>> {
    let text = match input.strip_prefix(BYTE_ORDER_MARK) {
        Some(text) if !rules.broken(Rule::BomIsNoPartOfTheHeader) => text,
        _ => input,
    };
    let mut lines: Vec<Vec<u8>> = Vec::new();
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        match lines.last_mut() {
            Some(open) if rules.broken(Rule::LineBreaksEndQuotedFields) && has_open_quote(open) => {
                open.push(b'\n');
                open.extend_from_slice(line);
            }
            _ => lines.push(line.to_vec()),
        }
    }
    lines
}

fn has_open_quote(line: &[u8]) -> bool {
    line.split(|&byte| byte == b'"').count() % 2 == 0
}

/// Whether a quote of the line is open at its end: a reader then takes the next line for more of its last field.
fn ends_in_quotes(rules: Rules, line: &[u8]) -> bool {
    if !line.contains(&b'"') || rules.broken(Rule::OpenQuotesAreErrors) {
        return false;
    }
    let two_lines = [b"guard,", line, b"\nnext"].concat();
    let mut reader = csv::ReaderBuilder::new();
    reader.has_headers(false).flexible(true).terminator(csv::Terminator::Any(b'\n'));
    reader.from_reader(&two_lines[..]).byte_records().count() == 1
}

/// Whether a line is skipped: white space only, and not so long that it is an error.
pub(super) fn is_blank(rules: Rules, line: &[u8]) -> bool {
    line.trim_ascii().is_empty() && line.len() <= LONGEST_LINE_BYTES && !rules.broken(Rule::BlankLinesAreSkipped)
}

/// The fields of one line.
fn split(rules: Rules, line: &[u8]) -> Vec<Vec<u8>> {
    // Without a quote there is nothing to it, and a reader for each of millions of lines takes a minute.
    if !line.contains(&b'"') && !rules.broken(Rule::LoneCarriageReturnsEndNothing) {
        return line.split(|&byte| byte == b',').map(<[u8]>::to_vec).collect();
    }
    // A reader drops a byte order mark at its beginning, and here every line has a reader of its own; the guard, a first
    // field that is thrown away, keeps a mark in the middle of a file part of its field.
    let guarded = [b"guard,", line].concat();
    let terminator = if rules.broken(Rule::LoneCarriageReturnsEndNothing) {
        csv::Terminator::CRLF
    } else {
        csv::Terminator::Any(b'\n')
    };
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .terminator(terminator)
        .quoting(!rules.broken(Rule::QuotesProtectCommas))
        .double_quote(!rules.broken(Rule::DoubledQuotesAreOneQuote))
        .from_reader(&guarded[..]);
    let mut record = csv::ByteRecord::new();
    match reader.read_byte_record(&mut record) {
        Ok(_) => record.iter().skip(1).map(<[u8]>::to_vec).collect(),
        Err(error) => {
            unreachable!("bytes in memory cannot fail to be read as records of any length: {error}")
        }
    }
}

/// Parses one line; the fields are examined in the order type, client, tx, amount.
pub(super) fn parse(rules: Rules, columns: &Columns, line: &[u8]) -> Result<Row, ErrorName> {
    let mut longest = LONGEST_LINE_BYTES;
    if rules.broken(Rule::LongestLineIsAccepted) {
        longest -= 1;
    }
    if rules.broken(Rule::LongerLinesAreErrors) {
        longest += 1;
    }
    if line.len() > longest {
        return Err("LineTooLong");
    }
    if ends_in_quotes(rules, line) {
        return Err("OpenQuote");
    }
    let fields = split(rules, line);
    if rules.broken(Rule::Utf8IsDemandedOfNoOtherField) && fields.iter().any(|field| str::from_utf8(field).is_err()) {
        return Err("NotUtf8");
    }

    let kind = needed(rules, &fields, columns.kind).and_then(|text| type_of(rules, &text));
    let client = needed(rules, &fields, columns.client).and_then(|text| {
        let largest = if rules.broken(Rule::ClientsAre16Bits) { u64::MAX } else { u64::from(u16::MAX) };
        number(rules, &text, largest)
    });
    let tx = needed(rules, &fields, columns.tx).and_then(|text| {
        let largest = if rules.broken(Rule::TxsAre32Bits) { u64::MAX } else { u64::from(u32::MAX) };
        number(rules, &text, largest)
    });
    let amount = match kind {
        Ok(Type::Deposit | Type::Withdrawal) => amount(rules, &fields, columns.amount),
        _ if rules.broken(Rule::DisputeAmountsAreIgnored) => amount(rules, &fields, columns.amount),
        _ => Ok(None),
    };

    if rules.broken(Rule::TypeIsExaminedFirst) {
        client?;
    }
    let kind = kind?;
    if rules.broken(Rule::AmountIsExaminedLast) {
        amount?;
    }
    if rules.broken(Rule::TxIsExaminedAfterClient) {
        tx?;
    }
    Ok(Row { kind, client: client?, tx: tx?, amount: amount? })
}

/// The trimmed text of a field; absent and empty are the same.
fn text(rules: Rules, fields: &[Vec<u8>], column: usize) -> Result<Option<String>, ErrorName> {
    let Some(field) = fields.get(column) else {
        return Ok(None);
    };
    let field = if rules.broken(Rule::ValuesAreTrimmed) { field } else { field.trim_ascii() };
    if field.is_empty() {
        return Ok(None);
    }
    if rules.broken(Rule::Utf8IsDemandedOfFieldsInUse) {
        return Ok(Some(String::from_utf8_lossy(field).into_owned()));
    }
    str::from_utf8(field).map(|text| Some(text.to_owned())).map_err(|_| "NotUtf8")
}

fn needed(rules: Rules, fields: &[Vec<u8>], column: usize) -> Result<String, ErrorName> {
    let text = text(rules, fields, column)?;
    if rules.broken(Rule::EmptyFieldsAreMissing) {
        return Ok(text.unwrap_or_default());
    }
    text.ok_or("MissingField")
}

fn type_of(rules: Rules, text: &str) -> Result<Type, ErrorName> {
    let text = if rules.broken(Rule::TypesInAnyCase) { text.to_owned() } else { text.to_ascii_lowercase() };
    text.parse().map_err(|_| "UnknownType")
}

fn number(rules: Rules, text: &str, largest: u64) -> Result<u64, ErrorName> {
    let mut digits = text;
    if rules.broken(Rule::NumbersHaveNoSign) {
        digits = digits.trim_start_matches('+');
    }
    if rules.broken(Rule::NumbersMayHaveLeadingZeros) && digits.len() > 1 && digits.starts_with('0') {
        return Err("BadNumber");
    }
    if !is_all_digits(digits) || digits.is_empty() {
        return Err("BadNumber");
    }
    // Digits of any length are fine as long as they are zeros in front.
    let digits = digits.trim_start_matches('0');
    let value: u64 = if digits.is_empty() { 0 } else { digits.parse().map_err(|_| "BadNumber")? };
    if value <= largest { Ok(value) } else { Err("BadNumber") }
}

fn is_all_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn amount(rules: Rules, fields: &[Vec<u8>], column: usize) -> Result<Option<i128>, ErrorName> {
    match text(rules, fields, column)? {
        None if rules.broken(Rule::AbsentAmountIsNoParseError) => Err("MissingField"),
        None => Ok(None),
        Some(text) => ten_thousandths(rules, &text).map(Some).ok_or("BadAmount"),
    }
}

/// An amount in ten-thousandths; none if it is not a decimal number, too exact or too large.
fn ten_thousandths(rules: Rules, text: &str) -> Option<i128> {
    if rules.broken(Rule::AmountsHaveNoExponent) && text.contains(['e', 'E']) {
        let value: f64 = text.parse().ok()?;
        #[expect(clippy::cast_possible_truncation, reason = "only a mutant does arithmetic like this")]
        return Some((value * 10_000.0) as i128);
    }
    let (sign, unsigned) = match text.as_bytes().first()? {
        b'-' => (-1, &text[1..]),
        b'+' if !rules.broken(Rule::AmountsMayHaveAPlus) => (1, &text[1..]),
        _ => (1, text),
    };
    let (whole, decimals) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    if !is_all_digits(whole) || !is_all_digits(decimals) {
        return None;
    }
    if whole.is_empty() && decimals.is_empty() && !rules.broken(Rule::AmountsNeedADigit) {
        return None;
    }
    if decimals.is_empty() && unsigned.ends_with('.') && rules.broken(Rule::AmountsMayEndWithThePoint)
        || whole.is_empty() && rules.broken(Rule::AmountsMayStartWithThePoint)
    {
        return None;
    }
    let mut decimals = decimals;
    if !rules.broken(Rule::TrailingZerosAreNotSignificant) {
        decimals = decimals.trim_end_matches('0');
    }
    if rules.broken(Rule::FiveDecimalsAreTooMany) {
        decimals = &decimals[..decimals.len().min(4)];
    }
    if decimals.len() > 4 {
        return None;
    }
    let digits = format!("0{}{decimals:0<4}", whole.trim_start_matches('0'));
    let value: i128 = sign * digits.parse::<i128>().ok()?;
    let in_range = i64::try_from(value).is_ok() || rules.broken(Rule::AmountsFitInto64Bits);
    in_range.then_some(value)
}

/// Money as it is written: a sign if negative, and always four decimals.
pub(super) fn decimal(rules: Rules, money: i128) -> String {
    if rules.broken(Rule::AmountsBelowZeroKeepTheirSign) {
        return format!("{}.{:04}", money / 10_000, (money % 10_000).abs());
    }
    let sign = if money < 0 { "-" } else { "" };
    let text = format!("{sign}{}.{:04}", money.abs() / 10_000, money.abs() % 10_000);
    if rules.broken(Rule::AmountsAreWrittenWithFourDecimals) {
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    text
}
