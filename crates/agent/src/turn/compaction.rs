//! Compaction: the older part of a conversation that grows too long becomes a summary.

use std::sync::Arc;
use std::time::Duration;

use planwright_core::conversation::compaction::{self, CutPoint};
use planwright_core::conversation::{Compaction, Conversation, CountTokens as _, Summarizer, clip};
use planwright_core::model::{ModelMessage, ModelRequest};
use planwright_core::prompt;
use planwright_core::snapshot::Snapshot;
use planwright_core::turn::Purpose;
use planwright_engine::ledger::LedgerResult;
use planwright_engine::model::Silent;
use tokio::time::timeout;

use super::abort::TurnAbort;
use super::model_call::{MIN_ROOM, RequestBuilder, output_tokens};
use super::runner::TurnRunner;
use crate::catch_panic::catch_panic;
use crate::session::progress::{Progress, ProgressSender};

/// The tokens of the conversation that `/compact` keeps besides the summary.
const MANUAL_COMPACTION_TOKENS: u32 = 400;
/// The most tokens of a summary.
const SUMMARY_TOKENS: u32 = 1_200;
/// The time limit of a summary; after it rules make the summary.
const SUMMARY_TIME: Duration = Duration::from_secs(120);

impl TurnRunner<'_> {
    /// Summarises the older part of the conversation when it takes more than three quarters of the room there is.
    pub(super) async fn make_room(&mut self, room: u32) -> Result<(), TurnAbort> {
        // The turn of a specialist is not summarised; its newest messages are sent as far as they fit.
        if self.turn.purpose.is_part() || self.conversation.tokens() <= room / 4 * 3 {
            return Ok(());
        }
        // A plan that was read for this turn stays as long as it fits with what follows it.
        let since_plan = self.conversation.tokens_since_plan().filter(|tokens| *tokens <= room).unwrap_or_default();
        let Some(cut) = compaction::cut(&self.conversation, since_plan.max(room / 3)) else { return Ok(()) };
        self.context.progress.send(Progress::Compacting);
        let compaction = tokio::select! {
            biased;
            abort = self.interrupted() => return Err(abort),
            compaction = self.turns.requests.summarize(&self.conversation, &cut, room) => compaction,
        };
        let messages = compaction.messages;
        self.compact(compaction).await?;
        self.context.progress.send(Progress::Compacted { messages });
        Ok(())
    }
}

impl RequestBuilder {
    /// A summary of the part that is cut, by the model or, if that fails, by rules.
    async fn summarize(&self, conversation: &Conversation, cut: &CutPoint, room: u32) -> Compaction {
        let tokens = |text: &str| self.agent.tokens.count(text);
        let most = SUMMARY_TOKENS.min(room / 4).max(64);
        let request = ModelRequest {
            system: prompt::SUMMARIZE.to_owned(),
            messages: vec![ModelMessage::User { text: self.transcript(conversation, cut) }],
            tools: Arc::default(),
            max_output_tokens: Some(most),
        };
        let asking = catch_panic("the model", self.agent.model().reply(&request, &Silent));
        let summary = match timeout(SUMMARY_TIME, asking).await.ok().flatten() {
            Some(Ok(reply)) if !reply.text.trim().is_empty() => Some(reply.text.trim().to_owned()),
            Some(Ok(_)) | None => None,
            Some(Err(error)) => {
                tracing::warn!(event = "summary_failed", %error, "the conversation is shortened without a model");
                None
            }
        };
        let (text, by) = match summary {
            Some(text) => (text, Summarizer::Model),
            None => (cut.rules_summary(conversation), Summarizer::Rules),
        };
        let text = clip(&text, most, &self.agent.tokens);
        let tokens = tokens(&text);
        cut.compaction(conversation, text, tokens, by)
    }

    /// The part that is cut, as much of it as the model can read at once.
    fn transcript(&self, conversation: &Conversation, cut: &CutPoint) -> String {
        let context = self.agent.context_tokens();
        let most = context.saturating_sub(output_tokens(context)).saturating_sub(MIN_ROOM);
        let text = cut.transcript(conversation, most as usize * 4);
        clip(&text, most, &self.agent.tokens)
    }

    /// `/compact`: `None` if there is nothing to summarise.
    pub(crate) async fn compact_now(
        &self,
        conversation: &Conversation,
        snapshot: &Snapshot,
        progress: &ProgressSender,
    ) -> LedgerResult<Option<Compaction>> {
        let frame = self.frame(snapshot, &Purpose::Answer).await?;
        // The last messages stay, if they are short.
        let Some(cut) = compaction::cut(conversation, (frame.room / 8).min(MANUAL_COMPACTION_TOKENS)) else {
            return Ok(None);
        };
        progress.send(Progress::Compacting);
        Ok(Some(self.summarize(conversation, &cut, frame.room).await))
    }
}
