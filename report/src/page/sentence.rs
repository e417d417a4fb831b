//! A sentence with places for judged figures: "async takes {T2.fair.range}".

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
    /// A figure of a claim's form: of its row of this scenario or part, or of the row that decides it.
    Figure {
        claim: String,
        form: Form,
        of: Option<String>,
        what: What,
    },
    /// Where a crossing of a map is, over the hosts.
    Crossing {
        map: String,
        crossing: String,
    },
}

/// How a figure is said, in the unit of its authors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, EnumString, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum What {
    /// "+5 to +42 %": from the least to the most over the hosts.
    Range,
    /// What the authors' own code shows, from the least to the most over the hosts.
    Theirs,
}

impl Sentence {
    /// The claims that its figures are of.
    pub fn claims(&self) -> impl Iterator<Item = &String> {
        self.pieces.iter().filter_map(|piece| if let Piece::Figure { claim, .. } = piece { Some(claim) } else { None })
    }

    /// The crossings whose figures it has.
    pub fn crossings(&self) -> impl Iterator<Item = (&String, &String)> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Crossing { map, crossing } => Some((map, crossing)),
            _ => None,
        })
    }

    /// The rows that it names by their scenario or part.
    pub fn rows(&self) -> impl Iterator<Item = (&String, Form, &String)> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Figure { claim, form, of: Some(of), .. } => Some((claim, *form, of)),
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
            let words = Piece::Words(words.to_owned());
            if let ["map", map, crossing] = place.split('.').collect::<Vec<_>>()[..] {
                pieces.extend([Piece::Crossing { map: map.to_owned(), crossing: crossing.to_owned() }, words]);
                continue;
            }
            let (claim, form, of, what) = match place.split('.').collect::<Vec<_>>()[..] {
                [claim, form, what] => (claim.to_owned(), form, None, what),
                [claim, form, of, what] => (claim.to_owned(), form, Some(of.to_owned()), what),
                _ => {
                    let known = "{CLAIM.FORM.WHAT}, {CLAIM.FORM.SCENARIO_OR_PART.WHAT} or {map.ID.CROSSING}";
                    return Err(format!("a figure is {known}, not {{{place}}}"));
                }
            };
            let (form, what) = (chosen("form", form)?, chosen("figure", what)?);
            pieces.push(Piece::Figure { claim, form, of, what });
            pieces.push(words);
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
        let sentence = read("Takes {T2.fair.range}, or {S1.published.hold_1s.theirs}.").expect("both places are well");
        assert_eq!(sentence.claims().collect::<Vec<_>>(), ["T2", "S1"]);
        assert_eq!(sentence.pieces.len(), 5);
        assert_eq!(read("nothing").expect("no place").pieces, [Piece::Words("nothing".to_owned())]);
        for (text, part) in [
            ("{T2.fair.range", "lacks its '}'"),
            ("{T2.fair}", "{CLAIM.FORM.WHAT}"),
            ("{T2.unfair.range}", "published or fair"),
            ("{T2.fair.shorter}", "range or theirs"),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
