//! Tools that do what a scenario needs: answer, fail, hang, or wait until they are released. What was called is kept in
//! order.

use std::sync::Arc;

use async_trait::async_trait;
use cucumber::gherkin::Step;
use cucumber::{given, then, when};
use planwright_agent::toolbox::{Tool, ToolAnswer, ToolContext, Toolbox};
use planwright_core::gate::ToolEffect;
use planwright_core::model::ToolSpec;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_engine::upstream::Arguments;
use planwright_llm::scripted::Gate;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::world::World;

/// The tools of a scenario, and what became of them.
#[derive(Debug)]
pub(crate) struct Stage {
    tools: Vec<Arc<dyn Tool>>,
    calls: Calls,
    open: Arc<watch::Sender<bool>>,
    /// What replies of the model wait for.
    pub(crate) gate: Gate,
}

type Calls = Arc<watch::Sender<Vec<(String, Value)>>>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    Answers,
    Hangs,
    HangsFirst,
    Waits,
    Fails,
    FailsFirst,
}

#[derive(Debug)]
struct Prop {
    spec: ToolSpec,
    effect: ToolEffect,
    act: Act,
    calls: Calls,
    open: Arc<watch::Sender<bool>>,
}

impl Default for Stage {
    fn default() -> Self {
        Self { tools: Vec::new(), calls: Arc::default(), open: Arc::default(), gate: Gate::closed() }
    }
}

impl Stage {
    pub(crate) fn add(&mut self, name: &str, effect: ToolEffect, act: Act) {
        let spec = ToolSpec {
            name: name.to_owned(),
            description: "Does what the scenario needs.".to_owned(),
            input_schema: json!({ "type": "object", "properties": {} }),
        };
        let (calls, open) = (Arc::clone(&self.calls), Arc::clone(&self.open));
        self.tools.push(Arc::new(Prop { spec, effect, act, calls, open }));
    }

    fn remove(&mut self, name: &str) {
        self.tools.retain(|tool| tool.spec().name != name);
    }

    pub(crate) fn toolbox(&self) -> Toolbox {
        Toolbox::new(self.tools.iter().cloned())
    }

    /// Everything that waits continues, and from now on nothing waits.
    pub(crate) fn release(&self) {
        self.open.send_replace(true);
        self.gate.open();
    }

    pub(crate) fn times(&self, name: &str) -> usize {
        times(&self.calls.borrow(), name)
    }

    /// Ready when the tool was called so often.
    pub(crate) fn called(&self, name: &str, wanted: usize) -> impl Future<Output = ()> + use<> {
        let (mut calls, name) = (self.calls.subscribe(), name.to_owned());
        async move {
            calls.wait_for(|calls| times(calls, &name) >= wanted).await.expect("the stage is there");
        }
    }
}

fn times(calls: &[(String, Value)], name: &str) -> usize {
    calls.iter().filter(|(called, _)| called == name).count()
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
        Ok(())
    }

    async fn call(&self, _: ToolContext<'_>, arguments: Arguments) -> Result<ToolAnswer, Refusal> {
        let name = &self.spec.name;
        let first = times(&self.calls.borrow(), name) == 0;
        self.calls.send_modify(|calls| calls.push((name.clone(), Value::Object(arguments))));
        match self.act {
            Act::Hangs => std::future::pending().await,
            Act::HangsFirst if first => std::future::pending().await,
            Act::Waits => {
                let _ = self.open.subscribe().wait_for(|open| *open).await;
            }
            Act::Fails => return Err(Refusal::new(RefusalCode::Unavailable, format!("{name} did not work"))),
            Act::FailsFirst if first => {
                return Err(Refusal::new(RefusalCode::Unavailable, format!("{name} did not work")));
            }
            Act::Answers | Act::HangsFirst | Act::FailsFirst => {}
        }
        Ok(json!({ "answer": format!("{name} worked") }).into())
    }
}

#[given(regex = r#"^a tool "(\w+)" that (changes things|only reads|may be repeated)(?: and (.+))?$"#)]
fn a_tool(world: &mut World, name: String, effect: String, act: String) {
    let effect = match effect.as_str() {
        "changes things" => ToolEffect::Changes,
        "only reads" => ToolEffect::ReadsOnly,
        _ => ToolEffect::Repeatable,
    };
    let act = match act.as_str() {
        "" => Act::Answers,
        "hangs" => Act::Hangs,
        "hangs the first time" => Act::HangsFirst,
        "waits to be released" => Act::Waits,
        "fails" => Act::Fails,
        "fails the first time" => Act::FailsFirst,
        other => panic!("no tool {other}"),
    };
    world.talk.stage.add(&name, effect, act);
    world.talk.forget_agent();
}

#[when(expr = "the tool {string} is taken away")]
fn taken_away(world: &mut World, name: String) {
    world.talk.stage.remove(&name);
    world.talk.forget_agent();
}

#[when("what waits is released")]
async fn release(world: &mut World) {
    world.talk.stage.release();
    // What was waiting gets the chance to do what it should not do.
    world.settle().await;
}

#[then("the calls were")]
fn calls_were(world: &mut World, step: &Step) {
    let rows = &step.table.as_ref().expect("a table").rows;
    let expected: Vec<_> =
        rows.iter().map(|row| (row[0].clone(), serde_json::from_str(&row[1]).expect("JSON"))).collect();
    assert_eq!(*world.talk.stage.calls.borrow(), expected);
}

#[then("no tool was called")]
fn none_called(world: &mut World) {
    assert_eq!(*world.talk.stage.calls.borrow(), []);
}

#[then(expr = "{string} was called {int} time(s)")]
fn was_called(world: &mut World, name: String, expected: usize) {
    assert_eq!(world.talk.stage.times(&name), expected);
}
