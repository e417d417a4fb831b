//! What is measured of `flight_batches`: the verbs of docs/FORMAT.md over its servers, and over two that it is compared with.

mod cases;
mod loopback;
mod observe;
mod prices;
mod servers;

fn main() -> std::process::ExitCode {
    study_kit::main::<observe::FlightBatches>()
}
