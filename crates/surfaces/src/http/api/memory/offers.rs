//! `/api/memory/offers`: what rules offer to be remembered.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use planwright_core::ids::MemoryId;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::item_example;
use crate::http::api::lookup::OfSession;
use crate::http::app::App;
use crate::http::extract::{Path, Query};
use crate::http::idempotency::RequestContext;
use crate::http::openapi::ProblemBody;
use crate::http::problem::ApiResult;
use crate::wire::{MemoryOfferView, MemoryView};

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::default().routes(routes!(list)).routes(routes!(accept)).routes(routes!(decline))
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = MemoryOffers)]
struct MemoryOfferList {
    /// The newest first.
    items: Vec<MemoryOfferView>,
}

/// List what rules offer to be remembered
///
/// Decisions of finished plans, resolved errors of the workbook and entries of the diary. None of it is remembered until it
/// is accepted.
#[utoipa::path(get, path = "/api/memory/offers", tag = "memory", params(OfSession),
    responses((status = 200, description = "The offers", body = MemoryOfferList, example = json!(example())),
        (status = 404, description = "There is no such session", body = ProblemBody)))]
async fn list(State(app): State<App>, Query(of): Query<OfSession>) -> ApiResult<Json<MemoryOfferList>> {
    let offers = app.engine().memories().offers(&of.session()).await?;
    Ok(Json(MemoryOfferList { items: offers.iter().map(MemoryOfferView::from).collect() }))
}

/// Remember what was offered
///
/// The memory has the id of the offer. `/memory undo` takes it back.
#[utoipa::path(post, path = "/api/memory/offers/{id}/accept", tag = "memory",
    params(("id" = String, Path, description = "The id of the offer"), OfSession),
    responses((status = 201, description = "The memory", body = MemoryView, example = json!(item_example())),
        (status = 404, description = "There is no such offer in this session", body = ProblemBody),
        (status = 409, description = "It was accepted or declined before", body = ProblemBody)))]
async fn accept(
    State(app): State<App>,
    name: RequestContext,
    Path(id): Path<MemoryId>,
    Query(of): Query<OfSession>,
) -> ApiResult<(StatusCode, Json<MemoryView>)> {
    let session = of.session();
    let memories = name.engine(&app).memories();
    let offer = memories.find_offer(&session, id.as_str()).await?;
    let item = memories.accept(&session, &name.person(&app), offer).await?;
    Ok((StatusCode::CREATED, Json(MemoryView::from(&item))))
}

/// Decline what was offered
///
/// It is not offered again.
#[utoipa::path(delete, path = "/api/memory/offers/{id}", tag = "memory",
    params(("id" = String, Path, description = "The id of the offer"), OfSession),
    responses((status = 204, description = "It is declined"),
        (status = 404, description = "There is no such offer in this session", body = ProblemBody)))]
async fn decline(
    State(app): State<App>,
    name: RequestContext,
    Path(id): Path<MemoryId>,
    Query(of): Query<OfSession>,
) -> ApiResult<StatusCode> {
    let session = of.session();
    let memories = name.engine(&app).memories();
    let offer = memories.find_offer(&session, id.as_str()).await?;
    memories.decline(&session, &name.person(&app), offer.id).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn example() -> serde_json::Value {
    serde_json::json!({ "items": [{
        "id": "offer-3f2a91c05b7d4e8890aa11bc",
        "scope": "session:web:k3yk3y8x",
        "kind": "decision",
        "content": "We keep the old parser — the new one is slower.",
        "source": { "from": "plan" },
        "at": "2026-03-01T12:00:00Z",
    }] })
}
