//! Signatures of approvers, the journal of their enrolment, and approvals that end.

use ed25519_dalek::{Signer as _, SigningKey};
use jiff::{SignedDuration, Timestamp};
use planwright_core::actor::Actor;
use planwright_core::approval::record::{ApprovalEvent, ApprovalState, RecordDamage, RecordSignature, SealedRecord};
use planwright_core::approval::{ApprovalPolicy, Approver, ApproverKey, Approvers, Require, SealedKey};
use planwright_core::command::{Command, Decision};
use planwright_core::plan::approval::{ApprovalSignature, Selection, SignedApproval};
use planwright_core::plan::{Plan, PlanStatus};
use planwright_core::presence::Presence;
use planwright_core::refusal::RefusalCode;

use crate::world::*;

pub(crate) fn key(n: u8) -> SigningKey {
    SigningKey::from_bytes(&[n; 32])
}

pub(crate) fn approver(name: &str, n: u8) -> Approver {
    let sealed = SealedKey {
        memory_kib: 1,
        iterations: 1,
        salt: String::new(),
        nonce: String::new(),
        ciphertext: String::new(),
    };
    let key = ApproverKey(key(n).verifying_key().to_bytes());
    let enrolled_at = Timestamp::UNIX_EPOCH;
    Approver { name: name.to_owned(), key, sealed, recovery: None, enrolled_at, passkeys: Vec::new() }
}

/// A document that waits, where the policy asks for a signature and `ada` is an approver.
fn world() -> World {
    let mut world = World::ready_document(TWO_STEPS);
    world.policy.approval = ApprovalPolicy::requiring(Require::Verified);
    world.policy.approvers = Approvers(vec![approver("ada", 1)]);
    world
}

/// What the approver signs, and the signature without it.
pub(crate) fn to_sign(
    plan: &Plan,
    by: &str,
    nonce: &str,
    valid_until: Option<Timestamp>,
) -> (Vec<u8>, ApprovalSignature) {
    let approved: Vec<_> = plan.content.steps().into_iter().map(|step| step.id).collect();
    let digest = plan.digest();
    let signed = SignedApproval {
        session: &plan.session,
        plan: &plan.id,
        digest: &digest,
        approved: &approved,
        note: None,
        step_by_step: false,
        approver: by,
        seq: 3,
        valid_until,
        nonce,
    };
    let (approver, nonce, signature) = (by.to_owned(), nonce.to_owned(), String::new());
    (signed.message(), ApprovalSignature { approver, seq: 3, valid_until, nonce, signature, passkey: None })
}

pub(crate) fn signature(plan: &Plan, by: &str, n: u8, valid_until: Option<Timestamp>) -> ApprovalSignature {
    let (message, unsigned) = to_sign(plan, by, &format!("nonce-of-{by}"), valid_until);
    ApprovalSignature { signature: hex::encode(key(n).sign(&message).to_bytes()), ..unsigned }
}

pub(crate) fn verified(name: &str) -> Actor {
    Actor::person(name, "cli").recognised(Presence::verified(name))
}

pub(crate) fn approve_signed(world: &mut World, by: Actor, signature: ApprovalSignature) -> Decided {
    let Command::Decide(decision) = approve(world.active(), Selection::All) else { unreachable!() };
    world.send(by, Command::Decide(Decision::Signed { decision: Box::new(decision), signature }))
}

#[test]
fn an_approver_approves_and_the_plan_runs() {
    let mut world = world();
    let signature = signature(world.active(), "ada", 1, None);
    approve_signed(&mut world, verified("ada"), signature).unwrap();
    assert_eq!(world.active().approval.as_ref().unwrap().required, Some(Require::Verified));
    world.start().unwrap();
    assert_eq!(world.active().status, PlanStatus::Executing);
}

#[test]
fn anything_but_the_signature_of_an_approver_on_this_plan_is_refused() {
    let world = world();
    let plan = world.active();
    let good = signature(plan, "ada", 1, None);
    let other_session = Plan { session: "cli:another8x".parse().unwrap(), ..plan.clone() };
    let other_text = Plan { title: Some("other".to_owned()), ..plan.clone() };
    for (by, signature, text) in [
        (verified("ada"), signature(plan, "ada", 2, None), "does not fit"),
        (verified("mallory"), signature(plan, "mallory", 2, None), "not an approver"),
        (verified("mallory"), good.clone(), "another person"),
        (verified("ada"), signature(&other_session, "ada", 1, None), "does not fit"),
        (verified("ada"), signature(&other_text, "ada", 1, None), "does not fit"),
        (verified("ada"), ApprovalSignature { nonce: "4567".to_owned(), ..good.clone() }, "does not fit"),
        (verified("ada"), ApprovalSignature { seq: 4, ..good.clone() }, "does not fit"),
        (verified("ada"), signature(plan, "ada", 1, Some(Timestamp::UNIX_EPOCH)), "expired"),
    ] {
        let mut world = world.clone();
        refused(approve_signed(&mut world, by, signature), RefusalCode::PolicyDenied, text);
        assert_eq!(world.active().status, PlanStatus::Ready);
    }
    let mut world = world;
    let unsigned = approve(world.active(), Selection::All);
    refused(world.send(verified("ada"), unsigned.clone()), RefusalCode::PolicyDenied, "no approver signed");
    refused(world.person(unsigned), RefusalCode::PolicyDenied, "passphrase");
}

/// What is stored is checked again when the work begins.
#[test]
fn an_approval_that_was_altered_afterwards_runs_nothing() {
    let mut world = world();
    let good = signature(world.active(), "ada", 1, None);
    approve_signed(&mut world, verified("ada"), good).unwrap();
    let check = |plan: &Plan, approvers: &Approvers| {
        plan.check_approved(&world.policy.approval, approvers, Timestamp::UNIX_EPOCH).map_err(|refusal| refusal.message)
    };
    let plan = world.active();
    assert_eq!(check(plan, &world.policy.approvers), Ok(()));
    let altered = |change: fn(&mut planwright_core::plan::Approval)| {
        let mut approval = plan.approval.as_deref().unwrap().clone();
        change(&mut approval);
        Plan { approval: Some(approval.into()), ..plan.clone() }
    };
    let cases = [
        (altered(|approval| approval.note = Some("faster".to_owned())), "does not fit"),
        (altered(|approval| drop(approval.approved.pop())), "does not fit"),
        (altered(|approval| approval.valid_until = Some(Timestamp::MAX)), "does not fit"),
        (altered(|approval| approval.signatures.clear()), "no approver signed"),
        (Plan { approval: None, ..plan.clone() }, "no approver signed"),
        (Plan { title: Some("other".to_owned()), ..plan.clone() }, "not the text"),
    ];
    for (plan, text) in cases {
        let message = check(&plan, &world.policy.approvers).unwrap_err();
        assert!(message.contains(text), "{message}");
    }
    let removed = check(plan, &Approvers::default()).unwrap_err();
    assert!(removed.contains("not an approver"), "{removed}");
}

#[test]
fn an_approval_ends() {
    let mut world = World::ready_document(TWO_STEPS);
    world.policy.approval.valid_for = Some(2);
    world.approve(Selection::All).unwrap();
    let until = world.active().approval.as_ref().unwrap().valid_until.unwrap();
    let later = until + SignedDuration::from_secs(1);
    let refusal = world.active().check_approved(&world.policy.approval, &Approvers::default(), later).unwrap_err();
    assert!(refusal.message.contains("expired"), "{refusal}");
    // Each command takes a second.
    world.person(off()).unwrap();
    world.person(off()).unwrap();
    world.person(on(planwright_core::plan::PlanStyle::Document)).unwrap();
    let plan = world.statuses().len();
    assert!(plan > 0);
    let approved = world.snapshot.plans.values().find(|plan| plan.status == PlanStatus::Approved).unwrap().id.clone();
    refused(
        world.person(Command::Decide(Decision::Resume { plan: approved, after_step: None })),
        RefusalCode::PolicyDenied,
        "expired",
    );
}

#[derive(Default)]
pub(crate) struct Records {
    pub(crate) state: ApprovalState,
    pub(crate) all: Vec<SealedRecord>,
}

impl Records {
    pub(crate) fn add(&mut self, at: i64, event: ApprovalEvent, by: Option<(&str, u8)>) -> Result<(), RecordDamage> {
        let signed = by.map(|(approver, n)| RecordSignature {
            approver: approver.to_owned(),
            signature: hex::encode(key(n).sign(&self.state.message(&event)).to_bytes()),
        });
        let at = Timestamp::from_second(at).unwrap();
        self.all.push(self.state.seal(at, Actor::person("ada", "cli"), event, signed)?);
        self.state = ApprovalState::replay(&self.all)?;
        Ok(())
    }
}

pub(crate) fn records() -> Records {
    let mut records = Records { state: ApprovalState::default(), all: Vec::new() };
    let policy = ApprovalPolicy::requiring(Require::Verified);
    records.add(1, ApprovalEvent::PolicySet { policy, with_defaults: true }, None).unwrap();
    records.add(2, ApprovalEvent::ApproverAdded { approver: approver("ada", 1) }, None).unwrap();
    records
}

#[test]
fn an_approver_signs_every_change_of_the_enrolment() {
    let weaker = || ApprovalEvent::PolicySet { policy: ApprovalPolicy::requiring(Require::Any), with_defaults: true };
    let added = || ApprovalEvent::ApproverAdded { approver: approver("bob", 2) };
    let gone = || ApprovalEvent::ApproverRemoved { name: "ada".to_owned() };
    for event in [weaker(), added(), gone()] {
        for by in [None, Some(("ada", 9)), Some(("bob", 2))] {
            let refused = records().add(3, event.clone(), by);
            assert_eq!(refused, Err(RecordDamage::Unsigned { seq: 3 }), "{event:?} by {by:?}");
        }
    }
    let mut records = records();
    records.add(3, added(), Some(("ada", 1))).unwrap();
    records.add(4, gone(), Some(("bob", 2))).unwrap();
    assert_eq!(records.state.approvers.names(), ["bob"]);
    assert_eq!(records.state.enrolled_ever.names(), ["ada", "bob"]);
    assert!(records.add(5, weaker(), Some(("ada", 1))).is_err(), "a removed approver");
    records.add(5, weaker(), Some(("bob", 2))).unwrap();
}

/// A link signs one browser in, once and for a short time.
#[test]
fn a_browser_is_signed_in_with_a_link_once() {
    let at = |second| Timestamp::from_second(second).unwrap();
    let link = |link: &str, ends| ApprovalEvent::SignInLinkMade { link: link.to_owned(), ends: at(ends) };
    let used = |link: &str, browser: &str| ApprovalEvent::BrowserSignedIn {
        link: link.to_owned(),
        browser: browser.to_owned(),
        ends: at(1000),
    };
    let mut records = records();
    assert_eq!(records.add(3, used("none", "b"), None), Err(RecordDamage::NoLink { seq: 3 }));
    records.add(3, link("one", 100), None).unwrap();
    records.add(4, link("two", 100), None).unwrap();
    records.add(5, used("one", "b"), None).unwrap();
    assert!(records.state.is_signed_in("b", at(999)) && !records.state.is_signed_in("b", at(1000)));
    assert_eq!(records.add(6, used("one", "c"), None), Err(RecordDamage::NoLink { seq: 6 }), "it was used");
    assert_eq!(records.add(100, used("two", "c"), None), Err(RecordDamage::NoLink { seq: 6 }), "it has ended");
    records.add(101, ApprovalEvent::BrowserSignedOut { browser: "b".to_owned() }, None).unwrap();
    assert!(!records.state.is_signed_in("b", at(102)));
}

#[test]
fn a_changed_record_is_found() {
    let records = records();
    let mut changed = records.all.clone();
    changed[1].body = changed[1].body.replace("ada", "eve");
    assert_eq!(ApprovalState::replay(&changed), Err(RecordDamage::Changed { seq: 2 }));
    assert_eq!(ApprovalState::replay(&records.all[1..]), Err(RecordDamage::Gap { expected: 1, found: 2 }));
}

#[test]
fn wrong_passphrases_make_their_source_wait() {
    let mut records = records();
    let failed = || ApprovalEvent::PassphraseTried { name: "ada".to_owned(), source: "token".to_owned() };
    let wait = |records: &Records| records.state.locked_until("ada", "token").map(|until| until.as_second());
    for at in [10, 11] {
        records.add(at, failed(), None).unwrap();
        assert_eq!(wait(&records), None);
    }
    for (at, until) in [(12, 16), (20, 28), (40, 56)] {
        records.add(at, failed(), None).unwrap();
        assert_eq!(wait(&records), Some(until));
    }
    for at in 100..120 {
        records.add(at, failed(), None).unwrap();
    }
    assert_eq!(wait(&records), Some(119 + 15 * 60));
    for (name, source) in [("ada", "terminal"), ("bob", "token")] {
        assert_eq!(records.state.locked_until(name, source), None, "{name} {source}");
    }
    let accepted =
        |source: &str| ApprovalEvent::PassphraseAccepted { name: "ada".to_owned(), source: Some(source.to_owned()) };
    records.add(1000, accepted("terminal"), None).unwrap();
    assert_eq!(wait(&records), Some(119 + 15 * 60), "a right one elsewhere ends no wait");
    records.add(2000, accepted("token"), None).unwrap();
    assert_eq!(wait(&records), None);
}

#[test]
fn names_that_differ_in_case_alone_are_the_same() {
    let approvers = Approvers(vec![approver("ada", 1)]);
    for (name, taken) in [("ada", true), ("Ada", true), ("ADA", true), ("adam", false)] {
        assert_eq!(approvers.is_taken(name), taken, "{name}");
    }
}
