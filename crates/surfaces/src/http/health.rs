//! `/healthz`: the process is up. `/readyz`: it can do its work, or the list of what is wrong with it.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use planwright_core::refusal::{Refusal, RefusalCode};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use super::app::App;
use super::problem::{ApiProblem, ApiResult};

/// A part of the process that can fail while requests are still answered, such as its log.
pub trait HealthSource: Debug + Send + Sync {
    /// One sentence for each thing that is wrong now. Every `/readyz` asks, and anyone may read the answer: it does not
    /// block, and names no secret.
    fn problems(&self) -> Vec<String>;
}

/// How long the store may take to answer.
const STORE_TIMEOUT: Duration = Duration::from_secs(2);

/// Anyone may ask, and a check writes to the store's disk: the last result is valid for this long.
const CACHE_TIME: Duration = Duration::from_secs(1);

#[derive(Debug, Clone)]
struct Readiness {
    app: App,
    sources: Arc<[Arc<dyn HealthSource>]>,
    store: Arc<Mutex<Option<CheckedStore>>>,
}

#[derive(Debug, Clone, Copy)]
struct CheckedStore {
    at: Instant,
    problem: Option<&'static str>,
}

pub(super) fn router(app: App, sources: Vec<Arc<dyn HealthSource>>) -> Router<App> {
    let readiness = Readiness { app, sources: sources.into(), store: Arc::default() };
    let ready = get(ready).with_state(readiness);
    Router::new().route("/healthz", get(async || text("up\n"))).route("/readyz", ready)
}

async fn ready(State(readiness): State<Readiness>) -> ApiResult<Response> {
    let mut reasons = Vec::new();
    if readiness.app.stopping().is_cancelled() {
        reasons.push("The server is stopping.".to_owned());
    }
    reasons.extend(readiness.store_problem().await.map(str::to_owned));
    reasons.extend(readiness.sources.iter().flat_map(|source| source.problems()));
    if reasons.is_empty() { Ok(text("ready\n")) } else { Err(not_ready(reasons)) }
}

impl Readiness {
    async fn store_problem(&self) -> Option<&'static str> {
        // Requests that arrive during a check wait for its result.
        let mut checked = self.store.lock().await;
        match *checked {
            Some(CheckedStore { at, problem }) if at.elapsed() < CACHE_TIME => problem,
            Some(_) | None => {
                let problem = check_store(&self.app).await;
                *checked = Some(CheckedStore { at: Instant::now(), problem });
                problem
            }
        }
    }
}

/// What is wrong with the store. The details are for the log; the answer is open to anyone.
async fn check_store(app: &App) -> Option<&'static str> {
    let check = async {
        if let Err(error) = app.ledger().check().await {
            tracing::warn!(event = "store_unavailable", %error);
            return Some("The store does not answer.");
        }
        if let Err(error) = app.ledger().check_writable().await {
            tracing::warn!(event = "store_not_writable", %error);
            return Some("The store cannot be written.");
        }
        None
    };
    timeout(STORE_TIMEOUT, check).await.unwrap_or_else(|_| {
        tracing::warn!(event = "store_unavailable", "it did not answer in time");
        Some("The store does not answer.")
    })
}

fn text(text: &'static str) -> Response {
    ([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response()
}

fn not_ready(reasons: Vec<String>) -> ApiProblem {
    ApiProblem::new(Refusal::new(RefusalCode::Unavailable, reasons.join(" "))).with("reasons", reasons)
}
