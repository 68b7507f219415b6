//! What agents ask, in the inbox, and a person's answers over REST.

use std::sync::Arc;

use jiff::Timestamp;
use planwright_core::actor::Actor;
use planwright_core::approval::record::{ApprovalEvent, ApprovalState};
use planwright_core::ask::Grant;
use planwright_core::ids::AskId;
use planwright_core::permission::{Permission, PermissionRule, PermissionRules};
use planwright_core::presence::Act;
use planwright_engine::permission_rules::FixedRules;
use planwright_llm::scripted::{Reply, ScriptedModel};
use serde_json::{Value, json};

use crate::world::{OTHER, SESSION, World};

/// A world in which writing a file is asked about.
async fn careful(replies: impl IntoIterator<Item = Reply>) -> World {
    let rule = PermissionRule {
        tool: "write_file".to_owned(),
        target: None,
        server: None,
        effect: None,
        exact: false,
        decide: Permission::Ask,
    };
    let rules = Arc::new(FixedRules::new(PermissionRules::new(vec![rule]).unwrap()));
    World::set_up(ScriptedModel::new(replies), move |setup| setup.options.permissions = rules).await
}

fn write() -> Reply {
    Reply::call("write_file", json!({ "path": "a.md", "content": "x" }))
}

async fn inbox(world: &World) -> Vec<Value> {
    world.get("/api/inbox").await.with(200)["items"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_call_waits_in_the_inbox_and_is_made_after_the_answer() {
    let world = careful([write(), Reply::text("Written.")]).await;
    let waits = world.say("write it").await.with(200);
    assert_eq!(waits["outcome"], "waits_for_person");
    let [item] = inbox(&world).await.try_into().unwrap();
    assert_eq!(
        (&item["kind"], &item["sessionId"], &item["title"]),
        (&json!("permission"), &json!(SESSION), &json!("write_file: a.md"))
    );
    assert_eq!(item["call"]["arguments"], json!({ "path": "a.md", "content": "x" }));
    assert_eq!(item["choices"], json!(["once", "always", "no"]));
    assert_eq!((&waits["ask"]["id"], &waits["ask"]["digest"]), (&item["id"], &item["digest"]));
    let path = format!("/api/permissions/{}", item["id"].as_str().unwrap());
    let answer = |digest: &Value| json!({ "digest": digest, "grant": "once" });
    // Another digest, another session and an unknown ask permit nothing.
    world.post(&path, answer(&json!("0".repeat(64)))).await.refused(409, "STALE_APPROVAL");
    world.post("/api/permissions/unknown", answer(&item["digest"])).await.refused(404, "NOT_FOUND");
    let elsewhere = json!({ "digest": item["digest"], "grant": "once", "sessionId": OTHER });
    world.post(&path, elsewhere).await.refused(404, "NOT_FOUND");
    world.post(&path, json!({ "digest": item["digest"], "grant": "maybe" })).await.refused(400, "INVALID_ARGUMENT");
    // No plan is carried out, so "for this plan" means nothing.
    world.post(&path, json!({ "digest": item["digest"], "grant": "plan" })).await.refused(409, "WRONG_STATUS");
    assert_eq!(inbox(&world).await.len(), 1);

    let answered = world.post(&path, answer(&item["digest"])).await.with(200);
    assert_eq!((&answered["id"], &answered["sessionId"]), (&item["id"], &json!(SESSION)));
    world.idle(SESSION).await;
    assert_eq!(inbox(&world).await, Vec::<Value>::new());
    let messages = world.get(&format!("/api/sessions/{SESSION}/messages")).await.with(200).to_string();
    assert!(messages.contains("Written."), "{messages}");
    world.post(&path, answer(&item["digest"])).await.refused(404, "NOT_FOUND");
}

/// An approver with a passkey, as an enrolment records them.
async fn enrol(world: &World) {
    let nothing = json!({ "memory_kib": 1, "iterations": 1, "salt": "", "nonce": "", "ciphertext": "" });
    let passkey = json!({
        "id": "Y3JlZGVudGlhbA", "label": "laptop", "relying_party": "localhost",
        "key": { "algorithm": "ed25519", "key": "00".repeat(32) }, "added_at": "2026-03-01T12:00:00Z",
    });
    let approver = json!({
        "name": "ada", "key": "11".repeat(32), "sealed": nothing, "enrolled_at": "2026-03-01T12:00:00Z",
        "passkeys": [passkey],
    });
    let added = ApprovalEvent::ApproverAdded { approver: serde_json::from_value(approver).unwrap() };
    let state = ApprovalState::replay(&world.ledger.approval_records().await.unwrap()).unwrap();
    let record = state.seal(Timestamp::UNIX_EPOCH, Actor::person("ada", "cli"), added, None).unwrap();
    assert!(world.ledger.add_approval_record(&record).await.unwrap());
}

#[tokio::test]
async fn a_passkey_signs_the_arguments_that_a_person_changed() {
    let world = careful([write()]).await;
    enrol(&world).await;
    world.say("write it").await.with(200);
    let [item] = inbox(&world).await.try_into().unwrap();
    let ask = AskId::new(item["id"].as_str().unwrap()).unwrap();
    let digest = item["digest"].as_str().unwrap().parse().unwrap();
    let changed = json!({ "path": "b.md", "content": "y" });
    for arguments in [None, Some(&changed)] {
        let mut body = json!({ "kind": "permit", "id": item["id"], "digest": item["digest"], "grant": "once" });
        if let Some(arguments) = arguments {
            body["arguments"] = arguments.clone();
        }
        let challenge = world.post("/api/acts/challenge", body).await.with(200);
        // The answer is compared with this act: `core` has the cases.
        let act = Act::permit(&ask, digest, Grant::Once, arguments);
        assert_eq!(
            (&challenge["act"]["subject"], &challenge["act"]["digest"]),
            (&json!(act.subject), &json!(act.digest))
        );
    }
}

#[tokio::test]
async fn a_call_is_permitted_with_other_arguments_and_recorded_with_them() {
    let world = careful([write(), Reply::text("Written.")]).await;
    world.say("write it").await.with(200);
    let [item] = inbox(&world).await.try_into().unwrap();
    let path = format!("/api/permissions/{}", item["id"].as_str().unwrap());
    let answer =
        |grant: &str, arguments: Value| json!({ "digest": item["digest"], "grant": grant, "arguments": arguments });
    let changed = json!({ "path": "b.md", "content": "y" });
    // The tool does not take these, and what is changed is permitted once.
    for (grant, arguments) in [("once", json!({ "path": 5 })), ("once", json!([])), ("always", changed.clone())] {
        world.post(&path, answer(grant, arguments)).await.refused(400, "INVALID_ARGUMENT");
    }
    assert_eq!(inbox(&world).await.len(), 1);
    world.post(&path, answer("once", changed.clone())).await.with(200);
    world.idle(SESSION).await;
    let changes = world.get(&format!("/api/sessions/{SESSION}/changes")).await.with(200).to_string();
    assert!(changes.contains("b.md") && !changes.contains("a.md"), "{changes}");
    let journal = world.get(&format!("/api/sessions/{SESSION}/journal?limit=64")).await.with(200);
    let answered = journal["entries"].as_array().unwrap().iter().find(|entry| entry["type"] == "permission_answered");
    assert_eq!(answered.unwrap()["event"]["arguments"], changed);
    let messages = world.get(&format!("/api/sessions/{SESSION}/messages")).await.with(200).to_string();
    assert!(messages.contains("permitted with other arguments"), "{messages}");
}

#[tokio::test]
async fn questions_are_answered_one_by_one() {
    let questions = json!({ "questions": [{ "text": "Which?", "choices": ["red", "blue"] }, { "text": "Why?" }] });
    let world = careful([Reply::call("ask_person", questions), Reply::text("Thanks.")]).await;
    world.say("paint it").await.with(200);
    let [item] = inbox(&world).await.try_into().unwrap();
    assert_eq!((&item["kind"], &item["title"]), (&json!("question"), &json!("Which?")));
    assert_eq!(item["questions"][0], json!({ "text": "Which?", "choices": ["red", "blue"], "many": false }));
    let path = format!("/api/questions/{}", item["id"].as_str().unwrap());
    let answer = |answers: Value| json!({ "digest": item["digest"], "answers": answers });
    for wrong in [json!(["red"]), json!(["red", " "]), json!([])] {
        world.post(&path, answer(wrong)).await.refused(400, "INVALID_ARGUMENT");
    }
    // A question of another session is not there, the same as one that does not exist.
    for (path, session, channel) in
        [(path.as_str(), OTHER, "web"), (&path, SESSION, "cli"), ("/api/questions/unknown", SESSION, "web")]
    {
        let body =
            json!({ "digest": item["digest"], "answers": ["red", "x"], "sessionId": session, "channel": channel });
        world.post(path, body).await.refused(404, "NOT_FOUND");
    }
    assert_eq!(inbox(&world).await.len(), 1);
    let permission = format!("/api/permissions/{}", item["id"].as_str().unwrap());
    let grant = json!({ "digest": item["digest"], "grant": "once" });
    world.post(&permission, grant).await.refused(400, "INVALID_ARGUMENT");
    world.post(&path, answer(json!(["red", "it is warm"]))).await.with(200);
    world.idle(SESSION).await;
    let sent = format!("{:?}", world.model.requests()[1].messages);
    assert!(sent.contains("it is warm"), "{sent}");
}
