//! Turns of a session never overlap but for a question in the turn that asks it, only who has a turn writes in it, and
//! what was called once is not called again.

use std::collections::BTreeMap;

use planwright_core::event::{Event, PlanEvent, SessionEvent, TurnEvent};
use planwright_core::gate::ToolEffect;
use planwright_core::ids::TurnId;
use planwright_core::plan::PlanStatus;
use planwright_core::plan::execution::StepStatus;
use planwright_core::snapshot::Snapshot;
use planwright_core::turn::{Purpose, ToolStatus};
use serde_json::Value;

use super::{Kept, Made, Written};
use crate::tools::{effect_of, number_in};

#[derive(Default)]
pub(super) struct Turns {
    /// The turn that is under way, and behind it the question that it waits for.
    open: Vec<TurnId>,
    begun: BTreeMap<TurnId, Begun>,
    /// By the number that each call carries.
    calls: BTreeMap<u64, Call>,
}

struct Begun {
    purpose: Purpose,
    /// Who began it and who took it up again, in this order. The process that has a turn has its questions.
    owners: Vec<String>,
    /// Its calls, in the order they were made.
    order: Vec<Option<u64>>,
}

struct Call {
    turn: TurnId,
    tool: String,
    made_by: Vec<String>,
    outcome: Option<ToolStatus>,
}

impl Turns {
    pub(super) fn apply(&mut self, written: &Written<'_>) -> Kept {
        let owner = written.owner.to_owned();
        match &written.entry.event {
            Event::Turn { id: turn, event: TurnEvent::Begun { purpose, .. } } => {
                let fits = match (purpose, self.open.as_slice()) {
                    (Purpose::Question { asked_by, .. }, [asking]) => asked_by == asking,
                    (Purpose::Question { .. }, _) => false,
                    (Purpose::Answer | Purpose::Document { .. } | Purpose::Step { .. } | Purpose::Run(_), open) => {
                        open.is_empty()
                    }
                };
                self.open.push(turn.clone());
                let begun = Begun { purpose: purpose.clone(), owners: vec![owner], order: Vec::new() };
                self.begun.insert(turn.clone(), begun);
                if !fits {
                    return Err(format!("it overlaps: {:?}", self.open));
                }
                has_work(written.before, purpose)
            }
            Event::Turn { id: turn, event: TurnEvent::Resumed } => {
                self.is_open(turn)?;
                self.begun_as(turn)?.owners.push(owner);
                Ok(())
            }
            Event::Turn { id: turn, event: TurnEvent::ModelReplied { reply, .. } } => {
                self.belongs_to(turn, &owner)?;
                for call in &reply.calls {
                    let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
                    let number = number_in(&arguments);
                    self.begun_as(turn)?.order.push(number);
                    if let Some(number) = number {
                        let tool = call.name.clone();
                        let call = Call { turn: turn.clone(), tool, made_by: Vec::new(), outcome: None };
                        self.calls.insert(number, call);
                    }
                }
                Ok(())
            }
            Event::Turn { id: turn, event: TurnEvent::ToolEnded { call, outcome, .. } } => {
                self.belongs_to(turn, &owner)?;
                let number = self.begun_as(turn)?.order.get(*call as usize - 1).copied().flatten();
                if let Some(call) = number.and_then(|number| self.calls.get_mut(&number)) {
                    call.outcome = Some(outcome.status);
                }
                Ok(())
            }
            Event::Turn { id: turn, event: TurnEvent::Ended { .. } } => {
                if written.is_by_a_person() {
                    self.is_open(turn)?;
                } else {
                    self.belongs_to(turn, &owner)?;
                }
                match self.open.pop() {
                    Some(last) if last == *turn => Ok(()),
                    last => Err(format!("the last one that was open is {last:?}")),
                }
            }
            Event::Session(SessionEvent::ConversationReset { .. }) if !self.open.is_empty() => {
                Err(format!("{:?} is still open", std::mem::take(&mut self.open)))
            }
            Event::Plan { id: plan, event: PlanEvent::StepEnded { step, outcome, .. } } => {
                let own = |purpose: &Purpose| matches!(purpose, Purpose::Step { plan: p, step: s, .. } if p == plan && s == step);
                let turn =
                    self.open.first().filter(|turn| self.begun.get(*turn).is_some_and(|begun| own(&begun.purpose)));
                let doubtful = turn.and_then(|turn| self.doubtful(turn));
                match (outcome.status, doubtful) {
                    (StepStatus::Uncertain, _) | (_, None) => Ok(()),
                    (status, Some(number)) => Err(format!(
                        "it is {}, and it is unknown whether call {number} was carried out",
                        status.as_str()
                    )),
                }
            }
            _ => Ok(()),
        }
    }

    /// A call of the turn that changes things, was made, and whose result is unknown.
    fn doubtful(&self, turn: &TurnId) -> Option<u64> {
        let in_doubt = |call: &Call| {
            let changes = effect_of(&call.tool) == Some(ToolEffect::Changes);
            let known = call.outcome.is_some_and(|outcome| outcome != ToolStatus::Uncertain);
            call.turn == *turn && changes && !call.made_by.is_empty() && !known
        };
        self.calls.iter().find(|(_, call)| in_doubt(call)).map(|(number, _)| *number)
    }

    fn begun_as(&mut self, turn: &TurnId) -> Result<&mut Begun, String> {
        self.begun.get_mut(turn).ok_or_else(|| format!("turn {turn} never began"))
    }

    fn is_open(&self, turn: &TurnId) -> Kept {
        if self.open.contains(turn) { Ok(()) } else { Err(format!("turn {turn} is not open")) }
    }

    fn owners(&self, turn: &TurnId) -> &[String] {
        let Some(begun) = self.begun.get(turn) else { return &[] };
        match &begun.purpose {
            Purpose::Question { asked_by, .. } => self.owners(asked_by),
            Purpose::Answer | Purpose::Document { .. } | Purpose::Step { .. } | Purpose::Run(_) => &begun.owners,
        }
    }

    /// Only who began the turn, or took it up last, writes in it.
    fn belongs_to(&self, turn: &TurnId, owner: &str) -> Kept {
        self.is_open(turn)?;
        match self.owners(turn).last() {
            Some(last) if last == owner => Ok(()),
            last => Err(format!("the turn belongs to {last:?}")),
        }
    }

    pub(super) fn was_made(&self, number: u64) -> bool {
        self.calls.get(&number).is_some_and(|call| !call.made_by.is_empty())
    }

    /// What the turn is for in which it was made.
    pub(super) fn made(&mut self, made: &Made<'_>) -> Result<Purpose, String> {
        let call = self.calls.get(&made.number).ok_or("no reply asked for it")?;
        let is_open = |snapshot: &Snapshot| {
            let open = snapshot.session.as_ref().and_then(|session| session.turn.as_ref());
            open.is_some_and(|open| open.named(&call.turn).is_some())
        };
        if !made.known.iter().any(is_open) {
            return Err("its turn was over, and the caller could have seen that".to_owned());
        }
        let owners = self.owners(&call.turn);
        let count = |among: &[String]| among.iter().filter(|other| *other == made.owner).count();
        let (may, did) = (count(owners), count(&call.made_by));
        if did >= may {
            return Err(format!("it did so {did} times before, and had the turn {may} times"));
        }
        if effect_of(made.tool) == Some(ToolEffect::Changes) && !call.made_by.is_empty() {
            return Err(format!("it changes things, and was called before by {:?}", call.made_by));
        }
        let is_current = owners.last().is_some_and(|last| last == made.owner);
        if call.outcome.is_some() && is_current {
            return Err("its outcome was recorded before".to_owned());
        }
        let purpose = self.begun.get(&call.turn).map(|begun| begun.purpose.clone());
        if let Some(call) = self.calls.get_mut(&made.number) {
            call.made_by.push(made.owner.to_owned());
        }
        purpose.ok_or_else(|| "its turn never began".to_owned())
    }
}

/// A turn that works on a plan begins while the plan is carried out.
fn has_work(snapshot: &Snapshot, purpose: &Purpose) -> Kept {
    let Some(plan) = purpose.plan().and_then(|plan| snapshot.plan(plan)) else { return Ok(()) };
    if plan.status != PlanStatus::Executing {
        return Err(format!("plan {} is not carried out but {}", plan.number, plan.status));
    }
    let Purpose::Step { step, execution, .. } = purpose else { return Ok(()) };
    let running = plan.execution.as_ref().filter(|running| running.id == *execution);
    match running.and_then(|running| running.step(step)) {
        Some(run) if run.status == StepStatus::InProgress => Ok(()),
        run => Err(format!("its step is {:?}", run.map(|run| run.status))),
    }
}
