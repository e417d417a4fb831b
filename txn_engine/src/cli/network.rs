//! The commands that serve and load over TCP, and their relative without sockets.

use std::io;
use std::sync::Arc;
use std::thread;

use anyhow::{Context, Error, anyhow, bail};
use serde_json::{Value, json};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::args::{ClientsArgs, LoadArgs, ServeArgs};
use super::claim;
use super::terminal::{complain, print, stream};
use crate::clients::{self, Spawn};
use crate::serve::{Mode, Server};
use crate::session::Session;
use crate::{accounts, limits, usage};

/// The rows of all clients of a process are there before the first is applied: some GiB.
const MOST_ROWS: usize = 100_000_000;

pub(super) fn serve(args: &ServeArgs) -> Result<bool, Error> {
    // Asked for before anything can come that one would want to stop.
    let mut signals = Signals::new([SIGINT, SIGTERM]).context("cannot listen to signals")?;
    // After nohup the end of a terminal is no reason to end.
    if usage::of_this_process().is_none_or(|process| process.ignored >> (SIGHUP - 1) & 1 == 0) {
        signals.add_signal(SIGHUP).context("cannot listen to signals")?;
    }
    if args.options.mode == Mode::Null && (args.load.is_some() || args.dump.is_some()) {
        bail!("the mode null keeps no accounts: leave out --load and --dump");
    }
    // A folder that cannot take the state is said so now, not when there is something to lose.
    let claim = args.dump.as_deref().map(claim).transpose()?;
    let session = args.load.as_deref().map(Session::read).transpose()?.unwrap_or_default();
    let server = Server::start(&args.options, session)?;
    print(&format!("listening on {}", server.address))?;
    if args.until_stdin_closes {
        let signals = signals.handle();
        thread::spawn(move || {
            // What is typed means nothing; an input that cannot be read is closed.
            let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
            signals.close();
        });
    }
    signals.forever().next();
    // A second signal ends the program at once, as it would any other. SIGHUP may come twice for one terminal that is closed.
    for signal in [SIGINT, SIGTERM] {
        // Without it the program only cannot be ended sooner.
        let _ = signal_hook::flag::register_conditional_default(signal, Arc::new(true.into()));
    }
    let open = server.stats().open;
    if open > 0 && !args.until_stdin_closes {
        complain(&anyhow!("finishing {open} connections, interrupt again to end at once"));
    }
    let session = server.drain(args.grace);
    let Some(claim) = claim else { return Ok(true) };
    let dumped = session.dump(claim);
    if dumped.is_err() {
        // The balances at least are not lost; whether anybody reads them is not what went wrong.
        let _ = stream(|out| accounts::write_csv(&session.accounts, out));
    }
    dumped?;
    Ok(true)
}

pub(super) fn load(args: &LoadArgs) -> Result<bool, Error> {
    let load = &args.load;
    let answers = load.run(|| ())?;
    let mut line = json!(answers);
    line["clients"] = load.clients.into();
    line["rate_per_s"] = load.rate.into();
    print_json(&line, args.json)?;
    Ok(answers.failed == 0 && answers.refused == 0 && answers.unserved == 0)
}

pub(super) fn clients(args: &ClientsArgs) -> Result<bool, Error> {
    if args.clients.saturating_mul(args.rows) > MOST_ROWS {
        bail!("{} clients of {} rows are too many: {MOST_ROWS} rows in all", args.clients, args.rows);
    }
    if args.spawn == Spawn::Threads && !args.force {
        limits::expect_threads(args.clients)?;
    }
    let pass = clients::run(args.spawn, args.clients, args.rows, args.seed)?;
    print_json(&json!(pass), args.json)
}

/// In one line for programs, or for people.
fn print_json(value: &Value, in_one_line: bool) -> Result<bool, Error> {
    print(&if in_one_line { value.to_string() } else { format!("{value:#}") })
}
