//! Which session and which plan a request means. A plan of another session than the one named is answered like one that
//! does not exist.

use std::sync::Arc;

use planwright_core::ids::PlanId;
use planwright_core::plan::Plan;
use planwright_core::plan::reference::PlanReference;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::{Channel, ConversationKey, SessionIdentity};
use planwright_core::visible::quoted;
use planwright_engine::ledger::LedgerResult;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::http::app::App;
use crate::http::problem::{ApiProblem, ApiResult};

/// The channel of the session that a call names.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ChannelQuery {
    /// The channel of the session; `web` if it is not said.
    #[param(inline, nullable = false)]
    channel: Option<Channel>,
}

impl ChannelQuery {
    /// The body may name a channel as well; it must be the same.
    pub(super) fn with(self, body: Option<Channel>) -> Result<Self, Refusal> {
        Ok(Self { channel: either("channel", body, self.channel)? })
    }

    pub(super) fn session(&self, key: ConversationKey) -> SessionIdentity {
        session(key, self.channel)
    }
}

/// The session that a call is about.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct OfSession {
    session_id: ConversationKey,
    /// The channel of the session; `web` if it is not said.
    #[param(inline, nullable = false)]
    channel: Option<Channel>,
}

impl OfSession {
    pub(super) fn session(self) -> SessionIdentity {
        session(self.session_id, self.channel)
    }
}

/// One of several things of a session.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(super) struct ItemId {
    /// Its id or number
    pub(super) id: String,
}

pub(super) fn session(key: ConversationKey, channel: Option<Channel>) -> SessionIdentity {
    SessionIdentity::new(channel.unwrap_or(Channel::Web), key)
}

/// The session that a call about a plan names, if it names one.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct SessionQuery {
    /// The session the plan belongs to. With it a plan can also be named by its number, or by a piece of its id.
    #[param(nullable = false)]
    session_id: Option<ConversationKey>,
    /// The channel of the session; `web` if it is not said.
    #[param(inline, nullable = false)]
    channel: Option<Channel>,
}

impl SessionQuery {
    pub(super) fn new(session_id: Option<ConversationKey>, channel: Option<Channel>) -> Self {
        Self { session_id, channel }
    }

    /// The session that the body names, or else the query. Both must name the same one.
    pub(super) fn or(self, address: Self) -> Result<Self, Refusal> {
        let session_id = either("sessionId", self.session_id, address.session_id)?;
        Ok(Self { session_id, channel: either("channel", self.channel, address.channel)? })
    }

    pub(super) async fn plan(&self, app: &App, id: &PlanId) -> ApiResult<Arc<Plan>> {
        let found = match &self.session_id {
            Some(key) => in_session(app, &session(key.clone(), self.channel), id).await,
            None => match self.session_of(app, id).await {
                Ok(session) => app.engine().plans().get(&session, id).await,
                Err(error) => Err(error),
            },
        };
        self.unless_missing(app, id, found).await
    }

    /// The session and the id of the plan. A plan that is named by its id alone is not read.
    pub(super) async fn address(&self, app: &App, id: &PlanId) -> ApiResult<(SessionIdentity, PlanId)> {
        if self.session_id.is_some() {
            let plan = self.plan(app, id).await?;
            return Ok((plan.session.clone(), plan.id.clone()));
        }
        let session = self.session_of(app, id).await;
        Ok((self.unless_missing(app, id, session).await?, id.clone()))
    }

    async fn unless_missing<T>(&self, app: &App, id: &PlanId, found: LedgerResult<T>) -> ApiResult<T> {
        match found {
            Err(error) if error.code() == RefusalCode::NotFound => {
                self.count_mismatch(app, id).await?;
                Err(Refusal::not_found(format!("There is no plan {} here.", quoted(id.as_str()))).into())
            }
            found => found.map_err(ApiProblem::from),
        }
    }

    async fn session_of(&self, app: &App, id: &PlanId) -> LedgerResult<SessionIdentity> {
        let session = app.ledger().session_of(id).await?;
        let session = session.filter(|session| self.channel.is_none_or(|channel| channel == session.channel));
        session.ok_or_else(|| Refusal::not_found("There is no such plan.").into())
    }

    async fn count_mismatch(&self, app: &App, id: &PlanId) -> LedgerResult<()> {
        if let Some(session) = app.ledger().session_of(id).await? {
            tracing::warn!(session_identity = %session, event = "session_mismatch_blocked");
            app.metrics().mismatch_blocked();
        }
        Ok(())
    }
}

async fn in_session(app: &App, session: &SessionIdentity, id: &PlanId) -> LedgerResult<Arc<Plan>> {
    match id.as_str().parse::<PlanReference>() {
        Ok(reference) => app.engine().plans().find(session, Some(&reference)).await,
        // An id may be shorter than the shortest reference.
        Err(_) => app.engine().plans().get(session, id).await,
    }
}

fn either<T: PartialEq>(name: &str, body: Option<T>, address: Option<T>) -> Result<Option<T>, Refusal> {
    match (body, address) {
        (Some(body), Some(address)) if body != address => {
            Err(Refusal::invalid(format!("The body and the address name a different {name}.")))
        }
        (body, address) => Ok(body.or(address)),
    }
}
