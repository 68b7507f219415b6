//! `/api/sessions/{sessionId}/journal`: the journal of a session, and the session as it was after one of its entries.

use axum::Json;
use axum::extract::State;
use jiff::Timestamp;
use planwright_core::journal::SealedEntry;
use planwright_core::refusal::Refusal;
use planwright_core::session::{Channel, ConversationKey, SessionIdentity};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::pagination::DamagedView;
use super::past_state::PastStateView;
use super::{lookup, pagination};
use crate::http::app::App;
use crate::http::extract::{Path, Query};
use crate::http::openapi::ProblemBody;
use crate::http::problem::ApiResult;
use crate::wire::EntryView;

const PAGE: u32 = 200;
/// The size of a page, unless a single entry is larger.
const PAGE_BYTES: usize = 1024 * 1024;
/// Entries are read a few at a time: one of them may be a megabyte.
const READ: u32 = 16;

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::default().routes(routes!(read)).routes(routes!(state))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct JournalQuery {
    /// The channel of the session; `web` if it is not said.
    #[param(inline, nullable = false)]
    channel: Option<Channel>,
    /// Only entries after this one: the last one that the client has, or the `next` of the page before.
    #[param(nullable = false, minimum = 0, maximum = 9007199254740991_i64)]
    after: Option<u64>,
    /// Only entries before this one, the newest first; the `next` of the page before.
    #[param(nullable = false, minimum = 0, maximum = 9007199254740991_i64)]
    before: Option<u64>,
    /// Only entries that were written by this time, the newest first.
    #[param(nullable = false, value_type = Option<String>, format = DateTime, example = "2026-03-01T12:00:00Z")]
    at: Option<Timestamp>,
    #[param(nullable = false, minimum = 1, maximum = 200)]
    limit: Option<u32>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct JournalPage {
    session_id: String,
    channel: Channel,
    entries: Vec<EntryView>,
    /// The entry after which the next page begins, or before which it begins if the newest come first; `null` on the last
    /// page.
    #[schema(required = true)]
    next: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    damaged: Vec<DamagedView>,
}

/// Read the journal
///
/// Everything that happened in the session, in order. With `before` or `at` the newest entries come first. Each entry carries
/// the hash of the chain up to it.
#[utoipa::path(get, path = "/api/sessions/{sessionId}/journal", tag = "sessions", params(JournalQuery),
    responses((status = 200, description = "A page of entries", body = JournalPage, example = json!(example())),
        (status = 404, description = "There is no such session", body = ProblemBody)))]
async fn read(
    State(app): State<App>,
    Path(key): Path<ConversationKey>,
    Query(query): Query<JournalQuery>,
) -> ApiResult<Json<JournalPage>> {
    let session = lookup::session(key, query.channel);
    let limit = pagination::limit(query.limit, PAGE)? as usize;
    let after = pagination::position("after", query.after)?.unwrap_or(0);
    let before = pagination::position("before", query.before)?;
    let end = app.engine().sessions().get_stored(&session).await?.head.seq;
    let mut page = PageBuilder::new(&session, limit);
    let next = match (before, query.at) {
        (None, None) => read_on(&app, after, end, &mut page).await?,
        (before, at) => {
            let last = match at {
                Some(at) => app.engine().history().last_entry_until(&session, at).await?,
                None => end,
            };
            let before = before.unwrap_or(u64::MAX).min(last.min(end) + 1);
            read_back(&app, after, before, &mut page).await?
        }
    };
    let PageBuilder { entries, damaged, .. } = page;
    let (session_id, channel) = (session.conversation.to_string(), session.channel);
    Ok(Json(JournalPage { session_id, channel, entries, next, damaged }))
}

/// The entries of a page, as many as fit.
struct PageBuilder<'a> {
    session: &'a SessionIdentity,
    limit: usize,
    count: usize,
    bytes: usize,
    entries: Vec<EntryView>,
    damaged: Vec<DamagedView>,
}

impl<'a> PageBuilder<'a> {
    fn new(session: &'a SessionIdentity, limit: usize) -> Self {
        Self { session, limit, count: 0, bytes: 0, entries: Vec::new(), damaged: Vec::new() }
    }

    /// Returns false if it does not fit.
    fn add(&mut self, sealed: &SealedEntry) -> bool {
        self.bytes += sealed.body.len();
        if self.count == self.limit || (self.bytes > PAGE_BYTES && self.count > 0) {
            return false;
        }
        match EntryView::try_from(sealed) {
            Ok(entry) => self.entries.push(entry),
            Err(error) => self.damaged.push(DamagedView::entry(self.session, sealed.seq, &error)),
        }
        self.count += 1;
        true
    }
}

/// Reads the entries after `after` in order. Gives the `after` of the next page.
async fn read_on(app: &App, mut after: u64, end: u64, page: &mut PageBuilder<'_>) -> ApiResult<Option<u64>> {
    while after < end {
        let found = app.ledger().journal(page.session, after, READ).await?;
        if found.is_empty() {
            return Ok(None);
        }
        for sealed in &found {
            if !page.add(sealed) {
                return Ok(Some(after));
            }
            after = sealed.seq;
        }
    }
    Ok(None)
}

/// Reads the entries before `before` and after `after`, the newest first. Gives the `before` of the next page.
async fn read_back(app: &App, after: u64, mut before: u64, page: &mut PageBuilder<'_>) -> ApiResult<Option<u64>> {
    while after + 1 < before {
        let from = after.max(before.saturating_sub(1 + u64::from(READ)));
        let found = app.ledger().journal(page.session, from, READ).await?;
        for sealed in found.iter().rev() {
            if sealed.seq >= before {
                continue;
            }
            if !page.add(sealed) {
                return Ok(Some(before));
            }
            before = sealed.seq;
        }
        // Entries may be missing in a damaged store.
        before = before.min(from + 1);
    }
    Ok(None)
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct StateQuery {
    /// The channel of the session; `web` if it is not said.
    #[param(inline, nullable = false)]
    channel: Option<Channel>,
    /// The entry of the journal after which the session is shown; the last one if it is not said.
    #[param(nullable = false, minimum = 1, maximum = 9007199254740991_i64)]
    seq: Option<u64>,
}

/// Show a session as it was
///
/// The session after an entry of its journal. The journal is read again from its beginning; what a damaged entry did is missing.
#[utoipa::path(get, path = "/api/sessions/{sessionId}/state", tag = "sessions", params(StateQuery),
    responses((status = 200, description = "The session as it was", body = PastStateView, example = json!(state_example())),
        (status = 404, description = "There is no such session or entry", body = ProblemBody),
        (status = 413, description = "The journal is too long to be replayed", body = ProblemBody)))]
async fn state(
    State(app): State<App>,
    Path(key): Path<ConversationKey>,
    Query(query): Query<StateQuery>,
) -> ApiResult<Json<PastStateView>> {
    let session = lookup::session(key, query.channel);
    let seq = pagination::position("seq", query.seq)?;
    if seq == Some(0) {
        return Err(Refusal::invalid("seq is at least 1.").into());
    }
    let past = app.engine().history().state_at(&session, seq).await?;
    Ok(Json(PastStateView::from(&past)))
}

fn example() -> serde_json::Value {
    serde_json::json!({
        "sessionId": "k3yk3y8x",
        "channel": "web",
        "entries": [{
            "seq": 1,
            "at": "2026-03-01T12:00:00Z",
            "by": { "kind": "person", "name": "person", "through": "web" },
            "type": "session_opened",
            "event": { "type": "session_opened" },
            "hash": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        }],
        "next": null,
    })
}

fn state_example() -> serde_json::Value {
    serde_json::json!({
        "sessionId": "k3yk3y8x",
        "channel": "web",
        "seq": 7,
        "at": "2026-03-01T12:02:00Z",
        "title": null,
        "topic": "move the blog to a new host",
        "mode": "plan",
        "style": "document",
        "activePlanId": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
        "working": false,
        "workspace": null,
        "plans": [{
            "planId": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
            "number": 1,
            "title": "Move the blog",
            "status": "READY",
            "style": "document",
            "version": 1,
            "updatedAt": "2026-03-01T12:02:00Z",
        }],
        "goals": [],
        "tasks": [],
        "schedules": [],
        "runs": [],
        "workbook": null,
    })
}
