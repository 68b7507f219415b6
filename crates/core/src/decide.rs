//! Decides what a command leads to: events, or a refusal that changes nothing.

mod ask;
mod auto;
mod decision;
mod draft;
mod execution;
mod external;
mod import;
mod memory;
mod resume;
mod review;
mod run;
mod run_result;
mod session;
mod step_pause;
mod turn;
mod workbook;

use std::collections::BTreeSet;

use crate::actor::ActorKind;
use crate::approval::ActCheck;
use crate::command::{Command, SessionCommand};
use crate::decide::execution::PauseCounts;
use crate::door::Guard;
use crate::event::{Event, SessionEvent, TurnEvent};
use crate::ids::PlanId;
use crate::plan::creation::{Creation, Predecessor};
use crate::plan::{Plan, PlanContent, PlanStatus, PlanStyle, Round};
use crate::policy::Policy;
use crate::presence::Presence;
use crate::refusal::Refusal;
use crate::snapshot::{CommandContext, Snapshot};
use crate::turn::{OpenTurn, Purpose};

pub fn decide(
    snapshot: &Snapshot,
    command: &Command,
    context: &CommandContext,
    policy: &Policy,
) -> Result<Vec<Event>, Refusal> {
    let policy = policy.in_session(snapshot.session.as_deref());
    let decider = Decider { snapshot, context, policy: &policy };
    decider.check_door(command)?;
    let events = match command {
        Command::Session(command) => decider.session(command),
        Command::Draft(command) => decider.draft(command),
        Command::Decide(decision) => decider.decision(decision),
        Command::Answer(command) => decider.answer(command),
        Command::Execution(command) => decider.execution(command),
        Command::Turn(command) => decider.turn(command),
        Command::Workbook(command) => decider.workbook(command),
        Command::Memory(command) => decider.memory(command),
        Command::Auto(command) => decider.auto(command),
        Command::Import(imported) => decider.import(imported),
        Command::External(command) => decider.external(command),
    }?;
    let events = decider.pausing_after_step(decider.stopping_work(events), command);
    let events = decider.pausing_parked(decider.pausing_document(events));
    Ok(decider.with_run_results(decider.settling_runs(events, command)))
}

/// Everything a decision may look at.
#[derive(Clone, Copy)]
struct Decider<'a> {
    snapshot: &'a Snapshot,
    context: &'a CommandContext,
    policy: &'a Policy,
}

impl Decider<'_> {
    /// Refuses a person who may be the agent. What an approval asks for is checked where its risks are known.
    fn check_door(&self, command: &Command) -> Result<(), Refusal> {
        match self.context.by.kind {
            ActorKind::Person => {}
            ActorKind::Agent | ActorKind::Policy | ActorKind::System => return Ok(()),
        }
        match command.guard() {
            Guard::Free => self.check_opening(command),
            Guard::Approval => self.check_act(command),
            Guard::Stop => {
                self.check_unsigned()?;
                self.approval_check(&BTreeSet::new()).check_not_agent()
            }
            Guard::Person => {
                self.check_unsigned()?;
                self.approval_check(&BTreeSet::new()).check_separate()
            }
        }
    }

    /// A process of the agent does not begin a session as the person. Over the API a session is empty until a person writes into it.
    fn check_opening(&self, command: &Command) -> Result<(), Refusal> {
        let is_new = matches!(command, Command::Session(SessionCommand::Open)) && self.snapshot.session.is_none();
        let is_process =
            matches!(self.context.by.presence, Some(Presence::Terminal { .. } | Presence::NoTerminal { .. }));
        match is_new && is_process {
            true => self.approval_check(&BTreeSet::new()).check_separate(),
            false => Ok(()),
        }
    }

    /// A signature that is compared with nothing says nothing about who it is.
    fn check_unsigned(&self) -> Result<(), Refusal> {
        match self.context.by.presence.as_ref().and_then(Presence::signature) {
            Some(signed) => Err(Refusal::policy_denied(format!(
                "The signature is for another act: {} {}.",
                signed.act.kind, signed.act.subject
            ))),
            None => Ok(()),
        }
    }

    /// A person who counts as verified signed exactly this act, once. Approvals of plans are checked with their own signatures.
    fn check_act(&self, command: &Command) -> Result<(), Refusal> {
        if !matches!(self.context.by.presence, Some(Presence::Verified { .. })) {
            return Ok(());
        }
        let Some(act) = command.act(self.snapshot)? else { return self.check_unsigned() };
        let used = self.snapshot.session.as_ref().map(|session| session.signatures.as_slice()).unwrap_or_default();
        let check = ActCheck {
            session: Some(&self.snapshot.identity),
            act: &act,
            approvers: &self.policy.approvers,
            used,
            now: self.context.at,
        };
        check.check(self.context.by.presence.as_ref())
    }

    /// The open turn that works on a plan ends before the plan does.
    fn stopping_work(&self, mut events: Vec<Event>) -> Vec<Event> {
        let open = self.snapshot.session.as_ref().and_then(|session| session.turn.as_ref());
        let stops = |event: &Event| match event {
            Event::Session(event) => matches!(event, SessionEvent::ConversationReset { .. }),
            Event::Plan { id, event } => event.touches().ends_work && open.is_some_and(|open| self.works_on(open, id)),
            Event::Turn { .. } | Event::Workbook(_) | Event::Memory(_) | Event::Auto(_) => false,
        };
        // An agent that rewrites or finishes the document it works from ends its turn itself.
        let itself = self.context.by.kind != ActorKind::Person
            && !open.is_some_and(|open| matches!(open.purpose, Purpose::Step { .. }));
        if !itself && events.iter().any(stops) {
            events.splice(0..0, self.end_open_turn(open));
        }
        events
    }

    /// A turn of the conversation that ends leaves the document it could have worked on waiting for a person.
    fn pausing_document(&self, mut events: Vec<Event>) -> Vec<Event> {
        let open = self.snapshot.session.as_ref().and_then(|session| session.turn.as_ref());
        let Some(open) = open.filter(|open| !open.purpose.is_part()) else { return events };
        let ends =
            |event: &Event| matches!(event, Event::Turn { id, event: TurnEvent::Ended { .. } } if *id == open.id);
        if !events.iter().any(ends) {
            return events;
        }
        let mut after = self.snapshot.clone();
        events.iter().for_each(|event| after.apply(event, self.context, 0));
        let executing = |plan: &&Plan| plan.style() == PlanStyle::Document && plan.status == PlanStatus::Executing;
        // The document of the turn may be parked by now.
        let worked_on = match &open.purpose {
            Purpose::Document { plan } => after.plan(plan),
            Purpose::Answer | Purpose::Step { .. } | Purpose::Question { .. } | Purpose::Run(_) => after.active(),
        };
        let Some(plan) = worked_on.filter(executing) else { return events };
        let Some(execution) = &plan.execution else { return events };
        // It waits for a person already, who looks at the step that ended.
        if execution.step_pause().is_some() {
            return events;
        }
        let (idle_turns, brake) = match open.purpose {
            Purpose::Document { .. } => {
                let (idle_turns, brake) = execution.after_system_turn();
                (idle_turns, Some(brake))
            }
            Purpose::Answer | Purpose::Step { .. } | Purpose::Question { .. } | Purpose::Run(_) => {
                (0, execution.brake())
            }
        };
        let is_same = execution.idle_turns() == idle_turns && execution.brake() == brake;
        if execution.paused_since().is_none() || !is_same {
            events.push(execution::paused(plan, execution, PauseCounts { idle_turns, brake }, None));
        }
        events
    }

    /// A document that is parked before its turn began waits for a person, too.
    fn pausing_parked(&self, mut events: Vec<Event>) -> Vec<Event> {
        let parks = |event: &Event| {
            matches!(
                event,
                Event::Session(SessionEvent::PlanModeEnabled { .. } | SessionEvent::PlanModeDisabled { .. })
            )
        };
        let Some(before) = self.snapshot.active().filter(|_| events.iter().any(parks)) else { return events };
        let mut after = self.snapshot.clone();
        events.iter().for_each(|event| after.apply(event, self.context, 0));
        let turn = after.session.as_ref().and_then(|session| session.turn.as_ref());
        let is_worked_on = turn.is_some_and(|turn| self.works_on(turn, &before.id));
        let is_active = after.active().is_some_and(|active| active.id == before.id);
        let Some(plan) = after.plan(&before.id).filter(|_| !is_active && !is_worked_on) else { return events };
        let executing = plan.style() == PlanStyle::Document && plan.status == PlanStatus::Executing;
        if let Some(execution) = plan.execution.as_ref().filter(|running| executing && running.paused_since().is_none())
        {
            events.push(execution::paused(plan, execution, PauseCounts::kept(execution), None));
        }
        events
    }

    fn works_on(&self, open: &OpenTurn, plan: &PlanId) -> bool {
        let carried_out = |plan: &Plan| plan.style() == PlanStyle::Document && plan.status == PlanStatus::Executing;
        match &open.purpose {
            Purpose::Document { plan: own } | Purpose::Step { plan: own, .. } => own == plan,
            Purpose::Answer | Purpose::Run(_) => {
                self.snapshot.active().is_some_and(|active| active.id == *plan && carried_out(active))
            }
            Purpose::Question { .. } => false,
        }
    }

    /// The id of whatever this command creates.
    fn new_plan_id(&self) -> PlanId {
        PlanId::from(&self.context.request)
    }

    fn create(&self, style: PlanStyle) -> Result<Event, Refusal> {
        self.creation(style, None, None)
    }

    /// A plan that takes the place of `plan`, beginning with `content`.
    fn succeed(&self, plan: &Plan, content: PlanContent) -> Result<Event, Refusal> {
        let predecessor =
            Predecessor { of: plan.id.clone(), title: plan.title.clone(), content, steps_made: plan.steps_made };
        self.creation(plan.style(), Some(predecessor), plan.round.clone())
    }

    /// The next round of the active plan.
    fn create_round(&self, of: &Plan) -> Result<Event, Refusal> {
        let round = Round::after(of, self.snapshot.round());
        self.creation(PlanStyle::Collect, None, Some(Box::new(round)))
    }

    fn creation(
        &self,
        style: PlanStyle,
        succeeds: Option<Predecessor>,
        round: Option<Box<Round>>,
    ) -> Result<Event, Refusal> {
        let number = self.snapshot.opened()?.plans_made + 1;
        Ok(Event::Session(SessionEvent::PlanCreated {
            creation: Box::new(Creation { plan: self.new_plan_id(), number, style, succeeds, round }),
        }))
    }
}
