//! Parts of the kit that studies call by themselves: spans, prices, servers, the probe.

use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::Result;
use study_kit::price::{observe, observe_answers, observe_by, share};
use study_kit::server::Server;
use study_kit::{Span, probe};

#[test]
fn a_span_counts_what_the_process_did() {
    let span = Span::start();
    let block = vec![1_u8; 64 << 20];
    std::hint::black_box(&block);
    let metrics = span.end().metrics();
    let figure = |name| metrics.get(name).unwrap();
    assert!(figure("work_s") > 0.0);
    assert!(figure("user_s") + figure("system_s") <= figure("cpu_s") + 1e-9);
    if cfg!(target_os = "linux") {
        assert!(figure("minor_faults_count") >= 1.0);
        assert!(figure("peak_rss_kib") >= 64.0 * 1024.0);
    }
}

#[test]
fn what_comes_in_steps_is_asked_for_and_counted_in_steps() {
    let observation = observe_by(64, |count| {
        assert_eq!(count % 64, 0);
        thread::sleep(Duration::from_millis(count / 64));
        Ok(())
    });
    let counted = observation.unwrap().metrics.get("handoffs_count").unwrap();
    assert!(counted % 64.0 < 0.5, "{counted}");
    assert!(observe(|_| anyhow::bail!("the channel is closed")).is_err());
}

#[test]
fn a_handoff_of_a_millisecond_is_no_shorter_and_all_are_counted() {
    let mut made = 0;
    let observation = observe(|count| {
        made += count;
        (0..count).for_each(|_| thread::sleep(Duration::from_millis(1)));
        Ok(())
    });
    let metrics = observation.unwrap().metrics;
    assert!(metrics.get("handoff_ns").unwrap() >= 1e6);
    let counted = metrics.get("handoffs_count").unwrap();
    let timed_s = metrics.get("work_s").unwrap();
    assert!(counted < made as f64, "the calls that calibrate are not timed");
    assert!((metrics.get("handoff_ns").unwrap() * counted / 1e9 - timed_s).abs() < 1e-9);
}

#[test]
fn an_answer_that_is_lost_is_an_error() {
    assert!(observe_answers(64, |count| Ok((1..=count).map(std::hint::black_box).sum())).is_ok());
    let error = observe_answers(64, |count| Ok((1..count).sum())).unwrap_err().to_string();
    assert!(error.starts_with("wrong answer: "), "{error}");
}

#[test]
fn all_handoffs_are_shared_out() {
    assert_eq!((0..3).map(|caller| share(8, 3, caller)).collect::<Vec<_>>(), [3, 3, 2]);
}

fn shell(script: &str) -> Result<Server> {
    Server::start(Path::new("/bin/sh"), ["-c", script])
}

#[test]
fn a_server_ends_when_it_is_told_to_and_what_it_says_instead_is_passed_on() {
    let server = shell("echo listening on 127.0.0.1:1; cat").unwrap();
    assert_eq!(server.address(), "127.0.0.1:1");
    server.stop().unwrap();
    let error = shell("echo the port is taken >&2; exit 2").err().unwrap();
    assert_eq!(error.to_string(), "/bin/sh did not say where it listens: the port is taken");
    let server = shell("echo listening on x; cat; echo the disk is full >&2; exit 3").unwrap();
    let error = server.stop().unwrap_err().to_string();
    assert!(error.contains("exit status: 3") && error.ends_with("the disk is full"), "{error}");
}

#[test]
fn each_line_is_a_fact_with_a_figure() {
    let facts = probe::facts().unwrap();
    let names = "cpu_count core_count probe_arithmetic_ns probe_memory_mb_per_s probe_switch_us probe_hop_us";
    assert_eq!(facts.lines().count(), names.split(' ').count());
    for (line, name) in facts.lines().zip(names.split(' ')) {
        let [found, figure, reason] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("no fact: {line:?}") };
        assert_eq!(found, name);
        // In a container the kernel may not tell the cores.
        if figure.is_empty() {
            assert!(name == "core_count" && !reason.is_empty(), "{line}");
        } else {
            assert!(figure.parse::<f64>().unwrap() > 0.0 && reason.is_empty(), "{line}");
        }
    }
}
