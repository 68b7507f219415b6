//! `/api/goals`, `/api/tasks`, `/api/runs` and `/api/schedules`. Those of another session are answered like ones that do not
//! exist.

mod goals;
mod runs;
mod schedules;

use planwright_core::auto::AutoState;
use planwright_core::ids::GoalId;
use planwright_core::session::SessionIdentity;
use serde_json::{Value, json};
use utoipa_axum::router::OpenApiRouter;

pub(super) use runs::run_target;

use crate::http::app::App;
use crate::http::problem::ApiResult;

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::default().merge(goals::router()).merge(runs::router()).merge(schedules::router())
}

pub(super) async fn state(app: &App, session: &SessionIdentity) -> ApiResult<AutoState> {
    Ok(app.engine().auto().state(session).await?)
}

/// The goal that a request names by its id or number.
pub(super) async fn goal_id(app: &App, session: &SessionIdentity, named: Option<String>) -> ApiResult<Option<GoalId>> {
    let Some(goal) = named else { return Ok(None) };
    Ok(Some(state(app, session).await?.find_goal(&goal)?.id.clone()))
}

const ID: &str = "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11";
const AT: &str = "2026-03-01T12:00:00Z";

fn list_example(item: Value) -> Value {
    json!({ "items": [item] })
}

fn goal_example() -> Value {
    let title = "No open warnings";
    json!({ "id": ID, "number": 1, "title": title, "status": "active", "note": null, "addedAt": AT, "changedAt": AT })
}

fn task_example() -> Value {
    json!({
        "id": ID, "number": 1, "goalId": ID, "title": "The first warning", "status": "open", "note": null, "addedAt": AT,
        "changedAt": AT,
    })
}

fn run_example() -> Value {
    json!({
        "id": ID, "number": 1, "runKind": "GOAL_RUN", "goalId": ID, "taskId": ID, "state": "running", "reason": null,
        "startedAt": AT, "activeAt": AT, "spent": { "turns": 2, "tokens": 4100, "seconds": 12.5, "money": 0.0 },
        "actions": [{ "name": "stop", "label": "Stop it", "command": "/auto off 1" }],
    })
}

fn schedule_example() -> Value {
    json!({
        "id": ID, "number": 1, "title": "Read the news", "taskId": ID, "goalId": null, "cron": "0 9 * * 1",
        "timeZone": "Europe/Berlin", "status": "active", "executions": 0, "maxExecutions": null, "nextAt": AT,
    })
}
