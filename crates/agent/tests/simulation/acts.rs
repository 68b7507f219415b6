//! What people and fate do, one act after another, chosen by chance and by how things stand.

mod typing;

use std::time::Duration;

use planwright_core::auto::AutoState;
use planwright_core::command::{Decision, StuckChoice};
use planwright_core::plan::PlanStatus;
use planwright_core::plan::execution::StepStatus;
use planwright_core::session::SessionIdentity;
use planwright_engine::clock::Clock as _;

use crate::random::Random;
use crate::store::{Kept, Store};
use crate::world::{FILES, World, session};

pub(crate) use typing::{COMMON, Leaves};

#[derive(Debug, Clone)]
pub(crate) enum Act {
    /// A person types something in a session, and may not wait for the answer for ever.
    Type {
        session: SessionIdentity,
        text: String,
        leaves: Option<Leaves>,
        gives_up_after: Option<Duration>,
    },
    /// A person decides about a step with an unknown result.
    Settle {
        session: SessionIdentity,
        decision: Decision,
    },
    /// Opening a session first continues the work that was left in it.
    GoOn {
        session: SessionIdentity,
    },
    /// A person ends what this process does in a session.
    StopHere {
        session: SessionIdentity,
    },
    /// A person deletes a session that `/new` began.
    Delete {
        session: SessionIdentity,
    },
    /// The schedules of a session are due.
    Fire {
        session: SessionIdentity,
    },
    Kill,
    FallAsleep(Duration),
    Jump {
        millis: i64,
    },
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Type,
    Settle,
    GoOn,
    StopHere,
    Delete,
    Fire,
    Kill,
    FallAsleep,
    Jump,
}

pub(crate) fn choose(world: &World, store: &Store, random: &mut Random) -> Act {
    let conditions = &world.conditions;
    let numbered = random.below(conditions.sessions);
    let session = session(if random.per_mille(150) { FILES } else { numbered });
    let state = store.lock();
    let kept = state.kept(&session).unwrap();
    let settling = settling(kept, random);
    let passing = state.sessions.keys().find(|session| is_passing(session)).cloned();
    let auto = kept.session.auto.as_deref();
    let due = auto.and_then(AutoState::due_at).is_some_and(|at| at <= world.clock.now());
    let often = |what: bool, weight| if what { weight } else { 0 };
    // Fate strikes best where something is under way.
    let carried_out = kept.plans.values().any(|plan| plan.status == PlanStatus::Executing);
    let busy = if carried_out || kept.session.turn.is_some() { 3 } else { 1 };
    let kinds = [
        (100, Kind::Type),
        (often(settling.is_some(), 40), Kind::Settle),
        (4, Kind::GoOn),
        (busy, Kind::StopHere),
        (often(passing.is_some(), 20), Kind::Delete),
        (often(due, 40), Kind::Fire),
        (often(conditions.deaths > 0, busy * (3 + conditions.deaths / 8)), Kind::Kill),
        (often(conditions.leases_get_lost, busy * 5), Kind::FallAsleep),
        (often(conditions.leases_get_lost, 3), Kind::Jump),
    ];
    match (random.weighed(&kinds), settling) {
        (Kind::Delete, _) => Act::Delete { session: passing.unwrap_or(session) },
        (Kind::Settle, Some(decision)) => Act::Settle { session, decision },
        (Kind::Type | Kind::Settle, _) => {
            let (text, leaves) = typing::line(world, kept, random);
            let gives_up_after = random.per_mille(60).then(|| random.millis(0, 10_000));
            Act::Type { session, text, leaves, gives_up_after }
        }
        (Kind::Fire, _) => Act::Fire { session },
        (Kind::GoOn, _) => Act::GoOn { session },
        (Kind::StopHere, _) => Act::StopHere { session },
        (Kind::Kill, _) => Act::Kill,
        (Kind::FallAsleep, _) => Act::FallAsleep(random.millis(500, 60_000)),
        (Kind::Jump, _) => {
            let far = i64::try_from(random.below(90_000)).unwrap();
            Act::Jump { millis: if random.coin() { far } else { -far } }
        }
    }
}

/// Whether a session was begun by `/new`; the others stay.
fn is_passing(session: &SessionIdentity) -> bool {
    !session.conversation.as_str().starts_with("session-")
}

/// What a person can say about the first step that is uncertain.
fn settling(kept: &Kept, random: &mut Random) -> Option<Decision> {
    let choice = random.pick(&[StuckChoice::Retry, StuckChoice::Skip, StuckChoice::Stop]);
    let plans = kept.numbered().into_iter().filter(|plan| plan.status == PlanStatus::Executing);
    let mut steps = plans.flat_map(|plan| {
        let runs = plan.execution.iter().flat_map(|execution| &execution.steps);
        runs.filter(|run| run.status == StepStatus::Uncertain).map(|run| (plan.id.clone(), run.step.clone()))
    });
    steps.next().map(|(plan, step)| Decision::Settle { plan, step, choice })
}
