//! Archives that were cut off, changed, or made to do harm. Nothing of them is written.

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

    /// The manifest matches the archive.
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
            if path.len() > 100 {
                header.set_entry_type(tar::EntryType::GNULongName);
                header.set_size(path.len() as u64);
                header.set_cksum();
                bytes.extend_from_slice(header.as_bytes());
                bytes.extend_from_slice(path);
                bytes.resize(bytes.len().next_multiple_of(512), 0);
                header = tar::Header::new_gnu();
            }
            let short = &path[..path.len().min(100)];
            header.as_old_mut().name[..short.len()].copy_from_slice(short);
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
        refused(&cut, "The archive is damaged");
    }
    std::fs::write(&cut, "not an archive at all").unwrap();
    refused(&cut, "The archive is damaged");
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
    // Changing the manifest with it is found as well.
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
        "continues after its manifest",
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
        "users/web-session-two/lease",
        "users/web-session-two/lease/x",
        "users/somebody/files/x",
        "journals/web/../../x.jsonl",
        "./users/web-session-two/files/x",
    ] {
        let mut parts = Parts::of(&archive);
        parts.add(path, tar::EntryType::Regular, b"evil");
        parts.write(&hostile);
        refused(&hostile, "is not the name of a part of an archive");
    }
    for kind in [tar::EntryType::Symlink, tar::EntryType::Link, tar::EntryType::Directory, tar::EntryType::Fifo] {
        let mut parts = Parts::of(&archive);
        parts.add("users/web-session-two/files/x", kind, b"");
        parts.write(&hostile);
        refused(&hostile, "is not a plain file");
    }
}

/// A name that no file system takes is found before anything is written.
#[test]
fn a_name_that_is_too_long_is_refused() {
    let world = lived_in();
    let archive = backup(&world);
    let hostile = world.path("hostile.tar");
    for path in [
        format!("users/web-session-two/files/{}", "x".repeat(256)),
        format!("users/web-session-two/files/{}/x", "y".repeat(300)),
        format!("users/web-session-two/files/{}", "deep/".repeat(20_000) + "x"),
    ] {
        let mut parts = Parts::of(&archive);
        parts.add(&path, tar::EntryType::Regular, b"x");
        parts.write(&hostile);
        refused(&hostile, "The archive is damaged");
    }
}

#[test]
fn a_name_that_is_a_file_and_a_folder_is_refused() {
    let world = lived_in();
    let archive = backup(&world);
    let hostile = world.path("hostile.tar");
    for paths in [["files/a", "files/a/b"], ["files/a/b/c", "files/a"]] {
        let mut parts = Parts::of(&archive);
        for path in paths {
            parts.add(&format!("users/web-session-two/{path}"), tar::EntryType::Regular, b"x");
        }
        parts.write(&hostile);
        refused(&hostile, "`users/web-session-two/files/a` is a file and a folder");
    }
}

/// Neither the files nor the chats of a session that is not in the archive are touched.
#[test]
fn nothing_is_restored_into_a_session_that_is_not_in_the_archive() {
    let world = lived_in();
    let mut parts = Parts::of(&backup(&world));
    let file = "users/web-stranger1/files/planted";
    parts.add(file, tar::EntryType::Regular, b"evil");
    let text = String::from_utf8(parts.get("pointers.json").clone()).unwrap();
    *parts.get("pointers.json") = text.replace("cli:session-three", "web:stranger1").into_bytes();
    assert_ne!(text.as_bytes(), *parts.get("pointers.json"), "{text}");
    parts.promise();
    parts.write(&world.path("hostile.tar"));
    let other = World::new();
    other.agent_drafts("web:stranger1", crate::world::PLAN);
    let restore = |extra: &[&str]| ran(other.command().arg("restore").arg(world.path("hostile.tar")).args(extra));
    restore(&[]).exits(3).complains("Nothing was changed");
    let report = restore(&["--merge", "--json"]).done().json();
    assert_eq!((&report["sessions"], &report["pointers"]), (&json!(3), &json!(0)), "{report}");
    assert_eq!(report["left"][0]["what"], file, "{report}");
    assert!(!other.path(file).exists());
    // In an empty store it is refused as well.
    let empty = World::new();
    ran(empty.command().arg("restore").arg(world.path("hostile.tar"))).exits(3).complains("not in the archive");
    assert_eq!(empty.json("sessions")["sessions"], json!([]));
}

/// The program may use much less memory than these lines and names need.
#[cfg(target_os = "linux")]
#[test]
fn reading_an_archive_needs_little_memory() {
    const LENGTH: u64 = 4 << 30;
    let world = World::new();
    for (name, kind, why) in [
        ("journals/web/session-two.jsonl", tar::EntryType::Regular, "is longer than"),
        ("././@LongLink", tar::EntryType::GNULongName, "a name in it is too long"),
        ("pax", tar::EntryType::XHeader, "a name in it is too long"),
    ] {
        let mut header = tar::Header::new_gnu();
        header.set_path(name).unwrap();
        header.set_entry_type(kind);
        header.set_size(LENGTH);
        header.set_cksum();
        let path = world.path("large.tar");
        std::fs::write(&path, header.as_bytes()).unwrap();
        // A file with holes takes no room on disk.
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_len(512 + LENGTH + 1024).unwrap();
        let mut command = std::process::Command::new("sh");
        command.args(["-c", "ulimit -v 2000000; exec \"$0\" restore large.tar", env!("CARGO_BIN_EXE_planwright")]);
        command.env("PLANWRIGHT_DATA", world.path("data")).current_dir(world.path(""));
        ran(&mut command).exits(7).complains(why);
        assert!(!world.path("data").exists());
    }
}

/// A link in the place of a file that is to be written.
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
    ran(other.command().arg("restore").arg(&archive).arg("--merge")).done().says("not restored: users/mcp-session-one");
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
}
