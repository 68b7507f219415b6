//! One call of the model, with room made for it.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use planwright_core::conversation::{compaction, message_tokens, reply_tokens, token_budget};
use planwright_core::model::{ModelMessage, ModelReply, ModelRequest, Usage};
use planwright_core::turn::{TurnInput, TurnLimit};
use planwright_engine::model::{Listener, ModelError, ModelErrorKind};

use super::abort::TurnAbort;
use super::request::Frame;
use super::runner::TurnRunner;
use crate::catch_panic::catch_panic;
use crate::session::progress::{Progress, ProgressSender};

/// The number of times that a request is made shorter because the model says that it is too long.
const MAX_TIGHTENED: u32 = 3;

const NUDGE: &str = "[Your last reply was empty. Answer the person, or call a tool.]";

impl TurnRunner<'_> {
    /// One call of the model. `None` if the model says that the request is too long; the next one is shorter.
    pub(super) async fn ask_model(&mut self) -> Result<Option<TurnInput>, TurnAbort> {
        let mut frame = self.turns.requests.frame(&self.snapshot, &self.turn.purpose).await?;
        self.read_memory().await?;
        frame.room = frame.room.saturating_sub(self.memory_tokens());
        frame.room >>= self.tightened;
        self.make_room(&frame).await?;
        let asked = u64::from(frame.fixed) + u64::from(self.conversation.tokens());
        let mut reply = match self.call_model(frame).await? {
            Ok(reply) => reply,
            Err(error) if error.kind == ModelErrorKind::TooLong && self.tightened < MAX_TIGHTENED => {
                self.tightened += 1;
                return Ok(None);
            }
            Err(error) => return Err(TurnAbort::ModelFailed { message: error.message }),
        };
        self.context.progress.send(Progress::Replied { calls: reply.calls.len() });
        let tokens = reply_tokens(&reply, &self.agent.tokens);
        // The tokens are estimated if the provider does not count them.
        if reply.usage.total() == 0 {
            reply.usage = Usage { input_tokens: asked, output_tokens: tokens.into() };
        }
        Ok(Some(TurnInput::Replied { reply, tokens }))
    }

    /// Summarises the older part of the conversation when it takes more than three quarters of the room there is.
    async fn make_room(&mut self, frame: &Frame) -> Result<(), TurnAbort> {
        // A turn apart from the conversation is not summarised; its newest messages are sent as far as they fit.
        if !self.turn.purpose.is_conversation() || self.conversation.tokens() <= frame.room / 4 * 3 {
            return Ok(());
        }
        let Some(cut) = compaction::cut(&self.conversation, frame.room / 3) else { return Ok(()) };
        self.context.progress.send(Progress::Compacting);
        let compaction = tokio::select! {
            biased;
            abort = self.interrupted() => return Err(abort),
            compaction = self.turns.requests.summarize(&self.conversation, &cut, frame.room) => compaction,
        };
        let messages = compaction.messages;
        self.compact(compaction).await?;
        self.context.progress.send(Progress::Compacted { messages });
        Ok(())
    }

    /// Refuses a call beyond those that the system makes within a minute by itself.
    fn check_rate(&self) -> Result<(), TurnAbort> {
        let outer = self.snapshot.session.as_ref().and_then(|session| session.turn.as_ref());
        let begun_for = outer.map_or(&self.turn.purpose, |open| &open.purpose);
        let (most, now) = (self.limits.calls_per_minute, self.agent.engine().now());
        match self.agent.call_rate.admit(&self.session, begun_for, most, now) {
            true => Ok(()),
            false => Err(TurnAbort::Limit(TurnLimit::CallsPerMinute)),
        }
    }

    async fn call_model(&self, frame: Frame) -> Result<Result<ModelReply, ModelError>, TurnAbort> {
        // A model that is sent the same request may reply with nothing again.
        let silent = |reply: &ModelReply| reply.calls.is_empty() && reply.text.trim().is_empty();
        let silent = self.turn.last_reply().is_some_and(silent);
        let nudge = silent.then(|| ModelMessage::User { text: NUDGE.to_owned() });
        let counter = &self.agent.tokens;
        let room = nudge.iter().fold(frame.room, |room, nudge| room.saturating_sub(message_tokens(nudge, counter)));
        let messages = token_budget::fit(&self.conversation, room, counter)
            .map_err(|refusal| TurnAbort::ModelFailed { message: refusal.message })?;
        let request = ModelRequest {
            system: frame.system,
            messages: self.with_memory(messages).into_iter().chain(nudge).collect(),
            tools: frame.tools,
            max_output_tokens: Some(frame.max_output_tokens),
        };
        self.check_rate()?;
        self.check_lease().await?;
        self.context.progress.send(Progress::ModelCalled);
        let left = self.limits.time.saturating_sub(self.elapsed());
        let model = self.agent.model_for(&self.session, &self.turn.purpose);
        let listener = ReplyListener { progress: &self.context.progress, received: Mutex::default() };
        let outcome = tokio::select! {
            biased;
            abort = self.interrupted() => Err(abort),
            reply = catch_panic("the model", model.reply(&request, &listener)) => Ok(reply),
            () = tokio::time::sleep(left) => Err(TurnAbort::Limit(TurnLimit::Time)),
        };
        match outcome {
            Ok(Some(reply)) => Ok(reply),
            Ok(None) => Err(TurnAbort::ModelFailed { message: "The model call crashed; see the log.".to_owned() }),
            Err(TurnAbort::Stopped { .. }) => Err(TurnAbort::Stopped { received: listener.take(), under_way: None }),
            Err(abort) => Err(abort),
        }
    }
}

/// Sends the text of the model as progress, and keeps it in case the turn is stopped.
struct ReplyListener<'a> {
    progress: &'a ProgressSender,
    received: Mutex<String>,
}

impl ReplyListener<'_> {
    fn take(&self) -> String {
        std::mem::take(&mut self.received.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Listener for ReplyListener<'_> {
    fn text(&self, piece: &str) {
        self.received.lock().unwrap_or_else(PoisonError::into_inner).push_str(piece);
        self.progress.send(Progress::Text(piece.to_owned()));
    }

    fn again(&self, why: &str, wait: Duration) {
        self.take();
        self.progress.send(Progress::Again { why: why.to_owned(), wait });
    }
}
