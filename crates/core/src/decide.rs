//! Decides what a command leads to: events, or a refusal that changes nothing.

mod decision;
mod drafting;
mod importing;
mod running;
mod session;
mod turn;

use crate::command::Command;
use crate::desk::{Desk, Stamp};
use crate::event::{Creation, Event, Succession};
use crate::ids::PlanId;
use crate::plan::{Plan, PlanContent, PlanStyle};
use crate::policy::Policy;
use crate::refusal::Refusal;

pub fn decide(desk: &Desk, command: &Command, stamp: &Stamp, policy: &Policy) -> Result<Vec<Event>, Refusal> {
    let case = Case { desk, stamp, policy };
    match command {
        Command::Session(command) => case.session(command),
        Command::Draft(command) => case.draft(command),
        Command::Decide(decision) => case.decision(decision),
        Command::Run(command) => case.run(command),
        Command::Turn(command) => case.turn(command),
        Command::Import(imported) => case.import(imported),
    }
}

/// Everything a decision may look at.
#[derive(Clone, Copy)]
struct Case<'a> {
    desk: &'a Desk,
    stamp: &'a Stamp,
    policy: &'a Policy,
}

impl Case<'_> {
    /// The id of whatever this command creates.
    fn new_plan_id(&self) -> PlanId {
        PlanId::from(&self.stamp.request)
    }

    fn create(&self, style: PlanStyle) -> Result<Event, Refusal> {
        self.creation(style, None)
    }

    /// A plan that takes the place of `plan`, beginning with `content`.
    fn succeed(&self, plan: &Plan, content: PlanContent) -> Result<Event, Refusal> {
        let succession =
            Succession { of: plan.id.clone(), title: plan.title.clone(), content, steps_made: plan.steps_made };
        self.creation(plan.style(), Some(succession))
    }

    fn creation(&self, style: PlanStyle, succeeds: Option<Succession>) -> Result<Event, Refusal> {
        let number = self.desk.opened()?.plans_made + 1;
        Ok(Event::PlanCreated(Box::new(Creation { plan: self.new_plan_id(), number, style, succeeds })))
    }
}
