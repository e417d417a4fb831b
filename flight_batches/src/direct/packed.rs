//! Columns that hold only what their rows refer to: of views, list views and dense unions arrow-ipc sends with every message all the values of the
//! column that they were cut or filtered from.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{ByteViewType, RunEndIndexType};
use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, GenericByteViewArray, GenericListArray, GenericListViewArray, ListArray,
    MapArray, OffsetSizeTrait, PrimitiveArray, RecordBatch, RunArray, StructArray, UInt64Array, UnionArray,
    downcast_run_array, make_array,
};
use arrow_schema::{ArrowError, DataType, FieldRef, UnionMode};
use arrow_select::take::take;

/// Whether columns of `data_type` may hold more than their rows refer to, or are replaced by their values.
pub fn is_loose(data_type: &DataType) -> bool {
    use DataType::{BinaryView, Dictionary, LargeListView, ListView, Union, Utf8View};
    matches!(data_type, Dictionary(..) | Utf8View | BinaryView | ListView(_) | LargeListView(_))
        || matches!(data_type, Union(_, UnionMode::Dense))
}

/// `batch` with only what its rows refer to, and with values in place of dictionaries. Copies no more than it must for that.
///
/// # Errors
/// If arrow cannot take the values of such a type.
pub fn packed(batch: RecordBatch) -> Result<RecordBatch, ArrowError> {
    let columns: ArrayRef = Arc::new(StructArray::from(batch));
    Ok(RecordBatch::from(part(&columns)?.as_struct()))
}

fn part(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    if let Some(array) = array.as_any_dictionary_opt() {
        return part(&take(array.values(), array.keys(), None)?);
    }
    let nulls = || array.nulls().cloned();
    Ok(match array.data_type() {
        DataType::Utf8View => Arc::new(lean(array.as_string_view())),
        DataType::BinaryView => Arc::new(lean(array.as_binary_view())),
        DataType::List(item) => Arc::new(list::<i32>(array.as_list(), item)?),
        DataType::LargeList(item) => Arc::new(list::<i64>(array.as_list(), item)?),
        DataType::ListView(item) => Arc::new(list_view::<i32>(array.as_list_view(), item)?),
        DataType::LargeListView(item) => Arc::new(list_view::<i64>(array.as_list_view(), item)?),
        DataType::FixedSizeList(item, size) => {
            let values = part(array.as_fixed_size_list().values())?;
            let item = of_type(item, &values);
            Arc::new(FixedSizeListArray::try_new_with_length(item, *size, values, nulls(), array.len())?)
        }
        DataType::Map(entries, sorted) => {
            let list = list(&ListArray::from(array.as_map().clone()), entries)?;
            let (entries, offsets, values, nulls) = list.into_parts();
            Arc::new(MapArray::try_new(entries, offsets, values.as_struct().clone(), nulls, *sorted)?)
        }
        DataType::Struct(fields) => {
            let columns = array.as_struct().columns().iter().map(part).collect::<Result<Vec<_>, _>>()?;
            let fields = fields.iter().zip(&columns).map(|(field, column)| of_type(field, column)).collect();
            Arc::new(StructArray::try_new_with_length(fields, columns, nulls(), array.len())?)
        }
        DataType::Union(fields, mode) => {
            let all = UInt64Array::from_iter_values(0..array.len() as u64);
            let array = if *mode == UnionMode::Dense { take(array, &all, None)? } else { Arc::clone(array) };
            let array = array.as_union();
            let children = fields.iter().map(|(id, _)| part(array.child(id))).collect::<Result<Vec<_>, _>>()?;
            let fields = fields.iter().zip(&children).map(|((id, field), child)| (id, of_type(field, child)));
            let (ids, offsets) = (array.type_ids().clone(), array.offsets().cloned());
            Arc::new(UnionArray::try_new(fields.collect(), ids, offsets, children)?)
        }
        DataType::RunEndEncoded(ends, values) => {
            downcast_run_array!(array => runs(array, ends, values)?, _ => Arc::clone(array))
        }
        _ => Arc::clone(array),
    })
}

fn of_type(field: &FieldRef, array: &ArrayRef) -> FieldRef {
    Arc::new(field.as_ref().clone().with_data_type(array.data_type().clone()))
}

fn lean<T: ByteViewType>(array: &GenericByteViewArray<T>) -> GenericByteViewArray<T> {
    let held = array.data_buffers().iter().fold(0, |held, buffer| held + buffer.len());
    // Rows that share their values refer to more than there is.
    if array.total_buffer_bytes_used() < held { array.gc() } else { array.clone() }
}

fn runs<R: RunEndIndexType>(array: &RunArray<R>, ends: &FieldRef, values: &FieldRef) -> Result<ArrayRef, ArrowError> {
    let taken = part(&array.values_slice())?;
    let data_type = DataType::RunEndEncoded(Arc::clone(ends), of_type(values, &taken));
    let ends = array.run_ends().sliced_values().collect::<Vec<_>>();
    let runs = RunArray::try_new(&PrimitiveArray::<R>::from_iter_values(ends), &taken)?;
    // With the fields that it has, in place of new ones.
    Ok(make_array(runs.into_data().into_builder().data_type(data_type).build()?))
}

fn list<O: OffsetSizeTrait>(array: &GenericListArray<O>, item: &FieldRef) -> Result<GenericListArray<O>, ArrowError> {
    let offsets = array.offsets();
    let (first, end) = (offsets[0].as_usize(), offsets[array.len()].as_usize());
    let values = part(&array.values().slice(first, end - first))?;
    let offsets = offsets.clone().subtract(offsets[0]);
    GenericListArray::try_new(of_type(item, &values), offsets, values, array.nulls().cloned())
}

fn list_view<O: OffsetSizeTrait>(
    array: &GenericListViewArray<O>,
    item: &FieldRef,
) -> Result<GenericListViewArray<O>, ArrowError> {
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
    let values = part(&values)?;
    GenericListViewArray::try_new(
        of_type(item, &values),
        offsets,
        array.sizes().clone(),
        values,
        array.nulls().cloned(),
    )
}
