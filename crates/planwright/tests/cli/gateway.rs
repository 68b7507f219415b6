//! `planwright mcp --upstream`: tools of another server behind the gate, as a client of the real program meets them.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::{LazyLock, mpsc};
use std::time::Duration;

use planwright_sandbox::{Sandbox, SandboxLevel, SandboxOptions};
use serde_json::{Value, json};

use crate::world::{World, ran};

/// How long a test waits for a message of the program.
const MAX_WAIT: Duration = Duration::from_secs(120);
pub(crate) const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../upstream/tests/servers/hostile.py");

/// The name of the server. Where this system has no sandbox, a new store lets it run without one.
fn server_flag() -> &'static str {
    static FLAG: LazyLock<&str> = LazyLock::new(|| {
        let sandbox = Sandbox::new(SandboxOptions::default());
        if sandbox.support().refusal(SandboxLevel::Workspace).is_none() { "up" } else { "up:open" }
    });
    *FLAG
}

pub(crate) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: mpsc::Receiver<String>,
    next: u64,
}

impl Client {
    pub(crate) fn start(world: &World, plan: &str, mode: &str, variables: &[(&str, &str)]) -> Self {
        Self::start_with(world, plan, mode, variables, json!({}))
    }

    pub(crate) fn start_with(
        world: &World,
        plan: &str,
        mode: &str,
        variables: &[(&str, &str)],
        capabilities: Value,
    ) -> Self {
        let mut client = Self::connect(world, plan, mode, variables);
        let about = json!({ "name": "tester", "version": "1" });
        let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": about });
        client.ask("initialize", hello);
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    /// Starts the program and says nothing yet.
    pub(crate) fn connect(world: &World, plan: &str, mode: &str, variables: &[(&str, &str)]) -> Self {
        let notes = world.path("notes");
        std::fs::create_dir_all(&notes).unwrap();
        let mut command = world.command();
        let upstream = format!("{}=python3 {SCRIPT} {mode} {}", server_flag(), notes.display());
        command.args(["mcp", "--session", "gateway-session", "--plan", plan, "--upstream", &upstream]);
        // A busy machine starts the server slowly; what that changes has tests of its own.
        command.env("PLANWRIGHT_GATEWAY_START_SECONDS", "600");
        command.env("PATH", std::env::var_os("PATH").unwrap()).envs(variables.iter().copied());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (input, stdout) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let (lines, output) = mpsc::channel();
        std::thread::spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| lines.send(line)));
        Self { child, input, output, next: 0 }
    }

    pub(crate) fn send(&mut self, message: &Value) {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{message}").unwrap();
        input.flush().unwrap();
    }

    pub(crate) fn receive(&mut self) -> Value {
        let line = self.output.recv_timeout(MAX_WAIT).expect("the server sends a message");
        serde_json::from_str(&line).unwrap()
    }

    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        self.answer(id)
    }

    /// Reads on until the answer to this request comes.
    pub(crate) fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.receive();
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
        }
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let id = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({ "name": tool, "arguments": arguments }))["result"].clone()
    }

    #[track_caller]
    pub(crate) fn succeed(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], false, "{tool}: {result}");
        result["structuredContent"].clone()
    }

    /// The text of a result of an upstream server.
    #[track_caller]
    pub(crate) fn text(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], false, "{tool}: {result}");
        result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{tool}: {result}")).to_owned()
    }

    /// The next message with this method.
    pub(crate) fn message(&mut self, method: &str) -> Value {
        loop {
            let message = self.receive();
            if message["method"] == method {
                return message;
            }
        }
    }

    #[track_caller]
    pub(crate) fn refused(&mut self, tool: &str, arguments: Value, code: &str) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(
            (&result["isError"], &result["structuredContent"]["code"]),
            (&json!(true), &json!(code)),
            "{result}"
        );
        result["structuredContent"]["message"].as_str().unwrap().to_owned()
    }

    /// Waits until the plan has this status, as a client does.
    fn wait_for(&mut self, status: &str) -> Value {
        self.wait_until(|plan| plan["status"] == status)
    }

    /// Reads the plan until it fits.
    pub(crate) fn wait_until(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        loop {
            let plan = self.succeed("plan_get", json!({}));
            if fits(&plan) {
                return plan;
            }
            let wait = self.request("ping", json!({}));
            while self.receive()["id"] != wait {}
            std::thread::yield_now();
        }
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn leave(mut self) {
        drop(self.input.take());
        assert!(self.child.wait().unwrap().success());
    }
}

pub(crate) fn calls(world: &World) -> Vec<String> {
    let log = std::fs::read_to_string(world.path("notes/calls.log")).unwrap_or_default();
    log.lines().map(str::to_owned).collect()
}

pub(crate) fn approve(world: &World, more: &str) {
    let digest = world.active_plan("mcp:gateway-session").digest();
    world.run(&format!("plan approve --session gateway-session --digest {digest} {more}")).done();
}

#[test]
fn in_style_collect_calls_are_recorded_approved_in_part_and_made_once_by_planwright() {
    let world = World::new();
    let mut client = Client::start(&world, "collect", "plain", &[]);
    let tools = client.ask("tools/list", json!({}));
    let tools = tools["result"]["tools"].as_array().unwrap();
    let note = tools.iter().find(|tool| tool["name"] == "up__note").expect("the upstream tool is listed");
    assert_eq!((&note["title"], &note["annotations"]["readOnlyHint"]), (&json!("note (up)"), &json!(false)));

    for text in ["one", "two", "three"] {
        let planned = client.call("up__note", json!({ "text": text }));
        assert!(planned["content"][0]["text"].as_str().unwrap().starts_with("[Planned] up__note"), "{planned}");
    }
    client.refused("up__note", json!({}), "INVALID_ARGUMENT");
    // A call that the plan names with plan_add_call is the same call.
    client.succeed("plan_add_call", json!({ "tool": "up__read", "arguments": {} }));
    client.succeed("plan_finalize", json!({}));
    assert_eq!(calls(&world), [""; 0], "nothing ran");
    assert!(client.refused("up__note", json!({ "text": "one" }), "WRONG_STATUS").contains("READY"));

    approve(&world, "--skip 2");
    let done = client.wait_for("COMPLETED");
    assert_eq!(calls(&world), [r#"note {"text": "one"}"#, r#"note {"text": "three"}"#, "read {}"]);
    let steps = done["steps"].as_array().unwrap();
    assert!(steps[0]["note"].as_str().unwrap().contains("noted one"), "{}", steps[0]);
    assert_eq!(steps[1]["status"], "SKIPPED");
    client.leave();

    // Another start makes nothing again.
    let mut again = Client::start(&world, "collect", "plain", &[]);
    again.wait_for("COMPLETED");
    again.leave();
    assert_eq!(calls(&world).len(), 3);
}

#[test]
fn the_clients_own_calls_and_those_of_planwright_take_turns_in_the_order_of_the_plan() {
    let world = World::new();
    let mut client = Client::start(&world, "collect", "plain", &[]);
    client.succeed("up__note", json!({ "text": "before" }));
    client.succeed("plan_add_call", json!({ "tool": "Bash", "arguments": { "command": "make" } }));
    client.succeed("up__note", json!({ "text": "after" }));
    client.succeed("plan_finalize", json!({}));
    let shown = world.json("plan show 1 --session gateway-session");
    let made_by: Vec<_> = shown["steps"].as_array().unwrap().iter().map(|step| step["madeBy"].clone()).collect();
    assert_eq!(made_by, ["planwright", "client", "planwright"], "{shown}");
    let shown = world.run("plan show 1 --session gateway-session").done();
    shown.says("(Planwright makes this call)").says("the agent makes this call");
    approve(&world, "");
    while calls(&world).is_empty() {
        client.succeed("plan_get", json!({}));
    }
    assert!(
        client.refused("plan_progress", json!({ "step": 1, "status": "done" }), "POLICY_DENIED").contains("itself")
    );
    assert_eq!(calls(&world), [r#"note {"text": "before"}"#], "the agent's own call comes first");
    client.succeed("plan_progress", json!({ "step": 2, "status": "done" }));
    client.wait_for("COMPLETED");
    assert_eq!(calls(&world).len(), 2);
    client.leave();
}

#[test]
fn in_the_other_styles_the_setting_says_when_changes_run() {
    let world = World::new();
    let during_plan = [("PLANWRIGHT_GATEWAY_WRITES", "during_plan")];
    let mut client = Client::start(&world, "document", "plain", &during_plan);
    assert!(client.refused("up__note", json!({ "text": "x" }), "POLICY_DENIED").contains("COLLECTING"));
    client.succeed("plan_set_content", json!({ "plan_markdown": "- [ ] note it" }));
    assert!(client.refused("up__note", json!({ "text": "x" }), "POLICY_DENIED").contains("READY"));
    approve(&world, "");
    assert_eq!(client.text("up__note", json!({ "text": "x" })), "noted x");
    client.succeed("plan_progress", json!({ "status": "done" }));
    assert!(client.refused("up__note", json!({ "text": "y" }), "POLICY_DENIED").contains("COMPLETED"));
    client.leave();

    world.run("config set gateway.writes free").done();
    let mut free = Client::start(&world, "document", "plain", &[]);
    free.succeed("up__note", json!({ "text": "free" }));
    free.leave();
    // The person's rules come first.
    let rules = [("PLANWRIGHT_PERMISSIONS", r#"[{ tool = "up__note", decide = "deny" }]"#)];
    let mut denied = Client::start(&world, "document", "plain", &rules);
    assert!(denied.refused("up__note", json!({ "text": "z" }), "POLICY_DENIED").contains("denied"));
    denied.leave();
    assert_eq!(calls(&world), [r#"note {"text": "x"}"#, r#"note {"text": "free"}"#]);
}

#[test]
fn with_ask_a_person_is_asked_in_the_client_about_each_change() {
    let world = World::new();
    let ask = [("PLANWRIGHT_GATEWAY_WRITES", "ask")];
    let mut mute = Client::start(&world, "document", "plain", &ask);
    assert!(mute.refused("up__note", json!({ "text": "x" }), "POLICY_DENIED").contains("permitted"));
    mute.leave();
    let mut client = Client::start_with(&world, "document", "plain", &ask, json!({ "elicitation": { "form": {} } }));
    for (decision, runs) in [("once", true), ("no", false)] {
        let id = client.request("tools/call", json!({ "name": "up__note", "arguments": { "text": decision } }));
        let question = loop {
            let message = client.receive();
            if message["method"] == "elicitation/create" {
                break message;
            }
        };
        assert!(question["params"]["message"].as_str().unwrap().contains(decision), "{question}");
        let offered = &question["params"]["requestedSchema"]["properties"]["decision"];
        assert_eq!(offered["enum"], json!(["once", "no"]), "{question}");
        assert_eq!(offered["enumNames"], json!(["Allow once", "Do not allow"]), "{question}");
        let result = json!({ "action": "accept", "content": { "decision": decision } });
        client.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": result }));
        let answer = loop {
            let message = client.receive();
            if message["id"] == id {
                break message;
            }
        };
        assert_eq!(answer["result"]["isError"], !runs, "{answer}");
    }
    client.leave();
    assert_eq!(calls(&world), [r#"note {"text": "once"}"#]);
}

#[test]
fn a_server_that_dies_changes_or_says_too_much_fails_its_own_calls_only() {
    let world = World::new();
    let free = [("PLANWRIGHT_GATEWAY_WRITES", "free")];
    let mut client = Client::start(&world, "document", "plain", &free);
    let died = client.succeed("up__die", json!({}));
    assert!(died["message"].as_str().unwrap().contains("not known"), "{died}");
    client.succeed("up__note", json!({ "text": "after the death" }));
    assert!(client.refused("up__fail", json!({}), "UNAVAILABLE").contains("the disk is full"));
    let big = client.text("up__big", json!({}));
    assert!(big.starts_with("begin 0123456789") && big.len() < 70_000, "{} bytes", big.len());
    let name = big.split("result_read with result ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    let whole = "begin ".len() + 10 * 1024 * 1024 + " end".len();
    let last = client.succeed("result_read", json!({ "result": name, "from": whole - 7 }));
    assert_eq!((&last["text"], &last["of"], last.get("next_from")), (&json!("789 end"), &json!(whole), None), "{last}");
    let first = client.succeed("result_read", json!({ "result": name }));
    assert_eq!((first["text"].as_str().unwrap().len(), &first["next_from"]), (65_536, &json!(65_536)));
    client.refused("result_read", json!({ "result": name, "from": whole }), "INVALID_ARGUMENT");
    client.refused("result_read", json!({ "result": "@commands/99.txt" }), "NOT_FOUND");
    client.refused("result_read", json!({ "result": "../secrets" }), "INVALID_ARGUMENT");
    // A description that changed waits for a person.
    client.succeed("up__change", json!({}));
    assert!(client.refused("up__note", json!({ "text": "x" }), "POLICY_DENIED").contains("differently"));
    client.succeed("plan_set_content", json!({ "plan_markdown": "- [ ] still here" }));
    client.leave();
}

/// A client can open every file that the result of a step names.
#[test]
fn the_bytes_that_a_step_returned_are_read_by_the_client() {
    let world = World::new();
    let mut client = Client::start(&world, "collect", "plain", &[]);
    client.succeed("up__image", json!({}));
    client.succeed("plan_finalize", json!({}));
    approve(&world, "");
    let done = client.wait_for("COMPLETED");
    let note = done["steps"][0]["note"].as_str().unwrap_or_else(|| panic!("{done}"));
    let note: Value = serde_json::from_str(note).unwrap();
    let read = client.succeed("result_read", json!({ "result": note["content"][0]["file"] }));
    assert_eq!((&read["base64"], read.get("next_from")), (&json!("iVBORyBub3QgcmVhbGx5"), None), "{read}");
    client.leave();
}

#[test]
fn ten_thousand_tools_do_not_reach_the_model() {
    let world = World::new();
    let mut client = Client::start(&world, "document", "many", &[]);
    let listed = client.ask("tools/list", json!({}));
    let count = listed["result"]["tools"].as_array().unwrap().len();
    assert!((100..200).contains(&count), "{count}");
    client.succeed("plan_get", json!({}));
    client.leave();
}

#[test]
fn results_and_errors_go_into_the_workbook() {
    let world = World::new();
    world.write(
        "planwright.toml",
        "[planning_files]\nenabled = true\nfindings_every = 1\n[gateway]\nwrites = \"free\"\n",
    );
    let mut client = Client::start(&world, "document", "plain", &[]);
    client.succeed("init_plan", json!({ "task_title": "Look around" }));
    client.refused("up__fail", json!({}), "UNAVAILABLE");
    let progress = client.succeed("read_plan", json!({ "which": "progress" }));
    assert!(progress.to_string().contains("the disk is full"), "{progress}");
    client.text("up__note", json!({ "text": "a change" }));
    let findings = client.succeed("read_plan", json!({ "which": "findings" }));
    assert!(findings.to_string().contains("noted a change"), "{findings}");
    client.leave();
}

/// Findings are parts of what calls returned that only read.
#[test]
fn what_a_reading_call_returns_goes_into_the_findings() {
    let world = World::new();
    let notes = world.path("notes");
    std::fs::create_dir_all(&notes).unwrap();
    let server = format!(
        "[mcp.servers.books]\ncommand = \"python3\"\nargs = [\"{SCRIPT}\", \"library\", \"{}\"]\ntrust_annotations = true\n",
        notes.display()
    );
    world.write("planwright.toml", &format!("[planning_files]\nenabled = true\nfindings_every = 1\n{server}"));
    let shown = world.json("mcp-server show books");
    world.run(&format!("mcp-server accept books --digest {}", shown["digest"].as_str().unwrap())).done();
    let mut client = Client::start(&world, "document", "plain", &[]);
    client.succeed("init_plan", json!({ "task_title": "Look around" }));
    client.succeed("books__steps", json!({}));
    let findings = client.succeed("read_plan", json!({ "which": "findings" })).to_string();
    assert!(findings.contains("books__steps") && findings.contains("both parts"), "{findings}");
    client.leave();
}

#[test]
fn progress_of_an_upstream_call_reaches_the_client_under_its_own_token() {
    let world = World::new();
    let mut client = Client::start(&world, "document", "library", &[("PLANWRIGHT_GATEWAY_WRITES", "free")]);
    // This call ends only after it is cancelled, so that its progress comes while it runs.
    let params = json!({ "name": "up__slow", "arguments": {}, "_meta": { "progressToken": "mine-7" } });
    let slow = client.request("tools/call", params);
    let told = loop {
        let message = client.receive();
        assert_ne!(message["id"], slow, "it ended before it was cancelled: {message}");
        if message["method"] == "notifications/progress" {
            break message;
        }
    };
    assert_eq!(told["params"]["progressToken"], "mine-7", "{told}");
    let counted = |told: &Value| {
        let params = &told["params"];
        (params["progress"].as_f64(), params["total"].as_f64(), params["message"].clone())
    };
    assert_eq!(counted(&told), (Some(1.0), Some(2.0), json!("part 1")), "{told}");
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": slow } }));
    // What was said before the answer comes before it, also if both come at once; without a token nothing is told.
    let params = json!({ "name": "up__steps", "arguments": {}, "_meta": { "progressToken": 8 } });
    let steps = client.request("tools/call", params);
    let mut told = Vec::new();
    loop {
        let message = client.receive();
        if message["id"] == steps {
            assert_eq!(message["result"]["isError"], false, "{message}");
            break;
        }
        told.extend(Some(counted(&message)).filter(|_| message["params"]["progressToken"] == 8));
    }
    let parts = [1.0, 2.0].map(|part| (Some(part), Some(2.0), json!(format!("part {part}"))));
    assert_eq!(told, parts);
    let quiet = client.request("tools/call", json!({ "name": "up__steps", "arguments": {} }));
    loop {
        let message = client.receive();
        if message["id"] == quiet {
            break;
        }
        assert_ne!(message["method"], "notifications/progress", "{message}");
    }
    client.leave();
}

#[test]
fn a_flag_that_makes_no_sense_is_named() {
    let world = World::new();
    for (flag, expected) in
        [("files", "no `=`"), ("Files=x", "a-z, 0-9 and -"), ("files=a; b", "plain words"), ("files=", "plain words")]
    {
        let mut command = world.command();
        let refused = ran(command.args(["mcp", "--session", "session-one", "--upstream", flag]));
        assert_eq!(refused.code, 2, "{flag}: {refused:?}");
        assert!(refused.stderr.contains(expected), "{flag}: {}", refused.stderr);
    }
}
