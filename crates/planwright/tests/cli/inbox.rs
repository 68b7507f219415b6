//! `planwright inbox`: what waits is listed, shown, waited for and decided.

use std::process::Stdio;

use planwright_agent::tools::PlanTools;
use planwright_core::actor::Actor;
use planwright_core::ask::{AskSubject, CallToPermit, Question};
use planwright_core::command::{Command, TurnCommand};
use planwright_core::model::{ModelReply, ToolCall, Usage};
use planwright_core::plan::PlanStyle;
use planwright_core::session::SessionIdentity;
use planwright_core::standing_rule::{PermittedCalls, RulePlace, StandingRule};
use planwright_core::turn::{Purpose, TurnInput};
use serde_json::{Value, json};

use crate::world::{Ran, SESSION, World};

const HERE: &str = "cli:session-two";

/// A plan of recorded calls of our own agent that waits for approval.
fn with_calls(count: usize) -> World {
    let world = World::new();
    world.turn_on(HERE, PlanStyle::Collect);
    let session: SessionIdentity = HERE.parse().unwrap();
    world.with_engine(async |engine| {
        let agent = Actor::agent("model", "cli");
        for number in 1..=count {
            let arguments = json!({ "path": format!("{number}.txt"), "content": "x" });
            let arguments = arguments.as_object().cloned().unwrap();
            PlanTools::new(&engine).call(&session, &agent, "write_file", arguments).await.unwrap();
        }
        PlanTools::new(&engine).call(&session, &agent, "plan_finalize", serde_json::Map::new()).await.unwrap();
    });
    world
}

fn only_item(world: &World) -> Value {
    let inbox = world.json("inbox");
    let [item] = inbox["items"].as_array().unwrap().as_slice() else { panic!("{inbox}") };
    item.clone()
}

fn id(item: &Value) -> &str {
    item["id"].as_str().unwrap()
}

/// A turn that waits for an answer to this.
fn asking(subject: AskSubject, tool: &str, arguments: &Value) -> World {
    asked_by("rehearsal", subject, tool, arguments)
}

/// A world in which this model asked.
fn asked_by(model: &str, subject: AskSubject, tool: &str, arguments: &Value) -> World {
    let world = World::new();
    world.turn_on(HERE, PlanStyle::Document);
    let session: SessionIdentity = HERE.parse().unwrap();
    world.with_engine(async |engine| {
        let (person, agent) = (Actor::person("ada", "cli"), Actor::agent(model, "cli"));
        engine.sessions().disable_plan_mode(&session, &person).await.unwrap();
        let begin = TurnCommand::Begin { text: "Do it".to_owned(), tokens: 2, purpose: Purpose::Answer };
        let committed = engine.submit(&session, &person, Command::Turn(begin)).await.unwrap();
        let turn = committed.snapshot.open_turn().unwrap().id.clone();
        let call = ToolCall { name: tool.to_owned(), arguments: arguments.to_string(), signatures: Vec::new() };
        let reply = ModelReply { text: String::new(), calls: vec![call], usage: Usage::default(), cut_off: false };
        let inputs = vec![TurnInput::Replied { reply, tokens: 1 }];
        let record = TurnCommand::Record { turn: turn.clone(), inputs, ending: None };
        engine.submit(&session, &agent, Command::Turn(record)).await.unwrap();
        engine.submit(&session, &agent, Command::Turn(TurnCommand::Ask { turn, call: 1, subject })).await.unwrap();
    });
    world
}

fn permission() -> World {
    permission_of("rehearsal")
}

fn permission_of(model: &str) -> World {
    let arguments = json!({ "path": "a.txt", "content": "mine" });
    let permits = PermittedCalls::Path { tool: "write_file".to_owned(), path: "a.txt".to_owned() };
    let place = RulePlace::Session { session: HERE.parse().unwrap() };
    let call = CallToPermit {
        tool: "write_file".to_owned(),
        arguments: arguments.clone(),
        reason: "No rule covers this call.".to_owned(),
        paths: Vec::new(),
        always: Some(Box::new(StandingRule { permits, place })),
    };
    asked_by(model, AskSubject::Permission(call), "write_file", &arguments)
}

fn is_asked(world: &World) -> bool {
    world.json("inbox")["items"].as_array().unwrap().iter().any(|item| item["planId"].is_null())
}

#[test]
fn what_waits_is_listed_in_the_shape_of_the_server_and_for_people() {
    let world = World::with_plan();
    let item = only_item(&world);
    assert_eq!(
        (&item["kind"], &item["sessionId"], &item["channel"]),
        (&json!("plan"), &json!("session-one"), &json!("mcp"))
    );
    assert_eq!((&item["choices"], &item["digest"]), (&json!(["approve", "revise", "reject"]), &json!(world.digest())));
    let short = &id(&item)[id(&item).len() - 8..];
    world.run("inbox").done().tells("plan Move the tables").tells("plan 1, mcp:session-one").tells(short);
    world.run("inbox list").done().tells(short).never_says(id(&item));
    world.run("inbox --session session-one").done().tells(short);
    world.run(&format!("inbox show {short}")).done().says("copy the rows");
    let show = world.run(&format!("inbox show {}", &id(&item)[24..])).done();
    show.says("copy the rows").tells("Approve:").tells(&format!("inbox answer {short} approve"));
    world.run(&format!("plan reject 1 --session {SESSION}")).done();
    world.run("inbox").done().tells("Nothing waits for you.");
    assert_eq!(world.json("inbox")["items"], json!([]));
}

#[test]
fn a_plan_is_approved_by_the_rules_of_plan_approve() {
    let world = World::with_plan();
    let item = only_item(&world);
    world
        .run(&format!("inbox answer {} approve", id(&item)))
        .exits(2)
        .complains("there is no terminal to ask on, so plan 1 was not approved")
        .complains("--digest");
    let wrong = "0".repeat(64);
    world.run(&format!("inbox answer {} approve --digest {wrong}", id(&item))).exits(5);
    assert_eq!(world.status(), "READY");
    world.run(&format!("inbox answer {} approve --digest {} -- well done", id(&item), world.digest())).done();
    let plan = world.plan(SESSION, 1);
    assert_eq!(plan.approval.as_ref().unwrap().note.as_deref(), Some("well done"));
    world
        .run(&format!("inbox answer {} reject", id(&item)))
        .exits(4)
        .complains("Plan 1 of session mcp:session-one does not wait for you any more: it is APPROVED");
}

#[test]
fn a_plan_is_rejected_or_changes_are_asked_for_and_other_words_are_no_choice() {
    let world = World::with_plan();
    let item = only_item(&world);
    world
        .run(&format!("inbox answer {} maybe", id(&item)))
        .exits(2)
        .complains("the choices are approve, revise, reject");
    world.run(&format!("inbox answer {} revise", id(&item))).exits(2).complains("say what to change, after `--`");
    world.run(&format!("inbox answer {} revise -- use a view", id(&item))).done();
    assert_eq!(world.plan(SESSION, 1).feedback.as_ref().unwrap().text, "use a view");
    world.run("inbox answer 0190-not-there approve").exits(4).complains("waits for you").complains("planwright inbox");
    world.run("inbox show 01").exits(2).complains("six or more characters");
}

#[test]
fn each_step_is_looked_at_and_an_old_answer_releases_nothing() {
    let world = with_calls(3);
    let digest = world.active_plan(HERE).digest();
    let approve = format!("plan approve --session {HERE} --digest {digest} --step-by-step");
    world.run(&approve).exits(3).tells("1 of 3 done").tells("It is paused after step 1, so that you can look at it.");
    let first = only_item(&world);
    let plan = first["planId"].as_str().unwrap().to_owned();
    assert_eq!((&first["kind"], id(&first)), (&json!("step"), format!("{plan}:1").as_str()));
    assert_eq!(first["choices"], json!(["next", "revise", "stop"]));
    world.run("inbox").done().tells("step 1 is COMPLETED");
    world.run(&format!("inbox show {}", id(&first))).done().tells("Continue with step 2:").tells("calls: 1 covered");
    world
        .run(&format!("plan show 1 --session {HERE}"))
        .done()
        .tells("pace step by step")
        .tells("1 covered by the plan, 0 asked, 0 refused");
    world.run(&format!("plan history 1 --session {HERE}")).done().tells("paused after step 1");
    world.run(&format!("inbox answer {} next", id(&first))).exits(3);
    let second = only_item(&world);
    assert_eq!(id(&second), format!("{plan}:2"));
    world
        .run(&format!("inbox answer {} next", id(&first)))
        .exits(4)
        .complains("does not wait after step 1 any more: it waits after step 2 now");
    assert_eq!(only_item(&world), second);
    world.run(&format!("inbox answer {} stop", id(&second))).exits(3);
    assert_eq!(world.plan(HERE, 1).status.as_str(), "PARTIALLY_COMPLETED");
    assert_eq!(world.json("inbox")["items"], json!([]));
    // The plain command releases one step of what is left, too.
    world.run(&format!("plan resume 1 --session {HERE}")).done();
    assert_eq!(world.plan(HERE, 1).status.as_str(), "COMPLETED");
}

#[test]
fn a_call_is_permitted_only_with_what_was_shown() {
    let world = permission();
    let item = only_item(&world);
    assert_eq!((&item["kind"], &item["choices"]), (&json!("permission"), &json!(["once", "always", "no"])));
    world.run(&format!("inbox show {}", id(&item))).done().says("    +++ a.txt\n    +mine\n").tells("Allow once:");
    let code = item["call"]["code"].as_str().unwrap();
    let answer = |more: &str| -> Ran { world.run(&format!("inbox answer {} {more}", id(&item))) };
    answer("once").exits(2).complains("there is no terminal to ask on").complains(&format!("--digest {code}"));
    answer("once --digest 00000000").exits(5).complains("The agent asks about another call now");
    answer("plan").exits(2).complains("the choices are once, always, no");
    assert!(is_asked(&world), "nothing was permitted");
    answer(&format!("once --digest {code}")).done();
    assert!(!is_asked(&world));
    let written = world.path("users").read_dir().unwrap().any(|user| user.unwrap().path().join("files/a.txt").exists());
    assert!(written, "the call was made");
    answer("no").exits(4).complains("waits for you");
}

#[test]
fn the_rehearsal_does_not_continue_what_another_model_began() {
    let world = permission_of("openai:gpt-5");
    let item = only_item(&world);
    let code = item["call"]["code"].as_str().unwrap();
    world.run(&format!("inbox show {}", id(&item))).done().tells("`always` permits `write_file` on `a.txt`");
    let answered = world.run(&format!("inbox answer {} always --digest {code}", id(&item))).done();
    answered.tells("permits `write_file` on `a.txt`").tells("with a model, continues");
    let rules = world.json("permissions list");
    assert_eq!(rules["items"][0]["rule"]["place"]["kind"], "session");
    let number = &rules["items"][0]["number"];
    world.run("permissions list").done().tells(&format!("{number} `write_file` on `a.txt`"));
    world.run(&format!("permissions remove {number}")).done().tells("is removed");
    world.run(&format!("permissions remove {number}")).exits(4).complains("permissions list");
    world.run("permissions list").done().tells("No rule is in the store.");
    assert!(!is_asked(&world), "the answer is written down");
    let session: SessionIdentity = HERE.parse().unwrap();
    let stored = world.with_engine(async |engine| engine.sessions().get(&session).await.unwrap());
    assert!(
        stored.turn.is_some_and(|turn| turn.ask.is_some_and(|ask| ask.is_answered())),
        "and the turn waits for its model"
    );
}

#[test]
fn a_no_needs_nothing_and_takes_words_along() {
    let world = permission();
    let item = only_item(&world);
    world.run(&format!("inbox answer {} no -- not today", id(&item))).done();
    assert!(!is_asked(&world));
    assert!(!world.path("users").join("a.txt").exists());
}

#[test]
fn a_question_is_answered_in_words_or_by_the_number_of_a_choice() {
    let ask = |text: &str, choices: &[&str]| Question {
        text: text.to_owned(),
        choices: choices.iter().map(|choice| (*choice).to_owned()).collect(),
        many: false,
    };
    let one = vec![ask("Which colour?", &["red", "blue"])];
    let world = asking(AskSubject::Questions { questions: one.clone() }, "ask_person", &json!({ "questions": one }));
    let item = only_item(&world);
    assert_eq!((&item["kind"], &item["choices"]), (&json!("question"), &json!(["red", "blue"])));
    world.run(&format!("inbox show {}", id(&item))).done().tells("1. Which colour?").tells("2) blue");
    world.run(&format!("inbox answer {} 2", id(&item))).done();
    let session: SessionIdentity = HERE.parse().unwrap();
    let journal = world.with_engine(async |engine| engine.ledger().journal(&session, 0, 1_000).await.unwrap());
    assert!(
        journal.iter().any(|entry| entry.body.contains(r#""answers":["blue"]"#)),
        "the number stands for the choice"
    );

    let two = vec![ask("Which colour?", &[]), ask("How many?", &[])];
    let world = asking(AskSubject::Questions { questions: two.clone() }, "ask_person", &json!({ "questions": two }));
    let item = only_item(&world);
    world
        .run(&format!("inbox answer {} red", id(&item)))
        .exits(2)
        .complains("2 questions are asked, and 1 answers were given");
    world.run(&format!("inbox answer {} -- red seven", id(&item))).done();
    assert!(!is_asked(&world));
}

#[test]
fn the_page_of_the_dashboard_is_named() {
    let world = World::with_plan();
    let item = only_item(&world);
    let open = format!("inbox open {} --print", id(&item));
    world.run(&open).done().says(&format!("http://127.0.0.1:7717/p/{}", id(&item)));
    world.run("config set server.public_url https://plans.example.org/").done();
    world.run(&open).done().says(&format!("https://plans.example.org/p/{}", id(&item)));
}

#[test]
fn wait_ends_when_something_waits() {
    let world = World::new();
    world.turn_on(SESSION, PlanStyle::Document);
    let mut waiting = world.command();
    waiting.args(["inbox", "--wait", "--json"]).stdout(Stdio::piped());
    let waiting = waiting.spawn().unwrap();
    world.agent_drafts(SESSION, "- [ ] one");
    let ran: Ran = waiting.wait_with_output().unwrap().into();
    assert_eq!(ran.done().json()["items"][0]["kind"], "plan");
    // Something waits already.
    world.run("inbox --wait").done().tells("plan 1");
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_the_wait() {
    let world = World::new();
    world.turn_on(SESSION, PlanStyle::Document);
    let mut command = world.command();
    command.args(["inbox", "--wait", "--session", SESSION]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let id = child.id();
    // It is interrupted until it has ended: the first signal may come before it listens.
    let ended = std::thread::scope(|scope| {
        let ended = scope.spawn(move || child.wait_with_output().unwrap());
        while !ended.is_finished() {
            let _ = std::process::Command::new("kill").args(["-INT", &id.to_string()]).stderr(Stdio::null()).status();
        }
        ended.join().unwrap()
    });
    assert!(ended.stdout.is_empty() && !ended.status.success(), "{ended:?}");
}
