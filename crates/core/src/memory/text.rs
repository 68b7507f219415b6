//! The terms of a text: its words without the ones that say little, each reduced to its stem, and besides them the words
//! of the author's name and the date. The same text has the same terms in every store.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use rust_stemmers::{Algorithm, Stemmer};

use super::item::MemoryItem;
use super::stop_words::{is_stop_word, regular};

/// Longer words are cut, so that a term always fits an index.
const MAX_TERM: usize = 48;

/// What an item is found by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryText {
    /// The number of words that count.
    pub length: u32,
    /// How often each term occurs.
    pub terms: BTreeMap<String, u32>,
}

impl MemoryText {
    pub fn of(item: &MemoryItem) -> Self {
        let mut terms = BTreeMap::new();
        let mut length = 0;
        for stem in item.tags.iter().flat_map(|tag| stems(tag)).chain(stems(&item.content)) {
            length += 1;
            *terms.entry(stem).or_insert(0) += 1;
        }
        let context = item.origin.as_ref().and_then(|origin| origin.context.as_deref());
        // The words around it lead to it, and are none of its own.
        for stem in context.map(stems).unwrap_or_default() {
            terms.entry(stem).or_insert(1);
        }
        for word in split_words(item.said_by()) {
            terms.insert(author_term(&word), 1);
        }
        for term in date_terms(item.said_at()) {
            terms.insert(term, 1);
        }
        Self { length, terms }
    }
}

/// The words of a text in small letters. Chinese, Japanese and Korean characters each count as a word, since no space
/// divides theirs.
pub(super) fn split_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let end = |word: &mut String, words: &mut Vec<String>| {
        let text = std::mem::take(word);
        let text = text.strip_suffix("'s").unwrap_or(&text);
        let text: String = text.chars().filter(|c| *c != '\'').take(MAX_TERM).collect();
        if !text.is_empty() {
            words.push(text);
        }
    };
    for c in text.chars() {
        match c {
            '\'' | '\u{2019}' if !word.is_empty() => word.push('\''),
            _ if is_ideograph(c) => {
                end(&mut word, &mut words);
                words.push(c.to_string());
            }
            _ if c.is_alphanumeric() => word.extend(c.to_lowercase()),
            _ => end(&mut word, &mut words),
        }
    }
    end(&mut word, &mut words);
    words
}

const fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

/// The stems of the words that count.
pub(super) fn stems(text: &str) -> Vec<String> {
    let words = split_words(text);
    let counting = words.iter().filter(|word| !is_stop_word(word) && !is_short_form(word));
    counting.map(|word| stem(word)).collect()
}

pub(super) fn stem(word: &str) -> String {
    let word = regular(word);
    // The stemmer knows English, and other letters are left as they are.
    if word.is_ascii() { Stemmer::create(Algorithm::English).stem(word).into_owned() } else { word.to_owned() }
}

/// `don't`, `I'm`, `you've` without their apostrophes.
fn is_short_form(word: &str) -> bool {
    const SHORT_FORMS: &[&str] = &[
        "arent", "cant", "couldnt", "didnt", "doesnt", "dont", "hadnt", "hasnt", "havent", "id", "ill", "im", "isnt",
        "ive", "shouldnt", "thats", "theyre", "theyve", "wasnt", "werent", "weve", "wont", "wouldnt", "youd", "youll",
        "youre", "youve",
    ];
    SHORT_FORMS.binary_search(&word).is_ok()
}

pub(super) fn author_term(word: &str) -> String {
    format!("@{word}")
}

/// The day, the day of any year, the month and the month of any year.
fn date_terms(at: Timestamp) -> [String; 4] {
    let date = at.to_zoned(TimeZone::UTC).date();
    let (year, month, day) = (date.year(), date.month(), date.day());
    [day_term(year, month, day), day_of_any_year(month, day), month_term(year, month), month_of_any_year(month)]
}

pub(super) fn day_term(year: i16, month: i8, day: i8) -> String {
    format!("#{year:04}-{month:02}-{day:02}")
}

pub(super) fn day_of_any_year(month: i8, day: i8) -> String {
    format!("#--{month:02}-{day:02}")
}

pub(super) fn month_term(year: i16, month: i8) -> String {
    format!("#{year:04}-{month:02}")
}

pub(super) fn month_of_any_year(month: i8) -> String {
    format!("#--{month:02}")
}

/// Whether a text asks something.
pub(super) fn is_question(text: &str) -> bool {
    text.trim_end().ends_with('?') || text.contains("? ")
}

/// The number of the month that a word names.
pub(super) fn month_named(word: &str) -> Option<i8> {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let whole = |month: &&str| *month == word || (word.len() == 3 && word != "may" && month.starts_with(word));
    let index = MONTHS.iter().position(whole)?;
    i8::try_from(index + 1).ok()
}

/// Whether a text says when something was.
pub(super) fn tells_time(text: &str) -> bool {
    const TIMES: &[&str] = &[
        "ago",
        "evening",
        "friday",
        "monday",
        "month",
        "months",
        "morning",
        "night",
        "saturday",
        "sunday",
        "thursday",
        "today",
        "tomorrow",
        "tonight",
        "tuesday",
        "wednesday",
        "week",
        "weekend",
        "weeks",
        "year",
        "years",
        "yesterday",
    ];
    let is_year = |word: &String| word.len() == 4 && (word.starts_with("19") || word.starts_with("20"));
    split_words(text).iter().any(|word| {
        TIMES.binary_search(&word.as_str()).is_ok() || month_named(word).is_some() || (is_year(word) && is_number(word))
    })
}

pub(super) fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit())
}
