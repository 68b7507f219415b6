//! A store on disk, servers on it, and clients that speak raw lines.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use planwright_agent::toolbox::files::{FileLimits, FileTools};
use planwright_core::actor::Actor;
use planwright_core::plan::approval::Selection;
use planwright_core::plan::{Plan, PlanStatus, PlanStyle};
use planwright_core::policy::Policy;
use planwright_core::session::SessionIdentity;
use planwright_engine::Engine;
use planwright_engine::feed::Feed;
use planwright_engine::ledger::Ledger;
use planwright_engine::workbook::WorkbookFolders;
use planwright_store::Location;
use planwright_surfaces::mcp::{self, McpError, McpOptions, PersonCommands, PlanStart, SessionChoice};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Nothing here takes that long; it turns a hanging test into a failing one.
const TIMEOUT: Duration = Duration::from_secs(20);

pub(crate) const DOCUMENT: PlanStart = PlanStart::Ensure(Some(PlanStyle::Document));
pub(crate) const COLLECT: PlanStart = PlanStart::Ensure(Some(PlanStyle::Collect));
pub(crate) const BUILD: PlanStart = PlanStart::Ensure(Some(PlanStyle::Build));

pub(crate) struct World {
    _folder: TempDir,
    file: PathBuf,
    pub(crate) engine: Engine,
    feed: Feed,
    pub(crate) session: SessionIdentity,
}

impl World {
    pub(crate) async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("planwright.db");
        let ledger = open(&file).await;
        let (engine, feed) = (engine_on(Arc::clone(&ledger), &file), Feed::start(ledger));
        Self { _folder: folder, file, engine, feed, session: "mcp:k3yk3y8x".parse().unwrap() }
    }

    /// The engine of another process on the same store.
    pub(crate) async fn another_engine(&self) -> Engine {
        engine_on(open(&self.file).await, &self.file)
    }

    pub(crate) fn plan_folder(&self) -> PathBuf {
        self.file.with_file_name("users").join(self.session.folder_name()).join("plan")
    }

    pub(crate) fn options(&self, start: PlanStart) -> McpOptions {
        McpOptions {
            engine: self.engine.clone(),
            feed: self.feed.clone(),
            session: SessionChoice::Fixed(self.session.clone()),
            start,
            commands: PersonCommands::default(),
            setup: None,
            gateway: None,
        }
    }

    /// A server in its own right with a client that has said hello.
    pub(crate) async fn client(&self, start: PlanStart) -> Client {
        let mut client = Client::connect(self.options(start));
        client.initialize().await;
        client
    }

    /// What is stored, whatever a server said about it.
    pub(crate) async fn active_plan(&self) -> Arc<Plan> {
        self.engine.plans().active(&self.session).await.unwrap()
    }

    pub(crate) async fn seq(&self) -> u64 {
        self.engine.ledger().session(&self.session).await.unwrap().unwrap().head.seq
    }

    /// A person approves what is stored, from another process.
    pub(crate) async fn approve(&self) -> Arc<Plan> {
        let elsewhere = self.another_engine().await;
        let plan = elsewhere.plans().active(&self.session).await.unwrap();
        let ada = Actor::person("ada", "cli");
        let approved = elsewhere
            .plans()
            .approve(&self.session, &ada, &plan.id, plan.digest(), Selection::All, None)
            .await
            .unwrap();
        assert_eq!(approved.status, PlanStatus::Approved);
        approved
    }
}

async fn open(file: &Path) -> Arc<dyn Ledger> {
    planwright_store::open(&Location::Sqlite(file.to_owned())).await.unwrap()
}

fn engine_on(ledger: Arc<dyn Ledger>, file: &Path) -> Engine {
    let files = FileTools::new(file.with_file_name("users"), FileLimits::default());
    Engine::new(ledger, Policy::default())
        .with_workbook_folders(WorkbookFolders { files: Arc::new(files), templates: None })
}

pub(crate) struct Client {
    output: Option<WriteHalf<DuplexStream>>,
    input: Lines<BufReader<ReadHalf<DuplexStream>>>,
    server: JoinHandle<Result<(), McpError>>,
    pub(crate) shutdown: CancellationToken,
    last_id: i64,
    /// What came while something else was waited for.
    answers: BTreeMap<String, Value>,
    notifications: Vec<Value>,
    /// What the server asks.
    requests: Vec<Value>,
}

impl Client {
    pub(crate) fn connect(options: McpOptions) -> Self {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let (their_input, their_output) = tokio::io::split(theirs);
        let shutdown = CancellationToken::new();
        let asked = shutdown.clone();
        let server = tokio::spawn(async move {
            mcp::serve(options, their_input, their_output, async move { asked.cancelled().await }).await
        });
        let (input, output) = tokio::io::split(ours);
        let input = BufReader::new(input).lines();
        Self {
            output: Some(output),
            input,
            server,
            shutdown,
            last_id: 0,
            answers: BTreeMap::new(),
            notifications: Vec::new(),
            requests: Vec::new(),
        }
    }

    pub(crate) async fn initialize(&mut self) -> Value {
        let params = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": { "name": "test-agent", "version": "1.0" },
        });
        let answer = self.ask("initialize", params).await;
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        answer["result"].clone()
    }

    pub(crate) async fn send_bytes(&mut self, bytes: &[u8]) {
        let output = self.output.as_mut().expect("the client still writes");
        tokio::time::timeout(TIMEOUT, output.write_all(bytes)).await.expect("the server reads").unwrap();
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        self.send_bytes(format!("{message}\n").as_bytes()).await;
    }

    /// Sends these in the background and reads nothing, until all are sent or no more are taken. Says which.
    pub(crate) async fn send_without_listening(&mut self, messages: Vec<Value>) -> (bool, JoinHandle<()>) {
        let mut output = self.output.take().expect("the client still writes");
        let (count, mut sent) = watch::channel(0);
        let sending = tokio::spawn(async move {
            for message in messages {
                output.write_all(format!("{message}\n").as_bytes()).await.unwrap();
                count.send_modify(|count| *count += 1);
            }
            output.shutdown().await.unwrap();
        });
        loop {
            match tokio::time::timeout(Duration::from_millis(500), sent.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return (true, sending),
                Err(_) => return (false, sending),
            }
        }
    }

    /// The next line, which must be JSON; `None` at the end.
    pub(crate) async fn receive(&mut self) -> Option<Value> {
        let line = tokio::time::timeout(TIMEOUT, self.input.next_line()).await.expect("the server answers").unwrap();
        line.map(|line| serde_json::from_str(&line).expect("nothing but JSON comes out"))
    }

    pub(crate) async fn send_request(&mut self, method: &str, params: Value) -> i64 {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        id
    }

    /// Answers may come in another order than the requests.
    pub(crate) async fn answer_to(&mut self, id: &Value) -> Value {
        loop {
            if let Some(answer) = self.answers.remove(&id.to_string()) {
                assert_eq!(answer["jsonrpc"], "2.0");
                return answer;
            }
            let message = self.receive().await.expect("an answer before the end");
            self.keep(message);
        }
    }

    fn keep(&mut self, message: Value) {
        match message.get("id") {
            Some(_) if message.get("method").is_some() => self.requests.push(message),
            Some(id) => {
                let twice = self.answers.insert(id.to_string(), message);
                assert!(twice.is_none(), "answered twice: {twice:?}");
            }
            None => self.notifications.push(message),
        }
    }

    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send_request(method, params).await;
        self.answer_to(&json!(id)).await
    }

    pub(crate) async fn notification(&mut self) -> Value {
        while self.notifications.is_empty() {
            let message = self.receive().await.expect("a notification before the end");
            self.keep(message);
        }
        self.notifications.remove(0)
    }

    pub(crate) async fn initialize_with(&mut self, capabilities: Value) -> Value {
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": capabilities,
            "clientInfo": { "name": "test-agent", "version": "1.0" },
        });
        let answer = self.ask("initialize", params).await;
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        answer["result"].clone()
    }

    /// The next request of the server.
    pub(crate) async fn request(&mut self) -> Value {
        loop {
            if let Some(at) = self.requests.first().map(|_| 0) {
                return self.requests.remove(at);
            }
            let message = self.receive().await.expect("a request before the end");
            self.keep(message);
        }
    }

    pub(crate) async fn answer(&mut self, request: &Value, result: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": result })).await;
    }

    /// The tools that are listed, without those of the memory, which are always last and always there.
    pub(crate) async fn tool_names(&mut self) -> Vec<String> {
        let answer = self.ask("tools/list", json!({})).await;
        let tools = answer["result"]["tools"].as_array().expect("a list of tools");
        let mut names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
        let memory = names.split_off(names.len() - 2);
        assert_eq!(memory, ["memory_search", "memory_save"]);
        names
    }

    pub(crate) async fn tool_names_raw(&mut self) -> Vec<String> {
        let answer = self.ask("tools/list", json!({})).await;
        let tools = answer["result"]["tools"].as_array().expect("a list of tools");
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// The result of a call, after checking that its text and its structure say the same.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", json!({ "name": tool, "arguments": arguments })).await;
        checked(&answer)
    }

    pub(crate) async fn succeed(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments).await;
        assert_eq!(result["isError"], false, "{result}");
        result["structuredContent"].clone()
    }

    pub(crate) async fn refuse(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments).await;
        assert_eq!(result["isError"], true, "{result}");
        result["structuredContent"].clone()
    }

    pub(crate) async fn refused_with(&mut self, tool: &str, arguments: Value, code: &str) {
        let refusal = self.refuse(tool, arguments.clone()).await;
        assert_eq!(refusal["code"], code, "{tool} {arguments}: {refusal}");
        assert!(refusal["message"].as_str().is_some_and(|message| !message.is_empty()), "{refusal}");
    }

    /// Closes the client's side and waits for the server. Returns the unread notifications.
    pub(crate) async fn leave(mut self) -> Vec<Value> {
        self.stop_writing().await;
        while let Some(message) = self.receive().await {
            self.keep(message);
        }
        assert!(self.answers.is_empty(), "unread answers: {:?}", self.answers);
        let notifications = std::mem::take(&mut self.notifications);
        self.ended().await;
        notifications
    }

    pub(crate) async fn stop_writing(&mut self) {
        let mut output = self.output.take().expect("the client still writes");
        output.shutdown().await.unwrap();
    }

    pub(crate) async fn ended(self) {
        tokio::time::timeout(TIMEOUT, self.server).await.expect("the server ends").unwrap().unwrap();
    }
}

pub(crate) fn checked(answer: &Value) -> Value {
    let result = answer["result"].clone();
    let content = result["content"].as_array().unwrap_or_else(|| panic!("no content: {answer}"));
    assert_eq!(content.len(), 1, "{answer}");
    assert_eq!(content[0]["type"], "text");
    let text = content[0]["text"].as_str().unwrap();
    let structure = &result["structuredContent"];
    if structure["planned"] == true {
        assert_eq!(text, structure["message"]);
        assert!(text.starts_with("[Planned] "), "{text}");
    } else {
        assert_eq!(text, structure.to_string(), "compact, and the same");
    }
    result
}
