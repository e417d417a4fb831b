//! Messages of columns of any type, however they were cut, filtered and nested: below what clients take, near the bytes of their rows, and
//! of the same values.

#![allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "counts of rows are small")]

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, BinaryViewArray, DictionaryArray, FixedSizeListArray, Int32Array, Int64Array, LargeListArray,
    LargeListViewArray, LargeStringArray, ListArray, ListViewArray, MapArray, RecordBatch, RunArray, StringArray,
    StringViewArray, StructArray, UInt32Array, UnionArray, new_null_array,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_flight::FlightData;
use arrow_flight::decode::FlightRecordBatchStream;
use arrow_flight::encode::FlightDataEncoderBuilder;
use arrow_flight::error::FlightError;
use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, UnionFields};
use arrow_select::take::take;
use futures::executor::block_on;
use futures::stream::{self, StreamExt, TryStreamExt};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use flight_batches::direct;

/// The default of tonic's, Go's and Java's clients.
const MOST_BYTES: usize = 4 << 20;

/// A column twice: as it is given, and as it arrives, with values in place of dictionaries.
type Pair = [ArrayRef; 2];

fn field(array: &ArrayRef) -> FieldRef {
    Arc::new(Field::new("part", array.data_type().clone(), true))
}

fn texts(rng: &mut ChaCha8Rng, rows: usize, most: usize) -> Vec<Option<String>> {
    let text = |length: usize, letter: u8| char::from(b'a' + letter).to_string().repeat(length);
    (0..rows).map(|_| rng.random_bool(0.9).then(|| text(rng.random_range(0..=most), rng.random_range(0..26)))).collect()
}

/// The kinds of columns that hold no other.
const FLAT: usize = 6;
/// The kinds that do.
const NESTED: usize = 11;

fn flat(kind: usize, rows: usize, most: usize, rng: &mut ChaCha8Rng) -> Pair {
    let twice = |array: ArrayRef| [Arc::clone(&array), array];
    match kind {
        0 => twice(Arc::new((0..rows as i64).collect::<Int64Array>())),
        1 => twice(Arc::new(StringArray::from(texts(rng, rows, most)))),
        2 => twice(Arc::new(StringViewArray::from_iter(texts(rng, rows, most)))),
        3 => {
            let values = texts(rng, rows, most).into_iter().map(|text| text.map(String::into_bytes));
            twice(Arc::new(values.collect::<BinaryViewArray>()))
        }
        // Rows that share their values.
        4 => {
            let values: ArrayRef = Arc::new(StringViewArray::from_iter(texts(rng, 20, most)));
            let rows: UInt32Array = (0..rows).map(|_| rng.random_range(0..20)).collect();
            twice(take(&values, &rows, None).unwrap())
        }
        _ => {
            let values: ArrayRef = Arc::new(StringArray::from(texts(rng, 20, most)));
            let keys: Int32Array = (0..rows).map(|_| rng.random_bool(0.9).then(|| rng.random_range(0..20))).collect();
            let arrives = take(&values, &keys, None).unwrap();
            [Arc::new(DictionaryArray::<Int32Type>::new(keys, values)), arrives]
        }
    }
}

/// So many rows around columns that may have more.
fn nested(kind: usize, rows: usize, children: usize, child: &Pair, rng: &mut ChaCha8Rng) -> Pair {
    let mut ends: Vec<i32> = (0..rows).map(|_| rng.random_range(0..=children as i32)).collect();
    ends.sort_unstable();
    let offsets: Vec<i32> = std::iter::once(0).chain(ends).collect();
    let long = || offsets.iter().map(|&offset| i64::from(offset)).collect::<Vec<_>>();
    let (mut firsts, mut sizes) = (Vec::new(), Vec::new());
    for _ in 0..rows {
        let first = rng.random_range(0..=children as i32);
        firsts.push(first);
        sizes.push(rng.random_range(0..=(children as i32 - first).min(3)));
    }
    let some: UInt32Array = (0..rows).map(|_| rng.random_range(0..children as u32)).collect();
    let nulls: Option<NullBuffer> =
        rng.random_bool(0.5).then(|| (0..rows).map(|_| rng.random_bool(0.8)).collect::<Vec<_>>().into());
    let ids: Vec<i8> = (0..rows).map(|row| i8::from(row % 3 == 0)).collect();
    let dense: Vec<i32> =
        ids.iter().map(|id| if *id == 1 { 0 } else { rng.random_range(0..children as i32) }).collect();
    child.each_ref().map(|child| -> ArrayRef {
        let (item, numbers): (_, ArrayRef) = (field(child), Arc::new((0..rows as i64).collect::<Int64Array>()));
        let one_each = || take(child, &some, None).unwrap();
        let fields = |arrays: &[&ArrayRef]| {
            let named = |(number, array): (usize, &&ArrayRef)| {
                Field::new(format!("field{number}"), array.data_type().clone(), true)
            };
            arrays.iter().enumerate().map(named).collect::<Fields>()
        };
        let union =
            || UnionFields::try_new([0, 1], [item.as_ref().clone(), Field::new("number", DataType::Int64, true)]);
        match kind {
            0 => Arc::new(ListArray::new(
                item,
                OffsetBuffer::new(offsets.clone().into()),
                Arc::clone(child),
                nulls.clone(),
            )),
            1 => {
                Arc::new(LargeListArray::new(item, OffsetBuffer::new(long().into()), Arc::clone(child), nulls.clone()))
            }
            2 => Arc::new(ListViewArray::new(
                item,
                firsts.clone().into(),
                sizes.clone().into(),
                Arc::clone(child),
                nulls.clone(),
            )),
            3 => {
                let long = |numbers: &[i32]| numbers.iter().map(|&number| i64::from(number)).collect::<Vec<_>>();
                let (firsts, sizes) = (long(&firsts).into(), long(&sizes).into());
                Arc::new(LargeListViewArray::new(item, firsts, sizes, Arc::clone(child), nulls.clone()))
            }
            4 => {
                let pairs: UInt32Array = some.iter().flat_map(|row| [row, row]).collect();
                Arc::new(FixedSizeListArray::new(item, 2, take(child, &pairs, None).unwrap(), nulls.clone()))
            }
            5 => Arc::new(StructArray::new(fields(&[&numbers, child]), vec![numbers, one_each()], nulls.clone())),
            6 | 7 => {
                let keys: ArrayRef = Arc::new((0..child.len() as i64).collect::<Int64Array>());
                let entries = Fields::from(vec![
                    Field::new("keys", DataType::Int64, false),
                    Field::new("values", child.data_type().clone(), true),
                ]);
                let columns = vec![keys, Arc::clone(child)];
                let entries = StructArray::new(entries, columns, None);
                let item = Arc::new(Field::new("entries", entries.data_type().clone(), false));
                Arc::new(MapArray::new(
                    item,
                    OffsetBuffer::new(offsets.clone().into()),
                    entries,
                    nulls.clone(),
                    kind == 7,
                ))
            }
            8 => {
                let children = vec![one_each(), numbers];
                Arc::new(UnionArray::try_new(union().unwrap(), ids.clone().into(), None, children).unwrap())
            }
            9 => {
                let children = vec![Arc::clone(child), new_null_array(&DataType::Int64, 1)];
                let (ids, dense) = (ids.clone().into(), Some(dense.clone().into()));
                Arc::new(UnionArray::try_new(union().unwrap(), ids, dense, children).unwrap())
            }
            _ => {
                let ends: Int32Array = (1..=rows as i32).map(|row| 2 * row).collect();
                let runs = RunArray::<Int32Type>::try_new(&ends, &one_each()).unwrap();
                Arc::new(runs.slice(rows / 2, rows))
            }
        }
    })
}

fn column(kinds: &[usize], rows: usize, most: usize, rng: &mut ChaCha8Rng) -> Pair {
    match kinds {
        [kind] => flat(kind % FLAT, rows, most, rng),
        [kind, inner @ ..] => {
            let children = rows + rows / 2;
            let child = column(inner, children, most, rng);
            nested(kind % NESTED, rows, children, &child, rng)
        }
        [] => [Arc::new(Int64Array::from(vec![0; rows])), Arc::new(Int64Array::from(vec![0; rows]))],
    }
}

fn batch(columns: &[ArrayRef]) -> RecordBatch {
    let fields = columns
        .iter()
        .enumerate()
        .map(|(number, column)| Field::new(format!("column{number}"), column.data_type().clone(), true));
    RecordBatch::try_new(Arc::new(Schema::new(fields.collect::<Vec<_>>())), columns.to_vec()).unwrap()
}

fn ours(batch: &RecordBatch) -> Result<Vec<FlightData>, FlightError> {
    let messages = direct::messages(batch.schema(), stream::iter([Ok(batch.clone())]));
    block_on(messages.map_ok(FlightData::from).try_collect())
}

/// Those of arrow-flight's encoder.
fn theirs(batch: &RecordBatch) -> Result<Vec<FlightData>, FlightError> {
    let encoder = FlightDataEncoderBuilder::new().with_schema(batch.schema());
    block_on(encoder.build(stream::iter([Ok(batch.clone())])).try_collect())
}

fn bytes(messages: &[FlightData]) -> usize {
    messages.iter().map(|message| message.data_header.len() + message.data_body.len()).sum()
}

/// Every message is what a client takes, or a single row.
fn assert_fits(messages: &[FlightData]) {
    for message in messages {
        let header = arrow_ipc::root_as_message(&message.data_header).unwrap();
        let rows = header.header_as_record_batch().map_or(0, |batch| batch.length());
        let bytes = prost::Message::encoded_len(message);
        assert!(bytes <= MOST_BYTES || rows == 1, "{bytes} bytes of {rows} rows");
    }
}

/// What the messages bring is the rows of `arrives`.
fn assert_arrives(messages: Vec<FlightData>, arrives: &RecordBatch) {
    let read = FlightRecordBatchStream::new_from_flight_data(stream::iter(messages).map(Ok));
    let read: Vec<RecordBatch> = block_on(read.try_collect()).unwrap();
    let mut first = 0;
    for part in read {
        for (column, (got, want)) in part.columns().iter().zip(arrives.columns()).enumerate() {
            let want = want.slice(first, part.num_rows());
            assert_eq!(got.data_type(), want.data_type());
            assert!(**got == *want, "column {column}, rows from {first}");
        }
        first += part.num_rows();
    }
    assert_eq!(first, arrives.num_rows());
}

/// Messages of a column, of which each fits, all rows arrive, and which together are at most a twentieth longer than so many bytes.
fn assert_near(given: &ArrayRef, arrives: &ArrayRef, want: usize) {
    let messages = ours(&batch(&[Arc::clone(given)])).unwrap();
    assert_fits(&messages);
    assert!(
        bytes(&messages) <= want + want / 20 + 4096,
        "{} bytes instead of {want}: {}",
        bytes(&messages),
        given.data_type()
    );
    assert_arrives(messages, &batch(&[Arc::clone(arrives)]));
}

#[test]
fn a_dictionary_of_long_values_is_cut_by_what_its_rows_take() {
    let values: ArrayRef = Arc::new(StringArray::from_iter_values((0..20).map(|value| format!("{value:02000}"))));
    let keys: Int32Array = (0..20_000).map(|row| row % 20).collect();
    let arrives = take(&values, &keys, None).unwrap();
    let given: ArrayRef = Arc::new(DictionaryArray::<Int32Type>::new(keys, values));
    assert_near(&given, &arrives, 20_000 * 2004);
    let [listed, arrives] = nested(5, 15_000, 20_000, &[given, arrives], &mut ChaCha8Rng::seed_from_u64(1));
    assert_near(&listed, &arrives, 15_000 * (2004 + 8));
}

#[test]
fn values_in_place_of_a_dictionary_take_no_more_memory_than_a_message_has() {
    // Half of it is 3 GB, more than offsets of 32 bits reach.
    const ROWS: usize = 30_000;
    let value = ["x".repeat(200_000)];
    let values: [ArrayRef; 2] =
        [Arc::new(StringArray::from_iter_values(&value)), Arc::new(LargeStringArray::from_iter_values(&value))];
    for values in values {
        let dictionary = |key| -> ArrayRef {
            Arc::new(DictionaryArray::<Int32Type>::new(vec![key; ROWS].into_iter().collect(), Arc::clone(&values)))
        };
        let texts = dictionary(Some(0));
        let [within, _] = nested(5, ROWS, ROWS, &[texts.clone(), texts.clone()], &mut ChaCha8Rng::seed_from_u64(3));
        for texts in [texts, within] {
            let batch = batch(&[texts]);
            let messages = direct::messages(batch.schema(), stream::iter([Ok(batch)]));
            let first: Vec<_> = block_on(messages.map_ok(FlightData::from).take(31).try_collect()).unwrap();
            assert_fits(&first);
            assert!(first[1..].iter().all(|message| message.data_body.len() > 1 << 20), "and is no single row");
        }
        assert_eq!(ours(&batch(&[dictionary(None)])).unwrap().len(), 3, "what is null takes nothing");
    }
}

#[test]
fn views_and_what_is_nested_over_them_are_cut_and_only_what_their_rows_refer_to_is_sent() {
    const ROWS: usize = 15_000;
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let texts = || (0..ROWS).map(|row| format!("{row:01000}"));
    let views: [ArrayRef; 2] = [
        Arc::new(StringViewArray::from_iter_values(texts())),
        Arc::new(BinaryViewArray::from_iter_values(texts().map(String::into_bytes))),
    ];
    for views in views {
        let rows = |every: u32| -> UInt32Array { (0..ROWS as u32).filter(|row| row % every == 0).collect() };
        for every in [1, 10, 5000] {
            // Views, offsets and sizes of a row come to at most 40 bytes.
            let want = |rows: usize| rows * (1000 + 40);
            let part = take(&views, &rows(every), None).unwrap();
            assert_near(&part, &part, want(part.len()));
            for kind in [4, 5, 8, 10] {
                let [whole, _] = nested(kind, ROWS, ROWS, &[Arc::clone(&views), Arc::clone(&views)], &mut rng);
                let part = take(&whole, &rows(every), None).unwrap();
                // A list of a fixed size has the value twice.
                assert_near(&part, &part, want(part.len()) * if kind == 4 { 2 } else { 1 });
            }
            // One value a row, in lists of which others were cut off or are not referred to.
            let offsets: Vec<i32> = (0..=ROWS as i32).collect();
            let (item, sizes) = (field(&views), vec![1; ROWS]);
            let lists: [ArrayRef; 2] = [
                Arc::new(ListArray::new(
                    Arc::clone(&item),
                    OffsetBuffer::new(offsets.clone().into()),
                    Arc::clone(&views),
                    None,
                )),
                Arc::new(ListViewArray::new(
                    item,
                    offsets[..ROWS].to_vec().into(),
                    sizes.into(),
                    Arc::clone(&views),
                    None,
                )),
            ];
            for lists in lists {
                let part = lists.slice(ROWS / 3, ROWS / 3 / every as usize);
                assert_near(&part, &part, want(part.len()));
            }
        }
    }
}

#[test]
fn what_rows_share_is_sent_once_a_message() {
    let value: ArrayRef = Arc::new(Int64Array::from_iter_values(0..1000));
    let (firsts, sizes) = (vec![0; 20_000].into(), vec![1000; 20_000].into());
    let lists: ArrayRef = Arc::new(ListViewArray::new(field(&value), firsts, sizes, value, None));
    assert_near(&lists, &lists, 20_000 * 8 + 2 * 8000);
    let value: ArrayRef = Arc::new(StringViewArray::from_iter_values(["x".repeat(2000)]));
    let texts = take(&value, &UInt32Array::from(vec![0; 20_000]), None).unwrap();
    assert_near(&texts, &texts, 20_000 * 16 + 2 * 2000);
}

#[test]
fn a_few_long_rows_among_short_ones_are_cut_and_one_that_is_too_long_goes_alone() {
    let lengths = (0..50_000).map(|row| if row >= 49_990 { 1 << 20 } else { 1 });
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values(lengths.map(|length| "x".repeat(length))));
    assert_near(&texts, &texts, 50_000 * 5 + (10 << 20));
    // As with arrow-flight.
    let lengths = [1, 1, 5 << 20, 1, 1];
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values(lengths.map(|length| "x".repeat(length))));
    assert_near(&texts, &texts, 5 << 20);
    let longest = |messages: Vec<FlightData>| messages.iter().map(|message| message.data_body.len()).max();
    let batch = batch(&[texts]);
    assert_eq!(longest(ours(&batch).unwrap()), longest(theirs(&batch).unwrap()));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]
    #[test]
    fn columns_of_any_type_arrive_in_messages_near_the_bytes_of_their_rows(
        kinds in proptest::collection::vec(proptest::collection::vec(0..66_usize, 1..4), 1..3),
        rows in 1..400_usize,
        most in prop_oneof![Just(8_usize), Just(100), Just(20_000)],
        part in 1..8_usize,
        seed in any::<u64>(),
    ) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let columns: Vec<Pair> = kinds.iter().map(|kinds| column(kinds, rows, most, &mut rng)).collect();
        // Cut, and filtered.
        let first = rng.random_range(0..rows);
        let kept: UInt32Array = (first as u32..rows as u32).filter(|_| rng.random_ratio(1, part as u32)).collect();
        let kept = |array: &ArrayRef| if part == 1 { array.slice(first, rows - first) } else { take(array, &kept, None).unwrap() };
        let [given, arrives] = [0, 1].map(|side| batch(&columns.iter().map(|pair| kept(&pair[side])).collect::<Vec<_>>()));
        let messages = ours(&given).unwrap();
        let by_ours = bytes(&messages);
        assert_fits(&messages);
        if let Ok(theirs) = theirs(&given) {
            // Each piece of a view begins at a place of its own in the body.
            prop_assert!(by_ours <= bytes(&theirs) + bytes(&theirs) / 4 + 4096 * messages.len(), "{by_ours} {}", bytes(&theirs));
        }
        assert_arrives(messages, &arrives);
    }
}
