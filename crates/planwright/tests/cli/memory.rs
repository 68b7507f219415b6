//! `planwright memory`, as a person meets it.

use serde_json::json;

use crate::world::{SESSION, World};

fn id(world: &World, content: &str) -> String {
    let listed = world.json("memory list");
    let items = listed["items"].as_array().unwrap();
    items.iter().find(|item| item["content"] == content).unwrap()["id"].as_str().unwrap().to_owned()
}

#[test]
fn what_is_saved_is_listed_found_and_explained() {
    let world = World::with_plan();
    world.run("memory list").done().says("Nothing is remembered");
    world.run("memory save Ada likes tabs.").done().says("Saved as").says(&format!("session:{SESSION}"));
    world.run("memory save The till is red.").done();
    world.run("memory list").done().says("Ada likes tabs.").says("fact by").says("The till is red.");
    world.run("memory search what does Ada like").done().says("Ada likes tabs.").never_says("The till");
    world.run("memory search tabs --explain").done().says(" = text 1.000 + recency").says("scope");
    let found = world.json("memory search tabs --explain");
    assert_eq!(found["items"][0]["shares"][0], json!({ "factor": "text", "share": 1.0 }));
    world.run("memory search submarines").done().says("No memory here matches");
}

#[test]
fn what_was_learnt_elsewhere_is_imported_once_with_who_said_it_and_when() {
    let world = World::with_plan();
    let lines = concat!(
        r#"{"content":"I went to the lake.","author":"Caroline","at":"2023-05-07","context":"the pottery class"}"#,
        "\n",
        r#"{"content":"Melanie (9 June 2023): It was fun.","kind":"decision","tags":["class"]}"#,
        "\n",
    );
    let file = world.write("dialogue.jsonl", lines);
    let import = format!("memory import {}", file.display());
    world.run(&import).done().says("Saved 2 memories").says(SESSION);
    world.run(&import).done().says("Saved 0 memories").says("2 were imported before");
    let listed = world.json("memory list");
    assert_eq!(listed["items"].as_array().unwrap().len(), 2);
    let origin = |at: usize| listed["items"][at]["origin"].clone();
    assert_eq!(origin(0), json!({ "author": "Melanie", "at": "2023-06-09T00:00:00Z" }));
    let caroline = json!({ "author": "Caroline", "at": "2023-05-07T00:00:00Z", "context": "the pottery class" });
    assert_eq!(origin(1), caroline);
    world
        .run("memory search what about pottery")
        .done()
        .says("I went to the lake.")
        .says("said by Caroline on 2023-05-07");
    world.run("memory search what did Melanie say on 9 June 2023").done().says("It was fun.");

    let wrong = world.write("wrong.jsonl", "{\"content\":\"A\"}\n{\"content\":\"B\",\"at\":\"yesterday\"}\n");
    let failed = world.run(&format!("memory import {}", wrong.display()));
    failed.exits(2).complains("memory 2").complains("nothing was saved");
    world.run("memory import nowhere.jsonl").exits(2).complains("cannot be read");
    world.run_with_input("memory import -", "[{\"content\":\"From a pipe.\"}]").done().says("Saved 1 memory");
    assert_eq!(world.json("memory list")["items"].as_array().unwrap().len(), 3);
}

#[test]
fn it_is_forgotten_and_brought_back() {
    let world = World::with_plan();
    world.run("memory save Ada likes tabs.").done();
    let whole = id(&world, "Ada likes tabs.");
    let end = &whole[whole.len() - 8..];
    world.run(&format!("memory forget {end}")).done().says("Forgot Ada likes tabs.").says("memory undo");
    world.run("memory search tabs").done().says("No memory here matches");
    world.run("memory undo").done().says("is back");
    world.run("memory search tabs").done().says("Ada likes tabs.");
    world.run("memory forget nothing-such").exits(4).complains("There is no memory").complains("memory list");
    world.run("memory forget ab").exits(4);
}

#[test]
fn promoting_asks_first_and_never_happens_without_a_word() {
    let world = World::with_plan();
    world.run("memory save Ada likes tabs.").done();
    let memory = id(&world, "Ada likes tabs.");
    world.run(&format!("memory promote {memory}")).exits(2).complains("no terminal to ask on").complains("--yes");
    world.agent_calls(SESSION, "memory_promote", json!({ "id": memory })).unwrap_err();
    world.turn_on("web:session-two", planwright_core::plan::PlanStyle::Document);
    world.run("memory search tabs --session web:session-two").done().says("No memory here matches");
    world.run(&format!("memory promote {memory} --yes --session {SESSION}")).done().says("Every session reads");
    world.run("memory search tabs --session web:session-two").done().says("Ada likes tabs.").says("promoted from");
    world.run(&format!("memory undo --session {SESSION}")).done().says("is removed again");
    world.run("memory search tabs --session web:session-two").done().says("No memory here matches");
}

#[test]
fn hidden_characters_do_not_reach_the_terminal() {
    let world = World::with_plan();
    world.agent_calls(SESSION, "memory_save", json!({ "content": "red\u{1b}[31m till\u{202e}" })).unwrap();
    let ran = world.run("memory list").done();
    assert!(!ran.stdout.contains('\u{1b}') && !ran.stdout.contains('\u{202e}'), "{:?}", ran.stdout);
}
