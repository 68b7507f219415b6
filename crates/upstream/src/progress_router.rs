//! Brings what a server says about a call to the call, and what it says about resources to those who subscribed.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use planwright_core::upstream::ServerName;
use planwright_engine::upstream::ResourceUpdate;
use rmcp::model::{ProgressNotificationParam, ProgressToken, ServerNotification};
use tokio::sync::{broadcast, mpsc};

/// Lines that wait for their call. More are dropped, because a person is shown only the latest anyway.
const WAITING: usize = 16;
/// Progress of calls that are not registered yet.
const EARLY: usize = 64;
/// The longest line of progress, in bytes.
const LONGEST_LINE: usize = 2_000;

#[derive(Debug)]
pub(crate) struct ProgressRouter {
    server: ServerName,
    updates: broadcast::Sender<ResourceUpdate>,
    routes: Mutex<Routes>,
    /// Whether the server said that its tools changed.
    has_news: AtomicBool,
}

#[derive(Debug, Default)]
struct Routes {
    calls: HashMap<ProgressToken, mpsc::Sender<String>>,
    early: VecDeque<(ProgressToken, String)>,
}

impl ProgressRouter {
    pub(crate) fn new(server: ServerName, updates: broadcast::Sender<ResourceUpdate>) -> Self {
        Self { server, updates, routes: Mutex::default(), has_news: AtomicBool::default() }
    }

    /// The progress of a call, from its beginning.
    pub(crate) fn register(&self, token: &ProgressToken) -> mpsc::Receiver<String> {
        let (sender, receiver) = mpsc::channel(WAITING);
        let mut routes = self.lock();
        for (_, line) in routes.early.iter().filter(|(of, _)| of == token) {
            let _ = sender.try_send(line.clone());
        }
        routes.early.retain(|(of, _)| of != token);
        routes.calls.insert(token.clone(), sender);
        receiver
    }

    pub(crate) fn forget(&self, token: &ProgressToken) {
        self.lock().calls.remove(token);
    }

    pub(crate) fn take_in(&self, notification: ServerNotification) {
        match notification {
            ServerNotification::ProgressNotification(progress) => self.progress(progress.params),
            ServerNotification::ToolListChangedNotification(_) => self.has_news.store(true, Ordering::Release),
            ServerNotification::ResourceUpdatedNotification(updated) => {
                // Without a client that listens it is lost.
                let _ = self.updates.send(ResourceUpdate { server: self.server.clone(), uri: updated.params.uri });
            }
            // The server's log and its lists of resources are of no use here.
            _ => {}
        }
    }

    fn progress(&self, progress: ProgressNotificationParam) {
        let line = words(&progress);
        let mut routes = self.lock();
        match routes.calls.get(&progress.progress_token) {
            Some(call) => drop(call.try_send(line)),
            None => {
                routes.early.push_back((progress.progress_token, line));
                if routes.early.len() > EARLY {
                    routes.early.pop_front();
                }
            }
        }
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

fn words(progress: &ProgressNotificationParam) -> String {
    let done = match progress.total {
        Some(total) => format!("{} of {total}", progress.progress),
        None => progress.progress.to_string(),
    };
    let Some(message) = progress.message.as_deref().filter(|message| !message.trim().is_empty()) else { return done };
    let message = message[..message.floor_char_boundary(LONGEST_LINE)].trim();
    format!("{message} ({done})")
}
