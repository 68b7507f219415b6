//! Brings what a server says and asks to the calls that it works on, and what it says about resources to those who subscribed.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use planwright_core::upstream::ServerName;
use planwright_engine::upstream::{
    CallEvent, CallProgress, ClientKey, LogMessage, QuestionError, QuestionKind, ResourceUpdate, ServerQuestion,
};
use rmcp::model::{ErrorCode, ProgressNotificationParam, ProgressToken, RequestId, ServerNotification};
use serde_json::Value;
use tokio::sync::{broadcast, mpsc};

/// Events that wait for their call. More are dropped.
const CAPACITY: usize = 64;
/// Progress of calls whose token is not known yet.
const MAX_EARLY: usize = 64;
/// The longest message of progress, in bytes.
const MAX_MESSAGE: usize = 2_000;

#[derive(Debug)]
pub(crate) struct CallRouter {
    server: ServerName,
    updates: broadcast::Sender<ResourceUpdate>,
    routes: Mutex<Routes>,
    /// Whether the server said that its tools changed.
    has_news: AtomicBool,
}

#[derive(Debug, Default)]
struct Routes {
    next: u64,
    calls: BTreeMap<u64, Route>,
    early: VecDeque<(ProgressToken, CallProgress)>,
}

#[derive(Debug)]
struct Route {
    events: mpsc::Sender<CallEvent>,
    client: Option<ClientKey>,
    /// Known once the request is sent.
    sent: Option<(RequestId, ProgressToken)>,
}

/// The route of a call, which ends with it.
#[derive(Debug)]
pub(crate) struct CallRoute {
    router: Arc<CallRouter>,
    number: u64,
}

impl CallRouter {
    pub(crate) fn new(server: ServerName, updates: broadcast::Sender<ResourceUpdate>) -> Self {
        Self { server, updates, routes: Mutex::default(), has_news: AtomicBool::default() }
    }

    /// The events of a call that is about to be made.
    pub(crate) fn begin(self: &Arc<Self>, client: Option<ClientKey>) -> (CallRoute, mpsc::Receiver<CallEvent>) {
        let (events, receiver) = mpsc::channel(CAPACITY);
        let mut routes = self.lock();
        routes.next += 1;
        let number = routes.next;
        routes.calls.insert(number, Route { events, client, sent: None });
        (CallRoute { router: Arc::clone(self), number }, receiver)
    }

    pub(crate) fn route(&self, notification: ServerNotification) {
        match notification {
            ServerNotification::ProgressNotification(progress) => self.progress(progress.params),
            ServerNotification::ToolListChangedNotification(_) => self.has_news.store(true, Ordering::Release),
            ServerNotification::ResourceUpdatedNotification(updated) => {
                // Without a client that listens it is lost.
                let _ = self.updates.send(ResourceUpdate { server: self.server.clone(), uri: updated.params.uri });
            }
            #[allow(deprecated, reason = "servers of the older life cycle have a log")]
            ServerNotification::LoggingMessageNotification(message) => {
                let message = message.params;
                let level = serde_json::to_value(message.level).ok();
                let level = level.as_ref().and_then(Value::as_str).unwrap_or("info").to_owned();
                self.log(&LogMessage { level, logger: message.logger, data: message.data });
            }
            // Lists of resources and prompts are asked for whenever a client asks.
            _ => {}
        }
    }

    fn progress(&self, params: ProgressNotificationParam) {
        let ProgressNotificationParam { progress_token, progress, total, message, .. } = params;
        let message = message.map(|message| message[..message.floor_char_boundary(MAX_MESSAGE)].to_owned());
        let progress = CallProgress { progress, total, message };
        let mut routes = self.lock();
        let of_call = |route: &&Route| route.sent.as_ref().is_some_and(|(_, token)| *token == progress_token);
        match routes.calls.values().find(of_call) {
            Some(route) => drop(route.events.try_send(CallEvent::Progress(progress))),
            None => {
                routes.early.push_back((progress_token, progress));
                if routes.early.len() > MAX_EARLY {
                    routes.early.pop_front();
                }
            }
        }
    }

    /// The protocol does not say which call a line of the log belongs to, so every client with a call gets it, once.
    fn log(&self, message: &LogMessage) {
        let routes = self.lock();
        let mut told = Vec::new();
        for route in routes.calls.values() {
            if !told.contains(&route.client) {
                told.push(route.client);
                let _ = route.events.try_send(CallEvent::Log(message.clone()));
            }
        }
    }

    /// Asks the client that made the call. `during` is the call, if the transport says which one it is.
    pub(crate) async fn ask(
        &self,
        kind: QuestionKind,
        params: Value,
        during: Option<&RequestId>,
    ) -> Result<Value, QuestionError> {
        let (question, answer) = ServerQuestion::new(kind, params);
        let events = self.route_of_question(during)?;
        events.try_send(CallEvent::Question(question)).map_err(|_| refused("The client is too busy to be asked."))?;
        answer.await.unwrap_or_else(|_| Err(refused("No client that can be asked takes part in the call.")))
    }

    fn route_of_question(&self, during: Option<&RequestId>) -> Result<mpsc::Sender<CallEvent>, QuestionError> {
        let routes = self.lock();
        let is_during = |route: &&Route| match (during, &route.sent) {
            (Some(during), Some((request, _))) => during == request,
            (Some(_), None) => false,
            (None, _) => true,
        };
        let mut calls = routes.calls.values().filter(is_during);
        let Some(first) = calls.next() else { return Err(refused("No call is under way.")) };
        if calls.any(|other| first.client.is_none() || other.client != first.client) {
            return Err(refused("Calls of several clients are under way, so it is not known whom to ask."));
        }
        Ok(first.events.clone())
    }

    pub(crate) fn has_news(&self) -> bool {
        self.has_news.load(Ordering::Acquire)
    }

    /// Whether there were news since it was last asked.
    pub(crate) fn take_news(&self) -> bool {
        self.has_news.swap(false, Ordering::AcqRel)
    }

    fn lock(&self) -> MutexGuard<'_, Routes> {
        self.routes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CallRoute {
    /// The request was sent. Progress that came before is told now.
    pub(crate) fn is_sent(&self, request: &RequestId, token: &ProgressToken) {
        let mut routes = self.router.lock();
        let (of_call, others) = std::mem::take(&mut routes.early).into_iter().partition(|(of, _)| of == token);
        routes.early = others;
        let of_call: VecDeque<(ProgressToken, CallProgress)> = of_call;
        let Some(route) = routes.calls.get_mut(&self.number) else { return };
        route.sent = Some((request.clone(), token.clone()));
        for (_, progress) in of_call {
            let _ = route.events.try_send(CallEvent::Progress(progress));
        }
    }
}

impl Drop for CallRoute {
    fn drop(&mut self) {
        self.router.lock().calls.remove(&self.number);
    }
}

fn refused(message: &str) -> QuestionError {
    QuestionError { code: ErrorCode::INVALID_REQUEST.0, message: format!("Refused by Planwright. {message}") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn router() -> Arc<CallRouter> {
        Arc::new(CallRouter::new("up".parse().unwrap(), broadcast::Sender::new(1)))
    }

    const ADA: Option<ClientKey> = Some(ClientKey(1));
    const BOB: Option<ClientKey> = Some(ClientKey(2));

    #[tokio::test]
    async fn a_question_goes_to_the_one_client_whose_calls_are_under_way() {
        for (calls, passes) in [
            (vec![ADA], true),
            (vec![ADA, ADA], true),
            (vec![ADA, BOB], false),
            // A call of this program's agent: its observer refuses the question.
            (vec![None], true),
            (vec![None, ADA], false),
            (vec![None, None], false),
            (vec![], false),
        ] {
            let router = router();
            let routes: Vec<_> = calls.iter().map(|client| router.begin(*client)).collect();
            assert_eq!(router.route_of_question(None).is_ok(), passes, "{calls:?}");
            drop(routes);
            assert!(router.route_of_question(None).is_err(), "calls that are over are not asked");
        }
    }

    #[tokio::test]
    async fn over_http_the_stream_says_whose_call_it_is() {
        let router = router();
        let (ada, mut events_of_ada) = router.begin(ADA);
        let (bob, mut events_of_bob) = router.begin(BOB);
        ada.is_sent(&RequestId::Number(1), &ProgressToken(RequestId::Number(1)));
        bob.is_sent(&RequestId::Number(2), &ProgressToken(RequestId::Number(2)));
        let request = RequestId::Number(2);
        let asked = router.ask(QuestionKind::Sampling, json!({}), Some(&request));
        let answered = async {
            let Some(CallEvent::Question(question)) = events_of_bob.recv().await else { panic!("no question") };
            question.answer(Ok(json!("yes")));
        };
        assert_eq!(tokio::join!(asked, answered).0, Ok(json!("yes")));
        assert!(events_of_ada.try_recv().is_err());
    }

    #[tokio::test]
    async fn a_question_that_is_dropped_is_refused() {
        let router = router();
        let (_route, mut events) = router.begin(None);
        let asked = router.ask(QuestionKind::Elicitation, json!({}), None);
        let dropped = async { drop(events.recv().await) };
        let refused = tokio::join!(asked, dropped).0.unwrap_err();
        assert!(refused.message.starts_with("Refused by Planwright."), "{refused:?}");
    }

    #[test]
    fn a_line_of_the_log_is_told_once_to_each_client_with_a_call() {
        let router = router();
        let mut calls: Vec<_> = [ADA, ADA, BOB].map(|client| router.begin(client)).into();
        router.log(&LogMessage { level: "info".to_owned(), logger: None, data: json!("x") });
        let told: Vec<_> = calls.iter_mut().map(|(_, events)| events.try_recv().is_ok()).collect();
        assert_eq!(told, [true, false, true]);
    }

    #[test]
    fn progress_that_comes_before_the_request_is_known_waits_for_it() {
        let router = router();
        let (route, mut events) = router.begin(ADA);
        for (token, progress) in [(7, 1.0), (8, 2.0)] {
            router.progress(ProgressNotificationParam::new(ProgressToken(RequestId::Number(token)), progress));
        }
        assert!(events.try_recv().is_err());
        route.is_sent(&RequestId::Number(1), &ProgressToken(RequestId::Number(7)));
        let Ok(CallEvent::Progress(told)) = events.try_recv() else { panic!("no progress") };
        assert!((told.progress - 1.0).abs() < f64::EPSILON && events.try_recv().is_err());
    }
}
