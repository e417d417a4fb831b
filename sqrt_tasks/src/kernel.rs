//! Square roots, one by one and in vectors.
//!
//! A processor's divider computes the roots and is the limit: on Zen 3 a vector of four takes it 9 cycles, on Skylake and Ice Lake 12.
//! On Zen 4 it falls into one of two rhythms with vectors of four, 7 % apart, and keeps it until something disturbs it. Vectors of eight have one rhythm,
//! 5 % faster than the better of the two.

/// The kernels as compiled for some vector instructions, which this processor has.
#[derive(Debug, Clone, Copy)]
pub struct Level {
    /// What the instructions are called.
    pub name: &'static str,
    sum: unsafe fn(usize) -> f64,
    roots: unsafe fn(&mut [f64]),
}

impl Level {
    /// What this processor can do, the best first.
    pub fn available() -> Vec<Level> {
        let mut levels = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            // Eight lanes.
            if std::arch::is_x86_feature_detected!("avx512f") {
                levels.push(Level { name: "avx512", sum: sum_avx512, roots: roots_avx512 });
            }
            // Four lanes.
            if std::arch::is_x86_feature_detected!("avx2") {
                levels.push(Level { name: "avx2", sum: sum_avx2, roots: roots_avx2 });
            }
        }
        // What every processor of the architecture has: two lanes on x86_64 and aarch64.
        levels.push(Level { name: "baseline", sum: sum_in_lanes::<16>, roots: roots_in_lanes });
        levels
    }

    pub fn best() -> Level {
        Level::available()[0]
    }
}

/// The roots of 0, 1, ... `len` - 1 in a new vector: the published work.
pub fn collect(len: usize) -> Vec<f64> {
    (0..len).map(to_float).map(f64::sqrt).collect()
}

#[inline]
pub fn root_of(index: usize) -> f64 {
    to_float(index).sqrt()
}

/// The sum of the roots of 0, 1, ... `len` - 1, added one after the other.
pub fn sum_in_order(len: usize) -> f64 {
    (0..len).map(root_of).sum()
}

/// The sum of the roots of 0, 1, ... `len` - 1, in vectors of the best level. Differs from [`sum_in_order`] by rounding.
pub fn sum(len: usize) -> f64 {
    sum_at(Level::best(), len)
}

/// As [`sum`], at `level`.
pub fn sum_at(level: Level, len: usize) -> f64 {
    // SAFETY: only levels of this processor are made.
    unsafe { (level.sum)(len) }
}

/// Replaces every value by its root, in vectors of the best level; the bits are those of [`f64::sqrt`].
pub fn roots(values: &mut [f64]) {
    roots_at(Level::best(), values);
}

/// As [`roots`], at `level`.
pub fn roots_at(level: Level, values: &mut [f64]) {
    // SAFETY: only levels of this processor are made.
    unsafe { (level.roots)(values) }
}

/// What [`sum`] comes to but for rounding, by the Euler-Maclaurin formula; meant for `len` of 100 and more, exact below.
pub fn expected_sum(len: usize) -> f64 {
    /// Zeta of -1/2.
    const CONSTANT: f64 = -0.207_886_224_977_354_57;
    const FEW: usize = 100;
    if len < FEW {
        return sum_in_order(len);
    }
    let n = to_float(len);
    let root = n.sqrt();
    // Smallest terms first. Without the root of n itself: the sum ends before it.
    -1.0 / (1920.0 * n * n * root) + 1.0 / (24.0 * root) + CONSTANT - root / 2.0 + 2.0 / 3.0 * n * root
}

#[expect(clippy::cast_precision_loss, reason = "as published; indices stay far below 2^53")]
fn to_float(index: usize) -> f64 {
    index as f64
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
#[inline(never)]
fn sum_avx512(len: usize) -> f64 {
    /// Below, more lanes take longer to fill and to add up than they save.
    const FEW: usize = 1_024;
    if len < FEW { sum_avx2(len) } else { sum_in_lanes::<32>(len) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
#[inline(never)]
fn roots_avx512(values: &mut [f64]) {
    roots_in_lanes(values);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline(never)]
fn sum_avx2(len: usize) -> f64 {
    sum_in_lanes::<16>(len)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline(never)]
fn roots_avx2(values: &mut [f64]) {
    roots_in_lanes(values);
}

/// The baseline; inlined into a function of a further level, it is compiled to that one's instructions. So many lanes are accumulators of the sum, and
/// elements in flight: four vectors hide the latency of root and addition.
#[inline(always)]
#[expect(clippy::inline_always, reason = "the level is that of the caller")]
fn sum_in_lanes<const LANES: usize>(len: usize) -> f64 {
    let mut values: [f64; LANES] = std::array::from_fn(to_float);
    let mut sums = [0.0; LANES];
    let step = to_float(LANES);
    for _ in 0..len / LANES {
        for (sum, value) in sums.iter_mut().zip(&mut values) {
            *sum += value.sqrt();
            // Exact up to 2^53.
            *value += step;
        }
    }
    for (sum, value) in sums.iter_mut().zip(&values).take(len % LANES) {
        *sum += value.sqrt();
    }
    sums.iter().sum()
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "the level is that of the caller")]
fn roots_in_lanes(values: &mut [f64]) {
    for value in values {
        *value = value.sqrt();
    }
}
