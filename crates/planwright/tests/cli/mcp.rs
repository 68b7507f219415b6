use std::io::Write as _;
use std::process::Stdio;

use crate::world::{Ran, SESSION, World, ran};

const HELLO: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"tester","version":"1"}}}"#;
const READY: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const DRAFT: &str = r##"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"plan_set_content","arguments":{"plan_markdown":"# From an agent\n\n- [ ] one"}}}"##;
const GET: &str = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"plan_get","arguments":{}}}"#;
const LIST: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;

/// Sends the lines after the handshake and closes the connection.
pub(crate) fn talk(world: &World, line: &str, messages: &[&str]) -> Ran {
    talk_with(world, line, messages, &[])
}

pub(crate) fn talk_with(world: &World, line: &str, messages: &[&str], variables: &[(&str, &str)]) -> Ran {
    let mut command = world.command();
    command.args(line.split_whitespace()).envs(variables.iter().copied());
    talk_to(&mut command, HELLO, messages)
}

/// Sends the lines to a server that the command starts.
pub(crate) fn talk_to_program(command: &mut std::process::Command, messages: &[&str]) -> Ran {
    talk_to(command, HELLO, messages)
}

fn talk_to(command: &mut std::process::Command, hello: &str, messages: &[&str]) -> Ran {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    for message in [hello, READY].iter().chain(messages) {
        writeln!(stdin, "{message}").unwrap();
    }
    drop(stdin);
    child.wait_with_output().unwrap().into()
}

/// One line in a client's configuration serves every project.
#[test]
fn without_a_session_the_project_folder_is_the_session() {
    let world = World::new();
    let project = world.path("my-blog");
    std::fs::create_dir_all(project.join("posts")).unwrap();
    std::fs::create_dir(project.join(".git")).unwrap();
    let talk_in = |folder: &std::path::Path, messages: &[&str]| {
        let mut command = world.command();
        command.current_dir(folder).args(["mcp"]);
        talk_to(&mut command, HELLO, messages)
    };
    let served = talk_in(&project, &[DRAFT]).done();
    assert!(!served.stdout.is_empty() && served.stdout.lines().all(|line| line.starts_with('{')), "{}", served.stdout);
    let sessions = world.json("sessions");
    let key = sessions["sessions"][0]["sessionId"].as_str().unwrap().to_owned();
    assert!(key.starts_with("my-blog-"), "{key}");
    // A folder below and another start find the same plan; nothing piles up.
    let again = talk_in(&project.join("posts"), &[GET]).done();
    assert!(again.stdout.contains("# From an agent"), "{}", again.stdout);
    assert_eq!(world.json("sessions")["sessions"].as_array().unwrap().len(), 1);
    // Another project is another session.
    let other = world.path("other");
    std::fs::create_dir_all(&other).unwrap();
    talk_in(&other, &[]).done();
    assert_eq!(world.json("sessions")["sessions"].as_array().unwrap().len(), 2);
    // A person in the folder means the same session, on the command line and in the chat.
    let mut show = world.command();
    show.current_dir(&project).args(["plan", "show"]);
    ran(&mut show).done().says("From an agent").says("tester (agent) through mcp");
    let mut chat = world.command();
    chat.current_dir(&project).args(["chat", "/plan status"]);
    ran(&mut chat).done().says("From an agent");
}

/// The folder that a client names comes before the one that it starts the server in.
#[test]
fn the_first_root_of_the_client_is_the_project() {
    let world = World::new();
    let project = world.path("rooted");
    std::fs::create_dir_all(&project).unwrap();
    let hello = HELLO.replace(r#""capabilities":{}"#, r#""capabilities":{"roots":{}}"#);
    let mut command = world.command();
    command.args(["mcp"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = std::io::BufReader::new(child.stdout.take().unwrap());
    let mut read = || {
        let mut line = String::new();
        std::io::BufRead::read_line(&mut stdout, &mut line).unwrap();
        serde_json::from_str::<serde_json::Value>(&line).unwrap()
    };
    writeln!(stdin, "{hello}").unwrap();
    assert_eq!(read()["id"], 0);
    writeln!(stdin, "{READY}\n{DRAFT}").unwrap();
    let question = read();
    assert_eq!(question["method"], "roots/list", "{question}");
    let uri = format!("file://{}", project.canonicalize().unwrap().display());
    let roots = serde_json::json!({ "roots": [{ "uri": uri }] });
    writeln!(stdin, "{}", serde_json::json!({ "jsonrpc": "2.0", "id": question["id"], "result": roots })).unwrap();
    assert_eq!(read()["id"], 1);
    drop(stdin);
    assert!(child.wait().unwrap().success());
    let sessions = world.json("sessions");
    assert!(sessions["sessions"][0]["sessionId"].as_str().unwrap().starts_with("rooted-"), "{sessions}");
}

#[test]
fn a_short_name_is_a_session_on_both_sides() {
    let world = World::new();
    talk(&world, "mcp --session blog", &[DRAFT]).done();
    talk(&world, "mcp --session another-one", &[]).done();
    world.run("plan show --session blog").done().says("From an agent");
    assert!(talk(&world, "mcp --session blog", &[GET]).done().stdout.contains("# From an agent"));
}

/// A client that finds no server at all tells its person nothing.
#[test]
fn what_is_wrong_at_the_start_is_told_in_the_handshake_and_in_every_result() {
    let world = World::new();
    let below_a_file = format!("sqlite:{}/store.db", world.write("a-file", "").display());
    for (line, variables, code, text) in [
        ("mcp --session spoilt!key", vec![], 2, "is not a conversation key"),
        ("mcp", vec![("PLANWRIGHT_PLAN_TOOLS", "sideways")], 2, "sideways"),
        ("mcp", vec![("PLANWRIGHT_DATABASE", below_a_file.as_str())], 6, "a-file"),
    ] {
        let served = talk_with(&world, line, &[LIST, GET], &variables).exits(code);
        let answers: Vec<serde_json::Value> =
            served.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let by_id = |id: u64| answers.iter().find(|answer| answer["id"] == id).unwrap();
        assert!(by_id(0)["result"]["instructions"].as_str().unwrap().contains(text), "{line}: {answers:?}");
        assert!(!by_id(2)["result"]["tools"].as_array().unwrap().is_empty());
        let told = &by_id(3)["result"];
        assert!(told["isError"] == true && told["content"][0]["text"].as_str().unwrap().contains(text), "{told}");
        assert!(served.stderr.contains(text), "{}", served.stderr);
    }
}

#[test]
fn the_instructions_name_the_data_folder_that_was_typed() {
    let world = World::new();
    let data = world.path("my data");
    let mut command = world.command();
    command.env_remove("PLANWRIGHT_DATA").arg("--data").arg(&data).args(["mcp", "--session", "session-one"]);
    let served = talk_to(&mut command, HELLO, &[]).done();
    let hello: serde_json::Value = serde_json::from_str(served.stdout.lines().next().unwrap()).unwrap();
    let instructions = hello["result"]["instructions"].as_str().unwrap();
    let approve = format!("planwright plan approve --session mcp:session-one --data '{}'", data.display());
    assert!(instructions.contains(&approve), "{instructions}");
}

#[test]
fn a_person_decides_what_an_agent_drafted() {
    let world = World::new();
    talk(&world, &format!("mcp --session {SESSION}"), &[DRAFT]).done();
    world.run(&format!("plan approve 1 --digest {}", world.digest())).done();
    let tools = talk(&world, "mcp --session session-one", &[LIST]).done();
    assert!(tools.stdout.contains("plan_progress"), "{}", tools.stdout);
    assert!(!tools.stdout.contains("plan_approve"), "{}", tools.stdout);
}

#[test]
fn the_style_is_chosen_at_the_start() {
    let world = World::new();
    let tools = talk(&world, "mcp --session mcp:session-one --plan build", &[LIST]).done();
    assert!(tools.stdout.contains("plan_add_step"), "{}", tools.stdout);
    assert_eq!(world.json("plan status --session mcp:session-one")["planMode"]["style"], "build");
    // The agent's program can start it with any style, so that changes nothing in a session that plans.
    talk(&world, "mcp --session mcp:session-one --plan off", &[LIST]).done();
    assert_eq!(world.json("plan status --session mcp:session-one")["planMode"]["enabled"], true);
    let off = talk(&world, "mcp --session mcp:session-two --plan off", &[LIST]).done();
    assert!(!off.stdout.contains("plan_add_step\""), "{}", off.stdout);
    world.run("mcp --plan sideways").exits(2).complains("document");
}

/// What an approval takes depends on the channel.
#[test]
fn an_agent_begins_no_session_of_another_channel() {
    let world = World::new();
    for channel in ["cli", "web", "telegram"] {
        let line = format!("mcp --session {channel}:session-one");
        world.run(&line).exits(4).complains("begins sessions of channel mcp only");
    }
    world.run("plan on --session cli:session-one").done();
    let served = talk(&world, "mcp --session cli:session-one", &[LIST]).done();
    assert!(served.stdout.contains("plan_set_content"), "{}", served.stdout);
}

#[test]
fn what_an_agent_gets_wrong_is_nothing_to_warn_a_person_about() {
    let world = World::new();
    let unknown = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"no_such_tool","arguments":{}}}"#;
    let odd = r#"{"jsonrpc":"2.0","id":4,"method":"no/such/method"}"#;
    let talked = talk(&world, "mcp --session session-one", &[unknown, odd]);
    assert!(!talked.stderr.contains("WARN"), "{}", talked.stderr);
    let loud = talk(&world, "mcp --session session-one -v", &[unknown, odd]);
    assert!(loud.stderr.contains("rmcp"), "{}", loud.stderr);
}

#[test]
fn a_session_that_exists_keeps_the_mode_and_style_that_a_person_left() {
    let world = World::new();
    talk(&world, "mcp --session session-one --plan build", &[]).done();
    world.run("plan off").done();
    talk(&world, "mcp --session session-one", &[]).done();
    let mode = &world.json("plan status")["planMode"];
    assert_eq!((&mode["enabled"], &mode["style"]), (&false.into(), &"build".into()), "a person turned it off");
    world.run("plan on build").done();
    talk(&world, "mcp --session session-one --plan document", &[]).done();
    let mode = &world.json("plan status")["planMode"];
    assert_eq!((&mode["enabled"], &mode["style"]), (&true.into(), &"build".into()));
    world.run("mcp --help").done().says("in a new session").says("stays as a person left it");
}

/// Without a model, the built-in rehearsal would report steps as done that it does not do.
#[test]
fn without_a_model_nothing_carries_out_what_another_agent_drafted() {
    for world in [World::with_plan(), World::with_built_plan()] {
        world.run(&format!("plan approve 1 --digest {}", world.digest())).done();
        let chat = |text: &str| world.run(&format!("chat --session {SESSION} {text}"));
        let refused = chat("/plan resume 1");
        for text in ["No model is configured", "PLANWRIGHT_MODEL", "claude (agent) through mcp"] {
            let output = format!("{}{}", refused.stdout, refused.stderr);
            let output = output.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(output.contains(text), "{text:?} is not in {output}");
        }
        chat("yes, go ahead");
        chat("go on");
        assert_eq!(world.status(), "APPROVED");
    }
    let world = World::with_built_plan();
    world.run(&format!("plan approve 1 --digest {}", world.digest())).done();
    let refused = world.run("plan resume 1 --json");
    assert_eq!(refused.error_json()["code"], "CONFLICT");
    assert_eq!(world.status(), "APPROVED");
}

/// Clients name themselves.
#[test]
fn an_agent_of_another_program_that_is_called_rehearsal_is_not_ours() {
    let world = World::new();
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"rehearsal","version":"1"}}}"#;
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let draft = r##"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"plan_set_content","arguments":{"plan_markdown":"# Move\n\n- [ ] copy the rows\n"}}}"##;
    let lines = [hello, ready, draft, ""].join("\n");
    world.run_with_input("mcp --session session-one", &lines).done();
    world.run(&format!("plan approve 1 --session {SESSION} --digest {}", world.digest())).done();
    let refused = world.run(&format!("chat --session {SESSION} /plan resume 1"));
    let output = format!("{}{}", refused.stdout, refused.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(output.contains("No model is configured") && output.contains("rehearsal (agent) through mcp"), "{output}");
    assert_eq!(world.status(), "APPROVED");
}
