//! Designs that exist only to be compared.

mod deadpool;
mod locks;
mod stores;

pub use deadpool::Deadpool;
pub use locks::{AwaitedLock, LockedByTask, ParkingLot, hold_outside, insert_and_drop_oldest};
pub use stores::{BUSY_TIMEOUT, Reads, Store, checked_out};
