//! What became of the runs that were started in a chat is told in that chat, also those of schedules that were made there.

use std::time::Duration;

use planwright_core::auto::{AutoRun, AutoState, RunEnd, RunState, RunTrigger};
use planwright_core::choices::run_choices;
use planwright_core::plan::PlanStatus;
use planwright_core::session::SessionIdentity;
use planwright_core::visible::visible;
use planwright_engine::changes::{ChangeFollower, Changed};
use planwright_engine::inbox::waiting_ask;
use planwright_engine::ledger::{LedgerResult, NewMessage, StoredSession};
use tokio::time::timeout;

use crate::context::BotContext;
use crate::inbox_cards::InboxCards;
use crate::markdown::{FormattedText, LinkStyle, MAX_TEXT};
use crate::message::OutgoingMessage;
use crate::records;
use crate::run_chats::{RunChat, ScheduleChat, run_key};

/// Changes that come closer together are looked at once.
const DEBOUNCE: Duration = Duration::from_millis(200);
/// Runs are also looked at after this time: a change may have been missed.
const POLL_INTERVAL: Duration = Duration::from_secs(60);
const MAX_RUNS: u32 = 200;
const MAX_CHATS: u32 = 1_000;

pub(crate) async fn run(context: &std::sync::Arc<BotContext>) {
    let mut changes = ChangeFollower::follow(context.ledger.as_ref(), DEBOUNCE);
    let mut changed = Changed::anywhere();
    let cards = InboxCards::new(context);
    loop {
        let sessions = changed.sessions.iter().filter(|_| !changed.resync).map(Some);
        for session in sessions.chain(changed.resync.then_some(None)) {
            if let Err(error) = look(context, &cards, session).await {
                tracing::warn!(event = "telegram_runs_not_told", %error);
            }
        }
        changed = match timeout(POLL_INTERVAL, changes.next()).await {
            Ok(Some(changed)) => changed,
            Ok(None) => return,
            Err(_) => Changed::anywhere(),
        };
    }
}

/// Looks at the runs of one session, or of all.
async fn look(context: &BotContext, cards: &InboxCards, session: Option<&SessionIdentity>) -> LedgerResult<()> {
    let prefix =
        |kind: &str| format!("{kind}/{}/{}", context.bot, session.map(ToString::to_string).unwrap_or_default());
    for (key, record) in context.ledger.keyed_records(&prefix("schedule-chat"), MAX_CHATS).await? {
        if let Ok(known) = serde_json::from_str::<ScheduleChat>(&record.body) {
            note_scheduled(context, &key, known).await?;
        }
    }
    for (key, record) in context.ledger.keyed_records(&prefix("run-chat"), MAX_RUNS).await? {
        match serde_json::from_str::<RunChat>(&record.body) {
            Ok(known) => tell(context, cards, &key, known).await?,
            Err(_) => context.ledger.remove_keyed_record(&key).await?,
        }
    }
    Ok(())
}

/// Notes the chat of the runs that schedules started since.
async fn note_scheduled(context: &BotContext, key: &str, mut known: ScheduleChat) -> LedgerResult<()> {
    let Some(stored) = context.ledger.session(&known.session).await? else {
        return context.ledger.remove_keyed_record(key).await;
    };
    let Some(state) = stored.session.auto.as_deref().filter(|state| state.runs_made > known.last_run) else {
        return Ok(());
    };
    let is_new = |run: &&AutoRun| run.number > known.last_run && matches!(run.trigger, RunTrigger::Schedule { .. });
    for run in state.runs.iter().filter(is_new) {
        let chat = RunChat { session: known.session.clone(), run: run.id().clone(), chat: known.chat, told: None };
        records::replace(context.ledger.as_ref(), &run_key(&context.bot, &known.session, run.id()), &chat).await?;
    }
    known.last_run = state.runs_made;
    records::replace(context.ledger.as_ref(), key, &known).await
}

async fn tell(context: &BotContext, cards: &InboxCards, key: &str, known: RunChat) -> LedgerResult<()> {
    let stored = context.ledger.session(&known.session).await?;
    let state = stored.as_ref().and_then(|stored| stored.session.auto.as_deref());
    let (Some(stored), Some(state)) = (&stored, state) else { return context.ledger.remove_keyed_record(key).await };
    // A run that the session has forgotten was told.
    let Some(run) = state.run(&known.run) else { return context.ledger.remove_keyed_record(key).await };
    let (since, text) = match &run.state {
        RunState::Running => return tell_what_waits(context, cards, stored, &known).await,
        // The person who stopped it knows.
        RunState::Ended { end: RunEnd::Stopped, .. } => return Ok(()),
        RunState::Ended { at, .. } => (*at, result_of(context, &known, state, run).await?),
        RunState::Paused { reason, since } => (*since, waiting_text(run, &format!("is paused: {reason}"))),
        RunState::Interrupted { since } => (*since, waiting_text(run, "is interrupted: its process ended")),
    };
    if known.told == Some(since) {
        return Ok(());
    }
    let id = format!("run-{}-{}-{}", context.bot, known.run, since.as_microsecond());
    context.put(&messages(context, &id, known.chat, &text)?).await?;
    records::replace(context.ledger.as_ref(), key, &RunChat { told: Some(since), ..known }).await
}

/// The cards of what a run asks, and of the plan that it proposed.
async fn tell_what_waits(
    context: &BotContext,
    cards: &InboxCards,
    stored: &StoredSession,
    known: &RunChat,
) -> LedgerResult<()> {
    // The private chat of a person has the id of the person; only a person gets buttons.
    if known.chat <= 0 {
        return Ok(());
    }
    let id = |what: &str| format!("run-{}-{}-{what}", context.bot, known.run);
    let is_tick = stored.session.turn.as_ref().and_then(|open| open.purpose.run());
    if is_tick.is_some_and(|tick| tick.run_id == known.run)
        && let Some(waiting) = waiting_ask(&stored.session)
    {
        return cards.send_ask(&id(waiting.ask.id.as_str()), known.chat, &waiting).await;
    }
    let snapshot = context.ledger.snapshot(&known.session, None).await?;
    match snapshot.active().filter(|plan| plan.status == PlanStatus::Ready) {
        Some(plan) => cards.send_plan(&id(&plan.digest().to_string()), known.chat, plan).await,
        None => Ok(()),
    }
}

fn waiting_text(run: &AutoRun, how: &str) -> String {
    let choices = run_choices(run).list.into_iter();
    let choices: String = choices.map(|choice| format!("\n- `{}`: {}", choice.command, choice.label)).collect();
    format!("Run {} {how}.{choices}", run.number)
}

/// The result as the conversation of the session has it.
async fn result_of(context: &BotContext, known: &RunChat, state: &AutoState, run: &AutoRun) -> LedgerResult<String> {
    if run.context.has_own_conversation() {
        let page = context.agent.engine().history().run_messages(&known.session, &known.run, None, 1).await?;
        if let Some(last) = page.items.last() {
            return Ok(last.text.clone());
        }
    }
    let title = state.task(run.context.task_id()).map(|task| visible(&task.title).into_owned()).unwrap_or_default();
    Ok(format!("Run {} is {}: {title}", run.number, run.state.name()))
}

fn messages(context: &BotContext, id: &str, chat: i64, text: &str) -> LedgerResult<Vec<NewMessage>> {
    let text = FormattedText::markdown(text, LinkStyle::Written);
    let parts = text.split(MAX_TEXT).into_iter().filter(|part| !part.is_blank()).enumerate();
    parts
        .map(|(index, part)| context.stored(format!("{id}-{index}"), &OutgoingMessage::text(chat, part, None)))
        .collect()
}
