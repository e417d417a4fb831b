//! How the program ends when others end it: closed pipes, signals, files that change, names that are taken.
#![cfg(all(feature = "cli", target_os = "linux"))]

mod common;

use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use common::calls::noise;
use common::forged::{Member, bomb, stored, zip};
use tempfile::TempDir;

/// What is waited for takes a moment; a minute is a failure.
const PATIENCE: Duration = Duration::from_mins(1);

fn program() -> std::path::PathBuf {
    assert_cmd::cargo::cargo_bin("s_zip")
}

/// A folder with a file that does not compress and fills a pipe and all buffers, and an archive of it.
fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("noise"), noise(2_000_000, 1)).unwrap();
    let names: Vec<_> = (0..20_000).map(|index| stored(&format!("{index}"), b"")).collect();
    fs::write(folder.path().join("many.zip"), zip(&names).bytes).unwrap();
    fs::write(folder.path().join("few.zip"), zip(&names[..10]).bytes).unwrap();
    folder
}

/// The program with these words, separated by spaces, in a folder.
fn typed(folder: &TempDir, words: &str) -> Command {
    let mut command = Command::new(program());
    command.args(words.split(' ')).current_dir(folder);
    command
}

fn sh(folder: &TempDir, script: &str) -> Output {
    Command::new("bash").args(["-c", script]).arg(program()).current_dir(folder).output().unwrap()
}

/// The exit code of the program, which the script prints to stderr last, and the other lines there.
fn code_and_lines(output: &Output) -> (String, Vec<String>) {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    (lines.pop().unwrap_or_default(), lines)
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "{what} did not happen");
        thread::sleep(Duration::from_millis(5));
    }
}

fn has_partial(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|mut items| {
        items.any(|item| item.is_ok_and(|item| item.file_name().to_string_lossy().starts_with(".s_zip-")))
    })
}

fn kill(child: &Child, signal: &str) {
    // The shell's own: a minimal system has no program of this name.
    let sent = Command::new("sh").args(["-c", "kill \"$0\" \"$1\"", signal, &child.id().to_string()]).status();
    assert!(sent.unwrap().success());
}

#[test]
fn an_archive_that_nobody_takes_in_full_is_a_failure_and_a_list_is_not() {
    let folder = folder();
    for words in ["create - noise", "create --async - noise", "create --jobs 2 - noise"] {
        let output = sh(&folder, &format!("{{ \"$0\" {words}; echo $? >&2; }} | head -c 10 >/dev/null"));
        let (code, lines) = code_and_lines(&output);
        assert_eq!((code.as_str(), lines.len()), ("2", 1), "{words}: {lines:?}");
        assert!(lines[0].contains("Broken pipe"), "{words}: {lines:?}");
    }
    let (code, lines) = code_and_lines(&sh(&folder, "{ \"$0\" list many.zip; echo $? >&2; } | head -n 1 >/dev/null"));
    assert_eq!((code.as_str(), lines.len()), ("0", 0), "{lines:?}");
}

/// Every command, by what is typed, and whether it has something to say on standard output.
const COMMANDS: [(&str, bool); 9] = [
    ("create - noise", true),
    ("create --async - noise", true),
    ("create --jobs 2 - noise", true),
    ("create out.zip noise", false),
    ("list few.zip", true),
    ("test few.zip", true),
    ("extract few.zip --into out", true),
    ("--help", true),
    ("--version", true),
];

/// The names of all commands, as the help has them.
fn command_names() -> Vec<String> {
    let help = Command::new(program()).arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let names = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    names.map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
}

#[test]
fn closed_standard_output_and_a_full_disk_are_failures_of_every_command() {
    for name in command_names() {
        assert!(COMMANDS.iter().any(|(words, _)| words.starts_with(&name)), "{name} is not among the commands");
    }
    for (words, speaks) in COMMANDS {
        let folder = folder();
        for (output, failure, part) in
            [(">&-", true, "standard output"), (">/dev/full", true, "No space left"), (">/dev/null", false, "")]
        {
            let (code, lines) = code_and_lines(&sh(&folder, &format!("\"$0\" {words} {output}; echo $? >&2")));
            let wanted = if speaks && failure { "2" } else { "0" };
            assert_eq!(code, wanted, "{words} {output}: {lines:?}");
            assert_eq!(lines.len(), usize::from(wanted == "2"), "{words} {output}: {lines:?}");
            assert!(lines.iter().all(|line| line.contains(part)), "{words} {output}: {lines:?}");
            assert_eq!(fs::remove_file(folder.path().join("out.zip")).is_ok(), !speaks, "{words} {output}");
            let _ = fs::remove_dir_all(folder.path().join("out"));
        }
        // Nobody is told that a reader who has had enough is gone, but where an archive is cut off.
        let output = sh(&folder, &format!("{{ sleep 0.5; \"$0\" {words}; echo $? >&2; }} | :"));
        let (code, lines) = code_and_lines(&output);
        let cut_off = words.starts_with("create") && speaks;
        assert_eq!((code.as_str(), lines.len()), if cut_off { ("2", 1) } else { ("0", 0) }, "{words}: {lines:?}");
    }
}

#[test]
fn closed_standard_input_and_a_limit_of_file_sizes_are_failures_that_leave_nothing() {
    let folder = folder();
    let before = fs::read_dir(&folder).unwrap().count();
    for (script, part) in [
        ("\"$0\" create out.zip - <&-", "cannot read standard input: it is closed"),
        ("ulimit -f 100; \"$0\" create out.zip noise", "File too large"),
    ] {
        let (code, lines) = code_and_lines(&sh(&folder, &format!("{script}; echo $? >&2")));
        assert_eq!((code.as_str(), lines.len()), ("2", 1), "{script}: {lines:?}");
        assert!(lines[0].contains(part), "{script}: {lines:?}");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), before, "{script}");
    }
}

#[test]
fn damage_is_a_failure_even_if_nobody_reads_what_was_well() {
    let folder = folder();
    let members = [stored("good", b"good"), Member { crc32: 7, ..stored("bad", b"data") }];
    fs::write(folder.path().join("bad.zip"), zip(&members).bytes).unwrap();
    for words in ["test bad.zip", "test bad.zip --skip-bad", "extract bad.zip --skip-bad --into out"] {
        let (code, lines) = code_and_lines(&sh(&folder, &format!("{{ sleep 0.5; \"$0\" {words}; echo $? >&2; }} | :")));
        assert_eq!((code.as_str(), lines.len()), ("1", 1), "{words}: {lines:?}");
    }
}

/// The signals that end a program here: one that a script starts in the background ignores SIGINT, and so do these tests and what they start.
fn signals() -> impl Iterator<Item = (&'static str, i32)> {
    let ignored = procfs::process::Process::myself().unwrap().status().unwrap().sigign;
    [("-INT", 2), ("-TERM", 15), ("-HUP", 1)].into_iter().filter(move |(_, number)| ignored & (1 << (number - 1)) == 0)
}

#[test]
fn signals_leave_no_half_archive_and_no_half_file() {
    for (signal, number) in signals() {
        let folder = folder();
        let out = folder.path().join("out");
        fs::write(folder.path().join("bomb.zip"), zip(&[stored("first", b"1"), bomb()]).bytes).unwrap();
        let mut create = typed(&folder, "create out.zip -").stdin(Stdio::piped()).spawn().unwrap();
        let _open = create.stdin.take();
        wait_until("a temporary archive", || has_partial(folder.path()));
        let mut extract = typed(&folder, "extract bomb.zip --into out --limit-ratio 100000").spawn().unwrap();
        wait_until("the first file", || out.join("first").exists());
        wait_until("a temporary file", || has_partial(&out));
        assert!(!out.join("bomb").exists(), "only what is complete has its name");
        for child in [&mut create, &mut extract] {
            kill(child, signal);
            wait_until("the end of the program", || child.try_wait().unwrap().is_some());
            let status = child.wait().unwrap();
            assert_eq!(status.signal(), Some(number), "{status}");
        }
        assert!(!has_partial(folder.path()) && !folder.path().join("out.zip").exists(), "{signal}");
        assert_eq!(fs::read_dir(&out).unwrap().count(), 1, "{signal}: the first file stays, alone");
    }
}

#[test]
fn every_command_dies_of_a_signal_and_leaves_nothing() {
    let commands = ["create out.zip -", "create - -", "list -", "test -", "extract - --into out"];
    for name in command_names() {
        assert!(commands.iter().any(|words| words.starts_with(&name)), "{name} is not among the commands");
    }
    for words in commands {
        for (signal, number) in signals() {
            let folder = TempDir::new().unwrap();
            let mut command = typed(&folder, words);
            command.env("TMPDIR", folder.path()).stdin(Stdio::piped()).stdout(Stdio::null());
            let mut child = command.spawn().unwrap();
            // More than a pipe holds: when it is written, the program has begun to read.
            child.stdin.as_mut().unwrap().write_all(&noise(200_000, 1)).unwrap();
            kill(&child, signal);
            wait_until("the end of the program", || child.try_wait().unwrap().is_some());
            assert_eq!(child.wait().unwrap().signal(), Some(number), "{words} {signal}");
            assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "{words} {signal}");
        }
    }
}

#[test]
fn a_signal_that_is_to_be_ignored_is() {
    let folder = folder();
    let mut child = Command::new("sh")
        .args(["-c", "trap '' HUP; exec \"$0\" create out.zip -"])
        .arg(program())
        .current_dir(&folder)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until("a temporary file", || has_partial(folder.path()));
    kill(&child, "-HUP");
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    assert!(folder.path().join("out.zip").exists());
}

#[test]
fn a_file_that_changes_while_it_is_read_is_told_of() {
    type Change = fn(&Path);
    let grow: Change = |path| OpenOptions::new().append(true).open(path).unwrap().write_all(b"more").unwrap();
    let shrink: Change = |path| OpenOptions::new().write(true).open(path).unwrap().set_len(1_500_000).unwrap();
    let nothing: Change = |_| {};
    for (change, code) in [(grow, 1), (shrink, 1), (nothing, 0)] {
        let folder = folder();
        let mut child = typed(&folder, "create - noise").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // The pipe is full before the file was read to its end.
        let mut archive = vec![0; 1];
        let mut pipe = child.stdout.take().unwrap();
        pipe.read_exact(&mut archive).unwrap();
        change(&folder.path().join("noise"));
        pipe.read_to_end(&mut archive).unwrap();
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{text}");
        assert_eq!(text.contains("noise changed while it was read"), code == 1, "{text}");
        s_zip::StreamingZipReader::new(std::io::Cursor::new(archive)).unwrap().test().unwrap();
    }
}

#[test]
fn there_are_no_more_threads_than_cores_can_use() {
    let folder = folder();
    let mut child = typed(&folder, "create out.zip - --jobs 5000").stdin(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(&vec![0; 1 << 20]).unwrap();
    let id = i32::try_from(child.id()).unwrap();
    let threads = procfs::process::Process::new(id).unwrap().stat().unwrap().num_threads;
    drop(pipe);
    assert!(child.wait().unwrap().success());
    // Beside the workers there are the main thread and the one for signals.
    let cores = i64::try_from(thread::available_parallelism().unwrap().get()).unwrap();
    assert!(threads <= cores + 2, "{threads} threads");
}
