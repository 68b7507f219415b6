//! How a conversation is shown.

mod json;
mod live;
mod plain;
mod region;
mod steps;

use std::borrow::Cow;
use std::io::{self, IsTerminal as _};

use jiff::Timestamp;
use planwright_agent::session::ask_prompt::{ask_prompt, ask_text};
use planwright_agent::session::outcome::Answer;
use planwright_agent::session::progress::Progress;
use planwright_core::ids::PlanId;
use planwright_core::plan::Plan;
use planwright_core::turn::TurnEnd;

pub(super) use self::json::JsonView;
pub(super) use self::live::LiveView;
pub(super) use self::plain::PlainView;
use crate::failure::{Exit, Failure};
use crate::terminal::chat_card::{self, CardForm};
use crate::terminal::live as live_lines;
use crate::terminal::markdown::{self, Headings};
use crate::terminal::palette::{ERROR, WARNING};
use crate::terminal::text::paint;

/// The box in which the person types, as it is drawn.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct DrawnInput {
    pub(super) lines: Vec<String>,
    /// The row of these and the column in which the cursor is.
    pub(super) cursor: (usize, usize),
}

pub(super) trait View: Send {
    /// Something happens.
    fn show(&mut self, progress: &Progress) -> Result<(), Failure>;

    /// A moment has passed and nothing happened.
    fn tick(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// The person wants it to stop.
    fn stopping(&mut self) -> Result<(), Failure>;

    /// The plan of the session as it is now. It may be carried out.
    fn plan(&mut self, _: &Plan, _: Timestamp) -> Result<(), Failure> {
        Ok(())
    }

    /// What the person typed meanwhile and waits, a line each.
    fn queued(&mut self, lines: Vec<String>) -> Result<(), Failure>;

    /// The box in which the person types, where it is part of the view.
    fn input(&mut self, _: DrawnInput) -> Result<(), Failure> {
        Ok(())
    }

    /// What the person sent, where the box is part of the view.
    fn sent(&mut self, _: &str) -> Result<(), Failure> {
        Ok(())
    }

    /// Whole lines, as they are written to the terminal.
    fn drawn(&mut self, text: &str) -> Result<(), Failure> {
        live_lines::put("", text)
    }

    /// A line beside the conversation.
    fn line(&mut self, text: &str) -> Result<(), Failure> {
        live_lines::put("", text)
    }

    /// Keys decide about this plan from now on.
    fn offer_keys(&mut self, _: Option<PlanId>) {}

    /// The person leaves. What is drawn anew goes away.
    fn leave(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// Another program wrote to the terminal, so what is drawn anew begins below that.
    fn forget_rows(&mut self) {}

    /// Something to read at once, before the answer comes.
    fn message(&mut self, markdown: &str) -> Result<(), Failure>;

    fn answer(&mut self, answer: &Answer) -> Result<(), Failure>;

    /// No answer comes: the input failed, or the person stopped waiting for it.
    fn give_up(&mut self) -> Result<(), Failure> {
        Ok(())
    }
}

/// The one that fits what stdout is.
pub(super) fn fitting(json: bool) -> Box<dyn View> {
    let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    if json {
        Box::new(JsonView)
    } else if io::stdout().is_terminal() && !dumb {
        Box::new(LiveView::default())
    } else {
        Box::new(PlainView::default())
    }
}

/// What an answer means to the shell.
pub(super) fn exit(answer: &Answer) -> Exit {
    if answer.refused() {
        return Exit::Refused;
    }
    match &answer.end {
        None | Some(TurnEnd::Answered | TurnEnd::PlanReady { .. } | TurnEnd::NothingPlanned { .. }) => Exit::Done,
        Some(TurnEnd::Stopped) => Exit::Refused,
        Some(
            TurnEnd::LimitReached { .. }
            | TurnEnd::Looping
            | TurnEnd::NoAnswer
            | TurnEnd::ModelFailed { .. }
            | TurnEnd::Interrupted,
        ) => Exit::Unavailable,
    }
}

/// The answer as a person reads it, without what they have read already.
fn answer_text(answer: &Answer, streamed: &str, form: CardForm, width: usize) -> String {
    let reply = reply_text(answer, form);
    let rest = not_streamed(&reply, streamed);
    let headings = match form {
        CardForm::Whole => Headings::Marked,
        CardForm::Short | CardForm::WithKeys => live_lines::headings(),
    };
    let mut text = match exit(answer) {
        Exit::Done => markdown::render_with(rest, width, headings),
        Exit::Refused if answer.end.is_none() => marked(rest, &paint("✘", WARNING), width),
        // A person who said stop need not be warned of it.
        Exit::Refused => markdown::render(rest, width),
        Exit::Unexpected | Exit::Usage | Exit::NotFound | Exit::Stale | Exit::Unavailable | Exit::Damaged => {
            marked(rest, &paint("✘", ERROR), width)
        }
    };
    if let Some(card) = &answer.plan {
        let gap = if text.is_empty() { "" } else { "\n" };
        text = format!("{text}{gap}{}", chat_card::whole(card, form, width));
    }
    text
}

/// The reply, without the commands for what the agent asks where keys stand for them.
fn reply_text(answer: &Answer, form: CardForm) -> Cow<'_, str> {
    let asked = answer.ask.as_ref().filter(|_| form != CardForm::Whole);
    let before = asked.and_then(|ask| Some((ask, answer.reply.strip_suffix(&ask_prompt(ask))?)));
    match before {
        Some((ask, before)) => Cow::Owned(format!("{before}{}", ask_text(ask))),
        None => Cow::Borrowed(&answer.reply),
    }
}

fn marked(text: &str, mark: &str, width: usize) -> String {
    let rendered = markdown::render(text, width.saturating_sub(2));
    let lines = rendered.lines().enumerate();
    lines.map(|(index, line)| format!("{} {line}\n", if index == 0 { mark } else { " " })).collect()
}

/// An answer repeats the model's last words, which were told while they were said.
fn not_streamed<'a>(reply: &'a str, streamed: &str) -> &'a str {
    reply.trim().strip_prefix(streamed.trim()).map_or(reply, str::trim_start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_said_twice_and_nothing_is_left_out() {
        for (reply, streamed, expected) in [
            ("All done.", "All done.\n", ""),
            ("All done.", "", "All done."),
            ("All\n\n*Stopped.*", "All", "*Stopped.*"),
            ("I stopped after 3 calls.", "Let me look.", "I stopped after 3 calls."),
        ] {
            assert_eq!(not_streamed(reply, streamed), expected, "{reply:?} after {streamed:?}");
        }
    }
}
