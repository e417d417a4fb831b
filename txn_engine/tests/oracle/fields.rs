//! From bytes to rows and from money to text, one line and one field at a time.

use super::{ErrorName, Rules, ensure};

/// The longest line that is parsed, in bytes without its line break.
const LONGEST_LINE_BYTES: usize = 65_536;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

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

/// Where the header says that type, client, tx and amount are.
pub(super) fn columns(rules: &Rules, header: &[u8]) -> Result<[usize; 4], String> {
    if header.len() > LONGEST_LINE_BYTES {
        return Err(format!("the header is longer than {LONGEST_LINE_BYTES} bytes"));
    }
    if header.trim_ascii_end().contains(&b'\r') {
        return Err("the header has a carriage return in it".into());
    }
    let names = split(rules, header).ok_or("the header has a quote that is not closed")?;
    let is_named = |name: &[u8], wanted: &str| {
        let name = if rules.broken("HeaderNamesAreTrimmed") { name } else { name.trim_ascii() };
        name == wanted.as_bytes()
            || name.eq_ignore_ascii_case(wanted.as_bytes()) && !rules.broken("HeaderNamesInAnyCase")
    };
    let mut columns = [0, 1, 2, 3];
    for (column, wanted) in columns.iter_mut().zip(["type", "client", "tx", "amount"]) {
        let found: Vec<usize> = (0..names.len()).filter(|&index| is_named(&names[index], wanted)).collect();
        match found[..] {
            [_] if rules.broken("ColumnsAreFoundByName") => {}
            [index] => *column = index,
            [] => return Err(format!("the header has no column {wanted}")),
            _ => return Err(format!("the header has the column {wanted} more than once")),
        }
    }
    Ok(columns)
}

/// The physical lines of an input, without their line breaks; a line break at the very end starts no further line.
pub(super) fn lines(rules: &Rules, input: &[u8]) -> Vec<Vec<u8>> {
    let text = match input.strip_prefix(BYTE_ORDER_MARK) {
        Some(text) if !rules.broken("BomIsNoPartOfTheHeader") => text,
        _ => input,
    };
    let mut lines: Vec<Vec<u8>> = Vec::new();
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        match lines.last_mut() {
            Some(open) if rules.broken("LineBreaksEndQuotedFields") && has_open_quote(open) => {
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

/// Whether a line is skipped: white space only, and not so long that it is an error.
pub(super) fn is_blank(rules: &Rules, line: &[u8]) -> bool {
    line.trim_ascii().is_empty() && line.len() <= LONGEST_LINE_BYTES && !rules.broken("BlankLinesAreSkipped")
}

/// The fields of one line; none if a quote is open at its end, so that a reader takes the next line for more of its last field.
fn split(rules: &Rules, line: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut fields = vec![Vec::new()];
    let mut is_quoted = false;
    let mut bytes = line.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        let field = fields.last_mut()?;
        match byte {
            b'"' if is_quoted => {
                is_quoted = bytes.next_if_eq(&b'"').is_some() && !rules.broken("DoubledQuotesAreOneQuote");
                field.extend(is_quoted.then_some(b'"'));
            }
            // A quote further on in a field is a byte like any other.
            b'"' if field.is_empty() => is_quoted = !rules.broken("QuotesProtectCommas"),
            b',' if !is_quoted => fields.push(Vec::new()),
            b'\r' if rules.broken("LoneCarriageReturnsEndNothing") => break,
            byte => field.push(byte),
        }
    }
    (!is_quoted || rules.broken("OpenQuotesAreErrors")).then_some(fields)
}

/// Parses one line; the fields are examined in the order type, client, tx, amount.
pub(super) fn parse(rules: &Rules, columns: [usize; 4], line: &[u8]) -> Result<Row, ErrorName> {
    let longest = LONGEST_LINE_BYTES + usize::from(rules.broken("LongerLinesAreErrors"))
        - usize::from(rules.broken("LongestLineIsAccepted"));
    ensure(line.len() <= longest, "LineTooLong")?;
    let fields = split(rules, line).ok_or("OpenQuote")?;
    let all_are_text = || fields.iter().all(|field| str::from_utf8(field).is_ok());
    ensure(!rules.broken("Utf8IsDemandedOfNoOtherField") || all_are_text(), "NotUtf8")?;

    // Absent and empty are the same.
    let text = |column: usize| {
        let field = fields.get(column).map_or(&[][..], |field| field);
        let field = if rules.broken("ValuesAreTrimmed") { field } else { field.trim_ascii() };
        let is_text = str::from_utf8(field).is_ok() || rules.broken("Utf8IsDemandedOfFieldsInUse");
        ensure(is_text, "NotUtf8").map(|()| String::from_utf8_lossy(field).into_owned())
    };
    let needed = |column| {
        let text = text(column)?;
        ensure(!text.is_empty() || rules.broken("EmptyFieldsAreMissing"), "MissingField").map(|()| text)
    };
    let number = |column, mostly: u64, rule| {
        let largest = if rules.broken(rule) { u64::MAX } else { mostly };
        number(rules, &needed(column)?, largest).ok_or("BadNumber")
    };
    let kind = needed(columns[0]).and_then(|text| {
        let text = if rules.broken("TypesInAnyCase") { text } else { text.to_ascii_lowercase() };
        text.parse().map_err(|_| "UnknownType")
    });
    let client = number(columns[1], u64::from(u16::MAX), "ClientsAre16Bits");
    let tx = number(columns[2], u64::from(u32::MAX), "TxsAre32Bits");
    let has_amount = matches!(kind, Ok(Type::Deposit | Type::Withdrawal)) || rules.broken("DisputeAmountsAreIgnored");
    let amount = if has_amount { text(columns[3]) } else { Ok(String::new()) }.and_then(|text| match text.as_str() {
        "" if has_amount && rules.broken("AbsentAmountIsNoParseError") => Err("MissingField"),
        "" => Ok(None),
        text => ten_thousandths(rules, text).map(Some).ok_or("BadAmount"),
    });

    rules.order("TypeIsExaminedFirst", client)?;
    let kind = kind?;
    rules.order("AmountIsExaminedLast", amount)?;
    rules.order("TxIsExaminedAfterClient", tx)?;
    Ok(Row { kind, client: client?, tx: tx?, amount: amount? })
}

fn number(rules: &Rules, text: &str, largest: u64) -> Option<u64> {
    let digits = if rules.broken("NumbersHaveNoSign") { text.trim_start_matches('+') } else { text };
    let leads = rules.broken("NumbersMayHaveLeadingZeros") && digits.len() > 1 && digits.starts_with('0');
    digits.parse().ok().filter(|&value| is_all_digits(digits) && !leads && value <= largest)
}

fn is_all_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// An amount in ten-thousandths; none if it is not a decimal number, too exact or too large.
fn ten_thousandths(rules: &Rules, text: &str) -> Option<i128> {
    if rules.broken("AmountsHaveNoExponent") && text.contains(['e', 'E']) {
        let value: f64 = text.parse().ok()?;
        #[expect(clippy::cast_possible_truncation, reason = "only a mutant does arithmetic like this")]
        return Some((value * 10_000.0) as i128);
    }
    let (sign, unsigned) = match text.as_bytes().first()? {
        b'-' => (-1, &text[1..]),
        b'+' if !rules.broken("AmountsMayHaveAPlus") => (1, &text[1..]),
        _ => (1, text),
    };
    let (whole, decimals) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    if !is_all_digits(whole)
        || !is_all_digits(decimals)
        || whole.is_empty() && decimals.is_empty() && !rules.broken("AmountsNeedADigit")
        || unsigned.ends_with('.') && rules.broken("AmountsMayEndWithThePoint")
        || whole.is_empty() && rules.broken("AmountsMayStartWithThePoint")
    {
        return None;
    }
    let zeros: &[char] = if rules.broken("TrailingZerosAreNotSignificant") { &[] } else { &['0'] };
    let mut decimals = decimals.trim_end_matches(zeros);
    if decimals.len() > 4 {
        decimals = rules.broken("FiveDecimalsAreTooMany").then(|| &decimals[..4])?;
    }
    let value = sign * format!("{whole}{decimals:0<4}").parse::<i128>().ok()?;
    (i64::try_from(value).is_ok() || rules.broken("AmountsFitInto64Bits")).then_some(value)
}

/// Money as it is written: a sign if negative, and always four decimals.
pub(super) fn decimal(rules: &Rules, money: i128) -> String {
    if rules.broken("AmountsBelowZeroKeepTheirSign") {
        return format!("{}.{:04}", money / 10_000, (money % 10_000).abs());
    }
    let sign = if money < 0 { "-" } else { "" };
    let text = format!("{sign}{}.{:04}", money.abs() / 10_000, money.abs() % 10_000);
    if rules.broken("AmountsAreWrittenWithFourDecimals") {
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    text
}
