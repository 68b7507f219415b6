//! Programs without a shell, with pipes to their standard input and output.

use std::time::Duration;

use planwright_sandbox::{CommandEnd, PipedProgram, ProgramAccess, SandboxError, SandboxLevel};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};

use crate::world::World;

fn program(world: &World, level: SandboxLevel, name: &str, arguments: &[&str]) -> PipedProgram {
    PipedProgram {
        name: name.to_owned(),
        arguments: arguments.iter().map(|argument| (*argument).to_owned()).collect(),
        folder: world.path("workspace"),
        level,
        environment: vec![("GIVEN_API_KEY".to_owned(), "given".to_owned())],
        access: ProgramAccess::default(),
        grace: Duration::from_millis(200),
    }
}

#[tokio::test]
async fn a_program_reads_what_is_written_and_ends_when_its_input_is_closed() {
    let world = World::new();
    for level in world.levels().await {
        let (mut pipes, handle) = world.sandbox.start_program(program(&world, level, "cat", &[])).await.unwrap();
        pipes.stdin.write_all(b"one\ntwo\n").await.unwrap();
        let mut lines = BufReader::new(&mut pipes.stdout).lines();
        assert_eq!(lines.next_line().await.unwrap().as_deref(), Some("one"));
        drop(pipes.stdin);
        assert_eq!(lines.next_line().await.unwrap().as_deref(), Some("two"));
        assert_eq!(lines.next_line().await.unwrap(), None);
        assert_eq!(handle.wait().await, CommandEnd::Exited { code: 0 }, "{level}");
    }
}

#[tokio::test]
async fn no_shell_reads_the_arguments_and_keys_are_given() {
    let world = World::new();
    let arguments = ["-c", "printf '%s|' \"$@\" \"$GIVEN_API_KEY\"", "sh", "$HOME; ls", "a b"];
    for level in world.levels().await {
        let (mut pipes, _handle) = world.sandbox.start_program(program(&world, level, "sh", &arguments)).await.unwrap();
        let mut output = String::new();
        pipes.stdout.read_to_string(&mut output).await.unwrap();
        assert_eq!(output, "$HOME; ls|a b|given|", "{level}");
    }
}

#[tokio::test]
async fn a_restricted_program_writes_only_below_its_folder() {
    let world = World::new();
    let outside = world.path("outside").display().to_string();
    let script = format!("echo in > inside; echo out > {outside}; echo done");
    for level in world.levels().await.into_iter().filter(|level| *level == SandboxLevel::Workspace) {
        let started = world.sandbox.start_program(program(&world, level, "sh", &["-c", &script])).await;
        let (_pipes, handle) = started.unwrap();
        handle.wait().await;
        assert!(world.path("workspace/inside").exists() && !world.path("outside").exists());
    }
}

#[tokio::test]
async fn a_program_that_does_not_end_is_killed_with_what_it_started() {
    let world = World::new();
    let script = "trap '' TERM; (trap '' TERM; setsid sleep 3600) & echo $!; wait; sleep 3600";
    for level in world.levels().await {
        let started = world.sandbox.start_program(program(&world, level, "sh", &["-c", script])).await;
        let (mut pipes, handle) = started.unwrap();
        let mut lines = BufReader::new(&mut pipes.stdout).lines();
        lines.next_line().await.unwrap().unwrap();
        handle.stop();
        assert_eq!(handle.wait().await, CommandEnd::Stopped, "{level}");
        // The pipe is closed by the last process that has it.
        assert_eq!(lines.next_line().await.unwrap(), None);
    }
}

#[tokio::test]
async fn a_program_that_does_not_exist_is_named() {
    let world = World::new();
    for name in ["no-such-program-anywhere", "./nothing", "/no/such/program"] {
        let refused = world.sandbox.start_program(program(&world, SandboxLevel::Open, name, &[])).await;
        assert!(matches!(&refused, Err(SandboxError::NoProgram(missing)) if missing == name), "{refused:?}");
    }
}

/// Runs a script of the shell at level `workspace`, if this system enforces it, and gives what it printed.
async fn printed(world: &World, script: &str, access: ProgramAccess) -> Option<String> {
    let level = world.levels().await.into_iter().find(|level| *level == SandboxLevel::Workspace)?;
    let program = PipedProgram { access, ..program(world, level, "sh", &["-c", script]) };
    let (mut pipes, handle) = world.sandbox.start_program(program).await.unwrap();
    let mut output = String::new();
    pipes.stdout.read_to_string(&mut output).await.unwrap();
    handle.wait().await;
    Some(output)
}

#[tokio::test]
async fn a_program_reads_and_writes_the_folders_that_it_is_given() {
    let world = World::new();
    for folder in ["given", "read", "hidden"] {
        std::fs::create_dir(world.path(folder)).unwrap();
        std::fs::write(world.path(folder).join("note"), folder).unwrap();
    }
    let root = world.path("").display().to_string();
    let root = root.trim_end_matches('/');
    let script = format!(
        "cat {root}/given/note {root}/read/note {root}/hidden/note; echo new > {root}/given/new; echo new > {root}/read/new; \
         cat {root}/through/../read/note"
    );
    std::fs::create_dir(world.path("through")).unwrap();
    let access = ProgramAccess {
        readable: vec![world.path("read")],
        writable: vec![world.path("given")],
        passages: vec![world.path("through")],
        ..ProgramAccess::default()
    };
    let Some(output) = printed(&world, &script, access).await else { return };
    assert_eq!(output, "givenreadread");
    assert!(world.path("given/new").exists() && !world.path("read/new").exists());
}

#[tokio::test]
async fn a_program_has_the_network_only_if_it_is_given() {
    let world = World::new();
    let namespace = |network| ProgramAccess { network, ..ProgramAccess::default() };
    let script = "readlink /proc/self/ns/net";
    let own = std::fs::read_link("/proc/self/ns/net").map(|link| link.display().to_string());
    let (Some(without), Some(with)) =
        (printed(&world, script, namespace(false)).await, printed(&world, script, namespace(true)).await)
    else {
        return;
    };
    if let Ok(own) = own {
        assert_eq!((with.trim(), without.trim() == own), (own.as_str(), false));
    }
}

#[tokio::test]
async fn the_home_folder_of_a_program_stays_where_it_is_given_one() {
    let world = World::new();
    std::fs::create_dir(world.path("stays")).unwrap();
    let given = ProgramAccess { home: Some(world.path("stays")), ..ProgramAccess::default() };
    let script = "cat ~/note; echo kept > ~/note";
    let Some(first) = printed(&world, script, given.clone()).await else { return };
    assert_eq!((first.as_str(), printed(&world, script, given).await.as_deref()), ("", Some("kept\n")));
    for _ in 0..2 {
        assert_eq!(printed(&world, script, ProgramAccess::default()).await.as_deref(), Some(""));
    }
}
