//! A store of each earlier schema is opened: it is whole, what every version added to it is read, and it takes new commands.

use std::collections::BTreeMap;

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use planwright_core::actor::Actor;
use planwright_core::ask::{AskAnswer, Grant};
use planwright_core::auto::{AutoCommand, NewSchedule};
use planwright_core::command::{AnswerCommand, Command};
use planwright_core::memory::{NewMemory, ScopeChain};
use planwright_core::plan::PlanStatus;
use planwright_core::session::TransportChat;
use planwright_engine::Engine;
use planwright_engine::approvals::OpenedFor;
use planwright_engine::ledger::{
    Claim, ClaimedRequest, Ledger, NewMessage, ReceivedUpdate, RunsFilter, StoredAnswer, TakeMessages, TakeOrder,
};

use crate::commands::*;
use crate::contract::damage::{BYSTANDER, here};
use crate::contract::pins;
use crate::stores::Store;
use crate::verification::{assert_no_gaps, assert_whole};

const LONG: Duration = Duration::from_secs(600);
const CHAT: &str = "telegram:1";

/// The sessions of a store, and the schema since which they are in it.
const SESSIONS: [(usize, &str); 9] = [
    (1, "cli:k3yk3y8x"),
    (1, BYSTANDER),
    (3, "mcp:parked-1"),
    (5, "web:paused-one"),
    (6, "web:edited-often"),
    (8, "web:asking-one"),
    (10, "web:remembering"),
    (12, "web:scheduled"),
    (12, "web:interrupted"),
];

pub(crate) async fn a_store_of_every_earlier_version_opens(store: &Store) {
    store.ledger().await;
    let today: usize = store.schema_version().await.parse().unwrap();
    for version in 1..today {
        println!("a store of schema {version}");
        let store = store.another().await;
        store.make_version(version).await;
        assert_eq!(store.schema_version().await, version.to_string());
        let (engine, ledger) = (store.engine().await, store.ledger().await);
        assert_eq!(store.schema_version().await, today.to_string());
        assert_sessions_and_plans(&engine, ledger.as_ref(), version).await;
        assert_additions(&engine, ledger.as_ref(), version).await;
        assert_whole(&engine).await;
        assert_takes_commands(&engine, ledger.as_ref()).await;
        assert_whole(&store.engine().await).await;
    }
}

async fn assert_sessions_and_plans(engine: &Engine, ledger: &dyn Ledger, version: usize) {
    let present = SESSIONS.iter().filter(|(since, _)| *since <= version).map(|(_, name)| *name);
    let mut expected: Vec<_> = present.map(str::to_owned).collect();
    expected.sort();
    let report = assert_whole(engine).await;
    let mut found: Vec<_> = report.chains.iter().map(|chain| chain.session.to_string()).collect();
    found.sort();
    assert_eq!(found, expected);
    let mut statuses = Vec::new();
    for name in &expected {
        assert_no_gaps(engine, &session(name)).await;
        let listed = engine.plans().list(&session(name), None, 10).await.unwrap();
        assert!(listed.damaged.is_empty(), "{:?}", listed.damaged);
        for listed in listed.items {
            let plan = engine.plans().get(&session(name), &listed.id).await.unwrap();
            assert_eq!((plan.status, plan.display_title()), (listed.status, listed.title));
            for number in 1..=plan.version {
                let entry = engine.ledger().version_entry(&session(name), &plan.id, number).await.unwrap();
                assert!(entry.is_some(), "version {number} of the plan of {name}");
            }
            statuses.push((name.as_str(), plan.status));
        }
    }
    // Of the first and the second version other tests say what is in the plans.
    let (ready, executing, collecting) = (PlanStatus::Ready, PlanStatus::Executing, PlanStatus::Collecting);
    let plans = [
        (3, ("cli:k3yk3y8x", executing)),
        (3, ("mcp:parked-1", collecting)),
        (3, (BYSTANDER, ready)),
        (5, ("web:paused-one", executing)),
        (6, ("web:edited-often", ready)),
    ];
    let mut plans: Vec<_> = plans.iter().filter(|(since, _)| *since <= version).map(|(_, plan)| *plan).collect();
    plans.sort_by_key(|(name, _)| *name);
    if version >= 3 {
        assert_eq!(statuses, plans);
        let counts = ledger.counts().await.unwrap();
        let (turns, planning) = (1 + u64::from(version >= 8), 2 + u64::from(version >= 5) + u64::from(version >= 6));
        assert_eq!((counts.sessions, counts.turns, counts.planning), (expected.len() as u64, turns, planning));
        let waiting = ledger.waiting_plans(None, 10).await.unwrap();
        assert!(waiting.damaged.is_empty() && waiting.items.iter().any(|plan| plan.session == session(BYSTANDER)));
        // Neither a paused execution nor a turn that asks a person is among them.
        let unfinished = ledger.unfinished(None, 10).await.unwrap().items;
        assert_eq!(unfinished.iter().map(|left| &left.session).collect::<Vec<_>>(), [&here()]);
    }
}

/// What the versions up to this one added to the schema is read, and goes on.
async fn assert_additions(engine: &Engine, ledger: &dyn Ledger, version: usize) {
    if version >= 4 {
        assert_requests_and_pointers(ledger).await;
    }
    if version >= 5 {
        assert_paused_execution(engine).await;
    }
    if version >= 6 {
        assert_plan_versions(engine).await;
    }
    if version >= 8 {
        assert_question(engine, ledger).await;
    }
    if version >= 9 {
        let state = engine.approvals().state().await.unwrap();
        assert!(state.policy.is_some() && state.approvers.named("ada").is_some(), "{state:?}");
        engine.approvals().unlock(&person(), "ada", "correct horse").await.unwrap();
    }
    if version >= 10 {
        assert_memories(engine).await;
    }
    if version >= 11 {
        let pinned = ledger.pinned_server(&pins::name()).await.unwrap().unwrap();
        assert_eq!(pinned.accepted.as_ref().unwrap().tools, pins::offer("Reads.", 1).tools);
        assert_eq!((pinned.difference(), pinned.revision), (None, 2));
        // The command was not kept then, and the name is known.
        let (offered, rule) = (pins::offer("Sends.", 2), Actor::policy("--upstream", "mcp"));
        assert!(!ledger.accept_first_offer(&pins::name(), pins::command("a"), &offered, &rule).await.unwrap());
    }
    if version >= 12 {
        assert_schedules_and_runs(ledger).await;
    }
    if version >= 13 {
        assert_messages_and_updates(ledger).await;
    }
    if version >= 14 {
        let chain = ScopeChain::of_session(&session(BYSTANDER));
        let vectors = ledger.memory_vectors(&chain, "openai:earlier", 10).await.unwrap();
        assert_eq!(vectors.into_iter().map(|found| found.vector).collect::<Vec<_>>(), [Some(vec![0.5])]);
    }
    if version >= 16 {
        let alive = ledger.alive_at("server of schema 16").await.unwrap();
        assert_eq!(alive.map(|at| at.as_second()), Some(1_767_225_600));
        let record = ledger.keyed_record("card of schema 16").await.unwrap().unwrap();
        assert_eq!((record.revision, record.body.as_str()), (3, "kept"));
    }
    if version >= 15 {
        // The command is known, under whatever name it is reached now.
        let (offered, rule) = (pins::offer("Sends.", 2), Actor::policy("--upstream", "mcp"));
        let renamed = "renamed".parse().unwrap();
        let known = pins::command("earlier");
        assert!(!ledger.accept_first_offer(&renamed, known, &offered, &rule).await.unwrap());
    }
    if version >= 16 {
        assert_eq!(ledger.alive_at("earlier").await.unwrap(), Some(Timestamp::from_second(1_700_000_000).unwrap()));
    }
}

fn request(key: &str) -> ClaimedRequest {
    ClaimedRequest { key: key.to_owned(), fingerprint: "asked".to_owned() }
}

async fn assert_requests_and_pointers(ledger: &dyn Ledger) {
    let begun = ledger.claim(&request("begun"), at(3), LONG).await.unwrap();
    assert_eq!(begun, Claim::Begun { at: at(1) });
    let answer = StoredAnswer { status: 201, body: "{\"it's\":\"żółć \\u0000\"}".to_owned() };
    assert_eq!(ledger.claim(&request("answered"), at(3), LONG).await.unwrap(), Claim::Answered(answer));
    let chat = || TransportChat(CHAT.to_owned());
    assert_eq!(ledger.pointers().await.unwrap(), [(chat(), session(BYSTANDER)), (chat(), here())]);
    assert_eq!(ledger.active_session(&chat()).await.unwrap(), Some(here()));
}

async fn assert_paused_execution(engine: &Engine) {
    let paused = session("web:paused-one");
    let plan = engine.plans().active(&paused).await.unwrap();
    assert!(plan.execution.as_ref().unwrap().paused_since().is_some(), "{plan:?}");
    let resumed = engine.plans().resume(&paused, &person(), &plan.id).await.unwrap();
    assert!(resumed.execution.as_ref().unwrap().paused_since().is_none(), "{resumed:?}");
}

async fn assert_plan_versions(engine: &Engine) {
    let edited = session("web:edited-often");
    let plan = engine.plans().active(&edited).await.unwrap();
    assert_eq!(plan.version, 34);
    for version in 1..=34 {
        let entry = engine.ledger().version_entry(&edited, &plan.id, version).await.unwrap().unwrap();
        let event = serde_json::to_value(&entry.event).unwrap();
        assert_eq!(event["markdown"], format!("# Draft {version}"));
    }
    let changed = draft(engine, &edited, set("# Draft 35")).await;
    assert_eq!(active(&changed).version, 35);
}

async fn assert_question(engine: &Engine, ledger: &dyn Ledger) {
    let asking = ledger.asking(None, 10).await.unwrap().items;
    let [asking] = asking.as_slice() else { panic!("{asking:?}") };
    assert_eq!(asking.session.identity, session("web:asking-one"));
    let asked = asking.session.waiting_ask().unwrap().clone();
    let answer = AskAnswer::permission(Grant::Once, None);
    let answer = Command::Answer(AnswerCommand { ask: asked.id, digest: asked.digest, answer });
    engine.submit(&asking.session.identity, &person(), answer).await.unwrap();
    assert!(ledger.asking(None, 10).await.unwrap().items.is_empty());
}

async fn found(engine: &Engine, name: &str, text: &str) -> Vec<String> {
    let search = engine.memories().search(&ScopeChain::of_session(&session(name)), text, 10).await.unwrap();
    assert!(search.damaged.is_empty() && search.blocked == 0, "{search:?}");
    search.found.into_iter().map(|found| found.item.content).collect()
}

async fn assert_memories(engine: &Engine) {
    let (red, blue) = ("The red till is broken.", "The blue till was sold.");
    for name in ["web:remembering", BYSTANDER] {
        assert_eq!(found(engine, name, "till").await, [red]);
    }
    engine.memories().undo(&session("web:remembering"), &person()).await.unwrap();
    assert_eq!(found(engine, "web:remembering", "blue").await, [blue]);
    assert_eq!(found(engine, BYSTANDER, "blue").await, Vec::<String>::new());
}

async fn assert_schedules_and_runs(ledger: &dyn Ledger) {
    let due = ledger.take_due(at(0) + SignedDuration::from_hours(24), LONG, 10).await.unwrap();
    assert_eq!(due, [session("web:scheduled")]);
    for (which, name) in [(RunsFilter::Running, "web:scheduled"), (RunsFilter::Waiting, "web:interrupted")] {
        let found = ledger.sessions_with_runs(which, None, 10).await.unwrap().items;
        assert_eq!(found.iter().map(|stored| stored.session.identity.to_string()).collect::<Vec<_>>(), [name]);
    }
}

async fn taken(ledger: &dyn Ledger) -> Vec<String> {
    let take = TakeMessages {
        channel: "telegram".to_owned(),
        owner: "another".to_owned(),
        now: at(60),
        until: at(120),
        limit: 10,
        order: TakeOrder::Any,
    };
    ledger.take_messages(&take).await.unwrap().into_iter().map(|message| message.id).collect()
}

async fn assert_messages_and_updates(ledger: &dyn Ledger) {
    let undelivered = ledger.undelivered(10).await.unwrap();
    assert!(undelivered.iter().any(|message| message.id == "failed" && message.failed), "{undelivered:?}");
    assert_eq!(taken(ledger).await, ["waiting"]);
    let poller = ledger.acquire_poller("bot", "another", at(60), LONG).await.unwrap().unwrap();
    assert_eq!((poller.fence, poller.next_update, poller.received_at), (2, 9, at(2)));
    let pending = ledger.pending_updates("bot", 0, 10).await.unwrap();
    let [pending] = pending.as_slice() else { panic!("{pending:?}") };
    assert_eq!((pending.id, pending.session.as_ref()), (8, Some(&here())));
    // A finished update is not taken a second time.
    let update = |id| ReceivedUpdate { id, body: "{}".to_owned() };
    assert_eq!(ledger.receive_pushed("bot", &[update(7), update(9)]).await.unwrap(), [9]);
    assert_eq!(ledger.keyed_record("card/a/1").await.unwrap().unwrap().body, "a card");
    assert_eq!(ledger.alive_at("gone").await.unwrap(), Some(at(1)));
}

/// Old sessions take new commands, and every table that a migration made takes rows.
async fn assert_takes_commands(engine: &Engine, ledger: &dyn Ledger) {
    let new = session("web:begun-now");
    ready(engine, &new, "# New").await;
    for name in ["cli:k3yk3y8x", BYSTANDER, "web:begun-now"] {
        let before = assert_no_gaps(engine, &session(name)).await;
        let memory = NewMemory::by_person("A fern grows at the window.");
        engine.memories().save(&session(name), &person(), memory).await.unwrap();
        assert_eq!(assert_no_gaps(engine, &session(name)).await, before + 1);
        assert_eq!(found(engine, name, "fern").await.len(), 1);
    }
    let chain = ScopeChain::of_session(&new);
    let made = ledger.memory_vectors(&chain, "openai:test", 1).await.unwrap();
    let made: Vec<_> = made.into_iter().map(|one| (one.memory, vec![0.5])).collect();
    ledger.keep_vectors("openai:test", &made).await.unwrap();
    let schedule = NewSchedule {
        expression: "0 * * * *".to_owned(),
        zone: None,
        title: "Water the fern".to_owned(),
        goal: None,
        max_executions: None,
    };
    engine.auto().schedule(&new, &person(), AutoCommand::AddSchedule(schedule)).await.unwrap().unwrap();
    engine.approvals().record_configured(&person(), &BTreeMap::new(), OpenedFor::Server).await.unwrap();
    ledger.record_offer(&"new".parse().unwrap(), pins::command("new"), &pins::offer("Reads.", 1)).await.unwrap();
    assert_eq!(ledger.claim(&request("new"), at(3), LONG).await.unwrap(), Claim::New);
    let message = NewMessage {
        id: "new".to_owned(),
        channel: "telegram".to_owned(),
        target: "new".to_owned(),
        body: "{}".to_owned(),
        due: at(1),
    };
    assert_eq!(ledger.put_messages(&[message], at(1)).await.unwrap(), 1);
    assert_eq!(taken(ledger).await, ["new"]);
    ledger.heartbeat("new", at(1)).await.unwrap();
    ledger.point(&TransportChat(CHAT.to_owned()), &new).await.unwrap();
    let lease = ledger.acquire_lease(&session(BYSTANDER), "deleting", LONG).await.unwrap().unwrap();
    ledger.delete_session(&lease).await.unwrap();
    assert_eq!(ledger.active_session(&TransportChat(CHAT.to_owned())).await.unwrap(), Some(new));
}
