//! A session with a store of its own, and turns in which every call of the model is really made.

use std::sync::Arc;

use planwright_agent::tools::PlanTools;
use planwright_core::actor::Actor;
use planwright_core::agents::{AgentRegistry, Specialist};
use planwright_core::model::{ModelMessage, ModelRequest, SentCall, ToolSpec};
use planwright_core::plan::approval::Selection;
use planwright_core::plan::{Plan, PlanStyle};
use planwright_core::policy::Policy;
use planwright_core::session::SessionIdentity;
use planwright_engine::Engine;
use planwright_engine::model::Model;
use planwright_llm::rehearsal::RehearsalModel;
use planwright_store::Location;
use serde_json::json;
use tempfile::TempDir;

use crate::world::RecordingListener;

pub(crate) struct TestSession {
    _folder: TempDir,
    engine: Engine,
    session: SessionIdentity,
    others: Vec<ToolSpec>,
    messages: Vec<ModelMessage>,
    called: Vec<String>,
}

impl TestSession {
    pub(crate) async fn planning(style: PlanStyle) -> Self {
        Self::new(style, Policy::default()).await
    }

    pub(crate) async fn with_agents(names: &[&str]) -> Self {
        let agents = AgentRegistry::new(names.iter().map(|name| Specialist::named(name))).unwrap();
        Self::new(PlanStyle::Build, Policy { agents, ..Policy::default() }).await
    }

    /// The planner can ask, and the same model answers as the specialist.
    pub(crate) fn with_specialists_to_ask(mut self) -> Self {
        self.others.push(string_tool("ask_agent", &["agent", "question"], &["agent", "question"]));
        self
    }

    pub(crate) fn without_other_tools(mut self) -> Self {
        self.others.clear();
        self
    }

    async fn new(style: PlanStyle, policy: Policy) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let ledger = planwright_store::open(&Location::Sqlite(folder.path().join("planwright.db"))).await.unwrap();
        let engine = Engine::new(ledger, policy);
        let session: SessionIdentity = "cli:k3yk3y8x".parse().unwrap();
        engine.sessions().open(&session, &ada()).await.unwrap();
        engine.sessions().enable_plan_mode(&session, &ada(), style).await.unwrap();
        Self { _folder: folder, engine, session, others: file_tools(), messages: Vec::new(), called: Vec::new() }
    }

    /// One turn, until the model answers in text.
    pub(crate) async fn say(&mut self, expected: &str) -> String {
        self.messages.push(ModelMessage::User { text: expected.to_owned() });
        self.called.clear();
        for round in 0..50 {
            let request = self.request().await;
            let heard = RecordingListener::default();
            let reply = RehearsalModel::default().reply(&request, &heard).await.unwrap();
            assert_eq!(heard.text(), reply.text);
            let calls: Vec<_> = reply
                .calls
                .iter()
                .zip(0..)
                .map(|(call, index)| SentCall {
                    id: format!("{}-{round}-{index}", self.messages.len()),
                    call: call.clone(),
                })
                .collect();
            self.messages.push(ModelMessage::Assistant { text: reply.text.clone(), calls: calls.clone() });
            if calls.is_empty() {
                return reply.text;
            }
            for sent in calls {
                let result = self.carry_out(sent).await;
                self.messages.push(result);
            }
        }
        panic!("the turn does not end: {:?}", self.called)
    }

    async fn request(&self) -> ModelRequest {
        let plan_tools = PlanTools::new(&self.engine).advertised(&self.session).await.unwrap();
        let spec = |tool: planwright_agent::tool_schema::ToolDefinition| ToolSpec {
            name: tool.name.to_owned(),
            description: tool.description,
            input_schema: tool.input_schema,
        };
        let tools = plan_tools.into_iter().map(spec).chain(self.others.clone()).collect();
        ModelRequest { system: "You plan.".to_owned(), messages: self.messages.clone(), tools, max_output_tokens: None }
    }

    async fn carry_out(&mut self, sent: SentCall) -> ModelMessage {
        let name = sent.call.name.clone();
        self.called.push(name.clone());
        let arguments = serde_json::from_str(&sent.call.arguments).unwrap();
        if name == "ask_agent" {
            let text = answered(&arguments).await;
            return ModelMessage::ToolResult { id: sent.id, name, text, failed: false };
        }
        let agent = Actor::agent("rehearsal", "cli");
        let (text, failed) = match PlanTools::new(&self.engine).call(&self.session, &agent, &name, arguments).await {
            Ok(value) => (value.to_string(), false),
            Err(refusal) => (serde_json::to_string(&refusal).unwrap(), true),
        };
        assert!(!failed, "{name}: {text}");
        ModelMessage::ToolResult { id: sent.id, name, text, failed }
    }

    /// Another agent writes the document.
    pub(crate) async fn drafted_by_another(&self, markdown: &str) {
        let arguments = json!({ "plan_markdown": markdown }).as_object().cloned().unwrap();
        let agent = Actor::agent("codex", "mcp");
        PlanTools::new(&self.engine).call(&self.session, &agent, "plan_set_content", arguments).await.unwrap();
    }

    /// What happened before the turn.
    pub(crate) async fn report(&self, step: usize, status: &str) {
        let arguments = json!({ "step": step, "status": status });
        let agent = Actor::agent("rehearsal", "cli");
        let arguments = arguments.as_object().cloned().unwrap();
        PlanTools::new(&self.engine).call(&self.session, &agent, "plan_progress", arguments).await.unwrap();
    }

    /// The calls of the last turn.
    pub(crate) fn called(&self) -> Vec<String> {
        self.called.clone()
    }

    pub(crate) async fn plan(&self) -> Arc<Plan> {
        self.engine.plans().active(&self.session).await.unwrap()
    }

    /// Also one that is finished and no longer active.
    pub(crate) async fn newest_plan(&self) -> Arc<Plan> {
        self.engine.plans().find(&self.session, None).await.unwrap()
    }

    /// Everything the plan says.
    pub(crate) async fn shown(&self) -> String {
        serde_json::to_string(&self.plan().await.content).unwrap()
    }

    pub(crate) async fn approve(&self) {
        let plan = self.plan().await;
        self.engine
            .plans()
            .approve(&self.session, &ada(), &plan.id, plan.digest(), Selection::All, None)
            .await
            .unwrap();
    }

    pub(crate) async fn revise(&self, feedback: &str) {
        let plan = self.plan().await;
        self.engine.plans().revise(&self.session, &ada(), &plan.id, feedback.to_owned()).await.unwrap();
    }
}

fn ada() -> Actor {
    Actor::person("ada", "cli")
}

/// The specialist's side of a question.
async fn answered(arguments: &serde_json::Map<String, serde_json::Value>) -> String {
    let question = arguments["question"].as_str().unwrap();
    let request = ModelRequest {
        system: format!("You are the {}.", arguments["agent"].as_str().unwrap()),
        messages: vec![ModelMessage::User { text: format!("[Question from the planner]\n\n{question}") }],
        tools: [string_tool("read_file", &["path"], &["path"])].into(),
        max_output_tokens: None,
    };
    let reply = RehearsalModel::default().reply(&request, &RecordingListener::default()).await.unwrap();
    assert!(reply.calls.is_empty(), "{reply:?}");
    reply.text
}

fn file_tools() -> Vec<ToolSpec> {
    vec![
        string_tool("read_file", &["path"], &["path"]),
        string_tool("write_file", &["path", "content"], &["path", "content"]),
        string_tool("list_files", &["path", "after"], &[]),
    ]
}

/// A tool whose arguments are all texts.
pub(crate) fn string_tool(name: &str, fields: &[&str], required: &[&str]) -> ToolSpec {
    let properties: serde_json::Map<_, _> =
        fields.iter().map(|field| ((*field).to_owned(), json!({ "type": "string" }))).collect();
    ToolSpec {
        name: name.to_owned(),
        description: String::new(),
        input_schema: json!({ "type": "object", "properties": properties, "required": required }),
    }
}
