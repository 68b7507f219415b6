use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;

use planwright_core::actor::Actor;
use planwright_core::policy::Policy;
use planwright_engine::Engine;
use planwright_engine::ledger::Ledger;
use planwright_store::open_store;
use planwright_test_support::stores::Store;
use tempfile::TempDir;

use super::*;

/// A server with a data folder of its own.
struct Server {
    data: TempDir,
    folder: SessionFolder,
    sharing: Arc<FileSharing>,
    session: SessionIdentity,
}

struct World {
    store: Store,
    ledger: Arc<dyn Ledger>,
    session: SessionIdentity,
}

impl World {
    async fn new() -> Self {
        let store = Store::sqlite();
        let ledger = store.ledger().await;
        let session: SessionIdentity = "web:k3yk3y8x".parse().unwrap();
        let engine = Engine::new(ledger.clone(), Policy::default());
        engine.sessions().open(&session, &Actor::system("test")).await.unwrap();
        Self { store, ledger, session }
    }

    async fn server(&self) -> Server {
        let (store, data) = (open_store(&self.store.location()).await.unwrap(), tempfile::tempdir().unwrap());
        let folder = SessionFolder::new(data.path().to_owned(), &self.session);
        let sharing = Arc::new(FileSharing::new(store.folders, store.pieces));
        Server { data, folder, sharing, session: self.session.clone() }
    }
}

impl Server {
    fn at(&self, path: &str) -> PathBuf {
        self.data.path().join(self.session.folder_name()).join(path)
    }

    fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        fs::write(self.at(path), content).unwrap();
    }

    fn read(&self, path: &str) -> Option<String> {
        fs::read(self.at(path)).ok().map(|bytes| String::from_utf8(bytes).unwrap())
    }

    async fn fetch(&self) -> FolderVersion {
        self.sharing.fetch(&self.session, &self.folder).await.unwrap()
    }

    async fn publish(&self, lease: Option<&str>) {
        let limits = FileLimits::default();
        self.sharing.publish(&self.session, &self.folder, lease.map(str::to_owned), &limits).await.unwrap();
    }

    async fn claim(&self, found: FolderVersion, lease: &str) -> ClaimOutcome {
        self.sharing.claim(&self.session, &self.folder, found, lease.to_owned()).await.unwrap()
    }

    /// What was put aside, by path.
    fn aside(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        let Ok(times) = fs::read_dir(self.at("aside")) else { return found };
        for time in times {
            let files = time.unwrap().path().join("files");
            for entry in fs::read_dir(files).unwrap() {
                let path = entry.unwrap().path();
                let name = path.file_name().unwrap().to_str().unwrap().to_owned();
                found.push((name, fs::read_to_string(path).unwrap()));
            }
        }
        found.sort();
        found
    }
}

#[tokio::test]
async fn what_one_server_shares_another_has() {
    let world = World::new().await;
    let (here, there) = (world.server().await, world.server().await);
    assert_eq!(there.fetch().await, FolderVersion::default(), "nothing is shared");
    assert!(!there.at("").exists(), "nothing is made for a session without files");
    let large: String = (0..400_000).map(|number| format!("{number}\n")).collect();
    for (path, content) in
        [("files/a", "a"), ("files/sub/run", "#!/bin/sh"), ("kept/ab/cd", "old"), ("outputs/1.txt", "")]
    {
        here.write(path, content);
    }
    here.write("files/large", &large);
    here.write("plan/task_plan.md", "written from the ledger on each server");
    fs::set_permissions(here.at("files/sub/run"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("../a", here.at("files/sub/link")).unwrap();
    here.publish(None).await;
    let first = there.fetch().await;
    assert_eq!(first.number, 1);
    for path in ["files/a", "files/sub/run", "kept/ab/cd", "outputs/1.txt", "files/large"] {
        assert_eq!(there.read(path), here.read(path), "{path}");
    }
    assert_eq!(there.read("plan/task_plan.md"), None);
    assert_eq!(fs::metadata(there.at("files/sub/run")).unwrap().permissions().mode() & 0o777, 0o755);
    assert_eq!(fs::read_link(there.at("files/sub/link")).unwrap(), PathBuf::from("../a"));

    // The other way round: changed, removed and made.
    there.write("files/a", "changed");
    fs::remove_dir_all(there.at("files/sub")).unwrap();
    there.write("files/new", "new");
    there.publish(None).await;
    there.publish(None).await;
    assert_eq!(here.fetch().await.number, 2, "nothing changed since");
    assert_eq!((here.read("files/a").as_deref(), here.read("files/new").as_deref()), (Some("changed"), Some("new")));
    assert!(!here.at("files/sub").exists());
    assert!(here.aside().is_empty());
}

#[tokio::test]
async fn what_is_under_way_stays_beside_what_others_add() {
    let world = World::new().await;
    let (here, there) = (world.server().await, world.server().await);
    here.write("files/a", "a");
    here.publish(None).await;
    there.fetch().await;
    // A call is under way here, and a person sends a file to the other server.
    here.write("files/a", "under way");
    there.write("files/received", "sent");
    there.publish(None).await;
    here.fetch().await;
    assert_eq!(here.read("files/a").as_deref(), Some("under way"));
    assert_eq!(here.read("files/received").as_deref(), Some("sent"));
    here.publish(None).await;
    there.fetch().await;
    assert_eq!(there.read("files/a").as_deref(), Some("under way"));
    assert_eq!((here.aside(), there.aside()), (vec![], vec![]));

    // Both change the same file: what was shared first counts, and the other is kept.
    here.write("files/a", "mine");
    there.write("files/a", "theirs");
    there.publish(None).await;
    here.publish(None).await;
    assert_eq!(here.read("files/a").as_deref(), Some("theirs"));
    assert_eq!(here.aside(), [("a".to_owned(), "mine".to_owned())]);
}

#[tokio::test]
async fn a_server_that_was_taken_over_shares_nothing_any_more() {
    let world = World::new().await;
    let (before, after) = (world.server().await, world.server().await);
    let found = before.fetch().await;
    assert_eq!(before.claim(found, "before 1").await, ClaimOutcome::Claimed);
    before.write("files/a", "recorded");
    before.publish(Some("before 1")).await;
    // It freezes in the middle of the next call.
    before.write("files/a", "half");
    before.write("files/b", "half");
    let (late, found) = (before.fetch().await, after.fetch().await);
    assert_eq!(after.claim(found, "after 2").await, ClaimOutcome::Claimed);
    assert_eq!(after.read("files/a").as_deref(), Some("recorded"));
    after.write("files/b", "done again");
    after.publish(Some("after 2")).await;

    before.publish(Some("before 1")).await;
    assert_eq!(before.claim(late, "before 1").await, ClaimOutcome::Changed);
    for server in [&before, &after] {
        server.fetch().await;
        assert_eq!(server.read("files/a").as_deref(), Some("recorded"));
        assert_eq!(server.read("files/b").as_deref(), Some("done again"));
    }
    let half = |name: &str| (name.to_owned(), "half".to_owned());
    assert_eq!((before.aside(), after.aside()), (vec![half("a"), half("b")], vec![]));
}

#[tokio::test]
async fn damage_is_named_and_hides_nothing_else() {
    let world = World::new().await;
    let (here, there) = (world.server().await, world.server().await);
    here.write("files/damaged", "soon gone");
    here.write("files/missing", "soon missing");
    here.write("files/whole", "whole");
    here.publish(None).await;
    assert!(here.sharing.check(&world.session).await.unwrap().is_empty());
    let [damaged, missing] = ["soon gone", "soon missing"].map(|text| ContentHash::of(text.as_bytes()));
    world.store.tamper(&format!("UPDATE file_piece SET content = X'00' WHERE hash = '{damaged}'")).await;
    world.store.tamper(&format!("DELETE FROM file_piece WHERE hash = '{missing}'")).await;
    let named: Vec<_> = here.sharing.check(&world.session).await.unwrap().into_iter().map(|row| row.what).collect();
    assert_eq!(named, ["damaged", "missing"].map(|name| format!("the shared file files/{name} of web:k3yk3y8x")));
    there.fetch().await;
    assert_eq!(there.read("files/whole").as_deref(), Some("whole"));
    assert_eq!((there.read("files/damaged"), there.read("files/missing")), (None, None));
    // What could not be had is not taken for removed.
    there.write("files/new", "new");
    there.publish(None).await;
    here.fetch().await;
    assert_eq!(here.read("files/damaged").as_deref(), Some("soon gone"));
    assert_eq!(here.read("files/new").as_deref(), Some("new"));
}

#[tokio::test]
async fn pieces_that_nothing_names_are_removed_after_a_while() {
    let world = World::new().await;
    let here = world.server().await;
    let count = async || world.store.look("SELECT CAST(count(*) AS text) FROM file_piece").await;
    here.write("files/a", "one");
    here.write("files/b", "stays");
    here.publish(None).await;
    here.write("files/a", "two");
    here.publish(None).await;
    assert_eq!(here.sharing.remove_unused(world.ledger.as_ref()).await.unwrap(), 0, "it may be about to be named");
    assert_eq!(count().await, "3");
    world.store.tamper("UPDATE file_piece SET stored_at = 0").await;
    assert_eq!(here.sharing.remove_unused(world.ledger.as_ref()).await.unwrap(), 1);
    assert_eq!(count().await, "2");
    assert!(here.sharing.check(&world.session).await.unwrap().is_empty());
    // What a session had goes with it.
    let lease = world.ledger.acquire_lease(&world.session, "deleting", Duration::from_secs(60)).await.unwrap().unwrap();
    world.ledger.delete_session(&lease).await.unwrap();
    here.sharing.remove(&world.session).await.unwrap();
    assert_eq!(count().await, "0");
}

#[tokio::test]
async fn a_folder_that_is_too_large_stays_where_it_is() {
    let world = World::new().await;
    let (here, there) = (world.server().await, world.server().await);
    here.write("files/a", "a");
    here.publish(None).await;
    let limits = FileLimits { session_bytes: 0, kept_bytes: 0, ..FileLimits::default() };
    let file = fs::File::create(here.at("files/large")).unwrap();
    file.set_len(OUTPUT_BYTES + 1).unwrap();
    let refused = here.sharing.publish(&here.session, &here.folder, None, &limits).await.unwrap_err();
    assert_eq!(refused.code, RefusalCode::LimitExceeded);
    there.fetch().await;
    assert_eq!((there.read("files/a").as_deref(), there.read("files/large")), (Some("a"), None));
}
