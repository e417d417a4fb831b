//! Somebody else's Flight: pyarrow's client reads our servers, our client reads pyarrow's server.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use arrow_array::RecordBatch;
use arrow_flight::{FlightClient, Ticket as FlightTicket};
use arrow_ipc::writer::FileWriter;
use flight_batches::load::{Connections, Extent, Load};
use flight_batches::table::{Shape, Table, checksum};
use flight_batches::ticket::Ticket;
use futures::TryStreamExt;
use serde_json::Value;
use study_kit::server::Server;

const SHAPE: Shape = Shape { rows: 25_000, columns: 50, seed: 3 };

/// The interpreter that has pyarrow; `None`, with the reason, on a machine without it. CI must have it.
fn python() -> Option<PathBuf> {
    let python = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.tools/pyarrow/bin/python"));
    if python.exists() {
        return Some(python);
    }
    assert!(std::env::var_os("CI").is_none(), "{} is missing, and CI skips nothing", python.display());
    eprintln!("skipped: pyarrow is missing: scripts/setup.sh --pyarrow installs it");
    None
}

fn peer(script: &str) -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/peers/").to_owned() + script
}

fn client(python: &Path, endpoint: &str, arguments: &str) -> Vec<Value> {
    let mut command = Command::new(python);
    let output = command.args([&peer("client.py"), endpoint]).args(arguments.split_whitespace()).output().unwrap();
    let (said, complaint) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}{complaint}");
    said.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn ours(options: &str) -> Server {
    let line = format!("serve --until-stdin-closes --addr 127.0.0.1:0 --rows 25000 --seed 3 {options}");
    Server::start(Path::new(env!("CARGO_BIN_EXE_flight_batches_study")), line.split_whitespace()).unwrap()
}

/// The sum of the values of so many batches, the full ones over and over.
fn expected(records: usize, batches: Option<usize>) -> i64 {
    let table = Table::new(SHAPE).unwrap();
    let all = if batches.is_some() { SHAPE.rows / records } else { table.batches(records) };
    (0..batches.unwrap_or(all)).map(|number| checksum(&table.batch(number % all, records))).sum()
}

#[test]
fn a_pyarrow_client_reads_our_servers() {
    let Some(python) = python() else { return };
    let encodings = ["--encoding stock", "--encoding shared", "--encoding direct --mode sync"];
    for options in ["--mode async", "--mode sync", "--mode pool"].into_iter().chain(encodings) {
        let server = ours(options);
        for (arguments, records, batches) in [
            ("--rows 10000 --delay 0", 10_000, None),
            ("--rows 1000 --delay 0.001", 1000, None),
            ("--rows 5000 --delay 0.002 --batches 12", 5000, Some(12)),
        ] {
            let answer = &client(&python, server.address(), arguments)[0];
            assert_eq!(answer["checksum"], expected(records, batches), "{options} {arguments}");
            assert_eq!(answer["rows"], batches.map_or(SHAPE.rows, |batches| batches * records));
            assert_eq!(answer["schema"][49], "col_49");
        }
    }
}

#[test]
fn a_pyarrow_client_is_refused_in_words_and_told_what_there_is() {
    let Some(python) = python() else { return };
    let server = ours("");
    let answers = client(&python, server.address(), "--malformed");
    assert!(answers.len() > 5);
    for answer in &answers {
        assert!(answer.to_string().contains("ArrowInvalid"), "{answer}");
    }
    let info = client(&python, server.address(), "--info");
    let text = serde_json::to_string(&info).unwrap();
    assert!(text.contains("25000") && text.contains("col_49"), "{text}");
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
    let words = [&peer("server.py"), "--until-stdin-closes", "--table", file.to_str().unwrap()];
    let server = Server::start(&python, words).unwrap();
    let connections = Connections::open(server.address(), 4).await.unwrap();
    for delay in [0.0, 0.001] {
        let ticket = |records_per_batch, batches| Ticket { records_per_batch, batch_generation_delay: delay, batches };
        let sum = async |records, batches| {
            let mut client = FlightClient::new_from_inner(connections.client(0));
            let asked = client.do_get(FlightTicket::new(ticket(records, batches).to_bytes()));
            let batches: Vec<RecordBatch> = asked.await.unwrap().try_collect().await.unwrap();
            batches.iter().map(checksum).fold(0_i64, i64::wrapping_add)
        };
        // Full batches for who counts them: 25,000 rows have three of 7,000.
        assert_eq!(sum(7000, Some(7)).await, expected(7000, Some(7)));
        assert_eq!(sum(10_000, None).await, expected(10_000, None));
        let load = Load::new(ticket(5000, Some(10)), 20, Extent::Whole);
        let load = Load { first: Some(table.batch(0, 5000)), ..load };
        let delivery = load.run(&connections).await;
        assert!(delivery.failures.is_empty(), "{:?}", delivery.failures);
        assert_eq!(delivery.bytes, 20 * 10 * 5000 * 400);
    }
}
