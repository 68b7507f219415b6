use std::io::Write as _;
use std::process::Stdio;

use crate::world::{Ran, SESSION, World};

const HELLO: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"tester","version":"1"}}}"#;
const READY: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const DRAFT: &str = r##"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"plan_set_content","arguments":{"plan_markdown":"# From an agent\n\n- [ ] one"}}}"##;
const LIST: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;

/// Sends the lines after the handshake and closes the connection.
pub(crate) fn talk(world: &World, line: &str, messages: &[&str]) -> Ran {
    talk_with(world, line, messages, &[])
}

pub(crate) fn talk_with(world: &World, line: &str, messages: &[&str], variables: &[(&str, &str)]) -> Ran {
    let mut command = world.command();
    command.args(line.split_whitespace()).envs(variables.iter().copied());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    for message in [HELLO, READY].iter().chain(messages) {
        writeln!(stdin, "{message}").unwrap();
    }
    drop(stdin);
    child.wait_with_output().unwrap().into()
}

#[test]
fn without_a_session_a_new_key_is_made_and_said() {
    let world = World::new();
    let served = talk(&world, "mcp", &[DRAFT]).done().complains("new session mcp:").complains("--session");
    let key = served.stderr.split("mcp:").nth(1).unwrap()[..12].to_owned();
    assert!(!served.stdout.is_empty() && served.stdout.lines().all(|line| line.starts_with('{')), "{}", served.stdout);
    world.run(&format!("plan show --session {key}")).done().says("From an agent").says("tester (agent) through mcp");
    // Coming back finds the plan as it was.
    talk(&world, &format!("mcp --session {key}"), &[]).done();
    assert_eq!(world.json("plan list")["plans"].as_array().unwrap().len(), 1);
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
    let tools = talk(&world, "mcp --session cli:session-one --plan build", &[LIST]).done();
    assert!(tools.stdout.contains("plan_add_step"), "{}", tools.stdout);
    assert_eq!(world.json("plan status --session cli:session-one")["planMode"]["style"], "build");
    let off = talk(&world, "mcp --session cli:session-one --plan off", &[LIST]).done();
    assert!(!off.stdout.contains("plan_add_step\""), "{}", off.stdout);
    world.run("mcp --plan sideways").exits(2).complains("document");
    world.run("mcp --session short").exits(4).complains("8 to 64");
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
fn without_a_style_plan_work_goes_on_as_it_was() {
    let world = World::new();
    talk(&world, "mcp --session session-one --plan build", &[]).done();
    world.run("plan off").done();
    talk(&world, "mcp --session session-one", &[]).done();
    let mode = &world.json("plan status")["planMode"];
    assert_eq!((&mode["enabled"], &mode["style"]), (&true.into(), &"build".into()));
    world.run("mcp --help").done().says("default: on, with the style");
}

/// Without a model, the built-in rehearsal would report steps as done that it does not do.
#[test]
fn without_a_model_nothing_carries_out_what_another_agent_drafted() {
    for world in [World::with_plan(), World::with_built_plan()] {
        world.run(&format!("plan approve 1 --digest {}", world.digest())).done();
        let chat = |words: &str| world.run(&format!("chat --session {SESSION} {words}"));
        let refused = chat("/plan resume 1");
        for words in ["No model is configured", "PLANWRIGHT_MODEL", "claude (agent) through mcp"] {
            let said = format!("{}{}", refused.stdout, refused.stderr);
            let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(said.contains(words), "{words:?} is not in {said}");
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
    let said = format!("{}{}", refused.stdout, refused.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("No model is configured") && said.contains("rehearsal (agent) through mcp"), "{said}");
    assert_eq!(world.status(), "APPROVED");
}
