//! Commands that only look, and `/compact`.

use planwright_core::slash;
use planwright_core::turn::TurnEnd;
use planwright_llm::scripted::{Reply, ScriptedModel};

use crate::planning::{report, set};
use crate::test_tools::Prop;
use crate::world::{World, script};

#[tokio::test]
async fn plan_alone_says_how_it_stands() {
    let world =
        World::new([set("# Move\n\n- [ ] one\n- [ ] two"), Reply::text("Ready."), report(1), Reply::text("One.")])
            .await;
    assert_eq!(world.send("/plan").await.reply, "Plan work is **off**. `/plan on` begins a plan.");
    world.send("/plan on").await;
    assert_eq!(world.send("/plan").await.reply, world.send("/plan status").await.reply);
    world.say("Plan it").await;
    assert!(world.send("/plan").await.reply.contains("Plan 1 is **READY**: Move."));
    world.send("/plan approve").await;
    world.say("go on").await;
    let status = world.send("/plan status").await.reply;
    assert!(status.contains("**EXECUTING**") && status.contains("1 of 2 steps are done. Next: 2. two"), "{status}");
}

#[tokio::test]
async fn status_is_the_session_at_a_glance() {
    let world = World::new([Reply::text("Hello."), Reply::hang()]).await;
    world.say("My words").await;
    let status = world.send("/status").await.reply;
    for expected in
        ["`cli:session-one` “My words”", "agent: idle", "model: `scripted`", "2 messages", "Plan work is **off**"]
    {
        assert!(status.contains(expected), "{expected} is not in {status}");
    }
    assert!(status.contains(&world.files().display().to_string()), "{status}");
    let turn = world.say_in_background("More");
    world.model.asked(2).await;
    let status = world.send("/status").await.reply;
    assert!(status.contains("agent: at work, begun just now"), "it answers while a turn is under way: {status}");
    world.send("/stop").await;
    assert_eq!(turn.await.unwrap().unwrap().end, Some(TurnEnd::Stopped));
}

#[tokio::test]
async fn tools_are_those_the_agent_has_now_and_what_becomes_of_them() {
    let prop = Prop::changing("ring_bell");
    let world = World::with(ScriptedModel::new([]), |setup| setup.tool(&prop)).await;
    let tools = world.send("/tools").await.reply;
    assert!(tools.contains("- `ring_bell`: changes things") && tools.contains("- `read_file`: only reads"), "{tools}");
    assert!(!tools.contains("plan_"), "{tools}");
    world.send("/plan on collect").await;
    let tools = world.send("/tools").await.reply;
    assert!(tools.contains("- `ring_bell`: written down as a step, not run"), "{tools}");
    assert!(tools.contains("- `plan_finalize`: about the plan"), "{tools}");
    world.send("/plan on build").await;
    let tools = world.send("/tools").await.reply;
    assert!(!tools.contains("ring_bell") && !tools.contains("write_file"), "{tools}");
}

#[tokio::test]
async fn help_has_every_command() {
    let world = World::new([]).await;
    let help = world.send("/help").await.reply;
    for entry in slash::offered() {
        assert!(help.contains(&format!("/{}", entry.name)), "{} is not in {help}", entry.name);
    }
    let one = world.send("/help plan approve").await.reply;
    assert!(one.contains("/plan approve 3 skip 2"), "{one}");
}

#[tokio::test]
async fn compact_summarises_what_was_said_and_keeps_the_last_of_it() {
    let replies = (0..12).map(|n| Reply::text(format!("Answer {n}. {}", "word ".repeat(500))));
    let model = ScriptedModel::new(replies).otherwise(Reply::text("They counted to eleven."));
    let world = World::with(model, |_| {}).await;
    assert_eq!(world.send("/compact").await.reply, "There is nothing to shorten yet.");
    for n in 0..12 {
        world.say(&format!("Count {n}")).await;
    }
    let answer = world.send("/compact").await;
    assert!(answer.reply.contains("messages are summarised") && !answer.refused(), "{}", answer.reply);
    let asked = world.model.last_request();
    assert!(asked.tools.is_empty(), "a summary needs no tools");
    assert!(script(&asked)[0].contains("Person: Count 0"), "{:?}", script(&asked));
    world.say("And?").await;
    let sent = script(&world.model.last_request());
    assert!(sent[0].contains("They counted to eleven."), "{sent:?}");
    assert!(sent.len() < 14 && sent.last().unwrap() == "user: And?", "{sent:?}");
    assert!(sent.iter().any(|line| line.starts_with("model: Answer 11.")), "what was said last stays: {sent:?}");
    assert!(world.send("/status").await.reply.contains("earlier ones summarised"));
    world.is_sound().await;
}

#[tokio::test]
async fn compact_waits_for_the_turn_and_can_be_stopped() {
    let replies = (0..12).map(|n| Reply::text(format!("Answer {n}. {}", "word ".repeat(500))));
    let world = World::with(ScriptedModel::new(replies).otherwise(Reply::hang()), |_| {}).await;
    for n in 0..12 {
        world.say(&format!("Count {n}")).await;
    }
    let before = world.events().await.len();
    let compacting = world.send_in_background("/compact");
    world.model.asked(13).await;
    assert_eq!(world.send("/stop").await.reply, "Stopped.");
    assert!(compacting.await.unwrap().unwrap().reply.contains("the conversation is as it was"));
    assert_eq!(world.events().await.len(), before);
    world.model.then(Reply::text("Here."));
    assert_eq!(world.say("Well?").await.reply, "Here.", "nothing is left held");
}
