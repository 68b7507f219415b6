use rusqlite::Connection;

use crate::world::{PLAN, SESSION, World, ran};

#[test]
fn a_whole_store_is_whole() {
    let world = World::with_plan();
    world.run("verify").done().says("Every journal is whole: 1 of 1 session checked, 4 entries");
    let report = world.json("verify");
    assert_eq!(report["whole"], true);
    assert_eq!((&report["checked"], &report["total"]), (&1.into(), &1.into()));
    assert_eq!(report["sessions"][0]["damage"], serde_json::Value::Null);
}

#[test]
fn a_store_that_is_not_there_is_not_called_whole() {
    World::new().run("verify").exits(4).complains("There is no store");
}

#[test]
fn the_first_damaged_entry_of_each_session_is_named() {
    let world = World::with_plan();
    world.agent_drafts("web:session-two", PLAN);
    let store = Connection::open(world.store()).unwrap();
    let changed = store
        .execute("UPDATE journal SET body = replace(body, 'drop the', 'keep the') WHERE body LIKE '%session-one%content_set%'", [])
        .unwrap();
    assert_eq!(changed, 1);
    world
        .run("verify")
        .exits(7)
        .says("damaged: mcp:session-one")
        .says("entry 4 does not match its hash")
        .says("2 of 2 sessions checked, 1 whole");
    let report = world.run("verify --json").exits(7).json();
    assert_eq!(report["whole"], false);
}

#[test]
fn a_damaged_plan_is_named_and_hides_no_other() {
    let world = World::with_plan();
    world.run("plan off").done();
    world.agent_drafts(SESSION, "# Another one\n");
    let store = Connection::open(world.store()).unwrap();
    assert_eq!(store.execute("UPDATE plan SET body = '{', status = 'ODD' WHERE number = 1", []).unwrap(), 1);
    world.run("plan list").done().says("Another one").says("damaged: plan 1");
    assert_eq!(world.json("plan list")["damaged"].as_array().unwrap().len(), 1);
    world.run("plan show 1").exits(7).complains("is damaged").complains("planwright verify");
    world.run("plan show 2").done().says("Another one");
    world.run("verify").exits(7).says("plan 1 of mcp:session-one");
}

#[test]
fn a_newer_store_is_left_alone() {
    let world = World::with_plan();
    let store = Connection::open(world.store()).unwrap();
    store.pragma_update(None, "user_version", 9999).unwrap();
    drop(store);
    world.run("plan list").exits(6).complains("newer Planwright");
    let error = world.run("plan list --json").exits(6).error_json();
    assert_eq!(error["code"], "UNAVAILABLE");
}

#[test]
fn a_file_that_is_no_store() {
    let world = World::new();
    world.write("planwright.db", &"not a database ".repeat(1000));
    let ran = world.run("plan list");
    assert!([6, 7].contains(&ran.code), "{ran:?}");
    assert!(ran.stderr.starts_with("error: "), "{ran:?}");
}

#[test]
fn verify_does_not_send_people_to_verify() {
    let world = World::with_plan();
    world.with_engine(async |_| ());
    let bytes = std::fs::read(world.store()).unwrap();
    std::fs::write(world.store(), [&bytes[..100], &vec![0xa5; bytes.len() - 100]].concat()).unwrap();
    let verified = world.run("verify").exits(7);
    assert!(!verified.stderr.contains("planwright verify"), "{}", verified.stderr);
    world.run("plan list").exits(7).complains("hint: planwright verify\n").never_complains("tells more");
}

#[test]
fn an_empty_file_is_not_taken_for_an_empty_store() {
    let world = World::new();
    world.write("planwright.db", "");
    for line in ["verify", "sessions", "plan list", "plan show", "plan status", "plan approve 1", "plan off"] {
        world.run(line).exits(7).complains("planwright.db is empty: it was cut off, or never written.");
        assert_eq!(std::fs::metadata(world.store()).unwrap().len(), 0, "{line}");
    }
    assert_eq!(world.run("verify --json").exits(7).error_json()["code"], "INTERNAL");
    world.run("plan on").done();
    world.run("verify").done();
}

#[test]
fn a_plan_whose_journal_cannot_be_read_is_shown_all_the_same() {
    let world = World::with_plan();
    world.run("plan show").done().says("drafted ");
    let store = Connection::open(world.store()).unwrap();
    assert_eq!(store.execute("UPDATE journal SET body = '{' WHERE body LIKE '%plan_created%'", []).unwrap(), 1);
    // The entry that made the current version is whole, so its author is known.
    world.run("plan show").done().says("copy the rows").says("drafted ");
    world.run("plan approve").exits(2).says("copy the rows");
    // The whole entries are listed, and the damaged one is named beside them.
    world.run("plan history").exits(7).says("damaged: journal entry ");
    let history = world.run("plan history --json").exits(7).json();
    assert_eq!(history["damaged"].as_array().unwrap().len(), 1);
    let items: Vec<_> = history["items"].as_array().unwrap().iter().map(|item| &item["type"]).collect();
    assert!(items.iter().any(|kind| *kind == "content_set"), "{history}");
}

#[test]
fn a_single_session_that_cannot_be_read_is_not_called_several() {
    let world = World::with_plan();
    let store = Connection::open(world.store()).unwrap();
    assert_eq!(store.execute("UPDATE journal SET body = '{' WHERE body LIKE '%content_set%'", []).unwrap(), 1);
    world.run("plan show").exits(7).complains("session-one").complains("hint: planwright verify\n");
}

/// What a person wrote is looked for everywhere: in the tables, and in the pages of a file that a deletion left free.
#[test]
fn a_text_that_was_deleted_is_absent_everywhere() {
    let world = World::with_plan();
    world.agent_drafts("web:session-two", "# Paint the zebra-crossing\n");
    let found = world.run("verify --absent zebra-crossing").exits(4).says("table journal: 1 row");
    found.says("table plan: 1 row").says("planwright.db");
    world.run("sessions delete web:session-two --yes").done();
    let left = world.run("verify --absent zebra-crossing --json").json();
    assert_eq!(left["tables"], serde_json::json!({}), "{left}");

    // A store that is made of an archive has no free pages.
    let archive = world.path("kept.tar");
    ran(world.command().arg("backup").arg(&archive)).done();
    let other = World::new();
    ran(other.command().arg("restore").arg(&archive)).done().says("Added: 1 session");
    other.run("verify --absent zebra-crossing").done().says("stands in no table and in no file");
    ran(other.command().args(["verify", "--absent", "drop the"])).exits(4).says("table journal");
    let read = other.run_with_input("verify --absent - --json", "zebra-crossing\n").done().json();
    assert_eq!(read["absent"], true);
    other.run("verify --absent abc").exits(2).complains("4 characters or more");
}
