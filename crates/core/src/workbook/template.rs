//! What a fresh document says. A person's own template takes the place of ours if it is whole.

use std::fmt;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::completion::is_complete;
use super::{DocumentKind, Documents, sections};
use crate::visible::{quoted, visible};

/// One template for each document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Templates(Documents<String>);

/// Why a template is not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BrokenTemplate {
    Blank,
    TooLong,
    NoHeading,
    /// It has something in double braces that nothing takes the place of.
    UnknownPlace(String),
    /// A plan that begins as a complete one would be archived at once.
    Complete,
}

const TITLE: &str = "{{title}}";
const DATE: &str = "{{date}}";
/// The most bytes of a template.
const MAX_BYTES: usize = 64 * 1024;
/// The most characters of a title in a heading.
const MAX_TITLE: usize = 200;

/// A document at its beginning.
pub fn fresh(which: DocumentKind, title: &str, at: Timestamp, templates: &Templates) -> String {
    filled(templates.0.get(which), title, at)
}

fn filled(template: &str, title: &str, at: Timestamp) -> String {
    let title = visible(title).split_whitespace().collect::<Vec<_>>().join(" ");
    let title: String = title.chars().take(MAX_TITLE).collect();
    let date = at.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d").to_string();
    // The title comes last, so that nothing in it is taken for a place.
    template.replace(DATE, &date).replace(TITLE, &title)
}

impl Default for Templates {
    fn default() -> Self {
        Self(Documents {
            task_plan: include_str!("templates/task_plan.md").to_owned(),
            findings: include_str!("templates/findings.md").to_owned(),
            progress: include_str!("templates/progress.md").to_owned(),
        })
    }
}

impl Templates {
    /// Takes a person's own template, or none of it.
    pub fn set(&mut self, which: DocumentKind, text: &str) -> Result<(), BrokenTemplate> {
        check(which, text)?;
        *self.0.get_mut(which) = text.to_owned();
        Ok(())
    }

    pub fn get(&self, which: DocumentKind) -> &str {
        self.0.get(which)
    }
}

fn check(which: DocumentKind, text: &str) -> Result<(), BrokenTemplate> {
    if text.trim().is_empty() {
        return Err(BrokenTemplate::Blank);
    }
    if text.len() > MAX_BYTES {
        return Err(BrokenTemplate::TooLong);
    }
    if let Some(place) = unknown_place(text) {
        return Err(BrokenTemplate::UnknownPlace(place.to_owned()));
    }
    let sample = filled(text, "A title", Timestamp::UNIX_EPOCH);
    if sections::headings(&sample).is_empty() {
        return Err(BrokenTemplate::NoHeading);
    }
    match which {
        DocumentKind::TaskPlan if is_complete(&sample) => Err(BrokenTemplate::Complete),
        DocumentKind::TaskPlan | DocumentKind::Findings | DocumentKind::Progress => Ok(()),
    }
}

fn unknown_place(text: &str) -> Option<&str> {
    let opened = text.match_indices("{{").map(|(start, _)| &text[start..]);
    let places = opened.filter_map(|rest| rest.find("}}").map(|end| &rest[..end + 2]));
    places.filter(|place| !place.contains('\n')).find(|place| ![TITLE, DATE].contains(place))
}

impl fmt::Display for BrokenTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blank => f.write_str("it is blank"),
            Self::TooLong => write!(f, "it has more than {MAX_BYTES} bytes"),
            Self::NoHeading => f.write_str("it has no heading"),
            Self::UnknownPlace(place) => {
                write!(f, "nothing takes the place of {}; there are `{TITLE}` and `{DATE}`", quoted(place))
            }
            Self::Complete => f.write_str("a plan made from it would be complete from the beginning"),
        }
    }
}
