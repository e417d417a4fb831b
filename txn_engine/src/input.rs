//! Reading a file in blocks of whole lines, in bounded memory.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::error::Error;
use crate::parse::{Columns, MAX_LINE_BYTES};

/// Bytes read at a time: above [`MAX_LINE_BYTES`], so that a block without a line break holds no good line, and small enough that the
/// rows of a block stay in the second-level cache.
const BLOCK_BYTES: usize = 128 * 1024;

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// An opened input: its header is read, its rows are not.
pub struct Input {
    /// Where the needed columns stand.
    pub columns: Columns,
    /// The rows.
    pub blocks: BlockReader<Box<dyn Read + Send>>,
    /// The file as the user named it, for messages.
    pub name: String,
}

impl Input {
    /// Opens a file, or standard input if `path` is `-`, and reads the header.
    ///
    /// # Errors
    /// If it cannot be read, is empty, or its header is not usable.
    pub fn open(path: &Path) -> Result<Self, Error> {
        if path.as_os_str() == "-" {
            return Self::from_reader(Box::new(io::stdin()), "standard input".to_owned());
        }
        let name = path.display().to_string();
        match File::open(path) {
            Ok(file) => Self::from_reader(Box::new(file), name),
            Err(source) => Err(Error::Read { name, source }),
        }
    }

    /// The next block, as [`BlockReader::next_block`].
    ///
    /// # Errors
    /// If the input cannot be read.
    pub fn next_block(&mut self, block: &mut Vec<u8>) -> Result<bool, Error> {
        self.blocks.next_block(block).map_err(|source| Error::Read { name: self.name.clone(), source })
    }

    /// Reads the header from `source`, which messages call `name`.
    ///
    /// # Errors
    /// As [`Input::open`].
    pub fn from_reader(source: Box<dyn Read + Send>, name: String) -> Result<Self, Error> {
        let mut blocks = BlockReader::new(source);
        match blocks.header() {
            Ok(None) => Err(Error::Empty { name }),
            Ok(Some(line)) if line.len() > MAX_LINE_BYTES => Err(Error::LongHeader { name }),
            Ok(Some(line)) => Ok(Input { columns: Columns::from_header(&line, &name)?, blocks, name }),
            Err(source) => Err(Error::Read { name, source }),
        }
    }
}

/// Cuts a byte stream into blocks that end with a line break.
pub struct BlockReader<R> {
    source: R,
    /// Bytes read and not handed out yet.
    pending: Vec<u8>,
    ended: bool,
    /// Physical line at which the next block starts, from 1.
    next_line: u64,
}

impl<R: Read> BlockReader<R> {
    /// A reader at line 1 of `source`.
    pub fn new(source: R) -> Self {
        BlockReader { source, pending: Vec::with_capacity(BLOCK_BYTES), ended: false, next_line: 1 }
    }

    /// Physical line at which the first block after the header starts, from 1.
    pub fn next_line(&self) -> u64 {
        self.next_line
    }

    /// Replaces `block` by the next whole lines; every line ends with `\n`, the last of the input too. False at the end.
    ///
    /// A line that is longer than a block arrives cut to one byte over [`MAX_LINE_BYTES`], so that it still reads as too long,
    /// while the rest of it is skipped: memory stays bounded whatever the input.
    ///
    /// # Errors
    /// Those of the source.
    pub fn next_block(&mut self, block: &mut Vec<u8>) -> io::Result<bool> {
        block.clear();
        self.fill()?;
        if self.pending.is_empty() {
            return Ok(false);
        }
        if let Some(end) = memchr::memrchr(b'\n', &self.pending) {
            block.extend_from_slice(&self.pending[end + 1..]);
            self.pending.truncate(end + 1);
            std::mem::swap(block, &mut self.pending);
        } else {
            std::mem::swap(block, &mut self.pending);
            if !self.ended {
                self.skip_line()?;
                block.truncate(MAX_LINE_BYTES + 1);
            }
            block.push(b'\n');
        }
        Ok(true)
    }

    /// The first line that is not blank, without line break; leaves the rest pending.
    fn header(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut at_start = true;
        loop {
            self.fill()?;
            if at_start && self.pending.starts_with(BOM) {
                self.pending.drain(..BOM.len());
            }
            at_start = false;
            if self.pending.is_empty() {
                return Ok(None);
            }
            let Some(end) = memchr::memchr(b'\n', &self.pending) else {
                let line = std::mem::take(&mut self.pending);
                return Ok((!self.ended || !line.trim_ascii().is_empty()).then_some(line));
            };
            let line: Vec<u8> = self.pending.drain(..=end).collect();
            self.next_line += 1;
            if !line.trim_ascii().is_empty() {
                return Ok(Some(line[..end].to_vec()));
            }
        }
    }

    /// Reads until a block is pending or the source ends.
    fn fill(&mut self) -> io::Result<()> {
        let room = BLOCK_BYTES.saturating_sub(self.pending.len());
        if !self.ended && room > 0 {
            let read = self.source.by_ref().take(room as u64).read_to_end(&mut self.pending)?;
            self.ended = read < room;
        }
        Ok(())
    }

    /// Drops bytes up to the next line break; what follows it becomes pending.
    fn skip_line(&mut self) -> io::Result<()> {
        loop {
            self.pending.clear();
            self.fill()?;
            if let Some(end) = memchr::memchr(b'\n', &self.pending) {
                self.pending.drain(..=end);
                return Ok(());
            }
            if self.ended {
                self.pending.clear();
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(input: &[u8]) -> Vec<Vec<u8>> {
        let mut reader = BlockReader::new(input);
        let (mut all, mut block) = (Vec::new(), Vec::new());
        while reader.next_block(&mut block).expect("a slice can be read") {
            all.push(block.clone());
        }
        all
    }

    #[test]
    fn blocks_hold_whole_lines_and_lose_no_byte() {
        let input: Vec<u8> = (0..40_000).flat_map(|n| format!("line {n}\n").into_bytes()).collect();
        let blocks = blocks(&input);
        assert!(blocks.len() > 2);
        assert!(blocks.iter().all(|block| block.ends_with(b"\n") && block.len() <= BLOCK_BYTES));
        assert_eq!(blocks.concat(), input);
    }

    #[test]
    fn a_missing_last_line_break_is_added() {
        assert_eq!(blocks(b"a\nb").concat(), b"a\nb\n");
    }

    #[test]
    fn an_endless_line_is_cut_and_the_lines_around_it_stay() {
        let mut input = b"before\n".to_vec();
        input.resize(10 * BLOCK_BYTES, b'x');
        input.extend_from_slice(b"\nafter\n");
        let all = blocks(&input).concat();
        let lines: Vec<&[u8]> = all.split(|&byte| byte == b'\n').collect();
        assert_eq!(lines.len(), 4);
        assert_eq!((lines[0], lines[2]), (&b"before"[..], &b"after"[..]));
        assert_eq!(lines[1].len(), MAX_LINE_BYTES + 1);
    }

    #[test]
    fn the_header_is_the_first_line_that_is_not_blank() {
        let mut reader = BlockReader::new(&b"\xEF\xBB\xBF \r\n\nhead\nrow\n"[..]);
        assert_eq!(reader.header().expect("readable").as_deref(), Some(&b"head"[..]));
        assert_eq!(reader.next_line(), 4);
        assert_eq!(BlockReader::new(&b" \n\n"[..]).header().expect("readable"), None);
    }
}
