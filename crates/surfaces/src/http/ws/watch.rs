//! A client that watches every session: it is told which ones were written to, and what kind of thing was written.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use planwright_core::refusal::RefusalCode;
use planwright_core::session::SessionIdentity;
use planwright_engine::changes::{ChangeFollower, Changed};
use serde::Deserialize;
use serde_json::json;

use super::frames::Frame;
use crate::http::app::App;
use crate::http::problem::ApiProblem;

/// Changes within this time are told together.
const DEBOUNCE: Duration = Duration::from_millis(50);

/// How many sessions are remembered. Beyond it all are forgotten, and the next change of each counts as any kind.
const MAX_SESSIONS: usize = 10_000;

/// The most entries that are read to find out what kind of change it was.
const MAX_ENTRIES: u32 = 64;

#[derive(Debug)]
pub(super) struct Watch {
    changes: ChangeFollower,
    /// The last entry of each session that was told.
    told: HashMap<SessionIdentity, u64>,
}

impl Watch {
    pub(super) fn start(app: &App) -> Self {
        Self { changes: ChangeFollower::follow(app.ledger(), DEBOUNCE), told: HashMap::new() }
    }

    /// Waits for something to tell. Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> Changed {
        match self.changes.next().await {
            Some(changed) => changed,
            None => std::future::pending().await,
        }
    }

    /// The frames about what was written.
    pub(super) async fn frames(&mut self, app: &App, changed: Changed) -> Vec<String> {
        let mut frames = Vec::new();
        if changed.resync {
            frames.push(Frame::about_nothing("changed").with("kinds", json!([])).to_text());
        }
        for session in changed.sessions {
            frames.extend(self.frame(app, &session).await);
        }
        frames
    }

    async fn frame(&mut self, app: &App, session: &SessionIdentity) -> Option<String> {
        let frame = match app.feed().head(session).await {
            Ok(seq) => {
                if self.told.len() >= MAX_SESSIONS {
                    self.told.clear();
                }
                let told = self.told.insert(session.clone(), seq);
                if told == Some(seq) {
                    return None;
                }
                let kinds = kinds(app, session, told, seq).await;
                Frame::about("changed", session, seq).with("kinds", json!(kinds))
            }
            Err(error) if error.code() == RefusalCode::NotFound => {
                self.told.remove(session);
                Frame::about("changed", session, 0).with("kinds", json!(["session"])).with("gone", true)
            }
            Err(error) => Frame::about("problem", session, 0).problem(&ApiProblem::from(error)),
        };
        Some(frame.to_text())
    }
}

/// What was written after the entry `told`. Where that is not known, or is too much to read, it may have been anything.
async fn kinds(app: &App, session: &SessionIdentity, told: Option<u64>, seq: u64) -> BTreeSet<&'static str> {
    const ANYTHING: [&str; 4] = ["plan", "session", "turn", "workbook"];
    let after = match told {
        Some(told) if told < seq && seq - told <= u64::from(MAX_ENTRIES) => told,
        Some(_) | None => return ANYTHING.into(),
    };
    let Ok(entries) = app.ledger().journal(session, after, MAX_ENTRIES).await else { return ANYTHING.into() };
    let mut kinds = BTreeSet::new();
    for entry in entries {
        match serde_json::from_str::<KindOfEntry>(&entry.body) {
            Ok(read) => kinds.extend(read.event.kind()),
            Err(_) => kinds.extend(ANYTHING),
        }
    }
    kinds
}

#[derive(Deserialize)]
struct KindOfEntry<'a> {
    #[serde(borrow)]
    event: KindOfEvent<'a>,
}

#[derive(Deserialize)]
struct KindOfEvent<'a> {
    #[serde(rename = "type", borrow)]
    name: std::borrow::Cow<'a, str>,
    #[serde(default)]
    plan: Option<serde::de::IgnoredAny>,
}

impl KindOfEvent<'_> {
    fn kind(&self) -> Option<&'static str> {
        match self.name.as_ref() {
            "turn_begun" | "turn_ended" => Some("turn"),
            // These happen many times in a turn; a client that wants them subscribes to the session.
            "turn_resumed" | "model_replied" | "tool_ended" => None,
            name if name.starts_with("workbook_") => Some("workbook"),
            _ if self.plan.is_some() => Some("plan"),
            _ => Some("session"),
        }
    }
}
