//! Who steps can be given to: as it is configured, and as the planner is told.

use crate::provider::{Provider, Reply};
use crate::world::{World, ran};

const ADDED: &str = "[agents.cook]\nprompt = \"cooks/cook.md\"\n";

fn with_settings(text: &str) -> World {
    let world = World::new();
    world.write("planwright.toml", text);
    std::fs::create_dir(world.path("cooks")).unwrap();
    world.write("cooks/cook.md", "\u{feff}## Cooks what is in season\r\n\r\nTaste before you salt.\r\n");
    world.write("cooks/empty.md", " \n\n");
    world
}

/// The list of specialists as the planner is sent it.
fn told(world: &World, variables: &[(&str, &str)]) -> Vec<String> {
    let provider = Provider::start(&[Reply::Text("Hello.".to_owned())]);
    let mut command = world.command();
    command.envs(provider.variables()).envs(variables.iter().copied());
    ran(command.args(["chat", "--plan", "build", "hello"])).done();
    let request = provider.asked();
    let system = request["messages"][0]["content"].as_str().unwrap();
    assert!(system.contains("the planner cannot be given a step") && system.contains("`ask_agent("), "{system}");
    let (_, list) = system.split_once("These are the specialists:\n").unwrap_or_else(|| panic!("{system}"));
    list.lines().take_while(|line| line.starts_with("- ")).map(str::to_owned).collect()
}

fn names(lines: &[String]) -> Vec<&str> {
    lines.iter().map(|line| line.split('`').nth(1).unwrap()).collect()
}

const USUAL: [&str; 6] = ["coder", "tester", "reviewer", "researcher", "architect", "writer"];

#[test]
fn without_settings_the_usual_ones_are_there_each_with_a_line() {
    let lines = told(&with_settings(""), &[]);
    assert_eq!(names(&lines), USUAL);
    assert_eq!(lines[0], "- `coder`: Writes and changes code, in the style of the existing code");
    assert!(lines.iter().all(|line| line.len() > 30), "{lines:?}");
}

#[test]
fn specialists_are_added_replaced_and_left_out() {
    let lines = told(&with_settings(ADDED), &[]);
    assert_eq!(names(&lines)[..6], USUAL);
    assert_eq!(lines[6..], ["- `cook`: Cooks what is in season"]);

    let replaced =
        "[agents.coder]\ninstructions = \"Writes Forth\\nOnly words.\"\n[agents.tester]\nabout = \"Breaks things\"\n";
    let lines = told(&with_settings(replaced), &[]);
    assert_eq!(names(&lines), USUAL);
    assert_eq!(lines[..2], ["- `coder`: Writes Forth", "- `tester`: Breaks things"]);

    let only = format!("[agents]\nonly = [\"cook\", \"tester\", \"cook\"]\n{ADDED}about = \"Bakes, too\"\n");
    let world = with_settings(&only);
    let lines = told(&world, &[]);
    assert_eq!(names(&lines), ["cook", "tester"]);
    assert_eq!(lines[0], "- `cook`: Bakes, too");
    // The variable wins, and knows who is described in the file.
    let lines = told(&world, &[("PLANWRIGHT_AGENTS", "coder, cook, waiter")]);
    assert_eq!(names(&lines), ["coder", "cook", "waiter"]);
    assert_eq!(lines[1..], ["- `cook`: Bakes, too", "- `waiter`: Does what a waiter does"]);
}

#[test]
fn a_list_of_names_is_enough() {
    let lines = told(&with_settings("agents = [\"writer\", \"cook\", \"writer\"]\n"), &[]);
    assert_eq!(names(&lines), ["writer", "cook"]);
    assert_eq!(lines[1], "- `cook`: Does what a cook does");
}

#[test]
fn a_prompt_counts_from_the_file_that_names_it() {
    let world = with_settings("");
    std::fs::create_dir(world.path("etc")).unwrap();
    world.write("etc/p.toml", "[agents.cook]\nprompt = \"../cooks/cook.md\"\n");
    assert!(names(&told(&world, &[("PLANWRIGHT_CONFIG", "etc/p.toml")])).contains(&"cook"));
    world.write("etc/p.toml", ADDED);
    world.run("plan list --config etc/p.toml").exits(2).complains("etc/p.toml, at `agents.cook.prompt`");
}

#[test]
fn mistakes_name_the_file_and_the_key() {
    let long = "x".repeat(300);
    for (text, complaint) in [
        ("[agents.cook]\nprompt = \"nowhere.md\"\n", "at `agents.cook.prompt`: `"),
        ("[agents.cook]\nprompt = \"nowhere.md\"\n", "nowhere.md` cannot be read"),
        ("[agents.cook]\nprompt = \"cooks/empty.md\"\n", "cooks/empty.md` is empty"),
        ("[agents.cook]\nprompt = \" \"\n", "at `agents.cook.prompt`: it names no file"),
        ("[agents.cook]\ninstructions = \" \"\n", "at `agents.cook.instructions`: it is empty"),
        ("[agents.cook]\nprompt = \"cooks/cook.md\"\ninstructions = \"x\"\n", "at `agents.cook`: `prompt` and `instr"),
        ("[agents.cook]\n", "at `agents.cook`: a new agent needs `prompt`"),
        ("[agents.cook]\nabout = \"Cooks\"\n", "at `agents.cook`: a new agent needs `prompt`"),
        ("[agents.coder]\nabout = \" \"\n", "at `agents.coder.about`: the line about `coder` is blank"),
        ("[agents.coder]\nabout = \"a\\nb\"\n", "at `agents.coder.about`: what `coder` is good at"),
        (&format!("[agents.cook]\ninstructions = \"{long}\"\n"), "at `agents.cook.instructions`: what `cook`"),
        ("[agents.planner]\ninstructions = \"x\"\n", "at `agents.planner`: `planner` is always there"),
        ("[agents.\" cook\"]\ninstructions = \"x\"\n", "at `agents. cook`: ` cook` is not a name for an agent"),
        ("[agents.\"a\\nb\"]\ninstructions = \"x\"\n", "at `agents.a b`: `a b` is not a name"),
        (&format!("[agents.{long}]\ninstructions = \"x\"\n"), "is too long for a name"),
        ("[agents.cook]\nprompts = \"cook.md\"\n", "line 2, at `prompts`: unknown field `prompts`"),
        ("[agents.cook]\nprompt = 3\n", "line 2, at `prompt`: invalid type"),
        ("[agents]\ncook = \"cook.md\"\n", "line 2, at `cook`: invalid type"),
        ("agents = 3\n", "line 1, at `agents`: invalid type"),
        ("agents = [3]\n", "line 1, at `agents`: invalid type"),
        ("[agents]\nonly = \"coder\"\n", "line 2, at `only`: invalid type"),
        ("[agents]\nonly = []\n", "at `agents.only`: at least one agent"),
        ("[agents]\nonly = [\"codr\"]\n", "at `agents.only`: `codr`: there is no such agent; agents are coder, tester"),
        ("[agents]\nonly = [\"planner\"]\n", "at `agents.only`: `planner`: the planner cannot be given a step"),
    ] {
        let world = with_settings(text);
        world.run("plan on").exits(2).complains("planwright.toml").complains(complaint);
        assert!(!world.store().exists(), "{text}");
    }
}

#[test]
fn specialists_are_also_files_in_the_data_folder() {
    let world = World::new();
    std::fs::create_dir_all(world.path("agents")).unwrap();
    world.write("agents/notes.txt", "not a specialist");
    world.write(
        "agents/baker.md",
        "---\nname: baker\ndescription: Bakes bread\ntools: read_file, run_command\nsandbox: read_only\nseconds: 60\n---\nKnead.\n",
    );
    world.write("agents/coder.md", "Writes Forth\n\nOnly words.\n");
    let lines = told(&world, &[]);
    assert!(lines.iter().any(|line| line.contains("`baker`: Bakes bread")), "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("`coder`: Writes Forth")), "{lines:?}");
    // The configuration has the last word.
    world.write(
        "planwright.toml",
        "[agents.baker]\ninstructions = \"Burns bread\\nOften.\"\ntools = [\"list_files\"]\n",
    );
    let lines = told(&world, &[]);
    assert!(lines.iter().any(|line| line.contains("`baker`: Burns bread")), "{lines:?}");
}

#[test]
fn a_wrong_specialist_file_is_named() {
    for (text, expected) in [
        ("---\nname: cook\n---\nKnead.\n", "it has to be that of the file"),
        ("---\nmodel: sonnet\n---\nKnead.\n", "There is no model provider `sonnet`"),
        ("---\ncolor: red\n---\nKnead.\n", "`color` is not a key of a specialist"),
        ("---\nsandbox: none\n---\nKnead.\n", "is not a sandbox level"),
        ("---\ntools: [a b]\n---\nKnead.\n", "`a b` is not the name of a tool"),
        ("---\nseconds: 0\n---\nKnead.\n", "`seconds`: "),
        ("---\nname: baker\n", "no second line"),
        ("---\nname: baker\n---\n", "a new agent needs"),
    ] {
        let world = World::new();
        std::fs::create_dir_all(world.path("agents")).unwrap();
        world.write("agents/baker.md", text);
        world.run("plan list").exits(2).complains("baker.md").complains(expected);
    }
}

#[test]
fn a_specialist_whose_model_has_no_key_is_named_before_anything_is_asked() {
    let world = with_settings("[agents.coder]\nmodel = \"anthropic:claude-x\"\n");
    let answered = world.run("chat hello").exits(2);
    answered.complains("the model of the specialist coder").complains("ANTHROPIC_API_KEY");
    // Who does not talk to a model needs no key.
    world.run("plan on").done();
}
