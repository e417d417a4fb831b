//! What is compared: scenarios with their arms, and what serves an arm.

use std::time::Duration;

use flight_batches::load::Extent;
use flight_batches::produce::Mode;
use flight_batches::service::Encoding;
use study_kit::price::Table;
use study_kit::{Scenario, always, full, measured, originals};

use crate::prices;

/// What serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// Our server: who waits for a batch, how many are worked on ahead, how they become messages.
    Ours(Mode, &'static str, Encoding),
    /// pyarrow's server, which is C++ as long as there is no delay.
    Pyarrow,
    /// No Flight at all: TCP.
    Loopback,
}

use Setting::{Price, Requests};
use Subject::{Loopback, Ours, Pyarrow};

pub const POOL_THREADS: usize = 8;

/// Every arm by name.
pub const ARMS: &[(&str, Subject)] = &[
    // As published: the async server fills a queue without bound ahead of the sender, the sync one sleeps when it is asked.
    ("async", Ours(Mode::Async, "all", Encoding::Stock)),
    ("sync", Ours(Mode::Sync, "0", Encoding::Stock)),
    ("sync_prefetch", Ours(Mode::Sync, "all", Encoding::Stock)),
    ("async_p0", Ours(Mode::Async, "0", Encoding::Stock)),
    ("async_p1", Ours(Mode::Async, "1", Encoding::Stock)),
    ("sync_p1", Ours(Mode::Sync, "1", Encoding::Stock)),
    ("pool_p1", Ours(Mode::Pool, "1", Encoding::Stock)),
    ("spawn_blocking", Ours(Mode::SpawnBlocking, "0", Encoding::Stock)),
    ("stock", Ours(Mode::Async, "1", Encoding::Stock)),
    ("best_anew", Ours(Mode::Async, "1", Encoding::Direct)),
    ("shared", Ours(Mode::Async, "1", Encoding::Shared)),
    ("pyarrow", Pyarrow),
    ("loopback", Loopback),
];

#[derive(Debug)]
pub enum Setting {
    /// Requests to a server in a process of its own.
    Requests(Flight),
    Price(Table),
}

/// What every request asks for, and how many there are at once.
#[derive(Debug)]
pub struct Flight {
    /// What each batch takes to come, in microseconds.
    pub delay_us: u32,
    pub rows: usize,
    pub requests: usize,
    /// Batches of a request, which goes through the table as often as that takes; the table once without it.
    pub batches: Option<usize>,
    pub extent: Extent,
    pub table_rows: usize,
    pub columns: usize,
    /// Over what the streams' first requests are spread.
    pub spread: Duration,
    /// What the client does with an answer.
    pub answer: Answer,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// A message is dropped once it is checked.
    Dropped,
    /// It is kept to its end, in memory that nobody had before.
    Fresh,
    /// It is kept to its end, in memory that an answer before has left.
    Reused,
}

/// Of the published table's million a part that is larger than a processor's caches. Requests go through it over and over: servers that write all of it
/// first would take longer to start than many a request to end.
const ENOUGH_ROWS: usize = 200_000;

/// Requests in a window, each for as many batches as the whole published table has: `d10_r5k_c1000` is 10 ms per batch, batches of 5,000 rows, 1,000 requests.
const fn window(delay_ms: u32, rows: usize, requests: usize) -> Flight {
    let saturated = requests >= 100 && rows * requests / delay_ms as usize >= 4_000;
    // A whole number of every delay, so that a stream which keeps up brings as many batches wherever its window begins; longer where two cores
    // cannot keep up, so that each of many streams has its turn.
    let window = Duration::from_millis(match requests {
        _ if !saturated => 300,
        ..=100 => 400,
        _ => 900,
    });
    let extent = Extent::Window { warm_up: Duration::ZERO, window };
    let (spread, answer) = (Duration::ZERO, Answer::Dropped);
    let (batches, table_rows, columns) = match requests {
        1_000.. if saturated => (None, 1_000_000, 50),
        _ => (Some(1_000_000 / rows), ENOUGH_ROWS, 50),
    };
    Flight { delay_us: delay_ms * 1000, rows, requests, batches, extent, table_rows, columns, spread, answer }
}

/// Requests of so many batches to their end.
const fn whole(delay_us: u32, rows: usize, requests: usize, batches: usize) -> Flight {
    let table_rows = if rows * batches < ENOUGH_ROWS { rows * batches } else { ENOUGH_ROWS };
    Flight { batches: Some(batches), table_rows, extent: Extent::Whole, delay_us, ..window(1, rows, requests) }
}

/// What the original's generator sent, whatever it was told: one request, whose answer it reads into a table. Before each it sends one without a
/// delay, and it has sent others before, so that the memory for the table is there.
const fn single(delay_us: u32, rows: usize, batches: usize) -> Flight {
    Flight { answer: Answer::Reused, ..whole(delay_us, rows, 1, batches) }
}

/// As fast as it goes: so many batches as pyarrow repeats the table without Python, and one that is quickly written to a file for it.
const fn no_delay(requests: usize) -> Flight {
    let extent = Extent::Window { warm_up: Duration::from_millis(100), window: Duration::from_secs(1) };
    Flight { batches: Some(25_000), table_rows: 250_000, extent, ..window(0, 10_000, requests) }
}

/// So many requests at once, for the map. Each is soon over and followed by the next, so that a request that waits for a thread gets one; batches
/// are so small that the processor keeps up. The window is of two delays.
const fn at_once(requests: usize) -> Flight {
    let extent = Extent::Window { warm_up: Duration::ZERO, window: Duration::from_millis(200) };
    let (batches, spread) = (Some(3), Duration::from_millis(100));
    Flight { batches, extent, table_rows: 1_000, columns: 5, spread, ..window(100, 10, requests) }
}

/// Every scenario. Seconds are those of a run on EPYC 25/1, the server's start and end included; the arms of full alone have those of EPYC 26/2.
#[rustfmt::skip] // a row per line
pub const SCENARIOS: &[Scenario<Setting>] = &[
    // The published cells at as many streams as get a batch within the window, in duets.
    Scenario::new("d1_r10k_c100", Requests(window(1, 10_000, 100)), &[always(7.2, "sync_p1~async_p1")]),
    Scenario::new("d10_r5k_c100", Requests(window(10, 5_000, 100)), &[measured(5.5, "sync_p1~async_p1")]),
    Scenario::new("d100_r100_c1000", Requests(window(100, 100, 1_000)), &[measured(3.6, "sync_p1~async_p1")]),
    Scenario::new("d1_r10k_c10", Requests(window(1, 10_000, 10)), &[measured(2.0, "sync_p1~async_p1 sync_p1~sync_p1@aa")]),
    Scenario::new("d10_r10k_c10", Requests(window(10, 10_000, 10)), &[full(2.7, "sync_p1~async_p1")]),
    Scenario::new("d100_r10k_c10", Requests(window(100, 10_000, 10)), &[measured(2.4, "sync_p1~async_p1")]),
    Scenario::new("d1_r1k_c10", Requests(window(1, 1_000, 10)), &[measured(1.65, "sync_p1~async_p1")]),
    Scenario::new("d10_r1k_c10", Requests(window(10, 1_000, 10)), &[measured(1.55, "sync_p1~async_p1")]),
    Scenario::new("d1_r1k_c1000", Requests(window(1, 1_000, 1_000)), &[full(17.0, "sync_p1~async_p1")]),
    // And at the published ones.
    Scenario::new("d1_r10k_c1000", Requests(window(1, 10_000, 1_000)), &[full(10.0, "async sync async_p1 sync_p1 sync_p1@aa")]),
    Scenario::new("d10_r1k_c1000", Requests(window(10, 1_000, 1_000)), &[full(2.3, "async_p1 sync_p1")]),
    Scenario::new("d10_r5k_c1000", Requests(window(10, 5_000, 1_000)), &[full(6.0, "async sync async_p1 sync_p1 sync_p1@aa")]),
    Scenario::new("d10_r10k_c1000", Requests(window(10, 10_000, 1_000)), &[full(10.0, "async_p1 sync_p1")]),
    Scenario::new("d100_r1k_c1000", Requests(window(100, 1_000, 1_000)), &[full(3.3, "async sync async_p1 sync_p1 sync_p1@aa")]),
    Scenario::new("d1_r10k_c2000", Requests(window(1, 10_000, 2_000)), &[full(18.0, "async sync async_p1 sync_p1")]),
    // One request.
    Scenario::new("one_d1_r10k", Requests(single(1_000, 10_000, 100)), &[always(0.65, "async sync sync_prefetch"), measured(3.3, "sync~async sync~sync_prefetch"), originals(0.8, "async sync"), originals(6.5, "original_async original_sync original_async_select")]),
    Scenario::new("one_d1_r10k_fresh", Requests(Flight { answer: Answer::Fresh, ..whole(1_000, 10_000, 1, 100) }), &[measured(1.0, "async sync")]),
    Scenario::new("one_d1_r1k", Requests(single(1_000, 1_000, 100)), &[measured(0.25, "async sync"), measured(0.9, "sync~async")]),
    Scenario::new("one_d10_r5k", Requests(single(10_000, 5_000, 25)), &[measured(0.4, "async sync sync@aa sync@slow sync_prefetch"), originals(0.73, "async sync"), originals(6.0, "original_async original_sync original_async_select")]),
    Scenario::new("one_d10_r1k", Requests(single(10_000, 1_000, 25)), &[measured(0.32, "async sync")]),
    Scenario::new("one_d10_r10k", Requests(single(10_000, 10_000, 25)), &[measured(0.76, "async sync"), full(2.0, "sync~async")]),
    Scenario::new("one_d100_r1k", Requests(single(100_000, 1_000, 5)), &[measured(0.55, "async sync"), originals(0.7, "async sync"), originals(106.0, "original_async original_sync")]),
    Scenario::new("one_d100_r10k", Requests(single(100_000, 10_000, 5)), &[measured(0.6, "async sync"), measured(2.3, "sync~async")]),
    // Requests to their end, below saturation and far beyond it.
    Scenario::new("short_10ms", Requests(whole(10_000, 1_000, 20, 20)), &[measured(0.26, "async sync async_p1 sync_p1 sync_p1@aa")]),
    Scenario::new("short_1ms", Requests(whole(1_000, 1_000, 200, 20)), &[measured(1.4, "async_p1 sync_p1 sync_p1@aa")]),
    Scenario::new("pool_model", Requests(whole(10_000, 1_000, 40, 20)), &[always(0.65, "pool_p1")]),
    Scenario::new("below_10ms", Requests(whole(10_000, 1_000, 10, 50)), &[measured(0.95, "async_p1 sync_p1")]),
    Scenario::new("nodelay_c4", Requests(no_delay(4)), &[always(1.6, "stock best_anew shared pyarrow loopback")]),
    // The map.
    Scenario::new("map_1", Requests(at_once(1)), &[always(0.44, "async_p0 sync spawn_blocking")]),
    Scenario::new("map_100", Requests(at_once(100)), &[full(0.55, "async_p0 sync spawn_blocking")]),
    Scenario::new("map_200", Requests(at_once(200)), &[measured(0.55, "async_p0 sync spawn_blocking")]),
    Scenario::new("map_500", Requests(at_once(500)), &[measured(0.57, "async_p0 sync spawn_blocking")]),
    Scenario::new("map_700", Requests(at_once(700)), &[full(0.7, "async_p0 sync spawn_blocking")]),
    Scenario::new("map_1000", Requests(at_once(1_000)), &[measured(0.72, "async_p0 sync spawn_blocking")]),
    Scenario::new("map_2000", Requests(at_once(2_000)), &[full(1.05, "async_p0 sync spawn_blocking")]),
    Scenario::new("price_wake_socket", Price(prices::WAKE_SOCKET), &[always(0.25, "thread tokio tokio_current tokio_outside")]),
    Scenario::new("price_timer_1ms", Price(prices::TIMER_1MS), &[always(0.25, "thread tokio thread_100 tokio_100")]),
    Scenario::new("price_waiting_memory", Price(prices::WAITING_MEMORY), &[always(0.15, "thread task thread_connection task_connection")]),
];

impl Flight {
    /// What the delay alone would allow `subject`, in MB/s; nothing without a delay.
    pub fn ideal_mb_per_s(&self, subject: Subject, batch_bytes: usize) -> Option<f64> {
        let most = if matches!(subject, Ours(Mode::Pool, ..)) { POOL_THREADS } else { usize::MAX };
        let bytes = (self.requests.min(most) * batch_bytes) as f64;
        (self.delay_us > 0).then(|| bytes / f64::from(self.delay_us))
    }
}

#[cfg(test)]
mod tests {
    use study_kit::price::find;
    use study_kit::{Profile, case};

    use super::*;

    #[test]
    fn every_arm_of_every_scenario_is_served() {
        for scenario in SCENARIOS.iter().filter(|scenario| matches!(scenario.setting, Requests(_))) {
            let arms = [Profile::Quick, Profile::Full].into_iter().flat_map(|profile| scenario.arms_in(profile));
            for arm in arms.flat_map(|(arm, _)| arm.split('~')).filter(|arm| !arm.starts_with("original_")) {
                find(ARMS, arm.split('@').next().unwrap()).unwrap();
            }
        }
    }

    #[test]
    fn a_window_is_a_whole_number_of_delays() {
        for scenario in SCENARIOS {
            if let Requests(Flight { delay_us: delay_us @ 1.., extent: Extent::Window { window, .. }, .. }) =
                scenario.setting
            {
                assert_eq!(window.as_micros() % u128::from(delay_us), 0, "{}", scenario.name);
            }
        }
    }

    #[test]
    fn the_ideal_of_a_pool_is_that_of_its_threads() {
        let Requests(model) = &case::find(SCENARIOS, "pool_model").unwrap().setting else { panic!("no requests") };
        let ideal = |arm| model.ideal_mb_per_s(find(ARMS, arm).unwrap(), 400_000);
        assert_eq!((ideal("sync"), ideal("pool_p1")), (Some(1600.0), Some(320.0)));
    }
}
