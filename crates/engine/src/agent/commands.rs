//! What is typed with a slash, the same on every channel. The answers are Markdown.

mod decisions;
mod looking;
mod plans;
mod standing;
mod workbook;

pub use decisions::{Approved, Approving, RevisionAsked};
pub use standing::standing_now;
pub(super) use standing::{line, standing, title};

use planwright_core::actor::Actor;
use planwright_core::command::{Command, TurnCommand};
use planwright_core::conversation::Conversation;
use planwright_core::event::{Event, PlanEvent, SessionEvent};
use planwright_core::planner::PlannerAnswer;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::SessionIdentity;
use planwright_core::slash::{self, SlashCommand};
use planwright_core::turn::{Shown, TurnEnd};
use tokio_util::sync::CancellationToken;

use super::Agent;
use super::leaving::left;
use super::outcome::{PlanCard, TurnOutcome};
use super::progress::{Progress, Watcher};
use super::sessions::Place;
use crate::engine::Asking;
use crate::ledger::{Lease, Leasing, LedgerError, LedgerResult};

/// What comes back for whatever was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The session the person is in afterwards.
    pub session: SessionIdentity,
    /// How the turn ended; `None` if no turn was needed.
    pub end: Option<TurnEnd>,
    /// What was decided before the work that this is the answer to; it was told at once.
    pub decided: Option<String>,
    /// What the person reads, in Markdown.
    pub reply: String,
    pub plan: Option<PlanCard>,
    /// What the planner says, if a plan was being built.
    pub planner: Option<PlannerAnswer>,
    /// Why it was refused, if it was; then nothing changed.
    pub refusal: Option<RefusalCode>,
}

impl Answer {
    pub(super) fn words(session: &SessionIdentity, reply: impl Into<String>) -> Self {
        Self {
            session: session.clone(),
            end: None,
            decided: None,
            reply: reply.into(),
            plan: None,
            planner: None,
            refusal: None,
        }
    }

    pub(super) fn refusal(session: &SessionIdentity, code: RefusalCode, reply: impl Into<String>) -> Self {
        Self { refusal: Some(code), ..Self::words(session, reply) }
    }

    pub fn refused(&self) -> bool {
        self.refusal.is_some()
    }

    fn with_plan(mut self, plan: PlanCard) -> Self {
        self.plan = Some(plan);
        self
    }
}

impl From<TurnOutcome> for Answer {
    fn from(outcome: TurnOutcome) -> Self {
        Self {
            session: outcome.session,
            end: Some(outcome.end),
            decided: None,
            reply: outcome.reply,
            plan: outcome.plan,
            planner: outcome.planner,
            refusal: None,
        }
    }
}

impl Agent {
    pub async fn command(
        &self,
        place: &Place,
        by: &Actor,
        command: SlashCommand,
        watcher: &Watcher,
    ) -> LedgerResult<Answer> {
        let session = &place.session;
        tracing::debug!(session_identity = %session, event = "command", command = command.name());
        let outcome = self.carry_out_command(place, by, command, watcher).await;
        match outcome {
            Err(LedgerError::Refused(refusal)) => Ok(Answer::refusal(session, refusal.code, words(&refusal))),
            outcome => outcome,
        }
    }

    async fn carry_out_command(
        &self,
        place: &Place,
        by: &Actor,
        command: SlashCommand,
        watcher: &Watcher,
    ) -> LedgerResult<Answer> {
        let session = &place.session;
        match command {
            SlashCommand::Plan(command) => self.plan_command(place, by, command, watcher).await,
            SlashCommand::Plans => self.list_plans(session).await,
            SlashCommand::New => {
                let place = self.new_place(&place.transport, session.channel, by).await?;
                let reply = format!("New session `{}`. `/switch {}` goes back.", place.session, session.conversation);
                Ok(Answer::words(&place.session, reply))
            }
            SlashCommand::Switch { key } => {
                let session = SessionIdentity::new(session.channel, key);
                self.engine().session(&session).await?;
                let place = self.enter(&place.transport, &session, by).await?;
                self.session_status(&place.session).await
            }
            SlashCommand::Sessions => self.list_sessions(session).await,
            SlashCommand::Reset => {
                self.stop(session, by).await?;
                let committed = self.engine().reset(session, by).await?;
                let is_cancellation =
                    |event: &Event| matches!(event, Event::Plan { event: PlanEvent::Cancelled { .. }, .. });
                let cancelled = committed.events.iter().any(is_cancellation);
                let plan = if cancelled { " The active plan is cancelled." } else { "" };
                let reply = format!("The conversation is reset: a new one begins here. Plan work is off.{plan}");
                Ok(Answer::words(session, reply))
            }
            SlashCommand::Compact => self.compact_command(session, by, watcher).await,
            SlashCommand::Stop => {
                let stopped = self.stop(session, by).await?;
                Ok(Answer::words(session, if stopped { "Stopped." } else { "There is nothing to stop." }))
            }
            SlashCommand::Status => self.session_status(session).await,
            SlashCommand::Tools => self.list_tools(session).await,
            SlashCommand::Help { topic } => Ok(Answer::words(session, slash::help(topic.as_deref()))),
            SlashCommand::Auto(_)
            | SlashCommand::Goal(_)
            | SlashCommand::Goals
            | SlashCommand::Task(_)
            | SlashCommand::Tasks
            | SlashCommand::Schedule(_)
            | SlashCommand::Diary
            | SlashCommand::Memory(_) => {
                Ok(Answer::refusal(session, RefusalCode::Unavailable, not_in_this_version(&command)))
            }
        }
    }

    async fn compact_command(&self, session: &SessionIdentity, by: &Actor, watcher: &Watcher) -> LedgerResult<Answer> {
        let served = self.shared.slots.wait_for(session).await;
        let held = self.hold(session, &served.running.stop, watcher).await?;
        let outcome = self.compact_held(session, by, &held.lease, &served.running.stop, watcher).await;
        self.let_go(&held).await;
        Ok(Answer::words(session, outcome?))
    }

    async fn compact_held(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        lease: &Lease,
        stop: &CancellationToken,
        watcher: &Watcher,
    ) -> LedgerResult<String> {
        let snapshot = self.engine().snapshot(session).await?;
        let opened = snapshot.opened()?;
        let mut conversation = Conversation::default();
        let mut take_in = |seq, event: &_| conversation.take_in(seq, event);
        self.read(session, opened.history_from, u64::MAX, &mut take_in).await?;
        let before = conversation.tokens();
        let compaction = tokio::select! {
            biased;
            compaction = self.compact_now(&conversation, &snapshot, watcher) => compaction?,
            () = stop.cancelled() => return Ok("Stopped; the conversation is as it was.".to_owned()),
            () = self.shared.leaving.now() => return Err(left()),
        };
        let Some(compaction) = compaction else {
            return Ok("There is nothing to shorten yet.".to_owned());
        };
        let messages = compaction.messages;
        let command = Command::Turn(TurnCommand::Compact(compaction.clone()));
        let (request, leasing) = (self.engine().next_request(), Leasing::Held(lease.clone()));
        self.engine().submit_as(Asking { session, by, request, leasing, turn: None }, command).await?;
        watcher.tell(Progress::Compacted { messages });
        conversation.take_in(u64::MAX, &SessionEvent::Compacted { compaction }.into());
        let after = conversation.tokens();
        Ok(format!("{messages} messages are summarised: about {before} tokens became {after}. Plans are untouched."))
    }

    /// Remembers that the person sees this version of a plan now.
    async fn show(&self, session: &SessionIdentity, by: &Actor, card: &PlanCard) -> LedgerResult<()> {
        let shown = Shown { plan: card.plan_id.clone(), digest: card.digest };
        self.engine().submit(session, by, Command::Turn(TurnCommand::Show(shown))).await?;
        Ok(())
    }
}

/// A refusal in words for a person, with everything that is wrong.
fn words(refusal: &Refusal) -> String {
    let problems = refusal.problems.iter().map(|problem| format!("\n- {}: {}", problem.path, problem.message));
    std::iter::once(refusal.message.clone()).chain(problems).collect()
}

fn not_in_this_version(command: &SlashCommand) -> String {
    format!("`/{}` is not in this version of Planwright.", command.name())
}
