//! Test cases as `arms` lists them.

use std::fmt;

use crate::error::{Error, unknown};

/// A test case: what runs, built how, and how long it takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// Name of the scenario.
    pub scenario: &'static str,
    /// Name of the arm with its suffix, or of a duet.
    pub arm: String,
    /// `release`, `dev` or a variant.
    pub build: &'static str,
    /// Expected wall time on two cores, in seconds.
    pub seconds: f64,
}

impl fmt::Display for Case {
    /// The line of `arms`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Case { scenario, arm, build, seconds } = self;
        write!(f, "{scenario}\t{arm}\t{build}\t{seconds}\trun --scenario {scenario} --arm ")?;
        match arm.split_once('~') {
            Some((first, second)) => write!(f, "{first} --versus {second}"),
            None => write!(f, "{arm}"),
        }
    }
}

/// What an arm's name says behind the `@`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Suffix {
    /// Nothing: the arm itself.
    None,
    /// The same code under a second name.
    Twin,
    /// A copy that spins after its work until it has taken longer by the planted size.
    Slow,
}

impl Suffix {
    /// Splits `arm` into its name and suffix.
    ///
    /// # Errors
    /// If the suffix is neither `aa` nor `slow`.
    pub fn split(arm: &str) -> Result<(&str, Suffix), Error> {
        match arm.split_once('@') {
            None => Ok((arm, Suffix::None)),
            Some((name, "aa")) => Ok((name, Suffix::Twin)),
            Some((name, "slow")) => Ok((name, Suffix::Slow)),
            Some((_, other)) => Err(unknown("suffix", other, ["aa", "slow"])),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_is_the_line_of_the_contract() {
        let case =
            |arm: &str| Case { scenario: "n_1", arm: arm.to_owned(), build: "release", seconds: 0.5 }.to_string();
        assert_eq!(case("a@aa"), "n_1\ta@aa\trelease\t0.5\trun --scenario n_1 --arm a@aa");
        assert_eq!(case("a@slow~a"), "n_1\ta@slow~a\trelease\t0.5\trun --scenario n_1 --arm a@slow --versus a");
    }

    #[test]
    fn a_suffix_stands_behind_the_at() {
        assert_eq!(Suffix::split("a").unwrap(), ("a", Suffix::None));
        assert_eq!(Suffix::split("a@aa").unwrap(), ("a", Suffix::Twin));
        assert_eq!(Suffix::split("a@slow").unwrap(), ("a", Suffix::Slow));
        assert!(Suffix::split("a@fast").is_err());
    }
}
