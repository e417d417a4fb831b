//! The rules on simulated measurements whose truth is known: how often they err, what they find, and how often an interval misses.
//!
//! A rate is held against its promise by a binomial test that fails by chance once in 10,000 times, and all seeds are fixed. `cargo test
//! --release -p report --test simulation -- --ignored --nocapture` runs everything at length and prints how many blocks find what.

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use report::claims::map::When;
use report::claims::rules::{self, ControlState, Direction, Each, Verdict};
use report::folder::dataset::CORE_TO_CORE;
use report::judge::maps::crossed;
use report::stats::signed_rank::{p_value_below, p_value_beyond};
use report::stats::{
    CONFIDENCE, Interval, PLANTED_CONFIDENCE, binomial, estimate, floor, holm, layout, median, median_estimate, share,
    slope,
};

mod numbers;
mod samples;

use numbers::{interval, values};
use samples::{RATIO, Samples};

const MARGIN: f64 = 0.05;
const DUET_MARGIN: f64 = 0.02;
/// The most that "holds" and "opposite" may be said together where there is no effect.
const FALSE: f64 = 0.01;

/// How much is tried.
#[derive(Debug, Clone, Copy)]
struct Effort {
    trials: usize,
    blocks: &'static [usize],
    /// Noise of whole processes.
    sds: &'static [f64],
}

const SHORT: Effort = Effort { trials: 100, blocks: &[6, 12, 24], sds: &[0.05] };
const LONG: Effort = Effort { trials: 4_000, blocks: &[6, 8, 12, 18, 24, 30], sds: &[0.02, 0.05, 0.16] };

/// What disturbs a run, in units of its scale.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Noise {
    Normal,
    /// Exponential: nothing is ever faster than it can be.
    OneSided,
    /// Student's t with two degrees of freedom, which has no variance.
    HeavyTailed,
    /// A neighbour takes time from a fifth of the runs, several in a row.
    Bursts,
    /// Normal, read from a clock whose step is half as large as the noise.
    Ties,
}

const NOISES: [Noise; 5] = [Noise::Normal, Noise::OneSided, Noise::HeavyTailed, Noise::Bursts, Noise::Ties];

#[derive(Debug, Clone, Copy)]
struct Machine {
    noise: Noise,
    /// Of the log ratio of two neighbouring runs; their scale where there is no standard deviation.
    sd: f64,
    layouts: u64,
    /// Of an arm's log time, from layout to layout.
    layout_sd: f64,
}

const fn plain(noise: Noise, sd: f64) -> Machine {
    Machine { noise, sd, layouts: 1, layout_sd: 0.0 }
}

/// Log times by arm and block; the last arm is the twin of the one before.
struct Round {
    layouts: Vec<u64>,
    logs: Vec<Vec<f64>>,
    /// What the layouts that were used add to each arm on average.
    placed: Vec<f64>,
}

impl Round {
    /// Layouts and log ratios of two arms.
    fn ratios(&self, a: usize, b: usize) -> Vec<(u64, f64)> {
        let ratios = self.logs[a].iter().zip(&self.logs[b]).map(|(a, b)| a - b);
        self.layouts.iter().copied().zip(ratios).collect()
    }
}

fn normal(rng: &mut ChaCha8Rng) -> f64 {
    (2.0 * exponential(rng)).sqrt() * (std::f64::consts::TAU * rng.random::<f64>()).cos()
}

fn exponential(rng: &mut ChaCha8Rng) -> f64 {
    // Never the logarithm of zero.
    -(1.0 - rng.random::<f64>()).ln()
}

impl Machine {
    fn run(self, rng: &mut ChaCha8Rng, log: f64, is_burst: &mut bool) -> f64 {
        let scale = self.sd / std::f64::consts::SQRT_2;
        *is_burst = if *is_burst { rng.random_bool(0.8) } else { rng.random_bool(0.05) };
        match self.noise {
            Noise::OneSided => log + scale * exponential(rng),
            Noise::HeavyTailed => log + scale * normal(rng) / exponential(rng).sqrt(),
            Noise::Bursts if *is_burst => log + scale * (normal(rng) + 5.0 * exponential(rng)),
            Noise::Normal | Noise::Bursts => log + scale * normal(rng),
            Noise::Ties => (2.0 * (log / scale + normal(rng))).round() * scale / 2.0,
        }
    }

    /// `n` blocks of arms with these effects on the log time, and of a twin of the last that runs `shift` layouts further on.
    fn round(self, rng: &mut ChaCha8Rng, n: usize, effects: &[f64], shift: u64) -> Round {
        let layout = |block: u64| usize::try_from(block % self.layouts).expect("few layouts");
        let mut of_layouts = || (0..self.layouts).map(|_| self.layout_sd * normal(rng)).collect();
        let placed: Vec<Vec<f64>> = effects.iter().map(|_| of_layouts()).collect();
        let mut order: Vec<usize> = (0..=effects.len()).collect();
        let mut logs = vec![vec![0.0; n]; order.len()];
        let mut is_burst = rng.random_bool(0.2);
        for block in 0..n {
            order.shuffle(rng);
            for &arm in &order {
                let (code, shift) = if arm == effects.len() { (arm - 1, shift) } else { (arm, 0) };
                let log = effects[code] + placed[code][layout(block as u64 + shift)];
                logs[arm][block] = self.run(rng, log, &mut is_burst);
            }
        }
        let layouts: Vec<u64> = (0..n as u64).map(|block| block % self.layouts).collect();
        let mean = |of: &Vec<f64>| layouts.iter().map(|block| of[layout(*block)]).sum::<f64>() / n as f64;
        Round { placed: placed.iter().map(mean).collect(), layouts, logs }
    }
}

fn ratio_of(log_ratios: &[f64], confidence: f64) -> Interval {
    let found = estimate(log_ratios, confidence).expect("there are pairs");
    Interval { point: found.point.exp(), lo: found.lo.exp(), hi: found.hi.exp(), ..found }
}

/// The verdict of a ratio. The floor can only take "holds" and "opposite" away, so that it need not be known otherwise.
fn judged(found: &Interval, margin: f64, floor: impl Fn() -> f64) -> Verdict {
    match rules::ratio(found, margin, 0.0) {
        Verdict::Holds | Verdict::Reversed => rules::ratio(found, margin, floor()),
        verdict => verdict,
    }
}

/// The verdict on a true effect by whole processes, and whether the interval contains it for the layouts that were used.
fn process(rng: &mut ChaCha8Rng, machine: Machine, n: usize, effect: f64) -> (Verdict, bool) {
    let round = machine.round(rng, n, &[effect, 0.0], 1);
    let found = ratio_of(&values(&round.ratios(0, 1)), CONFIDENCE);
    let truth = (effect + round.placed[0] - round.placed[1]).exp();
    let verdict = judged(&found, MARGIN, || floor::over_layouts(&round.ratios(2, 1), n, MARGIN));
    (verdict, found.lo <= truth && truth <= found.hi)
}

/// In how many of the trials each thing comes out true.
fn tally<const N: usize>(trials: usize, mut trial: impl FnMut(&mut ChaCha8Rng) -> [bool; N]) -> [usize; N] {
    let mut rng = ChaCha8Rng::seed_from_u64(20);
    let mut counts = [0; N];
    for _ in 0..trials {
        for (count, is_true) in counts.iter_mut().zip(trial(&mut rng)) {
            *count += usize::from(is_true);
        }
    }
    counts
}

fn count(trials: usize, mut trial: impl FnMut(&mut ChaCha8Rng) -> bool) -> usize {
    tally(trials, |rng| [trial(rng)])[0]
}

/// How often the interval of `n` pairs misses.
fn level(n: usize) -> f64 {
    interval(&vec![0.0; n]).level
}

/// Every kind of noise with every number of blocks.
fn noises(effort: Effort) -> impl Iterator<Item = (Noise, usize)> {
    NOISES.into_iter().flat_map(move |noise| effort.blocks.iter().map(move |n| (noise, *n)))
}

fn is_found(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Holds | Verdict::Reversed)
}

/// The share that stands behind `seen`, as far as it is certain.
fn between(seen: usize, trials: usize) -> (f64, f64) {
    binomial::interval(seen, trials, 0.9998)
}

#[track_caller]
fn assert_at_most(promise: f64, seen: usize, trials: usize, what: &str) {
    println!("{what}: {:.2} %, promised {:.2} %", 100.0 * seen as f64 / trials as f64, 100.0 * promise);
    assert!(between(seen, trials).0 <= promise, "{what}: {seen} of {trials}, promised {promise}");
}

/// Noise of whole processes, with and without layouts that matter.
fn machines(effort: Effort) -> impl Iterator<Item = Machine> {
    let sds = NOISES.into_iter().flat_map(move |noise| effort.sds.iter().map(move |sd| plain(noise, *sd)));
    sds.flat_map(|one| [one, Machine { layouts: 6, ..one }, Machine { layouts: 6, layout_sd: 0.05, ..one }])
}

fn no_effect_by_processes(effort: Effort) {
    for machine in machines(effort) {
        for &n in effort.blocks {
            let [found, missed] = tally(effort.trials, |rng| {
                let (verdict, is_covered) = process(rng, machine, n, 0.0);
                [is_found(verdict), !is_covered]
            });
            assert_at_most(FALSE, found, effort.trials, &format!("false, {machine:?}, n = {n}"));
            let what = format!("missed, {machine:?}, n = {n}");
            assert_at_most(level(n) + 0.02, missed, effort.trials, &what);
            let is_exact = machine.noise != Noise::Ties && machine.layout_sd == 0.0;
            assert!(!is_exact || between(missed, effort.trials).1 >= level(n) - 0.02, "{what}: {missed}, too few");
        }
    }
}

fn no_effect_by_duets(effort: Effort) {
    for layout_sd in [0.0, 0.01, 0.05, 0.1] {
        for &n in effort.blocks {
            let machine = Machine { layouts: 6, layout_sd, ..plain(Noise::Normal, 0.011) };
            let found = count(effort.trials, |rng| {
                let round = machine.round(rng, n, &[0.0, 0.0], 0);
                let (claim, aa) = (round.ratios(0, 1), round.ratios(2, 1));
                let found = ratio_of(&values(&claim), CONFIDENCE);
                is_found(judged(&found, DUET_MARGIN, || floor::of_duets(&aa, &claim, DUET_MARGIN)))
            });
            assert_at_most(FALSE, found, effort.trials, &format!("false, duets, {machine:?}, n = {n}"));
        }
    }
}

/// Without several layouts a placement looks like an effect, and more blocks only make it surer.
fn one_layout_is_not_enough(effort: Effort) {
    let machine = Machine { layout_sd: 0.05, ..plain(Noise::Normal, 0.05) };
    let found = count(effort.trials, |rng| is_found(process(rng, machine, 12, 0.0).0));
    println!("false, one layout: {found} of {}", effort.trials);
    assert!(between(found, effort.trials).1 > 0.2);
}

fn values_cover_the_median(effort: Effort) {
    for noise in NOISES {
        let machine = plain(noise, 0.16);
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let long = (0..41).map(|_| machine.round(&mut rng, 1_000, &[0.0], 0).logs[0].clone());
        let truth = median(long.flatten().collect()).expect("values").exp();
        for &n in effort.blocks {
            let estimate = |values: &[f64]| median_estimate(values, CONFIDENCE).expect("values");
            let missed = count(effort.trials, |rng| {
                let round = machine.round(rng, n, &[0.0], 0);
                let found = estimate(&round.logs[0].iter().map(|log| log.exp()).collect::<Vec<_>>());
                truth < found.lo || truth > found.hi
            });
            let level = estimate(&vec![0.0; n]).level;
            // Bursts make neighbouring blocks alike, which pairs do not mind and single values do.
            let more = if noise == Noise::Bursts { 0.06 } else { 0.02 };
            assert_at_most(level + more, missed, effort.trials, &format!("missed, value, {noise:?}, n = {n}"));
        }
    }
}

/// Where 460 ns beside work are 5 % of it, found on points from 100 ns to 650 µs.
fn crossings_are_covered(effort: Effort) {
    const PRICE: f64 = 0.46;
    let truth = PRICE / 0.05;
    for (noise, n) in noises(effort) {
        for &sd in effort.sds {
            let [missed, known] = tally(effort.trials, |rng| {
                let points = [0.1, 0.65, 2.0, 6.5, 20.0, 65.0, 650.0_f64].map(|x| {
                    let ratios = plain(noise, sd).round(rng, n, &[(1.0 + PRICE / x).ln(), 0.0], 0).ratios(0, 1);
                    let ratios: Vec<f64> = ratios.into_iter().map(|(_, log)| log.exp()).collect();
                    (x, median_estimate(&ratios, CONFIDENCE).expect("there are pairs"))
                });
                let found = crossed(&points, 1.05, When::Falls).expect("there are points");
                [truth < found.lo || truth > found.hi, found.hi < 100.0 * found.lo]
            });
            let is_quiet = noise == Noise::Normal && sd <= 0.05 && n >= 24;
            assert!(!is_quiet || known * 2 > effort.trials, "{known} of {} are known, {sd}, n = {n}", effort.trials);
            assert_at_most(0.06, missed, effort.trials, &format!("missed, crossing, {noise:?}, {sd}, n = {n}"));
        }
    }
}

/// The slopes of `n` blocks over four sizes.
fn slopes(rng: &mut ChaCha8Rng, machine: Machine, n: usize, exponent: f64) -> Vec<f64> {
    let sizes: [f64; 4] = [1e5, 3e5, 6e5, 2e6];
    let round = machine.round(rng, n, &sizes.map(|size| exponent * size.ln()), 0);
    let of_block = |block: usize| {
        let points: Vec<(f64, f64)> = sizes.iter().zip(&round.logs).map(|(x, logs)| (*x, logs[block].exp())).collect();
        slope::of_logs(&points).expect("four sizes")
    };
    (0..n).map(of_block).collect()
}

fn slopes_are_covered_and_not_seen_where_there_are_none(effort: Effort) {
    let margin = slope::margin_over((1e5, 2e6), MARGIN);
    for (noise, n) in noises(effort) {
        for exponent in [0.0, 1.0] {
            let [found, missed] = tally(effort.trials, |rng| {
                let slopes = interval(&slopes(rng, plain(noise, 0.05), n, exponent));
                let is_up = is_found(rules::slope(&slopes, margin, Direction::Up));
                [is_up, exponent < slopes.lo || exponent > slopes.hi]
            });
            let what = format!("slope of {exponent}, {noise:?}, n = {n}");
            assert_at_most(level(n) + 0.02, missed, effort.trials, &format!("missed, {what}"));
            if exponent == 0.0 {
                assert_at_most(FALSE, found, effort.trials, &format!("false, {what}"));
            } else {
                assert!(found * 100 >= effort.trials * 99, "{found}: {what}");
            }
        }
    }
}

fn shares_are_covered_and_causes_rarely_wrong(effort: Effort) {
    for (noise, n) in noises(effort) {
        for truth in [0.0, 0.5, 1.0] {
            let [answers, missed, wrong] = tally(effort.trials, |rng| {
                let round = plain(noise, 0.05).round(rng, n, &[0.3, 0.3 * truth, 0.0], 0);
                let (mirror, control) = (values(&round.ratios(0, 2)), values(&round.ratios(1, 2)));
                let Some(found) = share::explained(&control, &mirror, CONFIDENCE) else {
                    return [false; 3];
                };
                let is_wrong = match rules::cause(&found) {
                    Verdict::ExplainsIt => truth < rules::EXPLAINS,
                    Verdict::PartOfIt => truth <= rules::EXPLAINS_NOT || truth >= rules::EXPLAINS,
                    Verdict::DoesNot => truth > rules::EXPLAINS_NOT,
                    _ => false,
                };
                [true, truth < found.lo || truth > found.hi, is_wrong]
            });
            let what = format!("share of {truth}, {noise:?}, n = {n}");
            // What is left of one-sided noise after a part of the effect is not symmetric.
            assert_at_most(level(n) + 0.03, missed, answers, &format!("missed, {what}"));
            assert_at_most(FALSE, wrong, answers, &format!("false, {what}"));
        }
    }
}

fn outcomes_are_covered_and_rarely_wrong(effort: Effort) {
    for &n in effort.blocks {
        for truth in [0.02, 0.5, 0.9] {
            let [missed, happens] = tally(effort.trials, |rng| {
                let met = (0..n).filter(|_| rng.random_bool(truth)).count();
                let (lo, hi) = binomial::interval(met, n, CONFIDENCE);
                let found = Interval { point: truth, lo, hi, n, level: 0.05 };
                // Claimed in more blocks than it happens in, by nothing.
                [truth < lo || truth > hi, rules::outcome(&found, truth) == Verdict::Holds]
            });
            assert_at_most(0.05, missed, effort.trials, &format!("missed, outcome in {truth}, n = {n}"));
            assert_at_most(0.025, happens, effort.trials, &format!("false, outcome in {truth}, n = {n}"));
        }
    }
}

/// The verdict of `every` over scenarios with these effects.
fn every(rng: &mut ChaCha8Rng, machine: Machine, n: usize, effects: &[f64]) -> Verdict {
    let rounds: Vec<Round> = effects.iter().map(|effect| machine.round(rng, n, &[*effect, 0.0], 1)).collect();
    let pooled = |a, b| -> Vec<(u64, f64)> {
        let all: Vec<Vec<(u64, f64)>> = rounds.iter().map(|round| round.ratios(a, b)).collect();
        let mean = |block: usize| all.iter().map(|one| one[block].1).sum::<f64>() / all.len() as f64;
        (0..n).map(|block| (all[0][block].0, mean(block))).collect()
    };
    let below = |round: &Round| p_value_below(&values(&round.ratios(0, 1)), MARGIN.ln_1p());
    let p_values = holm::adjust(&rounds.iter().map(below).collect::<Vec<_>>());
    let found = ratio_of(&values(&pooled(0, 1)), CONFIDENCE);
    let estimate = |round: &Round| ratio_of(&values(&round.ratios(0, 1)), CONFIDENCE);
    let one = |(round, p_value)| Each { estimate: estimate(round), floor: MARGIN, p_value };
    let mut each: Vec<Each> = rounds.iter().zip(p_values).map(one).collect();
    let mut verdict = judged(&found, MARGIN, || floor::over_layouts(&pooled(2, 1), n, MARGIN));
    let floor = if is_found(verdict) { MARGIN } else { f64::INFINITY };
    verdict = rules::every(&found, &each, MARGIN, floor);
    // Here, too, floors can only take "holds" away: first from those that it is nearest to.
    let mut places: Vec<usize> = (0..each.len()).collect();
    places.sort_by(|a, b| each[*a].estimate.point.total_cmp(&each[*b].estimate.point));
    for place in places {
        if is_found(verdict) {
            each[place].floor = floor::over_layouts(&rounds[place].ratios(2, 1), n, MARGIN);
            verdict = rules::every(&found, &each, MARGIN, floor);
        }
    }
    verdict
}

fn every_needs_every_one(effort: Effort) {
    let there = 1.22_f64.ln();
    let (mut one_of_three, mut one_of_twenty) = ([there; 3], [there; 20]);
    (one_of_three[2], one_of_twenty[7]) = (0.0, 0.0);
    for (effects, promise) in [(&[0.0; 3][..], FALSE), (&one_of_three, 0.025), (&one_of_twenty, 0.025)] {
        for (sd, layout_sd) in [(0.05, 0.0), (0.16, 0.0), (0.05, 0.05)] {
            for &n in effort.blocks {
                let machine = Machine { layouts: 6, layout_sd, ..plain(Noise::Normal, sd) };
                let found = count(effort.trials / 4, |rng| is_found(every(rng, machine, n, effects)));
                let none = effects.iter().filter(|effect| **effect == 0.0).count();
                let what = format!("false, none in {none} of {}, {machine:?}, n = {n}", effects.len());
                assert_at_most(promise, found, effort.trials / 4, &what);
            }
        }
    }
    // Where it is everywhere, no scenario contradicts by chance.
    for &n in effort.blocks {
        let refuted = count(effort.trials / 4, |rng| {
            let verdict = every(rng, Machine { layouts: 6, ..plain(Noise::Normal, 0.16) }, n, &[there; 20]);
            verdict.is_decided() && !verdict.agrees()
        });
        assert_at_most(FALSE, refuted, effort.trials / 4, &format!("refuted, there in all of 20, n = {n}"));
    }
}

/// A true effect barely beyond the margin must not be called none, nor not better, nor the arms equal.
fn an_effect_beyond_the_margin_is_not_denied(effort: Effort) {
    for (noise, n) in noises(effort) {
        let [none, equal] = tally(effort.trials, |rng| {
            let round = plain(noise, 0.05).round(rng, n, &[1.051_f64.ln(), 0.0], 0);
            let found = ratio_of(&values(&round.ratios(0, 1)), CONFIDENCE);
            let verdict = rules::ratio(&found, MARGIN, MARGIN);
            let is_denied = verdict == Verdict::NoDifference;
            [is_denied, rules::equal(&found, MARGIN) == Verdict::Holds]
        });
        // The middle of what a coarse clock shows lies on one of its steps.
        let promise = level(n) / 2.0 + if noise == Noise::Ties { 0.01 } else { 0.0 };
        assert_at_most(promise, none, effort.trials, &format!("denied, {noise:?}, n = {n}"));
        assert_at_most(promise, equal, effort.trials, &format!("called equal, {noise:?}, n = {n}"));
    }
}

/// Copies that differ by just the margin in each of several scenarios are told apart in one of them as rarely as in a single one.
fn several_scenarios_tell_copies_apart_no_more_often_than_one(effort: Effort) {
    for scenarios in [1, 3, 6] {
        for (noise, n) in noises(effort) {
            let told_apart = count(effort.trials, |rng| {
                let bias = MARGIN.ln_1p();
                let p_values = (0..scenarios).map(|_| {
                    let round = plain(noise, 0.16).round(rng, n, &[bias, 0.0], 0);
                    p_value_beyond(&values(&round.ratios(0, 1)), bias)
                });
                let adjusted = holm::adjust(&p_values.collect::<Vec<_>>());
                adjusted.iter().any(|p_value| *p_value < rules::CONTRADICTS)
            });
            // The bias is on one side. A clock's steps need not be symmetric about it.
            let promise = rules::CONTRADICTS / 2.0 + if noise == Noise::Ties { 0.025 } else { 0.0 };
            assert_at_most(promise, told_apart, effort.trials, &format!("{scenarios} scenarios, {noise:?}, n = {n}"));
        }
    }
}

const EFFECTS: [f64; 5] = [1.10, 1.15, 1.22, 1.30, 1.50];
const SDS: [f64; 4] = [0.02, 0.05, 0.10, 0.16];

/// In how many of the trials an effect is found.
fn power(trials: usize, sd: f64, n: usize, effect: f64) -> usize {
    let machine = Machine { layouts: 6, ..plain(Noise::Normal, sd) };
    count(trials, |rng| process(rng, machine, n, effect.ln()).0 == Verdict::Holds)
}

/// What METHODOLOGY says of the blocks that are needed: noise, blocks, effect, and in how many percent of the rounds it is found.
const POWERS: [(f64, usize, f64, f64); 5] = [
    (0.16, 8, 1.22, 50.0),
    (0.16, 12, 1.22, 77.0),
    (0.10, 8, 1.22, 91.0),
    (0.05, 6, 1.10, 31.0),
    (0.02, 6, 1.10, 95.0),
];

#[test]
fn an_effect_is_found_as_often_as_methodology_says() {
    for (sd, n, effect, percent) in POWERS {
        let seen = power(SHORT.trials, sd, n, effect);
        let (lo, hi) = between(seen, SHORT.trials);
        // The figure is rounded to a percent, and itself simulated.
        let agrees = (lo - 0.02..=hi + 0.02).contains(&(percent / 100.0));
        assert!(agrees, "{seen} of {}, not {percent} %: {sd} {n} {effect}", SHORT.trials);
    }
}

#[test]
#[ignore = "prints the table; minutes, to be run in release"]
fn the_power_table_at_length() {
    println!("| noise | blocks | 10 % | 15 % | 22 % | 30 % | 50 % |\n|--:|--:|--:|--:|--:|--:|--:|");
    for sd in SDS {
        for &n in LONG.blocks {
            let cells = EFFECTS.map(|effect| {
                let percent = (power(2_000, sd, n, effect) as f64 / 20.0).round();
                if percent >= 80.0 { format!("**{percent}**") } else { percent.to_string() }
            });
            println!("| {} % | {n} | {} |", 100.0 * sd, cells.join(" | "));
        }
    }
}

/// The tests of every check, short here and long in release.
macro_rules! checks {
    ($($name:ident)*) => {
        $(#[test] fn $name() { super::$name(super::SHORT); })*
        mod at_length {
            $(#[test] #[ignore = "minutes, to be run in release"] fn $name() { super::super::$name(super::super::LONG); })*
        }
    };
}

mod at_known_truth {
    checks! {
        no_effect_by_processes no_effect_by_duets one_layout_is_not_enough values_cover_the_median
        crossings_are_covered slopes_are_covered_and_not_seen_where_there_are_none
        shares_are_covered_and_causes_rarely_wrong
        outcomes_are_covered_and_rarely_wrong every_needs_every_one an_effect_beyond_the_margin_is_not_denied
        several_scenarios_tell_copies_apart_no_more_often_than_one
    }
}

#[test]
fn a_planted_tenth_is_found_with_its_size_and_a_wrong_size_is_missed() {
    let [found, missed] = tally(100, |rng| {
        let round = plain(Noise::Normal, 0.02).round(rng, 12, &[1.1_f64.ln(), 0.0], 0);
        let slow = values(&round.ratios(0, 1));
        let floor = floor::over_layouts(&round.ratios(2, 1), 12, MARGIN);
        let planted = |size| {
            rules::planted(&ratio_of(&slow, CONFIDENCE), &ratio_of(&slow, PLANTED_CONFIDENCE), MARGIN, floor, size)
        };
        [planted(1.1) == ControlState::Passed, planted(1.2) == ControlState::Failed]
    });
    assert!(found >= 95, "{found} of 100");
    assert_eq!(missed, 100);
}

#[test]
fn the_layouts_sd_is_found_and_noise_is_not_mistaken_for_it() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    for (noise_sd, layout_sd) in [(0.02, 0.0), (0.02, 0.05), (0.16, 0.0), (0.16, 0.1)] {
        let machine = Machine { layouts: 6, layout_sd, ..plain(Noise::Normal, noise_sd) };
        let mut sd = || layout::sd(&machine.round(&mut rng, 30, &[0.0], 1).ratios(1, 0)).expect("six layouts");
        let found = ((0..200).map(|_| sd().powi(2)).sum::<f64>() / 200.0).sqrt();
        // Where there is none, what is left is what noise leaves after itself is taken off.
        assert!((found - layout_sd).abs() < 0.1 * layout_sd + 0.2 * noise_sd, "{found}, not {layout_sd}");
    }
}

#[test]
fn hosts_of_opposite_truth_depend_and_hosts_without_an_effect_rarely_hold() {
    let machine = Machine { layouts: 6, layout_sd: 0.01, ..plain(Noise::Normal, 0.03) };
    let word = |rng: &mut ChaCha8Rng, effects: &[f64]| {
        rules::over(effects.iter().map(|effect| process(rng, machine, 12, effect.ln()).0)).verdict
    };
    let [depends, holds, false_holds] = tally(200, |rng| {
        let [apart, alike, none] =
            [&[1.3, 1.0 / 1.3][..], &[1.3, 1.5, 1.2], &[1.0; 3]].map(|effects| word(rng, effects));
        [apart == Verdict::Depends, alike == Verdict::Holds, is_found(none)]
    });
    assert!(depends >= 195 && holds >= 195, "{depends} and {holds} of 200");
    assert_at_most(FALSE, false_holds, 200, "three hosts without an effect");
}

/// The verdict on an effect in twelve blocks of a machine whose hypervisor moves the cores apart for several runs in a row, in which b takes three times as
/// long; and the verdict of who does not know where the cores were.
fn moved(rng: &mut ChaCha8Rng, effect: f64) -> [Verdict; 2] {
    let mut is_far = rng.random_bool(0.2);
    let mut arms = [Vec::new(), Vec::new()];
    for _ in 0..12 {
        let mut order = [0, 1];
        order.shuffle(rng);
        for arm in order {
            is_far = if is_far { rng.random_bool(0.8) } else { rng.random_bool(0.05) };
            let work_s = [effect, 1.0][arm] * (0.02 * normal(rng)).exp();
            arms[arm].push(if is_far { [[1.0, 3.0][arm] * work_s, 250.0] } else { [work_s, 60.0] });
        }
    }
    let [a, b] = arms;
    [CORE_TO_CORE, "unknown"].map(|last| {
        let names = ["work_s", last];
        Samples::default().metrics("s", "a", names, a.clone()).metrics("s", "b", names, b.clone()).verdict(RATIO)
    })
}

#[test]
fn cores_that_move_make_no_effect_and_hide_none() {
    let [none, there, blindly] = tally(200, |rng| {
        let [found, blind] = moved(rng, 1.2).map(|verdict| verdict == Verdict::Holds);
        [is_found(moved(rng, 1.0)[0]), found, blind]
    });
    assert_at_most(FALSE, none, 200, "found where cores move and nothing else");
    assert!(there >= 140 && there > blindly + 40, "an effect of 20 % is found in {there} of 200 rounds, {blindly}");
}
