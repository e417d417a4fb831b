//! A row as the published engines read it: every field by way of an owned string, the amount as a decimal number.

use rust_decimal::{Decimal, RoundingStrategy};
use serde::de::{Deserialize, Deserializer, Error};
use std::str::FromStr;
use txn_engine::ErrorKind;
use txn_engine::row::Kind;

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
    /// The amount, if there is one above zero.
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
