//! The program as a person types it.

#![cfg(feature = "plot")]

mod common;

use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use arrow_array::RecordBatch;
use assert_cmd::Command;
use common::Program;
use flight_batches::load::Connections;
use nix::sys::signal::Signal;
use predicates::prelude::*;
use predicates::str::{contains, starts_with};

fn flight(arguments: &str) -> Command {
    Command::from_std(common::program(arguments))
}

fn text(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap()
}

#[test]
fn help_shows_examples_and_every_command() {
    flight("--help").assert().success().stdout(contains("Examples:").and(contains("flight_batches plot results.csv")));
    for command in ["serve", "bench", "plot"] {
        flight(&format!("{command} --help")).assert().success().stdout(contains("Usage:"));
    }
}

#[test]
fn what_means_nothing_is_refused_with_the_choices() {
    for (arguments, reason) in [
        ("serve --mode threads", "[possible values: async, sync, pool, spawn_blocking, sleep_in_poll]"),
        ("serve --encoding raw", "[possible values: direct, stock, shared]"),
        ("serve --prefetch some", "a number of batches, or all"),
        ("serve --rows 0", "--rows"),
        (
            "serve --addr 127.0.0.1:0 --rows 1000000000000000",
            "1000000000000000 rows of 50 columns do not fit into memory",
        ),
        ("serve --addr here", "--addr"),
        ("bench --out /nowhere/results.csv", "cannot write /nowhere/results.csv.part"),
        ("bench --window 0", "--window <WINDOW>': give seconds, more than 0"),
        ("bench --delays nan", "--delays <DELAYS>': give seconds, 0 or more"),
        ("bench --rows 0", "--rows"),
        ("bench --requests 0", "--requests <REQUESTS>': 0 is not in 1..=1000000"),
        ("bench --requests 18446744073709551615", "--requests <REQUESTS>': "),
        ("bench --connections 1000001", "--connections <CONNECTIONS>': 1000001 is not in 1..=1000000"),
        ("plot missing.csv", "flight_batches: cannot read missing.csv"),
        ("arms", "unrecognized subcommand"),
        ("", "Usage:"),
    ] {
        flight(arguments).assert().code(2).stderr(contains(reason));
    }
}

#[test]
fn a_grid_of_two_servers_is_measured_and_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let (csv, out) = (folder.path().join("results.csv"), folder.path().join("plots"));
    let servers = [Program::start("--rows 20000 --mode async"), Program::start("--rows 20000 --mode sync")];
    flight("bench --rows 100,500 --requests 1,3 --delays 0.01,0.1 --window 0.3 --warm-up 0.1")
        .args(["--endpoint", &servers[0].endpoint, "--endpoint", &servers[1].endpoint, "--out"])
        .arg(&csv)
        .assert()
        .success()
        .stdout(format!("16 cells in {}, 0 failed requests\n", csv.display()));
    let written = text(&csv);
    let header = "records_per_batch,concurrent_requests,batch_generation_delay,average_latency,throughput_MBps,type,";
    assert!(written.starts_with(header), "{written}");
    assert_eq!(written.lines().count(), 17);
    // 20,000 rows in batches of 100 take 200 times 10 ms, whether a request ended in the window or not; half of it where a window caught up on
    // what had come late before.
    let first: Vec<&str> = written.lines().nth(1).unwrap().split(',').collect();
    assert!(first[3].parse::<f64>().unwrap() >= 1.0, "{first:?}");
    for server in ["async", "sync"] {
        assert_eq!(written.lines().filter(|line| line.contains(&format!(",{server},"))).count(), 8);
    }
    flight("plot").arg(&csv).arg("--out").arg(&out).assert().success().stdout(contains("throughput_10ms.png"));
    for name in ["throughput_10ms.png", "throughput_100ms.png", "latency_10ms.png", "latency_100ms.svg"] {
        assert!(out.join(name).metadata().unwrap().len() > 1000, "{name}");
    }
    assert!(!folder.path().join("results.csv.part").exists());
}

/// A shell's command line around the program.
fn shell(around: &str, arguments: &str) -> Command {
    let program = common::program(arguments);
    let mut command = Command::new("sh");
    command.args(["-c", around]).arg(program.get_program()).args(program.get_args());
    command
}

#[test]
fn what_cannot_be_printed_is_an_error_in_every_command_before_it_works() {
    let folder = tempfile::tempdir().unwrap();
    let csv = folder.path().join("results.csv");
    let server = Program::start("--rows 100 --cols 2");
    let bench = format!(
        "bench --rows 100 --requests 1 --delays 0.01 --window 0.1 --warm-up 0 --endpoint {} --out {}",
        server.endpoint,
        csv.display()
    );
    flight(&bench).assert().success();
    let out = folder.path().join("new");
    let bench = bench.replace("results.csv", "other.csv");
    let plot = format!("plot {} --out {}", csv.display(), out.display());
    for arguments in ["serve --addr 127.0.0.1:0 --rows 10", &bench, &plot, "--help", "--version", "serve --help"] {
        for closed in [">&-", "1</dev/null"] {
            shell(&format!("exec \"$0\" \"$@\" {closed}"), arguments)
                .timeout(common::PATIENCE)
                .assert()
                .code(2)
                .stderr("flight_batches: cannot write to standard output: it is closed\n");
        }
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    if Path::new("/dev/full").exists() {
        for arguments in ["serve --addr 127.0.0.1:0 --rows 10", &bench, &plot, "--help", "--version", "serve --help"] {
            shell("exec \"$0\" \"$@\" >/dev/full", arguments)
                .timeout(common::PATIENCE)
                .assert()
                .code(2)
                .stderr(starts_with("flight_batches: cannot write to standard output: "));
        }
    }
}

#[test]
fn two_grids_at_once_into_one_file_leave_one_of_them_whole() {
    let folder = tempfile::tempdir().unwrap();
    let csv = folder.path().join("results.csv");
    // Of a run that was interrupted.
    let left = folder.path().join("results.csv.part");
    std::fs::write(&left, "left\n").unwrap();
    let server = Program::start("--rows 1000 --cols 2");
    let line = "bench --requests 1 --delays 0.01 --window 0.3 --warm-up 0 --rows";
    let start = |rows: &str| {
        let mut command = std::process::Command::new("sh");
        command.args(["-c", "umask 027; exec \"$0\" \"$@\""]).arg(env!("CARGO_BIN_EXE_flight_batches"));
        command.args(line.split(' ')).args([rows, "--endpoint", &server.endpoint, "--out"]).arg(&csv);
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap()
    };
    let runs = [start("10,20,30,40"), start("50,60,70")];
    for mut run in runs {
        assert!(run.wait().unwrap().success());
    }
    let written = text(&csv);
    let rows: Vec<&str> = written.lines().skip(1).map(|line| line.split(',').next().unwrap()).collect();
    assert!(rows == ["10", "20", "30", "40"] || rows == ["50", "60", "70"], "{written}");
    assert_eq!(text(&left), "left\n");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    let mode = std::os::unix::fs::PermissionsExt::mode(&csv.metadata().unwrap().permissions());
    assert_eq!(mode & 0o777, 0o640);
}

#[test]
fn what_is_no_file_is_refused_before_anything_is_measured_and_a_link_stays_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::create_dir(path("folder")).unwrap();
    nix::unistd::mkfifo(&path("fifo"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    for (link, target) in [("to_folder", "folder"), ("to_nothing", "nothing"), ("link", "target.csv")] {
        std::os::unix::fs::symlink(target, path(link)).unwrap();
    }
    for name in ["folder", "fifo", "to_folder", "to_nothing"] {
        let reason = format!("flight_batches: cannot write {}: it is no regular file\n", path(name).display());
        // Nobody is there, and nobody is asked.
        flight("bench --endpoint http://127.0.0.1:1 --out").arg(path(name)).assert().code(2).stderr(reason);
    }
    std::fs::write(path("target.csv"), "old").unwrap();
    let server = Program::start("--rows 100 --cols 2");
    flight("bench --rows 100 --requests 1 --delays 0.01 --window 0.1 --warm-up 0 --endpoint")
        .arg(&server.endpoint)
        .arg("--out")
        .arg(path("link"))
        .assert()
        .success()
        .stdout(format!("1 cells in {}, 0 failed requests\n", path("link").display()));
    assert!(path("link").is_symlink());
    assert_eq!(text(&path("target.csv")).lines().count(), 2);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 6);
}

#[test]
fn a_window_in_which_nothing_came_has_no_latency() {
    let folder = tempfile::tempdir().unwrap();
    let csv = folder.path().join("results.csv");
    let server = Program::start("--rows 1000 --cols 2");
    flight("bench --rows 100 --requests 1 --delays 2 --window 0.2 --warm-up 0.1 --out")
        .arg(&csv)
        .args(["--endpoint", &server.endpoint])
        .assert()
        .success();
    let written = text(&csv);
    assert!(written.lines().nth(1).unwrap().starts_with("100,1,2.0,,0.0,async,"), "{written}");
    assert!(!written.contains("inf"), "{written}");
}

/// Starts the program with an output that nobody reads.
fn unread(mut command: std::process::Command) -> Child {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    command.stdout(writer).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn a_reader_that_has_gone_hides_no_failure() {
    let folder = tempfile::tempdir().unwrap();
    let csv = folder.path().join("results.csv");
    let server = Program::start("--rows 100 --cols 2");
    for (rows, code) in [("101", 1), ("100", 0)] {
        let mut command = common::program("bench --requests 1 --delays 0.01 --window 0.1 --warm-up 0 --endpoint");
        command.args([&server.endpoint, "--rows", rows, "--out"]).arg(&csv);
        assert_eq!(unread(command).wait().unwrap().code(), Some(code));
        assert_eq!(text(&csv).lines().count(), 2);
    }
    assert!(unread(common::program("--help")).wait().unwrap().success());
}

#[tokio::test]
async fn a_server_serves_whether_anybody_reads_where_it_listens_or_not() {
    let start = || {
        let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let child = unread(common::program(&format!("serve --rows 100 --cols 2 --addr {address}")));
        Program { child, endpoint: format!("http://{address}") }
    };
    let mut server = start();
    let deadline = Instant::now() + common::PATIENCE;
    while Connections::open(&server.endpoint, 1).await.is_err() {
        assert!(Instant::now() < deadline);
        // Somebody else may have taken the port, but a server that nobody reads goes on.
        if let Some(status) = server.child.try_wait().unwrap() {
            assert_eq!(status.code(), Some(2));
            server = start();
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let batches = common::fetch(&server.endpoint, common::ticket(100, 0.0, None)).await.unwrap();
    assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 100);
    server.signal(Signal::SIGTERM);
    assert!(server.end().0.success());
}

#[test]
fn a_name_is_an_address_of_servers_and_of_clients() {
    let folder = tempfile::tempdir().unwrap();
    let server = Program::of(common::program("serve --addr localhost:0 --rows 100 --cols 2"));
    let port = server.endpoint.rsplit(':').next().unwrap();
    for endpoint in [format!("http://localhost:{port}"), format!("grpc://localhost:{port}"), server.endpoint.clone()] {
        flight("bench --rows 100 --requests 1 --delays 0.01 --window 0.1 --warm-up 0 --out")
            .arg(folder.path().join("results.csv"))
            .args(["--endpoint", &endpoint])
            .assert()
            .success();
    }
    for (address, reason) in [("here", "invalid"), ("127.0.0.1:99999", "invalid")] {
        flight(&format!("serve --addr {address}"))
            .assert()
            .code(2)
            .stderr(starts_with(format!("flight_batches: cannot listen on {address}: ")).and(contains(reason)));
    }
}

#[test]
fn a_server_that_says_nothing_is_waited_for_no_longer_than_the_patience() {
    let folder = tempfile::tempdir().unwrap();
    let csv = folder.path().join("results.csv");
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    flight("bench --patience 0.2 --rows 100 --requests 1 --delays 0.01 --window 0.1 --warm-up 0 --endpoint")
        .arg(format!("http://{}", silent.local_addr().unwrap()))
        .arg("--out")
        .arg(&csv)
        .timeout(Duration::from_secs(30))
        .assert()
        .code(1);
    assert!(text(&csv).contains("nothing came for 0.2 s"), "{}", text(&csv));
}

#[test]
fn a_grid_without_endpoints_starts_its_own_servers() {
    let folder = tempfile::tempdir().unwrap();
    let csv = folder.path().join("own.csv");
    flight("bench --rows 100 --requests 2 --delays 0.01 --window 0.2 --warm-up 0.1 --batches 5 --out")
        .arg(&csv)
        .timeout(std::time::Duration::from_mins(5))
        .assert()
        .success();
    assert!(text(&csv).contains(",async,") && text(&csv).contains(",sync,"));
}

#[test]
fn failed_requests_are_counted_and_exit_1() {
    let folder = tempfile::tempdir().unwrap();
    let csv = folder.path().join("results.csv");
    let server = Program::start("--rows 100 --cols 2");
    flight("bench --rows 101 --requests 2 --delays 0.01 --window 0.2 --warm-up 0 --out")
        .arg(&csv)
        .args(["--endpoint", &server.endpoint])
        .assert()
        .code(1);
    assert!(
        text(&csv).contains("InvalidArgument: records_per_batch is 101: a batch has 1 to 100 rows"),
        "{}",
        text(&csv)
    );
}

#[test]
fn what_cannot_be_measured_drawn_or_served_is_one_clear_line() {
    let folder = tempfile::tempdir().unwrap();
    let csv = folder.path().join("results.csv");
    flight("bench --endpoint http://127.0.0.1:1 --out")
        .arg(&csv)
        .assert()
        .code(2)
        .stderr(starts_with("flight_batches: nobody answers at http://127.0.0.1:1: is the server up?"));
    for endpoint in ["not an endpoint", "https://127.0.0.1:1", "127.0.0.1:1", "foo"] {
        let line = format!("flight_batches: '{endpoint}' is no endpoint: give one like http://127.0.0.1:8815\n");
        flight("bench --endpoint").arg(endpoint).assert().code(2).stderr(line);
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing half-written stays");
    let server = Program::start("--rows 100 --cols 2");
    let address = server.endpoint.strip_prefix("http://").unwrap();
    let taken = format!("flight_batches: cannot listen on {address}: choose another with --addr: ");
    let is_line = starts_with(taken).and(contains("\n").count(1));
    flight(&format!("serve --addr {address}")).assert().code(2).stderr(is_line);
    let header = "records_per_batch,concurrent_requests,batch_generation_delay,average_latency,throughput_MBps,type\n";
    let empty = "there are no results in it";
    for (text, reason) in [("a,b\n1,2\n", "not a file of results"), ("", empty), (header, empty)] {
        std::fs::write(&csv, text).unwrap();
        flight("plot").arg(&csv).assert().code(2).stderr(contains(reason));
    }
}
