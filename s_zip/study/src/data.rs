//! What is compressed: five kinds of data, the same bytes for the same seed.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataKind {
    /// One sentence of 45 bytes over and over, as in the published bench: it deflates to less than half a percent.
    Pattern,
    /// One letter over and over, as in the published `perf_test`.
    Letter,
    /// Lines of a server's log: a realistic text, a third to a fifth when deflated.
    Log,
    /// Rows of payments, as the transaction engine reads them.
    Csv,
    Random,
}

const SENTENCE: &[u8] = b"The quick brown fox jumps over the lazy dog. ";

pub fn generate(kind: DataKind, bytes: usize, seed: u64) -> Vec<u8> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut data = Vec::with_capacity(bytes + 256);
    match kind {
        DataKind::Pattern => {
            // The seed turns the sentence, so that not every block sees the very same bytes.
            let turn = usize::try_from(seed).unwrap_or(0) % SENTENCE.len();
            data.extend_from_slice(&SENTENCE[turn..]);
            while data.len() < bytes {
                data.extend_from_slice(SENTENCE);
            }
        }
        DataKind::Letter => data.resize(bytes, b'A' + u8::try_from(seed % 26).unwrap_or(0)),
        DataKind::Log => {
            let mut clock_ms = 0;
            while data.len() < bytes {
                log_line(&mut rng, &mut clock_ms, &mut data);
            }
        }
        DataKind::Csv => {
            data.extend_from_slice(b"type,client,tx,amount\n");
            let mut tx = 0;
            while data.len() < bytes {
                tx += 1;
                csv_row(&mut rng, tx, &mut data);
            }
        }
        DataKind::Random => {
            data.resize(bytes, 0);
            rng.fill_bytes(&mut data);
        }
    }
    data.truncate(bytes);
    data
}

fn log_line(rng: &mut ChaCha8Rng, clock_ms: &mut u64, out: &mut Vec<u8>) {
    const PATHS: [&str; 6] = ["/", "/api/v1/items", "/api/v1/orders", "/static/app.js", "/health", "/login"];
    const LEVELS: [&str; 8] = ["INFO", "INFO", "INFO", "INFO", "INFO", "DEBUG", "WARN", "ERROR"];
    *clock_ms += rng.random_range(0..40);
    let (seconds, millis) = (*clock_ms / 1000, *clock_ms % 1000);
    let line = format!(
        "2026-03-01T{:02}:{:02}:{:02}.{millis:03}Z {} worker-{} request={:08x} path={}/{} status={} bytes={} took_us={}\n",
        seconds / 3600 % 24,
        seconds / 60 % 60,
        seconds % 60,
        LEVELS[rng.random_range(0..LEVELS.len())],
        rng.random_range(0..8),
        rng.random::<u32>(),
        PATHS[rng.random_range(0..PATHS.len())],
        rng.random_range(0..500),
        [200, 200, 200, 200, 304, 404, 500][rng.random_range(0..7)],
        rng.random_range(100..20_000),
        rng.random_range(80..9_000),
    );
    out.extend_from_slice(line.as_bytes());
}

fn csv_row(rng: &mut ChaCha8Rng, tx: u64, out: &mut Vec<u8>) {
    let client = rng.random_range(0..1000);
    let row = match rng.random_range(0..20) {
        0 => format!("dispute,{client},{},\n", rng.random_range(1..=tx)),
        1 => format!("resolve,{client},{},\n", rng.random_range(1..=tx)),
        kind => format!(
            "{},{client},{tx},{}.{:04}\n",
            if kind < 8 { "withdrawal" } else { "deposit" },
            rng.random_range(0..1000),
            rng.random_range(0..10_000)
        ),
    };
    out.extend_from_slice(row.as_bytes());
}
