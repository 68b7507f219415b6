//! `/api/sessions/{sessionId}/journal`: the journal of a session.

use axum::Json;
use axum::extract::State;
use planwright_core::session::{Channel, ConversationKey};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::pagination::DamagedView;
use super::{lookup, pagination};
use crate::http::app::App;
use crate::http::extract::{Path, Query};
use crate::http::openapi::ProblemBody;
use crate::http::problem::ApiResult;
use crate::wire::EntryView;
use crate::wire::schemas::ChannelSchema;

const PAGE: u32 = 200;
/// The size of a page, unless a single entry is larger.
const PAGE_BYTES: usize = 1024 * 1024;
/// Entries are read a few at a time: one of them may be a megabyte.
const READ: u32 = 16;

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::default().routes(routes!(read))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct JournalQuery {
    /// The channel of the session; `web` if it is not said.
    #[param(inline, nullable = false, value_type = Option<ChannelSchema>)]
    channel: Option<Channel>,
    /// The last entry that the client has; the `next` of the page before.
    #[param(nullable = false, minimum = 0, maximum = 9007199254740991_i64)]
    after: Option<u64>,
    #[param(nullable = false, minimum = 1, maximum = 200)]
    limit: Option<u32>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct JournalPage {
    session_id: String,
    #[schema(value_type = ChannelSchema)]
    channel: Channel,
    entries: Vec<EntryView>,
    /// The entry after which the next page begins, if there is one.
    #[schema(required = true)]
    next: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    damaged: Vec<DamagedView>,
}

/// Read the journal
///
/// Everything that happened in the session, in order. Each entry carries the hash of the chain up to it.
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
    let mut after = pagination::position("after", query.after)?.unwrap_or(0);
    let end = app.engine().sessions().get_stored(&session).await?.head.seq;
    let (mut entries, mut damaged) = (Vec::new(), Vec::new());
    let (mut count, mut bytes) = (0, 0);
    'reading: while after < end && count < limit {
        let sealed = app.ledger().journal(&session, after, READ).await?;
        if sealed.is_empty() {
            break;
        }
        for sealed in sealed.iter().take(limit - count) {
            bytes += sealed.body.len();
            if bytes > PAGE_BYTES && count > 0 {
                break 'reading;
            }
            match EntryView::try_from(sealed) {
                Ok(entry) => entries.push(entry),
                Err(error) => damaged.push(DamagedView::entry(&session, sealed.seq, &error)),
            }
            (after, count) = (sealed.seq, count + 1);
        }
    }
    let next = (after < end && count > 0).then_some(after);
    let (session_id, channel) = (session.conversation.to_string(), session.channel);
    Ok(Json(JournalPage { session_id, channel, entries, next, damaged }))
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
