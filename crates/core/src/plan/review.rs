//! A person's comments on one version of a plan: drafted, sent with a decision, and found again in later versions.

use std::fmt::Write as _;

use pulldown_cmark::{Event, Parser};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::{CommentId, PlanId, StepId};
use crate::plan::content::{PlanContent, PlanStep};
use crate::plan::markdown::OPTIONS;
use crate::plan::{Plan, PlanStyle};

/// The most comments of a review.
pub const MAX_COMMENTS: usize = 200;

/// The most characters of the text before or after a quotation.
pub const MAX_CONTEXT: usize = 256;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Review {
    /// The version that the comments are about.
    pub version: u32,
    pub comments: Vec<ReviewComment>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewComment {
    pub id: CommentId,
    pub anchor: CommentAnchor,
    pub kind: CommentKind,
    /// Empty for words that are only struck; the new words for words that are to be replaced.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
}

/// What a comment is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum CommentAnchor {
    Step {
        step: StepId,
    },
    /// Words of the plan as a person reads them, with some of the text around them.
    Quote {
        quote: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        prefix: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        suffix: String,
    },
    /// The whole plan.
    Plan {},
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum CommentKind {
    Comment,
    /// The words are to be replaced by the text.
    Replace,
    /// The words are to go.
    Strike,
}

/// What an agent answers to a comment that was sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommentAnswer {
    pub comment: CommentId,
    pub text: String,
}

/// What an agent answers to the comments that were sent on a plan: the active one, or one that it replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewAnswers {
    pub plan: PlanId,
    pub answers: Vec<CommentAnswer>,
}

impl ReviewAnswers {
    /// In bytes of text.
    pub fn size(&self) -> usize {
        self.answers.iter().map(|answer| answer.text.len()).sum()
    }
}

/// The decision that a review was sent with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum SentWith {
    Revise,
    Approve,
}

/// What became of a comment in a later version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum CommentState {
    /// The plan still says what the comment is about.
    Open,
    /// The plan says something else there.
    Addressed,
    /// The place that the comment is about does not exist any more.
    Orphaned,
}

impl Review {
    /// The draft that is left after `sent` was sent: comments that were changed or added meanwhile stay.
    pub fn without(mut self, sent: &Self) -> Self {
        self.comments.retain(|comment| !sent.comments.contains(comment));
        self
    }

    /// The comments in words, for the agent and for surfaces that show plain text.
    pub fn to_text(&self, plan: &Plan) -> String {
        let steps = plan.content.steps();
        let mut text = format!("Comments on version {}:\n", self.version);
        for (comment, n) in self.comments.iter().zip(1..) {
            let _ = write!(text, "\n{n}. {}", comment.to_text(&steps));
        }
        text
    }
}

impl ReviewComment {
    /// In bytes of text.
    pub fn size(&self) -> usize {
        let anchor = match &self.anchor {
            CommentAnchor::Step { step } => step.as_str().len(),
            CommentAnchor::Quote { quote, prefix, suffix } => quote.len() + prefix.len() + suffix.len(),
            CommentAnchor::Plan {} => 0,
        };
        self.id.as_str().len() + anchor + self.text.len()
    }

    fn to_text(&self, steps: &[PlanStep]) -> String {
        let place = match &self.anchor {
            CommentAnchor::Step { step } => match (1..).zip(steps).find(|(_, one)| one.id == *step) {
                Some((position, step)) => format!("step {position} ({})", shortened(&step.description)),
                None => format!("step `{step}`"),
            },
            CommentAnchor::Quote { quote, .. } => format!("\"{}\"", shortened(quote)),
            CommentAnchor::Plan {} => "the whole plan".to_owned(),
        };
        let text = self.text.trim();
        match self.kind {
            CommentKind::Comment => format!("On {place}: {text}"),
            CommentKind::Replace => format!("Replace {place} by: {text}"),
            CommentKind::Strike if text.is_empty() => format!("Strike {place}."),
            CommentKind::Strike => format!("Strike {place}: {text}"),
        }
    }
}

/// Where the comments on one version of a plan are in a later version of it, or of the plan that replaced it.
#[derive(Debug)]
pub struct ReviewTracker<'a> {
    before: &'a Plan,
    now: &'a Plan,
    letters_before: String,
    letters_now: String,
}

impl<'a> ReviewTracker<'a> {
    /// `before` is the plan as it was commented on.
    pub fn new(before: &'a Plan, now: &'a Plan) -> Self {
        Self { before, now, letters_before: letters_of(before), letters_now: letters_of(now) }
    }

    pub fn state(&self, comment: &ReviewComment) -> CommentState {
        // A draft that is being written anew says nothing yet.
        if self.now.content.is_empty() || self.before.content == self.now.content {
            return CommentState::Open;
        }
        match &comment.anchor {
            CommentAnchor::Step { step } => self.of_step(step, comment.kind),
            CommentAnchor::Quote { quote, prefix, suffix } => {
                let (prefix, suffix) = (last_letters(&letters(prefix)), first_letters(&letters(suffix)));
                self.of_quote(&letters(quote), &prefix, &suffix, comment)
            }
            CommentAnchor::Plan {} => CommentState::Addressed,
        }
    }

    fn of_step(&self, id: &StepId, kind: CommentKind) -> CommentState {
        let (before, now) = (self.before.content.steps(), self.now.content.steps());
        let gone = if kind == CommentKind::Strike { CommentState::Addressed } else { CommentState::Orphaned };
        let Some(commented) = before.iter().find(|step| step.id == *id) else { return CommentState::Orphaned };
        let found = match self.now.style() {
            PlanStyle::Build => now.iter().find(|step| step.id == *id),
            // The ids of these follow from their places or are new in every draft.
            PlanStyle::Document | PlanStyle::Collect => {
                let same = now.iter().find(|step| step.description == commented.description);
                let is_document = self.now.style() == PlanStyle::Document;
                same.or_else(|| now.iter().find(|step| is_document && now.len() >= before.len() && step.id == *id))
            }
        };
        match found {
            None => gone,
            Some(found) if self.says_the_same(commented, found) => CommentState::Open,
            Some(_) => CommentState::Addressed,
        }
    }

    fn says_the_same(&self, commented: &PlanStep, found: &PlanStep) -> bool {
        match (&self.before.content, &self.now.content) {
            (PlanContent::Build(before), PlanContent::Build(now)) => {
                let of = |steps: &[crate::plan::content::AgentStep], id: &StepId| {
                    steps.iter().find(|step| step.id == *id).cloned()
                };
                of(&before.steps, &commented.id) == of(&now.steps, &found.id)
            }
            (PlanContent::Document(_) | PlanContent::Collect(_) | PlanContent::Build(_), _) => {
                commented.description == found.description
            }
        }
    }

    fn of_quote(&self, quote: &str, prefix: &str, suffix: &str, comment: &ReviewComment) -> CommentState {
        let (before, now) = (self.letters_before.as_str(), self.letters_now.as_str());
        let in_place = |text: &str, letters: &str| {
            let has = |with: String| !with.is_empty() && text.contains(&with);
            let alone = prefix.is_empty() && suffix.is_empty();
            (!prefix.is_empty() && has(format!("{prefix}{letters}")))
                || (!suffix.is_empty() && has(format!("{letters}{suffix}")))
                || (alone && has(letters.to_owned()))
        };
        let wanted = letters(&comment.text);
        if comment.kind == CommentKind::Replace && in_place(now, &wanted) && !in_place(before, &wanted) {
            return CommentState::Addressed;
        }
        if in_place(now, quote) {
            return CommentState::Open;
        }
        let place_is_known = [prefix, suffix].iter().any(|around| !around.is_empty() && now.contains(*around));
        match comment.kind {
            CommentKind::Strike => CommentState::Addressed,
            CommentKind::Comment | CommentKind::Replace if place_is_known => CommentState::Addressed,
            // The words have moved.
            CommentKind::Comment | CommentKind::Replace if !quote.is_empty() && now.contains(quote) => {
                CommentState::Open
            }
            CommentKind::Comment | CommentKind::Replace => CommentState::Orphaned,
        }
    }
}

/// How many letters around a quotation have to be the same.
const CONTEXT_LETTERS: usize = 16;

/// Everything that a person reads of a plan, without marks, space and punctuation: a browser selects text as it is shown, and a
/// changed layout is no change of the words.
fn letters_of(plan: &Plan) -> String {
    let mut letters = String::new();
    for event in Parser::new_ext(&plan.markdown(), OPTIONS) {
        match event {
            Event::Text(text) | Event::Code(text) | Event::Html(text) | Event::InlineHtml(text) => {
                push_letters(&mut letters, &text);
            }
            Event::InlineMath(text) | Event::DisplayMath(text) => push_letters(&mut letters, &text),
            Event::Start(_) | Event::End(_) | Event::SoftBreak | Event::HardBreak | Event::Rule => {}
            Event::FootnoteReference(_) | Event::TaskListMarker(_) => {}
        }
    }
    // The arguments of recorded calls are shown as the texts that they are.
    if let PlanContent::Collect(collected) = &plan.content {
        for step in collected.steps.iter() {
            letters.push('\n');
            push_strings(&mut letters, &step.arguments);
        }
    }
    letters
}

fn push_strings(letters: &mut String, value: &Value) {
    match value {
        Value::String(text) => push_letters(letters, text),
        Value::Array(items) => items.iter().for_each(|item| push_strings(letters, item)),
        Value::Object(fields) => fields.values().for_each(|item| push_strings(letters, item)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn push_letters(letters: &mut String, text: &str) {
    letters.extend(text.chars().filter(|letter| letter.is_alphanumeric()));
}

fn letters(text: &str) -> String {
    let mut letters = String::new();
    push_letters(&mut letters, text);
    letters
}

fn last_letters(letters: &str) -> String {
    let count = letters.chars().count();
    letters.chars().skip(count.saturating_sub(CONTEXT_LETTERS)).collect()
}

fn first_letters(letters: &str) -> String {
    letters.chars().take(CONTEXT_LETTERS).collect()
}

/// The words in one line, and not too many of them.
fn shortened(text: &str) -> String {
    const MAX_CHARACTERS: usize = 200;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_CHARACTERS) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line,
    }
}
