//! The hash chain: replay gives back the state, and every kind of damage is found and named.

use planwright_core::journal::{Damage, EntryHash, Head, SealedEntry};
use planwright_core::plan::approval::Selection;
use planwright_core::session::SessionIdentity;
use planwright_core::snapshot::Snapshot;

use crate::world::*;

fn history() -> World {
    let mut world = World::ready_document(TWO_STEPS);
    world.approve(Selection::All).unwrap();
    world.start().unwrap();
    world.run_step("s1");
    world
}

fn session() -> SessionIdentity {
    SESSION.parse().unwrap()
}

/// The state that a journal gives back, or the first damage in it.
pub(crate) fn replay(session: &SessionIdentity, journal: &[SealedEntry]) -> Result<(Snapshot, Head), Damage> {
    let mut snapshot = Snapshot::new(session.clone());
    let mut head = Head::START;
    for sealed in journal {
        let entry = head.check(session, sealed)?;
        snapshot.apply(&entry.event, &entry.context(), entry.seq);
    }
    Ok((snapshot, head))
}

#[track_caller]
fn check(journal: &[SealedEntry], expected: &Damage) {
    assert_eq!(&replay(&session(), journal).unwrap_err(), expected);
}

/// The entry as it would have been written after `head`, whatever it says.
fn reseal(head: &mut Head, body: &str) -> SealedEntry {
    use sha2::{Digest as _, Sha256};
    let mut hasher = Sha256::new();
    hasher.update(b"planwright-journal-v1\n");
    hasher.update(head.hash.0);
    hasher.update(body.as_bytes());
    *head = Head { seq: head.seq + 1, hash: EntryHash(hasher.finalize().into()) };
    SealedEntry { seq: head.seq, body: body.to_owned(), hash: head.hash }
}

#[test]
fn replay_gives_back_the_state() {
    let world = history();
    let (snapshot, head) = replay(&session(), &world.journal).unwrap();
    assert_eq!(snapshot, world.snapshot);
    assert_eq!(head, world.head);
    assert_eq!(head.check_end(&world.head), Ok(()));
}

#[test]
fn the_format_of_the_chain_is_fixed() {
    let world = history();
    let mut head = Head::START;
    for sealed in &world.journal {
        assert_eq!(reseal(&mut head, &sealed.body), *sealed);
    }
    let first = r#"{"session":"cli:k3yk3y8x","seq":1,"at":"1970-01-01T00:00:01Z","by":{"kind":"person","name":"ada","through":"cli"},"request":"request-0001","event":{"type":"session_opened"}}"#;
    assert_eq!(world.journal[0].body, first);
}

#[test]
fn a_changed_entry_is_named() {
    for index in 0..history().journal.len() {
        let mut journal = history().journal;
        journal[index].body =
            journal[index].body.replace("ada", "eve").replace("coder", "eve").replace("planwright", "eve");
        check(&journal, &Damage::Changed { seq: index as u64 + 1 });
        let mut journal = history().journal;
        journal[index].hash.0[31] ^= 1;
        check(&journal, &Damage::Changed { seq: index as u64 + 1 });
    }
}

#[test]
fn a_missing_or_doubled_entry_is_named() {
    let mut missing = history().journal;
    missing.remove(2);
    check(&missing, &Damage::Gap { expected: 3, found: 4 });
    let mut doubled = history().journal;
    doubled.insert(2, doubled[1].clone());
    check(&doubled, &Damage::Gap { expected: 3, found: 2 });
    let mut swapped = history().journal;
    swapped.swap(1, 2);
    check(&swapped, &Damage::Gap { expected: 2, found: 3 });
}

#[test]
fn renumbering_does_not_hide_a_missing_entry() {
    let mut journal = history().journal;
    journal.remove(2);
    for (index, sealed) in journal.iter_mut().enumerate() {
        sealed.seq = index as u64 + 1;
    }
    check(&journal, &Damage::Changed { seq: 3 });
}

#[test]
fn an_entry_that_cannot_be_read_is_named() {
    let sealed = |body: &str| [reseal(&mut Head::START.clone(), body)];
    for body in ["", "{}", "no JSON", r#"{"session":"cli:k3yk3y8x","seq":1}"#] {
        let damage = replay(&session(), &sealed(body)).unwrap_err();
        assert!(matches!(damage, Damage::Unreadable { seq: 1, .. }), "{damage}");
    }
    let unknown = history().journal[0].body.replace("session_opened", "session_burned");
    let damage = replay(&session(), &sealed(&unknown)).unwrap_err();
    assert!(matches!(damage, Damage::Unreadable { seq: 1, .. }), "{damage}");
}

#[test]
fn an_entry_of_another_place_is_named() {
    let body = history().journal[0].body.clone();
    for (moved, says) in [
        (body.replace("cli:k3yk3y8x", "web:k3yk3y8x"), "entry 1 of web:k3yk3y8x"),
        (body.replace(r#""seq":1"#, r#""seq":7"#), "entry 7 of cli:k3yk3y8x"),
    ] {
        check(&[reseal(&mut Head::START.clone(), &moved)], &Damage::Misplaced { seq: 1, says: says.to_owned() });
    }
}

#[test]
fn the_end_is_where_the_session_says_it_is() {
    let world = history();
    let recorded = world.head;
    let count = world.journal.len();
    let (_, short) = replay(&session(), &world.journal[..count - 1]).unwrap();
    assert_eq!(short.check_end(&recorded), Err(Damage::CutOff { found: recorded.seq - 1, recorded: recorded.seq }));
    assert_eq!(recorded.check_end(&short), Err(Damage::Overrun { found: recorded.seq, recorded: short.seq }));
    let mut other = recorded;
    other.hash.0[0] ^= 1;
    assert_eq!(recorded.check_end(&other), Err(Damage::Changed { seq: recorded.seq }));
    assert_eq!(Head::START.check_end(&Head::START), Ok(()));
}

#[test]
fn a_damaged_entry_does_not_move_the_head() {
    let world = history();
    let mut head = Head::START;
    head.check(&session(), &world.journal[0]).unwrap();
    let before = head;
    head.check(&session(), &world.journal[2]).unwrap_err();
    assert_eq!(head, before);
    head.check(&session(), &world.journal[1]).unwrap();
}
