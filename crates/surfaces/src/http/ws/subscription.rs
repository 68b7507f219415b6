//! One session that a client follows: its journal, without a hole or a double, and what happens in between.

use planwright_agent::session::progress::Progress;
use planwright_core::journal::Entry;
use planwright_core::session::SessionIdentity;
use planwright_engine::feed::{FeedItem, Follower};
use planwright_engine::ledger::LedgerError;
use serde_json::Value;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use crate::http::app::App;
use crate::http::input::progress_view;
use crate::http::problem::ApiProblem;

#[derive(Debug)]
pub(super) struct Subscription {
    follower: Follower,
    /// `None` once the sender is gone.
    live: Option<broadcast::Receiver<Progress>>,
    /// The last entry that was sent.
    pub(super) seq: u64,
}

#[derive(Debug)]
pub(super) enum SubscriptionEvent {
    Entry(Box<Entry>),
    /// Not stored: a client that misses it misses nothing of the journal.
    Progress(Value),
    Gone,
    Failed(LedgerError),
}

impl Subscription {
    pub(super) async fn begin(app: &App, session: &SessionIdentity, after: Option<u64>) -> Result<Self, ApiProblem> {
        let live = Some(app.agent().observe(session));
        let after = match after {
            Some(after) => after,
            None => app.feed().head(session).await?,
        };
        let follower = app.feed().follow(session, after).await?;
        Ok(Self { follower, live, seq: after })
    }

    pub(super) fn session(&self) -> &SessionIdentity {
        self.follower.session()
    }

    pub(super) async fn next(&mut self) -> SubscriptionEvent {
        loop {
            tokio::select! {
                biased;
                followed = self.follower.next() => {
                    return match followed {
                        Ok(FeedItem::Entry(entry)) => {
                            self.seq = entry.seq;
                            SubscriptionEvent::Entry(entry)
                        }
                        Ok(FeedItem::Gone) => SubscriptionEvent::Gone,
                        Err(error) => SubscriptionEvent::Failed(error),
                    };
                }
                progress = next_progress(self.live.as_mut()) => match progress {
                    Ok(progress) => if let Some(view) = progress_view(&progress) {
                        return SubscriptionEvent::Progress(view);
                    },
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => self.live = None,
                },
            }
        }
    }
}

async fn next_progress(live: Option<&mut broadcast::Receiver<Progress>>) -> Result<Progress, RecvError> {
    match live {
        Some(live) => live.recv().await,
        None => std::future::pending().await,
    }
}
