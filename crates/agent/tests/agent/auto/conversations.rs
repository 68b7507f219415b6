//! A run has a conversation of its own: no other task's run and no ordinary turn reads it, and its result comes back.

use planwright_core::event::{Event, MemoryEvent};
use planwright_core::model::{ModelMessage, ModelRequest};
use planwright_engine::history::{Message, MessageRole};
use planwright_llm::scripted::{Reply, ScriptedModel};
use serde_json::json;

use super::{called, newest};
use crate::world::World;

/// Everything that the model reads, in one text.
fn read_by_the_model(request: &ModelRequest) -> String {
    format!("{}\n{:?}", request.system, request.messages)
}

/// Works on the first task with words, calls and a memory of its own, and ends every other task at once.
fn model() -> ScriptedModel {
    ScriptedModel::answering(|request| {
        let done = |note: &str| Reply::call("task_update", json!({ "status": "done", "note": note }));
        match newest(request) {
            tick if tick.contains("task 1") && called(request, "task_update") => Reply::text("Walrus: there are 42."),
            tick if tick.contains("task 1") && called(request, "diary_write") => done("Walrus, 42"),
            tick if tick.contains("task 1") && called(request, "memory_save") => {
                Reply::call("diary_write", json!({ "text": "walrus diary" }))
            }
            tick if tick.contains("task 1") && called(request, "list_files") => {
                Reply::call("memory_save", json!({ "content": "walrus memory", "kind": "result" }))
            }
            tick if tick.contains("task 1") => {
                Reply::call("list_files", json!({ "path": "walrus" })).with_text("Walrus thoughts.")
            }
            tick if tick.contains("_RUN ") && !called(request, "task_update") => done("renewed"),
            _ => Reply::text("Fine."),
        }
    })
}

async fn texts(world: &World, run: Option<usize>) -> Vec<Message> {
    let history = world.engine().history();
    let page = match run {
        Some(run) => {
            let run = world.auto().await.runs[run].id().clone();
            history.run_messages(&world.session, &run, None, 64).await
        }
        None => history.messages(&world.session, None, 64).await,
    };
    page.unwrap().items
}

#[tokio::test]
async fn no_other_run_and_no_ordinary_turn_reads_what_was_said_in_a_run() {
    let world = World::with(model(), |_| {}).await;
    world.say("We are at the harbour.").await;
    world.send("/task add Count the animals").await;
    world.send("/task add Renew the certificate").await;
    world.send("/auto on task 1").await;
    world.until_runs_rest().await;
    let before = world.model.requests().len();
    world.send("/auto on task 2").await;
    world.until_runs_rest().await;
    let saved: Vec<_> = world.events().await.iter().filter_map(Event::memory_event).cloned().collect();
    assert!(matches!(saved.as_slice(), [MemoryEvent::Saved { .. }]), "{saved:?}");
    // The second run begins with its task and the conversation of the session, and with nothing of the first run.
    for request in &world.model.requests()[before..] {
        let read = read_by_the_model(request);
        assert!(!read.to_lowercase().contains("walrus"), "{read}");
        assert!(!read.contains("Count the animals"), "{read}");
        assert!(read.contains("Begin with task 2: Renew the certificate."), "{read}");
        assert!(read.contains("We are at the harbour."), "{read}");
    }
    // The conversation has the result of each run, and neither its words nor its calls.
    world.say("How did it go?").await;
    let asked = world.model.last_request();
    let read = read_by_the_model(&asked);
    assert!(read.contains("Run 1 (TASK_RUN) on task 1, `Count the animals`, is completed: Walrus, 42."), "{read}");
    assert!(read.contains("Walrus: there are 42."), "{read}");
    for word in ["Walrus thoughts", "walrus memory", "walrus diary", "Begin with"] {
        assert!(!read.contains(word), "{word}: {read}");
    }
    assert!(!asked.messages.iter().any(|message| matches!(message, ModelMessage::ToolResult { .. })), "{read}");
    world.has_a_valid_history();
    world.is_sound().await;
}

#[tokio::test]
async fn the_messages_of_a_session_have_the_result_of_a_run_and_those_of_the_run_all_of_it() {
    let world = World::with(model(), |_| {}).await;
    world.say("Hello").await;
    world.send("/task add Count the animals").await;
    world.send("/auto on").await;
    world.until_runs_rest().await;
    let run = world.auto().await.runs[0].id().clone();
    let session = texts(&world, None).await;
    let said: Vec<_> = session.iter().map(|message| (message.text.as_str(), message.run.is_some())).collect();
    let result = "Run 1 (TASK_RUN) on task 1, `Count the animals`, is completed: Walrus, 42.\n\nWalrus: there are 42.";
    assert_eq!(said, [("Hello", false), ("Fine.", false), (result, true)]);
    let own = texts(&world, Some(0)).await;
    assert!(own.iter().all(|message| message.run.as_ref() == Some(&run)), "{own:#?}");
    assert!(own[0].text.starts_with("[TASK_RUN 1] Begin with task 1"), "{own:#?}");
    let tools = own.iter().filter(|message| matches!(message.role, MessageRole::Tool { .. })).count();
    assert_eq!((tools, own.last().unwrap().text.as_str()), (4, result));
    let unknown = planwright_core::ids::RunId::new("another").unwrap();
    assert!(world.engine().history().run_messages(&world.session, &unknown, None, 64).await.is_err());
}

/// A run reads its own turns again, and a run of a goal begins anew with each task.
#[tokio::test]
async fn a_run_continues_its_own_conversation_until_it_moves_to_the_next_task() {
    let model = ScriptedModel::answering(|request| {
        let ticks = request
            .messages
            .iter()
            .filter(|message| matches!(message, ModelMessage::User { text } if text.contains("_RUN 1]")));
        match newest(request) {
            tick if !tick.contains("_RUN ") || called(request, "task_update") => Reply::text("Fine."),
            _ if called(request, "list_files") => Reply::text("Otter seen."),
            _ if ticks.count() == 2 => Reply::call("task_update", json!({ "status": "done" })),
            tick => Reply::call("list_files", json!({ "path": format!("part-{}", tick.len()) })),
        }
    });
    let world = World::with(model, |_| {}).await;
    world.send("/goal add The zoo").await;
    world.send("/task add #1 first").await;
    world.send("/task add #1 second").await;
    world.send("/auto on").await;
    world.until_runs_rest().await;
    let state = world.auto().await;
    assert_eq!((state.runs[0].state.name(), state.runs[0].spent.turns), ("completed", 4), "{state:#?}");
    let heads: Vec<_> =
        world.model.requests().iter().map(|request| newest(request).lines().next().unwrap().to_owned()).collect();
    assert!(heads.iter().any(|head| head.contains("Continue with task 1: first")), "{heads:#?}");
    let second =
        world.model.requests().into_iter().find(|request| newest(request).contains("Begin with task 2")).unwrap();
    let read = read_by_the_model(&second);
    assert!(!read.contains("Otter") && read.contains("> task 1 is done: first"), "{read}");
    world.has_a_valid_history();
    world.is_sound().await;
}

/// A run reads nothing of the tasks of others with its tools, either: their notes are what came of them.
#[tokio::test]
async fn a_run_lists_its_own_goal_and_tasks_only() {
    let model = ScriptedModel::answering(|request| match newest(request) {
        tick if !tick.contains("_RUN ") || called(request, "task_update") => Reply::text("Fine."),
        _ if called(request, "task_list") => Reply::call("task_update", json!({ "status": "done" })),
        _ => Reply::call("goal_list", json!({ "all": true })).and_call("task_list", json!({ "all": true })),
    });
    let world = World::with(model, |_| {}).await;
    for line in ["/goal add The zoo", "/task add #1 Count the animals", "/task add Renew it", "/task add Paint it"] {
        world.send(line).await;
    }
    world.send("/task done 3 the till is a walrus").await;
    let listed = |list: &str, field: &str| {
        let requests = world.model.requests();
        let results = requests.last().unwrap().messages.iter().rev().find_map(|message| match message {
            ModelMessage::ToolResult { name, text, .. } if *name == format!("{field}_list") => Some(text.clone()),
            _ => None,
        });
        let value: serde_json::Value = serde_json::from_str(&results.unwrap()).unwrap();
        value[list].as_array().unwrap().iter().map(|one| one[field].as_u64().unwrap()).collect::<Vec<_>>()
    };
    for (run, goals, tasks) in [("task 2", vec![], vec![2]), ("1", vec![1], vec![1])] {
        world.send(&format!("/auto on {run}")).await;
        world.until_runs_rest().await;
        assert_eq!((listed("goals", "goal"), listed("tasks", "task")), (goals, tasks), "{run}");
    }
    assert!(world.model.requests().iter().all(|request| !read_by_the_model(request).contains("walrus")));
}
