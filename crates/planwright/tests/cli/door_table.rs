//! `docs/door.md` says for every command, slash command, request and tool what it asks of a person. These tests compare it with
//! the program's own lists, so that nothing new stands beside the door unseen. Telegram's buttons are compared in their crate.

use std::collections::{BTreeMap, BTreeSet};

use planwright_core::permission::may_decide;
use planwright_core::slash::offered;
use serde_json::Value;

use crate::mcp::talk;
use crate::world::World;

const PAGE: &str = include_str!("../../../../docs/door.md");

/// The first cells of the table below this heading, each with the second one: one of the words that the page explains.
fn listed(heading: &str) -> BTreeMap<String, String> {
    let section = PAGE.split("\n## ").find(|section| section.starts_with(heading)).unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    let mut names = BTreeMap::new();
    for row in rows {
        let (name, rest) = row.split_once("` | ").unwrap();
        let guard = rest.split(" |").next().unwrap();
        assert!(["approval", "person", "stop", "free", "look"].contains(&guard), "{name}: {guard}");
        assert!(names.insert(name.to_owned(), guard.to_owned()).is_none(), "{name} stands there twice");
    }
    names
}

#[track_caller]
fn compare(heading: &str, program: impl IntoIterator<Item = String>) {
    let listed = listed(heading).into_keys().collect::<BTreeSet<_>>();
    let program = program.into_iter().collect::<BTreeSet<_>>();
    let missing: Vec<_> = program.difference(&listed).collect();
    let gone: Vec<_> = listed.difference(&program).collect();
    assert!(missing.is_empty() && gone.is_empty(), "{heading}: missing {missing:#?}, gone {gone:#?}");
}

/// The names below `Commands:` in a help text.
fn subcommands(help: &str) -> Vec<String> {
    let section = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = section.take_while(|line| !line.is_empty()).filter_map(|line| {
        let name = line.strip_prefix("  ")?.split("  ").next()?;
        (!name.is_empty() && name != "help").then(|| name.to_owned())
    });
    names.collect()
}

fn walk(world: &World, path: &str, found: &mut Vec<String>) {
    let help = world.run(&format!("{path} --help")).done().stdout;
    let names = subcommands(&help);
    if names.is_empty() {
        found.push(path.trim().to_owned());
    }
    for name in names {
        walk(world, format!("{path} {name}").trim(), found);
    }
}

#[test]
fn every_command_of_the_command_line_is_in_the_table() {
    let mut found = Vec::new();
    walk(&World::new(), "", &mut found);
    compare("The command line", found);
}

#[test]
fn a_shell_line_with_a_command_that_asks_for_a_person_is_known() {
    for (command, guard) in listed("The command line") {
        let asks = ["approval", "person", "stop"].contains(&guard.as_str());
        assert!(!asks || may_decide(&format!("planwright {command}")), "{command}");
    }
    assert!(!may_decide("planwright plan show 1") && !may_decide("planwright verify"));
}

#[test]
fn every_slash_command_is_in_the_table() {
    compare("Slash commands", offered().map(|entry| entry.line("")));
}

#[test]
fn every_request_that_changes_something_is_in_the_table() {
    let description: Value = serde_json::from_str(planwright_surfaces::http::description()).unwrap();
    let paths = description["paths"].as_object().unwrap();
    let requests = paths.iter().flat_map(|(path, methods)| {
        let methods = methods.as_object().unwrap().keys().filter(|method| *method != "get" && *method != "head");
        methods.map(move |method| format!("{} {path}", method.to_uppercase()))
    });
    compare("REST", requests);
}

#[test]
fn every_tool_and_prompt_over_mcp_is_in_the_table() {
    let list = |method: &str| format!(r#"{{"jsonrpc":"2.0","id":5,"method":"{method}"}}"#);
    let mut found = BTreeSet::new();
    for style in ["document", "collect", "build", "off"] {
        for (method, key, what) in [("tools/list", "tools", "tool"), ("prompts/list", "prompts", "prompt")] {
            let talked = talk(&World::new(), &format!("mcp --plan {style}"), &[&list(method)]).done();
            let answers = talked.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
            let answer = answers.into_iter().find(|answer| answer["id"] == 5).unwrap();
            let names = answer["result"][key].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap());
            found.extend(names.map(|name| format!("{what} {name}")));
        }
    }
    compare("MCP", found);
}
