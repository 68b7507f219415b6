//! What the server says about itself.

use planwright_llm::scripted::ScriptedModel;
use serde_json::json;

use crate::world::World;

#[tokio::test]
async fn it_says_what_it_is_and_offers() {
    let world = World::empty(ScriptedModel::new([]).named("openai:gpt-5:turbo")).await;
    let server = world.get("/api/server").await.with(200);
    assert_eq!((&server["model"]["provider"], &server["model"]["name"]), (&json!("openai"), &json!("gpt-5:turbo")));
    assert_eq!(server["model"]["isRehearsal"], false);
    assert!(server["store"]["kind"].as_str().unwrap().starts_with("SQLite"), "{server}");
    assert_eq!(server["publicUrl"], json!(null));
    let features = server["features"].as_array().unwrap();
    for feature in ["commands", "reviews"] {
        assert!(features.contains(&json!(feature)), "{server}");
    }
    let rehearsal = World::empty(ScriptedModel::new([]).named("rehearsal")).await.get("/api/server").await.with(200);
    assert_eq!((&rehearsal["model"]["isRehearsal"], &rehearsal["model"]["provider"]), (&json!(true), &json!(null)));
}

#[tokio::test]
async fn it_lists_the_commands_that_it_carries_out() {
    let world = World::new([]).await;
    let answer = world.get("/api/commands").await.with(200);
    let commands = answer["commands"].as_array().unwrap();
    let approve = commands.iter().find(|command| command["name"] == "/plan approve").unwrap();
    assert_eq!(approve["usage"], "/plan approve [plan] [only 1,3|skip 2] [step by step] [-- note]");
    assert_eq!(commands.len(), planwright_core::slash::offered().count());
    // Every example is one of them.
    for command in commands {
        let example = command["example"].as_str().unwrap();
        assert!(example.starts_with(command["name"].as_str().unwrap()), "{command}");
        assert!(!command["help"].as_str().unwrap().is_empty() && !command["group"].as_str().unwrap().is_empty());
    }
}
