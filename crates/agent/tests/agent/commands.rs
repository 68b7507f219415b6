//! What is typed with a slash. Commands are carried out by Planwright itself; the model hears nothing of them.

mod approval;
mod decisions;
mod queries;
mod sessions;

use planwright_core::slash;
use planwright_llm::scripted::{Reply, ScriptedModel};

use crate::planning::set;
use crate::world::{World, is_valid, newest_message, person, session};

/// Three document plans, the last one active, approved and half done.
async fn world_with_three_plans() -> World {
    let world = World::with(ScriptedModel::new([]).otherwise(Reply::text("Yes.")), |_| {}).await;
    for number in 1..=3 {
        world.send("/plan on").await;
        world.model.then(set(&format!("# Plan {number}\n\n- [ ] one\n- [ ] two\n- [ ] {number}")));
        world.say("Plan it").await;
    }
    world.engine().sessions().open(&session("k3yk3y8x"), &person()).await.unwrap();
    world
}

#[tokio::test]
async fn every_offered_command_is_answered_and_none_reaches_the_model() {
    for entry in slash::offered() {
        let world = world_with_three_plans().await;
        let before = world.model.requests().len();
        let answer = world.send(entry.example).await;
        assert!(!answer.reply.is_empty() || answer.plan.is_some(), "{}", entry.example);
        let asked = world.model.requests();
        let expected: &[&str] = match entry.name {
            "plan" => &["move the shop to the new database"],
            "plan revise" => &["Revise plan 3: use a view"],
            // The summary is made from what was said.
            "compact" => {
                assert!(asked.len() > before && asked[before..].iter().all(|request| request.tools.is_empty()));
                continue;
            }
            _ => &[],
        };
        let heard: Vec<_> = asked[before..].iter().map(newest_message).collect();
        assert_eq!(heard, expected, "{}", entry.example);
        asked.iter().for_each(is_valid);
        let typed = asked.iter().any(|request| format!("{:?}", request.messages).contains(entry.example));
        assert!(!typed, "{} reached the model", entry.example);
        world.is_sound().await;
    }
}

#[tokio::test]
async fn mistakes_are_told_and_nothing_is_done() {
    let world = World::new([]).await;
    world.send("/plan on").await;
    let before = world.event_names().await;
    for (typed, message) in [
        ("/", "no command"),
        ("/plna on", "Did you mean"),
        ("/plan aprove", "/plan approve"),
        ("/plan on wibble", "Usage: `/plan on"),
        ("/plan approve only x", "Usage: `/plan approve"),
        ("/plan revise", "what to change"),
        ("/plan off now", "Nothing can follow"),
        ("/switch", "which session"),
        ("/switch no/such", "not the key"),
        ("/fly", "`/help` lists"),
        ("/goal fly", "is none of `add`"),
        ("/auto fly", "is none of `on`"),
        ("/auto on 7", "no goal"),
        ("/memory invoices", "is none of `list`"),
        ("/plan files", "Say `on` or `off`"),
        ("/plan show 9", "no plan"),
        ("/plan diff 1 9", "no plan"),
        ("/switch nowhere-to-go", "no session"),
    ] {
        let answer = world.send(typed).await;
        assert!(answer.refused(), "{typed}: {}", answer.reply);
        assert!(answer.reply.contains(message), "{typed}: {}", answer.reply);
        assert_eq!((answer.end, answer.session), (None, world.session.clone()));
    }
    assert_eq!(world.event_names().await, before);
    assert!(world.model.requests().is_empty());
}

#[tokio::test]
async fn what_only_looks_like_a_command_is_a_message() {
    let world = World::with(ScriptedModel::new([]).otherwise(Reply::text("Yes.")), |_| {}).await;
    for (typed, heard) in
        [("//help", "/help"), ("/etc/passwd is odd", "/etc/passwd is odd"), ("a /plan on", "a /plan on")]
    {
        assert_eq!(world.send(typed).await.reply, "Yes.");
        assert_eq!(newest_message(&world.model.last_request()), heard);
    }
    assert!(!world.engine().sessions().get(&world.session).await.unwrap().plan_mode.enabled);
}
