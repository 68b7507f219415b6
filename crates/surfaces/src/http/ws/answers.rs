//! What a client sends for the agent: submitted in the order it comes, and answered when it is over.

use planwright_agent::session::progress::ProgressStream;
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::StoredAnswer;
use serde_json::Value;

use super::frames::Frame;
use crate::http::access::client::Client;
use crate::http::app::App;
use crate::http::idempotency::{
    ClaimGuard, Claimed, FollowedRequest, IdempotentRequests, MAX_KEY, RequestContext, claimed_text,
};
use crate::http::input;
use crate::http::problem::{ApiProblem, ApiResult};

/// An answer on its way to the client.
#[derive(Debug)]
pub(super) struct AnswerFrame {
    /// The session the person is in afterwards.
    pub(super) session: SessionIdentity,
    /// The last entry of its journal that the answer knows of.
    pub(super) seq: u64,
    id: Value,
    outcome: StoredAnswer,
}

impl AnswerFrame {
    pub(super) fn into_text(self, seq: u64) -> String {
        let kind = if is_success(&self.outcome) { "answer" } else { "problem" };
        let body = serde_json::from_str(&self.outcome.body).unwrap_or_default();
        Frame::about(kind, &self.session, seq).with("id", self.id).with_all(body).to_text()
    }
}

/// A message that was submitted, or is known already.
pub(super) enum BegunMessage {
    Submitted(ProgressStream, Option<ClaimGuard>),
    Answered(StoredAnswer),
    /// A message with this key is being worked on.
    Followed(FollowedRequest, String),
    Refused(ApiProblem),
}

/// Submits a message. When this returns, it has its place in the session.
pub(super) async fn begin(
    app: &App,
    client: &Client,
    session: &SessionIdentity,
    text: &str,
    key: Option<&str>,
) -> BegunMessage {
    let begun = match key {
        Some(key) => begin_named(app, client, session, text, key).await,
        None => submit(app, client, session, text, None).await,
    };
    begun.unwrap_or_else(BegunMessage::Refused)
}

/// A message with a key is carried out once. With another text the key is refused.
async fn begin_named(
    app: &App,
    client: &Client,
    session: &SessionIdentity,
    text: &str,
    key: &str,
) -> ApiResult<BegunMessage> {
    if !(1..=MAX_KEY).contains(&key.len()) {
        return Err(Refusal::invalid(format!("A key is 1 to {MAX_KEY} bytes long.")).into());
    }
    // A session that does not exist has no requests.
    app.engine().sessions().get(session).await?;
    Ok(match IdempotentRequests::new(app.clone()).claim(&claimed_text(session, key, text)).await? {
        Claimed::New(guard, name) => return submit(app, client, session, text, Some((guard, *name))).await,
        Claimed::Answered(answer) => BegunMessage::Answered(answer),
        Claimed::Follow(followed) => BegunMessage::Followed(followed, key.to_owned()),
    })
}

async fn submit(
    app: &App,
    client: &Client,
    session: &SessionIdentity,
    text: &str,
    named: Option<(ClaimGuard, RequestContext)>,
) -> ApiResult<BegunMessage> {
    let (guard, name) = named.unzip();
    let context = name.unwrap_or_default().of_client(app, client.clone()).await?;
    let stream = app.submit_text(session, text, &context).await?;
    Ok(BegunMessage::Submitted(stream, guard))
}

/// A message that waits for its answer.
pub(super) struct Pending {
    pub(super) app: App,
    pub(super) client: Client,
    pub(super) session: SessionIdentity,
    pub(super) id: Value,
    pub(super) text: String,
}

impl Pending {
    pub(super) async fn answer(self, begun: BegunMessage) -> AnswerFrame {
        let outcome = self.outcome(begun).await;
        let session = session_in(&outcome).unwrap_or(self.session);
        let seq = self.app.feed().head(&session).await.unwrap_or_default();
        AnswerFrame { session, seq, id: self.id, outcome }
    }

    async fn outcome(&self, mut begun: BegunMessage) -> StoredAnswer {
        loop {
            match begun {
                BegunMessage::Submitted(stream, guard) => {
                    let answer = input::answer(stream, &self.session, None).await;
                    let outcome = answer.map_or_else(|problem| refused(&problem), |view| answered(&view));
                    if let Some(guard) = guard {
                        guard.settle(outcome.clone()).await;
                    }
                    return outcome;
                }
                BegunMessage::Answered(outcome) => return outcome,
                BegunMessage::Refused(problem) => return refused(&problem),
                BegunMessage::Followed(followed, key) => match followed.answer().await {
                    Some(outcome) => return outcome,
                    // The one that was first broke off.
                    None => begun = begin(&self.app, &self.client, &self.session, &self.text, Some(&key)).await,
                },
            }
        }
    }
}

fn answered(view: &Value) -> StoredAnswer {
    StoredAnswer { status: 200, body: view.to_string() }
}

fn refused(problem: &ApiProblem) -> StoredAnswer {
    StoredAnswer { status: problem.status().as_u16(), body: problem.to_value().to_string() }
}

fn is_success(outcome: &StoredAnswer) -> bool {
    (200..300).contains(&outcome.status)
}

/// An answer says in which session the person is then.
fn session_in(outcome: &StoredAnswer) -> Option<SessionIdentity> {
    let body: Value = serde_json::from_str(&outcome.body).ok().filter(|_| is_success(outcome))?;
    let named = |name: &str| body.get(name).and_then(Value::as_str);
    format!("{}:{}", named("channel")?, named("sessionId")?).parse().ok()
}
