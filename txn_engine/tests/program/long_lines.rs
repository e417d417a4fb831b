//! A single line of 100 MB: an error like any other, and no reason to hold it in memory.

use std::io::{self, Write};
use std::process::Stdio;

use txn_engine::Setup;

use crate::{ACCOUNTS, Folder, PAYMENTS};

/// The most that a run may take: far below the size of the line, far above what it needs.
const MEMORY_LIMIT_KIB: u64 = 64 << 10;
const LONG_LINE_BYTES: usize = 100 << 20;

/// Writes `start` and a line of 100 MB, in pieces.
fn write_long_line(mut out: impl Write, start: &str, end: &str) -> io::Result<()> {
    let piece = vec![b'7'; 1 << 20];
    out.write_all(start.as_bytes())?;
    for _ in 0..LONG_LINE_BYTES / piece.len() {
        out.write_all(&piece)?;
    }
    out.write_all(end.as_bytes())?;
    out.flush()
}

#[test]
fn a_header_of_100_mb_is_refused_and_standard_input_need_not_be_read_to_its_end() {
    let folder = Folder::new();
    let mut child = folder.spawn("-", Stdio::piped());
    // Whoever refuses the header early closes the pipe: that is as good as reading it all.
    let written = write_long_line(child.0.stdin.take().expect("it was piped"), "type,client,", "\n");
    if let Err(error) = written {
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }
    let (code, _, said) = child.outcome();
    assert_eq!(code, Some(2));
    assert!(said.contains("header") && said.lines().count() == 1, "{said}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_line_of_100_mb_is_one_row_error_in_bounded_memory() {
    let folder = Folder::new();
    for (engine, _) in Setup::NAMED {
        let mut child = folder.spawn(&format!("--engine {engine} -"), Stdio::piped());
        let mut stdin = child.0.stdin.take().expect("it was piped");
        let start = format!("{PAYMENTS}deposit,1,9,");
        write_long_line(&mut stdin, &start, "\ndeposit,1,4,1\n").expect("the program reads on");
        // The program still waits for more rows, so its peak can be read from outside.
        let peak_kib = child.status("VmHWM:");
        drop(stdin);
        let (code, accounts, said) = child.outcome();
        assert!((1..MEMORY_LIMIT_KIB).contains(&peak_kib), "{engine} took {peak_kib} KiB");
        assert_eq!((code, accounts), (Some(0), ACCOUNTS.replace("3.5000", "4.5000")), "{engine}");
        assert!(said.contains("line 5: ") && said.contains("1 LineTooLong"), "{engine}: {said}");
    }
}
