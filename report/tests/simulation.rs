//! Whole chains on simulated measurements whose truth is known: the interval, the floor and the verdicts err as rarely as they say.
//!
//! All seeds are fixed, so that a bound which holds once holds always.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use report::judged::{Estimate, Verdict};
use report::record::{DuetPair, Order};
use report::stats::signed_rank::{Alternative, p_value_against};
use report::stats::{CONFIDENCE, PLANTED_CONFIDENCE, duet, estimate, floor, holm, share, slope};
use report::verdict::{self, Band, Control};

mod numbers;

use numbers::{exact, interval};

const SEEDS: [u64; 3] = [1, 2, 3];
const BLOCKS: [usize; 2] = [8, 12];
const RUNS: usize = 1_000;

/// Symmetric noise of a log ratio.
#[derive(Debug, Clone, Copy)]
enum Noise {
    Normal,
    /// Exponential tails.
    Laplace,
    /// Tails so heavy that there is no variance: a machine whose time is stolen.
    Cauchy,
}

const NOISES: [Noise; 3] = [Noise::Normal, Noise::Laplace, Noise::Cauchy];

impl Noise {
    fn draw(self, rng: &mut ChaCha8Rng) -> f64 {
        // Never zero, whose logarithm is none.
        let uniform: f64 = 1.0 - rng.random::<f64>();
        match self {
            Noise::Normal => (-2.0 * uniform.ln()).sqrt() * (std::f64::consts::TAU * rng.random::<f64>()).cos(),
            Noise::Laplace if rng.random() => -uniform.ln(),
            Noise::Laplace => uniform.ln(),
            Noise::Cauchy => (std::f64::consts::PI * (uniform - 0.5)).tan(),
        }
    }
}

/// Log ratios of `n` blocks around `effect`.
fn blocks(rng: &mut ChaCha8Rng, n: usize, effect: f64, noise: Noise, scale: f64) -> Vec<f64> {
    (0..n).map(|_| effect + scale * noise.draw(rng)).collect()
}

fn ratio(log_ratios: &[f64], confidence: f64) -> Estimate {
    let found = estimate(&exact(log_ratios), confidence).expect("there are pairs");
    Estimate { point: found.point.exp(), lo: found.lo.exp(), hi: found.hi.exp(), ..found }
}

/// Whether `seen` of `runs` is within four standard deviations of `rate`: once in 16,000 tests chance alone is outside.
fn is_near(seen: usize, runs: usize, rate: f64) -> bool {
    let (expected, deviation) = (rate * runs as f64, (rate * (1.0 - rate) * runs as f64).sqrt());
    (seen as f64 - expected).abs() <= 4.0 * deviation
}

/// Whether `seen` of `runs` is no more than a `rate` allows.
fn is_within(seen: usize, runs: usize, rate: f64) -> bool {
    seen as f64 <= rate * runs as f64 + 4.0 * (rate * (1.0 - rate) * runs as f64).sqrt()
}

#[test]
fn the_interval_misses_the_truth_exactly_as_often_as_its_level_says_on_either_side() {
    for seed in SEEDS {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        for n in BLOCKS {
            for noise in NOISES {
                let (mut below, mut above, mut level) = (0, 0, 0.0);
                for _ in 0..RUNS {
                    let found = interval(&blocks(&mut rng, n, 0.3, noise, 0.16));
                    below += usize::from(found.hi < 0.3);
                    above += usize::from(found.lo > 0.3);
                    level = found.level;
                }
                for (side, seen) in [("below", below), ("above", above)] {
                    let is_near = is_near(seen, RUNS, level / 2.0);
                    assert!(is_near, "{seen} of {RUNS} {side}, {noise:?}, n = {n}, seed {seed}");
                }
            }
        }
    }
}

#[test]
fn pure_noise_is_called_a_difference_or_an_equality_no_more_often_than_the_level_says() {
    for seed in SEEDS {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        for n in BLOCKS {
            for noise in NOISES {
                let (mut differences, mut equal) = (0, 0);
                let mut level = 0.0;
                for _ in 0..RUNS {
                    // 16 % per pair: the spread of neighbouring runs on a shared machine.
                    let found = ratio(&blocks(&mut rng, n, 0.0, noise, 0.16), CONFIDENCE);
                    level = found.level;
                    // The margin alone, without the help of a floor.
                    let verdict = verdict::ratio(&found, 0.02, 0.02, None);
                    differences += usize::from(matches!(verdict, Verdict::Reproduced | Verdict::Reversed));
                    // A truth just outside the margin, which must not be called equal: the interval would have to miss it.
                    let outside = ratio(&blocks(&mut rng, n, 0.03, noise, 0.16), CONFIDENCE);
                    equal += usize::from(verdict::equal(&outside, 0.02) == Verdict::Reproduced);
                }
                for (seen, rate) in [(differences, level), (equal, level / 2.0)] {
                    assert!(is_within(seen, RUNS, rate), "{seen} of {RUNS}, {noise:?}, n = {n}, seed {seed}");
                }
            }
        }
    }
}

#[test]
fn a_true_effect_of_a_fifth_under_noise_is_never_called_absent() {
    for seed in SEEDS {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        for noise in NOISES {
            let twins = blocks(&mut rng, 8, 0.0, noise, 0.16);
            let floor = floor::floor(&twins, 8, 0.05);
            for _ in 0..500 {
                let found = ratio(&blocks(&mut rng, 8, 1.22_f64.ln(), noise, 0.16), CONFIDENCE);
                let verdict = verdict::ratio(&found, 0.05, floor, None);
                let is_right = matches!(verdict, Verdict::Reproduced | Verdict::Inconclusive);
                assert!(is_right, "{verdict}, {found:?}, {noise:?}");
            }
        }
    }
}

#[test]
fn a_planted_tenth_is_found_with_its_size_and_a_wrong_size_is_not() {
    let band = Some(Band::around(1.1));
    for seed in SEEDS {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (mut found, mut sized, mut mistaken) = (0, 0, 0);
        let twins = blocks(&mut rng, 12, 0.0, Noise::Normal, 0.02);
        let floor = floor::floor(&twins, 12, 0.05);
        for _ in 0..200 {
            let slow = blocks(&mut rng, 12, 1.1_f64.ln(), Noise::Normal, 0.02);
            let (narrow, wide) = (ratio(&slow, CONFIDENCE), ratio(&slow, PLANTED_CONFIDENCE));
            found += usize::from(verdict::planted_found(&narrow, &wide, floor, 1.1));
            mistaken += usize::from(verdict::planted_found(&narrow, &wide, floor, 1.2));
            sized += usize::from(verdict::ratio(&narrow, 0.05, floor, band) == Verdict::Reproduced);
        }
        assert!(found >= 190 && sized >= 190, "{found} and {sized} of 200, seed {seed}");
        assert_eq!(mistaken, 0, "seed {seed}");
    }
}

#[test]
fn twins_fail_their_control_only_as_often_as_chance_allows_and_biased_twins_fail() {
    for seed in SEEDS {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (mut failed, mut caught) = (0, 0);
        for _ in 0..RUNS {
            let mut twins = |effect, scale| ratio(&blocks(&mut rng, 8, effect, Noise::Laplace, scale), CONFIDENCE);
            failed += usize::from(verdict::aa_failed(&twins(0.0, 0.16), 0.0));
            caught += usize::from(verdict::aa_failed(&twins(0.2, 0.02), 0.05));
        }
        assert!(is_near(failed, RUNS, 0.039), "{failed} of {RUNS}, seed {seed}");
        assert_eq!(caught, RUNS, "seed {seed}");
    }
}

#[test]
fn an_effect_everywhere_is_called_refuted_only_by_a_scenario_that_really_goes_the_other_way() {
    for seed in SEEDS {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        // Six scenarios; in the second list one is reversed.
        for (effects, expected) in [
            ([0.3, 0.3, 0.3, 0.3, 0.3, 0.3], Verdict::Reproduced),
            ([0.3, 0.3, 0.3, -0.3, 0.3, 0.3], Verdict::NotReproduced),
        ] {
            let mut as_expected = 0;
            for _ in 0..100 {
                let scenarios = effects.map(|effect| blocks(&mut rng, 12, effect, Noise::Normal, 0.05));
                let means: Vec<f64> =
                    (0..12).map(|block| scenarios.iter().map(|scenario| scenario[block]).sum::<f64>() / 6.0).collect();
                let reversed: Vec<f64> = scenarios
                    .iter()
                    .map(|scenario| p_value_against(&exact(scenario), -(0.05_f64.ln_1p()), Alternative::Less))
                    .collect();
                let verdict = verdict::every(&ratio(&means, CONFIDENCE), &holm::adjust(&reversed), 0.05, 0.05, None);
                as_expected += usize::from(verdict == expected);
            }
            assert!(as_expected >= 99, "{as_expected} of 100 {expected}, seed {seed}");
        }
    }
}

#[test]
fn the_share_of_an_effect_is_covered_and_its_cause_is_rarely_wrong() {
    for seed in SEEDS {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        for truth in [0.0, 0.5, 1.0] {
            let (mut missed, mut answers, mut wrong) = (0, 0, 0);
            for _ in 0..400 {
                let mirror = blocks(&mut rng, 12, 0.27, Noise::Normal, 0.1);
                // Control and mirror share the noise of the arm they have in common, here as the share itself.
                let control: Vec<f64> =
                    mirror.iter().map(|effect| truth * effect + 0.02 * Noise::Normal.draw(&mut rng)).collect();
                let Some(found) = share::explained(&control, &mirror, CONFIDENCE) else {
                    continue;
                };
                answers += 1;
                missed += usize::from(truth < found.lo || truth > found.hi);
                wrong += usize::from(match verdict::cause(&found, Control::Claimed) {
                    Verdict::Confirmed => truth < 0.8,
                    Verdict::Refuted => truth > 0.2,
                    _ => false,
                });
            }
            assert!(answers >= 390, "{answers} answers for {truth}, seed {seed}");
            assert!(is_within(missed, answers, 0.05), "{missed} of {answers} for {truth}, seed {seed}");
            assert_eq!(wrong, 0, "{truth}, seed {seed}");
        }
    }
}

#[test]
fn linear_growth_is_found_linear_and_square_growth_is_not() {
    let band = Band { lo: 0.95, hi: 1.05 };
    for seed in SEEDS {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        for (exponent, expected) in [(1.0, Verdict::Reproduced), (2.0, Verdict::NotReproduced)] {
            let slopes: Vec<f64> = (0..12)
                .map(|_| {
                    let points = [1e5, 3e5, 6e5, 1e6, 2e6]
                        .map(|rows: f64| (rows, rows.powf(exponent) * (0.02 * Noise::Normal.draw(&mut rng)).exp()));
                    slope::of_logs(&points).expect("five sizes")
                })
                .collect();
            let found = interval(&slopes);
            assert_eq!(verdict::band(&found, band), expected, "{found:?}, seed {seed}");
        }
    }
}

/// A process of 20 pairs in random order, in which the arms differ by `effect` and going first costs `first`.
fn process(rng: &mut ChaCha8Rng, effect: f64, first: f64) -> Vec<DuetPair> {
    (0..20)
        .map(|_| {
            let order = if rng.random() { Order::Ab } else { Order::Ba };
            let (a_first, b_first) = if order == Order::Ab { (first, 0.0) } else { (0.0, first) };
            DuetPair {
                order,
                a_s: (effect + a_first + 0.01 * Noise::Laplace.draw(rng)).exp(),
                b_s: (b_first + 0.01 * Noise::Laplace.draw(rng)).exp(),
            }
        })
        .collect()
}

#[test]
fn a_duet_finds_a_small_effect_and_an_order_effect_invalidates_it_only_where_there_is_one() {
    for seed in SEEDS {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        for (first, invalid) in [(0.0, false), (0.01, false), (0.06, true)] {
            let processes: Vec<Vec<DuetPair>> = (0..20).map(|_| process(&mut rng, 0.05, first)).collect();
            let effects: Vec<f64> =
                processes.iter().map(|pairs| duet::order_effect(pairs).expect("both orders") / 2.0).collect();
            let order = interval(&effects);
            assert_eq!(verdict::order_failed(&order, 0.02), invalid, "{order:?}, seed {seed}");
            if !invalid {
                let ratios: Vec<f64> = processes.iter().map(|pairs| duet::log_ratio(pairs).expect("pairs")).collect();
                assert_eq!(verdict::ratio(&ratio(&ratios, CONFIDENCE), 0.02, 0.02, None), Verdict::Reproduced);
            }
        }
    }
}
