//! What holds over all interleavings of people, runs, stops, ticks and schedules in several sessions.

use planwright_core::auto::{AutoCommand, AutoState, GoalStatus, RunKind, RunState, StartTarget, TaskStatus};
use planwright_core::command::{Command, TurnCommand};
use planwright_core::memory::{MemoryCommand, MemoryKind, MemoryScope, MemorySource, NewMemory, ScopeChain};
use planwright_core::refusal::RefusalCode;
use planwright_core::turn::{Purpose, TurnEnd};
use proptest::prelude::*;

use super::{auto, reply, system};
use crate::world::{World, open};

#[derive(Debug, Clone)]
enum Act {
    Goal,
    Task { of_goal: bool },
    Start,
    StartTask(usize),
    Tick { run: usize, ends: bool },
    Save { kind: MemoryKind },
    EndTurn,
    Settle { task: usize, status: TaskStatus },
    PauseGoal(usize),
    Stop(Option<usize>),
    StopAll,
    Interrupt(usize),
    Resume(usize),
    Promote,
}

fn act() -> impl Strategy<Value = Act> {
    let kinds = prop::sample::select(MemoryKind::ALL.to_vec());
    let statuses = prop::sample::select(TaskStatus::ALL.to_vec());
    prop_oneof![
        1 => Just(Act::Goal),
        1 => any::<bool>().prop_map(|of_goal| Act::Task { of_goal }),
        1 => Just(Act::Start),
        1 => (0..6_usize).prop_map(Act::StartTask),
        4 => (0..6_usize, any::<bool>()).prop_map(|(run, ends)| Act::Tick { run, ends }),
        4 => kinds.prop_map(|kind| Act::Save { kind }),
        3 => Just(Act::EndTurn),
        1 => (0..6_usize, statuses).prop_map(|(task, status)| Act::Settle { task, status }),
        1 => (0..3_usize).prop_map(Act::PauseGoal),
        1 => prop::option::of(0..6_usize).prop_map(Act::Stop),
        1 => Just(Act::StopAll),
        1 => (0..6_usize).prop_map(Act::Interrupt),
        1 => (0..6_usize).prop_map(Act::Resume),
        1 => Just(Act::Promote),
    ]
}

fn nth<T: Clone>(items: &[T], n: usize) -> Option<T> {
    (!items.is_empty()).then(|| items[n % items.len()].clone())
}

impl World {
    fn act(&mut self, act: &Act) {
        let state = self.auto();
        let driver = || "here".to_owned();
        match act {
            Act::Goal => drop(self.person(super::add_goal("A goal"))),
            Act::Task { of_goal } => {
                let goal = state.goals.last().filter(|_| *of_goal).map(|goal| goal.id.clone());
                drop(self.person(super::add_task("A task", goal)));
            }
            Act::Start => drop(self.person(super::start(StartTarget::Current))),
            Act::StartTask(task) => {
                if let Some(task) = nth(&state.tasks, *task) {
                    drop(self.person(super::start(StartTarget::Task(task.id))));
                }
            }
            Act::Tick { run, ends } => {
                let Some(run) = nth(&state.runs, *run) else { return };
                let begun = self.begin_tick(&run.context);
                assert!(
                    run.is_running() || begun == Err(RefusalCode::WrongStatus) || begun == Err(RefusalCode::Conflict)
                );
                if let (Ok(turn), true) = (begun, *ends) {
                    self.end_turn(turn, vec![reply("Words.", 10)], TurnEnd::Answered).unwrap();
                }
            }
            Act::Save { kind } => {
                let open = self.snapshot.session.as_ref().unwrap().turn.clone();
                let run = open.as_ref().and_then(|open| open.purpose.run()).cloned();
                let source = open.map_or(MemorySource::Tool, |open| MemorySource::Turn { turn: open.id });
                let new = NewMemory { kind: *kind, source, run, ..NewMemory::by_person("Something") };
                self.agent(Command::Memory(MemoryCommand::Save(Box::new(new)))).unwrap();
            }
            Act::EndTurn => {
                if let Some(open) = self.snapshot.session.as_ref().unwrap().turn.clone() {
                    self.end_turn(open.id, vec![reply("Words.", 10)], TurnEnd::Answered).unwrap();
                }
            }
            Act::Settle { task, status } => {
                if let Some(task) = nth(&state.tasks, *task) {
                    let command = AutoCommand::ChangeTask { task: task.id, status: *status, note: None };
                    self.agent(auto(command)).unwrap();
                }
            }
            Act::PauseGoal(goal) => {
                if let Some(goal) = nth(&state.goals, *goal) {
                    let command = AutoCommand::ChangeGoal { goal: goal.id, status: GoalStatus::Paused, note: None };
                    self.person(auto(command)).unwrap();
                }
            }
            Act::Stop(run) => {
                let run = run.and_then(|run| nth(&state.runs, run)).map(|run| run.id().clone());
                drop(self.person(auto(AutoCommand::Stop { run })));
            }
            Act::StopAll => drop(self.person(Command::Turn(TurnCommand::Stop)).unwrap()),
            Act::Interrupt(run) => {
                if let Some(run) = nth(&state.runs, *run) {
                    self.send(system(), auto(AutoCommand::Interrupt { run: run.id().clone() })).unwrap();
                }
            }
            Act::Resume(run) => {
                if let Some(run) = nth(&state.runs, *run) {
                    drop(self.person(auto(AutoCommand::Resume { run: run.id().clone(), driver: driver() })));
                }
            }
            Act::Promote => {
                let memory = self.snapshot.memories.keys().next().cloned();
                if let Some(memory) = memory {
                    drop(self.person(Command::Memory(MemoryCommand::Promote { memory })));
                }
            }
        }
    }

    fn holds(&self) {
        let session = self.snapshot.session.as_ref().unwrap();
        let state: AutoState = self.auto();
        for run in &state.runs {
            // A run has a task, and a goal if and only if it is a run of a goal; both are this session's.
            let task = state.task(run.context.task_id()).expect("the task of a run");
            assert_eq!(run.context.session, self.snapshot.identity);
            assert_eq!(run.context.goal_id(), task.goal.as_ref());
            assert_eq!(run.context.run_kind() == RunKind::Goal, task.goal.is_some());
            if run.is_running()
                && session.turn.as_ref().and_then(|open| open.purpose.run()).map(|run| &run.run_id) != Some(run.id())
            {
                assert_eq!(task.status, TaskStatus::Open, "{run:?}");
            }
        }
        // A turn of a run is open only while the run runs.
        if let Some(Purpose::Run(context)) = session.turn.as_ref().map(|open| &open.purpose) {
            assert_eq!(state.run(&context.run_id).unwrap().state, RunState::Running);
        }
        // No two runs work on one task.
        let mut tasks: Vec<_> = state.open_runs().map(|run| run.context.task_id()).collect();
        let open = tasks.len();
        tasks.sort();
        tasks.dedup();
        assert_eq!(tasks.len(), open);
        self.memories_hold();
    }

    /// Every memory is where its run may write, and each chain reads exactly its own.
    fn memories_hold(&self) {
        let state = self.auto();
        let own = |scope: &MemoryScope| match scope {
            MemoryScope::Global => true,
            MemoryScope::Session(session) => *session == self.snapshot.identity,
            MemoryScope::Goal { session, goal } => *session == self.snapshot.identity && state.goal(goal).is_some(),
            MemoryScope::Task(task) => state.task(task).is_some(),
        };
        for record in self.snapshot.memories.values() {
            let item = &record.item;
            assert!(own(&item.scope), "{item:?}");
            let promoted = matches!(item.source, MemorySource::Promotion { .. });
            assert_eq!(item.scope == MemoryScope::Global, promoted, "only a promotion writes global");
        }
        for run in &state.runs {
            let scopes = ScopeChain::of_run(&run.context).scopes();
            for other in state.tasks.iter().filter(|task| task.id != *run.context.task_id()) {
                assert!(!scopes.contains(&MemoryScope::of_task(&other.id)), "a task reads another task");
            }
            for goal in state.goals.iter().filter(|goal| Some(&goal.id) != run.context.goal_id()) {
                assert!(!scopes.contains(&MemoryScope::of_goal(&self.snapshot.identity, &goal.id)));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn runs_and_memories_keep_their_bounds(acts in prop::collection::vec((0..2_usize, act()), 1..60)) {
        let mut worlds = ["cli:session-one", "cli:session-two"].map(|name| {
            let mut world = World::unopened(name);
            world.person(open()).unwrap();
            world
        });
        for (place, act) in &acts {
            let other = worlds[1 - place].snapshot.clone();
            worlds[*place].act(act);
            worlds[*place].holds();
            prop_assert_eq!(&worlds[1 - place].snapshot, &other);
        }
        // What is stored is what the journal says.
        for world in &worlds {
            let (replayed, _) = crate::journal::replay(&world.snapshot.identity, &world.journal).unwrap();
            prop_assert_eq!(replayed.session, world.snapshot.session.clone());
        }
    }
}
