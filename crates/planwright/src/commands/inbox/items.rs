//! What waits for a person, and how it is named.

use std::sync::Arc;

use planwright_core::ids::PlanId;
use planwright_core::plan::{Plan, PlanStatus};
use planwright_core::session::SessionIdentity;
use planwright_core::visible::quoted;
use planwright_engine::inbox::{Waiting, WaitingAsk, WaitingFor, WaitingRun};
use planwright_engine::ledger::DamagedRow;
use planwright_surfaces::wire::WaitingView;

use crate::context::Context;
use crate::failure::Failure;
use crate::terminal::card::{self, Form};
use crate::terminal::inbox as view;

/// How many plans are read at once.
const PAGE: u32 = 64;
/// The characters that a piece of an id has at least.
const MIN_PIECE: usize = 6;

#[derive(Debug, Default)]
pub(super) struct InboxItems {
    pub(super) items: Vec<InboxItem>,
    pub(super) damaged: Vec<DamagedRow>,
}

#[derive(Debug)]
pub(super) enum InboxItem {
    Plan(Box<Waiting>),
    Ask(Box<WaitingAsk>),
    Run(Box<WaitingRun>),
}

impl InboxItem {
    pub(super) fn view(&self) -> WaitingView {
        match self {
            Self::Plan(waiting) => waiting.as_ref().into(),
            Self::Ask(waiting) => waiting.as_ref().into(),
            Self::Run(waiting) => waiting.as_ref().into(),
        }
    }

    pub(super) fn session(&self) -> &SessionIdentity {
        match self {
            Self::Plan(waiting) => &waiting.session,
            Self::Ask(waiting) => &waiting.session,
            Self::Run(waiting) => &waiting.session,
        }
    }

    /// Everything that a person needs to see before they decide.
    pub(super) async fn whole(&self, context: &Context) -> Result<String, Failure> {
        let view = self.view();
        let about = match self {
            Self::Plan(waiting) => match waiting.wants {
                WaitingFor::Approval => {
                    let source = context.source_of(&waiting.plan).await?;
                    card::whole(&waiting.plan, source.as_ref(), Form::Rendered, context.screen.width)
                }
                WaitingFor::StepEnded { .. }
                | WaitingFor::UncertainStep { .. }
                | WaitingFor::StepFailed { .. }
                | WaitingFor::Paused
                | WaitingFor::RefusedCalls { .. }
                | WaitingFor::CannotRun { .. } => {
                    format!("{}{}", card::line(&waiting.plan), card::progress(&waiting.plan, context.screen.width))
                }
            },
            Self::Ask(_) | Self::Run(_) => view::asked(&view, context.screen.width),
        };
        Ok(format!("{about}{}", view::choices(&view, &context.invocation, context.screen.width)))
    }
}

/// What agents ask comes first, since it holds up their work; then plans, the one that changed last first.
pub(super) async fn read(context: &Context, session: Option<&SessionIdentity>) -> Result<InboxItems, Failure> {
    let (asks, damaged) = context.engine.inbox().asks().await?;
    let mut inbox = InboxItems { items: asks.into_iter().map(|ask| InboxItem::Ask(Box::new(ask))).collect(), damaged };
    let (runs, damaged) = context.engine.inbox().runs().await?;
    inbox.items.extend(runs.into_iter().map(|run| InboxItem::Run(Box::new(run))));
    inbox.damaged.extend(damaged);
    let mut after = None;
    loop {
        let page = context.engine.inbox().list(after, PAGE).await?;
        inbox.items.extend(page.items.into_iter().map(|waiting| InboxItem::Plan(Box::new(waiting))));
        inbox.damaged.extend(page.damaged);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    if let Some(session) = session {
        inbox.items.retain(|item| item.session() == session);
    }
    Ok(inbox)
}

/// The one thing that an id or a piece of one names.
pub(super) async fn find(
    context: &Context,
    session: Option<&SessionIdentity>,
    name: &str,
) -> Result<InboxItem, Failure> {
    let name = name.trim();
    let mut inbox = read(context, session).await?;
    let named = |item: &InboxItem| {
        let id = item.view().id;
        id == name || name.chars().count() >= MIN_PIECE && id.contains(name)
    };
    let exact = inbox.items.iter().position(|item| item.view().id == name);
    let found: Vec<_> = (0..inbox.items.len()).filter(|index| named(&inbox.items[*index])).collect();
    match (exact, found.as_slice()) {
        (Some(index), _) => Ok(inbox.items.swap_remove(index)),
        (None, [index]) => Ok(inbox.items.swap_remove(*index)),
        (None, []) => Err(not_waiting(context, name).await?),
        (None, several) => {
            let ids: Vec<_> = several.iter().map(|index| inbox.items[*index].view().id).collect();
            let message = format!("{} matches {} things that wait: {}", quoted(name), ids.len(), ids.join(", "));
            Err(Failure::usage(message).hint("give more of the id"))
        }
    }
}

/// Says what became of something that does not wait any more, if that is known.
async fn not_waiting(context: &Context, name: &str) -> Result<Failure, Failure> {
    let hint = format!("`{}` lists what waits", context.invocation.command(["inbox"]));
    if name.chars().count() < MIN_PIECE {
        let message = format!("{} is too short: six or more characters of an id name it", quoted(name));
        return Ok(Failure::usage(message).hint(hint));
    }
    let (id, step) = match name.rsplit_once(':') {
        Some((id, step)) => (id, step.parse::<usize>().ok()),
        None => (name, None),
    };
    let message = match plan(context, id).await? {
        Some(plan) => no_longer(&plan, step),
        None => format!("Nothing with the id {} waits for you. It may be decided already.", quoted(name)),
    };
    Ok(Failure::not_found(message).hint(hint))
}

async fn plan(context: &Context, id: &str) -> Result<Option<Arc<Plan>>, Failure> {
    let Ok(id) = PlanId::new(id) else { return Ok(None) };
    match context.ledger.session_of(&id).await? {
        Some(session) => Ok(Some(context.engine.plans().get(&session, &id).await?)),
        None => Ok(None),
    }
}

fn no_longer(plan: &Plan, step: Option<usize>) -> String {
    let now = plan.execution.as_ref().filter(|_| plan.status == PlanStatus::Executing);
    let now = now.and_then(|execution| execution.step_pause()).map(|pause| pause.step);
    match (step, now) {
        (Some(step), Some(now)) => format!(
            "Plan {} of session {} does not wait after step {step} any more: it waits after step {now} now.",
            plan.number, plan.session
        ),
        (_, _) => format!(
            "Plan {} of session {} does not wait for you any more: it is {}.",
            plan.number, plan.session, plan.status
        ),
    }
}
