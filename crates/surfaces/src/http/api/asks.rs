//! `/api/permissions` and `/api/questions`: a person's answers to what an agent asks. The answer to the request comes as
//! soon as the person's answer is on disk; the agent continues afterwards.

use axum::Json;
use axum::extract::State;
use planwright_agent::session::input::Input;
use planwright_core::ask::{AskAnswer, Grant};
use planwright_core::ids::AskId;
use planwright_core::plan::Digest;
use planwright_core::refusal::Refusal;
use planwright_core::session::{Channel, ConversationKey, SessionIdentity};
use planwright_core::visible::quoted;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::lookup::session;
use super::passphrase::{Passphrase, PassphraseChannel, Proof, SignedAct};
use crate::http::app::App;
use crate::http::extract::{Body, Path};
use crate::http::idempotency::RequestContext;
use crate::http::input::answered;
use crate::http::openapi::ProblemBody;
use crate::http::problem::ApiResult;

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::default().routes(routes!(permit)).routes(routes!(reply))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = PermissionAnswer, example = json!({ "digest": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "grant": "once" }))]
struct PermissionAnswerBody {
    /// The digest of the call that the person was shown.
    digest: Digest,
    grant: Grant,
    /// What the person says to the agent about it.
    #[schema(max_length = 16384)]
    #[serde(rename = "words")]
    note: Option<String>,
    /// What the call is to be made with instead of the arguments that were shown. Only with `once`; it is recorded with the
    /// answer, and the agent is told.
    #[schema(value_type = Option<Object>)]
    arguments: Option<Map<String, Value>>,
    /// The approver who permits it; it may be left out if there is one.
    #[schema(min_length = 1, max_length = 64)]
    approver: Option<String>,
    /// The approver's passphrase, where the policy asks for a verified person. It is taken from this machine or over HTTPS
    /// only, and without an `Idempotency-Key`.
    #[schema(value_type = Option<String>, max_length = 4096)]
    passphrase: Option<Passphrase>,
    /// The answer of an approver's passkey to the challenge of `/api/acts/challenge`.
    passkey: Option<SignedAct>,
    /// The session that asks. Without it the answer finds the session as long as it asks.
    session_id: Option<ConversationKey>,
    channel: Option<Channel>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = QuestionAnswers, example = json!({ "digest": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "answers": ["blue"] }))]
struct QuestionAnswersBody {
    /// The digest of the questions that the person was shown.
    digest: Digest,
    /// One for each question, in their order.
    #[schema(min_items = 1, max_items = 10)]
    answers: Vec<String>,
    /// The session that asks. Without it the answer finds the session as long as it asks.
    session_id: Option<ConversationKey>,
    channel: Option<Channel>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Answered)]
struct AnsweredView {
    id: String,
    session_id: String,
    channel: Channel,
    /// What was written down, with the rule that `always` wrote.
    #[serde(rename = "words")]
    message: String,
}

/// Permit or refuse a call
///
/// Answers exactly the call with this digest. The first valid answer counts. `plan` permits the same call for the rest of
/// the execution, `always` writes a rule.
#[utoipa::path(post, path = "/api/permissions/{id}", tag = "inbox", params(("id" = String, Path, description = "The id of what the agent asks")),
    request_body = PermissionAnswerBody,
    responses((status = 200, description = "It is answered", body = AnsweredView, example = json!(example())),
        (status = 404, description = "No session asks this", body = ProblemBody),
        (status = 409, description = "It was answered, or the agent asks something else now", body = ProblemBody)))]
async fn permit(
    State(app): State<App>,
    name: RequestContext,
    channel: PassphraseChannel,
    Path(id): Path<AskId>,
    Body(body): Body<PermissionAnswerBody>,
) -> ApiResult<Json<AnsweredView>> {
    let proof = Proof { approver: body.approver, passphrase: body.passphrase, passkey: body.passkey, digest: None };
    let name = channel.verified(&app, name, proof).await?;
    let arguments = body.arguments.map(|arguments| Box::new(Value::Object(arguments)));
    let answer = AskAnswer::Permission { grant: body.grant, note: body.note, arguments };
    let session = asking(&app, &id, body.session_id, body.channel).await?;
    submit(&app, &name, session, id, body.digest, answer).await
}

/// Answer the questions of an agent
#[utoipa::path(post, path = "/api/questions/{id}", tag = "inbox", params(("id" = String, Path, description = "The id of what the agent asks")),
    request_body = QuestionAnswersBody,
    responses((status = 200, description = "They are answered", body = AnsweredView, example = json!(example())),
        (status = 404, description = "No session asks this", body = ProblemBody),
        (status = 409, description = "It was answered, or the agent asks something else now", body = ProblemBody)))]
async fn reply(
    State(app): State<App>,
    name: RequestContext,
    Path(id): Path<AskId>,
    Body(body): Body<QuestionAnswersBody>,
) -> ApiResult<Json<AnsweredView>> {
    let session = asking(&app, &id, body.session_id, body.channel).await?;
    submit(&app, &name, session, id, body.digest, AskAnswer::Questions { answers: body.answers }).await
}

async fn submit(
    app: &App,
    name: &RequestContext,
    session: SessionIdentity,
    ask: AskId,
    digest: Digest,
    answer: AskAnswer,
) -> ApiResult<Json<AnsweredView>> {
    let input = Input::Answer { ask: ask.clone(), digest, answer };
    let message = answered(app.submit(&session, input, name)).await?;
    let (session_id, channel) = (session.conversation.to_string(), session.channel);
    Ok(Json(AnsweredView { id: ask.to_string(), session_id, channel, message }))
}

/// The session that is named, or the one that asks this.
pub(super) async fn asking(
    app: &App,
    ask: &AskId,
    named: Option<ConversationKey>,
    channel: Option<Channel>,
) -> ApiResult<SessionIdentity> {
    if let Some(key) = named {
        let session = session(key, channel);
        app.engine().sessions().get(&session).await?;
        return Ok(session);
    }
    let (asks, _) = app.engine().inbox().asks().await?;
    let found = asks.into_iter().find(|waiting| waiting.ask.id == *ask).map(|waiting| waiting.session);
    let found = found.filter(|session| channel.is_none_or(|channel| channel == session.channel));
    found.ok_or_else(|| Refusal::not_found(format!("No agent asks {} any more.", quoted(ask.as_str()))).into())
}

fn example() -> serde_json::Value {
    serde_json::json!({
        "id": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11-ask-1",
        "sessionId": "k3yk3y8x",
        "channel": "web",
        "words": "Answered.",
    })
}
