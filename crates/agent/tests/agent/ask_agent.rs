//! While a plan is built, specialists are asked: in a turn of their own, in which they may only read.

mod interrupted;
mod limits;

use planwright_core::event::{Event, TurnEvent};
use planwright_core::policy::Policy;
use planwright_core::turn::{Purpose, ToolStatus, TurnEnd};
use planwright_engine::model::ModelErrorKind;
use planwright_llm::scripted::Reply;
use planwright_test_support::agent::AgentSetup;
use serde_json::json;

use crate::specialist_scripts::{scripted, staffed, told};
use crate::test_tools::Prop;
use crate::world::{World, script, statuses, tool_names};

fn ask(agent: &str, question: &str) -> Reply {
    Reply::call("ask_agent", json!({"agent": agent, "question": question}))
}

/// A conversation in which a plan is built by this script.
async fn planning(replies: impl IntoIterator<Item = Reply>, change: impl FnOnce(&mut AgentSetup)) -> World {
    let world = World::with(staffed().script("", replies), change).await;
    world.send("/plan on build").await;
    world
}

#[tokio::test]
async fn a_specialist_is_asked_apart_and_only_its_answer_is_heard() {
    let world = planning([ask("researcher", "Which till?"), Reply::text("Take the red one.")], |_| {}).await;
    std::fs::create_dir_all(world.files()).unwrap();
    std::fs::write(world.files().join("tills.txt"), "red, blue").unwrap();
    let look = Reply::call("read_file", json!({"path": "tills.txt"})).with_text("plugh, let me look");
    scripted(&world, "asked researcher", [look, Reply::text("The red one.")]);
    let outcome = world.say("Plan it, xyzzy").await;
    assert_eq!((outcome.end, outcome.reply.as_str()), (Some(TurnEnd::Answered), "Take the red one."));
    let asked = &world.model.requests_of("asked researcher");
    let prompt = Policy::default().agents.get("researcher").unwrap().prompt.clone();
    assert!(asked[0].system.contains(prompt.trim()) && asked[0].system.contains("You may only read"));
    assert_eq!(script(&asked[0]).len(), 1);
    assert!(told(&asked[0]).starts_with("user: [Question from the planner about plan 1:"), "{}", told(&asked[0]));
    assert!(told(&asked[0]).ends_with("\n\nWhich till?"), "{}", told(&asked[0]));
    assert!(script(&asked[1])[2].contains("red, blue"), "it reads this session's folder: {:?}", script(&asked[1]));
    for request in asked {
        assert!(!format!("{request:?}").contains("xyzzy"), "it sees nothing of the conversation");
    }
    let heard = script(&world.model.last_request());
    assert_eq!(heard[1], "model:  [ask_agent]");
    assert_eq!(heard[2], r#"result ask_agent: {"agent":"researcher","answer":"The red one."}"#);
    assert!(heard.iter().all(|line| !line.contains("plugh") && !line.contains("[Question")), "{heard:?}");
    let world = world.restart().await;
    world.model.then(Reply::text("Yes."));
    world.say("Sure?").await;
    let read = script(&world.model.last_request());
    assert_eq!(read[..heard.len()], heard, "the same when it is read from the journal");
    world.has_a_valid_history();
    world.is_sound().await;
}

#[tokio::test]
async fn the_question_is_a_turn_within_the_turn_and_is_stored_as_such() {
    let world = planning([ask("coder", "How long?"), Reply::text("Three days.")], |_| {}).await;
    scripted(&world, "asked coder", [Reply::text("Three days.")]);
    world.say("Plan it").await;
    let events = world.events().await;
    let names: Vec<_> = events.iter().map(Event::name).skip_while(|name| *name != "turn_begun").collect();
    let expected = [
        "turn_begun",
        "model_replied",
        "turn_begun",
        "model_replied",
        "turn_ended",
        "tool_ended",
        "model_replied",
        "turn_ended",
    ];
    assert_eq!(names, expected);
    let begun: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::Turn { id: turn, event: TurnEvent::Begun { purpose, .. } } => Some((turn.clone(), purpose.clone())),
            _ => None,
        })
        .collect();
    assert_eq!(begun[1].1, Purpose::Question { agent: "coder".to_owned(), asked_by: begun[0].0.clone() });
    assert!(world.engine().sessions().get(&world.session).await.unwrap().turn.is_none());
    world.is_sound().await;
}

#[tokio::test]
async fn only_reading_tools_are_there_and_pass() {
    let (reads, changes) = (Prop::changing("ring"), Prop::changing("hammer"));
    let reading = Prop::new(
        "look",
        planwright_core::gate::ToolEffect::ReadsOnly,
        crate::test_tools::Act::Answer(json!({"seen": true})),
    );
    let world = planning([ask("tester", "Well?"), Reply::text("Fine.")], |setup| {
        setup.tool(&reads);
        setup.tool(&changes);
        setup.tool(&reading);
    })
    .await;
    let refused = [
        ("ring", json!({})),
        ("hammer", json!({})),
        ("write_file", json!({"path": "a.txt", "content": "x"})),
        ("plan_get", json!({})),
        ("plan_list", json!({})),
        ("plan_create_draft", json!({"goal": "Mine"})),
        ("plan_set_metadata", json!({"goal": "Mine"})),
        ("plan_add_step", json!({"description": "Mine", "agent": "tester"})),
        ("plan_submit", json!({})),
        ("plan_progress", json!({"status": "done"})),
        ("ask_agent", json!({"agent": "coder", "question": "And you?"})),
    ];
    let calls =
        refused.iter().fold(Reply::default(), |reply, (tool, arguments)| reply.and_call(*tool, arguments.clone()));
    scripted(&world, "asked tester", [calls, Reply::call("look", json!({})), Reply::text("It is fine.")]);
    let before = world.plan(1).await;
    world.say("Plan it").await;
    let asked = world.model.requests_of("asked tester");
    let mut names = tool_names(&asked[0]);
    names.sort_unstable();
    assert_eq!(names, ["glob_files", "grep_files", "list_files", "look", "memory_search", "read_file"]);
    let sent = script(&asked[1]);
    for ((tool, _), answer) in refused.iter().zip(&sent[2..]) {
        assert!(answer.starts_with(&format!("failed {tool}:")) && answer.contains("POLICY_DENIED"), "{answer}");
    }
    assert!(script(&asked[2]).last().unwrap().contains("\"seen\":true"));
    assert!(reads.calls().is_empty() && changes.calls().is_empty() && !world.files().join("a.txt").exists());
    assert_eq!(world.plan(1).await.digest(), before.digest(), "the plan is not touched");
    assert!(world.model.requests_of("asked coder").is_empty());
    world.is_sound().await;
}

#[tokio::test]
async fn a_question_that_cannot_be_asked_is_refused_and_no_specialist_is_asked() {
    let wrong = [
        (json!({"agent": "plumber", "question": "Well?"}), "UNKNOWN_AGENT"),
        (json!({"agent": "planner", "question": "Well?"}), "UNKNOWN_AGENT"),
        (json!({"agent": "coder", "question": " \n"}), "INVALID_ARGUMENT"),
        (json!({"agent": "coder"}), "INVALID_ARGUMENT"),
        (json!({"question": "Well?"}), "INVALID_ARGUMENT"),
        (json!({"agent": "coder", "question": "Well?", "to": "whom"}), "INVALID_ARGUMENT"),
    ];
    let calls =
        wrong.iter().fold(Reply::default(), |reply, (arguments, _)| reply.and_call("ask_agent", arguments.clone()));
    let world = planning([calls, Reply::text("I cannot.")], |_| {}).await;
    world.say("Plan it").await;
    let sent = script(&world.model.last_request());
    for ((arguments, code), answer) in wrong.iter().zip(&sent[2..]) {
        assert!(answer.starts_with("failed ask_agent:") && answer.contains(code), "{arguments}: {answer}");
    }
    assert!(sent[2].contains("researcher") && sent[3].contains("the planner cannot"), "who there is is said: {sent:?}");
    assert_eq!(world.model.requests().len(), 2);
    assert_eq!(statuses(&world.events().await), [ToolStatus::Refused; 6]);
}

#[tokio::test]
async fn specialists_are_asked_while_a_plan_is_built_and_at_no_other_time() {
    for (command, there) in
        [("/plan on build", true), ("/plan on document", false), ("/plan on collect", false), ("/plan off", false)]
    {
        let world = World::with(staffed().script("", [ask("coder", "Well?"), Reply::text("Ok.")]), |_| {}).await;
        scripted(&world, "asked coder", [Reply::text("Well.")]);
        world.send(command).await;
        world.say("Hello").await;
        let request = world.sent(1);
        assert_eq!(tool_names(&request).contains(&"ask_agent"), there, "{command}");
        assert_eq!(world.model.requests_of("asked coder").len(), usize::from(there), "{command}");
        let answer = script(&world.model.last_request())[2].clone();
        assert_eq!(answer.contains("POLICY_DENIED"), !there, "{command}: {answer}");
        if there {
            let tool = request.tools.iter().find(|tool| tool.name == "ask_agent").unwrap();
            assert!(tool.description.contains("coder, tester, reviewer"), "{}", tool.description);
        }
        world.is_sound().await;
    }
}

#[tokio::test]
async fn only_the_specialist_that_was_asked_before_reads_the_earlier_question() {
    let world = planning(
        [ask("coder", "First?").and_call("ask_agent", json!({"agent": "tester", "question": "Other?"}))],
        |_| {},
    )
    .await;
    world.model.then(Reply::text("Hm."));
    scripted(&world, "asked coder", [Reply::text("One.")]);
    scripted(&world, "asked tester", [Reply::text("Two.")]);
    world.say("Plan it").await;
    let world = world.restart().await;
    for (question, answer) in [("Second?", "Three."), ("Third?", "Four.")] {
        world.model.then(ask("coder", question));
        world.model.then(Reply::text("Hm."));
        scripted(&world, "asked coder", [Reply::text(answer)]);
        world.say("More").await;
    }
    let asked: Vec<_> = world.model.requests_of("asked coder").iter().map(told).collect();
    assert!(!asked[0].contains("before"), "{}", asked[0]);
    assert!(asked[1].contains("You were asked before:\n> First?\nYou answered:\n> One."), "{}", asked[1]);
    assert!(asked[2].contains("> First?") && asked[2].contains("> Second?\nYou answered:\n> Three."), "{}", asked[2]);
    assert!(asked.iter().all(|message| !message.contains("Other?") && !message.contains("Two.")), "{asked:?}");
    assert!(!told(&world.model.requests_of("asked tester")[0]).contains("First?"));
}

#[tokio::test]
async fn of_many_questions_only_the_latest_are_told_again() {
    let world = planning([], |_| {}).await;
    for number in 1..=7 {
        world.model.then(ask("coder", &format!("Question {number}?")));
        world.model.then(Reply::text("Hm."));
        scripted(&world, "asked coder", [Reply::text(format!("Answer {number}."))]);
        world.say("More").await;
    }
    let last = told(world.model.requests_of("asked coder").last().unwrap());
    let found: Vec<_> = (1..=7).filter(|number| last.contains(&format!("Question {number}?"))).collect();
    assert_eq!(found, [2, 3, 4, 5, 6, 7], "{last}");
}

#[tokio::test]
async fn a_specialist_that_comes_to_no_answer_is_a_failed_call_and_the_turn_goes_on() {
    let cases: Vec<(Vec<Reply>, &str)> = vec![
        (vec![Reply::error(ModelErrorKind::Refused, "No credit left.")], "No credit left."),
        (vec![Reply::text(""), Reply::text("")], "coder gave no answer"),
        (vec![Reply::call("list_files", json!({})); 9], "the same thing"),
    ];
    for (replies, message) in cases {
        let world = planning([ask("coder", "Well?"), Reply::text("Then without.")], |_| {}).await;
        scripted(&world, "asked coder", replies);
        let outcome = world.say("Plan it").await;
        assert_eq!((outcome.end, outcome.reply.as_str()), (Some(TurnEnd::Answered), "Then without."), "{message}");
        let answer = script(&world.model.last_request())[2].clone();
        assert!(answer.starts_with("failed ask_agent:") && answer.contains("UNAVAILABLE"), "{answer}");
        assert!(answer.contains(message), "{answer}");
        assert!(world.engine().sessions().get(&world.session).await.unwrap().turn.is_none());
        world.has_a_valid_history();
        world.is_sound().await;
    }
}
