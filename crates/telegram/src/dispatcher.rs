//! The updates of each chat, one after another. An update has its place in its session before the next one is begun; the
//! agent's work is not waited for, except where it moves the chat into another session.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use planwright_core::session::SessionIdentity;
use planwright_engine::backoff::Backoff;
use serde_json::Value;
use tokio::sync::mpsc;

use crate::context::{BotContext, is_transient};
use crate::conversation::{StartedUpdate, UpdateHandler};
use crate::update::{Update, UpdateContent};

/// The pauses before an update that failed is tried again.
const BACKOFF: Backoff = Backoff::new(Duration::from_millis(200), Duration::from_secs(30));
/// How often an update is tried that fails for a reason which does not pass.
const MAX_ATTEMPTS: u32 = 3;
/// How many finished updates are remembered.
const MAX_FINISHED: usize = 1_000;

/// An update, and the session that it belongs to if that is decided.
type Job = (Update, Option<SessionIdentity>);

#[derive(Debug)]
pub(crate) struct Dispatcher {
    handler: Arc<UpdateHandler>,
    chats: Mutex<HashMap<i64, mpsc::UnboundedSender<Job>>>,
    known: KnownUpdates,
}

/// Updates that this process works on or finished lately. A list of pending updates that was read a moment ago still has the
/// latter.
#[derive(Debug, Clone, Default)]
struct KnownUpdates {
    ids: Arc<Mutex<(HashSet<i64>, VecDeque<i64>)>>,
}

impl KnownUpdates {
    /// Whether the update is new.
    fn insert(&self, update: i64) -> bool {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner).0.insert(update)
    }

    fn finished(&self, update: i64) {
        let mut ids = self.ids.lock().unwrap_or_else(PoisonError::into_inner);
        ids.1.push_back(update);
        if ids.1.len() > MAX_FINISHED
            && let Some(oldest) = ids.1.pop_front()
        {
            ids.0.remove(&oldest);
        }
    }
}

impl Dispatcher {
    pub(crate) fn new(context: &Arc<BotContext>, username: Option<&str>) -> Self {
        let handler = Arc::new(UpdateHandler::new(context, username));
        Self { handler, chats: Mutex::default(), known: KnownUpdates::default() }
    }

    pub(crate) fn dispatch(&self, updates: impl Iterator<Item = (i64, String, Option<SessionIdentity>)>) {
        for (id, body, session) in updates {
            if !self.known.insert(id) {
                continue;
            }
            let raw: Value = serde_json::from_str(&body).unwrap_or_default();
            let update = Update::read(&raw).unwrap_or(Update { id, content: UpdateContent::Other });
            let chat = update.sender().and_then(|(_, chat)| chat).map_or(0, |chat| chat.id);
            self.send(chat, (update, session));
        }
    }

    fn send(&self, chat: i64, job: Job) {
        let mut chats = self.chats.lock().unwrap_or_else(PoisonError::into_inner);
        let queue = chats.entry(chat).or_insert_with(|| {
            let (queue, jobs) = mpsc::unbounded_channel();
            let task = ChatTask { handler: Arc::clone(&self.handler), known: self.known.clone() };
            tokio::spawn(task.run(jobs));
            queue
        });
        // The task ends with the bot.
        let _ = queue.send(job);
    }
}

#[derive(Debug)]
struct ChatTask {
    handler: Arc<UpdateHandler>,
    known: KnownUpdates,
}

impl ChatTask {
    async fn run(self, mut jobs: mpsc::UnboundedReceiver<Job>) {
        let shutdown = self.handler.context.shutdown.clone();
        let mut waiting = VecDeque::new();
        // Work that moves the chat into another session.
        let mut moving: Option<BoxFuture<'static, ()>> = None;
        loop {
            if moving.is_none()
                && let Some(job) = waiting.pop_front()
            {
                moving = self.begin(job).await;
                continue;
            }
            tokio::select! {
                biased;
                () = shutdown.cancelled() => return,
                () = finished(&mut moving) => moving = None,
                job = jobs.recv() => match job {
                    None => return,
                    // Stopping does not wait.
                    Some(job) if moving.is_some() && is_stop(&job.0) => drop(self.begin(job).await),
                    Some(job) => waiting.push_back(job),
                },
            }
        }
    }

    /// Gives the work back that the next update has to wait for.
    async fn begin(&self, job: Job) -> Option<BoxFuture<'static, ()>> {
        let (update, session) = job;
        let mut backoff = BACKOFF;
        loop {
            match self.handler.begin(&update, session.clone()).await {
                Ok(begun) => return self.follow(update.id, begun),
                Err(error) => {
                    tracing::warn!(event = "telegram_update_failed", update = update.id, %error);
                    if !is_transient(&error) && backoff.failures() + 1 >= MAX_ATTEMPTS {
                        return self.follow(update.id, self.handler.failed(&update, &error));
                    }
                }
            }
            if !self.handler.context.pause(&mut backoff).await {
                return None;
            }
        }
    }

    fn follow(&self, update: i64, begun: StartedUpdate) -> Option<BoxFuture<'static, ()>> {
        let StartedUpdate { work, moves_chat } = begun;
        let known = self.known.clone();
        let work = async move {
            work.await;
            known.finished(update);
        };
        if moves_chat {
            return Some(Box::pin(work));
        }
        tokio::spawn(work);
        None
    }
}

async fn finished(work: &mut Option<BoxFuture<'static, ()>>) {
    match work {
        Some(work) => work.await,
        None => std::future::pending().await,
    }
}

fn is_stop(update: &Update) -> bool {
    let UpdateContent::Message(message) = &update.content else { return false };
    let first = message.text.as_deref().and_then(|text| text.split_whitespace().next());
    first.is_some_and(|word| word == "/stop" || word.starts_with("/stop@"))
}
