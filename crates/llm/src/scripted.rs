//! A model for tests: it replies by script and records every request.
//!
//! ```
//! # use planwright_llm::scripted::{Reply, ScriptedModel};
//! # use serde_json::json;
//! let model = ScriptedModel::new([
//!     Reply::call("plan_set_content", json!({ "plan_markdown": "- [ ] one" })).with_text("Let me write that down."),
//!     Reply::text("The plan is ready."),
//! ]);
//! // … after the turn:
//! // assert_eq!(model.requests().len(), 2);
//! // model.assert_finished();
//! ```

mod reply;

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use planwright_core::model::{ModelMessage, ModelReply, ModelRequest};
use planwright_core::visible::quoted;
use planwright_engine::model::{Listener, Model, ModelError, ModelErrorKind};
use tokio::sync::watch;

pub use reply::{Gate, Reply};

/// Clones share the script and what was recorded.
#[derive(Clone)]
pub struct ScriptedModel {
    name: String,
    context_tokens: u32,
    label: Arc<Label>,
    stage: Arc<Stage>,
}

type Label = dyn Fn(&ModelRequest) -> String + Send + Sync;

/// A request as it went out.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// Its place among all requests to this model, from 1.
    pub number: usize,
    /// The script it was answered from; empty where there is only one.
    pub label: String,
    pub request: ModelRequest,
}

#[derive(Debug)]
struct Stage {
    state: Mutex<State>,
    asked: watch::Sender<usize>,
    abandoned: watch::Sender<usize>,
}

#[derive(Debug, Default)]
struct State {
    scripts: BTreeMap<String, VecDeque<Reply>>,
    /// Answers whatever no script answers.
    otherwise: Option<Reply>,
    requests: Vec<Recorded>,
    unanswered: Vec<String>,
}

impl ScriptedModel {
    /// Answers the first request with the first reply, and so on.
    pub fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self::labelled(|_| String::new()).script("", replies)
    }

    /// Every request gets what `answer` makes of it.
    pub fn answering(answer: impl Fn(&ModelRequest) -> Reply + Send + Sync + 'static) -> Self {
        Self::new([]).otherwise(Reply::made_from(answer))
    }

    /// Several scripts beside each other: `label` says which one a request belongs to, such as by words in its system
    /// prompt. The scripts are given with [`Self::script`].
    pub fn labelled(label: impl Fn(&ModelRequest) -> String + Send + Sync + 'static) -> Self {
        Self {
            name: "scripted".to_owned(),
            context_tokens: 128_000,
            label: Arc::new(label),
            stage: Arc::new(Stage {
                state: Mutex::default(),
                asked: watch::Sender::new(0),
                abandoned: watch::Sender::new(0),
            }),
        }
    }

    /// Adds replies at the end of a script.
    pub fn script(self, label: impl Into<String>, replies: impl IntoIterator<Item = Reply>) -> Self {
        self.state().scripts.entry(label.into()).or_default().extend(replies);
        self
    }

    /// What is answered, again and again, once a script has nothing more.
    pub fn otherwise(self, reply: Reply) -> Self {
        self.state().otherwise = Some(reply);
        self
    }

    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    pub fn with_context_tokens(mut self, tokens: u32) -> Self {
        self.context_tokens = tokens;
        self
    }

    /// Adds a reply at the end of the only script, also while a turn is running.
    pub fn then(&self, reply: Reply) {
        self.state().scripts.entry(String::new()).or_default().push_back(reply);
    }

    /// Every request so far, in the order in which they were made.
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.state().requests.iter().map(|recorded| recorded.request.clone()).collect()
    }

    /// The requests so far, with their labels.
    pub fn recorded(&self) -> Vec<Recorded> {
        self.state().requests.clone()
    }

    pub fn requests_of(&self, label: &str) -> Vec<ModelRequest> {
        let state = self.state();
        state.requests.iter().filter(|recorded| recorded.label == label).map(|one| one.request.clone()).collect()
    }

    /// # Panics
    ///
    /// If nothing was asked yet.
    #[track_caller]
    pub fn last_request(&self) -> ModelRequest {
        self.requests().pop().expect("the scripted model was asked nothing")
    }

    /// Waits until so many requests have been made in all.
    pub async fn asked(&self, times: usize) {
        at_least(&self.stage.asked, times).await;
    }

    /// Waits until the callers of so many unfinished replies have dropped them.
    pub async fn abandoned(&self, times: usize) {
        at_least(&self.stage.abandoned, times).await;
    }

    /// # Panics
    ///
    /// If replies are left over, or a request found none.
    #[track_caller]
    pub fn assert_finished(&self) {
        let state = self.state();
        assert!(state.unanswered.is_empty(), "requests without a scripted reply: {:#?}", state.unanswered);
        for (label, script) in &state.scripts {
            assert!(script.is_empty(), "{} replies of the script {label:?} were not asked for", script.len());
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.stage.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn record(&self, request: &ModelRequest) -> Result<Reply, ModelError> {
        let label = (self.label)(request);
        let mut state = self.state();
        let number = state.requests.len() + 1;
        state.requests.push(Recorded { number, label: label.clone(), request: request.clone() });
        let reply = state.scripts.get_mut(&label).and_then(VecDeque::pop_front).or_else(|| state.otherwise.clone());
        let answer = reply.ok_or_else(|| {
            let message = format!("The script {label:?} has no reply to request {number}, {}.", last_message(request));
            state.unanswered.push(message.clone());
            ModelError::new(ModelErrorKind::Refused, message)
        });
        drop(state);
        self.stage.asked.send_replace(number);
        answer
    }
}

#[async_trait]
impl Model for ScriptedModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn context_tokens(&self) -> u32 {
        self.context_tokens
    }

    async fn reply(&self, request: &ModelRequest, listener: &dyn Listener) -> Result<ModelReply, ModelError> {
        let reply = self.record(request)?;
        let waiting = Waiting { abandoned: Some(&self.stage.abandoned) };
        let answer = reply.play(request, listener).await;
        waiting.over();
        answer
    }
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedModel").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Counts the reply as abandoned if it is dropped before it is over.
struct Waiting<'a> {
    abandoned: Option<&'a watch::Sender<usize>>,
}

impl Waiting<'_> {
    fn over(mut self) {
        self.abandoned = None;
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if let Some(abandoned) = self.abandoned {
            abandoned.send_modify(|count| *count += 1);
        }
    }
}

async fn at_least(count: &watch::Sender<usize>, times: usize) {
    // The sender is borrowed for as long as this waits, so it cannot be gone.
    let _ = count.subscribe().wait_for(|count| *count >= times).await;
}

fn last_message(request: &ModelRequest) -> String {
    match request.messages.last() {
        Some(ModelMessage::User { text }) => format!("in which the person says {}", quoted(text)),
        Some(ModelMessage::Assistant { text, .. }) => format!("which ends in the model's {}", quoted(text)),
        Some(ModelMessage::ToolResult { name, text, .. }) => format!("in which {name} answers {}", quoted(text)),
        None => "which has no messages".to_owned(),
    }
}
