//! Which plans the built-in rehearsal carries out.

use planwright_core::actor::{Actor, ActorKind};
use planwright_core::event::{Event, TurnEvent};
use planwright_core::plan::{Plan, PlanStyle};
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::SessionIdentity;
use planwright_core::visible::quoted;
use planwright_engine::ledger::{Ledger, LedgerError, LedgerResult};
use planwright_engine::model::REHEARSAL;

use crate::agent_context::AgentContext;

/// The number of entries of one read.
const PAGE: u32 = 1_000;

/// Refuses a plan if the rehearsal is to carry it out and another agent drafted it, or another model has answered in its
/// session: the rehearsal would report steps as done that it does not do. Recorded calls need no model, so their author
/// does not matter.
pub(super) async fn check(agent: &AgentContext, plan: &Plan) -> LedgerResult<()> {
    let needs_model = match plan.style() {
        PlanStyle::Document | PlanStyle::Build => true,
        PlanStyle::Collect => false,
    };
    if agent.model().name() != REHEARSAL || !needs_model {
        return Ok(());
    }
    let history = agent.engine().history();
    let author = history.version_author(plan).await?.map(|author| author.by);
    let is_elsewhere = history.external_author(plan).await?.is_some();
    match author {
        // The agent of another program may call itself anything.
        Some(author) if !is_elsewhere && is_rehearsal(&author) => {}
        Some(author) => return Err(refused(plan, &format!("{author} drafted plan {}.", plan.number))),
        None => return Err(refused(plan, &format!("Another agent drafted plan {}.", plan.number))),
    }
    match other_model(agent.engine().ledger().as_ref(), &plan.session).await {
        Ok(None) => Ok(()),
        Ok(Some(model)) => Err(refused(plan, &format!("{model} has answered in this session."))),
        Err(LedgerError::Damaged { what, .. }) => {
            Err(refused(plan, &format!("Part of this session cannot be read: {what}.")))
        }
        Err(error) => Err(error),
    }
}

/// Whether this process's model may continue a turn of the session. The rehearsal does not continue another model's work.
pub(super) async fn may_continue(agent: &AgentContext, session: &SessionIdentity) -> LedgerResult<bool> {
    if agent.model().name() != REHEARSAL {
        return Ok(true);
    }
    Ok(other_model(agent.engine().ledger().as_ref(), session).await?.is_none())
}

/// Refuses a message if the rehearsal would answer it in a session that another model has answered in.
pub(super) async fn check_message(agent: &AgentContext, session: &SessionIdentity) -> LedgerResult<()> {
    if agent.model().name() != REHEARSAL {
        return Ok(());
    }
    let Some(other) = other_model(agent.engine().ledger().as_ref(), session).await? else { return Ok(()) };
    let model = other.name.rsplit(", ").next().unwrap_or_default();
    let message = format!(
        "No model is configured, and the built-in rehearsal does not answer in a session of another model. {} answers in \
         {session}: set `PLANWRIGHT_MODEL` to it, or begin a session with `/new`.",
        quoted(model)
    );
    Err(Refusal::new(RefusalCode::Conflict, message).into())
}

fn refused(plan: &Plan, why: &str) -> LedgerError {
    let message = format!(
        "No model is configured, and the built-in rehearsal carries out only plans that it drafted itself, in sessions \
         that no other model answered in. {why} Set `PLANWRIGHT_MODEL`, such as `openai:gpt-5`, and then `/plan resume {}`.",
        plan.number
    );
    Refusal::new(RefusalCode::Conflict, message).into()
}

/// A model that is not the rehearsal and has answered in the session. The rehearsal would work from its words.
async fn other_model(ledger: &dyn Ledger, session: &SessionIdentity) -> LedgerResult<Option<Actor>> {
    let mut from = 0;
    loop {
        let entries = ledger.conversation(session, from, PAGE).await?;
        let replies = entries
            .iter()
            .filter(|entry| matches!(entry.event, Event::Turn { event: TurnEvent::ModelReplied { .. }, .. }));
        if let Some(other) = replies.map(|entry| &entry.by).find(|by| !is_rehearsal(by)) {
            return Ok(Some(other.clone()));
        }
        match entries.last() {
            Some(last) if entries.len() == PAGE as usize => from = last.seq + 1,
            Some(_) | None => return Ok(None),
        }
    }
}

/// A specialist that the rehearsal plays is the rehearsal, too.
fn is_rehearsal(by: &Actor) -> bool {
    by.kind == ActorKind::Agent && by.name.rsplit(", ").next() == Some(REHEARSAL)
}
