//! Entries read by several threads; what becomes of each is taken in the order of the archive.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::num::NonZero;
use std::os::unix::fs::FileExt as _;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::StreamingZipReader;
use super::check::{Pass, Summary};
use super::error::ReadError;
use super::extract::{Complete, Target, Unpacked, Unpacker};

/// The file system makes more of them wait for each other.
const MOST_THREADS: usize = 16;
/// Units under way at most: each entry of them may hold a folder open.
const UNITS: usize = 16;
const UNIT_ENTRIES: usize = 8;
const UNIT_BYTES: u64 = 1 << 20;
const STACK_BYTES: usize = 512 * 1024;

/// Entries that one thread reads, one after another.
struct Unit {
    indices: Vec<usize>,
    report: Sender<Vec<Result<Unpacked, ReadError>>>,
}

/// Has several workers unpack all entries that are not bad, and gives what becomes of them to `complete`, in order.
pub(super) fn run(
    archive: &StreamingZipReader<BufReader<File>>,
    jobs: NonZero<usize>,
    pass: Pass<'_>,
    target: &Target<'_>,
    complete: &mut Complete<'_>,
) -> Result<Summary, ReadError> {
    let (entries, bad, failed) = (archive.entries(), Rc::clone(&pass.bad), AtomicBool::new(false));
    let (hand_out, units) = channel::<Unit>();
    let units = Mutex::new(units);
    let work = |mut archive: StreamingZipReader<BufReader<At<'_>>>, mut unpacker: Unpacker<'_>| {
        let next = || units.lock().unwrap_or_else(PoisonError::into_inner).recv();
        while let Ok(Unit { indices, report }) = next() {
            let indices = indices.into_iter().take_while(|_| !failed.load(Ordering::Relaxed));
            // Nobody wants them after a failure.
            let _ = report.send(indices.map(|index| unpacker.unpack(&mut archive, index)).collect());
        }
    };
    thread::scope(|scope| {
        let mut good = (0..entries.len()).filter(|index| !bad.contains(index)).peekable();
        let add = |queue: &mut VecDeque<_>| {
            let (mut indices, mut bytes) = (Vec::new(), 0_u64);
            while let Some(index) = good.next_if(|index| {
                bytes = bytes.saturating_add(entries[*index].uncompressed);
                indices.is_empty() || (indices.len() < UNIT_ENTRIES && bytes <= UNIT_BYTES)
            }) {
                indices.push(index);
            }
            if !indices.is_empty() {
                let (report, results) = channel();
                queue.push_back(results);
                // The other end is there as long as this function runs.
                let _ = hand_out.send(Unit { indices, report });
            }
        };
        let (mut add, mut queue, mut results) = (add, VecDeque::new(), Vec::new().into_iter());
        (0..UNITS).for_each(|_| add(&mut queue));
        let threads = jobs.get().min(MOST_THREADS).min(queue.len());
        let worker = || {
            let source = BufReader::new(At { file: archive.source.get_ref(), position: 0 });
            let fork = StreamingZipReader::from_parts(source, archive.limits, Arc::clone(&archive.entries), Vec::new());
            (fork, Unpacker { target, pump: pass.pump(Some(&failed)), last: None })
        };
        let start = |_| {
            let ((archive, unpacker), work) = (worker(), &work);
            let builder = thread::Builder::new().name("s_zip".to_owned()).stack_size(STACK_BYTES);
            builder.spawn_scoped(scope, move || work(archive, unpacker)).ok()
        };
        // With as many threads as the system lets there be; the results are the same.
        let started = if threads > 1 { (0..threads).map_while(start).count() } else { 0 };
        let result = if started == 0 {
            let (mut archive, mut unpacker) = worker();
            pass.run(entries, |index, summary| complete(index, unpacker.unpack(&mut archive, index), summary))
        } else {
            pass.run(entries, |index, summary| {
                loop {
                    if let Some(result) = results.next() {
                        return complete(index, result, summary);
                    }
                    add(&mut queue);
                    // A worker that panicked sends nothing; the panic ends this function.
                    let received = queue.pop_front().and_then(|unit| unit.recv().ok());
                    results = received.ok_or(ReadError::Stopped)?.into_iter();
                }
            })
        };
        failed.store(true, Ordering::Relaxed);
        drop(hand_out);
        result
    })
}

/// A place in a file that others read elsewhere.
struct At<'a> {
    file: &'a File,
    position: u64,
}

impl Read for At<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.file.read_at(buffer, self.position)?;
        self.position += bytes as u64;
        Ok(bytes)
    }
}

impl Seek for At<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let SeekFrom::Start(position) = to else { return Err(io::ErrorKind::Unsupported.into()) };
        self.position = position;
        Ok(position)
    }
}
