//! Tools that do what a test needs: answer, fail, hang, panic. Each keeps what it was called with.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use planwright_agent::toolbox::{Tool, ToolAnswer, ToolContext};
use planwright_core::gate::ToolEffect;
use planwright_core::model::ToolSpec;
use planwright_core::refusal::Refusal;
use planwright_engine::upstream::Arguments;
use serde_json::{Value, json};
use tokio::sync::watch;

/// Clones share what was called.
#[derive(Debug, Clone)]
pub(crate) struct Prop {
    spec: ToolSpec,
    effect: ToolEffect,
    act: Act,
    calls: Arc<watch::Sender<Vec<Value>>>,
}

#[derive(Clone)]
pub(crate) enum Act {
    Answer(Value),
    Refuse(Refusal),
    Hang,
    /// Hangs the first time, and answers from then on.
    HangOnce,
    Panic,
    PanicWhileChecking,
    /// Sets something going, lets it begin, and answers.
    Set(Arc<dyn Fn() + Send + Sync>),
}

impl fmt::Debug for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Act")
    }
}

impl Prop {
    pub(crate) fn new(name: &str, effect: ToolEffect, act: Act) -> Self {
        let spec = ToolSpec {
            name: name.to_owned(),
            description: "Does what the test needs.".to_owned(),
            input_schema: json!({ "type": "object", "properties": {} }),
        };
        Self { spec, effect, act, calls: Arc::default() }
    }

    /// A tool that changes things and says that it did.
    pub(crate) fn changing(name: &str) -> Self {
        Self::new(name, ToolEffect::Changes, Act::Answer(json!({ "done": true })))
    }

    /// What it was called with so far.
    pub(crate) fn calls(&self) -> Vec<Value> {
        self.calls.borrow().clone()
    }

    /// Waits until it was called so many times.
    pub(crate) async fn called(&self, times: usize) {
        // The sender is held by this very prop, so it cannot be gone.
        let _ = self.calls.subscribe().wait_for(|calls| calls.len() >= times).await;
    }
}

#[async_trait]
impl Tool for Prop {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effect(&self) -> ToolEffect {
        self.effect
    }

    fn check(&self, _: &Arguments) -> Result<(), Refusal> {
        assert!(!matches!(self.act, Act::PanicWhileChecking), "the tool broke while it looked at its arguments");
        Ok(())
    }

    async fn call(&self, _: ToolContext<'_>, arguments: Arguments) -> Result<ToolAnswer, Refusal> {
        self.calls.send_modify(|calls| calls.push(Value::Object(arguments)));
        match &self.act {
            Act::Answer(value) => Ok(value.clone().into()),
            Act::Refuse(refusal) => Err(refusal.clone()),
            Act::Hang => std::future::pending().await,
            Act::HangOnce if self.calls.borrow().len() == 1 => std::future::pending().await,
            Act::HangOnce => Ok(json!({ "answered": true }).into()),
            Act::Panic | Act::PanicWhileChecking => panic!("the tool broke"),
            Act::Set(going) => {
                going();
                tokio::task::yield_now().await;
                Ok(json!({ "set": true }).into())
            }
        }
    }
}
