//! What is measured of `flight_batches`: the verbs of docs/FORMAT.md over its servers, and over two that it is compared with.
//!
//! | module | what it is for |
//! |---|---|
//! | `cases` | scenarios and arms |
//! | `observe` | the study; one sample: server, load, figures |
//! | `prices` | what a wake costs, and what waits |
//! | `servers` | what serves an arm, in a process of its own |
//! | `loopback` | TCP alone |

mod cases;
mod loopback;
mod observe;
mod prices;
mod servers;

fn main() -> std::process::ExitCode {
    study_kit::main::<observe::FlightBatches>()
}
