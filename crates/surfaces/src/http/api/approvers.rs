//! `/api/approvers`: who may approve, with which passkeys, and what the policy asks for.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use jiff::Timestamp;
use planwright_core::approval::changes::{RecordedChange, Unseen};
use planwright_core::approval::record::ApprovalState;
use planwright_core::approval::{ApprovalPolicy, Approver, Passkey};
use planwright_core::refusal::Refusal;
use planwright_core::session::Channel;
use planwright_engine::approvals::NewPasskey;
use planwright_engine::{recognition, who};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::passphrase::{Passphrase, PassphraseChannel};
use crate::http::app::App;
use crate::http::extract::{Body, Path};
use crate::http::idempotency::RequestContext;
use crate::http::openapi::ProblemBody;
use crate::http::problem::ApiResult;

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::default()
        .routes(routes!(list, enrol))
        .routes(routes!(add_passkey))
        .routes(routes!(remove_passkey))
        .routes(routes!(see_changes))
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Approvers)]
struct ApproversView {
    approvers: Vec<ApproverView>,
    /// What an approval needs where no rule says otherwise: `any`, `separate` or `verified`.
    require: &'static str,
    rules: Vec<RuleView>,
    /// What acts that are no approval of a plan need, in the sessions of each channel.
    needs: Vec<ActNeedsView>,
    /// For how many seconds a page of the dashboard does not ask for a passphrase again; 0 asks every time.
    #[schema(maximum = 9007199254740991_i64)]
    remember: u64,
    /// What was changed about who may decide since a person looked last, the oldest first.
    changes: Vec<ChangeView>,
    /// How this client is recognised: `browser` if it was signed in with a link of `planwright dashboard`, else `token`.
    presence: &'static str,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Approver)]
struct ApproverView {
    name: String,
    /// The Ed25519 key, in hexadecimal digits.
    key: String,
    enrolled_at: Timestamp,
    passkeys: Vec<PasskeyView>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Passkey)]
pub(in crate::http::api) struct PasskeyView {
    /// The credential's id, in base64url.
    id: String,
    label: String,
    /// The host name that it works for.
    relying_party: String,
    /// The page that it works on: scheme, host and port. Absent for passkeys of earlier versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    origin: Option<String>,
    added_at: Timestamp,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ApprovalRule)]
struct RuleView {
    /// Every channel if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    channel: Option<&'static str>,
    /// Every risk if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    risk: Option<&'static str>,
    require: &'static str,
    people: u8,
}

/// Each is `any`, `separate` or `verified`.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ActNeeds)]
struct ActNeedsView {
    channel: Channel,
    /// To start a run, to add a schedule, and to let one continue.
    starts: &'static str,
    /// To let every session read a memory.
    promotes: &'static str,
}

impl ActNeedsView {
    fn of(policy: &ApprovalPolicy, channel: Channel) -> Self {
        let require = policy.requirement_of_work(channel).as_str();
        Self { channel, starts: require, promotes: require }
    }
}

/// Such as a weaker policy, a new approver or a browser that was signed in.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RecordedChange)]
struct ChangeView {
    at: Timestamp,
    what: String,
    /// Who did it, and through what.
    by: String,
    /// How they were recognised.
    recognised: String,
    /// Whether less is asked of an approval since.
    weakens: bool,
}

impl From<&RecordedChange> for ChangeView {
    fn from(change: &RecordedChange) -> Self {
        let RecordedChange { at, by, what, .. } = change;
        Self { at: *at, what: what.to_string(), by: who(by), recognised: recognition(by), weakens: what.is_weakening() }
    }
}

impl From<&Passkey> for PasskeyView {
    fn from(passkey: &Passkey) -> Self {
        let Passkey { id, label, relying_party, origin, added_at, .. } = passkey.clone();
        Self { id, label, relying_party, origin, added_at }
    }
}

impl From<&Approver> for ApproverView {
    fn from(approver: &Approver) -> Self {
        Self {
            name: approver.name.clone(),
            key: approver.key.to_string(),
            enrolled_at: approver.enrolled_at,
            passkeys: approver.passkeys.iter().map(PasskeyView::from).collect(),
        }
    }
}

impl ApproversView {
    fn new(state: &ApprovalState, policy: &ApprovalPolicy, unseen: &Unseen, presence: &'static str) -> Self {
        let rules = policy.rules.iter().map(|rule| RuleView {
            channel: rule.channel.map(|channel| channel.as_str()),
            risk: rule.risk.map(|risk| risk.as_str()),
            require: rule.require.as_str(),
            people: rule.people.unwrap_or(1),
        });
        Self {
            approvers: state.approvers.0.iter().map(ApproverView::from).collect(),
            require: policy.require.as_str(),
            rules: rules.collect(),
            needs: Channel::ALL.into_iter().map(|channel| ActNeedsView::of(policy, channel)).collect(),
            remember: policy.remembered(),
            changes: unseen.changes.iter().map(ChangeView::from).collect(),
            presence,
        }
    }
}

async fn view(app: &App, name: &RequestContext) -> ApiResult<Json<ApproversView>> {
    let approvals = app.engine().approvals();
    let (state, policy) = (approvals.state().await?, approvals.policy().await?);
    let presence = app.recognise(&name.client).await?.as_str();
    let unseen = approvals.unseen().await?;
    Ok(Json(ApproversView::new(&state, &policy.approval, &unseen, presence)))
}

/// List the approvers
#[utoipa::path(get, path = "/api/approvers", tag = "approvers",
    responses((status = 200, description = "The approvers, and the policy in force", body = ApproversView,
        example = json!(example()))))]
async fn list(State(app): State<App>, name: RequestContext) -> ApiResult<Json<ApproversView>> {
    view(&app, &name).await
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewApprover, example = json!({ "name": "ada", "passphrase": "correct horse" }))]
struct NewApproverBody {
    #[schema(min_length = 1, max_length = 64, pattern = "^[A-Za-z0-9._-]+$")]
    name: String,
    /// It is taken from this machine or over HTTPS only.
    #[schema(value_type = String, min_length = 8, max_length = 4096)]
    passphrase: Passphrase,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct EnrolledView {
    /// It sets a new passphrase. It is shown now and never again.
    recovery_code: String,
}

/// Enrol the first approver
///
/// From outside of the agent's reach. An approver who is enrolled adds others with `planwright approver add`.
#[utoipa::path(post, path = "/api/approvers", tag = "approvers", request_body = NewApproverBody,
    responses((status = 201, description = "The approver is enrolled", body = EnrolledView,
            example = json!({ "recoveryCode": "7QX2M-K4T9C-0HWVB-8ZRDE-3YNPA" })),
        (status = 403, description = "This client may be the agent's", body = ProblemBody),
        (status = 409, description = "An approver is enrolled already", body = ProblemBody)))]
async fn enrol(
    State(app): State<App>,
    name: RequestContext,
    channel: PassphraseChannel,
    Body(body): Body<NewApproverBody>,
) -> ApiResult<(StatusCode, Json<EnrolledView>)> {
    channel.check_private()?;
    let (approvals, person) = (app.engine().approvals(), name.person(&app));
    approvals.check_separate(&person).await?;
    if !approvals.state().await?.approvers.is_empty() {
        let message = "An approver is enrolled already; `planwright approver add NAME` enrols another one.";
        return Err(Refusal::conflict(message).into());
    }
    let enrolled = approvals.add(&person, &body.name, &body.passphrase.0, None).await?;
    Ok((StatusCode::CREATED, Json(EnrolledView { recovery_code: enrolled.code.to_string() })))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewPasskey, example = json!({ "label": "laptop", "passphrase": "correct horse", "credential": "AQ",
    "clientData": "{}", "authenticatorData": "AQ", "publicKey": "AQ" }))]
struct NewPasskeyBody {
    /// What the person calls it.
    #[schema(min_length = 1, max_length = 64)]
    label: String,
    /// The approver's passphrase. It is taken from this machine or over HTTPS only.
    #[schema(value_type = String, max_length = 4096)]
    passphrase: Passphrase,
    /// The credential's id, in base64url.
    #[schema(min_length = 1, max_length = 2048)]
    credential: String,
    /// The browser's `clientDataJSON`, as text.
    #[schema(max_length = 4096)]
    client_data: String,
    /// In base64url.
    #[schema(max_length = 8192)]
    authenticator_data: String,
    /// The public key as the browser exports it, in base64url.
    #[schema(max_length = 2048)]
    public_key: String,
}

/// Enrol a passkey
///
/// The approver confirms it with their passphrase.
#[utoipa::path(post, path = "/api/approvers/{name}/passkeys", tag = "approvers",
    params(("name" = String, Path, min_length = 1, max_length = 64)), request_body = NewPasskeyBody,
    responses((status = 200, description = "It is enrolled", body = ApproversView, example = json!(example())),
        (status = 401, description = "This is not the passphrase", body = ProblemBody),
        (status = 404, description = "There is no such approver", body = ProblemBody),
        (status = 409, description = "It is enrolled already", body = ProblemBody)))]
async fn add_passkey(
    State(app): State<App>,
    name: RequestContext,
    channel: PassphraseChannel,
    Path(approver): Path<String>,
    Body(body): Body<NewPasskeyBody>,
) -> ApiResult<Json<ApproversView>> {
    let person = name.person(&app);
    let key = channel.unlock(&app, &person, Some(&approver), &body.passphrase).await?;
    let new = NewPasskey {
        label: body.label.trim(),
        credential: &body.credential,
        client_data: &body.client_data,
        authenticator_data: &body.authenticator_data,
        public_key: &body.public_key,
    };
    app.engine().approvals().add_passkey(&person, &key, &new).await?;
    view(&app, &name).await
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = PasskeyRemoval, example = json!({ "passphrase": "correct horse" }))]
struct PasskeyRemovalBody {
    /// The passphrase of the approver who confirms it.
    #[schema(value_type = String, max_length = 4096)]
    passphrase: Passphrase,
    /// The approver who confirms it; the owner of the passkey if it is not said.
    #[schema(min_length = 1, max_length = 64)]
    approver: Option<String>,
}

/// Remove a passkey
///
/// What it signs counts no more.
#[utoipa::path(post, path = "/api/approvers/{name}/passkeys/{id}/remove", tag = "approvers",
    params(("name" = String, Path, min_length = 1, max_length = 64), ("id" = String, Path, min_length = 1, max_length = 2048)),
    request_body = PasskeyRemovalBody,
    responses((status = 200, description = "It is removed", body = ApproversView, example = json!(example())),
        (status = 401, description = "This is not the passphrase", body = ProblemBody),
        (status = 404, description = "There is no such approver or passkey", body = ProblemBody)))]
async fn remove_passkey(
    State(app): State<App>,
    name: RequestContext,
    channel: PassphraseChannel,
    Path((owner, id)): Path<(String, String)>,
    Body(body): Body<PasskeyRemovalBody>,
) -> ApiResult<Json<ApproversView>> {
    let person = name.person(&app);
    let approver = body.approver.as_deref().unwrap_or(&owner);
    let key = channel.unlock(&app, &person, Some(approver), &body.passphrase).await?;
    app.engine().approvals().remove_passkey(&person, &owner, &id, &key).await?;
    view(&app, &name).await
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = SeenChanges, example = json!({ "until": "2026-03-01T12:03:00Z" }))]
struct SeenChangesBody {
    /// When the newest change that was shown was made.
    until: Timestamp,
}

/// Say that changes were seen
///
/// Only a person outside of the agent's reach has seen them.
#[utoipa::path(post, path = "/api/approvers/changes/seen", tag = "approvers", request_body = SeenChangesBody,
    responses((status = 200, description = "They are not shown again", body = ApproversView, example = json!(example())),
        (status = 403, description = "This client may be the agent's", body = ProblemBody)))]
async fn see_changes(
    State(app): State<App>,
    name: RequestContext,
    Body(body): Body<SeenChangesBody>,
) -> ApiResult<Json<ApproversView>> {
    let approvals = app.engine().approvals();
    let mut shown = approvals.unseen().await?;
    shown.changes.retain(|change| change.at <= body.until);
    approvals.see_changes(&name.person(&app), &shown).await?;
    view(&app, &name).await
}

fn example() -> serde_json::Value {
    serde_json::json!({
        "approvers": [{
            "name": "ada",
            "key": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "enrolledAt": "2026-03-01T12:01:00Z",
            "passkeys": [{ "id": "AQIDBA", "label": "laptop", "relyingParty": "localhost",
                "origin": "http://localhost:7717", "addedAt": "2026-03-01T12:02:00Z" }],
        }],
        "require": "separate",
        "rules": [],
        "needs": [{ "channel": "web", "starts": "separate", "promotes": "separate" },
            { "channel": "mcp", "starts": "verified", "promotes": "verified" }],
        "remember": 900,
        "changes": [{ "at": "2026-03-01T12:03:00Z", "what": "a browser was signed in with a link", "by": "ada through cli",
            "recognised": "at a terminal, not verified", "weakens": false }],
        "presence": "browser",
    })
}
