//! What is looked for: the terms of a question, the names in it, and the dates that it names.

use std::collections::BTreeSet;

use super::text::{
    author_term, day_of_any_year, day_term, is_number, month_named, month_of_any_year, month_term, split_words, stem,
    stems,
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryQuery {
    /// Each once, sorted.
    pub(super) terms: Vec<String>,
    /// The term of every word that could be the name of an author, with the stem that the word also is.
    pub(super) names: Vec<(String, String)>,
    pub(super) dates: Vec<String>,
    /// The question asks for a time.
    pub(super) asks_when: bool,
}

/// The most terms that are looked for; more of them make a search slow and not better.
const MAX_TERMS: usize = 64;

impl MemoryQuery {
    pub fn of(text: &str) -> Self {
        let mut found = stems(text);
        let mut seen = BTreeSet::new();
        found.retain(|term| seen.insert(term.clone()));
        found.truncate(MAX_TERMS);
        found.sort();
        let all = split_words(text);
        let mut names: Vec<_> = all.iter().map(|word| (author_term(word), stem(word))).collect();
        names.retain(|(_, stem)| found.binary_search(stem).is_ok());
        names.sort();
        names.dedup();
        let asks_when = all.first().is_some_and(|word| word == "when")
            || all.windows(2).any(|two| {
                matches!(two[0].as_str(), "what" | "which")
                    && matches!(two[1].as_str(), "date" | "day" | "month" | "year")
            });
        Self { terms: found, names, dates: dates(text), asks_when }
    }

    /// Everything to be looked up in the index, each once. Postings refer to it by position.
    pub fn lookups(&self) -> Vec<&str> {
        let names = self.names.iter().map(|(name, _)| name);
        self.terms.iter().chain(names).chain(&self.dates).map(String::as_str).collect()
    }

    /// Whether a text has one of the words that are looked for.
    pub fn shares_a_term_with(&self, text: &str) -> bool {
        stems(text).iter().any(|stem| self.terms.binary_search(stem).is_ok())
    }

    pub fn is_empty(&self) -> bool {
        self.terms.is_empty() && self.dates.is_empty()
    }
}

/// The terms of the dates in a text: `7 May 2023`, `May 7, 2023`, `May 7`, `May 2023`, `in June`, `2023-05-07`.
pub(super) fn dates(text: &str) -> Vec<String> {
    let original: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let mut found = Vec::new();
    let number = |index: Option<usize>| -> Option<i16> {
        let word = original.get(index?)?;
        let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        if is_number(digits) { digits.parse().ok() } else { None }
    };
    let year = |index: Option<usize>| number(index).filter(|year| (1900..=2999).contains(year));
    let day = |index: Option<usize>| {
        number(index).and_then(|day| i8::try_from(day).ok()).filter(|day| (1..=31).contains(day))
    };
    for (at, word) in original.iter().enumerate() {
        if let (Some(year), Some(month), Some(day)) = (
            year(Some(at)).filter(|_| word.len() == 4),
            day(Some(at + 1)).filter(|month| *month <= 12),
            day(Some(at + 2)),
        ) {
            found.push(day_term(year, month, day));
            continue;
        }
        let Some(month) = month_named(&word.to_lowercase()) else { continue };
        let (before, after) = (at.checked_sub(1), Some(at + 1));
        let its_day = day(before).or_else(|| day(after).filter(|_| year(after).is_none()));
        let its_year = year(after).or_else(|| year(Some(at + 2)).filter(|_| day(after).is_some()));
        // "may" and "march" are also verbs.
        let is_name = word.starts_with(char::is_uppercase) || its_day.is_some() || its_year.is_some();
        match (its_year, its_day) {
            (Some(year), Some(day)) => found.push(day_term(year, month, day)),
            (Some(year), None) => found.push(month_term(year, month)),
            (None, Some(day)) => found.push(day_of_any_year(month, day)),
            (None, None) if is_name => found.push(month_of_any_year(month)),
            (None, None) => {}
        }
    }
    found.sort();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_in_the_forms_that_people_write() {
        let cases: &[(&str, &[&str])] = &[
            ("What happened on 7 May 2023?", &["#2023-05-07"]),
            ("What happened on May 7th, 2023?", &["#2023-05-07"]),
            ("Who called on May 7?", &["#--05-07"]),
            ("Who called in May 2023?", &["#2023-05"]),
            ("Where was Ada in June?", &["#--06"]),
            ("Is 2023-05-07 free?", &["#2023-05-07"]),
            ("It may rain.", &[]),
            ("They march on.", &[]),
            ("Version 7 of the report", &[]),
        ];
        for (text, expected) in cases {
            assert_eq!(dates(text), *expected, "{text}");
        }
    }

    #[test]
    fn lookups_have_each_term_once_and_in_one_order() {
        let query = MemoryQuery::of("When did Caroline go to the support group? Caroline went, didn't she?");
        assert_eq!(query.terms, ["carolin", "go", "group", "support"]);
        assert!(query.asks_when);
        assert!(query.lookups().contains(&"@caroline"));
        assert_eq!(query, MemoryQuery::of("When did Caroline go to the support group? Caroline went, didn't she?"));
    }
}
