//! What engines keep transactions in: the hash of their ids, and the ledger's table by number.

use std::collections::{BTreeMap, HashSet};
use std::hash::BuildHasher;

use proptest::prelude::*;
use txn_engine::ErrorKind;
use txn_engine::accounts::Books;
use txn_engine::amount::Amount;
use txn_engine::hash::IdHash;
use txn_engine::ledger::Ledger;
use txn_engine::row::{Kind, Row};
use txn_engine::rules::{State, StoredTx};

fn hashes(ids: impl Iterator<Item = u32>, of: impl Fn(u64) -> u64) -> usize {
    let hash = IdHash::default();
    ids.map(|id| of(hash.hash_one(id))).collect::<HashSet<_>>().len()
}

#[test]
fn ids_have_hashes_of_their_own_and_fill_group_after_group_or_spread_over_the_groups_of_a_table() {
    assert_eq!(hashes(0..100_000, |hash| hash), 100_000);
    assert_eq!(hashes(0..1_600, |hash| hash >> 4 & 0xFFFF_FFFF), 100);
    for stride in [16, 17, 1_000, 4_096, 65_536] {
        let groups = hashes((0..10_000).map(|n| n * stride), |hash| hash >> 4 & 0xFFF);
        // 10,000 ids that chance throws at 4,096 groups leave a tenth of them empty; an unlucky key leaves a little more.
        assert!(groups > 2_500, "stride {stride}: {groups} groups");
    }
}

/// They share the low bits of what the fixed part of the hash makes of them, which would put them all into one place.
#[test]
fn ids_that_were_chosen_to_collide_spread() {
    const SCATTER: u64 = 0x9E37_79B9_7F4A_7C15;
    let fixed = |block: u64| {
        let block = block.wrapping_mul(SCATTER);
        block ^ block >> 32
    };
    let chosen =
        (0..1_u32 << 28).filter(|block| fixed(u64::from(*block)).trailing_zeros() >= 15).map(|block| block << 4);
    let groups = hashes(chosen.take(4_000), |hash| hash >> 4 & 0x7FFF);
    assert!(groups > 1_000, "{groups} groups");
}

fn row(kind: Kind, tx: u32, units: Option<i64>) -> Row {
    Row { amount: units.map(Amount), tx, client: 1, kind }
}

/// Ids in runs with gaps, steps back, far jumps and both ends of the range.
fn ids() -> impl Strategy<Value = Vec<u32>> {
    let run = (any::<u32>(), 1_u32..60, 1_u32..20)
        .prop_map(|(start, len, step)| (0..len).map(|n| start.wrapping_add(n * step)).collect::<Vec<_>>());
    let near = prop::collection::vec(0_u32..400, 1..80);
    let ends = prop::collection::vec(prop::sample::select(vec![0, 1, u32::MAX - 1, u32::MAX]), 1..4);
    prop::collection::vec(prop_oneof![run, near, ends], 1..8).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn a_ledger_holds_what_a_map_holds(ids in ids()) {
        let mut ledger = Ledger::default();
        let mut map = BTreeMap::new();
        for (units, id) in (1..).zip(ids) {
            let right = if map.contains_key(&id) { Err(ErrorKind::RepeatedTx) } else { Ok(()) };
            prop_assert_eq!(ledger.process(&row(Kind::Deposit, id, Some(units))), right);
            map.entry(id).or_insert(StoredTx::new(1, Amount(units), State::Settled));
            for kind in [Kind::Dispute, Kind::Resolve] {
                prop_assert_eq!(ledger.process(&row(kind, id, None)), Ok(()));
            }
            prop_assert_eq!(ledger.stored_transactions(), map.len() as u64);
        }
        prop_assert_eq!(ledger.session().transactions, map.into_iter().collect::<Vec<_>>());
    }
}

#[test]
fn a_transaction_takes_no_more_room_for_the_gaps_before_it() {
    const ROWS: u32 = 200_000;
    for step in [1, 2, 3, 10, 16, 17, 1_000] {
        let mut ledger = Ledger::default();
        let empty = ledger.table_bytes();
        for n in 0..ROWS {
            ledger.process(&row(Kind::Deposit, n * step, Some(1))).expect("the id is new");
        }
        let bytes = (ledger.table_bytes() - empty) / u64::from(ROWS);
        assert!(bytes <= 48, "ids {step} apart: {bytes} bytes each");
    }
}
