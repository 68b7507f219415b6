//! `/api/plans/{id}/review`: one person's comments on a plan, kept until they are sent with a decision.

use axum::Json;
use axum::extract::State;
use planwright_core::ids::{CommentId, PlanId, StepId};
use planwright_core::plan::review::{CommentAnchor, CommentKind, MAX_COMMENTS, Review, ReviewComment};
use planwright_core::refusal::Refusal;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::api::lookup::SessionQuery;
use crate::http::app::App;
use crate::http::extract::{Body, Object, Path, Query};
use crate::http::idempotency::RequestContext;
use crate::http::openapi::ProblemBody;
use crate::http::problem::ApiResult;
use crate::wire::ReviewView;

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::default().routes(routes!(show, keep)).routes(routes!(resolve))
}

/// The comments so far
///
/// The draft of the person who asks, and the rounds that were sent on this plan and on the plans that it replaced. A comment
/// on an earlier version has a `state` in the current one.
#[utoipa::path(get, path = "/api/plans/{id}/review", tag = "plans", params(SessionQuery),
    responses((status = 200, description = "The draft and the rounds", body = ReviewView, example = json!(example())),
        (status = 404, description = "There is no such plan", body = ProblemBody),
        (status = 409, description = "The name fits several plans", body = ProblemBody)))]
async fn show(
    State(app): State<App>,
    Path(id): Path<PlanId>,
    Query(of): Query<SessionQuery>,
) -> ApiResult<Json<ReviewView>> {
    let plan = of.plan(&app, &id).await?;
    Ok(Json(ReviewView::new(&plan, &app.engine().reviews().get(&plan, &app.person()).await?)))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = ReviewDraft, example = json!(body_example()))]
struct ReviewBody {
    /// The version that the comments are about.
    #[schema(maximum = 4294967295_i64)]
    version: u32,
    #[schema(max_items = 200, value_type = Vec<CommentBody>)]
    comments: Vec<Object<CommentBody>>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = CommentDraft)]
struct CommentBody {
    /// The client makes it up; it is unique within the review.
    id: CommentId,
    #[schema(value_type = AnchorBody)]
    anchor: Object<AnchorBody>,
    kind: CommentKind,
    /// The new words for `replace`; may be left out for `strike`.
    #[serde(default)]
    #[schema(max_length = 16384, required = false)]
    text: String,
}

/// A step, or words with some of the text around them, or nothing for the whole plan.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = AnchorDraft)]
struct AnchorBody {
    step: Option<StepId>,
    #[schema(min_length = 1, max_length = 16384, pattern = r"\S")]
    quote: Option<String>,
    #[schema(max_length = 256)]
    prefix: Option<String>,
    #[schema(max_length = 256)]
    suffix: Option<String>,
}

impl AnchorBody {
    fn anchor(self) -> Result<CommentAnchor, Refusal> {
        let Self { step, quote, prefix, suffix } = self;
        match (step, quote) {
            (Some(_), Some(_)) => Err(Refusal::invalid("An anchor is a step or a quotation, not both.")),
            (Some(step), None) => Ok(CommentAnchor::Step { step }),
            (None, Some(quote)) => {
                let (prefix, suffix) = (prefix.unwrap_or_default(), suffix.unwrap_or_default());
                Ok(CommentAnchor::Quote { quote, prefix, suffix })
            }
            (None, None) => Ok(CommentAnchor::Plan {}),
        }
    }
}

impl ReviewBody {
    fn review(self) -> Result<Review, Refusal> {
        if self.comments.len() > MAX_COMMENTS {
            return Err(Refusal::limit(format!("A review has at most {MAX_COMMENTS} comments.")));
        }
        let comment = |Object(comment): Object<CommentBody>| {
            let CommentBody { id, anchor: Object(anchor), kind, text } = comment;
            Ok(ReviewComment { id, anchor: anchor.anchor()?, kind, text })
        };
        let comments = self.comments.into_iter().map(comment).collect::<Result<_, Refusal>>()?;
        Ok(Review { version: self.version, comments })
    }
}

/// Keep comments as a draft
///
/// They replace the draft of the person who sends them, and wait on the server until `approve` or `revise` sends them with
/// `review: true`.
#[utoipa::path(put, path = "/api/plans/{id}/review", tag = "plans", params(SessionQuery), request_body = ReviewBody,
    responses((status = 200, description = "The draft and the rounds", body = ReviewView, example = json!(example())),
        (status = 404, description = "There is no such plan or version", body = ProblemBody),
        (status = 409, description = "The name fits several plans", body = ProblemBody)))]
async fn keep(
    State(app): State<App>,
    name: RequestContext,
    Path(id): Path<PlanId>,
    Query(of): Query<SessionQuery>,
    Body(body): Body<ReviewBody>,
) -> ApiResult<Json<ReviewView>> {
    let plan = of.plan(&app, &id).await?;
    let (reviews, person) = (app.engine().reviews(), name.person(&app));
    reviews.put(&plan, &person, body.review()?).await?;
    Ok(Json(ReviewView::new(&plan, &reviews.get(&plan, &person).await?)))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = CommentResolution, example = json!({ "comment": "c1", "resolved": true }))]
struct ResolveBody {
    /// A comment that was sent.
    comment: CommentId,
    resolved: bool,
}

/// Resolve a comment
///
/// Says whether the person is satisfied with what became of a comment. It is a comment of a round of this plan.
#[utoipa::path(post, path = "/api/plans/{id}/review/resolve", tag = "plans", params(SessionQuery), request_body = ResolveBody,
    responses((status = 200, description = "The draft and the rounds", body = ReviewView, example = json!(example())),
        (status = 404, description = "There is no such plan, or it has no such comment", body = ProblemBody),
        (status = 409, description = "The name fits several plans", body = ProblemBody)))]
async fn resolve(
    State(app): State<App>,
    name: RequestContext,
    Path(id): Path<PlanId>,
    Query(of): Query<SessionQuery>,
    Body(body): Body<ResolveBody>,
) -> ApiResult<Json<ReviewView>> {
    let plan = of.plan(&app, &id).await?;
    let (reviews, person) = (app.engine().reviews(), name.person(&app));
    reviews.resolve(&plan, &person, &body.comment, body.resolved).await?;
    Ok(Json(ReviewView::new(&plan, &reviews.get(&plan, &person).await?)))
}

fn body_example() -> Value {
    json!({
        "version": 0,
        "comments": [{
            "id": "c1",
            "anchor": { "quote": "copy the files", "prefix": "new host ", "suffix": "" },
            "kind": "comment",
            "text": "Which files?",
        }],
    })
}

fn example() -> Value {
    json!({
        "planId": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
        "version": 1,
        "comments": [{
            "id": "c1",
            "anchor": { "quote": "copy the files", "prefix": "new host ", "suffix": "" },
            "kind": "comment",
            "text": "Which files?",
        }],
        "rounds": [],
    })
}
