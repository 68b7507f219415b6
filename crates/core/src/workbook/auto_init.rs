//! Whether a message is worth a workbook: a pure function of its words and the settings that says why.
//!
//! What counts is what the person wrote; code and quotations in a message do not. The words it knows are English;
//! in other languages length and lists still count.

use std::collections::BTreeSet;
use std::fmt;

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use super::{AssessmentRecord, PlanningFiles};
use crate::plan::markdown::OPTIONS;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assessment {
    pub begin: bool,
    pub score: u32,
    pub reasons: Vec<Reason>,
}

/// Something that speaks for a workbook, or against one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// The person said `/plan` and what it is about.
    Asked,
    TooShort {
        words: u32,
    },
    Long {
        words: u32,
    },
    /// A list of things to do.
    Listed {
        items: u32,
    },
    /// Words that put one thing after another.
    Ordered {
        words: Vec<&'static str>,
    },
    /// Different things that are to be done.
    Actions {
        words: Vec<&'static str>,
    },
    /// Work that is seldom done in one step.
    Large {
        words: Vec<&'static str>,
    },
    /// Several things named in one breath.
    Several {
        parts: u32,
    },
    /// It wants to know something; nothing is to be done.
    Question,
}

/// From so many words on a message is long, and from three times as many very long.
const LONG: u32 = 60;

const ACTIONS: [&str; 44] = [
    "add",
    "analyse",
    "analyze",
    "book",
    "build",
    "check",
    "clean",
    "collect",
    "compare",
    "convert",
    "create",
    "deploy",
    "describe",
    "design",
    "document",
    "evaluate",
    "find",
    "fix",
    "gather",
    "implement",
    "install",
    "integrate",
    "investigate",
    "migrate",
    "organise",
    "organize",
    "plan",
    "port",
    "prepare",
    "publish",
    "refactor",
    "remove",
    "replace",
    "research",
    "review",
    "rewrite",
    "set up",
    "summarise",
    "summarize",
    "test",
    "translate",
    "update",
    "verify",
    "write",
];
const LARGE: [&str; 20] = [
    "analyse",
    "analyze",
    "build",
    "compare",
    "design",
    "develop",
    "end to end",
    "evaluate",
    "implement",
    "investigate",
    "migrate",
    "organise",
    "organize",
    "port",
    "refactor",
    "research",
    "restructure",
    "rewrite",
    "roadmap",
    "roll out",
];
const ORDER: [&str; 14] = [
    "after that",
    "afterwards",
    "as a next step",
    "finally",
    "first",
    "firstly",
    "in phases",
    "lastly",
    "next",
    "second",
    "secondly",
    "step by step",
    "then",
    "when that is done",
];
/// How questions begin, if they end like one as well.
const QUESTION: [&str; 18] = [
    "are", "can i", "did", "do", "does", "has", "have", "how", "is", "should", "was", "were", "what", "what's", "when",
    "where", "which", "who",
];
/// How people ask to be told something.
const EXPLAIN: [&str; 6] = ["can you explain", "can you tell", "could you explain", "explain", "tell me", "why"];

pub fn assess(message: &str, settings: &PlanningFiles) -> Assessment {
    if asked(message) {
        return Assessment { begin: true, score: settings.min_score, reasons: vec![Reason::Asked] };
    }
    let message_text = PersonMessage::of(message);
    let words = message_text.count();
    if words < settings.min_words {
        return Assessment { begin: false, score: 0, reasons: vec![Reason::TooShort { words }] };
    }
    let reasons = reasons(&message_text);
    let score = reasons.iter().map(Reason::worth).sum::<i64>();
    let score = u32::try_from(score).unwrap_or_default();
    Assessment { begin: score >= settings.min_score, score, reasons }
}

/// `/plan` with something behind it. Its own commands never come here.
fn asked(message: &str) -> bool {
    let rest = message.trim_start().strip_prefix("/plan");
    rest.is_some_and(|rest| rest.starts_with(char::is_whitespace) && !rest.trim().is_empty())
}

fn reasons(message_text: &PersonMessage) -> Vec<Reason> {
    let words = message_text.count();
    let (actions, large, ordered) =
        (message_text.found(&ACTIONS), message_text.found(&LARGE), message_text.found(&ORDER));
    let parts = message_text.parts();
    let asks = QUESTION.iter().any(|opening| message_text.opens_with(opening))
        && message_text.text.trim_end().ends_with('?')
        || EXPLAIN.iter().any(|opening| message_text.opens_with(opening));
    let reasons = [
        (words >= LONG).then_some(Reason::Long { words }),
        (message_text.items >= 3).then_some(Reason::Listed { items: message_text.items }),
        (!ordered.is_empty()).then_some(Reason::Ordered { words: ordered }),
        (actions.len() >= 2).then_some(Reason::Actions { words: actions }),
        (!large.is_empty()).then_some(Reason::Large { words: large }),
        (parts >= 3).then_some(Reason::Several { parts }),
        asks.then_some(Reason::Question),
    ];
    reasons.into_iter().flatten().collect()
}

impl Reason {
    /// What it adds to the score, or takes from it.
    fn worth(&self) -> i64 {
        match self {
            Self::Asked | Self::TooShort { .. } => 0,
            Self::Long { words } => {
                if *words >= 3 * LONG {
                    2
                } else {
                    1
                }
            }
            Self::Listed { .. } => 2,
            Self::Ordered { words } => {
                if words.len() >= 2 {
                    2
                } else {
                    1
                }
            }
            Self::Actions { words } => {
                if words.len() >= 3 {
                    2
                } else {
                    1
                }
            }
            Self::Large { words } => {
                if words.len() >= 2 {
                    2
                } else {
                    1
                }
            }
            Self::Several { .. } => 1,
            Self::Question => -4,
        }
    }
}

/// The words of a message that are the person's own.
#[derive(Default)]
struct PersonMessage {
    /// In lower case, one space between words, and at both ends; each sentence for itself.
    sentences: Vec<String>,
    text: String,
    items: u32,
}

impl PersonMessage {
    fn of(message: &str) -> Self {
        let mut message_text = Self::default();
        let mut foreign = 0_u32;
        for event in Parser::new_ext(message, OPTIONS) {
            match event {
                Event::Start(Tag::CodeBlock(_) | Tag::BlockQuote(_) | Tag::HtmlBlock | Tag::Table(_)) => foreign += 1,
                Event::End(TagEnd::CodeBlock | TagEnd::BlockQuote(_) | TagEnd::HtmlBlock | TagEnd::Table) => {
                    foreign = foreign.saturating_sub(1);
                }
                _ if foreign > 0 => {}
                Event::Start(Tag::Item) => {
                    message_text.items += 1;
                    message_text.text.push('\n');
                }
                Event::End(TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::Item) => message_text.text.push('\n'),
                Event::SoftBreak | Event::HardBreak => message_text.text.push(' '),
                Event::Text(text) => message_text.text.push_str(&text),
                _ => message_text.text.push(' '),
            }
        }
        let sentences = message_text.text.split(['.', '!', '?', '\n', ';', ':']).map(spaced);
        message_text.sentences = sentences.filter(|sentence| !sentence.trim().is_empty()).collect();
        message_text
    }

    fn count(&self) -> u32 {
        let words = self.text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count();
        u32::try_from(words).unwrap_or(u32::MAX)
    }

    fn found(&self, wanted: &[&'static str]) -> Vec<&'static str> {
        let is_there = |word: &str| self.sentences.iter().any(|sentence| sentence.contains(&format!(" {word} ")));
        let found: BTreeSet<_> = wanted.iter().copied().filter(|word| is_there(word)).collect();
        found.into_iter().collect()
    }

    fn opens_with(&self, words: &str) -> bool {
        self.sentences.first().is_some_and(|sentence| sentence.starts_with(&format!(" {words} ")))
    }

    /// The most things that one sentence names one after another: `a, b and c` are three.
    fn parts(&self) -> u32 {
        let parts = self.text.split(['.', '!', '?', '\n', ';']).map(|sentence| {
            let commas = sentence.matches(", ").count();
            let last = sentence.contains(" and ") || sentence.contains(" or ");
            if commas == 0 { 0 } else { commas + 1 + usize::from(last && commas == 1) }
        });
        u32::try_from(parts.max().unwrap_or_default()).unwrap_or(u32::MAX)
    }
}

fn spaced(sentence: &str) -> String {
    let own = |c: char| c.is_alphanumeric() || c == '\'' || c == '’';
    let words = sentence.split(|c: char| !own(c)).filter(|word| !word.is_empty());
    let words: Vec<_> = words.map(|word| word.to_lowercase().replace('’', "'")).collect();
    format!(" {} ", words.join(" "))
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Asked => f.write_str("asked for with /plan"),
            Self::TooShort { words } => write!(f, "only {words} words"),
            Self::Long { words } => write!(f, "{words} words"),
            Self::Listed { items } => write!(f, "a list of {items}"),
            Self::Ordered { words } => write!(f, "one thing after another: {}", words.join(", ")),
            Self::Actions { words } => write!(f, "several things to do: {}", words.join(", ")),
            Self::Large { words } => write!(f, "work of many steps: {}", words.join(", ")),
            Self::Several { parts } => write!(f, "{parts} things in one sentence"),
            Self::Question => f.write_str("it is a question"),
        }
    }
}

impl From<&Assessment> for AssessmentRecord {
    fn from(assessment: &Assessment) -> Self {
        let reasons = assessment.reasons.iter().map(Reason::to_string).collect();
        Self { begin: assessment.begin, score: assessment.score, reasons }
    }
}
