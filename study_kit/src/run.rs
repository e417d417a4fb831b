//! `run`: one process, one sample of one test case, or two arms in turns, checked before it counts.

use anyhow::{Result, ensure};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::case::{self, TestCase};
use crate::cores::core_to_core_ns;
use crate::data;
use crate::original::Original;
use crate::record::{DuetPair, Metrics, Observation, Order, Record, Request};
use crate::study::Study;
use crate::usage::{kib, peak_rss_kib};

/// How much longer `ARM@slow` takes in a process of its own: twice the smallest margin judged in that form.
const PROCESS_HANDICAP: f64 = 1.10;

/// Runs the test case once. The record holds the sample, or why there is none.
pub fn run<S: Study>(request: &Request) -> Result<Record> {
    let scenario = case::find(S::SCENARIOS, &request.scenario)?;
    let case = |arm, handicap| TestCase::new(scenario, arm, handicap, request.seed);
    let result = match &request.versus {
        None => {
            let seconds = scenario.seconds(&request.arm)?;
            match Original::parse(S::ORIGINAL)?.arm(scenario.name, &request.arm) {
                Some(arm) => arm.observe(&data::description(S::NAME), &data::originals(S::NAME), seconds),
                None => S::observe(&case(&request.arm, PROCESS_HANDICAP)?),
            }
        }
        Some(versus) => {
            scenario.seconds(&format!("{}~{versus}", request.arm))?;
            duet::<S>(&case(&request.arm, S::DUET_HANDICAP)?, &case(versus, S::DUET_HANDICAP)?, request.block)
        }
    };
    let result = result.map(|mut observation| {
        // After the work: before it, the second core would be awake when the span begins.
        observation.metrics.put("core_to_core_p50_ns", core_to_core_ns());
        // Checking the answer takes memory, too: GNU time sees the largest peak of the processes that it has waited for. The kernel counts
        // pages per processor and adds them up late, so that a later reading of a peak may be lower; a peak is not.
        let whole = peak_rss_kib().max(observation.child_peak_kib).map(kib);
        let peak = whole.into_iter().chain(observation.metrics.get("peak_rss_kib")).reduce(f64::max);
        observation.metrics.put("process_peak_rss_kib", peak);
        observation
    });
    Ok(Record::new(S::NAME, request, result))
}

/// Alternates two arms in one process.
fn duet<S: Study>(a: &TestCase<'_, S::Setting>, b: &TestCase<'_, S::Setting>, block: u64) -> Result<Observation> {
    let (mut a_turns, mut b_turns) = (S::turns(a)?, S::turns(b)?);
    // Once unrecorded: the first turn pays for code and memory that later ones find ready.
    let (first, second) = (a_turns()?, b_turns()?);
    ensure!(first.digest == second.digest, "wrong answer: {} and {} came to different ones", a.arm, b.arm);
    let digest = first.digest;
    let mut sides = [(a_turns, Metrics::default()), (b_turns, Metrics::default())];
    let count = S::pairs(a.setting, a.arm);
    let mut pairs = Vec::with_capacity(count);
    for order in orders(a.seed, block, count) {
        let mut seconds = [0.0; 2];
        for side in if order == Order::Ab { [0, 1] } else { [1, 0] } {
            let (turns, metrics) = &mut sides[side];
            let turn = turns()?;
            ensure!(turn.digest == digest, "wrong answer: not the one of the turn before");
            (seconds[side], *metrics) = (turn.seconds, turn.metrics);
        }
        pairs.push(DuetPair { order, a_s: seconds[0], b_s: seconds[1] });
    }
    let [(_, mut metrics), (_, versus)] = sides;
    metrics.extend(versus.into_iter().map(|(name, value)| (format!("versus_{name}"), value)));
    metrics.put("peak_rss_kib", peak_rss_kib().map(kib));
    Ok(Observation { pairs: Some(pairs), ..Observation::new(digest, metrics) })
}

/// The arm that goes first in each alternation, drawn from seed and block. Both orders occur equally often; of an odd number, either may occur once more.
fn orders(seed: u64, block: u64, pairs: usize) -> Vec<Order> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed.wrapping_mul(1_000_003).wrapping_add(block));
    let mut orders =
        [[Order::Ab, Order::Ba], [Order::Ba, Order::Ab]][usize::from(rng.random::<bool>())].repeat(pairs.div_ceil(2));
    orders.truncate(pairs);
    orders.shuffle(&mut rng);
    orders
}
