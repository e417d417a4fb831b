//! A sentence with places for judged figures: "async takes {T2.fair.longer}".

use serde::Deserialize;
use strum::{Display, EnumString, VariantNames};

use crate::claims::Form;
use crate::files::chosen;

/// What a page says of its verdicts. A place that cannot be filled is refused when the page is read, not left out when it is printed.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub struct Sentence {
    pub pieces: Vec<Piece>,
}

/// A piece of a sentence.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    Words(String),
    /// A figure of a claim's form: of its row of this scenario, or of the row that decides it.
    Figure {
        claim: String,
        form: Form,
        scenario: Option<String>,
        what: What,
    },
}

/// How a figure is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, EnumString, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum What {
    /// "29 % longer (17 to 37)": the larger side over the smaller.
    Longer,
    /// "0.5 % less (4.2 less to 5.8 more)": the first side against the second.
    Change,
    /// "2.6 % more time (1.3 less to 9.8 more)": the same of times.
    Time,
    /// "20 % less time (18 to 23)": the second side against the first.
    Against,
    /// "4.0 (3.0 to 4.9)".
    Number,
    /// "8 of 8": blocks in which an outcome was as claimed.
    Blocks,
    /// "holds": the verdict on the row.
    Verdict,
    /// The change that the authors' own code shows where it was run beside its mirror.
    Theirs,
    /// The change that the mirror shows there.
    Ours,
}

impl Sentence {
    /// The claims that its figures are of.
    pub fn claims(&self) -> impl Iterator<Item = &String> {
        self.pieces.iter().filter_map(|piece| if let Piece::Figure { claim, .. } = piece { Some(claim) } else { None })
    }

    /// The rows that it names by their scenario.
    pub fn rows(&self) -> impl Iterator<Item = (&String, Form, &String)> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Figure { claim, form, scenario: Some(scenario), .. } => Some((claim, *form, scenario)),
            _ => None,
        })
    }
}

impl TryFrom<String> for Sentence {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let mut parts = text.split('{');
        let mut pieces: Vec<Piece> = parts.next().map(|words| Piece::Words(words.to_owned())).into_iter().collect();
        for part in parts {
            let (place, words) = part.split_once('}').ok_or_else(|| format!("'{{{part}' lacks its '}}'"))?;
            let (claim, form, scenario, what) = match place.split('.').collect::<Vec<_>>()[..] {
                [claim, form, what] => (claim.to_owned(), form, None, what),
                [claim, form, scenario, what] => (claim.to_owned(), form, Some(scenario.to_owned()), what),
                _ => {
                    let known = "{CLAIM.FORM.WHAT} or {CLAIM.FORM.SCENARIO.WHAT}";
                    return Err(format!("a figure is {known}, not {{{place}}}"));
                }
            };
            let (form, what) = (chosen("form", form)?, chosen("figure", what)?);
            pieces.push(Piece::Figure { claim, form, scenario, what });
            pieces.push(Piece::Words(words.to_owned()));
        }
        Ok(Sentence { pieces })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_or_refused() {
        let read = |text: &str| Sentence::try_from(text.to_owned());
        let sentence = read("Takes {T2.fair.longer}, or {S1.published.hold_1s.number}.").expect("both places are well");
        assert_eq!(sentence.claims().collect::<Vec<_>>(), ["T2", "S1"]);
        assert_eq!(sentence.pieces.len(), 5);
        assert_eq!(read("nothing").expect("no place").pieces, [Piece::Words("nothing".to_owned())]);
        for (text, part) in [
            ("{T2.fair.longer", "lacks its '}'"),
            ("{T2.fair}", "{CLAIM.FORM.WHAT}"),
            ("{T2.unfair.longer}", "published or fair"),
            ("{T2.fair.shorter}", "longer, change, time, against, number, blocks, verdict, theirs or ours"),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
