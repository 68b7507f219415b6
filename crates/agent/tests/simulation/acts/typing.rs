//! What a person types. Everything is in one table: a new command is a new row.

use planwright_core::event::{AutoEvent, Event, MemoryEvent, PlanEvent, SessionEvent};
use planwright_core::ids::MemoryId;
use planwright_core::plan::{Plan, PlanStatus};
use planwright_core::session::Session;

use crate::conditions::Conditions;
use crate::random::Random;
use crate::store::Kept;
use crate::world::{FILES, World, mark, session};

/// What is in the journal once a line was answered and not refused.
pub(crate) type Leaves = fn(&Event) -> bool;

/// One thing that can be typed.
struct Row {
    /// How often, as things stand.
    weight: fn(&Look<'_>) -> u64,
    text: fn(&Look<'_>, &mut Random) -> String,
    leaves: Option<Leaves>,
}

/// How things stand in a session.
struct Look<'a> {
    session: &'a Session,
    conditions: &'a Conditions,
    plans: Vec<&'a Plan>,
    /// Words of this session that were never said before.
    phrase: String,
    /// A memory that has no words of the session.
    common: Option<&'a MemoryId>,
}

const TABLE: &[Row] = &[
    row(|_| 40, |look, _| look.phrase.clone()),
    row(
        |look| look.planless(15, 3),
        |_, random| random.pick(&["/plan on collect", "/plan on", "/plan on build"]).to_owned(),
    ),
    row(
        |look| if look.conditions.carries_out { look.planless(120, 0) } else { 0 },
        |look, _| format!("/plan on {}", look.conditions.style),
    ),
    row(|_| 3, |look, _| format!("/plan {}", look.phrase)),
    row(
        |look| look.if_some(PlanStatus::Ready, 70, 1),
        |look, _| format!("/plan approve{}", look.plan(PlanStatus::Ready)),
    )
    .leaves(|event| matches!(event, Event::Plan { event: PlanEvent::Approved { .. }, .. })),
    row(
        |look| look.if_some(PlanStatus::Ready, 6, 0),
        |look, random| {
            let which = random.pick(&["skip 1", "only 1", "skip 2"]);
            format!("/plan approve{} {which} -- {}", look.plan(PlanStatus::Ready), look.phrase)
        },
    )
    .leaves(|event| matches!(event, Event::Plan { event: PlanEvent::Approved { .. }, .. })),
    row(|look| look.if_some(PlanStatus::Ready, 5, 1), |look, random| format!("/plan show{}", look.any_plan(random))),
    row(
        |look| look.if_some(PlanStatus::Approved, 120, 0),
        |look, _| format!("/plan resume{}", look.plan(PlanStatus::Approved)),
    ),
    row(
        |look| look.if_some(PlanStatus::PartiallyCompleted, 12, 0),
        |look, _| format!("/plan resume{}", look.plan(PlanStatus::PartiallyCompleted)),
    ),
    row(
        |look| look.if_some(PlanStatus::Executing, 15, 1),
        |look, _| format!("/plan resume{}", look.plan(PlanStatus::Executing)),
    ),
    row(
        |look| if look.stuck().is_some() { 40 } else { 0 },
        |look, random| {
            let choice = random.pick(&["retry", "retry", "skip", "stop"]);
            format!("/plan resume {} {choice}", look.stuck().unwrap_or_default())
        },
    ),
    row(
        |_| 1,
        |look, random| format!("/plan resume{} {}", look.any_plan(random), random.pick(&["retry", "skip", "stop"])),
    ),
    row(
        |look| look.if_some(PlanStatus::Ready, 3, 0),
        |look, _| format!("/plan reject{} {}", look.plan(PlanStatus::Ready), look.phrase),
    )
    .leaves(|event| matches!(event, Event::Plan { event: PlanEvent::Rejected { .. }, .. })),
    row(|_| 4, |look, random| format!("/plan revise{} {}", look.any_plan(random), look.phrase)).leaves(revised),
    row(
        |look| look.if_some(PlanStatus::Executing, 5, 0),
        |look, _| format!("/plan revise{} {}", look.plan(PlanStatus::Executing), look.phrase),
    )
    .leaves(revised),
    row(|_| 3, |look, random| format!("/plan cancel{} -- {}", look.any_plan(random), look.phrase)).leaves(cancelled),
    row(
        |look| look.if_some(PlanStatus::Executing, 5, 0),
        |look, _| format!("/plan cancel{} -- {}", look.plan(PlanStatus::Executing), look.phrase),
    )
    .leaves(cancelled),
    row(|look| look.off(1, 3), |_, _| "/plan off".to_owned()),
    row(|look| look.off(1, 4), |_, _| "/plan done".to_owned()),
    row(|look| look.busy(4, 2), |_, _| "/reset".to_owned())
        .leaves(|event| matches!(event, Event::Session(SessionEvent::ConversationReset { .. }))),
    row(|_| 2, |_, _| "/new".to_owned()),
    row(|_| 2, |look, random| format!("/switch session-{}", random.below(look.conditions.sessions))),
    row(|_| 3, |_, _| "/compact".to_owned()),
    row(|look| look.busy(12, 1), |_, _| "/stop".to_owned()),
    row(
        |_| 5,
        |look, random| {
            let plan = look.any_plan(random);
            let looks =
                ["/plan status", "/status", "/plans", "/tools", "/sessions", "/help", "/plan diff", "/plan export"];
            let line = random.pick(&looks);
            if line.starts_with("/plan d") || line.starts_with("/plan e") {
                format!("{line}{plan}")
            } else {
                line.to_owned()
            }
        },
    ),
    row(|_| 1, |_, random| random.pick(&["/plan aprove", "/flan", "/switch nowhere", "/auto on", "  "]).to_owned()),
    row(|look| look.alone(10), |look, _| format!("/task add {}", look.phrase))
        .leaves(|event| matches!(event, Event::Auto(AutoEvent::TaskAdded { .. }))),
    row(|look| look.alone(6), |look, _| format!("/goal add {}", look.phrase))
        .leaves(|event| matches!(event, Event::Auto(AutoEvent::GoalAdded { .. }))),
    row(|look| look.alone(18), |look, _| format!("/task add #1 {}", look.phrase)),
    row(
        |look| look.alone(25),
        |_, random| random.pick(&["/auto on", "/auto on", "/auto on 1", "/auto on task 1"]).to_owned(),
    ),
    row(
        |look| look.alone(6),
        |_, random| random.pick(&["/auto off", "/auto status", "/auto resume", "/auto off 1"]).to_owned(),
    ),
    row(|look| look.alone(3), |look, _| format!("/schedule add * * * * * max=3 {}", look.phrase)),
    row(
        |look| look.alone(2),
        |_, random| random.pick(&["/schedule pause 1", "/schedule delete 1", "/goals", "/tasks"]).to_owned(),
    ),
    row(|look| look.alone(8), |look, _| format!("/memory save {}", look.phrase))
        .leaves(|event| matches!(event, Event::Memory(MemoryEvent::Saved { .. }))),
    row(|look| look.alone(4), |_, random| format!("/memory save {COMMON} {}", random.below(1_000))),
    row(
        |look| if look.common().is_some() { look.alone(30) } else { 0 },
        |look, random| {
            let verb = random.pick(&["promote", "promote", "forget"]);
            format!("/memory {verb} {}", look.common().unwrap_or_default())
        },
    ),
    row(
        |look| look.alone(6),
        |_, random| {
            random.pick(&["/memory", "/memory search says", "/memory undo", "/memory offers", "/diary"]).to_owned()
        },
    ),
];

/// Words that belong to no session, so that they may be promoted.
pub(crate) const COMMON: &str = "common knowledge";

const fn revised(event: &Event) -> bool {
    matches!(event, Event::Plan { event: PlanEvent::RevisionRequested { .. }, .. })
}

const fn cancelled(event: &Event) -> bool {
    matches!(event, Event::Plan { event: PlanEvent::Cancelled { .. }, .. })
}

const fn row(weight: fn(&Look<'_>) -> u64, text: fn(&Look<'_>, &mut Random) -> String) -> Row {
    Row { weight, text, leaves: None }
}

impl Row {
    const fn leaves(self, leaves: Leaves) -> Self {
        Self { leaves: Some(leaves), ..self }
    }
}

pub(super) fn line(world: &World, kept: &Kept, random: &mut Random) -> (String, Option<Leaves>) {
    let plans = kept.numbered();
    let phrase = format!("{} says {}.", mark(&kept.session.identity), world.number());
    let saved = kept.entries.iter().rev().filter_map(|entry| entry.event.memory_event()?.added());
    let common = saved.filter(|item| item.content.starts_with(COMMON)).map(|item| &item.id).next();
    let look = Look { session: &kept.session, conditions: &world.conditions, plans, phrase, common };
    let rows: Vec<_> = TABLE.iter().map(|row| ((row.weight)(&look), row)).collect();
    let row = random.weighed(&rows);
    let (text, leaves) = ((row.text)(&look, random), row.leaves);
    // In the session of the files no plans are made.
    if kept.session.identity == session(FILES) && text.starts_with("/plan") {
        return (look.phrase, None);
    }
    (text, leaves)
}

impl Look<'_> {
    fn alone(&self, weight: u64) -> u64 {
        if self.conditions.works_alone { weight } else { 0 }
    }

    /// Something that the session remembers and that may be promoted.
    fn common(&self) -> Option<String> {
        self.common.map(|memory| memory.as_str().to_owned())
    }

    fn off(&self, off: u64, on: u64) -> u64 {
        if self.session.plan_mode.enabled { on } else { off }
    }

    /// Whether there is no plan that the agent could work on.
    fn planless(&self, without: u64, with: u64) -> u64 {
        let newest = self.plans.last().filter(|_| self.session.plan_mode.enabled);
        if newest.is_none_or(|plan| plan.status.is_final()) { without } else { with }
    }

    fn busy(&self, busy: u64, idle: u64) -> u64 {
        let executing = self.plans.iter().any(|plan| plan.status == PlanStatus::Executing);
        if self.session.turn.is_some() || executing { busy } else { idle }
    }

    fn if_some(&self, wanted: PlanStatus, there: u64, otherwise: u64) -> u64 {
        if self.plans.iter().any(|plan| plan.status == wanted) { there } else { otherwise }
    }

    /// The newest plan in this status, as it is named behind a command.
    fn plan(&self, wanted: PlanStatus) -> String {
        let found = self.plans.iter().rev().find(|plan| plan.status == wanted);
        found.map_or_else(String::new, |plan| format!(" #{}", plan.number))
    }

    /// The newest plan that stopped at a step.
    fn stuck(&self) -> Option<u32> {
        let stopped = |plan: &&&Plan| matches!(plan.status, PlanStatus::Executing | PlanStatus::PartiallyCompleted);
        let stuck = |plan: &&&Plan| plan.execution.as_ref().is_some_and(|execution| execution.stuck_at().is_some());
        self.plans.iter().rev().filter(stopped).find(stuck).map(|plan| plan.number)
    }

    fn any_plan(&self, random: &mut Random) -> String {
        match self.plans.len() {
            0 => String::new(),
            _ if random.coin() => String::new(),
            _ => format!(" #{}", random.pick(&self.plans).number),
        }
    }
}
