//! Any calls: the same bytes from every writer, and the right ones.

use proptest::prelude::*;

use crate::common::any::By;
use crate::common::calls::write_sync;
use crate::common::readers;
use crate::oracle;
use crate::plans::plan;

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_archive_is_what_a_naive_writer_makes_and_reads_back(plan in plan(), cuts in any::<[u64; 2]>()) {
        let data = plan.data();
        let archive = write_sync(plan.options(), &plan.calls(&data, cuts[0]));
        let parsed = oracle::check(&plan, &data, &archive);
        prop_assert!(!parsed.zip64);
        readers::agree(&archive, &parsed);
        let cut_differently = write_sync(plan.options(), &plan.calls(&data, cuts[1]));
        prop_assert!(archive == cut_differently, "how data is cut makes no difference");
    }

    #[test]
    fn every_writer_makes_the_same_bytes(plan in plan(), cuts in any::<[u64; 2]>()) {
        let data = plan.data();
        let wanted = write_sync(plan.options(), &plan.calls(&data, cuts[0]));
        for by in By::ALL {
            let got = by.write(plan.options(), &plan.calls(&data, cuts[1]));
            prop_assert!(got == wanted, "{:?}", by);
        }
    }
}
