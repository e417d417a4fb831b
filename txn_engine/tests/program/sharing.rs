//! A folder that several processes want at once: one dumps to it at a time, the others are told who does.

use std::fs;
use std::io::Write;
use std::process::Stdio;
use std::thread;

use nix::sys::signal::Signal;
use txn_engine::error::Error;
use txn_engine::session::Session;

use crate::rows::{HEADER, clients};
use crate::{ACCOUNTS, Folder, PAYMENTS, Running, Server, assert_one_line, one_line, txn_engine};

const GO_ON: &str = "- --load session --dump session";

/// The words for somebody who comes second.
fn in_use(folder: &str, pid: u32) -> String {
    if cfg!(target_os = "linux") {
        format!("{folder} is in use by process {pid}: ")
    } else {
        format!("{folder} is in use by another process: ")
    }
}

#[test]
fn a_session_that_a_server_will_dump_can_be_read_and_is_not_dumped_to() {
    let folder = Folder::in_memory();
    folder.write("payments.csv", PAYMENTS);
    folder.txn_engine("payments.csv --dump session").assert().success();
    folder.write("nothing.csv", HEADER);
    let server = Server::start_in(folder, "--load session");
    assert_eq!(server.connect().ask("deposit,3,10,1"), "ok");
    let words = in_use("session", server.running.pid());
    for typed in [
        "payments.csv --dump session",
        "async nothing.csv --load session --dump session",
        "nothing.csv --dump ./session/",
        "serve --addr 127.0.0.1:0 --load session --dump session",
    ] {
        let run = server.folder.txn_engine(typed).assert().code(2).stdout("");
        run.stderr(one_line()).stderr(predicates::str::contains(words.trim_start_matches("session")));
    }
    // What stands there is the session before the server's.
    server.folder.txn_engine("nothing.csv --load session").assert().success().stdout(ACCOUNTS);
    server.folder.txn_engine("nothing.csv --load session --dump other").assert().success();
    let ended = server.stop();
    assert_eq!(ended.session().accounts.len(), 3);
    ended.folder.txn_engine("nothing.csv --load session --dump session").assert().success();
}

#[test]
fn a_run_has_the_folder_from_its_start_to_its_end_however_it_ends() {
    let folder = Folder::in_memory();
    folder.write("payments.csv", PAYMENTS);
    folder.txn_engine("payments.csv --dump session").assert().success();
    for is_killed in [true, false] {
        let mut first = folder.spawn(GO_ON, Stdio::null());
        // The header is asked for after the folder is claimed. To look is to claim it for a moment: a run that comes in that moment is refused.
        let held = || {
            if first.0.try_wait().expect("it is our child").is_some() {
                first = folder.spawn(GO_ON, Stdio::null());
            }
            Session::claim(&folder.path("session"), |_| ()).is_err()
        };
        crate::wait_for("the first run to claim the folder", held);
        let mut second = txn_engine(GO_ON);
        second.current_dir(folder.path(""));
        assert_one_line(second, &[&in_use("session", first.pid())]);
        if is_killed {
            first.signal(Signal::SIGKILL);
            first.wait();
        } else {
            let stdin = first.0.stdin.as_mut().expect("it is piped");
            stdin.write_all(format!("{HEADER}deposit,7,7,7\n").as_bytes()).expect("it reads");
            assert_eq!(first.outcome().0, Some(0));
        }
        let clients = Session::read(&folder.path("session")).expect("it can be loaded").accounts.len();
        assert_eq!(clients, if is_killed { 2 } else { 3 });
    }
}

#[test]
fn of_many_runs_at_once_every_one_that_ends_well_is_in_the_session() {
    let folder = Folder::new();
    folder.write("nothing.csv", HEADER);
    folder.txn_engine("nothing.csv --dump session").assert().success();
    let mut right = 0;
    for round in 0..6 {
        let runs: Vec<Running> = (0..6)
            .map(|number| {
                let client = round * 6 + number;
                folder.write(&format!("{client}.csv"), clients(client..client + 1));
                folder.spawn(&format!("{client}.csv --load session --dump session"), Stdio::null())
            })
            .collect();
        let before = right;
        for (code, _, said) in runs.into_iter().map(Running::outcome) {
            right += usize::from(code == Some(0));
            let is_refused = code == Some(2) && said.lines().count() == 1 && said.contains("session is in use by ");
            assert!(is_refused || (code == Some(0) && said.is_empty()), "{code:?}: {said}");
        }
        assert!(right > before, "nobody is kept away by nobody");
        let session = Session::read(&folder.path("session")).expect("it can be loaded");
        assert_eq!(session.accounts.len(), right);
    }
}

#[test]
fn a_session_is_read_whole_while_others_are_dumped() {
    let folder = Folder::new();
    let path = folder.path("session");
    let session = |count: u16| {
        let accounts = (0..count).map(|client| (client, txn_engine::rules::Account::default())).collect();
        Session { accounts, ..Session::default() }
    };
    let dump = |count| session(count).dump(Session::claim(&path, |_| ()).expect("only one dumps")).expect("it can be");
    dump(1);
    thread::scope(|scope| {
        let dumping = scope.spawn(|| (2..60).for_each(dump));
        let mut seen = 1;
        while !dumping.is_finished() {
            let now = Session::read(&path).expect("a session stands there all the time").accounts.len();
            assert!(now >= seen, "it goes back from {seen} to {now}");
            seen = now;
        }
    });
}

#[test]
fn a_folder_that_is_gone_or_another_one_at_the_end_is_claimed_anew() {
    for is_replaced in [false, true] {
        let server = Server::start_in(Folder::in_memory(), "--mode tokio");
        assert_eq!(server.connect().ask("deposit,1,1,5"), "ok");
        fs::rename(server.folder.path("session"), server.folder.path("moved")).expect("it can be renamed");
        let other = is_replaced.then(|| Session::claim(&server.folder.path("session"), |_| ()).expect("it is new"));
        server.signal(Signal::SIGTERM);
        let ended = server.wait();
        if is_replaced {
            assert_eq!(ended.status.code(), Some(2));
            assert!(ended.stderr.contains(&in_use("session", std::process::id())), "{}", ended.stderr);
        } else {
            assert_eq!((ended.status.code(), ended.session().accounts.len()), (Some(0), 1), "{}", ended.stderr);
        }
        drop(other);
    }
}

#[test]
fn a_claim_ends_when_it_is_dropped() {
    let folder = Folder::new();
    let claim = || Session::claim(&folder.path("session"), |warning| panic!("{warning}"));
    let first = claim().expect("nobody has it");
    assert!(matches!(claim(), Err(Error::DumpInUse { .. })));
    drop(first);
    assert!(claim().is_ok());
}

#[cfg(unix)]
#[test]
fn the_files_of_a_dump_follow_the_umask() {
    use std::os::unix::fs::PermissionsExt as _;

    for (umask, mode) in [("002", 0o664), ("022", 0o644), ("077", 0o600)] {
        let folder = Folder::with("payments.csv", PAYMENTS);
        // The second one replaces the first.
        for _ in 0..2 {
            let mut command = crate::txn_engine_after(&format!("umask {umask}"), "payments.csv --dump session");
            command.current_dir(folder.path(""));
            assert_eq!(crate::run(command).0, Some(0));
        }
        let typed = Server::typed("--load session");
        let server = Server::start_command(folder, crate::txn_engine_after(&format!("umask {umask}"), &typed));
        let files = |folder: &Folder| {
            let files = fs::read_dir(folder.path("session")).expect("it can be listed");
            files
                .map(|file| {
                    file.expect("it can be listed").metadata().expect("it is there").permissions().mode() & 0o7777
                })
                .collect::<Vec<_>>()
        };
        assert_eq!(files(&server.folder), [mode], "{umask}");
        assert_eq!(files(&server.stop().folder), [mode], "{umask}");
    }
}
