//! What changes once an approver is enrolled, and what an upgrade says about it.

use jiff::Timestamp;
use planwright_core::actor::Actor;
use planwright_core::approval::record::{ApprovalEvent, ApprovalState};
use planwright_core::approval::{ApprovalPolicy, Approver, ApproverKey, Require, SealedKey};

use crate::doctor::{checks, doctor};
use crate::world::World;

/// A store in which an earlier version recorded `separate` and an approver.
fn of_an_earlier_version(world: &World) {
    let text = String::new;
    let sealed = SealedKey { memory_kib: 1, iterations: 1, salt: text(), nonce: text(), ciphertext: text() };
    let approver = Approver {
        name: "ada".to_owned(),
        key: ApproverKey([1; 32]),
        sealed,
        recovery: None,
        enrolled_at: Timestamp::UNIX_EPOCH,
        passkeys: Vec::new(),
    };
    let policy = ApprovalPolicy::requiring(Require::Separate);
    let events = [ApprovalEvent::PolicySet { policy, with_defaults: false }, ApprovalEvent::ApproverAdded { approver }];
    world.with_engine(async |engine| {
        let mut all = Vec::new();
        for event in events {
            let state = ApprovalState::replay(&all).unwrap();
            let sealed = state.seal(Timestamp::UNIX_EPOCH, Actor::person("ada", "cli"), event, None).unwrap();
            assert!(engine.ledger().add_approval_record(&sealed).await.unwrap());
            all.push(sealed);
        }
    });
}

#[test]
fn the_first_command_after_an_upgrade_says_what_is_asked_for_now() {
    let world = World::new();
    of_an_earlier_version(&world);
    let told =
        "planwright: this version asks for a passphrase or a passkey (`verified`) in sessions of `mcp` and `acp`";
    let back = "`planwright approver policy --channel mcp --require separate` goes back";
    let first = world.run("approver list").done();
    assert!(first.stderr.contains(told) && first.stderr.contains(back), "{}", first.stderr);
    let second = world.run("approver list").done();
    assert!(!second.stderr.contains(told), "{}", second.stderr);
    let verified = world.run("verify").done().stdout;
    assert!(verified.contains("`mcp` and `acp`"), "a change that a person has not seen: {verified}");
    let rules = &world.json("approver policy")["rules"];
    let asked: Vec<_> =
        ["mcp", "acp"].map(|channel| serde_json::json!({ "channel": channel, "require": "verified" })).into();
    assert_eq!(*rules, serde_json::Value::from(asked));
}

#[test]
fn doctor_asks_again_while_no_approver_is_enrolled() {
    let says = |world: &World| checks(&doctor(world, &[])).contains_key("approvers");
    let world = World::new();
    world.run("plan on --session cli:first-session").done();
    assert!(says(&world));
    let world = World::new();
    of_an_earlier_version(&world);
    world.run("approver list").done();
    assert!(!says(&world));
}
