//! The context of a run: what belongs together, and how it is written.

use std::collections::BTreeMap;

use planwright_core::auto::{AutoExecutionContext, ContextAttribute, RunConversation, RunKind, RunTarget};
use planwright_core::ids::{GoalId, RunId, TaskId};
use serde_json::{Value, json};

use crate::world::SESSION;

fn goal_run() -> AutoExecutionContext {
    let target = RunTarget::Goal { goal: GoalId::new("goal-1").unwrap(), task: TaskId::new("task-1").unwrap() };
    AutoExecutionContext::new(SESSION.parse().unwrap(), RunId::new("run-1").unwrap(), target)
}

fn task_run() -> AutoExecutionContext {
    let target = RunTarget::Task { task: TaskId::new("task-2").unwrap() };
    AutoExecutionContext::new(SESSION.parse().unwrap(), RunId::new("run-2").unwrap(), target)
}

#[test]
fn a_run_is_written_flat_and_read_again() {
    for (context, written) in [
        (
            goal_run(),
            json!({ "session": SESSION, "run_kind": "GOAL_RUN", "run_id": "run-1", "goal_id": "goal-1", "task_id": "task-1" }),
        ),
        (task_run(), json!({ "session": SESSION, "run_kind": "TASK_RUN", "run_id": "run-2", "task_id": "task-2" })),
    ] {
        // Runs of earlier versions stay in the conversation of their session.
        let older = serde_json::from_value::<AutoExecutionContext>(written.clone()).unwrap();
        assert!(!older.has_own_conversation());
        assert_eq!(serde_json::to_value(&older).unwrap(), written);
        assert_eq!(AutoExecutionContext { conversation: RunConversation::Own, ..older }, context);
        let mut own = written;
        own["own_conversation"] = json!(true);
        assert_eq!(serde_json::to_value(&context).unwrap(), own);
        assert_eq!(serde_json::from_value::<AutoExecutionContext>(own).unwrap(), context);
    }
    assert_eq!((goal_run().run_kind(), task_run().run_kind()), (RunKind::Goal, RunKind::Task));
    assert_eq!((goal_run().goal_id().map(GoalId::as_str), task_run().goal_id()), (Some("goal-1"), None));
}

#[test]
fn a_wrong_combination_is_refused() {
    let whole = |kind: &str, goal: Option<&str>, task: Option<&str>| {
        let mut fields = json!({ "session": SESSION, "run_kind": kind, "run_id": "run-1" });
        for (name, value) in [("goal_id", goal), ("task_id", task)] {
            if let Some(value) = value {
                fields[name] = Value::from(value);
            }
        }
        fields
    };
    for (fields, reason) in [
        (whole("GOAL_RUN", None, Some("t")), "A GOAL_RUN has a goal"),
        (whole("TASK_RUN", Some("g"), Some("t")), "A TASK_RUN has no goal"),
        (whole("GOAL_RUN", Some("g"), None), "missing field `task_id`"),
        (whole("goal_run", Some("g"), Some("t")), "unknown variant"),
        (whole("GOAL_RUN", Some("no id!"), Some("t")), "is not an id"),
    ] {
        let error = serde_json::from_value::<AutoExecutionContext>(fields.clone()).unwrap_err().to_string();
        assert!(error.contains(reason), "{fields}: {error}");
    }
}

#[test]
fn attributes_mirror_the_fields() {
    for context in [goal_run(), task_run()] {
        let attributes = context.attributes();
        assert_eq!(AutoExecutionContext::from_attributes(&attributes).unwrap(), context);
        assert_eq!(attributes.contains_key(&ContextAttribute::AutoGoalId), context.run_kind() == RunKind::Goal);
    }
    let names = ContextAttribute::ALL.map(ContextAttribute::as_str);
    assert_eq!(
        names,
        [
            "AUTO_RUN_KIND",
            "AUTO_RUN_ID",
            "AUTO_GOAL_ID",
            "AUTO_TASK_ID",
            "SESSION_IDENTITY_CHANNEL",
            "SESSION_IDENTITY_CONVERSATION"
        ]
    );
    let mut without_task = goal_run().attributes();
    without_task.remove(&ContextAttribute::AutoTaskId);
    let refusal = AutoExecutionContext::from_attributes(&without_task).unwrap_err();
    assert_eq!(refusal.message, "The context of a run has no AUTO_TASK_ID.");
    assert!(AutoExecutionContext::from_attributes(&BTreeMap::new()).is_err());
}
