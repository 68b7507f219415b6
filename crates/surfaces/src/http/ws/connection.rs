//! One client. Everything it is told is sent from one place, one frame after the other; nothing is queued for a client
//! that does not read, and one that does not read for too long is cut off.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use futures::future::{AbortHandle, Abortable, BoxFuture};
use futures::stream::{FuturesUnordered, StreamExt as _};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_engine::changes::Changed;
use tokio::time::{Instant, MissedTickBehavior, timeout};

use super::answers::{AnswerFrame, Pending, begin};
use super::frames::{ClientFrame, Frame, entry_text, identity};
use super::limits::WebSocketLimits;
use super::subscription::{Subscription, SubscriptionEvent};
use super::watch::Watch;
use crate::http::access::Authenticated;
use crate::http::access::client::Client as Transport;
use crate::http::app::App;
use crate::http::problem::ApiProblem;

/// How long a client may take to answer the end of the connection.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

type Following = BoxFuture<'static, (Subscription, SubscriptionEvent)>;
type Answering = BoxFuture<'static, AnswerFrame>;

pub(super) async fn serve(
    app: App,
    admitted: Authenticated,
    transport: Transport,
    limits: Arc<WebSocketLimits>,
    socket: WebSocket,
) {
    let _counted = app.metrics().websocket();
    let (subscribed, following, answering, early, sent, watch) = Default::default();
    let frame_rate = frame_rate(&limits);
    let mut client = Client {
        app,
        admitted,
        transport,
        limits,
        socket,
        subscribed,
        following,
        answering,
        early,
        sent,
        watch,
        frame_rate,
    };
    let end = client.run().await;
    client.close(end).await;
}

struct Client {
    app: App,
    admitted: Authenticated,
    transport: Transport,
    limits: Arc<WebSocketLimits>,
    socket: WebSocket,
    subscribed: HashMap<SessionIdentity, AbortHandle>,
    following: FuturesUnordered<Abortable<Following>>,
    answering: FuturesUnordered<Answering>,
    /// Answers that know of entries which the client follows and was not sent yet.
    early: Vec<AnswerFrame>,
    /// The highest `seq` that was sent of each session. Frames of a session come in the order of their `seq`.
    sent: HashMap<SessionIdentity, u64>,
    /// Every session, for a client that shows lists of them.
    watch: Option<Watch>,
    frame_rate: Option<DefaultDirectRateLimiter>,
}

/// Why the connection ends.
enum End {
    /// The client left, or cannot be reached.
    Left,
    TooSlow,
    Flooding,
    /// The client sent something that is no frame, or a frame that is too large; or its connection broke.
    Unreadable,
    /// The token was changed.
    NotAllowedAnyMore,
    Stopping,
    Silent,
}

impl Client {
    async fn run(&mut self) -> End {
        let Authenticated(admitted) = self.admitted.clone();
        let stopping = self.app.stopping().clone();
        let WebSocketLimits { ping, send_timeout, .. } = *self.limits;
        let mut pings = tokio::time::interval_at(Instant::now() + ping, ping);
        pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut last_received = Instant::now();
        loop {
            tokio::select! {
                biased;
                () = admitted.cancelled() => return End::NotAllowedAnyMore,
                () = stopping.cancelled() => return End::Stopping,
                message = self.socket.recv() => {
                    let message = match message {
                        Some(Ok(message)) => message,
                        Some(Err(_)) => return End::Unreadable,
                        None => return End::Left,
                    };
                    last_received = Instant::now();
                    if self.frame_rate.as_ref().is_some_and(|rate| rate.check().is_err()) {
                        return End::Flooding;
                    }
                    match message {
                        Message::Text(text) => if let Err(end) = self.handle_frame(text.as_str()).await { return end },
                        Message::Binary(_) => {
                            let problem = Refusal::invalid("Frames are JSON text.").into();
                            if let Err(end) = self.send(Frame::about_nothing("problem").problem(&problem).to_text()).await {
                                return end;
                            }
                        }
                        Message::Close(_) => return End::Left,
                        Message::Ping(_) | Message::Pong(_) => {}
                    }
                }
                Some(answer) = self.answering.next() => if let Err(end) = self.answer(answer).await { return end },
                Some(followed) = self.following.next() => {
                    // One that was given up says nothing any more.
                    if let Ok((subscription, event)) = followed
                        && let Err(end) = self.send_event(subscription, event).await
                    {
                        return end;
                    }
                }
                changed = changed(self.watch.as_mut()) => if let Err(end) = self.send_changes(changed).await { return end },
                _ = pings.tick() => {
                    if last_received.elapsed() > 2 * ping + send_timeout {
                        return End::Silent;
                    }
                    if let Err(end) = self.send_message(Message::Ping(Vec::new().into())).await { return end }
                }
            }
        }
    }

    async fn handle_frame(&mut self, text: &str) -> Result<(), End> {
        let frame = match serde_json::from_str::<ClientFrame>(text) {
            Ok(frame) => frame,
            Err(error) => {
                let problem = Refusal::invalid(format!("The frame cannot be understood: {error}")).into();
                return self.send(Frame::about_nothing("problem").problem(&problem).to_text()).await;
            }
        };
        match frame {
            ClientFrame::Watch => {
                if self.watch.is_none() {
                    self.watch = Some(Watch::start(&self.app));
                }
                self.send(Frame::about_nothing("watching").to_text()).await
            }
            ClientFrame::Unwatch => {
                self.watch = None;
                self.send(Frame::about_nothing("unwatched").to_text()).await
            }
            ClientFrame::Ping => self.send(Frame::about_nothing("pong").to_text()).await,
            ClientFrame::Subscribe { session_id, channel, after } => {
                self.subscribe(identity(session_id, channel), after).await
            }
            ClientFrame::Unsubscribe { session_id, channel } => {
                let session = identity(session_id, channel);
                self.forget(&session);
                self.send_early(&session).await?;
                self.send(Frame::about("unsubscribed", &session, 0).to_text()).await
            }
            ClientFrame::Message { session_id, channel, text, id, key } => {
                let session = identity(session_id, channel);
                let id = id.unwrap_or_default();
                let most = self.limits.messages;
                if self.answering.len() + self.early.len() >= most {
                    let message = format!("{most} messages of yours are being worked on; wait for an answer.");
                    let problem = Refusal::limit(message).into();
                    let frame = Frame::about("problem", &session, self.sent(&session)).with("id", id);
                    return self.send(frame.problem(&problem).to_text()).await;
                }
                // The next frame is read when this input has its place in the session.
                let begun = begin(&self.app, &self.transport, &session, &text, key.as_deref()).await;
                let pending = Pending { app: self.app.clone(), client: self.transport.clone(), session, id, text };
                self.answering.push(Box::pin(pending.answer(begun)));
                Ok(())
            }
        }
    }

    /// Sends an answer, or keeps it until the client was sent every entry that the answer knows of.
    async fn answer(&mut self, answer: AnswerFrame) -> Result<(), End> {
        if self.subscribed.contains_key(&answer.session) && self.sent(&answer.session) < answer.seq {
            self.early.push(answer);
            return Ok(());
        }
        self.send_answer(answer).await
    }

    async fn send_answer(&mut self, answer: AnswerFrame) -> Result<(), End> {
        let seq = self.sent(&answer.session).max(answer.seq);
        self.sent.insert(answer.session.clone(), seq);
        self.send(answer.into_text(seq)).await
    }

    /// Sends the answers that waited for the entries which were sent meanwhile, or for a subscription that is over.
    async fn send_early(&mut self, session: &SessionIdentity) -> Result<(), End> {
        let (follows, sent) = (self.subscribed.contains_key(session), self.sent(session));
        let is_due = |answer: &mut AnswerFrame| answer.session == *session && (!follows || answer.seq <= sent);
        let due: Vec<_> = self.early.extract_if(.., is_due).collect();
        for answer in due {
            self.send_answer(answer).await?;
        }
        Ok(())
    }

    fn sent(&self, session: &SessionIdentity) -> u64 {
        self.sent.get(session).copied().unwrap_or_default()
    }

    async fn subscribe(&mut self, session: SessionIdentity, after: Option<u64>) -> Result<(), End> {
        self.forget(&session);
        let most = self.limits.subscriptions;
        let begun = if self.subscribed.len() >= most {
            let message = format!("{most} sessions are followed already; unsubscribe from one.");
            Err(Refusal::limit(message).into())
        } else {
            Subscription::begin(&self.app, &session, after).await
        };
        match begun {
            Ok(subscription) => {
                // The client begins anew: what it was sent before does not count.
                self.sent.insert(session.clone(), subscription.seq);
                self.send(Frame::about("subscribed", &session, subscription.seq).to_text()).await?;
                self.follow(subscription);
                Ok(())
            }
            Err(problem) => {
                self.send_early(&session).await?;
                self.send(Frame::about("problem", &session, 0).problem(&problem).to_text()).await
            }
        }
    }

    fn follow(&mut self, mut subscription: Subscription) {
        let session = subscription.session().clone();
        let next: Following = Box::pin(async move {
            let event = subscription.next().await;
            (subscription, event)
        });
        let (handle, registration) = AbortHandle::new_pair();
        self.following.push(Abortable::new(next, registration));
        self.subscribed.insert(session, handle);
    }

    fn forget(&mut self, session: &SessionIdentity) {
        if let Some(handle) = self.subscribed.remove(session) {
            handle.abort();
        }
    }

    async fn send_event(&mut self, subscription: Subscription, event: SubscriptionEvent) -> Result<(), End> {
        let session = subscription.session().clone();
        let seq = subscription.seq;
        match event {
            SubscriptionEvent::Entry(entry) => {
                self.sent.insert(session.clone(), entry.seq);
                self.send(entry_text(&entry)).await?;
                self.follow(subscription);
                self.send_early(&session).await
            }
            SubscriptionEvent::Progress(view) => {
                let frame = Frame::about("progress", &session, seq).with("progress", view);
                self.send(frame.to_text()).await?;
                self.follow(subscription);
                Ok(())
            }
            SubscriptionEvent::Gone => {
                self.subscribed.remove(&session);
                self.send_early(&session).await?;
                self.send(Frame::about("gone", &session, seq).to_text()).await
            }
            SubscriptionEvent::Failed(error) => {
                self.subscribed.remove(&session);
                self.send_early(&session).await?;
                self.send(Frame::about("problem", &session, seq).problem(&ApiProblem::from(error)).to_text()).await
            }
        }
    }

    async fn send_changes(&mut self, changed: Changed) -> Result<(), End> {
        let Some(watch) = &mut self.watch else { return Ok(()) };
        for frame in watch.frames(&self.app, changed).await {
            self.send(frame).await?;
        }
        Ok(())
    }

    async fn send(&mut self, text: String) -> Result<(), End> {
        self.send_message(Message::Text(text.into())).await
    }

    async fn send_message(&mut self, message: Message) -> Result<(), End> {
        let Authenticated(admitted) = &self.admitted;
        tokio::select! {
            biased;
            sent = timeout(self.limits.send_timeout, self.socket.send(message)) => match sent {
                Ok(Ok(())) => Ok(()),
                Ok(Err(_)) => Err(End::Left),
                Err(_) => Err(End::TooSlow),
            },
            // A client that does not read is disconnected for these reasons too.
            () = admitted.cancelled() => Err(End::NotAllowedAnyMore),
            () = self.app.stopping().cancelled() => Err(End::Stopping),
        }
    }

    async fn close(mut self, end: End) {
        let (code, reason) = match end {
            End::Left | End::TooSlow => return,
            End::Flooding => (close_code::POLICY, "too many frames"),
            End::Unreadable => (close_code::PROTOCOL, "this is no frame, or it is too large"),
            End::NotAllowedAnyMore => (close_code::POLICY, "the token was changed"),
            End::Stopping => (close_code::RESTART, "the server is stopping"),
            End::Silent => (close_code::AWAY, "you did not answer"),
        };
        let frame = CloseFrame { code, reason: reason.into() };
        let closing = async {
            self.socket.send(Message::Close(Some(frame))).await?;
            // The server reads and drops what the client sent before it got the close frame. If it closed the connection on
            // a client that is still sending, the connection would be reset and the reason lost.
            while let Some(Ok(_)) = self.socket.recv().await {}
            Ok::<_, axum::Error>(())
        };
        let _ = timeout(self.limits.send_timeout.min(CLOSE_TIMEOUT), closing).await;
    }
}

async fn changed(watch: Option<&mut Watch>) -> Changed {
    match watch {
        Some(watch) => watch.next().await,
        None => std::future::pending().await,
    }
}

/// `None` where there is no limit.
fn frame_rate(limits: &WebSocketLimits) -> Option<DefaultDirectRateLimiter> {
    let quota = Quota::with_period(limits.frame_interval)?.allow_burst(limits.burst);
    Some(RateLimiter::direct(quota))
}
