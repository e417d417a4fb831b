//! A second, naive implementation of the engine: it says what the right answer is.
//!
//! It shares no code with the engine: one map of accounts, one map of transactions, lines cut from a byte slice that is held
//! whole in memory, decimals parsed as text and kept in 128 bits, errors as plain names. Nothing here is fast. The tests compare
//! every engine with it, byte for byte.
//!
//! Each rule has a name ([`Rule`]), and a hidden constructor breaks one of them: the tests prove with these mutants that their
//! generated files would catch the same bug in an engine.

mod fields;
mod rule;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use fields::{Columns, Row, Type};
pub use rule::Rule;
use rule::{ErrorName, Rules};

/// How many row errors an answer lists one by one.
const FIRST_ERRORS: usize = 20;

/// What a correct engine answers to an input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The accounts as CSV with a header, sorted by client, four decimals.
    pub accounts_csv: Vec<u8>,
    /// How many rows were accepted.
    pub accepted: u64,
    /// How many rows were rejected, by the name of the error; names that did not occur are absent.
    pub errors: BTreeMap<&'static str, u64>,
    /// The first 20 rejected rows: line number in its input, counted from 1, and name of the error.
    pub first_errors: Vec<(u64, &'static str)>,
    /// How many rows were accepted, by type; `dispute again` counts the disputes of a transaction that was resolved before.
    pub operations: BTreeMap<&'static str, u64>,
}

/// One account; the total is what is available and what is held, in ten-thousandths.
#[derive(Clone, Copy, Default)]
struct Account {
    available: i128,
    held: i128,
    locked: bool,
}

/// One accepted deposit (positive) or withdrawal (negative), in ten-thousandths.
#[derive(Clone, Copy)]
struct Transaction {
    client: u64,
    signed_amount: i128,
    disputed: bool,
    resolved_before: bool,
}

/// The naive engine, fed with one input after another.
#[derive(Default)]
pub struct Oracle {
    rules: Rules,
    accounts: BTreeMap<u64, Account>,
    transactions: BTreeMap<u64, Transaction>,
    answer: Answer,
}

/// The answer to a single input, or the one-line reason why it cannot be read as transactions at all.
///
/// # Errors
///
/// The input has no header, or its header lacks or repeats a needed column or is longer than 64 KiB.
pub fn process(input: &[u8]) -> Result<Answer, String> {
    let mut oracle = Oracle::new();
    oracle.feed(input)?;
    Ok(oracle.finish())
}

impl Oracle {
    /// An engine without accounts.
    pub fn new() -> Self {
        Self::default()
    }

    /// An engine that keeps every rule but one.
    pub fn that_breaks(rule: Rule) -> Self {
        Self { rules: Rules { broken: Some(rule) }, ..Self::default() }
    }

    /// Processes a whole input, header included, on top of what was fed before.
    ///
    /// # Errors
    ///
    /// The input has no header, or its header lacks or repeats a needed column or is longer than 64 KiB.
    pub fn feed(&mut self, input: &[u8]) -> Result<(), String> {
        let mut columns = None;
        let mut number = 0;
        for line in fields::lines(self.rules, input) {
            number += 1;
            if fields::is_blank(self.rules, &line) {
                if self.rules.broken(Rule::BlankLinesAreCounted) {
                    number -= 1;
                }
                continue;
            }
            let Some(columns) = &columns else {
                columns = Some(Columns::find(self.rules, &line)?);
                continue;
            };
            let outcome = fields::parse(self.rules, columns, &line).and_then(|row| self.apply(&row));
            match outcome {
                Ok(()) => self.answer.accepted += 1,
                Err(kind) => self.note(number, kind),
            }
        }
        columns.map(drop).ok_or_else(|| "the input is empty: a header is needed".to_owned())
    }

    /// The answer to everything that was fed.
    pub fn finish(self) -> Answer {
        let mut text = String::from("client,available,held,total,locked\n");
        for (client, account) in &self.accounts {
            let [available, held, total] = [account.available, account.held, account.available + account.held]
                .map(|money| fields::decimal(self.rules, money));
            let _ = writeln!(text, "{client},{available},{held},{total},{}", account.locked);
        }
        Answer { accounts_csv: text.into_bytes(), ..self.answer }
    }

    fn note(&mut self, line: u64, kind: ErrorName) {
        *self.answer.errors.entry(kind).or_default() += 1;
        if self.answer.first_errors.len() < FIRST_ERRORS {
            self.answer.first_errors.push((line, kind));
        }
    }

    fn apply(&mut self, row: &Row) -> Result<(), ErrorName> {
        let outcome = match row.kind {
            Type::Deposit => self.deposit(row),
            Type::Withdrawal => self.withdrawal(row),
            Type::Dispute => self.dispute(row),
            Type::Resolve => self.resolve(row),
            Type::Chargeback => self.chargeback(row),
        };
        if outcome.is_ok() {
            *self.answer.operations.entry(row.kind.into()).or_default() += 1;
        } else {
            self.leave_traces_of_a_rejected_row(row);
        }
        outcome
    }

    /// Does nothing, unless a rule about rejected rows is broken.
    fn leave_traces_of_a_rejected_row(&mut self, row: &Row) {
        let moves_money = matches!(row.kind, Type::Deposit | Type::Withdrawal);
        if self.rules.broken(Rule::RejectedRowsCreateNoAccount) {
            self.accounts.entry(row.client).or_default();
        }
        if self.rules.broken(Rule::RejectedRowsUseNoId) && moves_money
            || self.rules.broken(Rule::DisputesUseNoId) && !moves_money
        {
            let nothing = Transaction { client: row.client, signed_amount: 0, disputed: false, resolved_before: false };
            self.transactions.entry(row.tx).or_insert(nothing);
        }
    }

    fn deposit(&mut self, row: &Row) -> Result<(), ErrorName> {
        if self.rules.broken(Rule::AmountIsCheckedBeforeTheId) {
            self.id_must_be_new(row)?;
        }
        let amount = self.positive_amount(row)?;
        let account = self.accounts.get(&row.client).copied().unwrap_or_default();
        let locked = account.locked && !self.rules.broken(Rule::LockedRejectsDeposits);
        if locked && self.rules.broken(Rule::RepeatedComesBeforeLocked) {
            return Err("AccountLocked");
        }
        self.id_must_be_new(row)?;
        if locked {
            return Err("AccountLocked");
        }
        self.change(row.client, account, amount, 0)?;
        self.remember(row, amount);
        Ok(())
    }

    fn withdrawal(&mut self, row: &Row) -> Result<(), ErrorName> {
        if self.rules.broken(Rule::AmountIsCheckedBeforeTheId) {
            self.id_must_be_new(row)?;
        }
        let amount = self.positive_amount(row)?;
        if self.rules.broken(Rule::RepeatedComesBeforeAccountNotFound) {
            self.account(row)?;
        }
        self.id_must_be_new(row)?;
        let account = if self.rules.broken(Rule::WithdrawalsNeedAnAccount) {
            self.accounts.get(&row.client).copied().unwrap_or_default()
        } else {
            self.account(row)?
        };
        if self.rules.broken(Rule::LockedComesBeforeFunds) && account.available < amount {
            return Err("InsufficientFunds");
        }
        if account.locked && !self.rules.broken(Rule::LockedRejectsWithdrawals) {
            return Err("AccountLocked");
        }
        let mut funds = account.available;
        if self.rules.broken(Rule::HeldFundsAreNotAvailable) {
            funds += account.held;
        }
        if self.rules.broken(Rule::WithdrawalsMayTakeAll) {
            funds -= 1;
        }
        if funds < amount && !self.rules.broken(Rule::WithdrawalsNeedFunds) {
            return Err("InsufficientFunds");
        }
        self.change(row.client, account, -amount, 0)?;
        if !self.rules.broken(Rule::WithdrawalsCanBeDisputed) {
            self.remember(row, -amount);
        }
        Ok(())
    }

    fn dispute(&mut self, row: &Row) -> Result<(), ErrorName> {
        let (account, transaction) = self.named_transaction(row, Rule::LockedRejectsDisputes, |transaction| {
            if transaction.disputed { Err("AlreadyDisputed") } else { Ok(()) }
        })?;
        let amount = self.disputed_amount(&transaction);
        if account.available < amount && self.rules.broken(Rule::DisputesNeedNoFunds) {
            return Err("InsufficientFunds");
        }
        let taken = if self.rules.broken(Rule::DisputesLowerAvailable) { 0 } else { amount };
        self.change(row.client, account, -taken, amount)?;
        if transaction.resolved_before {
            *self.answer.operations.entry("dispute again").or_default() += 1;
        }
        self.transactions.insert(row.tx, Transaction { disputed: true, ..transaction });
        Ok(())
    }

    fn resolve(&mut self, row: &Row) -> Result<(), ErrorName> {
        let check = !self.rules.broken(Rule::ResolvesNeedADispute);
        let (account, transaction) = self.named_transaction(row, Rule::LockedRejectsResolves, |transaction| {
            if check && !transaction.disputed { Err("NotDisputed") } else { Ok(()) }
        })?;
        let amount = self.disputed_amount(&transaction);
        let released = if self.rules.broken(Rule::ResolvesEmptyHeld) { 0 } else { amount };
        self.change(row.client, account, amount, -released)?;
        let disputed = self.rules.broken(Rule::ResolvesEndTheDispute);
        self.transactions.insert(row.tx, Transaction { disputed, resolved_before: true, ..transaction });
        if self.rules.broken(Rule::ResolvedCanBeDisputedAgain) {
            self.transactions.remove(&row.tx);
        }
        Ok(())
    }

    fn chargeback(&mut self, row: &Row) -> Result<(), ErrorName> {
        let check = !self.rules.broken(Rule::ChargebacksNeedADispute);
        let (account, transaction) = self.named_transaction(row, Rule::LockedRejectsChargebacks, |transaction| {
            if check && !transaction.disputed { Err("NotDisputed") } else { Ok(()) }
        })?;
        let amount = self.disputed_amount(&transaction);
        let refunded = if self.rules.broken(Rule::ChargebacksLowerTotal) { amount } else { 0 };
        let released = if self.rules.broken(Rule::ChargebacksEmptyHeld) { 0 } else { amount };
        let locked = Account { locked: !self.rules.broken(Rule::ChargebacksLock), ..account };
        self.change(row.client, locked, refunded, -released)?;
        self.transactions.insert(row.tx, Transaction { disputed: false, ..transaction });
        Ok(())
    }

    fn positive_amount(&self, row: &Row) -> Result<i128, ErrorName> {
        let amount = match row.amount {
            None if self.rules.broken(Rule::AmountIsNeeded) => 0,
            amount => amount.ok_or("NoAmount")?,
        };
        if amount < 0 && !self.rules.broken(Rule::NegativeIsNotPositive)
            || amount == 0 && !self.rules.broken(Rule::ZeroIsNotPositive)
        {
            return Err("NotPositive");
        }
        Ok(amount)
    }

    fn id_must_be_new(&self, row: &Row) -> Result<(), ErrorName> {
        let Some(earlier) = self.transactions.get(&row.tx) else {
            return Ok(());
        };
        let other_client_may = self.rules.broken(Rule::IdsAreSharedByAllClients) && earlier.client != row.client;
        if other_client_may || self.rules.broken(Rule::IdsAreUnique) { Ok(()) } else { Err("RepeatedTx") }
    }

    fn account(&self, row: &Row) -> Result<Account, ErrorName> {
        self.accounts.get(&row.client).copied().ok_or("AccountNotFound")
    }

    fn remember(&mut self, row: &Row, signed_amount: i128) {
        let transaction = Transaction { client: row.client, signed_amount, disputed: false, resolved_before: false };
        self.transactions.insert(row.tx, transaction);
    }

    /// The account and the transaction that a dispute, resolve or chargeback names, after the checks that these share.
    fn named_transaction(
        &self,
        row: &Row,
        locked_rejects: Rule,
        check_state: impl Fn(&Transaction) -> Result<(), ErrorName>,
    ) -> Result<(Account, Transaction), ErrorName> {
        let account = if self.rules.broken(Rule::DisputesNeedAnAccount) {
            self.accounts.get(&row.client).copied().unwrap_or_default()
        } else {
            self.account(row)?
        };
        if self.rules.broken(Rule::LockedComesBeforeTxNotFound) && !self.transactions.contains_key(&row.tx) {
            return Err("TxNotFound");
        }
        if account.locked && !self.rules.broken(locked_rejects) {
            return Err("AccountLocked");
        }
        let transaction = self.transactions.get(&row.tx).copied().ok_or("TxNotFound")?;
        if self.rules.broken(Rule::ClientIsCheckedBeforeTheState) {
            check_state(&transaction)?;
        }
        if transaction.client != row.client && !self.rules.broken(Rule::DisputesAreOfTheSameClient) {
            return Err("DifferentClient");
        }
        if self.rules.broken(Rule::OverflowComesLast) {
            let held = account.held + transaction.signed_amount;
            i64::try_from(held).map_err(|_| "Overflow")?;
        }
        if !self.rules.broken(Rule::DisputesAreNotRepeated) || row.kind != Type::Dispute {
            check_state(&transaction)?;
        }
        Ok((account, transaction))
    }

    fn disputed_amount(&self, transaction: &Transaction) -> i128 {
        if self.rules.broken(Rule::DisputedWithdrawalsCountNegative) {
            transaction.signed_amount.abs()
        } else {
            transaction.signed_amount
        }
    }

    /// Stores the account with both changes, or nothing at all.
    fn change(&mut self, client: u64, account: Account, available: i128, held: i128) -> Result<(), ErrorName> {
        let changed =
            Account { available: account.available + available, held: account.held + held, locked: account.locked };
        let fits = |money: i128, rule: Rule| self.rules.broken(rule) || i64::try_from(money).is_ok();
        if fits(changed.available, Rule::AvailableStaysIn64Bits)
            && fits(changed.held, Rule::HeldStaysIn64Bits)
            && fits(changed.available + changed.held, Rule::TotalStaysIn64Bits)
        {
            self.accounts.insert(client, changed);
            return Ok(());
        }
        if self.rules.broken(Rule::OverflowChangesNothing) {
            self.accounts.insert(client, Account { held: account.held, ..changed });
        }
        Err("Overflow")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accounts_after(rows: &str) -> String {
        let answer = process(format!("type,client,tx,amount\n{rows}").as_bytes()).expect("the header is valid");
        let text = String::from_utf8(answer.accounts_csv).expect("accounts are text");
        text.lines().skip(1).collect::<Vec<_>>().join(" ")
    }

    fn error_of_the_last(rows: &str) -> Option<ErrorName> {
        let text = format!("type,client,tx,amount\n{rows}");
        let answer = process(text.as_bytes()).expect("the header is valid");
        let last = text.lines().count() as u64;
        answer.first_errors.iter().find(|(line, _)| *line == last).map(|(_, kind)| *kind)
    }

    #[test]
    fn accounts_worked_out_by_hand_are_what_the_oracle_says() {
        for (rows, accounts) in [
            ("deposit,2,1,5\ndeposit,1,2,1.5", "1,1.5000,0.0000,1.5000,false 2,5.0000,0.0000,5.0000,false"),
            ("deposit,1,1,5\nwithdrawal,1,2,0.0001", "1,4.9999,0.0000,4.9999,false"),
            ("deposit,1,1,5\nwithdrawal,1,2,4\ndispute,1,1,", "1,-4.0000,5.0000,1.0000,false"),
            ("deposit,1,1,5\nwithdrawal,1,2,4\ndispute,1,2,", "1,5.0000,-4.0000,1.0000,false"),
            ("deposit,1,1,5\nwithdrawal,1,2,4\ndispute,1,2,\nchargeback,1,2,", "1,5.0000,0.0000,5.0000,true"),
            ("deposit,1,1,5\ndispute,1,1,\nresolve,1,1,", "1,5.0000,0.0000,5.0000,false"),
            ("deposit,1,1,5\nwithdrawal,1,2,5\ndispute,1,1,\nchargeback,1,1,", "1,-5.0000,0.0000,-5.0000,true"),
            ("deposit,1,1,.5\ndeposit,1,2,7.\ndeposit,1,3,+3.25000", "1,10.7500,0.0000,10.7500,false"),
            ("withdrawal,1,1,5\ndispute,2,1,", ""),
        ] {
            assert_eq!(accounts_after(rows), accounts, "{rows}");
        }
    }

    #[test]
    fn errors_worked_out_by_hand_are_what_the_oracle_says() {
        for (rows, error) in [
            ("deposit,1,1,5\ndeposit,1,1,5", Some("RepeatedTx")),
            ("withdrawal,1,1,5\ndeposit,1,1,5", None),
            ("deposit,1,1,5\ndispute,1,1\nchargeback,1,1\ndeposit,1,1,5", Some("RepeatedTx")),
            ("deposit,1,1,5\ndispute,1,1\nchargeback,1,1\ndispute,1,1", Some("AccountLocked")),
            ("deposit,1,1,5\ndispute,1,1\nresolve,1,1\ndispute,1,1", None),
            ("deposit,1,1,5\ndispute,1,1\ndispute,1,1", Some("AlreadyDisputed")),
            ("deposit,1,1,5\ndeposit,2,2,5\nresolve,1,2", Some("DifferentClient")),
            ("deposit,1,1,5\ndispute,2,1", Some("AccountNotFound")),
            ("deposit,1,1,922337203685477.5807\ndeposit,1,2,0.0001", Some("Overflow")),
            ("deposit,1,1,922337203685477.5808", Some("BadAmount")),
            ("deposit,1,1,-922337203685477.5808", Some("NotPositive")),
            ("deposit,1,1,1.00001", Some("BadAmount")),
            ("deposit,1,1", Some("NoAmount")),
            ("deposit,1,x,1e3", Some("BadNumber")),
            ("dispute,65536,1,1e3", Some("BadNumber")),
            ("\"deposit,1,1,5", Some("OpenQuote")),
            ("deposit,1,1,\"5", Some("OpenQuote")),
            ("deposit,1,1,5,\"note", Some("OpenQuote")),
            ("deposit,1,1,5,the \"note", None),
        ] {
            assert_eq!(error_of_the_last(rows), error, "{rows}");
        }
    }
}
