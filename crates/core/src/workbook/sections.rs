//! Sections of a document, named by their heading and replaced without touching anything else.
//!
//! What is replaced is the section's own text, up to the next heading; with [`Scope::WithSubsections`] the sections below
//! it go as well, except for the title, below which everything stands. The document is changed only if all other headings are the same afterwards: content that would swallow
//! what follows it, such as code that is never closed, is refused.

use std::fmt;

pub use super::outline::Section;
use super::outline::{Outline, line_end_of};
use crate::visible::quoted;

/// How much of a section is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Its own text, up to the next heading. The sections below it stay.
    OwnText,
    /// Everything up to the next heading that is not below it.
    WithSubsections,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionError {
    pub problem: SectionProblem,
    /// The sections there are, each under a name that means only it. A long list is cut.
    pub headings: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SectionProblem {
    Unknown {
        section: String,
    },
    /// More than one section has this name.
    Ambiguous {
        section: String,
        count: usize,
    },
    /// The content has a heading that would end the section.
    HeadingTooHigh {
        heading: String,
        level: u8,
    },
    /// The content has a heading that one of the sections that stay has, too.
    Doubled {
        heading: String,
    },
    /// Everything else stands below it: with its sections it is the whole document.
    WholeDocument {
        section: String,
    },
    /// With this content the rest of the document would be read differently.
    Swallows,
}

/// Every section of the document, in its order.
pub fn headings(markdown: &str) -> Vec<Section> {
    Outline::of(markdown).sections
}

/// A name for each of the first sections that means only that one: its title, or the path to it.
pub fn names(markdown: &str) -> Vec<String> {
    listed(&Outline::of(markdown))
}

/// The document with another text in one section.
///
/// A section is named by the exact words of its heading, with or without its `#`s, or by a path such as
/// `Phases > Phase 1`; where even the path is ambiguous, `[2]` behind it means the second.
pub fn replace(markdown: &str, section: &str, content: &str, scope: Scope) -> Result<String, SectionError> {
    let outline = Outline::of(markdown);
    let failed = |problem| SectionError { problem, headings: listed(&outline) };
    let index = find(&outline, section).map_err(failed)?;
    let found = &outline.sections[index];
    if scope == Scope::WithSubsections && found.level == 1 && holds_everything(&outline, index) {
        return Err(failed(SectionProblem::WholeDocument { section: found.title.clone() }));
    }
    let content = without_own_heading(content, found);
    check_headings(&outline, index, content, scope).map_err(failed)?;
    let range = match scope {
        Scope::OwnText => found.own.clone(),
        Scope::WithSubsections => found.whole.clone(),
    };
    let (before, after) = (&markdown[..range.start], &markdown[range.end..]);
    let body = body(markdown, before, content, after);
    let replaced = [before, &body, after].concat();
    if keeps_the_rest(markdown, &outline, index, scope, &replaced, content) {
        Ok(replaced)
    } else {
        Err(failed(SectionProblem::Swallows))
    }
}

/// How many names are listed.
const MAX_LISTED: usize = 100;
const BETWEEN: &str = " > ";

fn find(outline: &Outline, section: &str) -> Result<usize, SectionProblem> {
    let wanted = squeezed(section);
    let (level, bare) = without_marks(&wanted);
    let attempts: [&dyn Fn() -> Vec<usize>; 4] =
        [&|| named(outline, &wanted), &|| named(outline, bare), &|| named(outline, &read_as_heading(bare)), &|| {
            let numbered = numbered(bare).and_then(|(name, n)| named(outline, name).get(n - 1).copied());
            numbered.into_iter().collect()
        }];
    let mut found = attempts.iter().map(|attempt| attempt()).find(|found| !found.is_empty()).unwrap_or_default();
    if let Some(level) = level.filter(|_| found.len() > 1 || !found.is_empty() && named(outline, &wanted).is_empty()) {
        found.retain(|index| outline.sections[*index].level == level);
    }
    match found[..] {
        [] => Err(SectionProblem::Unknown { section: section.to_owned() }),
        [index] => Ok(index),
        _ => Err(SectionProblem::Ambiguous { section: section.to_owned(), count: found.len() }),
    }
}

/// The sections whose title is this, or whose path ends with it.
fn named(outline: &Outline, name: &str) -> Vec<usize> {
    let is = |index: &usize| {
        let path = outline.path(*index);
        (0..path.len()).any(|from| path[from..].join(BETWEEN) == name)
    };
    (0..outline.sections.len())
        .filter(|index| name.ends_with(outline.sections[*index].title.as_str()))
        .filter(is)
        .collect()
}

fn listed(outline: &Outline) -> Vec<String> {
    (0..outline.sections.len().min(MAX_LISTED)).map(|index| name(outline, index)).collect()
}

/// The shortest name that means only this section.
fn name(outline: &Outline, index: usize) -> String {
    let path = outline.path(index);
    let unique =
        (0..path.len()).rev().map(|from| path[from..].join(BETWEEN)).find(|name| named(outline, name) == [index]);
    unique.unwrap_or_else(|| {
        let full = path.join(BETWEEN);
        let place = named(outline, &full).iter().position(|other| *other == index).unwrap_or_default();
        format!("{full} [{}]", place + 1)
    })
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A name that was written with the marks of a heading, and the level they say.
fn without_marks(text: &str) -> (Option<u8>, &str) {
    let bare = text.trim_start_matches('#');
    let level = text.len() - bare.len();
    match u8::try_from(level) {
        Ok(level @ 1..=6) if bare.starts_with(' ') => (Some(level), bare.trim()),
        Ok(_) | Err(_) => (None, text),
    }
}

/// The visible words of a name that was written with markup.
fn read_as_heading(text: &str) -> String {
    let sections = headings(&format!("# {text}\n"));
    sections.into_iter().next().map(|section| section.title).unwrap_or_default()
}

fn numbered(text: &str) -> Option<(&str, usize)> {
    let (name, number) = text.strip_suffix(']')?.rsplit_once(" [")?;
    Some((name, number.parse().ok().filter(|number| *number > 0)?))
}

/// Many write the heading once more at the beginning of what they put below it.
fn without_own_heading<'a>(content: &'a str, section: &Section) -> &'a str {
    let first = headings(content).into_iter().next();
    match first {
        Some(first)
            if first.level == section.level
                && first.title == section.title
                && content[..first.heading.start].trim().is_empty() =>
        {
            &content[first.heading.end..]
        }
        Some(_) | None => content,
    }
}

fn check_headings(outline: &Outline, index: usize, content: &str, scope: Scope) -> Result<(), SectionProblem> {
    let section = &outline.sections[index];
    for heading in headings(content) {
        if heading.level <= section.level {
            return Err(SectionProblem::HeadingTooHigh { heading: heading.title, level: section.level });
        }
        let stays = match scope {
            Scope::OwnText => below(outline, index).any(|other| other.title == heading.title),
            Scope::WithSubsections => false,
        };
        if stays {
            return Err(SectionProblem::Doubled { heading: heading.title });
        }
    }
    Ok(())
}

fn below(outline: &Outline, index: usize) -> impl Iterator<Item = &Section> {
    let level = outline.sections[index].level;
    outline.sections[index + 1..].iter().take_while(move |section| section.level > level)
}

fn holds_everything(outline: &Outline, index: usize) -> bool {
    let others = outline.sections.len() - 1;
    others > 0 && below(outline, index).count() == others
}

/// The new text between what stays, with a blank line on both sides of it and the line ends of the document.
fn body(markdown: &str, before: &str, content: &str, after: &str) -> String {
    let line_end = line_end_of(markdown);
    let content = content.replace("\r\n", "\n").replace('\r', "\n");
    let lines: Vec<_> = content.split('\n').collect();
    let filled = |line: &&str| !line.trim().is_empty();
    let (first, last) = (lines.iter().position(filled), lines.iter().rposition(filled));
    let mut body = String::new();
    if !before.ends_with(['\n', '\r']) && (first.is_some() || !after.is_empty()) {
        body.push_str(line_end);
    }
    if let (Some(first), Some(last)) = (first, last) {
        body.push_str(line_end);
        body.push_str(&lines[first..=last].join(line_end));
        if !after.is_empty() || markdown.ends_with(['\n', '\r']) {
            body.push_str(line_end);
        }
    }
    if !after.is_empty() {
        body.push_str(line_end);
    }
    body
}

/// Whether every other heading is still there, and the content has brought its own and no others. Headings are compared as
/// they are written: what a reference in one of them means may stand in the text that goes.
fn keeps_the_rest(
    markdown: &str,
    outline: &Outline,
    index: usize,
    scope: Scope,
    replaced: &str,
    content: &str,
) -> bool {
    let stays_from = match scope {
        Scope::OwnText => index + 1,
        Scope::WithSubsections => index + 1 + below(outline, index).count(),
    };
    let before = written(markdown, &outline.sections);
    let brought = written(content, &headings(content));
    let expected = [&before[..=index], &brought, &before[stays_from..]].concat();
    written(replaced, &headings(replaced)) == expected
}

fn written(markdown: &str, sections: &[Section]) -> Vec<(u8, String)> {
    sections.iter().map(|section| (section.level, squeezed(&markdown[section.heading.clone()]))).collect()
}

impl fmt::Display for SectionProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { section } => write!(f, "There is no section {}.", quoted(section)),
            Self::Ambiguous { section, count } => {
                write!(f, "{count} sections are called {}; name one by its path, as listed.", quoted(section))
            }
            Self::HeadingTooHigh { heading, level } => write!(
                f,
                "The content has the heading {}, which would end the section: inside it headings have more than {level} `#`.",
                quoted(heading)
            ),
            Self::Doubled { heading } => write!(
                f,
                "The content has the heading {}, and a section of that name below this one stays. Replace the sections \
                 below it as well, or name that one.",
                quoted(heading)
            ),
            Self::WholeDocument { section } => write!(
                f,
                "Everything else stands below {}. Replace its own text only, or write the whole document.",
                quoted(section)
            ),
            Self::Swallows => f.write_str(
                "With this content the rest of the document would be read differently: something in it is not closed, \
                 such as code or HTML.",
            ),
        }
    }
}

impl fmt::Display for SectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.headings.iter().map(|name| quoted(name)).collect();
        write!(f, "{} The sections are: {}.", self.problem, names.join(", "))
    }
}
