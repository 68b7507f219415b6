//! What `.gitignore` and `.planwrightignore` name, and `.git` itself, is left out unless it is asked for.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::{Value, json};

use super::{Snapshot, globbed, listed};

fn git(snapshot: &Snapshot, arguments: &[&str]) -> String {
    let output = Command::new("git").args(arguments).current_dir(snapshot.inside()).output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

async fn all(snapshot: &Snapshot, mut arguments: Value) -> Vec<String> {
    arguments["pattern"] = "**".into();
    let paths = globbed(&snapshot.call("glob_files", arguments.clone()).await).into_iter().map(str::to_owned).collect();
    // A search goes through the same files.
    arguments["pattern"] = "".into();
    let found = snapshot.call("grep_files", arguments).await;
    let searched: BTreeSet<_> =
        found["matches"].as_array().unwrap().iter().map(|found| found["path"].as_str().unwrap().to_owned()).collect();
    let expected: BTreeSet<_> = Vec::clone(&paths).into_iter().collect();
    assert_eq!(searched, expected);
    paths
}

#[tokio::test]
async fn ignored_files_are_found_when_asked_for() {
    for snapshot in Snapshot::both() {
        for (path, text) in [
            (".git/HEAD", "ref"),
            (".git/info/exclude", "excluded.txt\n"),
            (".gitignore", "target/\n*.log\n!keep.log\n/top.txt\n"),
            (".planwrightignore", "secret*\n!target/\n"),
            ("src/.gitignore", "generated/\n!special.log\n"),
            ("src/main.rs", "x"),
            ("src/generated/a.rs", "x"),
            ("src/special.log", "x"),
            ("src/top.txt", "x"),
            ("target/out", "x"),
            ("a.log", "x"),
            ("keep.log", "x"),
            ("top.txt", "x"),
            ("secrets.md", "x"),
            ("excluded.txt", "x"),
            (".github/ci.yml", "x"),
        ] {
            snapshot.put(path, format!("{text}\n"));
        }
        let usual = [
            ".github/ci.yml",
            ".gitignore",
            ".planwrightignore",
            "keep.log",
            "src/.gitignore",
            "src/main.rs",
            "src/special.log",
            "src/top.txt",
            "target/out",
        ];
        assert_eq!(all(&snapshot, json!({})).await, usual);
        assert_eq!(all(&snapshot, json!({"hidden": true})).await.len(), usual.len() + 2);
        assert_eq!(all(&snapshot, json!({"no_ignore": true})).await.len(), 14);
        assert_eq!(all(&snapshot, json!({"no_ignore": true, "hidden": true})).await.len(), 16);
        let answer = snapshot.call("list_files", json!({})).await;
        let top = [".github", ".gitignore", ".planwrightignore", "keep.log", "src", "target"];
        assert_eq!((listed(&answer), &answer["ignored"]), (top.to_vec(), &json!(5)));
        let everything = snapshot.call("list_files", json!({"hidden": true, "no_ignore": true})).await;
        assert_eq!((listed(&everything).len(), everything.get("ignored")), (11, None));
        // A folder that is named is asked for.
        assert_eq!(listed(&snapshot.call("list_files", json!({"path": ".git"})).await), [".git/HEAD", ".git/info"]);
        let inside = snapshot.call("grep_files", json!({"pattern": "x", "path": "src/generated"})).await;
        assert_eq!(inside["matches"].as_array().unwrap().len(), 1);
        assert_eq!(snapshot.read("secrets.md").await, "x\n", "a file that is named is read");
    }
}

/// The tools find the files that git itself lists, for rules of many kinds.
#[tokio::test]
async fn the_rules_mean_what_they_mean_to_git() {
    let snapshot = Snapshot::in_project();
    git(&snapshot, &["init", "-q"]);
    let rules = "# comment\n\n*.o\n/build\ndocs/*.html\n**/cache/\ndeep/**/x\n!deep/keep/x\n\\!odd\n\\#hash\nspace\\ \n[ab].txt\n?.md\n";
    snapshot.put(".gitignore", rules);
    snapshot.put("sub/.gitignore", "*\n!*.c\n!.gitignore\n!inner/\n");
    for path in [
        "a.o",
        "lib/b.o",
        "build/x",
        "lib/build/x",
        "docs/a.html",
        "docs/b/a.html",
        "cache/f",
        "lib/cache/f",
        "deep/x",
        "deep/a/x",
        "deep/keep/x",
        "deep/y",
        "!odd",
        "#hash",
        "space ",
        "a.txt",
        "c.txt",
        "x.md",
        "xx.md",
        "sub/a.c",
        "sub/a.h",
        "sub/inner/b.c",
        "sub/inner/b.h",
        "ü/é.o",
        "ü/é.c",
    ] {
        snapshot.put(path, "x");
    }
    let listed = git(&snapshot, &["ls-files", "-z", "--others", "--exclude-standard"]);
    let expected: BTreeSet<_> = listed.split_terminator('\0').map(str::to_owned).collect();
    let found: BTreeSet<_> = all(&snapshot, json!({})).await.into_iter().collect();
    assert_eq!(found, expected);
    assert!(expected.len() > 8 && expected.len() < 22, "{expected:?}");
}

#[tokio::test]
async fn rules_do_not_come_from_outside() {
    let snapshot = Snapshot::in_project();
    snapshot.put("secret.md", "x");
    snapshot.put("sub/secret.md", "x");
    fs::write(snapshot.outside().join("rules"), "secret.md\n").unwrap();
    symlink(snapshot.outside().join("rules"), snapshot.inside().join(".gitignore")).unwrap();
    symlink(snapshot.outside().join("rules"), snapshot.inside().join("sub/.planwrightignore")).unwrap();
    fs::write(snapshot.inside().parent().unwrap().join(".gitignore"), "*\n").unwrap();
    assert_eq!(all(&snapshot, json!({})).await, ["secret.md", "sub/secret.md"]);
}
