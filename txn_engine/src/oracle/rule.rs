//! The rules of the engine by name, so that the tests can break one at a time.

/// The name of a row error, as the engine's `ErrorKind::name` gives it.
pub(super) type ErrorName = &'static str;

/// The rules in force: all of them, or all but one.
#[derive(Clone, Copy, Default)]
pub(super) struct Rules {
    pub(super) broken: Option<Rule>,
}

impl Rules {
    pub(super) fn broken(self, rule: Rule) -> bool {
        self.broken == Some(rule)
    }
}

/// One rule that the oracle keeps; breaking it makes a mutant that the files of the tests must expose.
///
/// An engine with the same bug then differs from the true oracle on the same files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::VariantArray)]
pub enum Rule {
    // Lines and fields.
    BomIsNoPartOfTheHeader,
    BlankLinesAreSkipped,
    BlankLinesAreCounted,
    LongestLineIsAccepted,
    LongerLinesAreErrors,
    LineBreaksEndQuotedFields,
    OpenQuotesAreErrors,
    LoneCarriageReturnsEndNothing,
    QuotesProtectCommas,
    DoubledQuotesAreOneQuote,
    ColumnsAreFoundByName,
    HeaderNamesInAnyCase,
    HeaderNamesAreTrimmed,
    ValuesAreTrimmed,
    TypesInAnyCase,
    TypeIsExaminedFirst,
    TxIsExaminedAfterClient,
    EmptyFieldsAreMissing,
    Utf8IsDemandedOfFieldsInUse,
    Utf8IsDemandedOfNoOtherField,
    NumbersMayHaveLeadingZeros,
    NumbersHaveNoSign,
    ClientsAre16Bits,
    TxsAre32Bits,
    AmountsMayHaveAPlus,
    AmountsMayEndWithThePoint,
    AmountsMayStartWithThePoint,
    AmountsNeedADigit,
    AmountsHaveNoExponent,
    TrailingZerosAreNotSignificant,
    FiveDecimalsAreTooMany,
    AmountsFitInto64Bits,
    AmountIsExaminedLast,
    AbsentAmountIsNoParseError,
    DisputeAmountsAreIgnored,
    // Deposits and withdrawals.
    AmountIsNeeded,
    NegativeIsNotPositive,
    ZeroIsNotPositive,
    AmountIsCheckedBeforeTheId,
    IdsAreUnique,
    IdsAreSharedByAllClients,
    RejectedRowsUseNoId,
    DisputesUseNoId,
    RejectedRowsCreateNoAccount,
    RepeatedComesBeforeLocked,
    RepeatedComesBeforeAccountNotFound,
    LockedRejectsDeposits,
    LockedRejectsWithdrawals,
    LockedComesBeforeFunds,
    WithdrawalsNeedAnAccount,
    WithdrawalsNeedFunds,
    WithdrawalsMayTakeAll,
    HeldFundsAreNotAvailable,
    // Disputes, resolves and chargebacks.
    DisputesNeedAnAccount,
    LockedRejectsDisputes,
    LockedRejectsResolves,
    LockedRejectsChargebacks,
    LockedComesBeforeTxNotFound,
    DisputesAreOfTheSameClient,
    ClientIsCheckedBeforeTheState,
    WithdrawalsCanBeDisputed,
    DisputedWithdrawalsCountNegative,
    DisputesNeedNoFunds,
    DisputesLowerAvailable,
    DisputesAreNotRepeated,
    ResolvesNeedADispute,
    ResolvesEndTheDispute,
    ResolvesEmptyHeld,
    ResolvedCanBeDisputedAgain,
    ChargebacksNeedADispute,
    ChargebacksLowerTotal,
    ChargebacksEmptyHeld,
    ChargebacksLock,
    // Money.
    AvailableStaysIn64Bits,
    HeldStaysIn64Bits,
    TotalStaysIn64Bits,
    OverflowChangesNothing,
    OverflowComesLast,
    AmountsAreWrittenWithFourDecimals,
    AmountsBelowZeroKeepTheirSign,
}
