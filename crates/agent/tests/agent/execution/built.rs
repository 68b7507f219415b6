//! A plan of steps for specialists is carried out: each step in a turn of its own, apart from the conversation.

mod crashes;
mod failures;
mod step_reports;
mod stops;

use planwright_agent::session::progress::Progress;
use planwright_core::event::{Event, TurnEvent};
use planwright_core::plan::PlanStatus;
use planwright_core::plan::execution::StepStatus::{Completed, Skipped};
use planwright_core::policy::Policy;
use planwright_core::turn::{Purpose, ToolStatus};
use planwright_llm::scripted::Reply;
use serde_json::json;

use crate::specialist_scripts::{Step, names_since, proposed, reported, run_statuses, runs, scripted, step, told};
use crate::talk::Talk as _;
use crate::world::{script, statuses, tool_names};

const TWO: [Step; 2] = [
    Step { description: "Build the till", agent: "coder", needs: &[], verification: Some("It rings.") },
    step("Try the till", "tester", &[1]),
];

#[tokio::test]
async fn a_specialist_is_told_the_step_the_goal_the_outcomes_and_the_note() {
    let world = proposed(&TWO, |_| {}).await;
    scripted(&world, "coder", [reported("done", "The till stands.")]);
    scripted(&world, "tester", [reported("done", "It rang.")]);
    let answer = world.send("/plan approve -- mind the cat").await;
    assert!(answer.decided.unwrap().contains("Plan 1 is approved"));
    assert!(answer.reply.contains("**COMPLETED**") && answer.reply.contains("2 done"), "{}", answer.reply);
    let (coder, tester) = (&world.model.requests_of("coder")[0], &world.model.requests_of("tester")[0]);
    let prompt = |name: &str| Policy::default().agents.get(name).unwrap().prompt.clone();
    for (request, name) in [(coder, "coder"), (tester, "tester")] {
        assert!(request.system.contains(&format!("# You are the {name}")), "{}", request.system);
        assert!(request.system.contains(prompt(name).trim()), "{}", request.system);
        assert_eq!(script(request).len(), 1, "nothing but the step is said: {:?}", script(request));
    }
    let (first, second) = (told(coder), told(tester));
    for message in [
        "[Step 1 of 2 of plan 1: Shop]",
        "> Build the till",
        "It is verified by:\n> It rings.",
        "The goal of the whole plan:\n> Open the shop",
        "- There is a till.",
        "- It may rain.",
        "- A sale is made.",
        "- till.txt",
        "The person's note with the approval:\n> mind the cat",
        "2. to be done: Try the till",
    ] {
        assert!(first.contains(message), "{message:?} is not in {first}");
    }
    assert!(second.contains("[Step 2 of 2") && second.contains("> Try the till"), "{second}");
    assert!(second.contains("1. done: Build the till\n> The till stands."), "{second}");
    assert!(!second.contains("It is verified by"), "{second}");
    assert!(!first.contains("Earlier attempts") && !second.contains("Earlier attempts"));
    world.model.assert_finished();
    world.is_sound().await;
}

#[tokio::test]
async fn approval_and_intent_are_stored_before_a_step_and_its_outcome_with_its_report() {
    let world = proposed(&TWO, |_| {}).await;
    let evidence = json!({"status": "done", "note": "The till stands.", "evidence": "ls shows it"});
    scripted(&world, "coder", [Reply::call("plan_progress", evidence).with_text("I am done.")]);
    scripted(&world, "tester", [reported("done", "It rang.")]);
    world.send("/plan approve").await;
    let events = world.events().await;
    let one_step = ["step_begun", "turn_begun", "model_replied", "step_ended", "tool_ended", "turn_ended"];
    let expected = [&["plan_approved", "execution_started"][..], &one_step, &one_step, &["execution_finished"]];
    assert_eq!(names_since(&events, "plan_approved"), expected.concat());
    let purposes: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::Turn {
                event: TurnEvent::Begun { purpose: Purpose::Step { plan, step, agent, .. }, .. }, ..
            } => Some(format!("{} {step} {agent}", plan.as_str().is_empty())),
            _ => None,
        })
        .collect();
    assert_eq!(purposes, ["false s1 coder", "false s2 tester"]);
    let plan = world.plan(1).await;
    let first = &plan.execution.as_ref().unwrap().steps[0];
    assert_eq!(first.note.as_deref(), Some("The till stands."));
    assert_eq!(first.evidence.as_deref(), Some("ls shows it"));
    assert!(first.started_at.is_some() && first.finished_at.is_some());
    assert_eq!(plan.status, PlanStatus::Completed);
    assert!(world.send("/plan resume").await.refused(), "what is completed is not carried out again");
}

#[tokio::test]
async fn only_reading_and_changing_tools_and_the_report_are_there_and_pass() {
    let world = proposed(&TWO[..1], |_| {}).await;
    let refused = [
        ("plan_get", json!({})),
        ("plan_list", json!({})),
        ("plan_create_draft", json!({"goal": "Another"})),
        ("plan_set_metadata", json!({"goal": "Another"})),
        ("plan_add_step", json!({"description": "More", "agent": "coder"})),
        ("plan_update_step", json!({"step_id": "s1", "description": "Less"})),
        ("plan_remove_step", json!({"step_id": "s1"})),
        ("plan_submit", json!({})),
        ("plan_set_content", json!({"plan_markdown": "- [ ] x"})),
        ("plan_finalize", json!({})),
        ("ask_agent", json!({"agent": "tester", "question": "Well?"})),
    ];
    let calls =
        refused.iter().fold(Reply::default(), |reply, (tool, arguments)| reply.and_call(*tool, arguments.clone()));
    let write = Reply::call("write_file", json!({"path": "till.txt", "content": "ding"}))
        .and_call("read_file", json!({"path": "till.txt"}));
    scripted(&world, "coder", [calls, write, reported("done", "ok")]);
    let before = world.plan(1).await;
    let earlier = statuses(&world.events().await).len();
    world.send("/plan approve").await;
    let requests = world.model.requests_of("coder");
    let expected = [
        "plan_progress",
        "ask_person",
        "delete_file",
        "edit_file",
        "glob_files",
        "grep_files",
        "list_files",
        "memory_save",
        "memory_search",
        "move_file",
        "read_file",
        "write_file",
    ];
    let mut advertised = tool_names(&requests[0]);
    advertised[1..].sort_unstable();
    assert_eq!(advertised, expected);
    assert!(
        requests[0].system.contains("if only a person can decide something, call `ask_person`"),
        "the words fit the tools"
    );
    let sent = script(&requests[1]);
    for ((tool, _), answer) in refused.iter().zip(&sent[2..]) {
        assert!(answer.starts_with(&format!("failed {tool}:")) && answer.contains("POLICY_DENIED"), "{answer}");
    }
    let came: Vec<_> = statuses(&world.events().await).split_off(earlier);
    assert_eq!(came[..refused.len()], vec![ToolStatus::Refused; refused.len()]);
    assert_eq!(came[refused.len()..], [ToolStatus::Done, ToolStatus::Done, ToolStatus::Settled]);
    assert_eq!(std::fs::read_to_string(world.files().join("till.txt")).unwrap(), "ding");
    let after = world.plan(1).await;
    assert_eq!((after.digest(), after.status), (before.digest(), PlanStatus::Completed));
    assert!(world.model.requests_of("asked tester").is_empty());
    world.is_sound().await;
}

#[tokio::test]
async fn the_conversation_and_the_steps_know_nothing_of_each_other() {
    let world = proposed(&TWO, |_| {}).await;
    let look = Reply::call("list_files", json!({})).with_text("plugh, says the coder");
    scripted(&world, "coder", [look, reported("done", "plugh")]);
    scripted(&world, "tester", [reported("done", "plugh")]);
    world.send("/plan approve").await;
    for request in [world.model.requests_of("coder"), world.model.requests_of("tester")].concat() {
        let sent = format!("{request:?}");
        assert!(!sent.contains("xyzzy"), "{sent}");
    }
    world.model.then(Reply::text("I know nothing."));
    world.say("And now?").await;
    let heard = script(&world.model.last_request());
    assert!(heard.iter().all(|line| !line.contains("plugh") && !line.contains("[Step ")), "{heard:#?}");
    assert_eq!(heard.last().unwrap(), "user: And now?");
    assert!(heard[0].contains("xyzzy"));
    // A process that reads everything from the journal knows no more.
    let world = world.restart().await;
    world.model.then(Reply::text("I still know nothing."));
    world.say("And now?").await;
    let read = script(&world.model.last_request());
    assert_eq!(read[..heard.len()], heard);
    world.has_a_valid_history();
}

#[tokio::test]
async fn a_partial_approval_takes_along_what_needs_the_rest() {
    let three = [step("Build", "coder", &[]), step("Try", "tester", &[1]), step("Write", "writer", &[])];
    let world = proposed(&three, |_| {}).await;
    scripted(&world, "writer", [reported("done", "Written.")]);
    let answer = world.send("/plan approve skip 1").await;
    let decided = answer.decided.unwrap();
    assert!(decided.contains("step 1 will not be done (left out by the approval)"), "{decided}");
    assert!(decided.contains("step 2 will not be done (needs step 1, which is skipped)"), "{decided}");
    assert_eq!(run_statuses(&world, 1).await, [Skipped, Skipped, Completed]);
    assert_eq!(world.plan(1).await.status, PlanStatus::Completed);
    let told = told(&world.model.requests_of("writer")[0]);
    assert!(told.contains("1. skipped: Build") && told.contains("2. skipped: Try"), "{told}");
    world.model.assert_finished();
}

#[tokio::test]
async fn a_plan_that_was_parked_is_carried_out_when_it_is_approved() {
    for restarted in [false, true] {
        let mut world = proposed(&TWO, |_| {}).await;
        world.send("/plan off").await;
        if restarted {
            world = world.restart().await;
        }
        scripted(&world, "coder", [reported("done", "1")]);
        scripted(&world, "tester", [reported("done", "2")]);
        let answer = world.send("/plan approve 1").await;
        assert!(answer.reply.contains("2 done"), "restarted {restarted}: {}", answer.reply);
        assert!(!world.engine().sessions().get(&world.session).await.unwrap().plan_mode.enabled);
        world.is_sound().await;
    }
}

#[tokio::test]
async fn what_a_specialist_does_is_told_on_the_way() {
    let world = proposed(&TWO, |_| {}).await;
    scripted(&world, "coder", [reported("done", "1")]);
    scripted(&world, "tester", [reported("failed", "It is mute.")]);
    let (watcher, mut told) = crate::talk::Watcher::new();
    world.agent.type_text(&world.place(), &crate::world::person(), "/plan approve", &watcher).await.unwrap();
    drop(watcher);
    let mut lines = Vec::new();
    while let Ok(one) = told.try_recv() {
        match one {
            Progress::Said(_) => lines.push("said".to_owned()),
            Progress::StepStarted { position, total, .. } => lines.push(format!("{position} of {total}")),
            Progress::StepEnded { position, status, note, .. } => {
                lines.push(format!("{position} {} {}", status.as_str(), note.unwrap_or_default()));
            }
            _ => {}
        }
    }
    assert_eq!(lines, ["said", "1 of 2", "1 COMPLETED ", "2 of 2", "2 FAILED It is mute."]);
    let note = runs(&world, 1).await[1].note.clone();
    assert_eq!(note.as_deref(), Some("It is mute."));
}
