//! The commands that serve and load over TCP, and their relative without sockets.

use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Error, bail};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};

use study_kit::distribution::Distribution;
use study_kit::output::{self, print, stream};
use txn_engine::engine::Engine;
use txn_engine::load::{Load, Outcome, Stage};
use txn_engine::serve::{self, Mode, Server};
use txn_engine::session::Session;
use txn_engine::{accounts, clients};

use crate::cli::{ClientsArgs, LoadArgs, ServeArgs};

/// Serves until told to stop, then drains.
pub fn serve(args: &ServeArgs) -> Result<(), Error> {
    // Asked for before anything can come that one would want to stop.
    let mut signals = Signals::new([SIGINT, SIGTERM]).context("cannot listen to signals")?;
    if args.mode == Mode::Null && (args.load.is_some() || args.dump.is_some()) {
        bail!("the mode null keeps no accounts: leave out --load and --dump");
    }
    let session = args.load.as_deref().map(Session::load).transpose()?.unwrap_or_default();
    // A folder that cannot take the state is said so now, not when there is something to lose.
    args.dump.as_deref().map_or(Ok(()), Session::expect_dump)?;
    let options = serve::Options {
        mode: args.mode,
        address: args.addr,
        pool: args.pool,
        most_connections: args.most_connections,
    };
    let server = Server::start(&options, session)?;
    print(&format!("listening on {}\n", server.address()))?;
    if args.until_stdin_closes {
        stop_when_stdin_closes(signals.handle());
    }
    signals.forever().next();
    // A second signal ends the program at once, as it would any other.
    for signal in [SIGINT, SIGTERM] {
        // Without it the program only cannot be ended sooner.
        let _ = signal_hook::flag::register_conditional_default(signal, Arc::new(true.into()));
    }
    let open = server.stats().open;
    if open > 0 && !args.until_stdin_closes {
        eprintln!("txn_engine: finishing {open} connections, interrupt again to end at once");
    }
    let session = server.drain(args.grace);
    let Some(dir) = &args.dump else { return Ok(()) };
    let dumped = session.dump(dir);
    if dumped.is_err() {
        // The balances at least are not lost; whether anybody reads them is not what went wrong.
        let _ = stream(|out| accounts::write_csv(&session.accounts, out).context("cannot write the accounts"));
    }
    dumped.map_err(Error::from)
}

fn stop_when_stdin_closes(signals: Handle) {
    thread::spawn(move || {
        // What is typed means nothing; an input that cannot be read is closed.
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        signals.close();
    });
}

/// Puts load on a server.
pub fn load(args: &LoadArgs) -> Result<ExitCode, Error> {
    let load = Load {
        address: args.addr,
        clients: args.clients,
        rate: args.rate,
        duration: args.duration,
        warm_up: args.warm_up,
        arrivals: args.arrivals,
        seed: args.seed,
        first_tx: args.first_tx,
        patience: args.patience,
    };
    let progress = Progress::start(args.warm_up + args.duration);
    let outcome = load.run_and_tell(|stage| progress.tell(stage));
    progress.end();
    let outcome = outcome?;
    let text = if args.json { as_json(&load, &outcome).to_string() } else { as_text(&load, &outcome) };
    print(&(text + "\n"))?;
    Ok(output::code(outcome.failed == 0 && outcome.refused == 0 && outcome.unserved == 0))
}

/// The document's example.
pub fn clients(args: &ClientsArgs) -> Result<(), Error> {
    let rows = clients::rows(args.clients, args.rows, args.seed);
    let engine = Arc::new(Engine::default());
    let outcome = clients::run(args.kind, &engine, &rows)?;
    let there = serde_json::to_value(&outcome.there)?;
    let end = serde_json::to_value(serve::Stats::of_this_process())?;
    let digest = txn_engine::study::inputs::digest(&accounts::to_csv(&engine.accounts()));
    let line = json!({
        "whole_s": outcome.whole.as_secs_f64(),
        "start_s": outcome.start.as_secs_f64(),
        "work_s": outcome.work.as_secs_f64(),
        "accepted": outcome.accepted,
        "digest": digest,
        "there": there,
        "end": end,
    });
    Ok(print(&format!("{line}\n"))?)
}

fn as_text(load: &Load, outcome: &Outcome) -> String {
    let served = load.clients as u64 - outcome.refused - outcome.unserved;
    let mut lines = vec![
        format!(
            "{served} of {} connections served after {:.2} s, {} refused, {} not answered{}",
            load.clients,
            outcome.connecting.as_secs_f64(),
            outcome.refused,
            outcome.unserved,
            outcome.refusal.as_ref().map_or(String::new(), |refusal| format!(" (busy: {refusal})")),
        ),
        format!(
            "{} rows at {} per second: {} ok, {} rejected, {} failed",
            outcome.rows, load.rate, outcome.accepted, outcome.rejected, outcome.failed
        ),
    ];
    let times = [
        ("answer, from when the row was due", &outcome.response),
        ("answer, from when it was sent", &outcome.service),
        ("sent late", &outcome.lateness),
    ];
    lines.extend(times.map(|(name, times)| {
        let ms = |share| times.quantile(share).unwrap_or_default().as_secs_f64() * 1e3;
        format!(
            "{name}, ms: p50 {:.3}, p99 {:.3}, p99.9 {:.3}, longest {:.3}",
            ms(0.5),
            ms(0.99),
            ms(0.999),
            times.max().unwrap_or_default().as_secs_f64() * 1e3
        )
    }));
    lines.join("\n")
}

fn as_json(load: &Load, outcome: &Outcome) -> serde_json::Value {
    let times = |times: &Distribution| {
        let ms = |time: Option<Duration>| time.map(|time| time.as_secs_f64() * 1e3);
        json!({
            "p50_ms": ms(times.quantile(0.5)),
            "p99_ms": ms(times.quantile(0.99)),
            "p999_ms": ms(times.quantile(0.999)),
            "max_ms": ms(times.max()),
            "mean_ms": ms(times.mean()),
        })
    };
    json!({
        "clients": load.clients,
        "rate_per_s": load.rate,
        "connecting_s": outcome.connecting.as_secs_f64(),
        "refused": outcome.refused,
        "refusal": outcome.refusal,
        "unserved": outcome.unserved,
        "rows": outcome.rows,
        "accepted": outcome.accepted,
        "rejected": outcome.rejected,
        "failed": outcome.failed,
        "response": times(&outcome.response),
        "service": times(&outcome.service),
        "lateness": times(&outcome.lateness),
    })
}

/// A bar on a terminal: first the connections, then the time.
struct Progress(ProgressBar);

impl Progress {
    fn start(length: Duration) -> Self {
        let bar = ProgressBar::new(u64::try_from(length.as_millis()).unwrap_or(u64::MAX));
        // The template is a constant.
        let style = ProgressStyle::with_template("{msg} {bar:40} {eta} left").unwrap_or(ProgressStyle::default_bar());
        bar.set_style(style);
        bar.set_message("connecting");
        Progress(bar)
    }

    fn tell(&self, stage: Stage) {
        match stage {
            Stage::Connected => {
                self.0.set_message("sending");
                self.0.reset();
                let (bar, start) = (self.0.clone(), std::time::Instant::now());
                thread::spawn(move || {
                    while !bar.is_finished() {
                        bar.set_position(u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX));
                        thread::sleep(Duration::from_millis(200));
                    }
                });
            }
            Stage::Answered => self.0.finish_and_clear(),
        }
    }

    fn end(&self) {
        self.0.finish_and_clear();
    }
}
