//! Sentences about a conversation: a scripted model, the real agent, and what was sent and said.

use crate::talk::{Talk as _, Watcher};
use cucumber::{given, then, when};
use planwright_agent::session::input::ChatLocation;
use planwright_agent::session::outcome::Answer;
use planwright_agent::toolbox::files::{FileLimits, FileTools};
use planwright_agent::{Agent, AgentOptions};
use planwright_core::actor::Actor;
use planwright_core::model::{ModelMessage, ModelRequest};
use planwright_core::session::{SessionIdentity, TransportChat};
use planwright_engine::Engine;
use planwright_engine::model::ModelErrorKind;
use planwright_llm::scripted::{Reply, ScriptedModel};
use std::sync::Arc;
use tempfile::TempDir;

use crate::process::MORTAL;
use crate::test_tools::Stage;
use crate::world::{World, person, unescaped};

/// A conversation with a model that answers by script.
pub(crate) struct Talk {
    pub(crate) model: ScriptedModel,
    pub(crate) script: Vec<Reply>,
    pub(crate) stage: Stage,
    folder: TempDir,
    /// The one that is running; there is none before the first word and after a restart.
    agent: Option<Agent>,
    pub(crate) answer: Option<Answer>,
    /// How often the model had been asked before the person said or typed the last thing.
    asked_before: usize,
    deleted: Option<SessionIdentity>,
}

impl Talk {
    pub(crate) fn new() -> Self {
        Self {
            model: ScriptedModel::new([]),
            script: Vec::new(),
            stage: Stage::default(),
            folder: tempfile::tempdir().expect("a folder"),
            agent: None,
            answer: None,
            asked_before: 0,
            deleted: None,
        }
    }

    pub(crate) fn files(&self) -> FileTools {
        FileTools::new(self.folder.path().join("users"), FileLimits::default())
    }

    pub(crate) fn forget_agent(&mut self) {
        self.agent = None;
    }

    /// The agent that the person talks to, with everything that the script says so far.
    pub(crate) fn agent(&mut self, engine: &Engine) -> Agent {
        self.asked_before = self.model.requests().len();
        if let Some(agent) = &self.agent {
            let agent = agent.clone();
            self.hand_over_script();
            return agent;
        }
        let options = AgentOptions { is_gone: |owner| owner == MORTAL, ..AgentOptions::new("the scenario") };
        let agent = self.another_agent(engine, options);
        self.agent = Some(agent.clone());
        agent
    }

    /// One more, as another process has it.
    pub(crate) fn another_agent(&mut self, engine: &Engine, options: AgentOptions) -> Agent {
        self.hand_over_script();
        Agent::new(engine.clone(), Arc::new(self.model.clone()), self.files(), self.stage.toolbox(), options)
    }

    fn hand_over_script(&mut self) {
        for reply in self.script.drain(..) {
            self.model.then(reply);
        }
    }

    pub(crate) fn answer(&self) -> &Answer {
        self.answer.as_ref().expect("something was answered")
    }

    /// How often the model was asked since the person said or typed the last thing.
    pub(crate) fn asked_since(&self) -> usize {
        self.model.requests().len() - self.asked_before
    }
}

pub(crate) fn transport() -> TransportChat {
    TransportChat("cli:ann".to_owned())
}

/// Where the person is.
pub(crate) fn place(world: &World) -> ChatLocation {
    ChatLocation::new(transport(), world.session())
}

#[given(expr = "the model answers {string}")]
fn answers(world: &mut World, text: String) {
    world.talk.script.push(Reply::text(unescaped(&text)));
}

#[given(expr = "the model fails with {string}")]
fn fails(world: &mut World, message: String) {
    world.talk.script.push(Reply::error(ModelErrorKind::NotAllowed, message));
}

#[given(regex = r#"^the model calls "(\w+)" with '(.*)'$"#)]
fn calls(world: &mut World, tool: String, arguments: String) {
    world.talk.script.push(Reply::call(tool, serde_json::from_str(&arguments).expect("JSON")));
}

#[given(regex = r#"^the model calls "(\w+)" with '(.*)' again and again$"#)]
fn calls_for_ever(world: &mut World, tool: String, arguments: String) {
    let arguments: serde_json::Value = serde_json::from_str(&arguments).expect("JSON");
    world.talk.script.extend((0..20).map(|_| Reply::call(tool.clone(), arguments.clone())));
}

#[given(regex = r#"^the model calls "(\w+)" with the text "(.*)"$"#)]
fn calls_with_text(world: &mut World, tool: String, arguments: String) {
    world.talk.script.push(Reply::raw_call(tool, arguments));
}

#[given(regex = r#"^the model says "(.*)" and calls "(\w+)" with '(.*)'$"#)]
fn says_and_calls(world: &mut World, text: String, tool: String, arguments: String) {
    let reply = Reply::call(tool, serde_json::from_str(&arguments).expect("JSON"));
    world.talk.script.push(reply.with_text(text));
}

#[given(regex = r#"^in the same reply it calls "(\w+)" with '(.*)'$"#)]
fn also_calls(world: &mut World, tool: String, arguments: String) {
    let reply = world.talk.script.pop().expect("a reply");
    world.talk.script.push(reply.and_call(tool, serde_json::from_str(&arguments).expect("JSON")));
}

#[given(expr = "the person says {string}")]
#[when(expr = "the person says {string}")]
pub(crate) async fn says(world: &mut World, text: String) {
    let agent = world.talk.agent(&world.engine);
    let outcome = agent.send(&world.session(), &person(), &text, &Watcher::none()).await.expect("answered");
    world.talk.answer = Some(outcome.into());
}

#[given(expr = "the person types {string}")]
#[when(expr = "the person types {string}")]
pub(crate) async fn types(world: &mut World, text: String) {
    let agent = world.talk.agent(&world.engine);
    // A person is always somewhere before they go elsewhere.
    let here = agent.chats().enter(&transport(), &world.session(), &person()).await.expect("entered");
    let answer = agent.type_text(&here, &person(), &text, &Watcher::none()).await.expect("answered");
    world.look_at(&answer.session.to_string());
    world.talk.answer = Some(answer);
}

#[given(expr = "the person has talked for {int} turns")]
async fn talked(world: &mut World, turns: u32) {
    // What waits in the script comes after the talk.
    let later = std::mem::take(&mut world.talk.script);
    for turn in 1..=turns {
        world.talk.script.push(Reply::text(format!("Answer {turn}. {}", "Much was said. ".repeat(60))));
        says(world, format!("Question {turn}. {}", "Much was asked. ".repeat(60))).await;
    }
    world.talk.script = later;
}

#[given("plan 1 was approved and cancelled")]
async fn approved_and_cancelled(world: &mut World) {
    types(world, "/plan approve 1".to_owned()).await;
    types(world, "/plan cancel 1".to_owned()).await;
}

#[when("the session is deleted")]
async fn deleted(world: &mut World) {
    let session = world.session();
    world.talk.agent(&world.engine).delete(&session, &person()).await.expect("deleted");
    world.talk.deleted = Some(session);
}

#[then(expr = "the person arrives in {string}")]
async fn arrives(world: &mut World, session: String) {
    let by: Actor = person();
    let agent = world.talk.agent(&world.engine);
    let channel = world.session().channel;
    let ChatLocation { session: found, .. } = agent.chats().arrive(&transport(), channel, &by).await.expect("arrived");
    assert_eq!(found.to_string(), session);
}

#[then("the deleted session has no files")]
fn no_files_left(world: &mut World) {
    let session = world.talk.deleted.clone().expect("one was deleted");
    assert!(!world.talk.files().folder(&session).exists());
}

#[then("the session has no files")]
fn no_files(world: &mut World) {
    assert!(!world.talk.files().folder(&world.session()).exists());
}

#[then(expr = "the turn ends as {word}")]
fn ends_as(world: &mut World, end: String) {
    assert_eq!(world.talk.answer().end.as_ref().map(|end| end.name()), Some(end.as_str()));
}

#[then(expr = "the person reads {string}")]
fn reads(world: &mut World, text: String) {
    let reply = &world.talk.answer().reply;
    assert!(reply.contains(&unescaped(&text)), "{reply}");
}

#[then(expr = "the person is shown plan {int}")]
fn is_shown(world: &mut World, number: u32) {
    assert_eq!(world.talk.answer().plan.as_ref().map(|card| card.number), Some(number));
}

#[then(expr = "the plan that is shown says {string}")]
async fn shown_says(world: &mut World, text: String) {
    let card = world.talk.answer().plan.clone().expect("a plan is shown");
    assert!(card.markdown.contains(&text), "{}", card.markdown);
    assert_eq!(card.digest, world.plan(card.number).await.digest());
}

#[then(expr = "the person may type {string}")]
fn may_type(world: &mut World, command: String) {
    let card = world.talk.answer().plan.as_ref().expect("a plan is shown");
    let list = &card.choices.list;
    assert!(list.iter().any(|choice| choice.command == command), "{list:?}");
}

#[then(expr = "plan {int} reads {string}")]
async fn plan_reads(world: &mut World, number: u32, text: String) {
    assert_eq!(world.plan(number).await.markdown(), unescaped(&text));
}

#[then("there are no plans")]
async fn no_plans(world: &mut World) {
    let session = world.engine.sessions().get(&world.session()).await.expect("there");
    assert_eq!(session.plans_made, 0);
}

#[then("the model was not called")]
fn not_called(world: &mut World) {
    assert!(world.talk.model.requests().is_empty());
}

fn text_of(message: &ModelMessage) -> &str {
    match message {
        ModelMessage::User { text } | ModelMessage::Assistant { text, .. } | ModelMessage::ToolResult { text, .. } => {
            text
        }
    }
}

fn was_sent(request: &ModelRequest, text: &str) -> bool {
    request.messages.iter().any(|message| text_of(message).contains(text))
}

#[then(expr = "the model was sent {string}")]
fn sent(world: &mut World, text: String) {
    let request = world.talk.model.last_request();
    assert!(was_sent(&request, &text), "{request:?}");
}

#[then(expr = "the model was not sent {string}")]
fn not_sent(world: &mut World, text: String) {
    let request = world.talk.model.last_request();
    assert!(!was_sent(&request, &text) && !request.system.contains(&text), "{request:?}");
}

#[then(expr = "the model was told {string}")]
fn told(world: &mut World, text: String) {
    let request = world.talk.model.last_request();
    let told = request.messages.iter().filter(|message| matches!(message, ModelMessage::ToolResult { .. }));
    assert!(told.map(text_of).any(|result| result.contains(&text)), "{request:?}");
}

#[then(expr = "the model was offered {string}")]
fn offered(world: &mut World, tool: String) {
    assert!(world.talk.model.last_request().tools.iter().any(|offered| offered.name == tool));
}

#[then(expr = "the model was not offered {string}")]
fn not_offered(world: &mut World, tool: String) {
    assert!(!world.talk.model.last_request().tools.iter().any(|offered| offered.name == tool));
}

#[then(expr = "the model's instructions say {string}")]
fn instructed(world: &mut World, text: String) {
    let system = world.talk.model.last_request().system;
    assert!(system.contains(&text), "{system}");
}

#[then(expr = "the model's instructions once said {string}")]
fn once_instructed(world: &mut World, text: String) {
    assert!(world.talk.model.requests().iter().any(|request| request.system.contains(&text)));
}

#[then(expr = "the file {string} reads {string}")]
fn file_reads(world: &mut World, path: String, text: String) {
    let file = world.talk.files().folder(&world.session()).join(path);
    assert_eq!(std::fs::read_to_string(file).expect("the file is there"), text);
}

#[then(expr = "there is no file {string}")]
fn no_file(world: &mut World, path: String) {
    assert!(!world.talk.files().folder(&world.session()).join(path).exists());
}
