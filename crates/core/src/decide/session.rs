//! Opening a session, and turning its plan mode on and off.

use crate::actor::ActorKind;
use crate::command::SessionCommand;
use crate::decide::Decider;
use crate::event::{Event, PlanEvent, SessionEvent};
use crate::ids::PlanId;
use crate::mode::ModeEnd;
use crate::plan::lifecycle::{Action, Rule};
use crate::plan::{Plan, PlanStatus, PlanStyle};
use crate::presence::AgentClient;
use crate::refusal::Refusal;
use crate::session::{Channel, ConversationKey};
use crate::workspace::{Undo, Workspace};

/// In characters.
const MAX_TITLE: usize = 200;

/// The programs that a session remembers.
const MAX_CLIENTS: usize = 500;

impl Decider<'_> {
    pub(super) fn session(&self, command: &SessionCommand) -> Result<Vec<Event>, Refusal> {
        match command {
            SessionCommand::Open => self.open(),
            SessionCommand::EnablePlanMode { style, parked } => self.enable(*style, parked.as_ref()),
            SessionCommand::EnsurePlanMode { style, parked } => self.ensure(*style, parked.as_ref()),
            SessionCommand::DisablePlanMode => self.leave(ModeEnd::Off),
            SessionCommand::FinishPlanWork => self.finish_plan_work(),
            SessionCommand::Reset { history_from } => self.reset(*history_from),
            SessionCommand::ChooseWorkspace(workspace) => self.choose_workspace(workspace),
            SessionCommand::RecordUndo(undo) => self.record_undo(undo),
            SessionCommand::Rename { title } => self.rename(title.as_deref()),
            SessionCommand::SeeClient(client) => self.see_client(client),
            SessionCommand::DraftReview { plan, review } => self.draft_review(plan, review),
            SessionCommand::ResolveComment { plan, comment, resolved } => {
                self.resolve_comment(plan, comment, *resolved)
            }
            SessionCommand::TakeTurn(turn) => self.take_turn(turn),
        }
    }

    fn open(&self) -> Result<Vec<Event>, Refusal> {
        if self.snapshot.session.is_some() {
            return Ok(Vec::new());
        }
        if !self.snapshot.identity.conversation.may_be_new() {
            return Err(Refusal::not_found(format!(
                "There is no session {}, and {}.",
                self.snapshot.identity,
                ConversationKey::RULE
            )));
        }
        // A session that was deleted and is opened again has the same agents.
        let kept = self.policy.kept_clients.get(&self.snapshot.identity.to_string()).into_iter().flatten();
        let kept = kept.map(|client| Event::Session(SessionEvent::ClientSeen { client: client.clone(), added: true }));
        Ok(std::iter::once(Event::Session(SessionEvent::Opened)).chain(kept).collect())
    }

    fn enable(&self, style: PlanStyle, parked: Option<&PlanId>) -> Result<Vec<Event>, Refusal> {
        let mode = &self.snapshot.opened()?.plan_mode;
        let is_empty = |plan: &&Plan| plan.status == PlanStatus::Collecting && plan.is_empty();
        let parked = parked.and_then(|parked| self.snapshot.plan(parked)).filter(is_empty);
        // An empty plan that was parked is used again, so that turning plan work off and on leaves nothing behind.
        let waiting = self.snapshot.active().filter(is_empty).or(parked);
        if let Some(plan) = waiting.filter(|plan| plan.style() == style) {
            let unchanged = mode.enabled && mode.style == style && mode.active_plan.as_ref() == Some(&plan.id);
            return Ok(if unchanged {
                Vec::new()
            } else {
                vec![Event::Session(SessionEvent::PlanModeEnabled { style, plan: plan.id.clone() })]
            });
        }
        let mut events = Vec::new();
        if let Some(plan) = waiting {
            events.push(cancelled(plan, "empty, and replaced by a plan of another style"));
        }
        events.push(self.create(style)?);
        events.push(Event::Session(SessionEvent::PlanModeEnabled { style, plan: self.new_plan_id() }));
        Ok(events)
    }

    fn ensure(&self, style: Option<PlanStyle>, parked: Option<&PlanId>) -> Result<Vec<Event>, Refusal> {
        let mode = &self.snapshot.opened()?.plan_mode;
        let style = style.unwrap_or(mode.style);
        let alive = self.snapshot.active().is_some_and(|plan| !plan.status.is_final());
        if mode.enabled && mode.style == style && alive { Ok(Vec::new()) } else { self.enable(style, parked) }
    }

    fn leave(&self, end: ModeEnd) -> Result<Vec<Event>, Refusal> {
        let session = self.snapshot.opened()?;
        let mode = &session.plan_mode;
        // So that the next start of an agent's client does not turn it on.
        let is_kept_off = end == ModeEnd::Off
            && self.context.by.kind == ActorKind::Person
            && session.identity.channel == Channel::Mcp
            && !session.was_plan_work_switched();
        Ok(if mode.enabled || is_kept_off {
            vec![Event::Session(SessionEvent::PlanModeDisabled { end })]
        } else {
            Vec::new()
        })
    }

    /// An empty plan is cancelled, a plan under way is closed with what was done, any other is parked as it is.
    fn finish_plan_work(&self) -> Result<Vec<Event>, Refusal> {
        let mut events = Vec::new();
        if let Some(plan) = self.snapshot.active() {
            if plan.status == PlanStatus::Collecting && plan.is_empty() {
                events.push(cancelled(plan, "plan work ended with nothing in it"));
            } else if let (PlanStatus::Executing, Some(execution)) = (plan.status, &plan.execution) {
                events.push(Event::of_plan(
                    &plan.id,
                    PlanEvent::ExecutionFinished { execution: execution.id.clone(), status: execution.result() },
                ));
            }
        }
        events.extend(self.leave(ModeEnd::Done)?);
        Ok(events)
    }

    fn reset(&self, history_from: u64) -> Result<Vec<Event>, Refusal> {
        let mut events = self.leave(ModeEnd::Reset)?;
        if let Some(plan) = self.snapshot.active().filter(|plan| plan.status.rule(Action::Cancel) != Rule::No) {
            events.insert(0, cancelled(plan, "the conversation was reset"));
        }
        let history_from = history_from.max(self.snapshot.opened()?.history_from);
        events.push(Event::Session(SessionEvent::ConversationReset { history_from }));
        Ok(events)
    }

    /// An open turn works in the workspace it began in, so the next one may only be chosen when the turn has ended.
    fn choose_workspace(&self, workspace: &Workspace) -> Result<Vec<Event>, Refusal> {
        let session = self.snapshot.opened()?;
        match self.context.by.kind {
            ActorKind::Person => {}
            // The person chose it when they configured the program that begins the session.
            ActorKind::System if session.plans_made == 0 && session.workspace.is_own() => {}
            ActorKind::Agent | ActorKind::Policy | ActorKind::System => {
                return Err(Refusal::policy_denied("Only a person chooses the folder that a session works in."));
            }
        }
        workspace.check()?;
        if session.workspace == *workspace {
            return Ok(Vec::new());
        }
        if session.turn.is_some() {
            return Err(Refusal::wrong_status(
                "A turn is open and works in the folder chosen before; stop it or wait until it has ended.",
            ));
        }
        let running = |plan: &&Plan| {
            let paused = plan.is_paused();
            plan.status == PlanStatus::Executing && !paused
        };
        if let Some(plan) = self.snapshot.active().filter(running) {
            return Err(plan.wrong_status("it is carried out in the folder chosen before"));
        }
        Ok(vec![Event::Session(SessionEvent::WorkspaceChosen { path: workspace.project().map(str::to_owned) })])
    }

    /// A program that was seen is never forgotten, whatever others arrive: a record that the agent could remove would prove
    /// nothing. One program has one record, however often it starts `planwright mcp`.
    fn see_client(&self, client: &AgentClient) -> Result<Vec<Event>, Refusal> {
        let clients = &self.snapshot.opened()?.clients;
        if clients.iter().any(|known| known.is_same(client)) {
            return Ok(Vec::new());
        }
        if clients.len() >= MAX_CLIENTS {
            return Err(Refusal::limit(format!(
                "{MAX_CLIENTS} programs have started `planwright mcp` for session {}; begin another session.",
                self.snapshot.identity
            )));
        }
        Ok(vec![Event::Session(SessionEvent::ClientSeen { client: client.clone(), added: true })])
    }

    fn record_undo(&self, undo: &Undo) -> Result<Vec<Event>, Refusal> {
        match self.context.by.kind {
            ActorKind::Person => {}
            ActorKind::Agent | ActorKind::Policy | ActorKind::System => {
                return Err(Refusal::policy_denied("Only a person can undo changes."));
            }
        }
        self.snapshot.opened()?;
        match &undo.plan {
            Some(plan) => drop(self.snapshot.named(plan)?),
            // An open turn would continue with files that it does not expect.
            None if self.snapshot.opened()?.turn.is_some() => {
                return Err(Refusal::wrong_status("The agent is at work; stop it before changes are undone."));
            }
            None => {}
        }
        Ok(vec![Event::Session(SessionEvent::ChangesUndone { undo: undo.clone() })])
    }

    fn rename(&self, title: Option<&str>) -> Result<Vec<Event>, Refusal> {
        let session = self.snapshot.opened()?;
        let title = title.map(str::trim).filter(|title| !title.is_empty());
        if let Some(title) = title {
            if title.chars().count() > MAX_TITLE {
                return Err(Refusal::limit(format!("The title of a session has at most {MAX_TITLE} characters.")));
            }
            if title.chars().any(char::is_control) {
                return Err(Refusal::invalid("The title of a session is one line of text."));
            }
        }
        if session.title.as_deref() == title {
            return Ok(Vec::new());
        }
        Ok(vec![Event::Session(SessionEvent::Renamed { title: title.map(str::to_owned) })])
    }
}

pub(super) fn cancelled(plan: &Plan, reason: &str) -> Event {
    Event::of_plan(&plan.id, PlanEvent::Cancelled { reason: Some(reason.to_owned()) })
}
