//! The built-in model. It is offline and deterministic, says that it is not a language model, and calls the real tools:
//! it drafts a small plan from the words of the request and rehearses carrying it out, as the planner and as its
//! specialists, so that the way from request to approval to execution can be tried without a key. It carries out only
//! plans that it drafted itself: that for the sample project really, the others with a note that nothing was done.
//!
//! It has no state: the next action follows from the request alone, which contains its own calls and their results.

mod build;
mod collect;
mod document;
mod draft;
mod intent;
mod messages;
mod opening;
mod plan;
mod progress;
mod sample;
mod specialist;
mod summary;
mod turn_view;

use async_trait::async_trait;
use planwright_core::model::{ModelReply, ModelRequest, ToolCall, Usage};
use planwright_engine::model::{Listener, Model, ModelError};
use serde_json::{Value, json};

use crate::text_pieces::stream_words;
use plan::RehearsedPlan;
use turn_view::TurnView;

/// The name by which it is chosen.
pub const NAME: &str = planwright_engine::model::REHEARSAL;

const CONTEXT_TOKENS: u32 = 128_000;

/// A turn ends after this many calls.
const MAX_CALLS: usize = 100;

#[derive(Debug, Clone, Copy)]
pub struct RehearsalModel {
    context_tokens: u32,
}

impl Default for RehearsalModel {
    fn default() -> Self {
        Self { context_tokens: CONTEXT_TOKENS }
    }
}

impl RehearsalModel {
    pub fn with_context_tokens(context_tokens: u32) -> Self {
        Self { context_tokens }
    }
}

#[async_trait]
impl Model for RehearsalModel {
    fn name(&self) -> &str {
        NAME
    }

    fn context_tokens(&self) -> u32 {
        self.context_tokens
    }

    async fn reply(&self, request: &ModelRequest, listener: &dyn Listener) -> Result<ModelReply, ModelError> {
        let reply = answer(request);
        stream_words(&reply.text, listener);
        Ok(reply)
    }
}

/// The next action of a turn.
#[derive(Debug, PartialEq)]
enum Next {
    Call(&'static str, Value),
    /// A tool whose name comes from the request.
    CallOther(String, Value),
    Say(String),
}

fn answer(request: &ModelRequest) -> ModelReply {
    let (text, calls) = match next(&TurnView::of(request)) {
        Next::Say(text) => (text, Vec::new()),
        Next::Call(tool, arguments) => (String::new(), vec![call(tool.to_owned(), &arguments)]),
        Next::CallOther(tool, arguments) => (String::new(), vec![call(tool, &arguments)]),
    };
    let written = text.len() + calls.iter().map(|call| call.name.len() + call.arguments.len()).sum::<usize>();
    let usage = Usage { input_tokens: tokens(turn_view::size(request)), output_tokens: tokens(written) };
    ModelReply { text, calls, usage, cut_off: false }
}

fn call(name: String, arguments: &Value) -> ToolCall {
    ToolCall { name, arguments: arguments.to_string(), signatures: Vec::new() }
}

/// A rule of thumb, so that budgets can be tried as well.
fn tokens(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(4)
}

fn next(turn: &TurnView<'_>) -> Next {
    if let Some(next) = specialist::if_specialist(turn) {
        return next;
    }
    if let Some(text) = summary::if_asked_for(turn) {
        return Next::Say(text);
    }
    // The last call decides before the tools do: the end of a plan removes its tools.
    if let Some(text) = messages::at_the_end(turn) {
        return Next::Say(text);
    }
    let Some(style) = Style::advertised(turn) else { return Next::Say(messages::about(turn)) };
    if turn.calls.len() >= MAX_CALLS {
        return Next::Say(messages::enough(turn.calls.len()));
    }
    if turn.has("plan_get") && turn.made("plan_get").next().is_none() {
        return Next::Call("plan_get", json!({}));
    }
    let plan = RehearsedPlan::of(turn);
    match style {
        Style::Document => document::next(turn, &plan),
        Style::Collect => collect::next(turn, &plan),
        Style::Build => build::next(turn, &plan),
    }
}

/// The plan style, read from the advertised tools.
enum Style {
    Document,
    Collect,
    Build,
}

impl Style {
    fn advertised(turn: &TurnView<'_>) -> Option<Self> {
        if turn.has("plan_set_content") {
            Some(Self::Document)
        } else if turn.has("plan_finalize") {
            Some(Self::Collect)
        } else if turn.has("plan_submit") {
            Some(Self::Build)
        } else {
            None
        }
    }
}
