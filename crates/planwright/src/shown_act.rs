//! What a person reads before they sign that work starts or that every session reads something. The signature has its digest, so
//! what is changed afterwards is refused.

use std::io::Write as _;

use planwright_core::actor::Actor;
use planwright_core::auto::{AutoState, Goal, Schedule, StartTarget, Task};
use planwright_core::ids::{GoalId, TaskId};
use planwright_core::memory::ScopeChain;
use planwright_core::presence::Act;
use planwright_core::prompt::memory_provenance;
use planwright_core::session::SessionIdentity;
use planwright_core::slash::{AutoSubcommand, MemorySubcommand, ScheduleSubcommand, SlashCommand};
use planwright_engine::Engine;

use crate::failure::Failure;
use crate::terminal::text::shown_line;

#[derive(Debug)]
pub(crate) struct ShownAct {
    text: String,
    digest: String,
}

impl ShownAct {
    /// `None` for a command that starts nothing of what is stored, and where the command's own answer says what is missing.
    pub(crate) async fn of(engine: &Engine, session: &SessionIdentity, command: &SlashCommand) -> Option<Self> {
        if let SlashCommand::Memory(MemorySubcommand::Promote { memory }) = command {
            let item = engine.memories().find(&ScopeChain::of_session(session), memory).await.ok()?;
            let text = format!("Every session is to read {}\n  {}", memory_provenance(&item), item.content);
            return Some(Self::new(&text, Act::promote(&item)));
        }
        let state = engine.auto().state(session).await.ok()?;
        match command {
            SlashCommand::Auto(AutoSubcommand::On { goal }) => {
                let target = state.start_target(goal.as_deref()).ok()?;
                let act = Act::start_run(&target, &state).ok()?;
                Some(Self::new(&format!("A run is to work on {}", target_text(&state, &target)), act))
            }
            SlashCommand::Auto(AutoSubcommand::Resume { run }) => {
                let found = run.as_deref().map_or_else(|| state.waiting_run(), |run| state.find_run(run)).ok()?;
                let (goal, task) = (found.context.goal_id(), Some(found.context.task_id()));
                let text = format!("Run {} is to continue with {}", found.number, words(&state, goal, task));
                Some(Self::new(&text, Act::resume_run(found, &state)))
            }
            SlashCommand::Schedule(ScheduleSubcommand::Resume { schedule }) => {
                let found = state.find_schedule(schedule).ok()?;
                Some(Self::new(&schedule_text(&state, found), Act::resume_schedule(found, &state)))
            }
            _ => None,
        }
    }

    fn new(text: &str, act: Act) -> Self {
        let lines: Vec<_> = text.lines().map(shown_line).collect();
        Self { text: lines.join("\n"), digest: act.digest }
    }

    /// Shows it where the passphrase is asked for.
    pub(crate) fn show(&self) -> Result<(), Failure> {
        writeln!(anstream::stderr().lock(), "{}", self.text)?;
        Ok(())
    }

    /// The person, whose key signs what was shown.
    pub(crate) fn signed_by(self, person: Actor) -> Actor {
        match person.presence.clone() {
            Some(presence) => person.recognised(presence.shown(self.digest)),
            None => person,
        }
    }
}

fn target_text(state: &AutoState, target: &StartTarget) -> String {
    let first_task = |goal: Option<&GoalId>| words(state, goal, state.free_task(goal).map(|task| &task.id));
    match target {
        StartTarget::Current => first_task(state.current_goal().map(|goal| &goal.id)),
        StartTarget::Goal(goal) => first_task(Some(goal)),
        StartTarget::Task(task) => words(state, state.task(task).and_then(|known| known.goal.as_ref()), Some(task)),
        StartTarget::NewGoal { title } => format!("a new goal: {title}"),
    }
}

fn schedule_text(state: &AutoState, schedule: &Schedule) -> String {
    let goal = state.task(&schedule.task).and_then(|task| task.goal.as_ref());
    let about = words(state, goal, Some(&schedule.task));
    let (number, line) = (schedule.number, &schedule.line);
    format!("Schedule {number} is to run again, `{}` in {}, with {about}", line.expression, line.zone)
}

fn words(state: &AutoState, goal: Option<&GoalId>, task: Option<&TaskId>) -> String {
    let with_note = |note: &Option<String>| note.as_ref().map(|note| format!(" ({note})")).unwrap_or_default();
    let goal_words =
        |goal: &Goal| format!("goal {}: {}{}", goal.number, goal.title.replace('\n', " "), with_note(&goal.note));
    let task_words =
        |task: &Task| format!("task {}: {}{}", task.number, task.title.replace('\n', " "), with_note(&task.note));
    let goal = goal.and_then(|goal| state.goal(goal)).map(goal_words);
    let task = task.and_then(|task| state.task(task)).map(task_words);
    let parts: Vec<_> = goal.into_iter().chain(task).collect();
    if parts.is_empty() { "the conversation of this session".to_owned() } else { parts.join("; ") }
}
