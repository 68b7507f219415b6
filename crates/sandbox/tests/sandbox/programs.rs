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
