//! A plan as it is put before a person in a conversation: what it is, what it says, and what to type about it.

use planwright_agent::session::outcome::PlanCard;
use planwright_engine::who;

use super::card::labelled;
use super::palette::{self, BOLD, COMMAND, DIM};
use super::text::{Span, paint, painted, shown_line, wrap};
use super::{markdown, time};

pub(crate) fn whole(card: &PlanCard, width: usize) -> String {
    let rule = paint(&"─".repeat(width), DIM);
    let text = markdown::render(&card.markdown, width);
    let text = if text.trim().is_empty() { format!("{}\n", paint("(nothing in it yet)", DIM)) } else { text };
    format!("{}{rule}\n{text}{rule}\n{}{}", head(card, width), progress(card), next(card, width))
}

fn progress(card: &PlanCard) -> String {
    card.progress.as_ref().map_or_else(String::new, |progress| {
        format!("{}\n", paint(&format!("{} of {} done", progress.done, progress.total), BOLD))
    })
}

fn head(card: &PlanCard, width: usize) -> String {
    let mut version = card.style.to_string();
    if card.version > 1 {
        version.push_str(&format!(", version {}", card.version));
    }
    let mut head = format!(
        "{}  {}  {}\n",
        paint(&format!("Plan {}", card.number), BOLD),
        paint(card.status.as_str(), palette::status(card.status)),
        paint(&version, DIM)
    );
    for line in wrap(&[Span::new(&shown_line(&card.title), BOLD)], width) {
        head.push_str(&painted(&line));
        head.push('\n');
    }
    head.push_str(&labelled("digest", &card.digest.to_string(), width));
    if let Some(waiting) = &card.incomplete_approval {
        head.push_str(&labelled("approval", &shown_line(&waiting.to_string()), width));
    }
    if let Some(approval) = &card.approval {
        let by = shown_line(&who(&approval.by));
        head.push_str(&labelled("approved", &format!("by {by}, {}", time::both(approval.at)), width));
    }
    head
}

/// What it waits for, and each choice with its command.
fn next(card: &PlanCard, width: usize) -> String {
    let mut text = paint(&shown_line(&card.choices.situation), DIM);
    text.push('\n');
    for choice in &card.choices.list {
        let label = Span::new(&format!("{}: ", shown_line(&choice.label)), DIM);
        for line in wrap(&[label, Span::new(&shown_line(&choice.command), COMMAND)], width) {
            text.push_str(&painted(&line));
            text.push('\n');
        }
    }
    text
}
