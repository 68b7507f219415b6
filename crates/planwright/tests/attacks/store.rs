//! An agent with a program of its own that writes into the database.

use planwright_agent::session::input::Approving;
use planwright_core::actor::Actor;
use planwright_core::approval::Require;
use planwright_core::policy::Policy;
use planwright_core::presence::Presence;
use planwright_engine::Engine;
use planwright_store::Location;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::place::compare;
use crate::results::AttackResult;
use crate::stage::{PASSPHRASE, PROGRAM, SESSION, Stage, attack, done};

fn database(stage: &Stage) -> Connection {
    Connection::open(stage.path("planwright.db")).unwrap()
}

/// Changes the stored form of a plan.
fn edit(stage: &Stage, number: u32, change: impl FnOnce(&mut Value)) {
    let database = database(stage);
    let body: String =
        database.query_row("SELECT body FROM plan WHERE number = ?1 AND session_id = (SELECT id FROM session WHERE conversation = 'attack-one')", [number], |row| row.get(0)).unwrap();
    let mut plan: Value = serde_json::from_str(&body).unwrap();
    change(&mut plan);
    let (status, id) = (plan["status"].as_str().unwrap().to_owned(), plan["id"].as_str().unwrap().to_owned());
    database.execute("UPDATE plan SET body = ?1, status = ?2 WHERE id = ?3", (plan.to_string(), status, id)).unwrap();
}

fn stored(stage: &Stage, number: u32) -> Value {
    let mut found = Value::Null;
    edit(stage, number, |plan| found = plan.clone());
    found
}

/// Whether work on the plan begins, and whether `verify` tells.
fn works_on(stage: &mut Stage, number: u32) -> AttackResult {
    stage.agent_calls(SESSION, "plan_progress", &json!({ "status": "in_progress" }));
    let begun = stored(stage, number)["status"] == "EXECUTING";
    let found = stage.verify("").code == 7;
    match (begun, found) {
        (false, _) => AttackResult::Stopped,
        (true, true) => AttackResult::Found,
        (true, false) => AttackResult::Succeeds,
    }
}

#[test]
fn edited_plan() {
    attack("edited_plan", |stage| {
        done(&stage.person_approves());
        edit(stage, 1, |plan| plan["content"]["markdown"] = json!("# Empty the bin\n\n- [ ] and the attic\n"));
        works_on(stage, 1)
    });
}

#[test]
fn edited_approval() {
    attack("edited_approval", |stage| {
        let digest = stage.digest();
        edit(stage, 1, |plan| {
            plan["status"] = json!("APPROVED");
            plan["approval"] = json!({
                "by": { "kind": "person", "name": "ada", "through": "cli", "presence": { "kind": "verified", "approver": "ada" } },
                "at": "2026-01-01T00:00:00Z", "digest": digest, "approved": ["s1"], "skipped": [], "note": null,
                "signatures": [{ "approver": "ada", "seq": 1, "nonce": "00", "signature": "00".repeat(64) }],
            });
        });
        works_on(stage, 1)
    });
}

#[test]
fn replayed_approval() {
    attack("replayed_approval", |stage| {
        done(&stage.person_approves());
        let approval = stored(stage, 1)["approval"].clone();
        stage.agent_calls(SESSION, "plan_set_content", &json!({ "plan_markdown": "# Something else\n\n- [ ] more\n" }));
        edit(stage, 2, |plan| {
            plan["status"] = json!("APPROVED");
            plan["approval"] = approval;
        });
        works_on(stage, 2)
    });
}

/// The agent writes a whole enrolment of its own, and signs with that.
#[test]
fn forged_enrolment() {
    let results = Require::ALL.map(|require| {
        let mut stage = Stage::new(require);
        done(&stage.person.run(&format!("{PROGRAM} approver export --output kept.json")));
        database(&stage).execute("DELETE FROM approval_record", []).unwrap();
        approve_as_mallory(&stage);
        assert_eq!(stage.status(), "APPROVED");
        let told = stage.verify("").code == 7 || stage.verify("--approvers kept.json").code == 7;
        if told { AttackResult::Found } else { AttackResult::Succeeds }
    });
    compare("forged_enrolment", results);
}

/// What a program of the agent's own does with the store.
fn approve_as_mallory(stage: &Stage) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let ledger = planwright_store::open(&Location::Sqlite(stage.path("planwright.db"))).await.unwrap();
        let engine = Engine::new(ledger, Policy::default());
        let (approvals, session) = (engine.approvals(), SESSION.parse().unwrap());
        let mallory = Actor::person("mallory", "cli");
        approvals.add(&mallory, "mallory", PASSPHRASE, None).await.unwrap();
        let key = approvals.unlock(&mallory, "mallory", PASSPHRASE).await.unwrap();
        let plan = engine.plans().find(&session, None).await.unwrap();
        let signature = approvals.sign(&key, &plan, plan.digest(), &Approving::default()).await.unwrap();
        let by = mallory.recognised(Presence::verified("mallory"));
        engine.plans().approve_signed(&session, &by, &plan.id, plan.digest(), signature).await.unwrap();
    });
}

/// A record that is added to the enrolment without a signature stops every approval, and is named.
#[test]
fn a_record_without_a_signature_is_refused() {
    let mut stage = Stage::new(Require::Verified);
    let command = stage.approve_command();
    let forged = {
        let database = database(&stage);
        let (seq, hash): (i64, Vec<u8>) = database
            .query_row("SELECT seq, hash FROM approval_record ORDER BY seq DESC LIMIT 1", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .unwrap();
        let body = json!({
            "seq": seq + 1, "at": "2026-01-01T00:00:00Z", "by": { "kind": "system", "name": "planwright", "through": "cli" },
            "event": { "type": "approver_removed", "name": "ada" },
        })
        .to_string();
        use sha2::Digest as _;
        let hash = sha2::Sha256::new()
            .chain_update(b"planwright-approvals-v1\n")
            .chain_update(&hash)
            .chain_update(body.as_bytes())
            .finalize()
            .to_vec();
        database.execute("INSERT INTO approval_record (seq, body, hash) VALUES (?1, ?2, ?3)", (seq + 1, body, hash))
    };
    forged.unwrap();
    let ran = stage.person.run(&command);
    assert_eq!(ran.code, 7, "{}", ran.output);
    let told = stage.verify("");
    assert_eq!(told.code, 7);
    assert!(told.output.contains("no enrolled approver signed it"), "{}", told.output);
}
