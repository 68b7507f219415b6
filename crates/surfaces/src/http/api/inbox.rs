//! `/api/inbox`: decisions that wait for a person, over all sessions.

use axum::Json;
use axum::extract::State;
use planwright_core::ask::AskSubject;
use planwright_core::plan::risk::requirement_of_call;
use planwright_engine::inbox::WaitingFor;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::pagination::{self, DamagedView};
use crate::http::app::App;
use crate::http::extract::Query;
use crate::http::problem::ApiResult;
use crate::wire::WaitingView;

const PAGE: u32 = 64;

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::default().routes(routes!(list))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct InboxQuery {
    /// The `next` of the page before.
    #[param(nullable = false, minimum = 0, maximum = 9007199254740991_i64)]
    after: Option<u64>,
    #[param(nullable = false, minimum = 1, maximum = 64)]
    limit: Option<u32>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Inbox)]
struct InboxPage {
    items: Vec<WaitingView>,
    /// Where the next page begins, if there is one.
    #[schema(required = true)]
    next: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    damaged: Vec<DamagedView>,
}

/// List the decisions that wait for a person
///
/// First what agents ask: permission for a call, and questions; then runs that are paused or interrupted; then tools of MCP servers that no person has accepted.
/// `limit` does not count these. Then plans to approve, steps to look at, steps with an unknown result, and paused
/// executions; the one that changed last comes first.
#[utoipa::path(get, path = "/api/inbox", tag = "inbox", params(InboxQuery),
    responses((status = 200, description = "A page of decisions", body = InboxPage, example = json!(example()))))]
async fn list(State(app): State<App>, Query(query): Query<InboxQuery>) -> ApiResult<Json<InboxPage>> {
    let (after, limit) = (pagination::position("after", query.after)?, pagination::limit(query.limit, PAGE)?);
    let page = app.engine().inbox().list(after, limit).await?;
    // What the agent asks holds up its work, so it is on the first page, whole.
    let (asks, mut damaged) = match after {
        None => app.engine().inbox().asks().await?,
        Some(_) => Default::default(),
    };
    damaged.extend(page.damaged);
    let (runs, damaged_runs) = match after {
        None => app.engine().inbox().runs().await?,
        Some(_) => Default::default(),
    };
    damaged.extend(damaged_runs);
    let servers = match app.agent().upstream().filter(|_| after.is_none()) {
        Some(upstream) => {
            upstream.refresh().await?;
            upstream.statuses().await?
        }
        None => Vec::new(),
    };
    let tool_changes = servers.iter().filter_map(WaitingView::of_server);
    let acceptance = Some(app.engine().approvals().acceptance_requirement().await?.as_str());
    let mut items = Vec::new();
    for waiting in &asks {
        let require = match &waiting.ask.subject {
            AskSubject::Permission(call) => {
                let policy = app.engine().approvals().policy_in(&waiting.session).await?;
                Some(requirement_of_call(&policy.approval, waiting.session.channel, &call.tool).as_str())
            }
            AskSubject::Questions { .. } => None,
        };
        items.push(WaitingView { require, ..WaitingView::from(waiting) });
    }
    for waiting in &runs {
        let policy = app.engine().approvals().policy_in(&waiting.session).await?;
        let require = Some(policy.approval.requirement_of_work(waiting.session.channel).as_str());
        items.push(WaitingView { require, ..WaitingView::from(waiting) });
    }
    items.extend(tool_changes.map(|view| WaitingView { require: acceptance, ..view }));
    // To continue asks for what the approval asks for.
    for waiting in &page.items {
        let require = match waiting.wants {
            WaitingFor::RefusedCalls { .. } => None,
            WaitingFor::Approval
            | WaitingFor::UncertainStep { .. }
            | WaitingFor::StepEnded { .. }
            | WaitingFor::StepFailed { .. }
            | WaitingFor::Paused
            | WaitingFor::CannotRun { .. } => {
                let policy = app.engine().approvals().policy_in(&waiting.plan.session).await?;
                Some(waiting.plan.requirement(&policy.approval).as_str())
            }
        };
        items.push(WaitingView { require, ..WaitingView::from(waiting) });
    }
    Ok(Json(InboxPage { items, next: page.next, damaged: pagination::damaged(&damaged) }))
}

fn example() -> serde_json::Value {
    serde_json::json!({
        "items": [{
            "id": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
            "kind": "plan",
            "sessionId": "k3yk3y8x",
            "channel": "web",
            "planId": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
            "number": 1,
            "title": "Move the blog to a new host",
            "status": "READY",
            "digest": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "since": "2026-03-01T12:04:00Z",
            "situation": "It waits for your decision.",
            "choices": ["approve", "revise", "reject"],
            "actions": [
                { "name": "approve", "label": "Approve", "command": "/plan approve 1" },
                { "name": "revise", "label": "Request changes", "command": "/plan revise #1 WHAT TO CHANGE" },
                { "name": "reject", "label": "Reject", "command": "/plan reject 1" },
            ],
            "active": true,
        }],
        "next": null,
    })
}
