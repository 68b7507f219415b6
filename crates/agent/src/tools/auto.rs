//! The tools for goals, tasks and the diary that a model sees, through the gate. No tool starts a run or makes a schedule.

use planwright_core::auto::{AutoCommand, AutoExecutionContext, AutoState, Goal, GoalStatus, Task, TaskStatus};
use planwright_core::gate::{AutoTool, Caller, GateContext, advertised_auto_tools, authorize_auto_tool};
use planwright_core::refusal::Refusal;
use planwright_core::visible::visible;
use planwright_engine::auto::state_of;
use planwright_engine::engine::Engine;
use planwright_engine::ledger::{Committed, LedgerResult};
use planwright_engine::submitter::SubmitRequest;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::tool_schema::{Arguments, ToolDefinition, parse, schema_of};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AddGoal {
    title: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct List {
    /// Also those that are over.
    #[serde(default)]
    all: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct UpdateGoal {
    /// Its number.
    goal: u32,
    status: GoalStatusArgument,
    #[serde(default)]
    note: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AddTask {
    title: String,
    /// The number of its goal.
    #[serde(default)]
    goal: Option<u32>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct UpdateTask {
    /// Its number; the task of the run if absent.
    #[serde(default)]
    task: Option<u32>,
    status: TaskStatusArgument,
    #[serde(default)]
    note: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WriteDiary {
    text: String,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum GoalStatusArgument {
    Active,
    Paused,
    Done,
    Cancelled,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum TaskStatusArgument {
    Open,
    Done,
    Failed,
    Skipped,
}

impl From<GoalStatusArgument> for GoalStatus {
    fn from(status: GoalStatusArgument) -> Self {
        match status {
            GoalStatusArgument::Active => Self::Active,
            GoalStatusArgument::Paused => Self::Paused,
            GoalStatusArgument::Done => Self::Done,
            GoalStatusArgument::Cancelled => Self::Cancelled,
        }
    }
}

impl From<TaskStatusArgument> for TaskStatus {
    fn from(status: TaskStatusArgument) -> Self {
        match status {
            TaskStatusArgument::Open => Self::Open,
            TaskStatusArgument::Done => Self::Done,
            TaskStatusArgument::Failed => Self::Failed,
            TaskStatusArgument::Skipped => Self::Skipped,
        }
    }
}

/// The tools that pass the gate in this situation.
pub(super) fn tools(situation: &GateContext) -> impl Iterator<Item = ToolDefinition> {
    let define = |tool: AutoTool| {
        let (description, input_schema) = match tool {
            AutoTool::GoalAdd => ("Adds a goal of this session.", schema_of::<AddGoal>()),
            AutoTool::GoalList => ("The goals of this session.", schema_of::<List>()),
            AutoTool::GoalUpdate => ("Changes the status of a goal.", schema_of::<UpdateGoal>()),
            AutoTool::TaskAdd => ("Adds a task, to a goal or on its own.", schema_of::<AddTask>()),
            AutoTool::TaskList => ("The tasks of this session.", schema_of::<List>()),
            AutoTool::TaskUpdate => ("Says how a task ended.", schema_of::<UpdateTask>()),
            AutoTool::DiaryWrite => ("Writes what was done into the diary.", schema_of::<WriteDiary>()),
        };
        let reads_only = tool.reads_only();
        ToolDefinition { name: tool.name(), description: description.to_owned(), input_schema, reads_only }
    };
    advertised_auto_tools(situation).map(define)
}

/// The answer, and what was committed if something was.
pub(crate) async fn call(
    engine: &Engine,
    request: SubmitRequest<'_>,
    caller: Caller,
    run: Option<&AutoExecutionContext>,
    tool: AutoTool,
    arguments: Arguments,
) -> LedgerResult<(Value, Option<Committed>)> {
    let snapshot = engine.ledger().snapshot(request.session, None).await?;
    authorize_auto_tool(&GateContext::of(&snapshot, engine.policy(), caller), tool)?;
    let state = snapshot.session.and_then(|session| session.auto.clone()).map(|state| *state).unwrap_or_default();
    let command = match tool {
        AutoTool::GoalList => {
            let all = parse::<List>(tool.name(), arguments)?.all;
            let goals = state.goals_of(run).filter(|goal| all || !goal.status.is_final());
            return Ok((json!({ "goals": goals.map(goal_value).collect::<Vec<_>>() }), None));
        }
        AutoTool::TaskList => {
            let all = parse::<List>(tool.name(), arguments)?.all;
            let tasks = state.tasks_of(run).filter(|task| all || task.status == TaskStatus::Open);
            return Ok((json!({ "tasks": tasks.map(|task| task_value(&state, task)).collect::<Vec<_>>() }), None));
        }
        AutoTool::GoalAdd => AutoCommand::AddGoal { title: parse::<AddGoal>(tool.name(), arguments)?.title },
        AutoTool::GoalUpdate => {
            let given: UpdateGoal = parse(tool.name(), arguments)?;
            let goal = state.find_goal(&given.goal.to_string())?.id.clone();
            AutoCommand::ChangeGoal { goal, status: given.status.into(), note: given.note }
        }
        AutoTool::TaskAdd => {
            let given: AddTask = parse(tool.name(), arguments)?;
            let named = given.goal.map(|goal| state.find_goal(&goal.to_string())).transpose()?;
            // A run of a goal adds tasks to its goal.
            let goal = named.map(|goal| goal.id.clone()).or_else(|| run.and_then(|run| run.goal_id().cloned()));
            AutoCommand::AddTask { title: given.title, goal }
        }
        AutoTool::TaskUpdate => {
            let given: UpdateTask = parse(tool.name(), arguments)?;
            let task = match (given.task, run) {
                (Some(number), _) => state.find_task(&number.to_string())?.id.clone(),
                (None, Some(run)) => run.task_id().clone(),
                (None, None) => return Err(Refusal::invalid("Say which task, by its number.").into()),
            };
            AutoCommand::ChangeTask { task, status: given.status.into(), note: given.note }
        }
        AutoTool::DiaryWrite => {
            let text = parse::<WriteDiary>(tool.name(), arguments)?.text;
            AutoCommand::WriteDiary { text, run: run.cloned() }
        }
    };
    let committed = engine.auto().submit_as(request, command.clone()).await?;
    let state = state_of(&committed);
    let answer = match &command {
        AutoCommand::AddGoal { .. } => state.goals.last().map(goal_value),
        AutoCommand::ChangeGoal { goal, .. } => state.goal(goal).map(goal_value),
        AutoCommand::AddTask { .. } => state.tasks.last().map(|task| task_value(&state, task)),
        AutoCommand::ChangeTask { task, .. } => state.task(task).map(|task| task_value(&state, task)),
        AutoCommand::WriteDiary { .. }
        | AutoCommand::AddSchedule(_)
        | AutoCommand::ChangeSchedule { .. }
        | AutoCommand::Fire { .. }
        | AutoCommand::Start { .. }
        | AutoCommand::Resume { .. }
        | AutoCommand::Stop { .. }
        | AutoCommand::Interrupt { .. } => None,
    };
    Ok((answer.unwrap_or_else(|| json!({ "written": true })), Some(committed)))
}

fn goal_value(goal: &Goal) -> Value {
    json!({ "goal": goal.number, "title": visible(&goal.title), "status": goal.status, "note": goal.note })
}

fn task_value(state: &AutoState, task: &Task) -> Value {
    let goal = task.goal.as_ref().and_then(|goal| state.goal(goal)).map(|goal| goal.number);
    json!({ "task": task.number, "goal": goal, "title": visible(&task.title), "status": task.status, "note": task.note })
}
