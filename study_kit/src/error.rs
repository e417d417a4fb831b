//! Names that mean nothing, and errors of one line.

/// What was asked for does not exist.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A name that stands for nothing.
    #[error("unknown {what} '{given}': choose one of {choices}")]
    UnknownName {
        /// What was asked for.
        what: &'static str,
        /// What was given.
        given: String,
        /// What there is.
        choices: String,
    },
    /// An arm that the scenario has no work for.
    #[error("the arm {arm} does not run in {scenario}: choose one of {choices}")]
    Mismatch {
        /// The arm.
        arm: String,
        /// The scenario.
        scenario: String,
        /// The arms that do.
        choices: String,
    },
}

impl Error {
    /// A name of which there is none, and those there are.
    pub fn unknown<'a>(what: &'static str, given: &str, choices: impl IntoIterator<Item = &'a str>) -> Self {
        let choices = choices.into_iter().collect::<Vec<_>>().join(", ");
        Error::UnknownName { what, given: given.to_owned(), choices }
    }
}

/// An error with its causes in one line.
#[must_use]
pub fn one_line(error: &anyhow::Error) -> String {
    format!("{error:#}").replace(['\n', '\r'], " ")
}
