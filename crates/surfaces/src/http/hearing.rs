//! What a person types, from any surface: it is heard to its end whoever hangs up, and told on the way to whoever looks.

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use planwright_core::ids::RequestId;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::SessionIdentity;
use planwright_core::slash::{self, Input};
use planwright_engine::agent::{Answer, Place, Progress, Watcher};
use planwright_engine::ledger::LedgerResult;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::access::client::Client;
use super::app::App;
use super::idempotency::{Asked, hashed};
use super::problem::{ApiResult, Problem};
use crate::wire::{AnswerView, PlanCardView, ProgressView};

/// How much whoever waits for the answer may be behind; then they miss some of what is told on the way.
pub(crate) const BEHIND: usize = 1024;

/// What came of it.
#[derive(Debug)]
pub(crate) struct Heard {
    /// The session the person is in afterwards.
    pub(crate) session: SessionIdentity,
    pub(crate) view: Value,
}

/// What is told on the way, and where it happens.
pub(crate) type Telling = mpsc::Sender<(SessionIdentity, Progress)>;

/// Something for the agent, or a command. What has a `key` is not carried out again when it is sent again.
/// When this answers, it has its place among everything that is said in the session.
pub(crate) async fn hear(
    app: &App,
    client: &Client,
    session: &SessionIdentity,
    text: &str,
    key: Option<&str>,
) -> ApiResult<Hearing> {
    let name = key.map(|key| RequestId::new(hashed([b"hear", session.to_string().as_bytes(), key.as_bytes()])));
    let asked = Asked { name: name.transpose()?, again: false };
    begin(app, client, session, text, asked, None).await
}

/// The same for a request that may have come before, with somebody who listens.
pub(crate) async fn hear_asked(
    app: &App,
    client: &Client,
    session: &SessionIdentity,
    text: &str,
    asked: Asked,
    telling: Option<Telling>,
) -> ApiResult<Heard> {
    begin(app, client, session, text, asked, telling).await?.heard().await
}

async fn begin(
    app: &App,
    client: &Client,
    session: &SessionIdentity,
    text: &str,
    asked: Asked,
    telling: Option<Telling>,
) -> ApiResult<Hearing> {
    // Sessions begin by being opened, and not by a message to a key that nobody has.
    app.engine().session(session).await?;
    if asked.again {
        check_repeatable(text)?;
    }
    // The session knows which version of a plan was shown in it last.
    let place = Place::new(client.transport(), session.clone());
    let (app, text) = (app.clone(), text.to_owned());
    let tasks = app.tasks().clone();
    let mut work = Box::pin(async move { listen(&app, &place, &text, &asked, telling).await });
    // A message takes its place in the queue when it is first looked at, and not when a thread has time for it.
    let first = poll_fn(|context| Poll::Ready(work.as_mut().poll(context))).await;
    let work = tasks.spawn(async move {
        match first {
            Poll::Ready(answer) => answer,
            Poll::Pending => work.await,
        }
    });
    Ok(Hearing { work })
}

/// Something that is being heard; it goes on whether somebody waits for it or not.
#[derive(Debug)]
pub(crate) struct Hearing {
    work: JoinHandle<LedgerResult<Answer>>,
}

impl Hearing {
    pub(crate) async fn heard(self) -> ApiResult<Heard> {
        match self.work.await {
            Ok(answer) => heard(answer?),
            Err(_) => Err(Refusal::new(RefusalCode::Internal, "The answer broke off.").into()),
        }
    }
}

/// What is told on the way, as every surface tells it.
pub(crate) fn progress_view(progress: &Progress) -> Value {
    serde_json::to_value(ProgressView::from(progress)).unwrap_or_default()
}

async fn listen(app: &App, place: &Place, text: &str, asked: &Asked, telling: Option<Telling>) -> LedgerResult<Answer> {
    let session = &place.session;
    let (watcher, mut told) = Watcher::new();
    let (agent, person) = (asked.agent(app), app.person());
    let mut hearing = std::pin::pin!(agent.hear(place, &person, text, &watcher));
    let answer = loop {
        tokio::select! {
            biased;
            Some(progress) = told.recv() => pass_on(app, session, progress, telling.as_ref()),
            answer = &mut hearing => break answer,
        }
    };
    while let Ok(progress) = told.try_recv() {
        pass_on(app, session, progress, telling.as_ref());
    }
    answer
}

fn pass_on(app: &App, session: &SessionIdentity, progress: Progress, telling: Option<&Telling>) {
    app.live().tell(session, &progress);
    if let Some(telling) = telling {
        let _ = telling.try_send((session.clone(), progress));
    }
}

/// Has everything that happens from now on in work that nobody waits for told to whoever looks at the session.
pub(crate) fn told_to_lookers(app: &App, session: &SessionIdentity) -> Watcher {
    let (watcher, mut told) = Watcher::new();
    let (app, session) = (app.clone(), session.clone());
    tokio::spawn(async move {
        while let Some(progress) = told.recv().await {
            app.live().tell(&session, &progress);
        }
    });
    watcher
}

fn heard(answer: Answer) -> ApiResult<Heard> {
    let Some(code) = answer.refusal else {
        let session = answer.session.clone();
        return Ok(Heard { session, view: serde_json::to_value(AnswerView::from(answer)).unwrap_or_default() });
    };
    let problem = Problem::new(Refusal::new(code, answer.reply));
    Err(match answer.plan.and_then(|plan| serde_json::to_value(PlanCardView::from(plan)).ok()) {
        Some(plan) => problem.with("plan", plan),
        None => problem,
    })
}

/// Of a message it is known what became of it the first time. A command may be several things at once.
fn check_repeatable(text: &str) -> Result<(), Problem> {
    match slash::parse(text) {
        Input::Message(_) | Input::Refused(_) => Ok(()),
        Input::Command(_) => {
            let words = "This command was begun before and nobody knows whether it was carried out. The journal of the \
                         session says what happened; send it under another key if it did not.";
            Err(Problem::new(Refusal::conflict(words)).retry_after(Duration::from_secs(1)))
        }
    }
}
