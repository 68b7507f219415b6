//! How people name a plan: its number in the session (`3` or `#3`), its id, or a unique piece of its id.

use std::fmt;
use std::str::FromStr;

use crate::ids::PlanId;
use crate::refusal::Refusal;
use crate::visible::quoted;

const MIN_PIECE: usize = 6;

/// Before a number it says that a plan is meant, also where a text may stand.
pub const NUMBER_MARK: char = '#';

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanReference {
    /// A number; long ones may also be a piece of an id.
    Number(u32),
    Piece(String),
}

/// Enough of a plan to find it by reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanCandidate {
    pub id: PlanId,
    pub number: u32,
}

impl PlanReference {
    /// The piece of an id that a store looks for, beside the number.
    pub fn piece(&self) -> Option<String> {
        let text = self.to_string();
        (text.len() >= MIN_PIECE).then_some(text)
    }

    pub fn number(&self) -> Option<u32> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Piece(_) => None,
        }
    }

    /// The one plan that is meant: by its number, else its whole id, else a piece that only one id has.
    pub fn choose(&self, candidates: &[PlanCandidate]) -> Result<PlanId, Refusal> {
        if let Some(found) = self.number().and_then(|number| candidates.iter().find(|plan| plan.number == number)) {
            return Ok(found.id.clone());
        }
        let text = self.to_string();
        if let Some(found) = candidates.iter().find(|plan| plan.id.as_str() == text) {
            return Ok(found.id.clone());
        }
        let matching: Vec<_> = match self.piece() {
            Some(piece) => candidates.iter().filter(|plan| plan.id.as_str().contains(&piece)).collect(),
            None => Vec::new(),
        };
        match matching.as_slice() {
            [] => Err(Refusal::not_found(format!("There is no plan {} in this session.", quoted(&text)))),
            [one] => Ok(one.id.clone()),
            several => {
                let numbers: Vec<_> = several.iter().map(|plan| plan.number.to_string()).collect();
                Err(Refusal::conflict(format!("{} could be plan {}; say which.", quoted(&text), numbers.join(" or "))))
            }
        }
    }
}

impl FromStr for PlanReference {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        if let Some(marked) = text.strip_prefix(NUMBER_MARK) {
            return plan_number(marked).map(Self::Number).ok_or_else(|| no_reference(text));
        }
        if let Some(number) = plan_number(text) {
            return Ok(Self::Number(number));
        }
        if text.len() >= MIN_PIECE && PlanId::new(text).is_ok() {
            return Ok(Self::Piece(text.to_owned()));
        }
        Err(no_reference(text))
    }
}

fn plan_number(text: &str) -> Option<u32> {
    let digits = text.bytes().all(|b| b.is_ascii_digit()) && !text.starts_with('0');
    text.parse().ok().filter(|_| digits)
}

fn no_reference(text: &str) -> Refusal {
    Refusal::invalid(format!(
        "{} does not name a plan: give its number, its id, or at least {MIN_PIECE} characters of its id",
        quoted(text),
    ))
}

impl fmt::Display for PlanReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Piece(piece) => f.write_str(piece),
        }
    }
}
