//! Any calls: the same bytes from every writer, and the right ones.

use proptest::prelude::*;

use crate::calls::write_sync;
use crate::plans::plan;
use crate::{oracle, readers};

fn config() -> ProptestConfig {
    ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn an_archive_is_what_a_naive_writer_makes_and_reads_back(plan in plan(), cuts in any::<[u64; 2]>()) {
        let data = plan.data();
        let archive = write_sync(plan.options(), &plan.calls(&data, cuts[0]));
        let parsed = oracle::check(&plan, &data, &archive);
        prop_assert_eq!(&parsed.comment, &plan.comment);
        prop_assert!(!parsed.zip64);
        readers::agree(&archive, &parsed);
        let cut_differently = write_sync(plan.options(), &plan.calls(&data, cuts[1]));
        prop_assert!(archive == cut_differently, "how data is cut makes no difference");
    }
}

#[cfg(feature = "async")]
mod same_bytes {
    use super::*;
    use crate::calls::write_async;
    use s_zip::CompressionPolicy;

    proptest! {
        #![proptest_config(config())]

        #[test]
        fn every_policy_makes_the_bytes_of_the_sync_writer(plan in plan(), cuts in any::<[u64; 2]>()) {
            let data = plan.data();
            let wanted = write_sync(plan.options(), &plan.calls(&data, cuts[0]));
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
            for policy in [CompressionPolicy::Inline, CompressionPolicy::BlockInPlace, CompressionPolicy::Offload] {
                let got = runtime.block_on(write_async(plan.options(), policy, &plan.calls(&data, cuts[1])));
                prop_assert!(got == wanted, "{:?}", policy);
            }
        }
    }
}
