//! A message that is answered as server-sent events: what happens while it is worked on, and then the answer.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::stream;
use planwright_agent::session::progress::Progress;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::SessionIdentity;
use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};

use super::app::App;
use super::extract::Path;
use super::input::{PROGRESS_BACKLOG, progress_view};
use super::problem::ApiProblem;

pub(super) const MEDIA_TYPE: &str = "text/event-stream";

const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// What is refused at once is answered like any other request; after this the stream begins.
const FIRST_ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

/// Runs the request as it is, listens to it, and tells.
pub(crate) async fn streamed(
    State(app): State<App>,
    Path(key): Path<String>,
    mut request: Request,
    next: Next,
) -> Response {
    if !is_wanted(request.headers()) {
        return next.run(request).await;
    }
    let (telling, told) = mpsc::channel(PROGRESS_BACKLOG);
    request.extensions_mut().insert(telling);
    let (tell, answer) = oneshot::channel();
    // A client that closes the connection ends the stream, not the work that it reports.
    app.tasks().spawn(async move {
        let _ = tell.send(next.run(request).await);
    });
    let mut streaming = Streaming { app, key, told, first: None, answer: Answering::Awaited(answer), known: None };
    if let Some(refused) = streaming.refused_at_once().await {
        return refused;
    }
    let events = stream::unfold(streaming, |mut streaming| async move {
        let event = streaming.next().await?;
        Some((Ok::<_, Infallible>(event), streaming))
    });
    Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response()
}

fn is_wanted(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).into_iter().filter_map(|value| value.to_str().ok());
    accepted.flat_map(|value| value.split(',')).any(|kind| {
        let kind = kind.split(';').next().unwrap_or_default();
        kind.trim().eq_ignore_ascii_case(MEDIA_TYPE)
    })
}

struct Streaming {
    app: App,
    /// Of the session that the request names.
    key: String,
    told: mpsc::Receiver<(SessionIdentity, Progress)>,
    /// What came before it was known whether there is a stream.
    first: Option<(SessionIdentity, Progress)>,
    answer: Answering,
    /// Where it happens, and the last entry of the journal that is known.
    known: Option<(SessionIdentity, u64)>,
}

enum Answering {
    Awaited(oneshot::Receiver<Response>),
    There(Response),
    Told,
}

impl Streaming {
    /// The answer, if it is a refusal that comes before anything has happened.
    async fn refused_at_once(&mut self) -> Option<Response> {
        let Answering::Awaited(answer) = &mut self.answer else { return None };
        tokio::select! {
            biased;
            Some(first) = self.told.recv() => {
                self.first = Some(first);
                None
            }
            answered = answer => {
                let response = answered.unwrap_or_else(|_| broke_off().into_response());
                if !response.status().is_success() {
                    return Some(response);
                }
                self.answer = Answering::There(response);
                None
            }
            () = tokio::time::sleep(FIRST_ANSWER_TIMEOUT) => None,
        }
    }

    /// The next event; none after the answer.
    async fn next(&mut self) -> Option<Event> {
        if let Some(first) = self.first.take() {
            return Some(self.progress(first).await);
        }
        match std::mem::replace(&mut self.answer, Answering::Told) {
            Answering::Told => None,
            Answering::There(response) => Some(self.end(response).await),
            Answering::Awaited(mut answer) => {
                let stopping = self.app.stopping().clone();
                tokio::select! {
                    biased;
                    Some(told) = self.told.recv() => {
                        self.answer = Answering::Awaited(answer);
                        Some(self.progress(told).await)
                    }
                    answered = &mut answer => {
                        let response = answered.unwrap_or_else(|_| broke_off().into_response());
                        Some(self.end(response).await)
                    }
                    () = stopping.cancelled() => {
                        let message = "The server is stopping. Another process continues the work; the journal has the result.";
                        Some(self.problem(ApiProblem::new(Refusal::new(RefusalCode::Unavailable, message)).to_value()))
                    }
                }
            }
        }
    }

    async fn progress(&mut self, (session, progress): (SessionIdentity, Progress)) -> Event {
        let known = self.known.take().filter(|(there, _)| *there == session);
        let seq = match (&progress, known) {
            // Nothing is written between two pieces of text.
            (Progress::Text(_) | Progress::ToolOutput { .. }, Some((_, seq))) => seq,
            (_, known) => self.app.feed().head(&session).await.ok().or(known.map(|(_, seq)| seq)).unwrap_or_default(),
        };
        let view = progress_view(&progress).unwrap_or_default();
        let kind = view.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        self.known = Some((session, seq));
        self.event(&kind, view)
    }

    async fn end(&mut self, response: Response) -> Event {
        let succeeded = response.status().is_success();
        let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap_or_default();
        let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        // An answer says in which session one is then.
        let named = |name: &str| body.get(name).and_then(Value::as_str);
        let answered = named("channel").zip(named("sessionId")).map(|(channel, key)| format!("{channel}:{key}"));
        let answered = answered.and_then(|session| session.parse().ok());
        if let Some(session) = answered.or(self.known.take().map(|(session, _)| session)) {
            let seq = self.app.feed().head(&session).await.unwrap_or_default();
            self.known = Some((session, seq));
        }
        if succeeded { self.event("answer", body) } else { self.problem(body) }
    }

    fn problem(&self, body: Value) -> Event {
        self.event("problem", body)
    }

    /// Every event says of what kind it is, where it happened, and how far the journal was.
    fn event(&self, kind: &str, body: Value) -> Event {
        let mut data = Map::new();
        data.insert("type".to_owned(), kind.into());
        data.insert("sessionId".to_owned(), self.key.as_str().into());
        data.insert("seq".to_owned(), 0.into());
        if let Some((session, seq)) = &self.known {
            data.insert("sessionId".to_owned(), session.conversation.as_str().into());
            data.insert("channel".to_owned(), session.channel.as_str().into());
            data.insert("seq".to_owned(), (*seq).into());
        }
        if let Value::Object(fields) = body {
            data.extend(fields);
        }
        Event::default().event(kind).data(Value::Object(data).to_string())
    }
}

fn broke_off() -> ApiProblem {
    ApiProblem::new(Refusal::new(RefusalCode::Internal, "The answer was interrupted."))
}
