//! A sentence with places for judged figures: "async takes {T2.fair.range}".

use serde::Deserialize;

use crate::claims::Form;
use crate::files::chosen;

/// What a page says of its verdicts. A place that cannot be filled is refused when the page is read, not left out when it is printed.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub struct Sentence {
    pub pieces: Vec<Piece>,
}

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum What {
    /// "+5 to +42 %": from the least to the most over the hosts.
    Range,
    /// The same and the verdict over the hosts: "+5 to +42 %, holds".
    Judged,
    /// What the authors' own code shows, from the least to the most over the hosts.
    Theirs,
}

impl Sentence {
    /// Whether it has a figure of this claim.
    pub fn quotes(&self, id: &str) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::Figure { claim, .. } if claim == id))
    }
}

impl TryFrom<String> for Sentence {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let mut parts = text.split('{');
        let mut pieces: Vec<Piece> = parts.next().map(|words| Piece::Words(words.to_owned())).into_iter().collect();
        for part in parts {
            let (place, words) = part.split_once('}').ok_or_else(|| format!("'{{{part}' lacks its '}}'"))?;
            let figure = |claim: &str, form, of: Option<&str>, what| {
                let (claim, of) = (claim.to_owned(), of.map(str::to_owned));
                Ok(Piece::Figure { claim, form: chosen(form)?, of, what: chosen(what)? })
            };
            let piece = match place.split('.').collect::<Vec<_>>()[..] {
                ["map", map, crossing] => Ok(Piece::Crossing { map: map.to_owned(), crossing: crossing.to_owned() }),
                [claim, form, what] => figure(claim, form, None, what),
                [claim, form, of, what] => figure(claim, form, Some(of), what),
                _ => {
                    let known = "{CLAIM.FORM.WHAT}, {CLAIM.FORM.SCENARIO_OR_PART.WHAT} or {map.ID.CROSSING}";
                    Err(format!("a figure is {known}, not {{{place}}}"))
                }
            };
            pieces.extend([piece?, Piece::Words(words.to_owned())]);
        }
        Ok(Sentence { pieces })
    }
}
