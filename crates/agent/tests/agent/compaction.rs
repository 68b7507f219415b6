//! Conversations that grow longer than the model can read.

mod results;
mod too_long;

use planwright_agent::session::progress::Progress;
use planwright_agent::tokens::Tokens;
use planwright_core::conversation::{CountTokens as _, Summarizer, message_tokens};
use planwright_core::event::{Event, SessionEvent};
use planwright_core::model::{ModelMessage, ModelRequest};
use planwright_core::plan::PlanStatus;
use planwright_core::prompt::SUMMARIZE;
use planwright_core::turn::TurnEnd;
use planwright_engine::model::ModelErrorKind;
use planwright_llm::scripted::{Reply, ScriptedModel};
use serde_json::json;

use crate::planning::{report, set};
use crate::talk::Talk as _;
use crate::world::{World, is_valid, newest_message, person, script};

const CONTEXT: u32 = 6_000;

fn is_summary(request: &ModelRequest) -> bool {
    request.system == SUMMARIZE
}

const READ: &str = "Read the plan";

/// Answers at length, sums up when it is asked to, and reads the plan when it is asked to.
fn talkative(request: &ModelRequest) -> Reply {
    if is_summary(request) {
        return Reply::text("They talk about numbers.");
    }
    if matches!(request.messages.last(), Some(ModelMessage::User { text }) if text == READ) {
        return Reply::call("plan_get", json!({}));
    }
    Reply::text(format!("About {}: {}", newest_message(request), "many words ".repeat(60)))
}

async fn small_world(model: ScriptedModel) -> World {
    World::with(model, |setup| setup.options.context_tokens = Some(CONTEXT)).await
}

/// Every request so far fits, with the answer it may get, and is one that providers take.
#[track_caller]
fn everything_fits(world: &World, context: u32) {
    let counter = Tokens::default();
    for (number, request) in world.model.requests().iter().enumerate() {
        let messages: u32 = request.messages.iter().map(|message| message_tokens(message, &counter)).sum();
        let tools: u32 = request
            .tools
            .iter()
            .map(|tool| {
                let schema = tool.input_schema.to_string();
                counter.count(&tool.name) + counter.count(&tool.description) + counter.count(&schema)
            })
            .sum();
        let all = counter.count(&request.system) + messages + tools + request.max_output_tokens.unwrap();
        assert!(all <= context, "request {} has {all} tokens", number + 1);
        is_valid(request);
    }
}

async fn summaries(world: &World) -> Vec<Summarizer> {
    let events = world.events().await.into_iter();
    events
        .filter_map(|event| {
            if let Event::Session(SessionEvent::Compacted { compaction }) = event { Some(compaction.by) } else { None }
        })
        .collect()
}

#[tokio::test]
async fn a_long_conversation_stays_within_its_budget_and_keeps_the_plan() {
    let markdown = format!("# Numbers\n\n{}", "- [ ] count “one” → zwei\t\n".repeat(12));
    let world = small_world(ScriptedModel::new([set(&markdown)]).otherwise(Reply::made_from(talkative))).await;
    world.send("/plan on").await;
    world.say("Plan it").await;
    let plan = world.plan(1).await;
    let mode = world.engine().sessions().get(&world.session).await.unwrap().plan_mode;
    for n in 0..40 {
        let output = format!("number {n} {}", "and so on ".repeat(n));
        let outcome = world.say(&output).await;
        assert_eq!(outcome.end, Some(TurnEnd::Answered));
        assert_eq!(newest_message(&world.model.last_request()), output, "the newest words are whole");
    }
    everything_fits(&world, CONTEXT);
    let made = summaries(&world).await;
    assert!(made.len() >= 2 && made.iter().all(|by| *by == Summarizer::Model), "{made:?}");
    let requests = world.model.requests();
    assert_eq!(requests.iter().filter(|request| is_summary(request)).count(), made.len());
    for request in &requests {
        if is_summary(request) {
            assert!(request.tools.is_empty());
            assert_eq!(request.messages.len(), 1);
        } else {
            assert!(request.system.contains("Plan work is on, style document"), "the plan block is always there");
        }
    }
    assert!(requests.last().unwrap().system.contains(&plan.digest().to_string()));
    assert!(script(requests.last().unwrap())[0].contains("They talk about numbers."));
    world.say(READ).await;
    let request = world.model.last_request();
    let Some(ModelMessage::ToolResult { text, .. }) = request.messages.last() else { panic!("{:?}", script(&request)) };
    let answer: serde_json::Value = serde_json::from_str(text).unwrap();
    assert_eq!(answer["markdown"], json!(markdown));
    assert_eq!(world.plan(1).await, plan);
    assert_eq!(world.engine().sessions().get(&world.session).await.unwrap().plan_mode, mode);
    world.is_sound().await;
}

#[tokio::test]
async fn a_summary_that_fails_is_made_by_rules() {
    for failing in [
        Reply::error(ModelErrorKind::Unavailable, "It is away."),
        Reply::text("  "),
        Reply::made_from(|_| panic!("the model broke")),
    ] {
        let model = ScriptedModel::answering(
            move |request| if is_summary(request) { failing.clone() } else { talkative(request) },
        );
        let world = small_world(model).await;
        for n in 0..40 {
            assert_eq!(world.say(&format!("My number is {n}.")).await.end, Some(TurnEnd::Answered));
        }
        let made = summaries(&world).await;
        assert!(!made.is_empty() && made.iter().all(|by| *by == Summarizer::Rules), "{made:?}");
        let last = script(&world.model.last_request());
        assert!(last[0].contains("The person said: My number is"), "{last:?}");
        everything_fits(&world, CONTEXT);
        world.is_sound().await;
    }
}

#[tokio::test]
async fn a_watcher_is_told_of_the_compaction_and_not_its_summary() {
    let world = small_world(ScriptedModel::answering(talkative)).await;
    let mut compacted = 0;
    for n in 0..30 {
        let (_, told) = world.watch(&format!("number {n}")).await;
        if told.contains(&Progress::Compacting) {
            assert!(
                told.iter().any(|one| matches!(one, Progress::Compacted { messages } if *messages > 0)),
                "{told:?}"
            );
            compacted += 1;
        }
        let heard: String = told
            .iter()
            .filter_map(|one| if let Progress::Text(text) = one { Some(text.as_str()) } else { None })
            .collect();
        assert!(heard.starts_with(&format!("About number {n}:")), "{heard}");
    }
    assert!(compacted > 0);
}

#[tokio::test]
async fn a_summary_that_takes_for_ever_is_stopped() {
    let model = ScriptedModel::labelled(|request| String::from(if is_summary(request) { "sum" } else { "" }))
        .script("sum", [Reply::hang()])
        .otherwise(Reply::made_from(talkative));
    let world = small_world(model).await;
    let mut number = 0;
    let turn = loop {
        let turn = world.say_in_background(&format!("number {number}"));
        number += 1;
        // It is either answered, or it hangs in its summary.
        world.model.asked(number).await;
        if is_summary(&world.model.last_request()) {
            break turn;
        }
        turn.await.unwrap().unwrap();
    };
    assert!(world.agent.stop(&world.session, &person()).await.unwrap());
    assert_eq!(turn.await.unwrap().unwrap().end, Some(TurnEnd::Stopped));
    assert!(summaries(&world).await.is_empty());
    assert_eq!(world.say("Again").await.end, Some(TurnEnd::Answered));
    assert_eq!(summaries(&world).await, [Summarizer::Model]);
    everything_fits(&world, CONTEXT);
}

#[tokio::test]
async fn what_is_finished_or_parked_stays_so() {
    let first = [set("- [ ] one"), Reply::text("Ready."), report(1), Reply::text("Done.")];
    let world = small_world(ScriptedModel::new(first).otherwise(Reply::made_from(talkative))).await;
    world.send("/plan on").await;
    world.say("Plan it").await;
    world.send("/plan approve").await;
    world.say("go on").await;
    assert_eq!(world.plan(1).await.status, PlanStatus::Completed);
    world.send("/plan on").await;
    world.model.then(set("- [ ] parked"));
    world.say("Plan another").await;
    world.send("/plan off").await;
    for n in 0..20 {
        world.say(&format!("number {n}")).await;
    }
    assert!(!summaries(&world).await.is_empty());
    let last = world.model.last_request();
    assert!(last.system.contains("# Plan work is off"), "{}", last.system);
    assert!(
        last.system.contains("These plans are over") && last.system.contains("plan 1 is COMPLETED"),
        "{}",
        last.system
    );
    assert!(last.tools.iter().all(|tool| !tool.name.starts_with("plan_")));
    assert_eq!(world.plan(2).await.status, PlanStatus::Ready);
    everything_fits(&world, CONTEXT);
}

#[tokio::test]
async fn a_context_that_is_too_small_is_refused_with_one_that_is_large_enough() {
    let with_context = |tokens| {
        let model = ScriptedModel::new([Reply::text("Hello.")]);
        World::with(model, move |setup| setup.options.context_tokens = Some(tokens))
    };
    let text = "word ".repeat(450);
    for context in [1, 1_000, 2_000] {
        let refused = with_context(context).await.try_say(&text).await.unwrap_err().to_string();
        let (_, advice) = refused.split_once("Set `context_tokens` to ").expect(&refused);
        let enough = advice.split_once(' ').unwrap().0.parse().unwrap();
        let world = with_context(enough).await;
        assert_eq!(world.say(&text).await.reply, "Hello.");
        everything_fits(&world, enough);
    }
}

#[tokio::test]
async fn a_message_that_is_too_large_is_refused_before_anything_is_stored() {
    let world = small_world(ScriptedModel::answering(talkative)).await;
    world.say("Hello").await;
    let before = world.event_names().await;
    for output in [1_900, 4_000, 40_000] {
        let refused = world.try_say(&"word ".repeat(output)).await.unwrap_err();
        assert!(refused.to_string().contains("`context_tokens`"), "{output}: {refused}");
    }
    assert_eq!(world.event_names().await, before);
    assert_eq!(world.model.requests().len(), 1);
    // Whatever is taken is answered, however long it is.
    let mut taken = 0;
    for output in [100, 400, 800, 1_200, 1_600] {
        let text = "word ".repeat(output);
        if let Ok(outcome) = world.try_say(&text).await {
            assert_eq!(outcome.end, Some(TurnEnd::Answered), "{output} words were taken: {}", outcome.reply);
            assert_eq!(newest_message(&world.model.last_request()), text);
            taken += 1;
        }
    }
    assert!(taken >= 3, "{taken}");
    everything_fits(&world, CONTEXT);
    world.is_sound().await;
}
