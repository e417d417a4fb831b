//! The published table: a million rows of fifty seeded integers below 50,000.

use std::ops::Range;
use std::sync::Arc;
use std::thread::{self, Builder, ScopedJoinHandle};

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array, PrimitiveArray, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The size of a table and the seed of its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    pub rows: usize,
    pub columns: usize,
    pub seed: u64,
}

/// A table in memory.
#[derive(Debug, Clone)]
pub struct Table {
    batch: RecordBatch,
}

impl Table {
    /// # Errors
    /// If it has no columns, or there is no memory for it.
    pub fn new(shape: Shape) -> Result<Self, ArrowError> {
        let bytes = shape.rows.checked_mul(shape.columns).and_then(|values| values.checked_mul(size_of::<i64>()));
        // Asked for as a whole first: running out of memory half-way ends the process without a word.
        if bytes.is_none_or(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_err()) {
            let Shape { rows, columns, .. } = shape;
            return Err(ArrowError::MemoryError(format!("{rows} rows of {columns} columns do not fit into memory")));
        }
        let names = (0..shape.columns).map(|column| Field::new(format!("col_{column}"), DataType::Int64, false));
        let schema = Arc::new(Schema::new(names.collect::<Vec<_>>()));
        // Two threads halve what would be most of the start-up.
        let half = shape.columns / 2;
        let make = |columns: Range<usize>| columns.map(|number| column(shape, number)).collect::<Vec<_>>();
        let columns = thread::scope(|scope| {
            let first = Builder::new().spawn_scoped(scope, || make(0..half));
            let rest = make(half..shape.columns);
            // One thread does where there is no second.
            let first = first.map_or_else(|_| Ok(make(0..half)), ScopedJoinHandle::join);
            first.map(|first| [first, rest].concat())
        });
        let columns = columns.map_err(|_| ArrowError::ComputeError("the table could not be made".to_owned()))?;
        Ok(Table { batch: RecordBatch::try_new(schema, columns)? })
    }

    pub fn schema(&self) -> SchemaRef {
        self.batch.schema()
    }

    pub fn rows(&self) -> usize {
        self.batch.num_rows()
    }

    pub fn row_bytes(&self) -> usize {
        self.batch.num_columns() * size_of::<i64>()
    }

    pub fn bytes(&self) -> usize {
        self.rows() * self.row_bytes()
    }

    /// How many batches of so many rows it has; the last may be shorter.
    pub fn batches(&self, rows: usize) -> usize {
        self.rows().div_ceil(rows.max(1))
    }

    /// The batch with this number, empty behind the last; shares the table's memory.
    pub fn batch(&self, number: usize, rows: usize) -> RecordBatch {
        let first = number.saturating_mul(rows).min(self.rows());
        self.batch.slice(first, rows.min(self.rows() - first))
    }
}

/// A column has a random stream of its own, so that a smaller table is a part of a larger one.
fn column(shape: Shape, number: usize) -> ArrayRef {
    let mut rng = ChaCha8Rng::seed_from_u64(shape.seed);
    rng.set_stream(number as u64);
    let values: Vec<i64> = (0..shape.rows).map(|_| i64::from(rng.random_range(0..50_000_u32))).collect();
    Arc::new(Int64Array::from(values))
}

/// A fingerprint of a batch: the sum of its values, wrapping.
pub fn checksum(batch: &RecordBatch) -> i64 {
    let columns = batch.columns().iter().filter_map(|column| column.as_primitive_opt::<Int64Type>());
    columns.flat_map(PrimitiveArray::values).copied().fold(0, i64::wrapping_add)
}
