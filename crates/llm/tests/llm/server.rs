//! A provider on a port of its own that answers what the test says, piece by piece, and keeps what it was sent.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, Response, StatusCode};
use futures::stream::{self, StreamExt};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

#[derive(Debug)]
pub(crate) struct Server {
    address: String,
    stage: Arc<Mutex<Stage>>,
    taken: Arc<AtomicUsize>,
    hung_up: Arc<Notify>,
    serving: JoinHandle<()>,
}

/// Part of an answer that never ends: it is dropped when the client closes the connection.
struct UntilHungUp(Arc<Notify>);

impl Drop for UntilHungUp {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

#[derive(Debug, Default)]
struct Stage {
    answers: VecDeque<Answer>,
    received: Vec<Received>,
}

#[derive(Debug, Clone)]
pub(crate) struct Received {
    /// With the query.
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Answer {
    status: u16,
    headers: Vec<(&'static str, String)>,
    pieces: Vec<Vec<u8>>,
    /// Sent again and again after the pieces, until so many bytes were sent in all.
    repeated: Option<(Bytes, usize)>,
    pause: Duration,
    ending: Ending,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Whole,
    /// The connection is torn down.
    Cut,
    /// Nothing more comes, and the connection stays.
    Silent,
}

impl Answer {
    /// A stream that arrives in small pieces which respect neither lines nor characters.
    pub(crate) fn stream(text: &str) -> Self {
        let content_type =
            if text.starts_with('{') { "application/x-ndjson" } else { "text/event-stream; charset=utf-8" };
        let pieces = text.as_bytes().chunks(37).map(<[u8]>::to_vec).collect();
        let headers = vec![("content-type", content_type.to_owned())];
        Self { status: 200, headers, pieces, repeated: None, pause: Duration::ZERO, ending: Ending::Whole }
    }

    /// A stream that arrives in large pieces.
    pub(crate) fn whole(text: String) -> Self {
        Self { pieces: text.into_bytes().chunks(16 * 1024).map(<[u8]>::to_vec).collect(), ..Self::stream("data:") }
    }

    /// Repeats the text until so many bytes were sent.
    pub(crate) fn endless(text: String, bytes: usize) -> Self {
        Self::endless_after(String::new(), text, bytes)
    }

    pub(crate) fn endless_after(before: String, text: String, bytes: usize) -> Self {
        let mut answer = Self::stream(if text.starts_with('{') { "{" } else { "data:" });
        answer.pieces = if before.is_empty() { Vec::new() } else { vec![before.into_bytes()] };
        let times = (16 * 1024 / text.len()).max(1);
        answer.repeated = Some((Bytes::from(text.repeat(times)), bytes));
        answer
    }

    pub(crate) fn status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    pub(crate) fn error(status: u16, body: &str) -> Self {
        let headers = vec![("content-type", "application/json".to_owned())];
        let pieces = vec![body.as_bytes().to_vec()];
        Self { status, headers, pieces, repeated: None, pause: Duration::ZERO, ending: Ending::Whole }
    }

    pub(crate) fn page(text: &str) -> Self {
        Self { headers: vec![("content-type", "text/html".to_owned())], ..Self::stream(text) }
    }

    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    /// One event after another, with a pause before each.
    pub(crate) fn slowly(mut self, pause: Duration) -> Self {
        let whole = String::from_utf8(self.pieces.concat()).unwrap();
        self.pieces = whole.split_inclusive("\n\n").map(|event| event.as_bytes().to_vec()).collect();
        self.pause = pause;
        self
    }

    /// Only the part before `mark`, and then the connection is gone.
    pub(crate) fn cut_before(self, mark: &str) -> Self {
        Self { ending: Ending::Cut, ..self.only_before(mark) }
    }

    /// Only the part before `mark`, and then nothing more.
    pub(crate) fn silent_before(self, mark: &str) -> Self {
        Self { ending: Ending::Silent, ..self.only_before(mark) }
    }

    /// Only the part before `mark`, ended as if that were all.
    pub(crate) fn ended_before(self, mark: &str) -> Self {
        self.only_before(mark)
    }

    fn only_before(mut self, mark: &str) -> Self {
        let whole = String::from_utf8(self.pieces.concat()).unwrap();
        let (before, _) = whole.split_once(mark).unwrap_or_else(|| panic!("{mark} is not in {whole}"));
        self.pieces = vec![before.as_bytes().to_vec()];
        self
    }

    fn into_response(self, taken: Arc<AtomicUsize>, hung_up: Arc<Notify>) -> Response<Body> {
        let pause = self.pause;
        let repeated = self.repeated.into_iter().flat_map(|(piece, bytes)| {
            let times = bytes / piece.len();
            std::iter::repeat_n(piece, times)
        });
        let pieces = stream::iter(self.pieces.into_iter().map(Bytes::from).chain(repeated)).then(move |piece| {
            let taken = Arc::clone(&taken);
            async move {
                if !pause.is_zero() {
                    tokio::time::sleep(pause).await;
                }
                taken.fetch_add(piece.len(), Ordering::Relaxed);
                Ok::<_, io::Error>(piece)
            }
        });
        let body = match self.ending {
            Ending::Whole => Body::from_stream(pieces),
            Ending::Cut => Body::from_stream(pieces.chain(stream::iter([Err(io::Error::other("cut"))]))),
            Ending::Silent => {
                let open = UntilHungUp(hung_up);
                let silence = stream::poll_fn(move |_| {
                    let _open = &open;
                    Poll::Pending
                });
                Body::from_stream(pieces.chain(silence))
            }
        };
        let mut response = Response::builder().status(StatusCode::from_u16(self.status).unwrap());
        for (name, value) in self.headers {
            response = response.header(name, value);
        }
        response.body(body).unwrap()
    }
}

impl Server {
    /// Gives the answers one after another; a request too many is an error 500 that says so.
    pub(crate) async fn answering(answers: impl IntoIterator<Item = Answer>) -> Self {
        let stage = Arc::new(Mutex::new(Stage { answers: answers.into_iter().collect(), received: Vec::new() }));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let taken = Arc::new(AtomicUsize::new(0));
        let hung_up = Arc::new(Notify::new());
        let (shared, counted, told) = (Arc::clone(&stage), Arc::clone(&taken), Arc::clone(&hung_up));
        let router = Router::new().fallback(move |request: Request| {
            answer(Arc::clone(&shared), Arc::clone(&counted), Arc::clone(&told), request)
        });
        let serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { address, stage, taken, hung_up, serving }
    }

    pub(crate) fn address(&self) -> String {
        self.address.clone()
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.stage.lock().unwrap().received.clone()
    }

    /// How much of its answers was taken from the server, including what lies in the buffers of the connection.
    pub(crate) fn bytes_taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }

    /// Waits until the client has closed the connection in the middle of an answer that never ends.
    pub(crate) async fn hung_up(&self) {
        self.hung_up.notified().await;
    }

    #[track_caller]
    pub(crate) fn only_request(&self) -> Received {
        let mut received = self.received();
        assert_eq!(received.len(), 1, "{received:?}");
        received.remove(0)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn answer(
    stage: Arc<Mutex<Stage>>,
    taken: Arc<AtomicUsize>,
    hung_up: Arc<Notify>,
    request: Request,
) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap();
    let received = Received {
        path: parts.uri.path_and_query().unwrap().to_string(),
        headers: parts.headers,
        body: serde_json::from_slice(&body).unwrap(),
    };
    let mut stage = stage.lock().unwrap();
    stage.received.push(received);
    let answer = stage.answers.pop_front();
    answer
        .unwrap_or_else(|| Answer::error(500, r#"{"error":"nothing more was prepared"}"#))
        .into_response(taken, hung_up)
}
