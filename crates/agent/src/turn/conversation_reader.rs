//! The conversation, from the journal and the cache.

use std::sync::Arc;

use planwright_core::conversation::Conversation;
use planwright_core::event::{Event, TurnEvent};
use planwright_core::ids::TurnId;
use planwright_core::replay::TurnReplay;
use planwright_core::session::{Session, SessionIdentity};
use planwright_core::turn::{Purpose, Turn};
use planwright_engine::ledger::{Committed, LedgerResult};

use crate::agent_context::AgentContext;

#[derive(Debug, Clone)]
pub(crate) struct ConversationReader {
    agent: Arc<AgentContext>,
}

impl ConversationReader {
    pub(super) fn new(agent: &Arc<AgentContext>) -> Self {
        Self { agent: Arc::clone(agent) }
    }

    /// The conversation up to the last commit, and the turn that is open in it.
    pub(super) async fn load(&self, committed: &Committed, turn: &TurnId) -> LedgerResult<(Conversation, Turn)> {
        let opened = committed.snapshot.opened()?;
        let purpose = opened_purpose(opened, turn);
        if let Some(context) = purpose.run().filter(|context| context.has_own_conversation()) {
            let run = opened.auto.as_deref().and_then(|state| state.run(&context.run_id));
            let from = run.map_or(opened.history_from, |run| run.history_from);
            return self.load_from(Conversation::of_run(context.run_id.clone()), committed, turn, from).await;
        }
        let cached = self.agent.conversations.take(&committed.snapshot.identity, opened.opened_at);
        let cached = cached.filter(|kept| kept.seq <= committed.seq);
        let first = committed.seq + 1 - committed.events.len() as u64;
        let just_begun = matches!(committed.events.as_slice(), [Event::Turn { event: TurnEvent::Begun { .. }, .. }]);
        if let Some(kept) = cached
            && just_begun
        {
            let mut conversation = kept.conversation;
            if kept.seq + 1 < first {
                self.read(&committed.snapshot.identity, kept.seq + 1, first, &mut |seq, event| {
                    conversation.apply(seq, event);
                })
                .await?;
            }
            committed.events.iter().zip(first..).for_each(|(event, seq)| conversation.apply(seq, event));
            return Ok((conversation, Turn::new(turn.clone(), purpose)));
        }
        self.load_from(Conversation::default(), committed, turn, opened.history_from).await
    }

    /// A conversation and its open turn, read from the entry `from` up to the last commit.
    async fn load_from(
        &self,
        mut conversation: Conversation,
        committed: &Committed,
        turn: &TurnId,
        from: u64,
    ) -> LedgerResult<(Conversation, Turn)> {
        let (opened, mut replay) = (committed.snapshot.opened()?, TurnReplay::new(turn.clone()));
        self.read(&committed.snapshot.identity, from, committed.seq + 1, &mut |seq, event| {
            conversation.apply(seq, event);
            replay.apply(event);
        })
        .await?;
        Ok((conversation, replay.into_open().unwrap_or_else(|| Turn::new(turn.clone(), opened_purpose(opened, turn)))))
    }

    /// A turn apart from the conversation, with its own messages.
    pub(crate) async fn load_apart(
        &self,
        session: &SessionIdentity,
        turn: &TurnId,
        purpose: &Purpose,
        from: u64,
    ) -> LedgerResult<(Conversation, Turn)> {
        let (mut conversation, mut replay) = (Conversation::of_turn(turn.clone()), TurnReplay::new(turn.clone()));
        self.read(session, from, u64::MAX, &mut |seq, event| {
            conversation.apply(seq, event);
            replay.apply(event);
        })
        .await?;
        Ok((conversation, replay.into_open().unwrap_or_else(|| Turn::new(turn.clone(), purpose.clone()))))
    }

    /// Reads the conversation's entries from `from` up to, not including, `end`.
    pub(crate) async fn read(
        &self,
        session: &SessionIdentity,
        mut from: u64,
        end: u64,
        each: &mut (dyn FnMut(u64, &Event) + Send),
    ) -> LedgerResult<()> {
        const PAGE: u32 = 1_000;
        loop {
            let entries = self.agent.engine().ledger().conversation(session, from, PAGE).await?;
            for entry in entries.iter().filter(|entry| entry.seq < end) {
                each(entry.seq, &entry.event);
            }
            match entries.last() {
                Some(last) if entries.len() == PAGE as usize && last.seq + 1 < end => from = last.seq + 1,
                Some(_) | None => return Ok(()),
            }
        }
    }
}

fn opened_purpose(session: &Session, turn: &TurnId) -> Purpose {
    let open = session.turn.as_ref().and_then(|open| open.named(turn));
    open.map(|open| open.purpose.clone()).unwrap_or_default()
}
