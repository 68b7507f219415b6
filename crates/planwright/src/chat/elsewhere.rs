//! What other processes decide while the person is at the prompt.

use planwright_core::session::SessionIdentity;
use planwright_engine::Engine;
use planwright_engine::feed::{Feed, SessionWatch};

use super::typeahead::Cards;
use super::waiting::cards;

/// Follows what waits in a session, from what is on the screen on.
#[derive(Debug)]
pub(super) struct Elsewhere {
    engine: Engine,
    session: SessionIdentity,
    shown: Cards,
    watch: SessionWatch,
    /// Whether it was written to the session since it was read.
    is_stale: bool,
}

impl Elsewhere {
    pub(super) fn new(engine: &Engine, feed: &Feed, session: &SessionIdentity, shown: &Cards) -> Self {
        let (engine, watch) = (engine.clone(), feed.watch(session));
        // Something may have been decided between the reading and the watch.
        Self { engine, session: session.clone(), shown: shown.clone(), watch, is_stale: true }
    }

    /// Waits until something else waits than before, and says what became of it. Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> String {
        loop {
            if !self.is_stale {
                self.watch.changed().await;
                self.is_stale = true;
            }
            // A store that cannot be reached is reported when an input needs it.
            let read = self.engine.sessions().snapshot(&self.session).await;
            let now = read.as_ref().ok().map(cards);
            let told = match &now {
                Some(now) if *now != self.shown => Some(self.told(now).await),
                Some(_) | None => None,
            };
            self.is_stale = false;
            if let (Some(now), Some(told)) = (now, told) {
                self.shown = now;
                return told;
            }
        }
    }

    async fn told(&self, now: &Cards) -> String {
        let mut told = Vec::new();
        let waits_still = |plan| now.plan.as_ref().is_some_and(|waiting| waiting.plan == plan);
        if let Some(before) = self.shown.plan.as_ref().filter(|before| now.plan.as_ref() != Some(*before)) {
            told.push(match self.engine.plans().get(&self.session, &before.plan).await {
                Ok(plan) if waits_still(plan.id.clone()) => format!("Plan {} has changed.", plan.number),
                Ok(plan) => format!("Plan {} is {} now: that was decided elsewhere.", plan.number, plan.status),
                Err(_) => "The plan that waited is gone.".to_owned(),
            });
        } else if now.plan != self.shown.plan {
            told.push("A plan waits for you.".to_owned());
        }
        if now.ask != self.shown.ask {
            let was_asked = self.shown.ask.is_some();
            told.extend(was_asked.then(|| "What the agent asked was answered elsewhere.".to_owned()));
            told.extend(now.ask.is_some().then(|| "The agent asks something.".to_owned()));
        }
        told.push("Press Enter to see how it stands.".to_owned());
        told.join(" ")
    }
}
