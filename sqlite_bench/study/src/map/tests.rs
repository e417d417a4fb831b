//! Every design as on machines of 1 to 64 cores.

use super::*;

#[test]
fn every_design_answers_with_a_connection_for_reading_per_core() {
    let asking = Asking { statement: Statement::Point, callers: Callers::One, window: Duration::from_millis(20) };
    for cores in [1, 2, 4, 16, 64].map(|cores| NonZero::new(cores).unwrap()) {
        let runtime = Builder::new_multi_thread().worker_threads(cores.get()).enable_all().build().unwrap();
        let _entered = runtime.enter();
        for (arm, ask) in ARMS {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("numbers.db");
            fill(&file).unwrap();
            let on = Machine { runtime: &runtime, cores, file: &file, seed: 0 };
            let asked = ask(&asking, &on).unwrap_or_else(|error| panic!("{arm} on {cores}: {error:#}"));
            assert_eq!(asked.answer, Statement::Point.answer(ROWS - 1), "{arm} on {cores}");
            assert!(asked.latency.count() >= 1, "{arm} on {cores}");
        }
    }
}
