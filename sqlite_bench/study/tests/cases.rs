//! What is run leaves the machine room to be measured.

use sqlite_bench_study::cases::{SCENARIOS, Setting};
use sqlite_bench_study::map::{Asking, Callers::Scheduled, Statement};

#[test]
fn calls_on_a_schedule_leave_two_thirds_of_every_core_to_others() {
    let offered = |setting: &Setting| match *setting {
        Setting::Map(Asking { statement: Statement::Join { outer, inner }, callers: Scheduled(per_s), .. }) => {
            Some(f64::from(per_s) * (outer * inner) as f64 * 75e-9)
        }
        _ => None,
    };
    let loads: Vec<_> = SCENARIOS.iter().filter_map(|scenario| offered(&scenario.setting)).collect();
    assert!(loads.len() >= 5 && loads.iter().all(|load| *load < 1.0 / 3.0), "{loads:?}");
}
