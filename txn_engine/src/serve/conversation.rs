//! What is said on a connection, without the connection: bytes in, answers out.

use std::fmt::Write as _;

use super::shared::Shared;
use crate::error::ErrorKind;
use crate::input::BOM;
use crate::parse::{Columns, MAX_LINE_BYTES, NAMES, Parser, Reading};

/// Bytes read at a time. Answers to them stay below some hundred KiB, whatever they are.
pub(super) const INPUT_BYTES: usize = 4096;

/// What is needed to read and answer, and not kept by a connection: one per thread.
pub(super) struct Scratch {
    parser: Parser,
    /// Room for what is read.
    pub(super) input: Vec<u8>,
    /// Answers that are to be sent.
    pub(super) answers: String,
}

impl Scratch {
    pub(super) fn new() -> Self {
        let parser = Parser::new(Columns::IN_ORDER, Reading::Bytes);
        Scratch { parser, input: vec![0; INPUT_BYTES], answers: String::new() }
    }
}

/// Where a connection stands: the start of a line whose end has not come.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    pending: Vec<u8>,
    /// Whether that line is too long already; it is not kept then.
    too_long: bool,
    /// Lines so far.
    lines: u64,
}

impl Conversation {
    /// Takes the first `length` bytes of the scratch's input, and leaves the answers to them there; without any the client has ended.
    pub(super) fn take(&mut self, shared: &Shared, scratch: &mut Scratch, length: usize) {
        let Scratch { parser, input, answers } = scratch;
        answers.clear();
        if length == 0 {
            return self.end(answers);
        }
        let mut rest = &input[..length];
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let (line, tail) = rest.split_at(end + 1);
            rest = tail;
            self.lines += 1;
            if std::mem::take(&mut self.too_long) {
                shared.counts.row(false);
                answer(answers, Err(ErrorKind::LineTooLong));
            } else if self.pending.is_empty() {
                self.line(shared, parser, line, answers);
            } else {
                // Taken, not cleared: a connection keeps no room for a line that is over.
                let mut whole = std::mem::take(&mut self.pending);
                whole.extend_from_slice(line);
                self.line(shared, parser, &whole, answers);
            }
        }
        if !self.too_long {
            self.pending.extend_from_slice(rest);
        }
        if self.pending.len() > MAX_LINE_BYTES {
            self.too_long = true;
            self.pending = Vec::new();
        }
    }

    /// The client sends no more. A line without a line break is not applied: its end may be what is missing.
    fn end(&mut self, answers: &mut String) {
        if self.too_long || !self.pending.trim_ascii().is_empty() {
            answers.push_str("unfinished: the last line has no line break and was not applied\n");
        }
        *self = Conversation::default();
    }

    fn line(&self, shared: &Shared, parser: &mut Parser, line: &[u8], answers: &mut String) {
        let text = line.trim_ascii();
        if text == b"stats" {
            // Numbers under names cannot fail to become text.
            answers.push_str(&serde_json::to_string(&shared.stats()).unwrap_or_default());
            answers.push('\n');
            return;
        }
        if self.lines == 1 && is_header(text) {
            return answer(answers, Ok(()));
        }
        let Some(engine) = &shared.engine else {
            shared.counts.row(true);
            return answer(answers, Ok(()));
        };
        parser.read_block(line, self.lines, |entry| {
            let result = entry.row.and_then(|row| engine.process(&row));
            shared.counts.row(result.is_ok());
            answer(answers, result);
            true
        });
    }
}

/// Whether `line` names the columns, in their order.
fn is_header(line: &[u8]) -> bool {
    let mut names = line.strip_prefix(BOM).unwrap_or(line).split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
    NAMES.into_iter().all(|want| names.next().is_some_and(|name| name.eq_ignore_ascii_case(want.as_bytes())))
        && names.next().is_none()
}

fn answer(answers: &mut String, result: Result<(), ErrorKind>) {
    // Writing to a string cannot fail.
    let _ = match result {
        Ok(()) => answers.write_str("ok\n"),
        Err(kind) => writeln!(answers, "{}: {kind}", kind.name()),
    };
}
