//! The start page: what this server is, whether the browser is signed in, and the plans that wait.

use std::fmt::Write as _;

use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use planwright_core::plan::PlanStatus;

use super::{dashboard, page_headers};
use crate::build_info;
use crate::http::access::Authenticated;
use crate::http::app::App;
use crate::http::problem::ApiProblem;

const PAGE: &str = include_str!("start.html");
const SIGNED_IN: &str = include_str!("signed_in.html");
const SIGNED_OUT: &str = include_str!("signed_out.html");

const DASHBOARD: &str = r#"The <a href="/">dashboard</a> shows plans and talks to the agent."#;
const NO_DASHBOARD: &str = "This program was built without the dashboard. To get it, install Node and run <code>make run</code>, or \
                            <code>npm ci &amp;&amp; npm run build</code> in <code>dashboard/</code> before <code>cargo build</code>.";

/// How many sessions and plans are listed.
const MAX_LISTED: u32 = 10;

/// `GET /start`
pub(super) async fn show(State(app): State<App>, admitted: Option<SignedIn>, headers: HeaderMap) -> Response {
    let inside = match admitted {
        None => signed_out(""),
        Some(_) => {
            // The host was checked: it is one of our own names.
            let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or("localhost");
            SIGNED_IN
                .replace("{{host}}", &escaped(host))
                .replace("{{waiting}}", &waiting(&app).await)
                .replace("{{sessions}}", &sessions(&app).await)
        }
    };
    page(&inside).into_response()
}

/// Present if the browser is signed in.
pub(super) type SignedIn = axum::extract::Extension<Authenticated>;

/// The page again, after the form was refused.
pub(super) fn refused(problem: &ApiProblem) -> Response {
    (problem.status(), page(&signed_out(&format!("<p class=\"problem\">{}</p>", escaped(problem.message())))))
        .into_response()
}

fn page(inside: &str) -> impl IntoResponse {
    let text = PAGE
        .replace("{{version}}", build_info::DESCRIBED)
        .replace("{{dashboard}}", if dashboard::is_built() { DASHBOARD } else { NO_DASHBOARD })
        .replace("{{inside}}", inside);
    (page_headers(), text)
}

fn signed_out(problem: &str) -> String {
    SIGNED_OUT.replace("{{problem}}", problem)
}

/// Plans that wait for a person's yes.
async fn waiting(app: &App) -> String {
    match app.ledger().plans_anywhere(&[PlanStatus::Ready], None, MAX_LISTED).await {
        Ok(page) => list(
            page.items
                .iter()
                .map(|found| (format!("Plan {}: {}", found.plan.number, found.plan.title), found.session.to_string())),
        ),
        Err(error) => unknown(&error),
    }
}

async fn sessions(app: &App) -> String {
    match app.ledger().sessions(None, MAX_LISTED).await {
        Ok(page) => list(page.items.iter().map(|found| {
            let mode = if found.session.plan_mode.enabled { "plan work is on" } else { "" };
            (found.session.identity.to_string(), mode.to_owned())
        })),
        Err(error) => unknown(&error),
    }
}

fn list(items: impl Iterator<Item = (String, String)>) -> String {
    let mut text = String::new();
    for (what, beside) in items {
        let _ = write!(text, "<li><span>{}</span> <small>{}</small></li>", escaped(&what), escaped(&beside));
    }
    if text.is_empty() {
        "<p class=\"nothing\">None.</p>".to_owned()
    } else {
        format!("<ul class=\"list\">{text}</ul>")
    }
}

fn unknown(error: &planwright_engine::ledger::LedgerError) -> String {
    tracing::warn!(event = "store_unavailable", %error);
    "<p class=\"nothing\">The store does not answer.</p>".to_owned()
}

fn escaped(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut escaped, letter| {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            letter => escaped.push(letter),
        }
        escaped
    })
}
