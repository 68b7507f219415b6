//! `ask_person`: the turn waits for a person's answer, over restarts and in any process, and continues with it.

use planwright_agent::session::input::{Input, Request};
use planwright_agent::session::outcome::Answer;
use planwright_core::ask::{AskAnswer, AskSubject};
use planwright_core::event::{Event, TurnEvent};
use planwright_core::ids::RequestId;
use planwright_core::model::{ModelMessage, ModelRequest};
use planwright_core::plan::PlanStatus;
use planwright_core::refusal::RefusalCode;
use planwright_core::turn::TurnEnd;
use planwright_llm::scripted::{Reply, ScriptedModel};
use serde_json::{Value, json};

use crate::planning::{report, set};
use crate::takeover::Keeper;
use crate::world::{World, person};

fn ask(questions: Value) -> Reply {
    Reply::call("ask_person", json!({ "questions": questions }))
}

fn which_colour() -> Reply {
    ask(json!([{ "text": "Which colour?", "choices": ["red", "blue"] }]))
}

/// What the tools answered, as the model reads it.
fn results(request: &ModelRequest) -> String {
    let result = |message: &ModelMessage| match message {
        ModelMessage::ToolResult { text, .. } => Some(text.clone()),
        ModelMessage::User { .. } | ModelMessage::Assistant { .. } => None,
    };
    request.messages.iter().filter_map(result).collect()
}

fn asked_times(events: &[Event]) -> usize {
    events.iter().filter(|event| matches!(event.turn_event(), Some(TurnEvent::QuestionsAsked { .. }))).count()
}

async fn answer(world: &World, name: &str, answers: &[&str]) -> Answer {
    let session = world.engine().sessions().get(&world.session).await.unwrap();
    let asked = session.waiting_ask().expect("an ask").clone();
    let answer = AskAnswer::Questions { answers: answers.iter().map(|answer| (*answer).to_owned()).collect() };
    let input = Input::Answer { ask: asked.id, digest: asked.digest, answer };
    let request = Request::new(world.place(), person()).named(Some(RequestId::new(name).unwrap()));
    world.agent.submit(input, request).outcome().await.unwrap().answer().unwrap()
}

#[tokio::test]
async fn a_message_that_is_sent_again_while_its_turn_waits_gets_the_questions_again() {
    let world = World::new([which_colour()]).await;
    let send = async || {
        let request = Request::new(world.place(), person()).named(Some(RequestId::new("m1").unwrap()));
        let input = Input::Message("Paint the door".to_owned());
        world.agent.submit(input, request).outcome().await.unwrap().answer().unwrap()
    };
    let (first, again) = (send().await, send().await);
    assert!(first.ask.is_some() && first.reply.contains("Which colour?"), "{first:?}");
    assert_eq!((again.end, again.ask, again.reply), (first.end, first.ask, first.reply));
    assert_eq!(world.model.requests().len(), 1);
}

#[tokio::test]
async fn a_turn_waits_and_continues_with_the_answer() {
    let world = World::new([which_colour(), Reply::text("Red it is.")]).await;
    let waits = world.send("Paint the door").await;
    assert_eq!(waits.end, None);
    let Some(AskSubject::Questions { questions }) = waits.ask.map(|waiting| waiting.ask.subject) else {
        panic!("no questions")
    };
    assert_eq!(questions[0].choices, ["red", "blue"]);
    assert!(waits.reply.contains("Which colour?") && waits.reply.contains("1. red"), "{}", waits.reply);
    assert_eq!(world.model.requests().len(), 1, "no model is asked while it waits");
    let answered = world.send("1").await;
    assert_eq!((answered.end, answered.reply.as_str()), (Some(TurnEnd::Answered), "Red it is."));
    assert!(results(&world.sent(2)).contains(r#""answer":"red""#), "{}", results(&world.sent(2)));
    let names = world.event_names().await;
    let expected = [
        "session_opened",
        "turn_begun",
        "model_replied",
        "questions_asked",
        "questions_answered",
        "turn_resumed",
        "tool_ended",
        "model_replied",
        "turn_ended",
    ];
    assert_eq!(names, expected);
    world.has_a_valid_history();
    world.is_sound().await;
}

#[tokio::test]
async fn it_waits_over_a_restart_and_is_not_taken_over() {
    let world = World::new([which_colour()]).await;
    world.send("Paint the door").await;
    let idle = ScriptedModel::new([]).otherwise(Reply::text("I was not to be asked."));
    let keeper = Keeper::start(&world, &idle).await;
    crate::execution::pauses::passes(&world, &keeper, &idle).await;
    keeper.end().await;
    assert_eq!(idle.requests().len(), 2, "only what the passes themselves ask");
    let world = world.restart().await;
    world.model.then(Reply::text("Blue it is."));
    assert_eq!(world.send("blue").await.reply, "Blue it is.");
}

#[tokio::test]
async fn an_answer_that_no_process_continues_is_continued_by_the_one_that_takes_over() {
    let world = World::new([which_colour()]).await;
    world.send("Paint the door").await;
    let session = world.engine().sessions().get(&world.session).await.unwrap();
    let asked = session.waiting_ask().unwrap().clone();
    let answer = AskAnswer::Questions { answers: vec!["red".to_owned()] };
    let answer = planwright_core::command::AnswerCommand { ask: asked.id, digest: asked.digest, answer };
    let command = planwright_core::command::Command::Answer(answer);
    world.engine().submit(&world.session, &person(), command).await.unwrap();
    let model = ScriptedModel::new([Reply::text("Red it is.")]);
    let keeper = Keeper::start(&world, &model).await;
    keeper.sees(&world.session, |event| matches!(event.turn_event(), Some(TurnEvent::Ended { .. }))).await;
    keeper.end().await;
    assert!(results(&model.requests()[0]).contains(r#""answer":"red""#));
}

#[tokio::test]
async fn an_answer_that_is_sent_again_has_the_outcome_of_the_first_time() {
    let world = World::new([which_colour(), Reply::text("Red it is.")]).await;
    world.send("Paint the door").await;
    let session = world.engine().sessions().get(&world.session).await.unwrap();
    let asked = session.waiting_ask().unwrap().clone();
    let first = answer(&world, "answer-once", &["red"]).await;
    let events = world.events().await.len();
    let again = Input::Answer {
        ask: asked.id,
        digest: asked.digest,
        answer: AskAnswer::Questions { answers: vec!["red".to_owned()] },
    };
    let request = Request::new(world.place(), person()).named(Some(RequestId::new("answer-once").unwrap()));
    let again = world.agent.submit(again, request).outcome().await.unwrap().answer().unwrap();
    assert_eq!((again.end, again.reply), (first.end, first.reply));
    assert_eq!(world.events().await.len(), events);
}

#[tokio::test]
async fn while_it_waits_other_work_is_refused_with_the_question() {
    let world = World::new([ask(json!([{ "text": "Which?" }, { "text": "Why?" }])), Reply::text("Thanks.")]).await;
    world.send("Paint the door").await;
    let events = world.events().await.len();
    let too_few = world.agent.submit(Input::typed("red"), Request::new(world.place(), person())).outcome().await;
    let refused = too_few.unwrap_err();
    assert_eq!(refused.code(), RefusalCode::InvalidArgument);
    assert!(refused.to_string().contains("Why?"), "{refused}");
    assert_eq!(world.events().await.len(), events);
    assert_eq!(world.send("red\nit is warm").await.reply, "Thanks.");
    let sent = results(&world.sent(2));
    assert!(sent.contains(r#""answer":"red""#) && sent.contains(r#""answer":"it is warm""#), "{sent}");
}

#[tokio::test]
async fn a_stop_ends_the_turn_without_an_answer() {
    let world = World::new([which_colour(), Reply::text("Hello again.")]).await;
    world.send("Paint the door").await;
    world.send("/stop").await;
    assert!(world.engine().sessions().get(&world.session).await.unwrap().turn.is_none());
    assert_eq!(world.send("Are you there?").await.reply, "Hello again.");
    world.has_a_valid_history();
}

#[tokio::test]
async fn a_document_asks_in_the_middle_and_is_completed_afterwards() {
    let replies = [set("- [ ] paint"), Reply::text("Ready."), which_colour(), report(1), Reply::text("Painted.")];
    let world = World::new(replies).await;
    world.send("/plan on").await;
    world.say("Plan the door").await;
    let waits = world.send("/plan approve").await;
    assert!(waits.ask.is_some() && waits.end.is_none(), "{waits:?}");
    assert_eq!(world.plan(1).await.status, PlanStatus::Executing);
    assert_eq!(world.send("2").await.end, Some(TurnEnd::Answered));
    assert_eq!(world.plan(1).await.status, PlanStatus::Completed);
    assert_eq!(asked_times(&world.events().await), 1);
}
