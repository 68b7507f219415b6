//! Archives that are not as we make them: cut off, changed, or made to do harm. Nothing is written for any of them.

use std::io::Read as _;
use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{backup, lived_in};
use crate::world::{Ran, World, ran};

/// The parts of an archive, to be changed and put together again.
struct Parts(Vec<(Vec<u8>, tar::EntryType, Vec<u8>)>);

impl Parts {
    fn of(archive: &Path) -> Self {
        let mut tar = tar::Archive::new(std::fs::File::open(archive).unwrap());
        let parts = tar.entries().unwrap().map(|entry| {
            let mut entry = entry.unwrap();
            let mut content = Vec::new();
            entry.read_to_end(&mut content).unwrap();
            (entry.path_bytes().into_owned(), entry.header().entry_type(), content)
        });
        Self(parts.collect())
    }

    fn get(&mut self, name: &str) -> &mut Vec<u8> {
        &mut self.0.iter_mut().find(|(path, _, _)| path.ends_with(name.as_bytes())).unwrap().2
    }

    /// Before the manifest, which is made to name it.
    fn add(&mut self, path: &str, kind: tar::EntryType, content: &[u8]) {
        let end = self.0.len() - 1;
        self.0.insert(end, (path.as_bytes().to_vec(), kind, content.to_vec()));
        self.promise();
    }

    /// The manifest says whatever is there.
    fn promise(&mut self) {
        let mut manifest: Value = serde_json::from_slice(self.get("manifest.json")).unwrap();
        let end = self.0.len() - 1;
        let parts: serde_json::Map<_, _> = self.0[..end]
            .iter()
            .map(|(path, _, content)| {
                let sha256 = hex::encode(Sha256::digest(content));
                (String::from_utf8(path.clone()).unwrap(), json!({ "bytes": content.len(), "sha256": sha256 }))
            })
            .collect();
        manifest["parts"] = parts.into();
        *self.get("manifest.json") = serde_json::to_vec(&manifest).unwrap();
    }

    /// By hand, because the library does not write such names.
    fn write(&self, to: &Path) {
        let mut bytes = Vec::new();
        for (path, kind, content) in &self.0 {
            let mut header = tar::Header::new_gnu();
            header.as_old_mut().name[..path.len()].copy_from_slice(path);
            header.set_entry_type(*kind);
            if *kind == tar::EntryType::Symlink {
                header.set_link_name("/etc/passwd").unwrap();
            }
            header.set_size(content.len() as u64);
            header.set_mode(0o600);
            header.set_cksum();
            bytes.extend_from_slice(header.as_bytes());
            bytes.extend_from_slice(content);
            bytes.resize(bytes.len().next_multiple_of(512), 0);
        }
        bytes.resize(bytes.len() + 1024, 0);
        std::fs::write(to, bytes).unwrap();
    }
}

#[track_caller]
fn refused(archive: &Path, why: &str) {
    let other = World::new();
    let refused: Ran = ran(other.command().arg("restore").arg(archive)).exits(7);
    refused.complains(why).complains("Nothing was changed");
    let left: Vec<_> = std::fs::read_dir(other.path("")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn an_archive_that_was_cut_off_is_refused_wherever_it_was_cut() {
    let world = lived_in();
    let whole = std::fs::read(backup(&world)).unwrap();
    let cut = world.path("cut.tar");
    for tenth in 0..10 {
        std::fs::write(&cut, &whole[..whole.len() * tenth / 10]).unwrap();
        refused(&cut, "The archive is not as it was made");
    }
    std::fs::write(&cut, "not an archive at all").unwrap();
    refused(&cut, "The archive is not as it was made");
}

#[test]
fn an_archive_that_was_changed_is_refused() {
    let world = lived_in();
    let archive = backup(&world);
    let changed = world.path("changed.tar");
    let change = |name: &str, change: &dyn Fn(&mut Parts), why: &str| {
        let mut parts = Parts::of(&archive);
        change(&mut parts);
        parts.write(&changed);
        println!("{name}");
        refused(&changed, why);
    };
    let replace = |content: &mut Vec<u8>, from: &str, to: &str| {
        let text = String::from_utf8(content.clone()).unwrap();
        assert!(text.contains(from));
        *content = text.replace(from, to).into_bytes();
    };
    let journal = "session-one.jsonl";
    change("another text", &|parts| replace(parts.get(journal), "Second", "Third"), "does not match its hash");
    // Whoever changes the manifest with it does not get far either.
    let both = |parts: &mut Parts| {
        replace(parts.get(journal), "Second", "Third");
        parts.promise();
    };
    change("with the manifest", &both, "does not match its hash");
    change("a file", &|parts| replace(parts.get("ü.md"), "words", "swords"), "was changed");
    change("a pointer", &|parts| replace(parts.get("pointers.json"), "three", "seven"), "was changed");
    change("not JSON", &|parts| parts.get(journal).truncate(200), "cannot be read");
    change("nothing in a journal", &|parts| parts.get(journal).clear(), "is empty");
    change("a part is gone", &|parts| drop(parts.0.remove(0)), "is missing");
    change(
        "a part too many",
        &|parts| {
            let end = parts.0.len() - 1;
            parts.0.insert(end, (b"users/web-session-two/files/x".to_vec(), tar::EntryType::Regular, b"x".to_vec()));
        },
        "is not in its manifest",
    );
    change(
        "the same part twice",
        &|parts| {
            let first = parts.0[0].clone();
            parts.0.insert(0, first);
        },
        "twice",
    );
    change(
        "after the end",
        &|parts| {
            parts.0.push((b"users/web-session-two/files/x".to_vec(), tar::EntryType::Regular, b"x".to_vec()));
        },
        "after its end",
    );
    change(
        "another session's journal",
        &|parts| {
            parts.0[0].0 = b"journals/web/session-new.jsonl".to_vec();
            parts.promise();
        },
        "belongs to another place",
    );
}

#[test]
fn a_newer_format_is_said_to_be_one() {
    let world = lived_in();
    let mut parts = Parts::of(&backup(&world));
    *parts.get("manifest.json") = json!({ "format": 2, "everything": "is different" }).to_string().into_bytes();
    parts.write(&world.path("new.tar"));
    let other = World::new();
    let refused = ran(other.command().arg("restore").arg(world.path("new.tar"))).exits(6);
    refused.complains("format 2").complains("nothing was changed").complains("newer");
}

#[test]
fn no_name_leads_out_of_the_folder() {
    let world = lived_in();
    let archive = backup(&world);
    let hostile = world.path("hostile.tar");
    for path in [
        "../escaped",
        "/tmp/escaped",
        "token",
        "planwright.toml",
        "users/web-session-two/files/../../../token",
        "users/../token",
        "users/web-session-two/files//x",
        "users/web-session-two/./x",
        "users/web-session-two/unfinished/x",
        "users/somebody/files/x",
        "journals/web/../../x.jsonl",
        "./users/web-session-two/files/x",
    ] {
        let mut parts = Parts::of(&archive);
        parts.add(path, tar::EntryType::Regular, b"evil");
        parts.write(&hostile);
        refused(&hostile, "does not belong into an archive");
    }
    for kind in [tar::EntryType::Symlink, tar::EntryType::Link, tar::EntryType::Directory, tar::EntryType::Fifo] {
        let mut parts = Parts::of(&archive);
        parts.add("users/web-session-two/files/x", kind, b"");
        parts.write(&hostile);
        refused(&hostile, "is not a plain file");
    }
}

/// A link that somebody put where a file is to be.
#[cfg(unix)]
#[test]
fn files_are_not_written_through_links() {
    let world = lived_in();
    let archive = backup(&world);
    let other = World::new();
    let outside = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(other.path("users")).unwrap();
    std::os::unix::fs::symlink(outside.path(), other.path("users/mcp-session-one")).unwrap();
    ran(other.command().arg("restore").arg(&archive)).exits(3).complains("Nothing was changed");
    ran(other.command().arg("restore").arg(&archive).arg("--merge"))
        .done()
        .says("left as it is: users/mcp-session-one");
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
}
