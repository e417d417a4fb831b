//! Any calls: the same bytes from every writer, and the right ones.

use proptest::prelude::*;

use crate::common::any::By;
use crate::common::archive::parse;
use crate::common::calls::{Data, Item, Kind, Plan, zstandard};
use crate::common::oracle;
use crate::common::plans::plan;

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_writer_makes_what_a_naive_one_makes_and_it_reads_back(plan in plan(), cuts in any::<[u64; 2]>()) {
        let data = plan.data();
        let archive = By::Sync.write(plan.compression, &plan.calls(&data, cuts[0]));
        let parsed = parse(&archive);
        oracle::check(&plan, &data, &parsed);
        prop_assert!(!parsed.zip64);
        // How data is cut makes no difference.
        for by in By::all() {
            let got = by.write(plan.compression, &plan.calls(&data, cuts[1]));
            prop_assert!(got == archive, "{:?}", by);
        }
    }
}

/// A compressor that keeps for later what finds no room would let the room decide whether an entry's sizes stand before its data.
#[test]
fn how_much_room_zstandard_meets_makes_no_difference() {
    let Some(compression) = zstandard(5) else { return };
    let item = |name, len| Item { data: Data { kind: Kind::Noise, len, seed: 2 }, ..Item::new(name, Kind::Noise, len) };
    let items = vec![item("0", 131_072), item("1", 196_608)];
    let plan = Plan { compression, items, comment: String::new() };
    let data = plan.data();
    let archive = By::Sync.write(plan.compression, &plan.calls(&data, 0));
    for by in By::all() {
        assert!(by.write(plan.compression, &plan.calls(&data, 0)) == archive, "{by:?}");
    }
}
