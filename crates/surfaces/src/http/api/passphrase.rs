//! A passphrase or a passkey that comes with a request.

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use planwright_core::actor::Actor;
use planwright_core::plan::Digest;
use planwright_core::presence::{Act, ActKind, ActSignature, PasskeyAssertion, Presence};
use planwright_core::refusal::Refusal;
use planwright_engine::approvals::UnlockedKey;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::http::access::Peer;
use crate::http::access::allowed_hosts::came_encrypted;
use crate::http::app::App;
use crate::http::idempotency::RequestContext;
use crate::http::problem::{ApiProblem, ApiResult};

/// Never shown.
#[derive(Deserialize)]
pub(in crate::http::api) struct Passphrase(pub(in crate::http::api) String);

impl std::fmt::Debug for Passphrase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Passphrase")
    }
}

/// The act as it is signed.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = Act)]
pub(in crate::http::api) struct ActView {
    kind: ActKind,
    #[schema(max_length = 1024)]
    subject: String,
    #[schema(min_length = 64, max_length = 64)]
    digest: String,
}

impl From<Act> for ActView {
    fn from(act: Act) -> Self {
        let Act { kind, subject, digest } = act;
        Self { kind, subject, digest }
    }
}

impl From<ActView> for Act {
    fn from(act: ActView) -> Self {
        let ActView { kind, subject, digest } = act;
        Self { kind, subject, digest }
    }
}

/// How an approver is recognised in a request, where the policy asks for a verified person.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({ "approver": "ada", "passphrase": "correct horse" }))]
pub(in crate::http::api) struct Proof {
    /// The approver; it may be left out if there is one.
    #[schema(min_length = 1, max_length = 64)]
    pub(in crate::http::api) approver: Option<String>,
    /// The approver's passphrase. It is taken from this machine or over HTTPS only, and without an `Idempotency-Key`.
    #[schema(value_type = Option<String>, max_length = 4096)]
    pub(in crate::http::api) passphrase: Option<Passphrase>,
    /// The answer of an approver's passkey to the challenge of `/api/acts/challenge`.
    pub(in crate::http::api) passkey: Option<SignedAct>,
    /// Of what the person was shown, as the list has it. With `passphrase` it is what is signed, so that a change since then is
    /// refused.
    pub(in crate::http::api) digest: Option<Digest>,
}

/// The answer of a passkey to the challenge for an act. The texts but `clientData` are in base64url.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::http::api) struct SignedAct {
    /// From the challenge.
    #[schema(min_length = 1, max_length = 64)]
    approver: String,
    /// From the challenge.
    act: ActView,
    /// From the challenge.
    at: Timestamp,
    /// From the challenge.
    #[schema(min_length = 1, max_length = 64)]
    nonce: String,
    #[schema(min_length = 1, max_length = 2048)]
    credential: String,
    /// The browser's `clientDataJSON`, as text.
    #[schema(max_length = 4096)]
    client_data: String,
    #[schema(max_length = 4096)]
    authenticator_data: String,
    #[schema(max_length = 4096)]
    signature: String,
}

impl SignedAct {
    fn signature(self) -> Result<ActSignature, Refusal> {
        let passkey = PasskeyAssertion {
            authenticator_data: in_hex(&self.authenticator_data)?,
            credential: self.credential,
            client_data: self.client_data,
        };
        let signature = in_hex(&self.signature)?;
        Ok(ActSignature { act: self.act.into(), at: self.at, nonce: self.nonce, signature, passkey: Some(passkey) })
    }
}

/// What a browser sends in base64url.
pub(in crate::http::api) fn in_hex(text: &str) -> Result<String, Refusal> {
    let bytes = URL_SAFE_NO_PAD.decode(text);
    bytes.map(hex::encode).map_err(|_| Refusal::invalid("The answer of a passkey is in base64url."))
}

/// Whether a passphrase may come with the request.
#[derive(Debug, Clone, Copy)]
pub(in crate::http::api) struct PassphraseChannel {
    is_private: bool,
}

impl FromRequestParts<App> for PassphraseChannel {
    type Rejection = ApiProblem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> ApiResult<Self> {
        Ok(Self { is_private: is_private(parts.extensions.get().copied(), &parts.headers) })
    }
}

fn is_private(peer: Option<Peer>, headers: &HeaderMap) -> bool {
    let is_here = peer.is_some_and(|peer| peer.0.ip().to_canonical().is_loopback());
    is_here || came_encrypted(headers)
}

impl PassphraseChannel {
    /// A passphrase does not travel through a network in the clear.
    pub(in crate::http::api) fn check_private(self) -> Result<(), Refusal> {
        match self.is_private {
            true => Ok(()),
            false => Err(Refusal::policy_denied("A passphrase is taken from this machine or over HTTPS only.")),
        }
    }

    /// Unlocks the key of the named approver, or of the only one.
    pub(in crate::http::api) async fn unlock(
        self,
        app: &App,
        person: &Actor,
        approver: Option<&str>,
        passphrase: &Passphrase,
    ) -> ApiResult<UnlockedKey> {
        self.check_private()?;
        let approver = named(app, approver).await?;
        Ok(app.engine().approvals().unlock(person, &approver, &passphrase.0).await?)
    }

    /// The request of the approver who gave their passphrase or the answer of a passkey with it, if one did. The key is forgotten
    /// with the request.
    pub(in crate::http::api) async fn verified(
        self,
        app: &App,
        name: RequestContext,
        proof: Proof,
    ) -> ApiResult<RequestContext> {
        let by = |presence: Presence, approver: &str| {
            Some(Actor::person(approver, app.person().through).recognised(presence))
        };
        let approver = match (proof.passphrase, proof.passkey) {
            (None, None) => return Ok(name),
            (Some(passphrase), None) => {
                let key = self.unlock(app, &name.person(app), proof.approver.as_deref(), &passphrase).await?;
                let presence = match proof.digest {
                    Some(digest) => key.presence().shown(digest.to_string()),
                    None => key.presence(),
                };
                by(presence, key.approver())
            }
            (None, Some(answer)) => {
                let approver = answer.approver.clone();
                by(Presence::signed(approver.clone(), answer.signature()?), &approver)
            }
            (Some(_), Some(_)) => return Err(Refusal::invalid("Give a passphrase or a passkey, not both.").into()),
        };
        Ok(RequestContext { approver, ..name })
    }
}

/// The approver who is named, or the only one.
pub(in crate::http::api) async fn named(app: &App, approver: Option<&str>) -> ApiResult<String> {
    let state = app.engine().approvals().state().await?;
    match (approver, state.approvers.names().as_slice()) {
        (Some(name), _) => Ok(name.to_owned()),
        (None, [only]) => Ok((*only).to_owned()),
        (None, []) => Err(Refusal::conflict("No approver is enrolled yet.").into()),
        (None, _) => Err(Refusal::invalid("There are several approvers: say which one you are.").into()),
    }
}

/// The approver as the person who decides.
pub(in crate::http::api) fn verified(app: &App, approver: &str) -> Actor {
    Actor::person(approver, app.person().through).recognised(Presence::verified(approver))
}
