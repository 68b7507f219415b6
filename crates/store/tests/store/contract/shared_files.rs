//! The promises of `FolderIndex`, `BlobStore`, `ProjectPlaceStore` and `ServerBeats`: what servers share besides the ledger.

use std::time::Duration;

use planwright_core::session::SessionIdentity;
use planwright_core::workspace::ContentHash;
use planwright_engine::project_places::ProjectPlace;
use planwright_engine::shared_files::{BlobStore, FolderVersion, SharedFile, SharedFolder, SharedItem, read_piece};
use planwright_store::{OpenedStore, open_store};

use crate::commands::*;
use crate::stores::Store;

async fn opened(store: &Store) -> OpenedStore {
    open_store(&store.location()).await.unwrap()
}

fn folder(number: u64, lease: &str, content: &str) -> SharedFolder {
    let hash = ContentHash::of(content.as_bytes());
    let file = SharedFile { hash, bytes: content.len() as u64, mode: Some(0o644), pieces: vec![] };
    let items = [("files/it's \u{1} \"ż\"".to_owned(), SharedItem::File(file))];
    let version = FolderVersion { folder: "first".to_owned(), number, lease: lease.to_owned() };
    SharedFolder { version, items: items.into() }
}

pub(crate) async fn a_list_follows_the_one_that_it_was_made_from(store: &Store) {
    let (here, there) = (opened(store).await, opened(store).await);
    let session = session("cli:k3yk3y8x");
    let nothing = FolderVersion::default();
    let first = folder(1, "one", "a");
    assert!(!here.folders.store_folder(&session, &nothing, &first).await.unwrap(), "there is no such session");
    store.engine().await.sessions().open(&session, &person()).await.unwrap();
    assert_eq!(here.folders.folder_version(&session).await.unwrap(), None);
    assert_eq!(here.folders.shared_folder(&session).await.unwrap(), None);
    assert!(here.folders.store_folder(&session, &nothing, &first).await.unwrap());
    assert!(!there.folders.store_folder(&session, &nothing, &folder(1, "two", "b")).await.unwrap());
    assert_eq!(there.folders.folder_version(&session).await.unwrap().as_ref(), Some(&first.version));
    assert_eq!(there.folders.shared_folder(&session).await.unwrap().as_ref(), Some(&first));

    // Another lease is named, and what was made from the state before is stored no more.
    let second = folder(2, "two", "b");
    assert!(there.folders.store_folder(&session, &first.version, &second).await.unwrap());
    assert!(!here.folders.store_folder(&session, &first.version, &folder(2, "one", "c")).await.unwrap());
    let zombie = FolderVersion { lease: "one".to_owned(), ..second.version.clone() };
    assert!(!here.folders.store_folder(&session, &zombie, &folder(3, "one", "c")).await.unwrap());
    let other = FolderVersion { folder: "other".to_owned(), ..second.version.clone() };
    assert!(!here.folders.store_folder(&session, &other, &folder(3, "two", "c")).await.unwrap());
    assert_eq!(here.folders.shared_folder(&session).await.unwrap(), Some(second));
}

/// The promises of one place that keeps pieces.
pub(crate) async fn pieces_are_kept_for_one_session_each(blobs: &dyn BlobStore, [one, two]: [&SessionIdentity; 2]) {
    let [a, b] = [&b"a"[..], b"\0b"].map(ContentHash::of);
    assert_eq!(blobs.get(one, &a).await.unwrap(), None);
    assert!(read_piece(blobs, one, &a).await.unwrap_err().to_string().contains("is damaged"));
    blobs.put(one, &a, b"a".to_vec()).await.unwrap();
    blobs.put(one, &a, b"a".to_vec()).await.unwrap();
    blobs.put(one, &b, b"\0b".to_vec()).await.unwrap();
    blobs.put(two, &b, b"\0b".to_vec()).await.unwrap();
    assert_eq!(read_piece(blobs, one, &b).await.unwrap(), b"\0b");
    assert_eq!(blobs.get(two, &a).await.unwrap(), None);
    let mut kept: Vec<_> = blobs.list(one).await.unwrap().into_iter().map(|blob| (blob.hash, blob.bytes)).collect();
    kept.sort_unstable();
    let mut expected = vec![(a, 1), (b, 2)];
    expected.sort_unstable();
    assert_eq!(kept, expected);
    assert!(blobs.list(one).await.unwrap().iter().all(|blob| blob.age < Duration::from_secs(3600)));
    let sessions = blobs.sessions().await.unwrap();
    assert!(sessions.len() == 2 && sessions.contains(one) && sessions.contains(two), "{sessions:?}");
    // Something else under the name is found.
    blobs.put(two, &a, b"other".to_vec()).await.unwrap();
    assert!(read_piece(blobs, two, &a).await.unwrap_err().to_string().contains("another hash"));
    blobs.remove(two, &[a, ContentHash::of(b"never")]).await.unwrap();
    assert_eq!(blobs.list(two).await.unwrap().len(), 1);
    assert_eq!(blobs.remove_all(one).await.unwrap(), 2);
    assert!(blobs.list(one).await.unwrap().is_empty());
    assert_eq!(blobs.sessions().await.unwrap(), std::slice::from_ref(two));
}

pub(crate) async fn pieces_in_the_database(store: &Store) {
    let (engine, opened) = (store.engine().await, opened(store).await);
    let (one, two) = (session("cli:k3yk3y8x"), session("web:K3yk3y8x"));
    for session in [&one, &two] {
        engine.sessions().open(session, &person()).await.unwrap();
    }
    pieces_are_kept_for_one_session_each(opened.pieces.as_ref(), [&one, &two]).await;
    // They go with their session.
    assert!(opened.folders.store_folder(&two, &FolderVersion::default(), &folder(1, "", "a")).await.unwrap());
    let place = ProjectPlace { path: "/home/ada/till".to_owned(), place: "desk".to_owned() };
    opened.project_places.set_project_place(&two, Some(&place)).await.unwrap();
    let lease = opened.ledger.acquire_lease(&two, "deleting", Duration::from_secs(60)).await.unwrap().unwrap();
    opened.ledger.delete_session(&lease).await.unwrap();
    for table in ["file_piece", "session_folder", "project_place"] {
        assert_eq!(store.look(&format!("SELECT CAST(count(*) AS text) FROM {table}")).await, "0", "{table}");
    }
}

pub(crate) async fn a_project_folder_has_a_place(store: &Store) {
    let (engine, opened) = (store.engine().await, opened(store).await);
    let here = session("cli:k3yk3y8x");
    engine.sessions().open(&here, &person()).await.unwrap();
    assert_eq!(opened.project_places.project_place(&here).await.unwrap(), None);
    for place in ["desk", "rack"] {
        let place = ProjectPlace { path: "/home/ada/żółć".to_owned(), place: place.to_owned() };
        opened.project_places.set_project_place(&here, Some(&place)).await.unwrap();
        assert_eq!(opened.project_places.project_place(&here).await.unwrap(), Some(place));
    }
    opened.project_places.set_project_place(&here, None).await.unwrap();
    assert_eq!(opened.project_places.project_place(&here).await.unwrap(), None);
}

pub(crate) async fn a_server_that_stopped_counting_is_ended_once(store: &Store) {
    let (engine, one, two) = (store.engine().await, opened(store).await, opened(store).await);
    let here = session("cli:k3yk3y8x");
    engine.sessions().open(&here, &person()).await.unwrap();
    let long = Duration::from_secs(600);
    one.ledger.acquire_lease(&here, "one", long).await.unwrap().unwrap();
    one.beats.beat("one", false).await.unwrap();
    let first = two.beats.beats().await.unwrap();
    assert_eq!(first.iter().map(|server| (server.owner.as_str(), server.fences)).collect::<Vec<_>>(), [("one", false)]);
    one.beats.beat("one", true).await.unwrap();
    let second = two.beats.beats().await.unwrap();
    assert!(second[0].fences && second[0].beat > first[0].beat);
    // It counted since: its leases are its own.
    assert!(!two.beats.end_server(&first[0]).await.unwrap());
    assert_eq!(two.ledger.acquire_lease(&here, "two", long).await.unwrap(), None);
    let ended = futures::future::join_all([&one, &two].map(|store| store.beats.end_server(&second[0]))).await;
    let ended: Vec<bool> = ended.into_iter().map(Result::unwrap).collect();
    assert_eq!(ended.iter().filter(|ended| **ended).count(), 1, "by one of them");
    assert!(two.ledger.acquire_lease(&here, "two", long).await.unwrap().is_some());
    assert!(two.beats.beats().await.unwrap().is_empty());
    // When it counts again it does so with another number.
    one.beats.beat("one", true).await.unwrap();
    let again = two.beats.beats().await.unwrap();
    assert_ne!(again[0].beat, second[0].beat);
    one.beats.forget_server("one").await.unwrap();
    assert!(two.beats.beats().await.unwrap().is_empty());
}
