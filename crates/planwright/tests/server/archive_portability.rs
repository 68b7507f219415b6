//! An archive does not depend on the kind of store: from SQLite to PostgreSQL and back, everything is the same.

use planwright_store::Location;
use serde_json::Value;

use crate::stores::Store;
use crate::world::{PLAN, Ran, SESSION, World, ran};

fn url(store: &Store) -> String {
    match store.location() {
        Location::Sqlite(path) => format!("sqlite:{}", path.display()),
        Location::Postgres(address) => address.url().to_owned(),
    }
}

fn at(world: &World, url: &str, line: &str) -> Ran {
    ran(world.command().env("PLANWRIGHT_DATABASE", url).args(line.split_whitespace()))
}

fn seen(world: &World, url: &str) -> Vec<Value> {
    let lines = ["plan list", "plan show 1", "plan history 1"].map(|line| format!("{line} --session {SESSION} --json"));
    let mut seen: Vec<_> = lines.iter().map(|line| at(world, url, line).done().json()).collect();
    let mut verified = at(world, url, "verify --json").done().json();
    // They come in the order in which they were written to last.
    let name = |session: &Value| session["sessionId"].as_str().unwrap().to_owned();
    verified["sessions"].as_array_mut().unwrap().sort_by_key(name);
    seen.push(verified);
    seen
}

/// What is seen after a restore: the session with an approval has one entry more, which says that it was restored.
fn restored(mut seen: Vec<Value>) -> Vec<Value> {
    let sessions = seen.last_mut().unwrap()["sessions"].as_array_mut().unwrap();
    let session = sessions.iter_mut().find(|session| session["sessionId"] == "session-one").unwrap();
    session["entries"] = (session["entries"].as_u64().unwrap() + 1).into();
    seen
}

#[tokio::test(flavor = "multi_thread")]
async fn from_one_kind_of_store_to_the_other_and_back() {
    let database = Store::postgres().await;
    let postgres = url(&database);
    tokio::task::spawn_blocking(move || {
        let world = World::with_plan();
        world.run(&format!("plan approve 1 --later --digest {}", world.digest())).done();
        world.agent_drafts("web:session-two", PLAN);
        world.run("chat --session cli:session-three hello").done();
        world.run("backup first.tar").done();
        let first = world.path("first.tar");
        let sqlite = format!("sqlite:{}", world.store().display());
        let before = seen(&world, &sqlite);

        at(&world, &postgres, &format!("restore {}", first.display())).done().says("3 sessions");
        let once = restored(before);
        assert_eq!(seen(&world, &postgres), once);
        at(&world, &postgres, &format!("restore {}", first.display()))
            .done()
            .says("Already in the store and unchanged: 3 sessions");
        at(&world, &postgres, "backup second.tar").done();
        let looked = at(&world, &postgres, "doctor").done().says("PostgreSQL");
        assert!(!looked.stdout.contains("not encrypted"), "it is reached by a socket: {}", looked.stdout);

        let other = World::new();
        ran(other.command().arg("restore").arg(world.path("second.tar"))).done();
        let back = format!("sqlite:{}", other.store().display());
        assert_eq!(seen(&other, &back), restored(once));
    })
    .await
    .unwrap();
}
