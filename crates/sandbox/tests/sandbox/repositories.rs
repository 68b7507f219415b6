//! What a command writes into a git repository is not run by the person's next git.

use std::fs;
use std::path::Path;
use std::process::Command;

use planwright_sandbox::{CommandResult, SandboxLevel};

use crate::world::World;

/// Runs git as the person does. The person's own settings do not matter here.
fn git(folder: &Path, line: &str) -> bool {
    let output = Command::new("sh")
        .args(["-c", line])
        .current_dir(folder)
        .env("HOME", folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_AUTHOR_NAME", "a")
        .env("GIT_AUTHOR_EMAIL", "a@b.c")
        .env("GIT_COMMITTER_NAME", "a")
        .env("GIT_COMMITTER_EMAIL", "a@b.c")
        .output()
        .unwrap();
    output.status.success()
}

/// A repository with a nested one, a submodule and a worktree.
fn repository(world: &World) {
    let workspace = world.path("workspace");
    for line in [
        "git init -q -b main . && echo one > file && git add file && git commit -qm one",
        "git init -q -b main vendor/lib && cd vendor/lib && echo a > a && git add a && git commit -qm a",
        "git -c protocol.file.allow=always submodule --quiet add ./vendor/lib sub && git commit -qm sub",
        "git worktree add -q tree",
    ] {
        assert!(git(&workspace, line), "{line}");
    }
}

fn kept(world: &World, name: &str) -> String {
    fs::read_to_string(world.path("workspace").join(name)).unwrap_or_default()
}

async fn run(world: &World, line: &str) -> CommandResult {
    world.run(SandboxLevel::Workspace, line).await
}

/// Ways to have code run by the person's next git: what the person set up, what a command does, what the person does.
const WAYS: &[(&str, &str, &str, &str)] = &[
    (
        "a common folder with settings of its own",
        "",
        "mkdir evil && cp -r .git/objects .git/refs .git/config evil/ && printf '[core]\\n\\tfsmonitor = \"PLANTED\"\\n' >> evil/config \
         && echo ../evil > .git/commondir",
        "git status",
    ),
    (
        "a repository in the place of a worktree's file",
        "",
        "cd tree && rm -f .git && git init -q . && git config core.fsmonitor 'PLANTED'",
        "git -C tree status",
    ),
    (
        "settings of the worktree",
        "git config extensions.worktreeConfig true",
        "printf '[core]\\n\\tfsmonitor = \"PLANTED\"\\n' > .git/config.worktree",
        "git status",
    ),
    (
        "a hook in a folder of the workspace",
        "mkdir githooks && git config core.hooksPath githooks",
        "printf '#!/bin/sh\\nPLANTED\\n' > githooks/post-checkout; chmod +x githooks/post-checkout",
        "git checkout -q -b other",
    ),
    (
        "a hook in a folder that does not exist yet",
        "git config core.hooksPath ./githooks",
        "mkdir githooks; printf '#!/bin/sh\\nPLANTED\\n' > githooks/post-checkout; chmod +x githooks/post-checkout",
        "git checkout -q -b other",
    ),
    (
        "included settings",
        "touch shared.gitconfig && git config include.path ../shared.gitconfig",
        "printf '[core]\\n\\tfsmonitor = \"PLANTED\"\\n' >> shared.gitconfig",
        "git status",
    ),
    (
        "settings of a nested repository",
        "",
        "git -C vendor/lib config core.fsmonitor 'PLANTED'",
        "git -C vendor/lib status",
    ),
    (
        "a hook of a nested repository",
        "rm -rf vendor/lib/.git/hooks",
        "mkdir -p vendor/lib/.git/hooks; printf '#!/bin/sh\\nPLANTED\\n' > vendor/lib/.git/hooks/post-checkout; \
         chmod +x vendor/lib/.git/hooks/post-checkout",
        "git -C vendor/lib checkout -q -b other",
    ),
    ("settings of a submodule", "", "git -C sub config core.fsmonitor 'PLANTED'", "git -C sub status"),
    (
        "a submodule's folder, replaced",
        "",
        "cp -r .git/modules/sub copy; mv .git/modules .git/before; mkdir .git/modules; mv copy .git/modules/sub; \
         printf '[core]\\n\\tfsmonitor = \"PLANTED\"\\n' >> .git/modules/sub/config",
        "git -C sub status",
    ),
    (
        "the common folder of a worktree",
        "",
        "mkdir evil && cp -r .git/objects .git/refs .git/config evil/ && printf '[core]\\n\\tfsmonitor = \"PLANTED\"\\n' >> evil/config \
         && echo ../../../evil > .git/worktrees/tree/commondir",
        "git -C tree status",
    ),
    (
        "a hook behind a link",
        "rm -rf .git/hooks && mkdir githooks && ln -s ../githooks .git/hooks",
        "rm .git/hooks; mkdir .git/hooks githooks; for folder in .git/hooks githooks; do \
         printf '#!/bin/sh\\nPLANTED\\n' > $folder/post-checkout; chmod +x $folder/post-checkout; done",
        "git checkout -q -b other",
    ),
    (
        "a step of a rebase that waits",
        "",
        "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b.c GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b.c; \
         echo two > file; git commit -qam two; GIT_SEQUENCE_EDITOR='sed -i s/pick/edit/' git rebase -q -i HEAD~1; \
         echo 'exec PLANTED' >> .git/rebase-merge/git-rebase-todo",
        "GIT_EDITOR=true git rebase --continue",
    ),
];

#[tokio::test]
async fn nothing_that_a_command_plants_is_run_by_git() {
    let mut succeeded = Vec::new();
    for (name, before, line, after) in WAYS {
        let world = World::new();
        if !world.levels().await.contains(&SandboxLevel::Workspace) {
            return;
        }
        let workspace = world.path("workspace");
        let mark = world.path("mark");
        let planted = format!("touch {}", mark.display());
        repository(&world);
        assert!(git(&workspace, before), "{name}");
        run(&world, &line.replace("PLANTED", &planted)).await;
        git(&workspace, after);
        if mark.exists() {
            succeeded.push(*name);
        }
    }
    assert!(succeeded.is_empty(), "{succeeded:#?}");
}

/// Without a sandbox each way works, or it would prove nothing.
#[test]
fn what_is_planted_without_a_sandbox_is_run() {
    for (name, before, line, after) in WAYS {
        let world = World::new();
        let (workspace, mark) = (world.path("workspace"), world.path("mark"));
        repository(&world);
        assert!(git(&workspace, before), "{name}");
        git(&workspace, &line.replace("PLANTED", &format!("touch {}", mark.display())));
        git(&workspace, after);
        assert!(mark.exists(), "{name}");
    }
}

#[tokio::test]
async fn ordinary_work_with_git_succeeds() {
    let world = World::new();
    if !world.levels().await.contains(&SandboxLevel::Workspace) {
        return;
    }
    repository(&world);
    let line = "set -e; export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b.c GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b.c
        echo two > file; git add file; git commit -qm two; git tag -a v1 -m v1
        git branch side HEAD~1; git checkout -q side; echo other > other; git add other; git commit -qm other
        git checkout -q main; git merge -q --no-edit side
        git checkout -q -b topic HEAD~1; echo t > t; git add t; git commit -qm t; git rebase -q main
        echo dirty > file; git stash -q; git stash pop -q; git checkout -q file
        git cherry-pick -x side >/dev/null 2>&1 || git cherry-pick --abort
        echo conflict > file; git commit -qam conflict; git checkout -q main; echo mine > file; git commit -qam mine
        git rebase topic >/dev/null 2>&1 || { echo both > file; git add file; GIT_EDITOR=true git rebase --continue >/dev/null; }
        git fetch -q ./vendor/lib main; git gc -q; git status -s
        git worktree add -q second; git -C second log -1 --format=%s
        (cd sub; echo b > b; git add b; git commit -qm b); git add sub; git commit -qm sub2
        (cd vendor/lib; echo b > b; git add b; git commit -qm b)
        (cd tree; echo b > b; git add b; git commit -qm b); git reset -q --hard HEAD~1; git log --oneline | wc -l";
    let result = run(&world, line).await;
    assert_eq!(result.end.exit_code(), Some(0), "{}", result.output.text());
    let workspace = world.path("workspace");
    for line in ["git fsck", "git -C second status", "git -C tree status", "git -C sub log -1"] {
        assert!(git(&workspace, line), "{line}");
    }
    assert_eq!(kept(&world, "second/file"), "both\n");
}

#[tokio::test]
async fn what_was_put_back_and_what_was_made_is_told() {
    let world = World::new();
    if !world.levels().await.contains(&SandboxLevel::Workspace) {
        return;
    }
    repository(&world);
    let workspace = world.path("workspace");
    for (line, refused, made) in [
        ("echo more >> file; git -C vendor/lib status -s; mv vendor third", &[][..], &[][..]),
        (
            "echo x > .git/commondir; mkdir .git/info2; touch third/lib/.git/gk",
            &[".git/commondir", ".git/info2", "third/lib/.git/gk"],
            &[],
        ),
        ("mkdir -p .git/worktrees/w; echo ../../../evil > .git/worktrees/w/commondir", &[".git/worktrees/w"], &[]),
        ("mv tree moved", &[], &["moved/.git"]),
        (
            "git init -q new; printf '[core]\\n\\tfsmonitor = ./run\\n' >> new/.git/config; touch new/.git/hooks/pre-push",
            &[],
            &["new/.git"],
        ),
        ("git init -q --bare new.git", &[], &["new.git"]),
    ] {
        let told = run(&world, line).await.repositories;
        let paths: Vec<_> = told.made.iter().map(|made| made.path.as_str()).collect();
        assert_eq!(told.refused, refused, "{line}");
        assert_eq!(paths, made, "{line}");
        assert!(told.replaced.is_empty() && !told.incomplete, "{line}: {told:?}");
        if let [made] = told.made.as_slice()
            && made.path == "new/.git"
        {
            assert!(made.config.contains("fsmonitor = ./run"), "{}", made.config);
            assert_eq!(made.hooks, ["pre-push"]);
        }
        for path in refused {
            assert!(!workspace.join(path).exists(), "{path}");
        }
    }
    let told = world.run(SandboxLevel::ReadOnly, "git status").await.repositories;
    assert!(told.is_empty(), "{told:?}");
}
