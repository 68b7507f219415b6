//! What a person sees while the agent works: a draft in a private chat, if the Bot API server has drafts; else a message that is
//! edited and becomes the answer.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use planwright_agent::session::progress::Progress;

use crate::api::ApiError;
use crate::context::BotContext;
use crate::markdown::{FormattedText, LinkStyle};
use crate::records;

/// The characters of the end that is shown of a long text.
const MAX_SHOWN_CHARACTERS: usize = 3_000;
/// Telegram shows "typing" for five seconds.
const TYPING_INTERVAL: Duration = Duration::from_secs(4);
const LINES: usize = 8;
/// Telegram shows a draft for 30 seconds.
const DRAFT: Duration = Duration::from_secs(20);

#[derive(Debug)]
pub(crate) struct LiveMessage<'a> {
    context: &'a BotContext,
    chat: i64,
    update: i64,
    message: Option<i64>,
    /// The number of the draft. `None` if a message is edited.
    draft: Option<i32>,
    /// When the draft was shown last.
    draft_at: Option<Instant>,
    /// What the model writes now.
    text: String,
    /// What was done before.
    lines: Vec<String>,
    shown: String,
    typing: Option<Instant>,
    /// Telegram asked to wait until then.
    wait_until: Option<Instant>,
}

pub(crate) fn live_key(context: &BotContext, update: i64) -> String {
    format!("live/{}/{update}", context.bot)
}

impl<'a> LiveMessage<'a> {
    /// A message that was sent before a restart is found again.
    pub(crate) async fn new(context: &'a BotContext, chat: i64, update: i64) -> Self {
        let key = live_key(context, update);
        let found = records::read::<i64>(context.ledger.as_ref(), &key).await.ok().flatten();
        let message = found.map(|stored| stored.value);
        // The ids of private chats are positive.
        let is_possible = chat > 0 && message.is_none() && context.has_drafts.load(Ordering::Relaxed);
        let draft = is_possible.then(|| draft_number(update));
        let (text, lines, shown) = Default::default();
        let (draft_at, typing, wait_until) = (None, None, None);
        Self { context, chat, update, message, draft, draft_at, text, lines, shown, typing, wait_until }
    }

    pub(crate) fn message(&self) -> Option<i64> {
        self.message
    }

    pub(crate) fn take(&mut self, progress: &Progress) {
        match progress {
            Progress::Text(piece) => self.text.push_str(piece),
            Progress::Again { .. } => self.text.clear(),
            Progress::Replied { calls } if *calls > 0 => {
                let text = std::mem::take(&mut self.text);
                if !text.trim().is_empty() {
                    self.line(text.trim().to_owned());
                }
            }
            Progress::ToolStarted { name, detail } => self.line(format!("🔧 `{}` {}", code(name), one_line(detail))),
            Progress::StepStarted { position, total, about } => {
                self.line(format!("▶ Step {position} of {total}: {}", one_line(about)));
            }
            Progress::StepEnded { position, total, about, status, .. } => {
                self.line(format!("Step {position} of {total} {}: {}", status.as_str(), one_line(about)));
            }
            Progress::WaitingForOthers => self.line("Another process works on this session; this waits.".to_owned()),
            Progress::Compacting => self.line("The conversation is summarised.".to_owned()),
            Progress::Accepted(_)
            | Progress::Resumed(_)
            | Progress::Finished(_)
            | Progress::ModelCalled
            | Progress::Replied { .. }
            | Progress::ToolOutput { .. }
            | Progress::ToolEnded { .. }
            | Progress::Said(_)
            | Progress::Compacted { .. } => {}
        }
    }

    fn line(&mut self, line: String) {
        self.lines.push(line);
        if self.lines.len() > LINES {
            self.lines.remove(0);
        }
    }

    /// Shows what is new, and that the agent works. Failures are not told: the answer follows.
    pub(crate) async fn show(&mut self) {
        if self.wait_until.is_some_and(|until| Instant::now() < until) {
            return;
        }
        if self.typing.is_none_or(|at| at.elapsed() >= TYPING_INTERVAL) {
            self.typing = Some(Instant::now());
            let shown = self.context.api.show_typing(self.chat).await;
            self.note(shown.err());
        }
        let current = self.current();
        let is_fading = self.draft_at.is_some_and(|at| at.elapsed() >= DRAFT);
        if current.trim().is_empty() || (current == self.shown && !is_fading) {
            return;
        }
        let text = FormattedText::markdown(&current, LinkStyle::Hidden);
        if text.is_blank() {
            return;
        }
        if !self.show_draft(&text).await {
            self.show_message(&text).await;
        }
        self.shown = current;
    }

    /// Returns false if there are no drafts here, so that a message is needed.
    async fn show_draft(&mut self, text: &FormattedText) -> bool {
        let Some(draft) = self.draft else { return false };
        match self.context.api.send_draft(self.chat, draft, text).await {
            Ok(()) => self.draft_at = Some(Instant::now()),
            Err(error @ (ApiError::TooMany(_) | ApiError::Unavailable(_))) => self.note(Some(error)),
            Err(error) => {
                tracing::info!(event = "telegram_without_drafts", %error, "answers are shown by edited messages");
                // A method that the server does not know is refused like a wrong token.
                if error == ApiError::Unauthorized {
                    self.context.has_drafts.store(false, Ordering::Relaxed);
                }
                (self.draft, self.draft_at) = (None, None);
                return false;
            }
        }
        true
    }

    async fn show_message(&mut self, text: &FormattedText) {
        match self.message {
            Some(message) => {
                let edited = self.context.api.edit_message(self.chat, message, text, None).await;
                self.note(edited.err());
            }
            None => match self.context.api.send_message(self.chat, text, None).await {
                Ok(message) => {
                    self.message = Some(message);
                    let key = live_key(self.context, self.update);
                    if let Err(error) = records::replace(self.context.ledger.as_ref(), &key, &message).await {
                        tracing::warn!(event = "telegram_message_not_noted", %error);
                    }
                }
                Err(error) => self.note(Some(error)),
            },
        }
    }

    fn note(&mut self, error: Option<ApiError>) {
        if let Some(ApiError::TooMany(wait)) = error {
            self.wait_until = Some(Instant::now() + wait);
        }
    }

    fn current(&self) -> String {
        let mut whole = self.lines.join("\n\n");
        if !self.text.trim().is_empty() {
            whole.push_str("\n\n");
            whole.push_str(&self.text);
        }
        let letters = whole.chars().count();
        match letters.checked_sub(MAX_SHOWN_CHARACTERS) {
            Some(hidden) if hidden > 0 => format!("…{}", whole.chars().skip(hidden).collect::<String>()),
            Some(_) | None => whole,
        }
    }
}

/// A number from 1 up that is the same for the same update.
fn draft_number(update: i64) -> i32 {
    i32::try_from(update.rem_euclid(i64::from(i32::MAX)) + 1).unwrap_or(1)
}

fn one_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(200).collect()
}

fn code(text: &str) -> String {
    text.replace('`', "'")
}
