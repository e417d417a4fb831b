//! Messages whose values stay where they are: byte for byte those of arrow-flight's encoder.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::{Int32Builder, MapBuilder, StringBuilder};
use arrow_array::types::{Int16Type, Int32Type};
use arrow_array::{
    ArrayRef, BooleanArray, Decimal128Array, DictionaryArray, FixedSizeBinaryArray, FixedSizeListArray, Float64Array,
    Int32Array, Int64Array, LargeBinaryArray, ListArray, NullArray, RecordBatch, RunArray, StringArray,
    StringViewArray, StructArray, UnionArray,
};
use arrow_flight::FlightData;
use arrow_flight::decode::FlightRecordBatchStream;
use arrow_flight::encode::FlightDataEncoderBuilder;
use arrow_schema::{DataType, Field, Schema, SchemaRef, UnionFields};
use arrow_select::concat::concat_batches;
use futures::executor::block_on;
use futures::stream::{self, StreamExt, TryStreamExt};
use proptest::prelude::*;
use proptest::sample::Index;

use flight_batches::direct;

const KINDS: usize = 17;

/// What is behind a part of them is not sent with it: `tests/direct_sizes.rs`.
const VIEWS: usize = 8;

/// A column of so many rows, every third of them null where that can be.
fn column(kind: usize, rows: usize) -> ArrayRef {
    let numbers = || (0..rows).map(|row| i32::try_from(row).unwrap());
    let some = || numbers().map(|number| (number % 3 != 0).then_some(number));
    let texts = || some().map(|number| number.map(|number| format!("{number}, in more than twelve bytes")));
    let lists = || some().map(|number| Some(vec![number; usize::try_from(number?).unwrap() % 4]));
    let letters = || some().map(|number| ["a", "b", "c", "d"].get(usize::try_from(number?).unwrap() % 4).copied());
    let strings = || Arc::new(texts().collect::<StringArray>()) as ArrayRef;
    let nullable = |name, data_type| Arc::new(Field::new(name, data_type, true));
    match kind {
        0 => Arc::new(numbers().map(i64::from).collect::<Int64Array>()),
        1 => Arc::new(some().collect::<Int32Array>()),
        2 => strings(),
        3 => Arc::new(some().map(|number| number.map(|number| number % 2 == 0)).collect::<BooleanArray>()),
        4 => Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists())),
        5 => Arc::new(StructArray::from(vec![
            (nullable("text", DataType::Utf8), strings()),
            (nullable("flag", DataType::Boolean), column(3, rows)),
        ])),
        6 => {
            let values = some().map(|number| number.map(i32::to_le_bytes));
            Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size(values, 4).unwrap())
        }
        7 => Arc::new(NullArray::new(rows)),
        VIEWS => Arc::new(texts().collect::<StringViewArray>()),
        9 => Arc::new(numbers().map(f64::from).collect::<Float64Array>()),
        10 => {
            let mut builder = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
            for number in some() {
                builder.keys().append_value("key");
                builder.values().append_option(number);
                builder.append(number.is_some()).unwrap();
            }
            Arc::new(builder.finish())
        }
        11 => Arc::new(texts().map(|text| text.map(String::into_bytes)).collect::<LargeBinaryArray>()),
        12 => Arc::new(some().map(|number| number.map(i128::from)).collect::<Decimal128Array>()),
        UNION => {
            let fields = [(0, nullable("number", DataType::Int32)), (1, nullable("text", DataType::Utf8))];
            let fields = UnionFields::from_iter(fields);
            let kinds: Vec<i8> = (0..rows).map(|row| i8::from(row % 2 == 0)).collect();
            Arc::new(UnionArray::try_new(fields, kinds.into(), None, vec![column(1, rows), strings()]).unwrap())
        }
        14 => {
            let ends = numbers().map(|number| number + 1).collect::<Int32Array>();
            Arc::new(RunArray::try_new(&ends, &*strings()).unwrap())
        }
        15 => {
            let pairs = some().map(|number| Some([number, None]));
            Arc::new(FixedSizeListArray::from_iter_primitive::<Int32Type, _, _>(pairs, 2))
        }
        _ => Arc::new(letters().collect::<DictionaryArray<Int16Type>>()),
    }
}

fn batch(kinds: &[usize], rows: usize) -> RecordBatch {
    let columns: Vec<ArrayRef> = kinds.iter().map(|&kind| column(kind, rows)).collect();
    let described = [("unit".to_owned(), "none".to_owned())];
    let field = |(number, column): (usize, &ArrayRef)| {
        Field::new(format!("c{number}"), column.data_type().clone(), true)
            .with_metadata(HashMap::from(described.clone()))
    };
    let fields: Vec<Field> = columns.iter().enumerate().map(field).collect();
    let schema = Schema::new(fields).with_metadata(HashMap::from(described));
    RecordBatch::try_new(Arc::new(schema), columns).unwrap()
}

fn ours(schema: SchemaRef, batches: Vec<RecordBatch>) -> Vec<FlightData> {
    let messages = direct::messages(schema, stream::iter(batches).map(Ok));
    block_on(messages.map_ok(FlightData::from).try_collect()).unwrap()
}

/// Those of the encoder that copies.
fn theirs(schema: SchemaRef, batches: Vec<RecordBatch>) -> Vec<FlightData> {
    let stock = FlightDataEncoderBuilder::new().with_schema(schema).with_max_flight_data_size(usize::MAX);
    block_on(stock.build(stream::iter(batches).map(Ok)).try_collect()).unwrap()
}

/// The encoder that copies sends it without its metadata, and as if no row was null.
const UNION: usize = 13;

/// The same bytes, or with views the same batches.
fn same(kinds: &[usize], schema: SchemaRef, batches: &[RecordBatch]) -> bool {
    let (ours, theirs) = (ours(schema.clone(), batches.to_vec()), theirs(schema, batches.to_vec()));
    let from = usize::from(kinds.contains(&UNION));
    if kinds.contains(&VIEWS) { rows(ours) == rows(theirs) } else { ours[from..] == theirs[from..] }
}

fn rows(messages: Vec<FlightData>) -> Vec<Vec<ArrayRef>> {
    read(messages).iter().map(|batch| batch.columns().to_vec()).collect()
}

fn read(messages: Vec<FlightData>) -> Vec<RecordBatch> {
    let read = FlightRecordBatchStream::new_from_flight_data(stream::iter(messages).map(Ok));
    block_on(read.try_collect()).unwrap()
}

proptest! {
    #[test]
    fn messages_are_those_of_the_encoder_that_copies(
        kinds in proptest::collection::vec(0..KINDS, 1..6),
        rows in 1_usize..3000,
        cuts in proptest::collection::vec(any::<(Index, Index)>(), 1..4),
    ) {
        let whole = batch(&kinds, rows);
        let slices = cuts.into_iter().map(|(begin, length)| {
            let begin = begin.index(rows);
            whole.slice(begin, length.index(rows - begin + 1))
        });
        let slices: Vec<RecordBatch> = slices.chain([whole.clone()]).collect();
        prop_assert!(same(&kinds, whole.schema(), &slices));
    }
}

#[test]
fn every_kind_of_column_is_the_same_and_without_a_row_too() {
    for kind in 0..KINDS {
        let whole = batch(&[kind], 1001);
        for slices in [vec![], vec![whole.slice(0, 0)], vec![whole.slice(5, 800), whole.slice(1, 1)]] {
            assert!(same(&[kind], whole.schema(), &slices), "{kind}");
        }
    }
}

#[test]
fn a_large_batch_is_cut_into_messages_that_every_client_takes() {
    let whole = batch(&[0, 2], 200_000);
    for part in [whole.clone(), whole.slice(20_000, 150_000), whole.slice(7, 20)] {
        let messages = ours(whole.schema(), vec![part.clone()]);
        assert!(messages.iter().all(|message| message.data_body.len() < 4 << 20), "the default of a client");
        assert_eq!(messages.len() > 2, part.num_rows() > 20, "and no small one is cut");
        assert_eq!(concat_batches(&whole.schema(), &read(messages)).unwrap(), part);
    }
}

#[test]
fn what_arrives_has_the_schema_that_was_sent() {
    for kind in 0..KINDS - 1 {
        let whole = batch(&[kind], 10);
        assert_eq!(read(ours(whole.schema(), vec![whole.clone()])), [whole], "{kind}");
    }
}

#[test]
fn values_are_not_copied() {
    let whole = batch(&[0], 10_000);
    let messages = direct::messages(whole.schema(), stream::iter([Ok(whole.clone())]));
    let messages: Vec<_> = block_on(messages.try_collect()).unwrap();
    let there = whole.column(0).to_data().buffers()[0].as_ptr();
    assert!(messages[1].values.iter().any(|piece| piece.as_ptr() == there));
}

#[test]
fn a_batch_of_another_schema_is_an_error() {
    let (one, other) = (batch(&[0], 10), batch(&[1], 10));
    let messages = direct::messages(one.schema(), stream::iter([Ok(one), Ok(other)]));
    let error = block_on(messages.try_collect::<Vec<_>>()).unwrap_err();
    assert!(error.to_string().contains("a batch has another schema than its stream"), "{error}");
}
