//! `planwright setup`, on a real terminal.
#![cfg(target_os = "linux")]

use crate::provider::{Provider, Reply};
use crate::terminal::Terminal;
use crate::world::World;

/// Without the clients of the machine on which the tests run.
const PATH: (&str, &str) = ("PATH", "/usr/bin:/bin");

#[test]
fn the_model_is_tried_and_written_into_the_configuration() {
    let world = World::new();
    world.write("planwright.toml", "# mine\n\n[turn]\nmodel_calls = 7\n");
    let provider = Provider::start(&[Reply::Text("ready".to_owned())]);
    let line = format!("{} setup", env!("CARGO_BIN_EXE_planwright"));
    let address = ("OPENAI_BASE_URL", provider.address.as_str());
    let nothing_listens = ("OLLAMA_HOST", "http://127.0.0.1:9");
    let mut terminal = Terminal::start_with(&world, &line, &[PATH, address, nothing_listens]);
    terminal.wait_for("Which model answers?");
    terminal.wait_for("Enter for rehearsal: ");
    terminal.type_in("nonsense\n");
    terminal.wait_for("✘");
    terminal.wait_for("Enter for rehearsal: ");
    terminal.type_in("anthropic:nobody\n");
    terminal.wait_for("ANTHROPIC_API_KEY");
    terminal.wait_for("Enter for rehearsal: ");
    terminal.type_in("openai:tester\n");
    terminal.wait_for("openai:tester answers.");
    let (seen, code) = terminal.end();
    assert_eq!(code, 0, "{seen}");
    let written = std::fs::read_to_string(world.path("planwright.toml")).unwrap();
    assert!(written.contains("model = \"openai:tester\"") && written.contains("# mine"), "{written}");
    assert!(written.contains("[turn]\nmodel_calls = 7"), "{written}");
    world.run("config show").done().tells("model = \"openai:tester\"");
}

#[test]
fn what_is_there_is_kept_with_enter() {
    let world = World::new();
    let line = format!("{} setup", env!("CARGO_BIN_EXE_planwright"));
    let mut terminal = Terminal::start_with(&world, &line, &[PATH, ("OLLAMA_HOST", "http://127.0.0.1:9")]);
    terminal.wait_for("Enter for rehearsal: ");
    terminal.type_in("\n");
    let (seen, code) = terminal.end();
    assert_eq!(code, 0, "{seen}");
    assert!(!world.path("planwright.toml").exists());
}

#[test]
fn in_a_pipe_nothing_is_asked() {
    let world = World::new();
    world.run("setup").exits(2).complains("there is no terminal to ask on");
    assert!(!world.path("planwright.toml").exists());
}
