//! One request over a connection that is there: what a batch costs end to end, by encoding and size.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use flight_batches::load::{Connections, Extent, Load};
use flight_batches::produce::Mode;
use flight_batches::serve;
use flight_batches::service::{Batches, Encoding, Options};
use flight_batches::table::{Shape, Table};
use flight_batches::ticket::Ticket;
use strum::VariantArray;
use tokio::net::TcpListener;

fn do_get(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let shape = Shape { rows: 100_000, columns: 50, seed: 0 };
    let table = Table::new(shape).expect("a table");
    let mut group = criterion.benchmark_group("do_get");
    group.throughput(Throughput::Bytes(table.bytes() as u64)).sample_size(20);
    for &encoding in Encoding::VARIANTS {
        let options = Options { mode: Mode::Async, prefetch: 1, encoding, memory: 256 << 20 };
        let batches = Batches::new(table.clone(), options, None);
        let endpoint = runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
            let endpoint = format!("http://{}", listener.local_addr().expect("an address"));
            tokio::spawn(serve::serve(listener, batches, serve::Limits::default(), std::future::pending()));
            endpoint
        });
        let connections = runtime.block_on(Connections::open(&endpoint, 1)).expect("the server is there");
        for records in [1000, 10_000] {
            let ticket = Ticket { records_per_batch: records, batch_generation_delay: 0.0, batches: None };
            let load = Load::new(ticket, 1, Extent::Whole);
            group.bench_function(BenchmarkId::new(encoding.to_string(), records), |bencher| {
                bencher.iter(|| {
                    let delivery = runtime.block_on(load.run(&connections));
                    assert!(delivery.failures.is_empty(), "{:?}", delivery.failures);
                });
            });
        }
    }
}

criterion_group!(benches, do_get);
criterion_main!(benches);
