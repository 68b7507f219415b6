//! A plan as it is put before a person in a conversation: what it is, what it says, and what to type about it.

use planwright_agent::session::outcome::PlanCard;
use planwright_engine::who;

use super::card::labelled;
use super::live::headings;
use super::markdown::Headings;
use super::palette::{self, BOLD, COMMAND, DIM};
use super::text::{Span, paint, painted, shown_line, wrap};
use super::{markdown, time};

/// How much of a card is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CardForm {
    /// With a digest that can be copied, and the commands.
    Whole,
    /// With the beginning of the digest, and the commands.
    Short,
    /// With the beginning of the digest. Keys stand for the commands, above the box in which the person types.
    WithKeys,
}

/// So much of a digest tells two versions apart. What is approved is bound to all of it.
const SHORT_DIGEST: usize = 12;

pub(crate) fn whole(card: &PlanCard, form: CardForm, width: usize) -> String {
    let rule = paint(&"─".repeat(width), DIM);
    let headings = match form {
        CardForm::Whole => Headings::Marked,
        CardForm::Short | CardForm::WithKeys => headings(),
    };
    let text = markdown::render_with(&card.markdown, width, headings);
    let text = if text.trim().is_empty() { format!("{}\n", paint("(nothing in it yet)", DIM)) } else { text };
    format!("{}{rule}\n{text}{rule}\n{}{}", head(card, form, width), progress(card), next(card, form, width))
}

/// Whether the text of the plan begins with its title.
fn shows_title(card: &PlanCard) -> bool {
    let first = card.markdown.trim_start().lines().next().unwrap_or_default();
    first.strip_prefix("# ").is_some_and(|title| title.trim() == card.title.trim())
}

fn progress(card: &PlanCard) -> String {
    card.progress.as_ref().map_or_else(String::new, |progress| {
        format!("{}\n", paint(&format!("{} of {} done", progress.done, progress.total), BOLD))
    })
}

fn head(card: &PlanCard, form: CardForm, width: usize) -> String {
    let digest = card.digest.to_string();
    let mut version = card.style.to_string();
    if card.version > 1 {
        version.push_str(&format!(", version {}", card.version));
    }
    if form != CardForm::Whole {
        version.push_str(&format!(", digest {}", &digest[..SHORT_DIGEST.min(digest.len())]));
    }
    let mut head = format!(
        "{}  {}  {}\n",
        paint(&format!("Plan {}", card.number), BOLD),
        paint(card.status.as_str(), palette::status(card.status)),
        paint(&version, DIM)
    );
    if form == CardForm::Whole || !shows_title(card) {
        for line in wrap(&[Span::new(&shown_line(&card.title), BOLD)], width) {
            head.push_str(&painted(&line));
            head.push('\n');
        }
    }
    if form == CardForm::Whole {
        head.push_str(&labelled("digest", &digest, width));
    }
    if let Some(waiting) = &card.incomplete_approval {
        head.push_str(&labelled("approval", &shown_line(&waiting.to_string()), width));
    }
    if let Some(approval) = &card.approval {
        let by = shown_line(&who(&approval.by));
        head.push_str(&labelled("approved", &format!("by {by}, {}", time::both(approval.at)), width));
    }
    head
}

/// What it waits for, and each choice with its command unless it has a key.
fn next(card: &PlanCard, form: CardForm, width: usize) -> String {
    let mut text = paint(&shown_line(&card.choices.situation), DIM);
    text.push('\n');
    if form == CardForm::WithKeys {
        return text;
    }
    for choice in &card.choices.list {
        let label = Span::new(&format!("{}: ", shown_line(&choice.label)), DIM);
        for line in wrap(&[label, Span::new(&shown_line(&choice.command), COMMAND)], width) {
            text.push_str(&painted(&line));
            text.push('\n');
        }
    }
    text
}
