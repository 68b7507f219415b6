//! What was learnt elsewhere keeps who said it there, when, and in which context. All of it is a claim of the person or agent that saved it.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::query::dates;
use super::text::month_named;
use crate::refusal::Refusal;
use crate::visible::quoted;

/// The most characters of a name and of a context.
const MAX_AUTHOR: usize = 64;
const MAX_CONTEXT: usize = 512;
/// Clocks differ, and a day begins earlier elsewhere.
const EARLIER_ELSEWHERE: SignedDuration = SignedDuration::from_hours(24);
/// Where a text may say at its beginning who says it, and when.
const MAX_HEAD: usize = 80;
const MAX_NAMES: usize = 3;

/// Where an item was learnt, if it was not here.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryOrigin {
    /// Who said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// When it was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// What it was said in or about. Its words lead to the item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
}

impl MemoryOrigin {
    /// What a person or an agent states about an item that it saves. `at` is a day or a time of RFC 3339.
    pub fn stated(author: Option<String>, at: Option<&str>, context: Option<String>) -> Result<Option<Self>, Refusal> {
        let filled = |text: Option<String>| {
            let text = text.map(|text| text.trim().to_owned());
            text.filter(|text| !text.is_empty())
        };
        let at = at.map(str::trim).filter(|at| !at.is_empty()).map(time).transpose()?;
        let origin = Self { author: filled(author), at, context: filled(context) };
        Ok((origin != Self::default()).then_some(origin))
    }

    /// What the beginning of a text says: `Ada (7 May 2023): …`, `[2023-05-07 13:56] Ada: …`, `Ada, May 7, 2023: …`. Without a day
    /// the word before a colon is no author.
    pub(crate) fn of_text(text: &str) -> Option<Self> {
        let line = text.lines().next()?;
        let (head, rest) = line.split_once(": ")?;
        if head.chars().count() > MAX_HEAD || rest.trim().is_empty() {
            return None;
        }
        let [day]: [String; 1] = dates(head).try_into().ok()?;
        let day: Date = day.strip_prefix('#')?.parse().ok()?;
        let at = day.to_zoned(TimeZone::UTC).ok()?.timestamp();
        Some(Self { author: name_in(head), at: Some(at), context: None })
    }

    pub(crate) fn check(&self, now: Timestamp) -> Result<(), Refusal> {
        let fits = |what: &str, text: &Option<String>, most: usize| match text {
            Some(text) if text.chars().count() > most => {
                Err(Refusal::limit(format!("The {what} of a memory has at most {most} characters.")))
            }
            Some(text) if text.chars().any(char::is_control) => {
                Err(Refusal::invalid(format!("The {what} of a memory is one line of text.")))
            }
            Some(_) | None => Ok(()),
        };
        fits("author", &self.author, MAX_AUTHOR)?;
        fits("context", &self.context, MAX_CONTEXT)?;
        match self.at {
            Some(at) if at.duration_since(now) > EARLIER_ELSEWHERE => {
                Err(Refusal::invalid("A memory was said at a time that has not come yet."))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Its texts in bytes.
    pub(crate) fn size(&self) -> usize {
        [&self.author, &self.context].into_iter().flatten().map(String::len).sum()
    }
}

fn time(text: &str) -> Result<Timestamp, Refusal> {
    let day = || text.parse::<Date>().ok()?.to_zoned(TimeZone::UTC).ok().map(|day| day.timestamp());
    // A time has a day at its beginning, so it is tried first.
    text.parse::<Timestamp>().ok().or_else(day).ok_or_else(|| {
        Refusal::invalid(format!("{} is no time; write `2026-05-07` or `2026-05-07T13:56:00Z`.", quoted(text)))
    })
}

/// The words that are left beside the day, if they can be a name.
fn name_in(head: &str) -> Option<String> {
    let words = head.split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '\'' | '’' | '.')));
    let words = words.map(|word| word.trim_matches('.')).filter(|word| !word.is_empty());
    let left: Vec<_> = words.filter(|word| !is_of_a_time(word)).collect();
    let is_name = |word: &&str| word.chars().next().is_some_and(char::is_uppercase) && !word.contains(char::is_numeric);
    let fits = (1..=MAX_NAMES).contains(&left.len()) && left.iter().all(is_name);
    fits.then(|| left.join(" "))
}

fn is_of_a_time(word: &str) -> bool {
    let small = word.to_lowercase();
    let is_small_word = matches!(small.as_str(), "on" | "at" | "am" | "pm" | "a.m" | "p.m" | "utc" | "of" | "the");
    is_small_word || month_named(&small).is_some() || word.starts_with(|first: char| first.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_says_it_and_when_is_read_from_the_beginning_of_a_text() {
        for (text, expected) in [
            ("Ada (7 May 2023): I went there.", Some((Some("Ada"), "2023-05-07"))),
            ("[2023-05-07 13:56] Ada: I went there.", Some((Some("Ada"), "2023-05-07"))),
            ("Ada Lovelace, May 7, 2023: I went there.", Some((Some("Ada Lovelace"), "2023-05-07"))),
            ("Ada (1:56 pm on 8 May, 2023): I went there.", Some((Some("Ada"), "2023-05-08"))),
            ("On 8 May 2023 the others said: I went there.", Some((None, "2023-05-08"))),
            ("Note: I went there on 7 May 2023.", None),
            ("Ada (in May): I went there.", None),
            ("From 7 May 2023 to 8 May 2023: closed.", None),
            ("I went there on 7 May 2023", None),
            ("Ada (7 May 2023):", None),
            ("Ada (31 February 2023): never", None),
        ] {
            let read = MemoryOrigin::of_text(text);
            let read = read.map(|origin| (origin.author, origin.at.map(|at| at.to_string()[..10].to_owned())));
            let expected =
                expected.map(|(author, day): (Option<&str>, &str)| (author.map(str::to_owned), Some(day.to_owned())));
            assert_eq!(read, expected, "{text}");
        }
    }

    #[test]
    fn a_time_is_a_day_or_a_moment() {
        let at = |text: &str| MemoryOrigin::stated(None, Some(text), None).map(|origin| origin.and_then(|o| o.at));
        assert_eq!(at("2026-05-07").unwrap().unwrap().to_string(), "2026-05-07T00:00:00Z");
        assert_eq!(at("2026-05-07T13:56:00+02:00").unwrap().unwrap().to_string(), "2026-05-07T11:56:00Z");
        assert_eq!(at(" ").unwrap(), None);
        assert!(at("yesterday").is_err());
        assert_eq!(MemoryOrigin::stated(Some(" ".to_owned()), None, None).unwrap(), None);
    }
}
