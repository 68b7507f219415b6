//! What a command sees when it runs.

use std::path::Path;

use planwright_sandbox::{CommandEnd, SandboxLevel};

use crate::world::World;

#[tokio::test]
async fn a_line_runs_in_the_workspace() {
    let world = World::new();
    std::fs::create_dir(world.path("workspace/src")).unwrap();
    std::fs::write(world.path("workspace/src/a"), "found\n").unwrap();
    for level in world.levels().await {
        let mut command = world.command(level, "cat a; echo to stderr >&2; pwd; exit 3");
        command.cwd = "src".into();
        let result = world.sandbox.start(command).await.unwrap().wait().await;
        assert_eq!(result.end, CommandEnd::Exited { code: 3 }, "{level}: {}", result.output.text());
        let text = result.output.text();
        assert!(text.contains("found\n") && text.contains("to stderr\n"), "{text}");
        assert!(text.contains(&format!("{}\n", world.path("workspace/src").display())), "{text}");
    }
}

/// Runs the line at each level and gives the output to the check.
async fn at_each_level(world: &World, line: &str, check: impl Fn(SandboxLevel, &str)) {
    for level in world.levels().await {
        let result = world.run(level, line).await;
        check(level, &result.output.text());
    }
}

#[tokio::test]
async fn there_is_no_terminal_and_no_input() {
    let world = World::new();
    at_each_level(&world, "tty; read line || echo no input; cat /dev/tty || echo no terminal", |level, text| {
        for detail in ["not a tty", "no input", "no terminal"] {
            assert!(text.contains(detail), "{level}: {text}");
        }
    })
    .await;
}

#[tokio::test]
async fn no_descriptor_is_inherited() {
    let world = World::new();
    // Without CLOEXEC, as a careless library would open it.
    let secret = std::fs::File::create(world.path("secret")).unwrap();
    let raw = inheritable(&secret);
    at_each_level(&world, "ls -l /proc/self/fd", |level, text| {
        assert!(!text.contains("secret"), "{level}: {text}");
        // The three standard ones and the folder that `ls` reads.
        assert_eq!(text.matches("->").count(), 4, "{level}: {text}");
    })
    .await;
    drop(raw);
}

#[tokio::test]
async fn only_listed_variables_are_passed() {
    let world = World::with(|options| options.passed_variables.push("CARGO_PKG_NAME".to_owned()));
    // `cargo test` sets both for this process.
    assert!(std::env::var_os("CARGO_PKG_NAME").is_some() && std::env::var_os("CARGO_PKG_VERSION").is_some());
    for level in world.levels().await {
        let mut command = world.command(level, "env");
        command.environment.push(("ADDED".to_owned(), "1".to_owned()));
        let text = world.sandbox.start(command).await.unwrap().wait().await.output.text();
        for line in ["CARGO_PKG_NAME=planwright-sandbox", "ADDED=1", "TERM=dumb"] {
            assert!(text.contains(line), "{level}: {text}");
        }
        assert!(text.contains(&format!("HOME={}", world.path("home").display())), "{level}: {text}");
        assert!(!text.contains("CARGO_PKG_VERSION") && !text.contains("CARGO_MANIFEST_DIR"), "{level}: {text}");
    }
}

#[tokio::test]
async fn the_workspace_and_temporary_files_are_written_as_the_level_says() {
    let world = World::new();
    let line = "echo a > inside && echo wrote inside; echo b > ~/note && echo wrote home; \
                f=$(mktemp) && echo c > $f && echo wrote tmp; ls -d $f";
    at_each_level(&world, line, |level, text| {
        assert!(text.contains("wrote home") && text.contains("wrote tmp"), "{level}: {text}");
        assert_eq!(text.contains("wrote inside"), level != SandboxLevel::ReadOnly, "{level}: {text}");
        let temporary = text.lines().last().unwrap();
        assert_eq!(Path::new(temporary).exists(), level == SandboxLevel::Open, "{level}: {text}");
        let _ = std::fs::remove_file(temporary);
        assert_eq!(world.path("home/note").exists(), level == SandboxLevel::Open, "{level}");
        let _ = std::fs::remove_file(world.path("home/note"));
    })
    .await;
    let World { folder, sandbox } = world;
    drop(sandbox);
    let scratch = folder.path().join("scratch");
    while std::fs::read_dir(&scratch).unwrap().count() > 0 {
        // The thread of the last command holds the sandbox for a moment longer.
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_project_is_built_and_tested_with_servers_of_its_own() {
    let world = World::new();
    if !on_path("cc") || !on_path("python3") {
        return eprintln!("skipped: there is no cc or no python3 here");
    }
    let server = "import socket, threading\ns = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen()\n\
        threading.Thread(target=lambda: s.accept()[0].send(b'served')).start()\n\
        print(socket.create_connection(s.getsockname()).recv(9).decode())";
    std::fs::write(world.path("workspace/server.py"), server).unwrap();
    std::fs::write(world.path("workspace/a.c"), "int main(void) { return 7; }").unwrap();
    let line = "cc a.c -o a && ./a; echo $?; chmod 700 a && ln a b && mv b c && rm c && mkfifo f && rm f; echo $?; \
                python3 server.py; sh -c 'echo piped | cat'; (sleep 0 & wait); git init -q . && git status --short";
    for level in world.levels().await.into_iter().filter(|level| *level != SandboxLevel::ReadOnly) {
        let result = world.run(level, line).await;
        let text = result.output.text();
        assert_eq!(result.end, CommandEnd::Exited { code: 0 }, "{level}: {text}");
        assert!(text.starts_with("7\n0\nserved\npiped\n"), "{level}: {text}");
        std::fs::remove_dir_all(world.path("workspace/.git")).unwrap();
    }
}

#[tokio::test]
async fn what_git_runs_later_is_not_changed() {
    let world = World::new();
    let repository = world.path("workspace/.git");
    std::fs::create_dir_all(repository.join("hooks")).unwrap();
    std::fs::write(repository.join("config"), "").unwrap();
    for level in world.levels().await.into_iter().filter(|level| level.is_restricted()) {
        let line = "echo x > .git/hooks/pre-commit; echo x > .git/config; mv .git/hooks .git/h; mv .git .moved; \
                    rm -rf .git/hooks .git/config; : > .git/COMMIT_EDITMSG; : > .git/hooks_of_mine";
        world.run(level, line).await;
        assert!(repository.join("hooks").is_dir() && !repository.join("hooks/pre-commit").exists(), "{level}");
        assert_eq!(std::fs::read_to_string(repository.join("config")).unwrap(), "", "{level}");
        assert_eq!(repository.join("COMMIT_EDITMSG").exists(), level == SandboxLevel::Workspace, "{level}");
        assert!(!repository.join("hooks_of_mine").exists(), "{level}: no name of git's");
    }
}

#[tokio::test]
async fn what_cannot_start_is_refused_in_words() {
    let world = World::new();
    std::fs::write(world.path("workspace/file"), "").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("/etc", world.path("workspace/out")).unwrap();
    let at = |cwd: &str| {
        let mut command = world.command(SandboxLevel::Open, "true");
        command.cwd = cwd.into();
        command
    };
    for cwd in ["file", "..", "missing", "out", "/etc"] {
        let refused = world.sandbox.start(at(cwd)).await.unwrap_err().to_string();
        assert!(refused.contains("is not a folder below the workspace"), "{cwd}: {refused}");
    }
    for (line, detail) in [("a\0b".to_owned(), "NUL"), ("x".repeat(200_000), "200000 bytes long")] {
        let refused = world.sandbox.start(world.command(SandboxLevel::Open, &line)).await.unwrap_err().to_string();
        assert!(refused.contains(detail), "{refused}");
    }
    let mut command = world.command(SandboxLevel::Open, "true");
    command.workspace = world.path("gone");
    assert!(world.sandbox.start(command).await.unwrap_err().to_string().contains("the workspace"));
    let mut command = world.command(SandboxLevel::Open, "true");
    command.output_file = world.path("gone/output");
    assert!(world.sandbox.start(command).await.unwrap_err().to_string().contains("cannot write the command's output"));
}

/// A sandbox cannot be made inside of a sandbox, which is a system without namespaces. This test starts itself there.
#[tokio::test]
async fn a_level_that_cannot_be_enforced_is_refused() {
    const INSIDE: &str = "SANDBOX_TEST_INSIDE";
    let program = std::env::current_exe().unwrap();
    let world = World::with(|options| options.readable.push(program.parent().unwrap().to_owned()));
    if std::env::var_os(INSIDE).is_some() {
        let levels = world.levels().await;
        assert_eq!(levels, [SandboxLevel::Open], "{:?}", world.sandbox.support());
        let lines = world.sandbox.support().lines();
        println!("{}", lines.join("\n"));
        assert_eq!(world.run(SandboxLevel::Open, "exit 4").await.end, CommandEnd::Exited { code: 4 });
        return;
    }
    if !world.levels().await.contains(&SandboxLevel::Workspace) {
        return;
    }
    let test = "running::a_level_that_cannot_be_enforced_is_refused";
    let line = format!("{} --exact {test} --nocapture", program.display());
    let mut command = world.command(SandboxLevel::Workspace, &line);
    command.environment.push((INSIDE.to_owned(), "1".to_owned()));
    let result = world.sandbox.start(command).await.unwrap().wait().await;
    let text = result.output.text();
    assert_eq!(result.end, CommandEnd::Exited { code: 0 }, "{text}");
    for detail in [
        "this system cannot enforce the sandbox level workspace: namespaces missing (cannot start the command: making user",
        "The command was not run.",
        "namespaces: missing, required",
        "level workspace: cannot be enforced; commands at this level are refused",
        "level open: enforces nothing",
    ] {
        assert!(text.contains(detail), "{detail}: {text}");
    }
}

fn on_path(program: &str) -> bool {
    std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).any(|folder| folder.join(program).exists())
}

/// A descriptor that programs inherit.
#[allow(unsafe_code, reason = "the standard library makes no such descriptor")]
fn inheritable(file: &std::fs::File) -> std::os::fd::OwnedFd {
    use std::os::fd::{AsRawFd as _, FromRawFd as _};
    // SAFETY: the new descriptor is owned by nothing else.
    unsafe { std::os::fd::OwnedFd::from_raw_fd(libc::dup(file.as_raw_fd())) }
}
