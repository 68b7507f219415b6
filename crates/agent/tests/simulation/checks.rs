//! What must always hold, checked over everything that happened, in the order it happened.
//!
//! - [`turns`]: turns do not overlap, and their calls are made once
//! - [`runs`]: what may become of the steps of plans, and through whom
//! - [`steps`]: recorded calls are made as they were recorded and approved, once or as often as they may
//! - [`auto`]: runs stay in their session, and only a person's promotion is global
//! - [`plans`]: people decide about what they saw, and what is over stays over

mod auto;
mod plans;
mod runs;
mod steps;
mod turns;

use std::collections::BTreeMap;

use planwright_core::actor::ActorKind;
use planwright_core::event::{Event, PlanEvent, TurnEvent};
use planwright_core::gate::{Caller, GateContext, GateDecision, ToolEffect, decide_other_tool};
use planwright_core::journal::Entry;
use planwright_core::plan::content::PlanContent;
use planwright_core::plan::execution::StepStatus;
use planwright_core::plan::{Plan, PlanStatus};
use planwright_core::session::SessionIdentity;
use planwright_core::snapshot::Snapshot;
use planwright_core::turn::Purpose;
use serde_json::Value;

use crate::acts::COMMON;
use crate::store::Store;
use crate::tools::{effect_of, number_in};
use crate::world::{Occurrence, Role, World};
use plans::Plans;
use steps::Steps;
use turns::Turns;

/// How often something happened, to see that a run is about something.
pub(crate) type Tally = BTreeMap<String, u64>;

pub(crate) fn check(world: &World, store: &Store) -> Tally {
    let state = store.lock();
    let followed = state
        .sessions
        .iter()
        .chain(&state.deleted)
        .map(|(session, kept)| (session.clone(), FeedItem::new(session, &kept.entries)));
    let mut walk = Walk { world, sessions: followed.collect(), tally: Tally::new() };
    for (place, (_, occurrence)) in world.record().iter().enumerate() {
        walk.apply(place, occurrence);
    }
    for kept in state.memories.iter().flatten().filter(|kept| kept.owner.is_none()) {
        if !kept.record.item.content.starts_with(COMMON) {
            world.wrong(format!("no person promoted what every session reads: {}", kept.record.item.content));
        }
    }
    for followed in walk.sessions.values() {
        followed.at_the_end(world);
    }
    walk.tally
}

struct Walk<'a> {
    world: &'a World,
    sessions: BTreeMap<SessionIdentity, FeedItem<'a>>,
    tally: Tally,
}

/// A session, as far as the walk has come.
struct FeedItem<'a> {
    entries: &'a [Entry],
    snapshot: Snapshot,
    seq: u64,
    holder: Option<(String, u64)>,
    /// Every state since the process that works on the session last saw it, that one first.
    known: BTreeMap<String, Vec<Snapshot>>,
    turns: Turns,
    steps: Steps,
    plans: Plans,
}

/// An entry, who wrote it, and the session before and after it.
struct Written<'a> {
    entry: &'a Entry,
    owner: &'a str,
    before: &'a Snapshot,
    after: &'a Snapshot,
}

impl Written<'_> {
    fn is_by_a_person(&self) -> bool {
        self.entry.by.kind == ActorKind::Person
    }
}

/// What a rule says: nothing, or how it was broken.
type Kept = Result<(), String>;

/// A tool that was called.
struct Made<'a> {
    place: usize,
    owner: &'a str,
    tool: &'a str,
    number: u64,
    arguments: &'a Value,
    /// What the caller may have known, the oldest first.
    known: &'a [Snapshot],
}

impl<'a> Walk<'a> {
    fn apply(&mut self, place: usize, occurrence: &Occurrence) {
        match occurrence {
            Occurrence::Act(_) | Occurrence::Answered(_) | Occurrence::Started { .. } => {}
            Occurrence::Deleted { .. } => self.count("session deleted"),
            Occurrence::Died { .. } => self.count("process died"),
            Occurrence::Wrote { owner, session, first, last, under } => {
                self.wrote(owner, session, *first, *last, *under);
            }
            Occurrence::Took { owner, session, fence } => {
                let followed = self.followed(session);
                followed.looked(owner);
                let before = followed.holder.replace((owner.clone(), *fence));
                if before.is_some_and(|(other, _)| other != *owner) {
                    self.count("session taken over");
                }
            }
            Occurrence::Released { session, fence, .. } => {
                self.followed(session).holder.take_if(|(_, held)| held == fence);
            }
            Occurrence::AskedModel { owner, session, role } => {
                self.at_work(owner, session);
                let world = self.world;
                let known = self.followed(session).known.get(owner).map(Vec::as_slice).unwrap_or_default();
                if !known.iter().any(|snapshot| speaks(snapshot, *role)) {
                    world.wrong(format!(
                        "{owner} asked a model as {role:?} in {session}, where no such work is under way"
                    ));
                }
            }
            Occurrence::ToolBegun { owner, session, tool, arguments } => {
                self.at_work(owner, session);
                let world = self.world;
                let followed = self.followed(session);
                let known = followed.known.get(owner).cloned().unwrap_or_default();
                let number = number_in(arguments).unwrap_or_default();
                followed.made(world, &Made { place, owner, tool, number, arguments, known: &known });
            }
            Occurrence::ToolHadEffect { begun } => {
                self.sessions.values_mut().for_each(|followed| followed.steps.had_effect(*begun));
            }
        }
    }

    fn followed(&mut self, session: &SessionIdentity) -> &mut FeedItem<'a> {
        self.sessions.get_mut(session).unwrap()
    }

    fn count(&mut self, what: &str) {
        *self.tally.entry(what.to_owned()).or_default() += 1;
    }

    fn wrote(&mut self, owner: &str, session: &SessionIdentity, first: u64, last: u64, under: Option<u64>) {
        let world = self.world;
        let followed = self.followed(session);
        if let Some(fence) = under
            && followed.holder.as_ref().is_none_or(|(_, held)| *held != fence)
        {
            let holder = &followed.holder;
            world.wrong(format!("{owner} wrote entry {first} of {session} under lease {fence}, which is {holder:?}'s"));
        }
        if first != followed.seq + 1 || last > followed.entries.len() as u64 {
            world.wrong(format!("entries {first} to {last} of {session} were written and are not in the journal"));
            return;
        }
        let entries = &followed.entries[first as usize - 1..last as usize];
        entries.iter().for_each(|entry| followed.apply(world, owner, entry));
        followed.seq = last;
        if let Err(broken) = stands(&followed.snapshot) {
            world.wrong(format!("after entry {last} of {session} by {owner}: {broken}"));
        }
        for known in followed.known.values_mut() {
            known.push(followed.snapshot.clone());
        }
        if under.is_some() {
            followed.looked(owner);
        }
        entries.iter().for_each(|entry| self.count(entry.event.name()));
        for entry in entries {
            if let Some(detail) = detail(&entry.event) {
                self.count(&detail);
            }
        }
    }

    /// Only who holds a session works on it, unless it lost it without having seen that yet.
    fn at_work(&mut self, owner: &str, session: &SessionIdentity) {
        let holder = self.followed(session).holder.clone();
        if holder.as_ref().is_some_and(|(held_by, _)| held_by == owner) {
            return;
        }
        self.count("work without the session");
        let conditions = &self.world.conditions;
        if !conditions.leases_get_lost && conditions.outages == 0 {
            self.world.wrong(format!("{owner} is at work in {session}, which {holder:?} holds"));
        }
    }
}

/// What there is to count besides the name of an event.
fn detail(event: &Event) -> Option<String> {
    match event {
        Event::Turn { event: TurnEvent::Begun { purpose, .. }, .. } => Some(format!(
            "turn_begun for {}",
            match purpose {
                Purpose::Answer => "an answer",
                Purpose::Run(_) => "a tick",
                Purpose::Document { .. } => "a document",
                Purpose::Step { .. } => "a step",
                Purpose::Question { .. } => "a question",
            }
        )),
        Event::Plan { event: PlanEvent::Approved { approval, .. }, .. } if approval.by.kind == ActorKind::Policy => {
            Some("plan_approved by a rule".to_owned())
        }
        Event::Turn { event: TurnEvent::Ended { ending, .. }, .. } => Some(format!("turn_ended {}", ending.end.name())),
        Event::Plan { event: PlanEvent::StepEnded { outcome, .. }, .. } => {
            Some(format!("step_ended {}", outcome.status.as_str()))
        }
        Event::Turn { event: TurnEvent::ToolEnded { outcome, .. }, .. } => {
            Some(format!("tool_ended {:?}", outcome.status))
        }
        Event::Plan { event: PlanEvent::ExecutionFinished { status, .. }, .. } => {
            Some(format!("execution_finished {status}"))
        }
        Event::Plan { event: PlanEvent::Approved { approval, .. }, .. } if !approval.skipped.is_empty() => {
            Some("plan_approved in part".to_owned())
        }
        _ => None,
    }
}

impl<'a> FeedItem<'a> {
    fn new(session: &SessionIdentity, entries: &'a [Entry]) -> Self {
        Self {
            entries,
            snapshot: Snapshot::new(session.clone()),
            seq: 0,
            holder: None,
            known: BTreeMap::new(),
            turns: Turns::default(),
            steps: Steps::default(),
            plans: Plans::default(),
        }
    }

    /// A process that writes under a lease, or takes it, sees the state of the session.
    fn looked(&mut self, owner: &str) {
        self.known.insert(owner.to_owned(), vec![self.snapshot.clone()]);
    }

    fn apply(&mut self, world: &World, owner: &str, entry: &Entry) {
        let before = self.snapshot.clone();
        self.snapshot.apply(&entry.event, &entry.context(), entry.seq);
        let written = Written { entry, owner, before: &before, after: &self.snapshot };
        if let Event::Plan { event: PlanEvent::StepRecorded { step, .. }, .. } = &entry.event
            && effect_of(&step.tool) == Some(ToolEffect::Changes)
            && number_in(&step.arguments).is_some_and(|number| self.turns.was_made(number))
        {
            world.wrong(format!("entry {} of {} records what was begun already", entry.seq, entry.session));
        }
        let policy = &world.conditions.policy;
        let rules = [
            self.turns.apply(&written),
            runs::apply(&written, policy),
            auto::apply(&written),
            self.steps.apply(&written),
            self.plans.apply(&written, policy),
        ];
        for broken in rules.into_iter().filter_map(Result::err) {
            let (seq, session, name) = (entry.seq, &entry.session, entry.event.name());
            world.wrong(format!("entry {seq} of {session}, {name} by {owner}: {broken}"));
        }
    }

    /// A call is one that a turn made, or a step of a plan, and is allowed as such. One that was recorded just before a
    /// crash may be judged anew when its turn continues, and then runs as well if that does no harm.
    fn made(&mut self, world: &World, made: &Made<'_>) {
        let as_step = self.steps.made(made, &self.snapshot, &world.conditions.policy);
        let harmless = effect_of(made.tool) != Some(ToolEffect::Changes);
        let outcome = match as_step {
            Err(as_step) if harmless || !self.steps.has(made.number) => {
                let as_call = self.turns.made(made).and_then(|purpose| through_the_gate(world, made, &purpose));
                as_call.map_err(|as_call| format!("{as_call}; as a step of a plan: {as_step}"))
            }
            as_step => as_step,
        };
        if let Err(broken) = outcome {
            let Made { owner, tool, arguments, .. } = made;
            world.wrong(format!("{owner} called {tool} with {arguments}: {broken}"));
        }
    }

    fn at_the_end(&self, world: &World) {
        let session = &self.snapshot.identity;
        if self.seq != self.entries.len() as u64 {
            world.wrong(format!("the journal of {session} has entries that no process wrote"));
        }
        if let Some(open) = self.snapshot.session.as_ref().and_then(|session| session.turn.as_ref()) {
            world.wrong(format!("a turn of {session} is still open at the end: {open:?}"));
        }
        for plan in self.snapshot.plans.values().filter(|plan| is_left_behind(plan)) {
            world.wrong(format!("plan {} of {session} is still carried out at the end", plan.number));
        }
    }
}

/// The call was allowed in a state that the caller may have known.
fn through_the_gate(world: &World, made: &Made<'_>, purpose: &Purpose) -> Result<(), String> {
    let effect = effect_of(made.tool).ok_or("there is no such tool")?;
    let policy = &world.conditions.policy;
    let runs = |snapshot: &Snapshot| match purpose {
        Purpose::Answer | Purpose::Document { .. } | Purpose::Run(_) => {
            let situation = GateContext::of(snapshot, policy, Caller::Conversation);
            decide_other_tool(&situation, made.tool, effect) == GateDecision::Run
        }
        Purpose::Question { .. } => effect == ToolEffect::ReadsOnly,
        Purpose::Step { plan, execution, step, .. } => {
            let plan = snapshot.plan(plan).filter(|plan| plan.status == PlanStatus::Executing);
            let approved = plan.filter(|plan| runs::is_approved(plan, step, policy).is_ok());
            let running = approved.and_then(|plan| plan.execution.as_ref()).filter(|running| running.id == *execution);
            running.and_then(|running| running.step(step)).is_some_and(|run| run.status == StepStatus::InProgress)
        }
    };
    if made.known.iter().any(runs) { Ok(()) } else { Err(format!("it is not allowed in a turn for {purpose:?}")) }
}

/// Whether an agent with this role is at work.
fn speaks(snapshot: &Snapshot, role: Role) -> bool {
    let open = snapshot.session.as_ref().and_then(|session| session.turn.as_ref());
    match role {
        Role::Summarizer => true,
        Role::Agent => {
            open.is_some_and(|open| !matches!(open.purpose, Purpose::Step { .. }) && open.question.is_none())
        }
        Role::Doing => open.is_some_and(|open| matches!(open.purpose, Purpose::Step { .. })),
        Role::Asked => open.is_some_and(|open| open.question.is_some()),
    }
}

/// No agent works on a step of a plan that is not carried out any more.
fn stands(snapshot: &Snapshot) -> Result<(), String> {
    let open = snapshot.session.as_ref().and_then(|session| session.turn.as_ref());
    let Some(Purpose::Step { plan, execution, .. }) = open.map(|open| &open.purpose) else { return Ok(()) };
    let plan = snapshot.plan(plan).ok_or("a step of a plan is done that is gone")?;
    let running = plan.execution.as_ref().filter(|running| running.id == *execution);
    if plan.status == PlanStatus::Executing && running.is_some() {
        return Ok(());
    }
    Err(format!("a step of plan {} is done, which is {}", plan.number, plan.status))
}

/// An execution apart from the conversation that neither continues nor waits for a person. A document is carried out in
/// turns of the conversation, and between them it waits.
fn is_left_behind(plan: &Plan) -> bool {
    let apart = match plan.content {
        PlanContent::Collect(_) | PlanContent::Build(_) => true,
        PlanContent::Document(_) => false,
    };
    let mut runs = plan.execution.iter().flat_map(|execution| &execution.steps);
    apart && plan.status == PlanStatus::Executing && !runs.any(|run| run.status == StepStatus::Uncertain)
}
