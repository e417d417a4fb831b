//! Columns that hold only what their rows refer to: of views, list views and dense unions arrow-ipc sends with every message all the values of the
//! column that they were cut or filtered from.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{ByteArrayType, ByteViewType, RunEndIndexType};
use arrow_array::{
    AnyDictionaryArray, Array, ArrayRef, FixedSizeListArray, GenericByteArray, GenericByteViewArray, GenericListArray,
    GenericListViewArray, ListArray, MapArray, OffsetSizeTrait, PrimitiveArray, RecordBatch, RunArray, StructArray,
    UInt64Array, UnionArray, downcast_run_array, make_array,
};
use arrow_schema::{ArrowError, DataType, FieldRef, UnionMode};
use arrow_select::take::take;

type Result<T> = std::result::Result<T, ArrowError>;

/// Whether columns of `data_type` may hold more than their rows refer to, or are replaced by their values.
pub fn is_loose(data_type: &DataType) -> bool {
    use DataType::{BinaryView, Dictionary, LargeListView, ListView, Union, Utf8View};
    matches!(data_type, Dictionary(..) | Utf8View | BinaryView | ListView(_) | LargeListView(_))
        || matches!(data_type, Union(_, UnionMode::Dense))
}

/// `batch` with only what its rows refer to, and with values in place of dictionaries. Copies no more than it must for that.
///
/// # Errors
/// If arrow cannot take the values of such a type; [`ArrowError::OffsetOverflowError`] with the bytes of values that would stand in place of a
/// dictionary, if they are more than `most`.
pub fn packed(batch: RecordBatch, most: usize) -> Result<RecordBatch> {
    let columns: ArrayRef = Arc::new(StructArray::from(batch));
    Ok(RecordBatch::from(part(&columns, most)?.as_struct()))
}

fn part(array: &ArrayRef, most: usize) -> Result<ArrayRef> {
    if let Some(array) = array.as_any_dictionary_opt() {
        let bytes = value_bytes(array);
        if bytes > most {
            return Err(ArrowError::OffsetOverflowError(bytes));
        }
        return part(&take(array.values(), array.keys(), None)?, most);
    }
    let nulls = || array.nulls().cloned();
    Ok(match array.data_type() {
        DataType::Utf8View => Arc::new(lean(array.as_string_view())),
        DataType::BinaryView => Arc::new(lean(array.as_binary_view())),
        DataType::List(item) => Arc::new(list::<i32>(array.as_list(), item, most)?),
        DataType::LargeList(item) => Arc::new(list::<i64>(array.as_list(), item, most)?),
        DataType::ListView(item) => list_view::<i32>(array.as_list_view(), item, most)?,
        DataType::LargeListView(item) => list_view::<i64>(array.as_list_view(), item, most)?,
        DataType::FixedSizeList(item, size) => {
            let values = part(array.as_fixed_size_list().values(), most)?;
            let item = of_type(item, &values);
            Arc::new(FixedSizeListArray::try_new_with_length(item, *size, values, nulls(), array.len())?)
        }
        DataType::Map(entries, sorted) => {
            let list = list(&ListArray::from(array.as_map().clone()), entries, most)?;
            let (entries, offsets, values, nulls) = list.into_parts();
            Arc::new(MapArray::try_new(entries, offsets, values.as_struct().clone(), nulls, *sorted)?)
        }
        DataType::Struct(fields) => {
            let columns =
                array.as_struct().columns().iter().map(|column| part(column, most)).collect::<Result<Vec<_>>>()?;
            let fields = fields.iter().zip(&columns).map(|(field, column)| of_type(field, column)).collect();
            Arc::new(StructArray::try_new_with_length(fields, columns, nulls(), array.len())?)
        }
        DataType::Union(fields, mode) => {
            let all = UInt64Array::from_iter_values(0..array.len() as u64);
            let array = if *mode == UnionMode::Dense { take(array, &all, None)? } else { Arc::clone(array) };
            let array = array.as_union();
            let children = fields.iter().map(|(id, _)| part(array.child(id), most)).collect::<Result<Vec<_>>>()?;
            let fields = fields.iter().zip(&children).map(|((id, field), child)| (id, of_type(field, child)));
            let (ids, offsets) = (array.type_ids().clone(), array.offsets().cloned());
            Arc::new(UnionArray::try_new(fields.collect(), ids, offsets, children)?)
        }
        DataType::RunEndEncoded(ends, values) => {
            downcast_run_array!(array => runs(array, ends, values, most)?, _ => Arc::clone(array))
        }
        _ => Arc::clone(array),
    })
}

/// Bytes that the values of a dictionary take in place of its keys; of types that are no bytes as many as its values take on average.
fn value_bytes(array: &dyn AnyDictionaryArray) -> usize {
    fn sum<T: ByteArrayType>(values: &GenericByteArray<T>, keys: impl Iterator<Item = usize>) -> usize {
        keys.map(|key| AsRef::<[u8]>::as_ref(values.value(key)).len()).sum()
    }
    let values = array.values();
    if values.is_empty() {
        return 0;
    }
    let keys =
        array.normalized_keys().into_iter().enumerate().filter_map(|(row, key)| array.is_valid(row).then_some(key));
    match values.data_type() {
        DataType::Utf8 => sum(values.as_string::<i32>(), keys),
        DataType::LargeUtf8 => sum(values.as_string::<i64>(), keys),
        DataType::Binary => sum(values.as_binary::<i32>(), keys),
        DataType::LargeBinary => sum(values.as_binary::<i64>(), keys),
        _ => values.to_data().get_slice_memory_size().unwrap_or(0).div_ceil(values.len()).saturating_mul(array.len()),
    }
}

fn of_type(field: &FieldRef, array: &ArrayRef) -> FieldRef {
    Arc::new(field.as_ref().clone().with_data_type(array.data_type().clone()))
}

fn lean<T: ByteViewType>(array: &GenericByteViewArray<T>) -> GenericByteViewArray<T> {
    let held = array.data_buffers().iter().fold(0, |held, buffer| held + buffer.len());
    // Rows that share their values refer to more than there is.
    if array.total_buffer_bytes_used() < held { array.gc() } else { array.clone() }
}

fn runs<R: RunEndIndexType>(array: &RunArray<R>, ends: &FieldRef, values: &FieldRef, most: usize) -> Result<ArrayRef> {
    let taken = part(&array.values_slice(), most)?;
    let data_type = DataType::RunEndEncoded(Arc::clone(ends), of_type(values, &taken));
    let ends = array.run_ends().sliced_values().collect::<Vec<_>>();
    let runs = RunArray::try_new(&PrimitiveArray::<R>::from_iter_values(ends), &taken)?;
    // With the fields that it has, in place of new ones.
    Ok(make_array(runs.into_data().into_builder().data_type(data_type).build()?))
}

fn list<O: OffsetSizeTrait>(array: &GenericListArray<O>, item: &FieldRef, most: usize) -> Result<GenericListArray<O>> {
    let offsets = array.offsets();
    let (first, end) = (offsets[0].as_usize(), offsets[array.len()].as_usize());
    let values = part(&array.values().slice(first, end - first), most)?;
    let offsets = offsets.clone().subtract(offsets[0]);
    GenericListArray::try_new(of_type(item, &values), offsets, values, array.nulls().cloned())
}

fn list_view<O: OffsetSizeTrait>(array: &GenericListViewArray<O>, item: &FieldRef, most: usize) -> Result<ArrayRef> {
    let rows = || array.offsets().iter().zip(array.sizes()).map(|(first, size)| (first.as_usize(), size.as_usize()));
    let (mut offsets, mut values) = (array.offsets().clone(), Arc::clone(array.values()));
    // Rows may share values, and are then left as they are.
    if rows().map(|(_, size)| size).sum::<usize>() < values.len() {
        let used: UInt64Array = rows().flat_map(|(first, size)| first as u64..(first + size) as u64).collect();
        values = take(&values, &used, None)?;
        let mut end = 0;
        let first = |(_, size)| {
            end += size;
            O::usize_as(end - size)
        };
        offsets = rows().map(first).collect();
    }
    let values = part(&values, most)?;
    let (item, sizes, nulls) = (of_type(item, &values), array.sizes().clone(), array.nulls().cloned());
    Ok(Arc::new(GenericListViewArray::try_new(item, offsets, sizes, values, nulls)?))
}
