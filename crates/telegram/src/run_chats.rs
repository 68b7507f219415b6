//! Which chat a run was started in, and a schedule made in.

use jiff::Timestamp;
use planwright_agent::session::input::Input;
use planwright_agent::session::outcome::Answer;
use planwright_core::ids::RunId;
use planwright_core::session::SessionIdentity;
use planwright_core::slash::{ScheduleSubcommand, SlashCommand};
use planwright_engine::ledger::LedgerResult;
use serde::{Deserialize, Serialize};

use crate::context::BotContext;
use crate::records;

/// The chat that a run belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunChat {
    pub(crate) session: SessionIdentity,
    pub(crate) run: RunId,
    pub(crate) chat: i64,
    /// Since when the run was in the state that was told last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) told: Option<Timestamp>,
}

/// The chat in which schedules of a session were made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ScheduleChat {
    pub(crate) session: SessionIdentity,
    pub(crate) chat: i64,
    /// The number of the newest run that was looked at.
    pub(crate) last_run: u32,
}

pub(crate) fn run_key(bot: &str, session: &SessionIdentity, run: &RunId) -> String {
    format!("run-chat/{bot}/{session}/{run}")
}

fn schedule_key(bot: &str, session: &SessionIdentity) -> String {
    format!("schedule-chat/{bot}/{session}")
}

/// Whether the chat is told about the run.
pub(crate) async fn tells(
    context: &BotContext,
    session: &SessionIdentity,
    run: &RunId,
    chat: i64,
) -> LedgerResult<bool> {
    let known = records::read::<RunChat>(context.ledger.as_ref(), &run_key(&context.bot, session, run)).await?;
    Ok(known.is_some_and(|known| known.value.chat == chat))
}

/// Notes the chat of a run that an input started, or of a schedule that it made.
pub(crate) async fn note_chat(context: &BotContext, chat: i64, input: &Input, answer: &Answer) -> LedgerResult<()> {
    let (ledger, session) = (context.ledger.as_ref(), &answer.session);
    if let Some(run) = &answer.run {
        let known = RunChat { session: session.clone(), run: run.clone(), chat, told: None };
        records::replace(ledger, &run_key(&context.bot, session, run), &known).await?;
    }
    let makes_schedule = matches!(input, Input::Command(SlashCommand::Schedule(ScheduleSubcommand::Add { .. })));
    if makes_schedule && answer.refusal.is_none() {
        let last_run = context.agent.engine().auto().state(session).await?.runs_made;
        let known = ScheduleChat { session: session.clone(), chat, last_run };
        records::replace(ledger, &schedule_key(&context.bot, session), &known).await?;
    }
    Ok(())
}
