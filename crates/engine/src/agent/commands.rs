//! What is typed with a slash, the same on every channel. The answers are Markdown.

mod decisions;
mod looking;
mod plans;
mod standing;
mod workbook;

pub(super) use decisions::REVISION;
pub(super) use plans::Leave;
pub use standing::standing_now;
pub(super) use standing::{line, standing, title};

use planwright_core::actor::Actor;
use planwright_core::command::{Command, TurnCommand};
use planwright_core::conversation::Conversation;
use planwright_core::event::{Event, PlanEvent, SessionEvent};
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::SessionIdentity;
use planwright_core::slash::{self, SlashCommand};
use planwright_core::turn::ShownPlan;

use super::Agent;
use crate::ledger::{Committed, Lease, Leasing, LedgerError, LedgerResult};
use crate::session::outcome::{Answer, PlanCard};
use crate::session::progress::Progress;
use crate::session::shutdown::shutting_down;
use crate::session::task::{InputContext, Running};
use crate::submitter::SubmitRequest;

impl Agent {
    pub(super) async fn command(&self, command: SlashCommand, context: &InputContext) -> LedgerResult<Answer> {
        let session = context.session();
        tracing::debug!(session_identity = %session, event = "command", command = command.name());
        refusal_as_answer(session, self.carry_out_command(command, context).await)
    }

    async fn carry_out_command(&self, command: SlashCommand, context: &InputContext) -> LedgerResult<Answer> {
        let (session, by) = (context.session(), context.by());
        match command {
            SlashCommand::Plan(command) => Box::pin(self.plan_command(command, context)).await,
            SlashCommand::Plans => self.list_plans(session).await,
            SlashCommand::New => {
                // The key of the new session is made from the request's name, so that sent again it is the same one.
                let new = context.engine(self.engine()).sessions().new_identity(session.channel);
                let place = self.enter(&context.request.place.transport, &new, by).await?;
                let reply = format!("New session `{}`. `/switch {}` goes back.", place.session, session.conversation);
                Ok(Answer::words(&place.session, reply))
            }
            SlashCommand::Switch { key } => {
                let session = SessionIdentity::new(session.channel, key);
                self.engine().sessions().get(&session).await?;
                let place = self.enter(&context.request.place.transport, &session, by).await?;
                self.session_status(&place.session).await
            }
            SlashCommand::Sessions => self.list_sessions(session).await,
            SlashCommand::Reset => self.reset(context, &Running::NOTHING).await,
            SlashCommand::Compact => self.compact_command(context).await,
            SlashCommand::Stop => self.stop_command(context, &Running::NOTHING).await,
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

    pub(super) async fn stop_command(&self, context: &InputContext, running: &Running) -> LedgerResult<Answer> {
        let session = context.session();
        let stopped = self.stop_session(session, context.by(), running).await?;
        Ok(Answer::words(session, if stopped { "Stopped." } else { "There is nothing to stop." }))
    }

    pub(super) async fn reset(&self, context: &InputContext, running: &Running) -> LedgerResult<Answer> {
        let (session, by) = (context.session(), context.by());
        // A reset that was carried out before does not stop what was begun since.
        let committed = match self.find_request(context).await? {
            Some(before) => before,
            None => {
                self.stop_session(session, by, running).await?;
                context.engine(self.engine()).sessions().reset(session, by).await?
            }
        };
        let is_cancellation = |event: &Event| matches!(event, Event::Plan { event: PlanEvent::Cancelled { .. }, .. });
        let plan = match committed.events.iter().any(is_cancellation) {
            true => " The active plan is cancelled.",
            false => "",
        };
        let reply = format!("The conversation is reset: a new one begins here. Plan work is off.{plan}");
        Ok(Answer::words(session, reply))
    }

    /// What a request wrote that was carried out before under the same name.
    async fn find_request(&self, context: &InputContext) -> LedgerResult<Option<Committed>> {
        match &context.request.id {
            Some(id) => self.engine().submitter().find_request(context.session(), context.by(), id).await,
            None => Ok(None),
        }
    }

    async fn compact_command(&self, context: &InputContext) -> LedgerResult<Answer> {
        let session = context.session();
        let before = self.find_request(context).await?;
        let messages = before.iter().flat_map(|committed| &committed.events).find_map(|event| match event {
            Event::Session(SessionEvent::Compacted { compaction }) => Some(compaction.messages),
            _ => None,
        });
        if let Some(messages) = messages {
            return Ok(Answer::words(session, format!("{messages} messages are summarised. Plans are untouched.")));
        }
        let held = self.hold(context).await?;
        let outcome = self.compact_held(held.lease(), context).await;
        self.release(&held).await;
        Ok(Answer::words(session, outcome?))
    }

    async fn compact_held(&self, lease: &Lease, context: &InputContext) -> LedgerResult<String> {
        let (session, by, progress) = (context.session(), context.by(), &context.progress);
        let snapshot = self.engine().sessions().snapshot(session).await?;
        let opened = snapshot.opened()?;
        let mut conversation = Conversation::default();
        let mut take_in = |seq, event: &_| conversation.take_in(seq, event);
        self.read(session, opened.history_from, u64::MAX, &mut take_in).await?;
        let before = conversation.tokens();
        let compaction = tokio::select! {
            biased;
            compaction = self.compact_now(&conversation, &snapshot, progress) => compaction?,
            () = context.work.stop.cancelled() => return Ok("Stopped; the conversation is as it was.".to_owned()),
            () = self.shared.shutdown.immediate() => return Err(shutting_down()),
        };
        let Some(compaction) = compaction else {
            return Ok("There is nothing to shorten yet.".to_owned());
        };
        let messages = compaction.messages;
        let command = Command::Turn(TurnCommand::Compact(compaction.clone()));
        let (request, leasing) =
            (context.engine(self.engine()).submitter().next_request(), Leasing::Held(lease.clone()));
        self.engine()
            .submitter()
            .submit_as(SubmitRequest { session, by, id: request, leasing, turn: None }, command)
            .await?;
        context.progress.send(Progress::Compacted { messages });
        conversation.take_in(u64::MAX, &SessionEvent::Compacted { compaction }.into());
        let after = conversation.tokens();
        Ok(format!("{messages} messages are summarised: about {before} tokens became {after}. Plans are untouched."))
    }

    /// Remembers that the person sees this version of a plan now.
    async fn show(&self, session: &SessionIdentity, by: &Actor, card: &PlanCard) -> LedgerResult<()> {
        let shown = ShownPlan { plan: card.plan_id.clone(), digest: card.digest };
        self.engine().submit(session, by, Command::Turn(TurnCommand::Show(shown))).await?;
        Ok(())
    }
}

/// A command that is refused is answered; only trouble with the store is an error.
pub(super) fn refusal_as_answer(session: &SessionIdentity, outcome: LedgerResult<Answer>) -> LedgerResult<Answer> {
    match outcome {
        Err(error @ (LedgerError::Refused(_) | LedgerError::Fenced(_))) => {
            let refusal = error.into_refusal();
            Ok(Answer::refusal(session, refusal.code, words(&refusal)))
        }
        outcome => outcome,
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
