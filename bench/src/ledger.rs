//! The ledger under load, through the engine.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use planwright_core::actor::Actor;
use planwright_core::command::{Command, DraftCommand};
use planwright_core::plan::PlanStyle;
use planwright_core::session::{Channel, ConversationKey, SessionIdentity};
use planwright_engine::Engine;
use planwright_engine::core as planwright_core;
use planwright_store::Location;

use crate::bare::rate;

pub(crate) async fn open(location: &Location) -> anyhow::Result<Engine> {
    Ok(Engine::new(planwright_store::open(location).await?, planwright_core::policy::Policy::default()))
}

/// One session for each caller, each with plan work on.
pub(crate) async fn sessions(engine: &Engine, count: usize) -> anyhow::Result<Arc<Vec<SessionIdentity>>> {
    let mut sessions = Vec::with_capacity(count);
    for number in 0..count {
        sessions.push(open_session(engine, number).await?);
    }
    Ok(Arc::new(sessions))
}

/// The session of the caller with this number, with plan work on.
pub(crate) async fn open_session(engine: &Engine, number: usize) -> anyhow::Result<SessionIdentity> {
    let by = agent();
    let session = SessionIdentity::new(Channel::Mcp, ConversationKey::new(format!("bench-caller-{number:06}"))?);
    engine.sessions().open(&session, &by).await?;
    engine.sessions().ensure_plan_mode(&session, &by, Some(PlanStyle::Document)).await?;
    Ok(session)
}

/// Durable `plan_set_content` calls a second.
pub(crate) async fn set_content(engine: &Engine, callers: usize, time: Duration) -> anyhow::Result<f64> {
    let sessions = sessions(engine, callers).await?;
    let engine = engine.clone();
    rate(callers, time, move |caller| {
        let (engine, sessions) = (engine.clone(), Arc::clone(&sessions));
        async move {
            let draft = DraftCommand::SetContent { markdown: another_text(), title: None };
            engine.submit(&sessions[caller], &agent(), Command::Draft(draft)).await?;
            Ok(())
        }
    })
    .await
}

pub(crate) fn agent() -> Actor {
    Actor::agent("bench", "bench")
}

/// A text that was not set before; setting the same one again would change nothing.
pub(crate) fn another_text() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("{MARKDOWN}\nDraft {}\n", COUNT.fetch_add(1, Ordering::Relaxed))
}

/// A small plan, as they are in practice.
const MARKDOWN: &str = "# Move the service\n\n- [ ] Read the present configuration\n- [ ] Write the new one\n\
    - [ ] Try it beside the old one\n- [ ] Switch over\n- [ ] Watch it for a day\n- [ ] Remove the old one\n";
