//! A model that does whatever models do: it answers, calls tools, calls tools that are not there, and breaks.

mod memories;
mod recipients;
mod replies;

use std::sync::Arc;

use async_trait::async_trait;
use planwright_core::model::{ModelMessage, ModelReply, ModelRequest};
use planwright_engine::model::{Listener, Model, ModelError, ModelErrorKind};

use crate::process::Process;
use crate::random::Random;
use crate::world::{Occurrence, Role, marked, marks};

#[derive(Debug)]
pub(crate) struct RandomModel {
    process: Arc<Process>,
}

impl RandomModel {
    pub(crate) fn new(process: &Arc<Process>) -> Self {
        Self { process: Arc::clone(process) }
    }
}

#[async_trait]
impl Model for RandomModel {
    fn name(&self) -> &str {
        "random"
    }

    fn context_tokens(&self) -> u32 {
        self.process.world.conditions.context_tokens
    }

    async fn reply(&self, request: &ModelRequest, listener: &dyn Listener) -> Result<ModelReply, ModelError> {
        let (process, world) = (&self.process, &self.process.world);
        process.breathe().await;
        let phrase = phrase(request);
        let found = marks(&phrase);
        let mark = found.first().cloned().unwrap_or_default();
        if found.len() > 1 {
            world.wrong(format!("the model was sent words of several sessions: {found:?}"));
        }
        let role = recipients::role_in(request);
        if mark.is_empty() {
            // The input that makes an agent carry out a document has no words of a person, and may be all there is to summarise.
            let by_itself = phrase.contains("_RUN ");
            let summary =
                role == Role::Summarizer && (phrase.contains("[Go on with plan") || phrase.contains("[Plan "));
            if !by_itself && !summary {
                world.wrong(format!("the model was sent no words of a person: {phrase}"));
            }
            return Err(ModelError::new(ModelErrorKind::Refused, "There is nothing to answer."));
        }
        let (owner, session) = (process.owner.clone(), marked(&mark));
        let mut random = world.chance(format_args!("model in {session}"));
        world.happened(Occurrence::AskedModel { owner, session, role });
        recipients::check(world, role, request, &phrase, &mark);
        memories::check(world, request);
        if process.is_to_die(&mut random) {
            process.die().await;
        }
        self.think(&mut random).await;
        if world.strikes(&mut random, 30) {
            return Err(trouble(&mut random));
        }
        let reply = replies::reply(world, role, request, &mark, &mut random);
        if !reply.text.is_empty() {
            let half = reply.text.floor_char_boundary(reply.text.len() / 2);
            listener.text(&reply.text[..half]);
            process.spend(random.millis(1, 500)).await;
            listener.text(&reply.text[half..]);
        }
        if process.is_to_die(&mut random) {
            process.die().await;
        }
        Ok(reply)
    }
}

impl RandomModel {
    async fn think(&self, random: &mut Random) {
        let usual = random.millis(1, 2_000);
        let long = random.millis(2_000, 200_000);
        self.process.spend(if self.process.world.strikes(random, 25) { long } else { usual }).await;
    }
}

fn trouble(random: &mut Random) -> ModelError {
    use ModelErrorKind::{NotAllowed, Refused, Stalled, TooLong, TooManyRequests, Unavailable, Unreadable};
    let kind = random.pick(&[NotAllowed, TooManyRequests, Unavailable, Stalled, TooLong, TooLong, Refused, Unreadable]);
    ModelError::new(kind, "It did not work out.")
}

/// All words in a request.
fn phrase(request: &ModelRequest) -> String {
    let mut phrase = request.system.clone();
    for message in &request.messages {
        match message {
            ModelMessage::User { text } | ModelMessage::ToolResult { text, .. } => phrase.push_str(text),
            ModelMessage::Assistant { text, calls } => {
                phrase.push_str(text);
                calls.iter().for_each(|sent| phrase.push_str(&sent.call.arguments));
            }
        }
        phrase.push('\n');
    }
    request.tools.iter().for_each(|tool| phrase.push_str(&tool.description));
    phrase
}
