//! Reading a file in blocks of whole lines, in bounded memory.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::error::Error;
use crate::parse::{Columns, MAX_LINE_BYTES};

/// Bytes read at a time: above [`MAX_LINE_BYTES`], so that a block without a line break holds no good line, and small enough that the
/// rows of a block stay in the second-level cache.
const BLOCK_BYTES: usize = 128 * 1024;

pub(crate) const BOM: &[u8] = b"\xEF\xBB\xBF";

/// An opened input: its header is read, its rows are not.
pub struct Input {
    pub columns: Columns,
    /// The file as the user named it, for messages.
    name: String,
    source: Box<dyn Read + Send>,
    /// Bytes read and not handed out yet.
    pending: Vec<u8>,
    ended: bool,
    /// Physical line at which the first block after the header starts, from 1.
    pub next_line: u64,
}

impl Input {
    /// Opens a file, or standard input if `path` is `-`, and reads the header, which must be usable.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let is_stdin = path.as_os_str() == "-";
        let name = if is_stdin { "standard input".to_owned() } else { path.display().to_string() };
        let source: Box<dyn Read + Send> = if is_stdin {
            Box::new(io::stdin())
        } else {
            Box::new(File::open(path).map_err(|source| Error::Read { name: name.clone(), source })?)
        };
        let pending = Vec::with_capacity(BLOCK_BYTES);
        let mut input = Input { columns: Columns::IN_ORDER, name, source, pending, ended: false, next_line: 1 };
        let line = input.header()?;
        if line.len() > MAX_LINE_BYTES {
            return Err(Error::LongHeader { name: input.name });
        }
        input.columns = Columns::from_header(&line, &input.name)?;
        Ok(input)
    }

    /// Replaces `block` by the next whole lines; every line ends with `\n`, the last of the input too. False at the end.
    ///
    /// A line that is longer than a block arrives cut to one byte over [`MAX_LINE_BYTES`], so that it still reads as too long,
    /// while the rest of it is skipped: memory stays bounded whatever the input.
    pub fn next_block(&mut self, block: &mut Vec<u8>) -> Result<bool, Error> {
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
    fn header(&mut self) -> Result<Vec<u8>, Error> {
        self.fill()?;
        let mut start = if self.pending.starts_with(BOM) { BOM.len() } else { 0 };
        loop {
            if !self.pending[start..].contains(&b'\n') {
                // Not for every line: moving what follows takes long where many are blank.
                self.pending.drain(..std::mem::take(&mut start));
                self.fill()?;
            }
            let rest = &self.pending[start..];
            let end = memchr::memchr(b'\n', rest);
            let line = &rest[..end.unwrap_or(rest.len())];
            start += line.len() + usize::from(end.is_some());
            self.next_line += u64::from(end.is_some());
            // One that is too long is not blank, as further below in a file.
            if !line.trim_ascii().is_empty() || line.len() > MAX_LINE_BYTES {
                let line = line.to_vec();
                self.pending.drain(..start);
                return Ok(line);
            }
            if end.is_none() {
                return Err(Error::Empty { name: self.name.clone() });
            }
        }
    }

    /// Reads until a block is pending or the source ends.
    fn fill(&mut self) -> Result<(), Error> {
        let room = BLOCK_BYTES.saturating_sub(self.pending.len());
        if !self.ended && room > 0 {
            let read = self.source.by_ref().take(room as u64).read_to_end(&mut self.pending);
            self.ended = read.map_err(|source| Error::Read { name: self.name.clone(), source })? < room;
        }
        Ok(())
    }

    /// Drops bytes up to the next line break; what follows it becomes pending.
    fn skip_line(&mut self) -> Result<(), Error> {
        loop {
            self.pending.clear();
            self.fill()?;
            let end = memchr::memchr(b'\n', &self.pending);
            if end.is_some() || self.ended {
                self.pending.drain(..end.map_or(self.pending.len(), |end| end + 1));
                return Ok(());
            }
        }
    }
}
