//! Every interleaving of two processes, an agent and a person on a plan that is approved step by step: no more steps are
//! touched than the person released, whatever ends in the middle of what.

use std::hash::{Hash, Hasher};

use planwright_core::actor::Actor;
use planwright_core::command::{Command, Decision, EndedStep, ExecutionCommand, StuckChoice};
use planwright_core::event::{Event, PlanEvent};
use planwright_core::plan::PlanStyle;
use planwright_core::plan::execution::{Pause, PermissionCounts, StepStatus};
use planwright_core::workspace::CallChanges;
use stateright::{Checker, HasDiscoveries, Model, Property};

use super::step_by_step::approve_step_by_step;
use crate::world::*;

const STEPS: usize = 3;
/// How often the person says go on, at most.
const RELEASES: usize = 2;

/// Whether the plan pauses after each step. Without that the check finds a step that no person released.
#[derive(Debug, Clone, Copy)]
struct Pace {
    style: PlanStyle,
    step_by_step: bool,
}

#[derive(Clone)]
struct State {
    world: World,
    /// The approval releases the first step, and each go of the person one more.
    released: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Move {
    /// A process writes the outcome of one step, the intent of another one, or both at once.
    Advance {
        ended: Option<(usize, StepStatus)>,
        begun: Option<usize>,
    },
    /// An agent of another program reports.
    Report(usize, StepStatus),
    /// The person says go on, with or without the step that they looked at.
    GoOn(Option<usize>),
    Settle(usize, StuckChoice),
}

impl State {
    fn statuses(&self) -> Vec<StepStatus> {
        self.world
            .active()
            .execution
            .as_ref()
            .map_or_else(Vec::new, |execution| execution.steps.iter().map(|run| run.status).collect())
    }

    fn pause(&self) -> Option<Pause> {
        self.world.active().execution.as_ref().and_then(|execution| execution.pause)
    }

    /// The steps that something happened to.
    fn touched(&self) -> usize {
        let steps = &self.world.active().execution.as_ref().unwrap().steps;
        steps.iter().filter(|run| run.started_at.is_some() || run.status != StepStatus::Pending).count()
    }

    fn key(&self) -> (Vec<StepStatus>, Option<usize>, bool, bool, usize, usize) {
        let execution = self.world.active().execution.as_ref().unwrap();
        let look = execution.step_pause().map(|pause| pause.step);
        let resumed = matches!(self.pause(), Some(Pause::Resumed { .. }));
        (self.statuses(), look, resumed, execution.finished_at.is_some(), self.released, self.touched())
    }
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.key().fmt(f)
    }
}

impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Hash for State {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.key().hash(hasher);
    }
}

impl Model for Pace {
    type State = State;
    type Action = Move;

    fn init_states(&self) -> Vec<State> {
        let mut world = match self.style {
            PlanStyle::Document => World::ready_document("- [ ] one\n- [ ] two\n- [ ] three"),
            PlanStyle::Collect | PlanStyle::Build => {
                let mut world = World::planning(PlanStyle::Collect);
                (0..STEPS).for_each(|_| drop(world.agent(record_one()).unwrap()));
                world.agent(finalize()).unwrap();
                world
            }
        };
        if self.step_by_step {
            approve_step_by_step(&mut world);
        } else {
            world.approve(planwright_core::plan::approval::Selection::All).unwrap();
        }
        world.start().unwrap();
        vec![State { world, released: 1 }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Move>) {
        let ends = [StepStatus::Completed, StepStatus::Failed, StepStatus::Uncertain];
        for step in 1..=STEPS {
            match self.style {
                PlanStyle::Document => {
                    let all = [StepStatus::InProgress, StepStatus::Completed, StepStatus::Skipped];
                    actions.extend(all.map(|status| Move::Report(step, status)));
                }
                PlanStyle::Collect | PlanStyle::Build => {
                    actions.push(Move::Advance { ended: None, begun: Some(step) });
                    for status in ends {
                        actions.push(Move::Advance { ended: Some((step, status)), begun: None });
                        let others = (1..=STEPS).filter(|other| *other != step);
                        actions.extend(
                            others.map(|begun| Move::Advance { ended: Some((step, status)), begun: Some(begun) }),
                        );
                    }
                    if state.released <= RELEASES {
                        actions.push(Move::Settle(step, StuckChoice::Retry));
                        actions.push(Move::Settle(step, StuckChoice::Skip));
                    }
                }
            }
            if state.released <= RELEASES {
                actions.push(Move::GoOn(Some(step)));
            }
        }
        if state.released <= RELEASES {
            actions.push(Move::GoOn(None));
        }
    }

    fn next_state(&self, last: &State, action: Move) -> Option<State> {
        let mut state = last.clone();
        let plan = state.world.active().id.clone();
        let execution = state.world.execution();
        let id = |position: usize| state.world.active().content.steps()[position - 1].id.clone();
        let (by, command) = match action {
            Move::Advance { ended, begun } => {
                let ended = ended.map(|(position, status)| EndedStep {
                    step: id(position),
                    outcome: outcome(status),
                    changes: CallChanges::default(),
                    permissions: PermissionCounts::default(),
                });
                let (ended, begun) = (Vec::from_iter(ended), Vec::from_iter(begun.map(id)));
                (
                    Actor::system("executor"),
                    Command::Execution(ExecutionCommand::Advance { plan, execution, ended, begun }),
                )
            }
            Move::Report(position, status) => (Actor::agent("coder", "mcp"), report(Some(position), status)),
            Move::GoOn(after_step) => {
                (Actor::person("ada", "cli"), Command::Decide(Decision::Resume { plan, after_step }))
            }
            Move::Settle(position, choice) => {
                let settle = Decision::Settle { plan, step: id(position), choice };
                (Actor::person("ada", "cli"), Command::Decide(settle))
            }
        };
        let events = state.world.send(by, command).ok()?;
        // A person who decides about a step whose result is unknown asks for one step, too.
        let settles = matches!(action, Move::Settle(..));
        let released = |event: &&Event| match event {
            Event::Plan { event: PlanEvent::ExecutionResumed { .. }, .. } => true,
            Event::Plan { event: PlanEvent::StepEnded { .. }, .. } => settles,
            _ => false,
        };
        state.released += events.iter().filter(released).count();
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::<Self>::always(RELEASED, |_, state| state.touched() <= state.released),
            Property::<Self>::always("one step at a time is under way", |model, state| {
                let under_way = |status: &&StepStatus| **status == StepStatus::InProgress;
                !model.step_by_step || state.statuses().iter().filter(under_way).count() <= 1
            }),
            Property::<Self>::sometimes("every step is done", |_, state| {
                state.statuses().iter().all(|status| *status == StepStatus::Completed)
            }),
        ]
    }
}

const RELEASED: &str = "no more steps are touched than a person released";

#[test]
fn no_interleaving_touches_a_step_that_no_person_released() {
    for style in [PlanStyle::Document, PlanStyle::Collect] {
        let checker = Pace { style, step_by_step: true }.checker().threads(2).spawn_bfs().join();
        checker.assert_properties();
    }
}

#[test]
fn without_the_pauses_one_does() {
    let wanted = HasDiscoveries::AllOf([RELEASED].into());
    let fast = Pace { style: PlanStyle::Collect, step_by_step: false };
    fast.checker().finish_when(wanted).spawn_bfs().join().assert_any_discovery(RELEASED);
}
