//! A dump under faults: whichever call of the system fails, or is the last before the end, the old or the new session stands whole, and
//! what is said agrees.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use nix::sys::signal::Signal;
use tempfile::TempDir;
use txn_engine::session::Session;
use txn_engine::{Setup, process_files};

use crate::{Folder, PAYMENTS, Server, txn_engine};

/// The library that makes calls of the system fail.
fn shim() -> &'static Path {
    static SHIM: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let compile = || {
        let folder = TempDir::new().expect("a temporary folder can be made");
        let [source, library] = ["faults.c", "faults.so"].map(|name| folder.path().join(name));
        fs::write(&source, include_str!("../faults.c")).expect("a temporary file can be written");
        let mut cc = Command::new("cc");
        let done = cc.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).arg("-ldl").status();
        assert!(done.is_ok_and(|status| status.success()), "cc, which also links Rust programs, compiles the shim");
        (folder, library)
    };
    &SHIM.get_or_init(compile).1
}

/// How a call fails.
#[derive(Debug, Clone, Copy)]
struct Fault {
    /// Which calls are meant.
    call: Option<&'static str>,
    path: &'static str,
    /// Without one the program is killed.
    errno: Option<i32>,
    is_done: bool,
}

const EIO: i32 = 5;
const EBADF: i32 = 9;
const EACCES: i32 = 13;
const EINVAL: i32 = 22;
const ENOLCK: i32 = 37;
const ENOTSUP: i32 = 95;

/// A call on the folder or on a file in it.
const ANY: Fault = Fault { call: None, path: "*session*", errno: None, is_done: false };
const SYNC: Fault = Fault { call: Some("fsync"), path: "*session", errno: Some(EIO), is_done: false };
/// The new session before it counts.
const DRAFT: &str = "*session.json.new";

impl Fault {
    /// Sets it up for the call of that number, or for every one.
    fn set(self, command: &mut Command, at: Option<u32>, log: &Path) {
        command.env("LD_PRELOAD", shim()).env("FAULT_PATH", self.path).env("FAULT_LOG", log);
        for (name, value) in [
            ("FAULT_CALL", self.call.map(str::to_owned)),
            ("FAULT_AT", at.map(|at| at.to_string())),
            ("FAULT_ERRNO", self.errno.map(|errno| errno.to_string())),
            ("FAULT_DONE", self.is_done.then(String::new)),
        ] {
            value.map(|value| command.env(name, value));
        }
    }
}

fn session(folder: &Folder) -> Option<Session> {
    let path = folder.path("session");
    path.join("session.json").exists().then(|| Session::read(&path).expect("what stands there can be loaded"))
}

fn dump(folder: &Folder, session: &Session) {
    let claim = Session::claim(&folder.path("session"), |warning| panic!("{warning}"));
    session.dump(claim.expect("nobody else has it")).expect("nothing fails now");
}

/// Goes well with or without a session before.
const MORE: &str = "type,client,tx,amount\ndeposit,3,10,9\ndeposit,2,11,1\n";

/// A session before the run, if there is one, and the session that the run makes of it.
struct Run {
    before: Option<Session>,
    after: Session,
    typed: &'static str,
}

impl Run {
    fn new(goes_on: bool) -> Self {
        let folder = Folder::with("payments.csv", PAYMENTS);
        folder.write("more.csv", MORE);
        let after = |name: &str, session: Session| {
            process_files(Setup::SYNC, &[folder.path(name)], session).expect("the file can be read").books.session()
        };
        let before = after("payments.csv", Session::default());
        if goes_on {
            let after = after("more.csv", before.clone());
            return Run { before: Some(before), after, typed: "more.csv --load session --dump session" };
        }
        Run { before: None, after: after("more.csv", Session::default()), typed: "more.csv --dump session" }
    }

    fn folder(&self) -> Folder {
        let folder = Folder::in_memory();
        folder.write("more.csv", MORE);
        self.before.iter().for_each(|before| dump(&folder, before));
        folder
    }

    /// Runs it with the fault; what it says, the session that stands then, and which call was hit.
    fn with(&self, folder: &Folder, fault: Fault, at: Option<u32>) -> (Output, Option<Session>, Option<String>) {
        let log = folder.path("log");
        let mut command = txn_engine(self.typed);
        fault.set(command.current_dir(folder.path("")), at, &log);
        let output = command.output().expect("the program can be started");
        (output, session(folder), fs::read_to_string(log).ok())
    }
}

/// Lets each call fail in turn, until there is none left.
fn assert_old_or_new(run: &Run, fault: Fault) {
    for at in 1.. {
        let folder = run.folder();
        let (output, stands, hit) = run.with(&folder, fault, Some(at));
        let Some(hit) = hit else {
            assert!(at > 12 && output.status.success(), "{fault:?}: {at} calls are too few: {output:?}");
            return;
        };
        let said = String::from_utf8_lossy(&output.stderr);
        let context = format!("{fault:?} at {at}, {hit}: {}: {said}", output.status);
        let is_new = stands.as_ref() == Some(&run.after);
        assert!(is_new || stands == run.before, "{context}: {stands:?}");
        match output.status.code() {
            Some(0) => assert!(is_new, "{context}"),
            Some(2) => {
                assert!(said.lines().count() == 1 && said.contains("session"), "{context}");
                assert_eq!(said.contains("the new session stands"), is_new, "{context}");
            }
            code => assert!(code.is_none() && fault.errno.is_none(), "{context}"),
        }
        // Two dumps later nothing is left of it.
        for session in [&run.after, &Session::default()] {
            dump(&folder, session);
            assert_eq!(self::session(&folder).as_ref(), Some(session), "{context}");
        }
        let left = fs::read_dir(folder.path("session")).expect("it can be listed").count();
        assert_eq!(left, 1, "{context}: files are left behind");
    }
}

#[test]
fn a_dump_that_dies_at_any_call_leaves_the_old_or_the_new_session() {
    for goes_on in [false, true] {
        let run = Run::new(goes_on);
        assert_old_or_new(&run, ANY);
        assert_old_or_new(&run, Fault { is_done: true, ..ANY });
    }
}

#[test]
fn a_dump_of_which_any_call_fails_leaves_the_old_or_the_new_session_and_says_which() {
    for goes_on in [false, true] {
        let run = Run::new(goes_on);
        for errno in [EIO, EINVAL, EACCES] {
            assert_old_or_new(&run, Fault { errno: Some(errno), ..ANY });
        }
        // As over a network: it was carried out, and reported as failed.
        assert_old_or_new(&run, Fault { errno: Some(EIO), is_done: true, ..ANY });
    }
}

#[test]
fn a_folder_that_cannot_be_synced_or_locked_is_a_warning() {
    let sync = [EINVAL, ENOTSUP, EBADF].map(|errno| (SYNC, errno, "may not outlast a power cut"));
    let lock = Fault { call: Some("flock"), ..SYNC };
    let lock = [ENOLCK, ENOTSUP].map(|errno| (lock, errno, "nothing keeps other runs"));
    for (fault, errno, warning) in sync.into_iter().chain(lock) {
        for run in [Run::new(false), Run::new(true)] {
            let (output, stands, _) = run.with(&run.folder(), Fault { errno: Some(errno), ..fault }, None);
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!((output.status.code(), said.lines().count()), (Some(0), 1), "{errno}: {said}");
            assert!(said.starts_with("txn_engine: ") && said.contains(warning) && said.contains("session"), "{said}");
            assert!(stands == Some(run.after) && !output.stdout.is_empty());
        }
    }
}

#[test]
fn a_session_that_cannot_be_read_is_not_taken_for_none() {
    let run = Run { typed: "more.csv --dump session", ..Run::new(true) };
    let folder = run.folder();
    let fault = Fault { call: Some("open64"), path: "*session/session.json", errno: Some(EIO), is_done: false };
    let (output, stands, _) = run.with(&folder, fault, None);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), said.lines().count()), (Some(2), 1), "{said}");
    assert!(said.contains("session/session.json") && stands == run.before, "{said}");
}

#[test]
fn an_error_of_the_sync_of_file_or_folder_is_a_failure_before_or_after_the_new_session_stands() {
    let run = Run::new(true);
    for (path, is_new, words) in [(DRAFT, false, "is untouched"), (SYNC.path, true, "the new session stands")] {
        let (output, stands, _) = run.with(&run.folder(), Fault { path, ..SYNC }, None);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), said.lines().count()), (Some(2), 1), "{said}");
        assert!(said.contains(words) && said.contains("Input/output error"), "{said}");
        assert_eq!(stands, if is_new { Some(run.after.clone()) } else { run.before.clone() });
        assert!(!output.stdout.is_empty(), "the accounts are printed nonetheless");
    }
}

#[test]
fn a_server_whose_dump_fails_says_which_session_stands_and_prints_the_accounts() {
    for (path, is_new) in [(DRAFT, false), (SYNC.path, true)] {
        let folder = Folder::new();
        dump(&folder, &Session::default());
        let mut command = txn_engine(&Server::typed("--load session"));
        Fault { path, ..SYNC }.set(&mut command, None, &folder.path("log"));
        let server = Server::start_command(folder, command);
        assert_eq!(server.connect().ask("deposit,1,1,5"), "ok");
        server.signal(Signal::SIGTERM);
        let ended = server.wait();
        assert_eq!(ended.status.code(), Some(2), "{}", ended.stderr);
        assert_eq!(ended.stderr.contains("the new session stands"), is_new, "{}", ended.stderr);
        assert_eq!(ended.session().accounts.len(), usize::from(is_new));
        assert!(ended.stdout.ends_with("\n1,5.0000,0.0000,5.0000,false\n"), "{}", ended.stdout);
    }
}
