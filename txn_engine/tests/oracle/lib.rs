//! A second, naive implementation of the engine: it says what the right answer is.
//!
//! It shares no code with the engine, and nothing here is fast. Each rule has a name, which stands where the rule is kept, and a constructor
//! breaks one of them: the tests prove with these mutants that their generated files would catch the same bug in an engine.

mod fields;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::rc::Rc;

use fields::{Row, Type};

const FIRST_ERRORS: usize = 20;

/// What a correct engine answers to an input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The accounts as CSV with a header, sorted by client, four decimals.
    pub accounts_csv: Vec<u8>,
    pub accepted: u64,
    /// How many rows were rejected, by the name of the error; names that did not occur are absent.
    pub errors: BTreeMap<&'static str, u64>,
    /// The first 20 rejected rows: line number in its input, counted from 1, and name of the error.
    pub first_errors: Vec<(u64, &'static str)>,
    /// How many rows were accepted, by type; `dispute again` counts the disputes of a transaction that was resolved before.
    pub operations: BTreeMap<&'static str, u64>,
}

/// The name of a row error, as the engine's `ErrorKind::name` gives it.
type ErrorName = &'static str;

/// The rules in force: all of them, or all but one.
#[derive(Clone, Default)]
struct Rules {
    broken: Option<&'static str>,
    /// The names of those that were asked for, if somebody wants to know.
    asked: Option<Rc<RefCell<BTreeSet<&'static str>>>>,
}

impl Rules {
    fn broken(&self, rule: &'static str) -> bool {
        if let Some(asked) = &self.asked {
            asked.borrow_mut().insert(rule);
        }
        self.broken == Some(rule)
    }

    /// Fails with `result` if the rule is broken by which another check comes first.
    fn order<T>(&self, rule: &'static str, result: Result<T, ErrorName>) -> Result<(), ErrorName> {
        if self.broken(rule) { result.map(drop) } else { Ok(()) }
    }
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
pub fn process(input: &[u8]) -> Result<Answer, String> {
    let mut oracle = Oracle::default();
    oracle.feed(input)?;
    Ok(oracle.finish())
}

impl Oracle {
    /// An engine that keeps every rule but one: a mutant that the files of the tests must expose.
    pub fn that_breaks(rule: &'static str) -> Self {
        Self { rules: Rules { broken: Some(rule), asked: None }, ..Self::default() }
    }

    /// The names of all rules that decide something in these inputs.
    pub fn rules_in(inputs: &[Vec<u8>]) -> Result<BTreeSet<&'static str>, String> {
        let asked = Rc::default();
        for input in inputs {
            let rules = Rules { broken: None, asked: Some(Rc::clone(&asked)) };
            let mut oracle = Self { rules, ..Self::default() };
            oracle.feed(input)?;
            oracle.finish();
        }
        Ok(asked.take())
    }

    /// Processes a whole input, header included, on top of what was fed before.
    pub fn feed(&mut self, input: &[u8]) -> Result<(), String> {
        let mut columns = None;
        let mut number = 0;
        for line in fields::lines(&self.rules, input) {
            number += 1;
            if fields::is_blank(&self.rules, &line) {
                if self.rules.broken("BlankLinesAreCounted") {
                    number -= 1;
                }
                continue;
            }
            let Some(columns) = &columns else {
                columns = Some(fields::columns(&self.rules, &line)?);
                continue;
            };
            let Err(kind) = fields::parse(&self.rules, *columns, &line).and_then(|row| self.apply(&row)) else {
                self.answer.accepted += 1;
                continue;
            };
            *self.answer.errors.entry(kind).or_default() += 1;
            if self.answer.first_errors.len() < FIRST_ERRORS {
                self.answer.first_errors.push((number, kind));
            }
        }
        columns.map(drop).ok_or_else(|| "the input is empty: a header is needed".to_owned())
    }

    pub fn finish(self) -> Answer {
        let mut text = String::from("client,available,held,total,locked\n");
        for (client, account) in &self.accounts {
            let [available, held, total] = [account.available, account.held, account.available + account.held]
                .map(|money| fields::decimal(&self.rules, money));
            let _ = writeln!(text, "{client},{available},{held},{total},{}", account.locked);
        }
        Answer { accounts_csv: text.into_bytes(), ..self.answer }
    }

    fn apply(&mut self, row: &Row) -> Result<(), ErrorName> {
        let moves_money = matches!(row.kind, Type::Deposit | Type::Withdrawal);
        let outcome = if moves_money { self.move_money(row) } else { self.contest(row) };
        if outcome.is_ok() {
            *self.answer.operations.entry(row.kind.into()).or_default() += 1;
            return outcome;
        }
        // A rejected row leaves no traces, unless a rule about that is broken.
        if self.rules.broken("RejectedRowsCreateNoAccount") {
            self.accounts.entry(row.client).or_default();
        }
        let uses_no_id = if moves_money { "RejectedRowsUseNoId" } else { "DisputesUseNoId" };
        if self.rules.broken(uses_no_id) && !self.transactions.contains_key(&row.tx) {
            self.remember(row, 0);
        }
        outcome
    }

    fn move_money(&mut self, row: &Row) -> Result<(), ErrorName> {
        let rules = self.rules.clone();
        let broken = |rule| rules.broken(rule);
        let is_deposit = row.kind == Type::Deposit;
        rules.order("AmountIsCheckedBeforeTheId", self.id_must_be_new(row))?;
        let amount = self.positive_amount(row)?;
        let account = self.account(row, !is_deposit && !broken("WithdrawalsNeedAnAccount"));
        let locked_rejects = if is_deposit { "LockedRejectsDeposits" } else { "LockedRejectsWithdrawals" };
        let is_locked = account.is_ok_and(|account| account.locked) && !broken(locked_rejects);
        rules.order("RepeatedComesBeforeAccountNotFound", account)?;
        ensure(!(is_locked && broken("RepeatedComesBeforeLocked")), "AccountLocked")?;
        self.id_must_be_new(row)?;
        let account = account?;
        let mut funds = account.available;
        let is_short = |funds| !is_deposit && funds < amount;
        ensure(!(is_short(funds) && broken("LockedComesBeforeFunds")), "InsufficientFunds")?;
        ensure(!is_locked, "AccountLocked")?;
        if broken("HeldFundsAreNotAvailable") {
            funds += account.held;
        }
        if broken("WithdrawalsMayTakeAll") {
            funds -= 1;
        }
        ensure(!is_short(funds) || broken("WithdrawalsNeedFunds"), "InsufficientFunds")?;
        let signed_amount = if is_deposit { amount } else { -amount };
        self.change(row.client, account, signed_amount, 0)?;
        if is_deposit || !broken("WithdrawalsCanBeDisputed") {
            self.remember(row, signed_amount);
        }
        Ok(())
    }

    fn contest(&mut self, row: &Row) -> Result<(), ErrorName> {
        let rules = self.rules.clone();
        let broken = |rule| rules.broken(rule);
        let (is_dispute, is_resolve) = (row.kind == Type::Dispute, row.kind == Type::Resolve);
        let (locked_rejects, state_counts, wrong_state) = match row.kind {
            Type::Dispute => ("LockedRejectsDisputes", "DisputesAreNotRepeated", "AlreadyDisputed"),
            Type::Resolve => ("LockedRejectsResolves", "ResolvesNeedADispute", "NotDisputed"),
            _ => ("LockedRejectsChargebacks", "ChargebacksNeedADispute", "NotDisputed"),
        };
        let mut account = self.account(row, !broken("DisputesNeedAnAccount"))?;
        let transaction = self.transactions.get(&row.tx).copied().ok_or("TxNotFound");
        rules.order("LockedComesBeforeTxNotFound", transaction)?;
        ensure(!account.locked || broken(locked_rejects), "AccountLocked")?;
        let transaction = transaction?;
        let state = ensure(transaction.disputed != is_dispute || broken(state_counts), wrong_state);
        rules.order("ClientIsCheckedBeforeTheState", state)?;
        let same_client = transaction.client == row.client;
        ensure(same_client || broken("DisputesAreOfTheSameClient"), "DifferentClient")?;
        let mut amount = transaction.signed_amount;
        ensure(fits(account.held + amount) || !broken("OverflowComesLast"), "Overflow")?;
        state?;

        if broken("DisputedWithdrawalsCountNegative") {
            amount = amount.abs();
        }
        let is_short = is_dispute && account.available < amount;
        ensure(!(is_short && broken("DisputesNeedNoFunds")), "InsufficientFunds")?;
        let amount_by = |rule| if broken(rule) { 0 } else { amount };
        let (available, held) = match row.kind {
            Type::Dispute => (-amount_by("DisputesLowerAvailable"), amount),
            Type::Resolve => (amount, -amount_by("ResolvesEmptyHeld")),
            _ => {
                account.locked = !broken("ChargebacksLock");
                (amount - amount_by("ChargebacksLowerTotal"), -amount_by("ChargebacksEmptyHeld"))
            }
        };
        self.change(row.client, account, available, held)?;
        if is_dispute && transaction.resolved_before {
            *self.answer.operations.entry("dispute again").or_default() += 1;
        }
        let disputed = is_dispute || is_resolve && broken("ResolvesEndTheDispute");
        let resolved_before = transaction.resolved_before || is_resolve;
        self.transactions.insert(row.tx, Transaction { disputed, resolved_before, ..transaction });
        if is_resolve && broken("ResolvedCanBeDisputedAgain") {
            self.transactions.remove(&row.tx);
        }
        Ok(())
    }

    fn positive_amount(&self, row: &Row) -> Result<i128, ErrorName> {
        let amount = match row.amount {
            None if self.rules.broken("AmountIsNeeded") => 0,
            amount => amount.ok_or("NoAmount")?,
        };
        let rule = if amount == 0 { "ZeroIsNotPositive" } else { "NegativeIsNotPositive" };
        ensure(amount > 0 || self.rules.broken(rule), "NotPositive").map(|()| amount)
    }

    fn id_must_be_new(&self, row: &Row) -> Result<(), ErrorName> {
        let is_other =
            |earlier: &Transaction| earlier.client != row.client && self.rules.broken("IdsAreSharedByAllClients");
        let is_new = self.transactions.get(&row.tx).is_none_or(is_other);
        ensure(is_new || self.rules.broken("IdsAreUnique"), "RepeatedTx")
    }

    /// The account of the row's client; an empty one if there is none and it is not `needed`.
    fn account(&self, row: &Row, needed: bool) -> Result<Account, ErrorName> {
        let account = self.accounts.get(&row.client).copied();
        if needed { account.ok_or("AccountNotFound") } else { Ok(account.unwrap_or_default()) }
    }

    fn remember(&mut self, row: &Row, signed_amount: i128) {
        let transaction = Transaction { client: row.client, signed_amount, disputed: false, resolved_before: false };
        self.transactions.insert(row.tx, transaction);
    }

    /// Stores the account with both changes, or nothing at all.
    fn change(&mut self, client: u64, account: Account, available: i128, held: i128) -> Result<(), ErrorName> {
        let (available, held) = (account.available + available, account.held + held);
        let money = [available, held, available + held];
        let rules = ["AvailableStaysIn64Bits", "HeldStaysIn64Bits", "TotalStaysIn64Bits"];
        if money.into_iter().zip(rules).all(|(money, rule)| fits(money) || self.rules.broken(rule)) {
            self.accounts.insert(client, Account { available, held, ..account });
            return Ok(());
        }
        if self.rules.broken("OverflowChangesNothing") {
            self.accounts.insert(client, Account { available, ..account });
        }
        Err("Overflow")
    }
}

fn ensure(holds: bool, error: ErrorName) -> Result<(), ErrorName> {
    if holds { Ok(()) } else { Err(error) }
}

fn fits(money: i128) -> bool {
    i64::try_from(money).is_ok()
}
