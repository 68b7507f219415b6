//! `planwright setup`, on a real terminal.
#![cfg(target_os = "linux")]

use crate::provider::{Provider, Reply};
use crate::terminal::Terminal;
use crate::world::World;

/// Without the clients of the machine on which the tests run.
const PATH: (&str, &str) = ("PATH", "/usr/bin:/bin");
const NO_MODEL: (&str, &str) = ("PLANWRIGHT_MODEL", "");
const NOTHING_LISTENS: (&str, &str) = ("OLLAMA_HOST", "http://127.0.0.1:9");

#[test]
fn the_model_is_tried_and_written_into_the_configuration() {
    let world = World::new();
    world.write("planwright.toml", "# mine\n\n[turn]\nmodel_calls = 7\n");
    let provider = Provider::start(&[Reply::Text("ready".to_owned())]);
    let line = format!("{} setup", env!("CARGO_BIN_EXE_planwright"));
    let address = ("OPENAI_BASE_URL", provider.address.as_str());
    let mut terminal = Terminal::start_with(&world, &line, &[PATH, NO_MODEL, address, NOTHING_LISTENS]);
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
    let mut terminal = Terminal::start_with(&world, &line, &[PATH, NO_MODEL, NOTHING_LISTENS]);
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

#[test]
fn the_first_chat_asks_for_a_model_once() {
    let world = World::new();
    let variables = [PATH, NO_MODEL, NOTHING_LISTENS];
    let program = env!("CARGO_BIN_EXE_planwright");
    let mut terminal = Terminal::start_with(&world, program, &variables);
    terminal.wait_for("Welcome to Planwright");
    terminal.wait_for("Enter for rehearsal: ");
    terminal.type_in("\n");
    terminal.wait_for("This is a rehearsal");
    terminal.wait_for("›");
    terminal.type_in("/quit\r");
    let (seen, code) = terminal.end();
    assert_eq!(code, 0, "{seen}");
    assert_eq!(std::fs::read_to_string(world.path("planwright.toml")).unwrap(), "model = \"rehearsal\"\n");
    // Neither with the store of the first chat nor without it is anything asked again.
    for _ in 0..2 {
        let mut terminal = Terminal::start_with(&world, program, &variables);
        terminal.wait_for("›");
        terminal.type_in("/quit\r");
        let (seen, code) = terminal.end();
        assert_eq!(code, 0, "{seen}");
        assert!(!seen.contains("Welcome to Planwright"), "{seen}");
        std::fs::remove_file(world.store()).unwrap();
    }
}

#[test]
fn the_first_chat_asks_nothing_where_it_need_not() {
    for (line, variables) in [
        ("chat --model rehearsal", vec![NO_MODEL]),
        ("chat", vec![("PLANWRIGHT_MODEL", "rehearsal")]),
        ("chat hello", vec![NO_MODEL]),
    ] {
        let world = World::new();
        let line = format!("{} {line}", env!("CARGO_BIN_EXE_planwright"));
        let mut terminal = Terminal::start_with(&world, &line, &[variables, vec![PATH, NOTHING_LISTENS]].concat());
        terminal.type_in("/quit\r");
        let (seen, code) = terminal.end();
        assert_eq!(code, 0, "{line}: {seen}");
        assert!(!seen.contains("Welcome to Planwright") && !world.path("planwright.toml").exists(), "{line}: {seen}");
    }
}
