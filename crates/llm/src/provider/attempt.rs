//! One attempt: the request is posted, and its answer is read until it ends or fails.

use planwright_core::model::{ModelReply, ModelRequest};
use planwright_engine::model::{Listener, ModelErrorKind};
use reqwest::Response;
use reqwest::header::{CONTENT_TYPE, HeaderValue};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use crate::provider::ProviderModel;
use crate::provider::attempt_error::{AttemptError, Retry};
use crate::provider::error_body::ERROR_BODY_BYTES;
use crate::provider::event_reader::EventReader;
use crate::provider::reply_builder::{ReplyBuilder, StopReason};
use crate::provider::wire::{self, Flow, ParseError, WireRequest};

impl ProviderModel {
    pub(super) async fn attempt(
        &self,
        asked: &ModelRequest,
        listener: &dyn Listener,
    ) -> Result<ModelReply, AttemptError> {
        let (info, limits, timeouts) = (&self.info, &self.options.limits, &self.options.timeouts);
        let first_byte_due = Instant::now() + timeouts.first_byte;
        let response = self.post(wire::request(info, asked), first_byte_due).await?;
        let framing = wire::framing(info.provider());
        let mut events = EventReader::new(info, limits, timeouts, first_byte_due, framing, response);
        let mut parser = wire::parser(info.provider());
        let mut reply = ReplyBuilder::new(limits, listener);
        while let Some(data) = events.next().await? {
            if parser.is_end(&data) {
                return self.complete(reply);
            }
            let event: Value = serde_json::from_str(&data).map_err(|error| AttemptError::unreadable(info, &error))?;
            match parser.read(&event, &mut reply) {
                Ok(Flow::More) => {}
                Ok(Flow::End) => return self.complete(reply),
                Err(ParseError::Provider) => return Err(AttemptError::reported(info, &data)),
                Err(ParseError::TooLarge(limit)) => return Err(AttemptError::too_large(info, &limit)),
            }
        }
        Err(events.ended_early())
    }

    async fn post(&self, request: WireRequest, first_byte_due: Instant) -> Result<Response, AttemptError> {
        let info = &self.info;
        let mut post = self.client.post(self.url.clone()).header(CONTENT_TYPE, "application/json");
        for (name, value) in request.headers {
            let mut value = HeaderValue::from_str(&value).map_err(|error| AttemptError::unsendable(info, &error))?;
            value.set_sensitive(true);
            post = post.header(name, value);
        }
        let sent = timeout_at(first_byte_due, post.body(request.body.to_string()).send()).await;
        let response = match sent {
            Err(_) => return Err(AttemptError::stalled(info, self.options.timeouts.first_byte)),
            Ok(Err(error)) if error.is_builder() => return Err(AttemptError::unsendable(info, &error)),
            Ok(Err(error)) => return Err(AttemptError::unreachable(info, &error)),
            Ok(Ok(response)) => response,
        };
        if response.status().is_success() {
            return Ok(response);
        }
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = timeout_at(first_byte_due, error_body(response)).await.unwrap_or_default();
        Err(AttemptError::status(info, status, &headers, &body))
    }

    fn complete(&self, reply: ReplyBuilder<'_>) -> Result<ModelReply, AttemptError> {
        let (info, name) = (&self.info, self.info.name());
        match &reply.stop {
            Some(StopReason::ContentFilter(reason)) if reply.is_empty() => {
                let sentence = format!("The filter of {name} stopped the answer");
                Err(AttemptError::permanent(info, ModelErrorKind::Refused, &sentence, reason))
            }
            Some(StopReason::Other(reason)) if reply.is_empty() => {
                let sentence = format!("The answer of {name} is empty");
                let error = info.error(ModelErrorKind::Unreadable, &sentence, reason);
                Err(AttemptError { error, retry: Retry::WithBackoff })
            }
            Some(
                StopReason::Completed | StopReason::MaxTokens | StopReason::ContentFilter(_) | StopReason::Other(_),
            )
            | None => Ok(reply.build()),
        }
    }
}

/// The beginning of the body of an error. It is shown to a person, who needs no more.
async fn error_body(mut response: Response) -> String {
    let mut body = Vec::new();
    while body.len() < ERROR_BODY_BYTES {
        let Ok(Some(bytes)) = response.chunk().await else { break };
        body.extend_from_slice(&bytes[..bytes.len().min(ERROR_BODY_BYTES - body.len())]);
    }
    String::from_utf8_lossy(&body).into_owned()
}
