//! The rules of the engine by name, so that the tests can break one at a time.

/// Declares the enum and the list of all its variants, which must not drift apart.
macro_rules! rules {
    ($($(#[$comment:meta])* $name:ident,)+) => {
        /// One rule that the oracle keeps; breaking it makes a mutant that the files of the tests must expose.
        ///
        /// An arm with the same bug then differs from the true oracle on the same files.
        #[doc(hidden)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Rule {
            $($(#[$comment])* $name,)+
        }

        impl Rule {
            /// Every rule.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];
        }
    };
}

rules! {
    // Lines and fields.
    BomIsNoPartOfTheHeader,
    BlankLinesAreSkipped,
    BlankLinesAreCounted,
    LongestLineIsAccepted,
    LongerLinesAreErrors,
    LineBreaksEndQuotedFields,
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
