//! A passphrase that comes with a request.

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use planwright_core::actor::Actor;
use planwright_core::presence::Presence;
use planwright_core::refusal::Refusal;
use planwright_engine::approvals::UnlockedKey;
use serde::Deserialize;

use crate::http::access::Peer;
use crate::http::access::allowed_hosts::came_encrypted;
use crate::http::app::App;
use crate::http::idempotency::RequestContext;
use crate::http::problem::{ApiProblem, ApiResult};

/// Never shown.
#[derive(Deserialize)]
pub(in crate::http::api) struct Passphrase(String);

impl std::fmt::Debug for Passphrase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Passphrase")
    }
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
    /// Unlocks the key of the named approver, or of the only one.
    pub(in crate::http::api) async fn unlock(
        self,
        app: &App,
        person: &Actor,
        approver: Option<&str>,
        passphrase: &Passphrase,
    ) -> ApiResult<UnlockedKey> {
        // A passphrase does not travel through a network in the clear.
        if !self.is_private {
            return Err(Refusal::policy_denied("A passphrase is taken from this machine or over HTTPS only.").into());
        }
        let approver = named(app, approver).await?;
        Ok(app.engine().approvals().unlock(person, &approver, &passphrase.0).await?)
    }

    /// The request of the approver who gave their passphrase with it, if one did. The key is forgotten at once.
    pub(in crate::http::api) async fn verified(
        self,
        app: &App,
        name: RequestContext,
        approver: Option<&str>,
        passphrase: Option<&Passphrase>,
    ) -> ApiResult<RequestContext> {
        let Some(passphrase) = passphrase else { return Ok(name) };
        let key = self.unlock(app, &name.person(app), approver, passphrase).await?;
        Ok(RequestContext { approver: Some(verified(app, key.approver())), ..name })
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
    let approver = approver.to_owned();
    Actor::person(approver.clone(), app.person().through).recognised(Presence::Verified { approver })
}
