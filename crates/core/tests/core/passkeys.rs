//! Passkeys: what a browser reports when it makes one, and what the passkey signs.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use p256::ecdsa::signature::Signer as _;
use planwright_core::approval::record::{ApprovalEvent, RecordDamage};
use planwright_core::approval::{ApprovalPolicy, Approvers, Passkey, PasskeyAssertion, PasskeyKey, Require, challenge};
use planwright_core::plan::{ApprovalSignature, Plan, PlanStatus};
use planwright_core::refusal::RefusalCode;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::approvers::{approve_signed, approver, records, to_sign, verified};
use crate::world::*;

const USER_PRESENT: u8 = 1;
const NEW_KEY: u8 = 0x40;

fn secret() -> p256::ecdsa::SigningKey {
    p256::ecdsa::SigningKey::from_slice(&[7; 32]).unwrap()
}

fn base64url(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

fn passkey() -> Passkey {
    let point = secret().verifying_key().to_sec1_point(false);
    Passkey {
        id: base64url(b"credential"),
        label: "laptop".to_owned(),
        relying_party: "localhost".to_owned(),
        origin: Some("http://localhost:7717".to_owned()),
        counter: 1,
        key: PasskeyKey::Es256(hex::encode(point.as_bytes())),
        added_at: Timestamp::UNIX_EPOCH,
    }
}

fn authenticator_data(host: &str, flags: u8, counter: u8) -> Vec<u8> {
    [&Sha256::digest(host.as_bytes())[..], &[flags, 0, 0, 0, counter]].concat()
}

/// What an authenticator answers. The cases change one thing each.
struct Answer {
    kind: &'static str,
    origin: &'static str,
    host: &'static str,
    flags: u8,
    counter: u8,
    cross_origin: bool,
}

const GOOD: Answer = Answer {
    kind: "webauthn.get",
    origin: "http://localhost:7717",
    host: "localhost",
    flags: USER_PRESENT,
    counter: 2,
    cross_origin: false,
};

fn signed(plan: &Plan, answer: &Answer) -> ApprovalSignature {
    let (message, unsigned) = to_sign(plan, "ada", "a nonce", None);
    let client_data = json!({ "type": answer.kind, "challenge": challenge(&message), "origin": answer.origin,
        "crossOrigin": answer.cross_origin })
    .to_string();
    let data = authenticator_data(answer.host, answer.flags, answer.counter);
    let over = [data.as_slice(), &Sha256::digest(client_data.as_bytes())].concat();
    let signature: p256::ecdsa::Signature = secret().sign(&over);
    let assertion = PasskeyAssertion { credential: passkey().id, client_data, authenticator_data: hex::encode(data) };
    ApprovalSignature { signature: hex::encode(signature.to_der().as_bytes()), passkey: Some(assertion), ..unsigned }
}

fn world() -> World {
    let mut world = World::ready_document(TWO_STEPS);
    world.policy.approval = ApprovalPolicy::requiring(Require::Verified);
    let mut ada = approver("ada", 1);
    ada.passkeys.push(passkey());
    world.policy.approvers = Approvers(vec![ada, approver("bob", 2)]);
    world
}

#[test]
fn a_passkey_approves_and_the_plan_runs() {
    let mut world = world();
    let signature = signed(world.active(), &GOOD);
    assert_eq!(signature.with(), "passkey");
    approve_signed(&mut world, verified("ada"), signature).unwrap();
    world.start().unwrap();
    assert_eq!(world.active().status, PlanStatus::Executing);
}

/// Also under a weaker policy: the person counts as verified only because of the signature.
#[test]
fn anything_but_the_answer_of_an_enrolled_passkey_is_refused() {
    for require in Require::ALL {
        let mut world = world();
        world.policy.approval = ApprovalPolicy::requiring(require);
        let plan = world.active().clone();
        let good = || signed(&plan, &GOOD);
        let changed = |change: fn(&mut PasskeyAssertion)| {
            let mut signature = signed(&plan, &GOOD);
            change(signature.passkey.as_mut().unwrap());
            signature
        };
        let other_plan = Plan { title: Some("other".to_owned()), ..plan.clone() };
        let cases = [
            signed(&plan, &Answer { kind: "webauthn.create", ..GOOD }),
            signed(&plan, &Answer { origin: "http://evil.example", ..GOOD }),
            signed(&plan, &Answer { origin: "http://localhost:7718", ..GOOD }),
            signed(&plan, &Answer { origin: "https://localhost:7717", ..GOOD }),
            signed(&plan, &Answer { origin: "http://localhost", ..GOOD }),
            signed(&plan, &Answer { origin: "http://app.localhost:7717", ..GOOD }),
            signed(&plan, &Answer { origin: "https://localhost.evil.example", ..GOOD }),
            signed(&plan, &Answer { host: "evil.example", ..GOOD }),
            signed(&plan, &Answer { flags: 0, ..GOOD }),
            signed(&plan, &Answer { cross_origin: true, ..GOOD }),
            signed(&other_plan, &GOOD),
            changed(|answer| answer.credential = base64url(b"another")),
            changed(|answer| answer.client_data.push(' ')),
            changed(|answer| answer.authenticator_data.push_str("00")),
            ApprovalSignature { nonce: "another".to_owned(), ..good() },
            ApprovalSignature { signature: "00".to_owned(), ..good() },
            ApprovalSignature { passkey: None, ..good() },
        ];
        for signature in cases {
            let refusal = approve_signed(&mut world, verified("ada"), signature.clone());
            refused(refusal, RefusalCode::PolicyDenied, "does not fit");
            assert_eq!(world.active().status, PlanStatus::Ready, "{signature:?}");
        }
        let as_bob = ApprovalSignature { approver: "bob".to_owned(), ..good() };
        refused(approve_signed(&mut world, verified("bob"), as_bob), RefusalCode::PolicyDenied, "does not fit");
    }
}

/// A copy of a passkey counts on its own, so one of the two goes back.
#[test]
fn a_counter_that_does_not_go_on_is_refused() {
    for (kept, counted, fits) in
        [(0, 0, true), (0, 1, true), (1, 2, true), (1, 1, false), (7, 6, false), (1, 0, false), (200, 201, true)]
    {
        let mut world = world();
        world.policy.approvers.0[0].passkeys[0].counter = kept;
        let signature = signed(world.active(), &Answer { counter: counted, ..GOOD });
        let approved = approve_signed(&mut world, verified("ada"), signature);
        match fits {
            true => drop(approved.unwrap_or_else(|refusal| panic!("{kept} {counted}: {refusal}"))),
            false => drop(refused(approved, RefusalCode::PolicyDenied, "may have been copied")),
        }
    }
    let mut records = records();
    let added = ApprovalEvent::PasskeyAdded { name: "ada".to_owned(), passkey: passkey() };
    records.add(3, added, Some(("ada", 1))).unwrap();
    let used =
        |counter| ApprovalEvent::PasskeyUsed { name: "ada".to_owned(), id: passkey().id, counter, user_verified: true };
    records.add(4, used(5), None).unwrap();
    assert_eq!(records.state.approvers.named("ada").unwrap().passkeys[0].counter, 5);
}

#[test]
fn it_is_seen_whether_the_authenticator_knew_the_person() {
    let world = world();
    for (flags, expected) in [(USER_PRESENT, false), (USER_PRESENT | 4, true)] {
        let signature = signed(world.active(), &Answer { flags, ..GOOD });
        let assertion = signature.passkey.unwrap();
        assert_eq!((assertion.user_verified(), assertion.counter()), (expected, 2));
    }
}

/// Those of earlier versions have no origin.
#[test]
fn of_a_passkey_without_an_origin_the_host_is_compared() {
    let mut world = world();
    world.policy.approvers.0[0].passkeys[0].origin = None;
    let elsewhere = signed(world.active(), &Answer { origin: "http://evil.example", ..GOOD });
    refused(approve_signed(&mut world, verified("ada"), elsewhere), RefusalCode::PolicyDenied, "does not fit");
    let other_port = signed(world.active(), &Answer { origin: "http://localhost:7718", ..GOOD });
    approve_signed(&mut world, verified("ada"), other_port).unwrap();
}

#[test]
fn what_a_browser_reports_about_a_new_passkey_is_checked() {
    let id = b"credential";
    let made =
        |host: &str, flags| [authenticator_data(host, flags, 1).as_slice(), &[0; 16], &[0, 10], id, &[0xa5]].concat();
    let client = |kind: &str, origin: &str| json!({ "type": kind, "challenge": "x", "origin": origin }).to_string();
    let prefix = hex::decode("3059301306072a8648ce3d020106082a8648ce3d030107034200").unwrap();
    let point = secret().verifying_key().to_sec1_point(false);
    let exported = base64url(&[prefix.as_slice(), point.as_bytes()].concat());
    let here = client("webauthn.create", "http://localhost:7717");
    let register = |id: &[u8], client: &str, data: &[u8], key: &str| {
        Passkey::registered("laptop", &base64url(id), client, &base64url(data), key, Timestamp::UNIX_EPOCH)
    };
    let flags = USER_PRESENT | NEW_KEY;
    assert_eq!(register(id, &here, &made("localhost", flags), &exported).unwrap(), passkey());
    for (id, client_data, data, key) in [
        (&b"another"[..], here.clone(), made("localhost", flags), exported.clone()),
        (id, client("webauthn.get", "http://localhost:7717"), made("localhost", flags), exported.clone()),
        (id, client("webauthn.create", "http://192.0.2.1"), made("192.0.2.1", flags), exported.clone()),
        (id, here.clone(), made("evil.example", flags), exported.clone()),
        (id, here.clone(), made("localhost", NEW_KEY), exported.clone()),
        (id, here.clone(), made("localhost", USER_PRESENT), exported.clone()),
        (id, here.clone(), made("localhost", flags), base64url(b"no key")),
        (id, here.clone(), Vec::new(), exported.clone()),
    ] {
        let refusal = register(id, &client_data, &data, &key).unwrap_err();
        assert_eq!(refusal.code, RefusalCode::InvalidArgument, "{refusal}");
    }
}

/// An approver enrols passkeys only under their own name: with one under another name they would count as two people.
#[test]
fn an_approver_signs_for_their_own_passkeys() {
    let added = |name: &str| ApprovalEvent::PasskeyAdded { name: name.to_owned(), passkey: passkey() };
    let removed = || ApprovalEvent::PasskeyRemoved { name: "bob".to_owned(), id: passkey().id };
    let mut records = records();
    records.add(3, ApprovalEvent::ApproverAdded { approver: approver("bob", 2) }, Some(("ada", 1))).unwrap();
    for by in [None, Some(("ada", 1)), Some(("bob", 9))] {
        assert_eq!(records.add(4, added("bob"), by), Err(RecordDamage::Unsigned { seq: 4 }), "{by:?}");
    }
    records.add(4, added("bob"), Some(("bob", 2))).unwrap();
    assert_eq!(records.state.approvers.named("bob").unwrap().passkeys, [passkey()]);
    assert_eq!(records.add(5, removed(), None), Err(RecordDamage::Unsigned { seq: 5 }));
    records.add(5, removed(), Some(("ada", 1))).unwrap();
    assert!(records.state.approvers.named("bob").unwrap().passkeys.is_empty());
    assert_eq!(records.state.enrolled_ever.named("bob").unwrap().passkeys, [passkey()], "for `verify`");
}
