//! What a task costs, and how fast the kernels are: `cargo bench`.

use std::hint::black_box;
use std::num::NonZero;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use sqrt_tasks::kernel::{self, Level};
use sqrt_tasks::{Executor, cpu::Cores};
use strum::VariantArray;

fn executors(criterion: &mut Criterion) {
    const TASKS: usize = 10_000;
    let threads = NonZero::new(Cores::here().physical).unwrap_or(NonZero::<usize>::MIN);
    let mut group = criterion.benchmark_group("tasks that do nothing");
    group.throughput(Throughput::Elements(TASKS as u64)).sample_size(10);
    for &executor in Executor::VARIANTS {
        group.bench_function(executor.to_string(), |bencher| {
            bencher.iter(|| executor.run(threads, TASKS, |_| black_box(0.0)));
        });
    }
    group.finish();
}

fn kernels(criterion: &mut Criterion) {
    const LEN: usize = 100_000;
    let mut group = criterion.benchmark_group("square roots");
    group.throughput(Throughput::Elements(LEN as u64));
    group.bench_function("sum in order", |bencher| bencher.iter(|| kernel::sum_in_order(black_box(LEN))));
    for level in Level::available() {
        group.bench_function(format!("sum, {}", level.name), |bencher| {
            bencher.iter(|| kernel::sum_at(level, black_box(LEN)));
        });
        group.bench_function(format!("in place, {}", level.name), |bencher| {
            bencher.iter_batched_ref(
                || vec![2.0; LEN],
                |values| kernel::roots_at(level, values),
                BatchSize::LargeInput,
            );
        });
    }
    group.finish();
}

criterion_group!(benches, executors, kernels);
criterion_main!(benches);
