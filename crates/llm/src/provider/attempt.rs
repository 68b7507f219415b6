//! One attempt: the request goes out, the answer is heard until it ends or something goes wrong.

use futures::StreamExt;
use genai::chat::{ChatStream, ChatStreamEvent};
use planwright_core::model::{ModelReply, ModelRequest};
use planwright_engine::model::Listener;
use tokio::time::{Instant, timeout_at};
use tracing::instrument::{WithDispatch, WithSubscriber};
use tracing::subscriber::NoSubscriber;

use crate::provider::failure::Failure;
use crate::provider::watch::Watch;
use crate::provider::{ProviderModel, answer, request};

impl ProviderModel {
    pub(super) async fn attempt(&self, asked: &ModelRequest, listener: &dyn Listener) -> Result<ModelReply, Failure> {
        let watch = Watch::default();
        let options = request::options(&self.party, asked, &watch);
        let chat = request::chat_request(self.party.provider(), asked);
        let opened = unheard(self.client.exec_chat_stream(self.target.clone(), chat, Some(&options))).await;
        let mut stream = opened.map_err(|error| Failure::of(&self.party, &error, &watch))?.stream;
        let begun = Instant::now();
        let mut text = String::new();
        while let Some(event) = self.next_event(&mut stream, begun, &watch).await? {
            match event {
                ChatStreamEvent::Chunk(chunk) => {
                    text.push_str(&chunk.content);
                    listener.text(&chunk.content);
                }
                ChatStreamEvent::End(end) => return answer::reply(&self.party, text, end, &watch),
                // Calls are put together by the time of the end; thoughts are not for the listener.
                ChatStreamEvent::Start
                | ChatStreamEvent::ReasoningChunk(_)
                | ChatStreamEvent::ThoughtSignatureChunk(_)
                | ChatStreamEvent::ToolCallChunk(_)
                | ChatStreamEvent::Heartbeat => {}
            }
        }
        Err(Failure::broke_off(&self.party, &watch))
    }

    /// `None` at the end of the connection. Every sign of life on the wire counts, also one that means nothing.
    async fn next_event(
        &self,
        stream: &mut ChatStream,
        begun: Instant,
        watch: &Watch,
    ) -> Result<Option<ChatStreamEvent>, Failure> {
        let patience = &self.options.patience;
        loop {
            let (since, limit) =
                watch.last_sign().map_or((begun, patience.first_piece), |at| (at, patience.between_pieces));
            match timeout_at(since + limit, unheard(stream.next())).await {
                Ok(event) => return event.transpose().map_err(|error| Failure::of(&self.party, &error, watch)),
                Err(_) if watch.last_sign().is_some_and(|sign| sign > since) => {}
                Err(_) => return Err(Failure::stalled(&self.party, limit)),
            }
        }
    }
}

/// Keeps the wire library out of the logs: it writes down whole answers, and a provider may repeat the key in one.
fn unheard<F>(future: F) -> WithDispatch<F> {
    future.with_subscriber(NoSubscriber::default())
}
