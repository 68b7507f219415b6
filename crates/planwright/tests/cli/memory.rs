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
