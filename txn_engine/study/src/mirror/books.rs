//! Rows as the published engines read them, every field by way of an owned string and the amount as a decimal number, and accounts and
//! payments as they keep them: on `DashMap`s, and behind tokio's locks.

use std::collections::HashMap;
use std::hash::Hash;
use std::str::FromStr;
use std::{array, future};

use dashmap::DashMap;
use dashmap::mapref::one::RefMut;
use rust_decimal::{Decimal, RoundingStrategy};
use serde::de::{Deserialize, Deserializer, Error};
use tokio::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use txn_engine::ErrorKind;
use txn_engine::row::Kind;

pub type Applied = Result<(), ErrorKind>;

#[derive(Debug, Default, Clone, PartialEq)]
pub struct Account {
    pub available: Decimal,
    pub held: Decimal,
    pub total: Decimal,
    pub locked: bool,
}

impl Account {
    fn check_open(&self) -> Applied {
        if self.locked { Err(ErrorKind::AccountLocked) } else { Ok(()) }
    }

    fn apply(&mut self, kind: Kind, amount: Decimal) -> Applied {
        match kind {
            Kind::Deposit => {
                add(&mut self.available, amount)?;
                add(&mut self.total, amount)
            }
            Kind::Withdrawal if self.available < amount => Err(ErrorKind::InsufficientFunds),
            Kind::Withdrawal => {
                subtract(&mut self.available, amount)?;
                subtract(&mut self.total, amount)
            }
            Kind::Dispute => {
                subtract(&mut self.available, amount)?;
                add(&mut self.held, amount)
            }
            Kind::Resolve => {
                add(&mut self.available, amount)?;
                subtract(&mut self.held, amount)
            }
            Kind::Chargeback => {
                subtract(&mut self.total, amount)?;
                subtract(&mut self.held, amount)?;
                self.locked = true;
                Ok(())
            }
        }
    }
}

fn add(money: &mut Decimal, amount: Decimal) -> Applied {
    *money = money.checked_add(amount).ok_or(ErrorKind::Overflow)?;
    Ok(())
}

fn subtract(money: &mut Decimal, amount: Decimal) -> Applied {
    *money = money.checked_sub(amount).ok_or(ErrorKind::Overflow)?;
    Ok(())
}

/// What is left when all rows are applied.
pub trait Kept: Send + Sync {
    fn accounts(&self) -> Vec<(u16, Account)>;
}

/// What tasks apply rows to.
pub trait Tables: Kept + Default + 'static {
    fn apply(&self, row: &Payment) -> impl Future<Output = Applied> + Send;
}

/// Those of the sync engine.
#[derive(Default)]
pub struct Dashed {
    pub accounts: DashMap<u16, Account>,
    pub payments: DashMap<u32, Payment>,
}

impl Dashed {
    pub fn apply(&self, row: &Payment) -> Applied {
        match row.kind {
            Kind::Deposit | Kind::Withdrawal => self.move_money(row),
            Kind::Dispute | Kind::Resolve | Kind::Chargeback => self.contest(row),
        }
    }

    fn move_money(&self, row: &Payment) -> Applied {
        let amount = row.positive_amount()?;
        if self.payments.contains_key(&row.tx) {
            return Err(ErrorKind::RepeatedTx);
        }
        let mut account = match row.kind {
            Kind::Deposit => self.accounts.entry(row.client).or_default(),
            _ => self.account(row.client)?,
        };
        account.check_open()?;
        account.apply(row.kind, amount)?;
        self.payments.insert(row.tx, row.clone());
        Ok(())
    }

    fn contest(&self, row: &Payment) -> Applied {
        let mut account = self.account(row.client)?;
        let mut payment = self.payments.get_mut(&row.tx).ok_or(ErrorKind::TxNotFound)?;
        account.apply(row.kind, payment.contested_by(row)?)?;
        payment.disputed = row.kind == Kind::Dispute;
        Ok(())
    }

    fn account(&self, client: u16) -> Result<RefMut<'_, u16, Account>, ErrorKind> {
        let account = self.accounts.get_mut(&client).ok_or(ErrorKind::AccountNotFound)?;
        account.check_open()?;
        Ok(account)
    }
}

impl Kept for Dashed {
    fn accounts(&self) -> Vec<(u16, Account)> {
        self.accounts.iter().map(|account| (*account.key(), account.value().clone())).collect()
    }
}

impl Tables for Dashed {
    fn apply(&self, row: &Payment) -> impl Future<Output = Applied> + Send {
        future::ready(self.apply(row))
    }
}

/// Those of the async engine.
#[derive(Default)]
pub struct Sharded {
    pub accounts: Shards<u16, Account>,
    pub payments: Shards<u32, Payment>,
}

impl Kept for Sharded {
    fn accounts(&self) -> Vec<(u16, Account)> {
        let accounts = self.accounts.0.iter().map(RwLock::blocking_read);
        accounts.flat_map(|shard| shard.clone()).collect()
    }
}

impl Tables for Sharded {
    async fn apply(&self, row: &Payment) -> Applied {
        match row.kind {
            Kind::Deposit | Kind::Withdrawal => self.move_money(row).await,
            Kind::Dispute | Kind::Resolve | Kind::Chargeback => self.contest(row).await,
        }
    }
}

impl Sharded {
    async fn move_money(&self, row: &Payment) -> Applied {
        let amount = row.positive_amount()?;
        if self.payments.read(row.tx).await.is_some() {
            return Err(ErrorKind::RepeatedTx);
        }
        let mut accounts = match row.kind {
            Kind::Deposit => self.accounts.write_or_default(row.client).await,
            _ => self.account(row.client).await?,
        };
        let account = accounts.get_mut(&row.client).ok_or(ErrorKind::AccountNotFound)?;
        account.check_open()?;
        account.apply(row.kind, amount)?;
        self.payments.insert(row.tx, row.clone()).await;
        Ok(())
    }

    async fn contest(&self, row: &Payment) -> Applied {
        let mut accounts = self.account(row.client).await?;
        let account = accounts.get_mut(&row.client).ok_or(ErrorKind::AccountNotFound)?;
        let mut payments = self.payments.write(row.tx).await.ok_or(ErrorKind::TxNotFound)?;
        let payment = payments.get_mut(&row.tx).ok_or(ErrorKind::TxNotFound)?;
        account.apply(row.kind, payment.contested_by(row)?)?;
        payment.disputed = row.kind == Kind::Dispute;
        Ok(())
    }

    async fn account(&self, client: u16) -> Result<RwLockWriteGuard<'_, HashMap<u16, Account>>, ErrorKind> {
        let accounts = self.accounts.write(client).await.ok_or(ErrorKind::AccountNotFound)?;
        accounts.get(&client).ok_or(ErrorKind::AccountNotFound)?.check_open()?;
        Ok(accounts)
    }
}

const SHARDS: usize = 64;

/// A table in shards. What is got is the shard; its entries are looked up anew each time that they are needed, as in the published engine.
pub struct Shards<K, V>(Box<[RwLock<HashMap<K, V>>; SHARDS]>);

impl<K, V> Default for Shards<K, V> {
    fn default() -> Self {
        Shards(Box::new(array::from_fn(|_| RwLock::default())))
    }
}

impl<K: Copy + Eq + Hash + Into<u32>, V> Shards<K, V> {
    fn shard(&self, key: K) -> &RwLock<HashMap<K, V>> {
        &self.0[key.into() as usize % SHARDS]
    }

    async fn read(&self, key: K) -> Option<RwLockReadGuard<'_, HashMap<K, V>>> {
        let shard = self.shard(key).read().await;
        shard.contains_key(&key).then_some(shard)
    }

    async fn write(&self, key: K) -> Option<RwLockWriteGuard<'_, HashMap<K, V>>> {
        let shard = self.shard(key).write().await;
        shard.contains_key(&key).then_some(shard)
    }

    /// The same with an entry for `key` made if there was none.
    async fn write_or_default(&self, key: K) -> RwLockWriteGuard<'_, HashMap<K, V>>
    where
        V: Default,
    {
        let mut shard = self.shard(key).write().await;
        shard.entry(key).or_default();
        shard
    }

    async fn insert(&self, key: K, value: V) {
        self.shard(key).write().await.insert(key, value);
    }
}

/// One row, which is what is stored of an accepted one, too.
#[derive(Debug, Clone, serde::Deserialize)]
pub struct Payment {
    #[serde(rename = "type", deserialize_with = "kind")]
    pub kind: Kind,
    #[serde(deserialize_with = "id")]
    pub client: u16,
    #[serde(deserialize_with = "id")]
    pub tx: u32,
    #[serde(deserialize_with = "amount")]
    pub amount: Option<Decimal>,
    /// No column: the state of a stored one.
    #[serde(default)]
    pub disputed: bool,
}

impl Payment {
    pub fn positive_amount(&self) -> Result<Decimal, ErrorKind> {
        let amount = self.amount.ok_or(ErrorKind::NoAmount)?;
        if amount > Decimal::ZERO { Ok(amount) } else { Err(ErrorKind::NotPositive) }
    }

    /// What this stored payment has moved, if `row` may contest it as it does.
    pub fn contested_by(&self, row: &Payment) -> Result<Decimal, ErrorKind> {
        if self.client != row.client {
            return Err(ErrorKind::DifferentClient);
        }
        if self.disputed == (row.kind == Kind::Dispute) {
            return Err(if self.disputed { ErrorKind::AlreadyDisputed } else { ErrorKind::NotDisputed });
        }
        let amount = self.amount.ok_or(ErrorKind::NoAmount)?;
        Ok(if self.kind == Kind::Withdrawal { -amount } else { amount })
    }
}

/// Reads a field from a string of its own.
fn owned<'de, D: Deserializer<'de>, T>(field: D, read: impl FnOnce(&str) -> Option<T>) -> Result<T, D::Error> {
    let text = String::deserialize(field)?;
    read(text.trim()).ok_or_else(|| D::Error::custom(format!("{text:?} is not understood")))
}

fn kind<'de, D: Deserializer<'de>>(field: D) -> Result<Kind, D::Error> {
    owned(field, |text| Kind::parse(text.as_bytes()))
}

fn id<'de, D: Deserializer<'de>, T: FromStr>(field: D) -> Result<T, D::Error> {
    owned(field, |text| text.parse().ok())
}

fn amount<'de, D: Deserializer<'de>>(field: D) -> Result<Option<Decimal>, D::Error> {
    let text: Option<String> = Deserialize::deserialize(field)?;
    let Some(text) = text.as_deref().map(str::trim).filter(|text| !text.is_empty()) else { return Ok(None) };
    let exact: Decimal = text.parse().map_err(D::Error::custom)?;
    Ok(Some(exact.round_dp_with_strategy(4, RoundingStrategy::MidpointAwayFromZero)))
}
