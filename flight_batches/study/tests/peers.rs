//! Somebody else's Flight: pyarrow's client reads our servers, our client reads pyarrow's server.

mod common;

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use arrow_array::RecordBatch;
use arrow_ipc::writer::FileWriter;
use common::{Program, channel, fetch, ticket};
use flight_batches::load::{Connections, Extent, Load};
use flight_batches::table::{Shape, Table, checksum};
use serde_json::Value;

const SHAPE: Shape = Shape { rows: 25_000, columns: 50, seed: 3 };

/// The interpreter that has pyarrow; `None`, with the reason, on a machine without it. CI must have it.
fn python() -> Option<PathBuf> {
    let python = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.tools/pyarrow/bin/python"));
    if python.exists() {
        return Some(python);
    }
    assert!(std::env::var_os("CI").is_none(), "{} is missing, and CI skips nothing", python.display());
    eprintln!("skipped: pyarrow is missing: scripts/setup.sh --pyarrow installs it");
    None
}

fn peer(python: &Path, script: &str) -> Command {
    let mut command = Command::new(python);
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/peers/").to_owned() + script);
    command
}

fn client(python: &Path, endpoint: &str, arguments: &str) -> Vec<Value> {
    let output = peer(python, "client.py").arg(endpoint).args(arguments.split_whitespace()).output().unwrap();
    let (said, complaint) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}{complaint}");
    said.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The sum of the values of so many batches, the full ones over and over.
fn expected(records: usize, batches: Option<usize>) -> i64 {
    let table = Table::new(SHAPE).unwrap();
    match batches {
        None => checksum(&table.batch(0, SHAPE.rows)),
        Some(batches) => {
            let sums = (0..batches).map(|number| checksum(&table.batch(number % table.full_batches(records), records)));
            sums.sum()
        }
    }
}

#[test]
fn a_pyarrow_client_reads_our_servers() {
    let Some(python) = python() else { return };
    for options in ["--mode async", "--mode sync", "--mode pool", "--mode async --encoding shared"] {
        let server = Program::start(&format!("--rows 25000 --seed 3 {options}"));
        for (arguments, records, batches) in [
            ("--rows 10000 --delay 0", 10_000, None),
            ("--rows 1000 --delay 0.001", 1000, None),
            ("--rows 5000 --delay 0.002 --batches 12", 5000, Some(12)),
        ] {
            let answer = &client(&python, &server.endpoint, arguments)[0];
            assert_eq!(answer["checksum"], expected(records, batches), "{options} {arguments}");
            assert_eq!(answer["rows"], batches.map_or(SHAPE.rows, |batches| batches * records));
            assert_eq!(answer["schema"][49], "col_49");
        }
    }
}

#[test]
fn a_pyarrow_client_is_refused_in_words_and_told_what_there_is() {
    let Some(python) = python() else { return };
    let server = Program::start("--rows 25000 --seed 3");
    let answers = client(&python, &server.endpoint, "--malformed");
    assert!(answers.len() > 5);
    for answer in &answers {
        assert!(answer.to_string().contains("ArrowInvalid"), "{answer}");
    }
    let info = client(&python, &server.endpoint, "--info");
    let text = serde_json::to_string(&info).unwrap();
    assert!(text.contains("serving") && text.contains("25000") && text.contains("col_49"), "{text}");
}

/// A pyarrow server, which ends with this.
struct Foreign {
    child: Child,
    endpoint: String,
}

impl Foreign {
    fn start(python: &Path, table: &Path) -> Self {
        let mut command = peer(python, "server.py");
        command.args(["--until-stdin-closes", "--table"]).arg(table);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let endpoint = line.trim_end().strip_prefix("listening on ").unwrap_or_else(|| panic!("{line:?}")).to_owned();
        Foreign { child, endpoint }
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn our_client_reads_a_pyarrow_server() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("table.arrow");
    let table = Table::new(SHAPE).unwrap();
    let mut writer = FileWriter::try_new(File::create(&file).unwrap(), &table.schema()).unwrap();
    writer.write(&table.batch(0, SHAPE.rows)).unwrap();
    writer.finish().unwrap();
    let server = Foreign::start(&python, &file);
    for delay in [0.0, 0.001] {
        // Full batches for who counts them: 25,000 rows have three of 7,000.
        let batches = fetch(channel(&server.endpoint).await, &ticket(7000, delay, Some(7))).await.unwrap();
        let sum = batches.iter().map(checksum).fold(0_i64, i64::wrapping_add);
        assert_eq!(sum, expected(7000, Some(7)));
        let batches: Vec<RecordBatch> =
            fetch(channel(&server.endpoint).await, &ticket(10_000, delay, None)).await.unwrap();
        let sum = batches.iter().map(checksum).fold(0_i64, i64::wrapping_add);
        assert_eq!(sum, expected(10_000, None));
        let connections = Connections::open(&server.endpoint, 4).await.unwrap();
        let load = Load {
            ticket: ticket(5000, delay, Some(10)),
            requests: 20,
            extent: Extent::Whole,
            first: Some(table.batch(0, 5000)),
            patience: Duration::from_secs(30),
        };
        let delivery = load.run(&connections).await;
        assert_eq!(delivery.failures, []);
        assert_eq!(delivery.bytes, 20 * 10 * 5000 * 400);
    }
}
