//! `/api/server`: what this server is and offers. `/api/commands`: the slash commands that it carries out.

use axum::Json;
use axum::extract::State;
use jiff::Timestamp;
use planwright_core::slash::{self, CommandSpec};
use planwright_engine::model::REHEARSAL;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::build_info;
use crate::http::app::App;
use crate::http::page::dashboard;
use crate::http::problem::ApiResult;

/// What a client may rely on beyond the calls of the first version.
const FEATURES: [&str; 4] = ["commands", "reviews", "titles", "watch"];

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::default().routes(routes!(show)).routes(routes!(commands))
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Server)]
struct ServerView {
    version: &'static str,
    /// What the program was built from. A development build does not say it.
    #[schema(required = true)]
    commit: Option<&'static str>,
    /// The day of the commit.
    #[schema(required = true)]
    commit_date: Option<&'static str>,
    started_at: Timestamp,
    model: ModelView,
    store: StoreView,
    /// The address that links to this server begin with, if it is configured.
    #[schema(required = true)]
    public_url: Option<String>,
    /// Whether the program contains the dashboard.
    dashboard: bool,
    /// What a client may rely on beyond the calls of the first version.
    #[schema(value_type = Vec<String>)]
    features: &'static [&'static str],
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ServerModel)]
struct ModelView {
    #[schema(required = true)]
    provider: Option<String>,
    name: String,
    /// Whether the built-in model answers, which only rehearses.
    is_rehearsal: bool,
    context_tokens: u32,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ServerStore)]
struct StoreView {
    /// With its version.
    kind: String,
    schema: u32,
}

/// Show what the server is
#[utoipa::path(get, path = "/api/server", tag = "server",
    responses((status = 200, description = "The server", body = ServerView, example = json!(example()))))]
async fn show(State(app): State<App>) -> ApiResult<Json<ServerView>> {
    let facts = app.ledger().check().await?;
    let model = app.agent().model();
    let (provider, name) = match model.name().split_once(':') {
        Some((provider, name)) => (Some(provider.to_owned()), name.to_owned()),
        None => (None, model.name().to_owned()),
    };
    Ok(Json(ServerView {
        version: build_info::VERSION,
        commit: build_info::COMMIT,
        commit_date: build_info::COMMIT_DATE,
        started_at: app.started_at(),
        model: ModelView {
            provider,
            name,
            is_rehearsal: model.name() == REHEARSAL,
            context_tokens: model.context_tokens(),
        },
        store: StoreView { kind: facts.kind, schema: facts.schema },
        public_url: app.public_url().map(str::to_owned),
        dashboard: dashboard::is_built(),
        features: &FEATURES,
    }))
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Commands)]
struct CommandsView {
    commands: Vec<CommandView>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Command)]
struct CommandView {
    /// With its slash: `/plan approve`.
    name: String,
    /// The name and what may follow it.
    usage: String,
    help: &'static str,
    example: &'static str,
    /// Under what help lists it.
    group: &'static str,
}

impl From<&CommandSpec> for CommandView {
    fn from(command: &CommandSpec) -> Self {
        Self {
            name: format!("/{}", command.name),
            usage: command.usage(),
            help: command.help,
            example: command.example,
            group: command.group.title(),
        }
    }
}

/// List the slash commands
#[utoipa::path(get, path = "/api/commands", tag = "server",
    responses((status = 200, description = "Every command that the server carries out", body = CommandsView,
        example = json!(commands_example()))))]
async fn commands() -> Json<CommandsView> {
    Json(CommandsView { commands: slash::offered().map(CommandView::from).collect() })
}

fn example() -> serde_json::Value {
    serde_json::json!({
        "version": "0.2.0",
        "commit": "1171f02c94c7",
        "commitDate": "2026-03-01",
        "startedAt": "2026-03-01T12:00:00Z",
        "model": { "provider": "openai", "name": "gpt-5", "isRehearsal": false, "contextTokens": 128_000 },
        "store": { "kind": "SQLite 3.50.4", "schema": 7 },
        "publicUrl": "https://plans.example.org",
        "dashboard": true,
        "features": FEATURES,
    })
}

fn commands_example() -> serde_json::Value {
    serde_json::json!({
        "commands": [{
            "name": "/plan off",
            "usage": "/plan off",
            "help": "plan work off; the plan stays as it is",
            "example": "/plan off",
            "group": "Plan work",
        }],
    })
}
