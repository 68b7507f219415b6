//! `planwright` alone, its configuration, and decisions without a name.

use serde_json::json;

use crate::world::{PLAN, SESSION, World};

#[test]
fn without_a_command_a_pipe_reads_five_lines() {
    let world = World::new();
    let ran = world.run("").done().says("planwright chat").says("planwright --help");
    assert_eq!(ran.stdout.lines().count(), 5, "{}", ran.stdout);
    assert!(!world.store().exists(), "looking makes nothing");
    let error = world.run("--json").exits(2).error_json();
    assert_eq!(error["code"], "INVALID_ARGUMENT");
}

#[test]
fn the_options_for_every_command_are_explained_once() {
    let world = World::new();
    let whole = world.run("--help").done();
    assert_eq!(whole.stdout.matches("--database URL").count(), 1, "{}", whole.stdout);
    for command in ["plan approve", "inbox", "serve", "chat"] {
        world.run(&format!("{command} --help")).done().never_says("--database").says("--json");
    }
}

#[test]
fn the_configuration_has_a_path_and_shows_what_it_sets() {
    let world = World::with_plan();
    let path = world.path("planwright.toml").display().to_string();
    world.run("config path").done().says(&path);
    assert_eq!(world.json("config path"), json!({ "path": path, "exists": false }));
    world.write("planwright.toml", "model = \"rehearsal\"\n\n[turn]\nmodel_calls = 7\n");
    assert_eq!(world.json("config path")["exists"], true);
    world.run("config show").done().tells(&format!("turn.model_calls = 7 from {path}"));
    let own = world.json("config show")["own"].clone();
    assert!(own.as_array().unwrap().contains(&json!({ "key": "turn.model_calls", "value": "7", "from": path })));
    let mut command = world.command();
    let ran = crate::world::ran(command.args(["config", "show"]).env("PLANWRIGHT_TURN_MODEL_CALLS", "9"));
    ran.done().tells("turn.model_calls = 9 from PLANWRIGHT_TURN_MODEL_CALLS");
    world.run("config edit").exits(2).complains("there is no terminal for an editor");
}

#[test]
fn the_models_of_providers_without_a_key_are_not_asked_for() {
    let world = World::new();
    let mut command = world.command();
    // Nothing listens there.
    command.args(["models", "--json"]).env("OLLAMA_HOST", "http://127.0.0.1:9");
    let models = crate::world::ran(&mut command).done().json();
    assert_eq!(models["model"], "rehearsal");
    assert_eq!(models["providers"][0]["problem"], "OPENAI_API_KEY is not set");
    assert_eq!(models["providers"][3]["models"], json!([]));
}

#[test]
fn an_answer_without_a_name_is_for_the_only_thing_that_waits() {
    let world = World::new();
    world.run("inbox answer reject").exits(4);
    let world = World::with_plan();
    world.run("inbox show").done().says("copy the rows");
    world.run("inbox answer").exits(2).complains("the choices are approve, revise, reject");
    world.run("inbox answer reject -- too early").done();
    assert_eq!(world.status(), "REJECTED");
    world.run("inbox answer reject").exits(4).complains("waits for you");
}

#[test]
fn several_things_that_wait_are_named_on_a_pipe() {
    let world = World::with_plan();
    world.agent_drafts("web:session-two", PLAN);
    world.run("inbox answer reject").exits(2).complains("2 things wait").complains("mcp:session-one");
    world.run("plan reject").exits(2).complains("2 plans wait for approval").complains("web:session-two");
    assert_eq!(world.status(), "READY");
}

#[test]
fn a_decision_finds_the_only_plan_that_waits() {
    let world = World::with_plan();
    world.run("plan on --session web:session-two").done();
    world.run("plan reject -- too early").done().says("REJECTED");
    assert_eq!(world.plan(SESSION, 1).status.as_str(), "REJECTED");
}

#[cfg(target_os = "linux")]
mod on_a_terminal {
    use super::*;
    use crate::terminal::{QUESTION, Terminal};

    #[test]
    fn without_a_command_a_person_is_in_the_chat() {
        let world = World::new();
        let mut terminal = Terminal::start(&world, "");
        terminal.wait_for("This is a rehearsal");
        terminal.wait_for("\u{1b}[?2004h");
        terminal.wait_for("›");
        terminal.type_in("/quit\r");
        assert_eq!(terminal.end().1, 0);
        assert!(world.path("chat.log").exists(), "the log is in a file");
    }

    #[test]
    fn between_several_plans_a_person_chooses_and_a_wrong_answer_asks_again() {
        let world = World::with_plan();
        world.agent_drafts("web:session-two", "# Paint the wall\n\n- [ ] paint it\n");
        let mut terminal = Terminal::start(&world, "plan approve --later");
        terminal.wait_for("Which plan? [1-2] ");
        terminal.type_in("7\n");
        terminal.wait_for("Which plan? [1-2] ");
        terminal.type_in("maybe\n");
        terminal.wait_for("Which plan? [1-2] ");
        terminal.type_in("1\n");
        terminal.wait_for(QUESTION);
        terminal.type_in("n\n");
        assert_eq!(terminal.end().1, 3);
    }

    #[test]
    fn an_answer_without_a_choice_is_asked_for() {
        let world = World::with_plan();
        let mut terminal = Terminal::start(&world, "inbox answer");
        terminal.wait_for("copy the rows");
        terminal.wait_for("What do you decide? [approve, revise, reject] ");
        terminal.type_in("maybe\n");
        terminal.wait_for("What do you decide? ");
        terminal.type_in("rev\n");
        terminal.wait_for("What should change? ");
        terminal.type_in("use a view\n");
        let (seen, code) = terminal.end();
        assert_eq!(code, 0, "{seen}");
        assert_eq!(world.plan(SESSION, 1).feedback.as_ref().unwrap().text, "use a view");
    }

    #[test]
    fn the_editor_opens_the_configuration_and_mistakes_are_told() {
        let world = World::new();
        let editor = world.write("editor.sh", "echo 'no_such_setting = 1' >> \"$1\"\n");
        let line = format!("{} config edit", env!("CARGO_BIN_EXE_planwright"));
        let run = |editor: &str| Terminal::start_with(&world, &line, &[("EDITOR", editor), ("VISUAL", "")]).end();
        let (seen, code) = run("true");
        assert_eq!(code, 0, "{seen}");
        assert!(std::fs::read_to_string(world.path("planwright.toml")).unwrap().contains("# model ="));
        let (seen, code) = run(&format!("sh {}", editor.display()));
        assert_eq!(code, 2, "{seen}");
        assert!(seen.contains("no_such_setting"), "{seen}");
    }
}
