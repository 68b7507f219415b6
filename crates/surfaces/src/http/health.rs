//! `/healthz`: the process is up. `/readyz`: it can work, because the store answers and nobody told it to stop.

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
use super::problem::{Answered, Problem};

/// How long the store may take to answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// Anybody may ask, and the store has other things to do: for this long the last answer holds.
const HOLDS: Duration = Duration::from_millis(500);

/// When the store was last asked, and whether it answered.
#[derive(Debug, Clone, Default)]
struct Known(Arc<Mutex<Option<(Instant, bool)>>>);

pub(super) fn router(app: App) -> Router<App> {
    let ready = get(ready).with_state((app, Known::default()));
    Router::new().route("/healthz", get(async || text("up\n"))).route("/readyz", ready)
}

async fn ready(State((app, known)): State<(App, Known)>) -> Answered<Response> {
    if app.stopping().is_cancelled() {
        return Err(unavailable("the server is stopping"));
    }
    // Whoever asks while the store is being asked waits for the same answer.
    let mut known = known.0.lock().await;
    let answers = match *known {
        Some((at, answers)) if at.elapsed() < HOLDS => answers,
        Some(_) | None => {
            let answers = store_answers(&app).await;
            *known = Some((Instant::now(), answers));
            answers
        }
    };
    if answers { Ok(text("ready\n")) } else { Err(unavailable("the store does not answer")) }
}

async fn store_answers(app: &App) -> bool {
    match timeout(PATIENCE, app.ledger().check()).await {
        Ok(Ok(_)) => true,
        Ok(Err(error)) => {
            tracing::warn!(event = "store_unavailable", %error);
            false
        }
        Err(_) => {
            tracing::warn!(event = "store_unavailable", "it did not answer in time");
            false
        }
    }
}

fn text(words: &'static str) -> Response {
    ([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], words).into_response()
}

fn unavailable(message: &str) -> Problem {
    Refusal::new(RefusalCode::Unavailable, message).into()
}
