//! The output of a command, streamed and kept.

use planwright_sandbox::{CommandEnd, OutputStream, SandboxLevel};

use crate::world::World;

#[tokio::test]
async fn output_is_streamed_while_the_command_runs() {
    let world = World::new();
    for level in world.levels().await {
        let mut running = world.start(level, "echo first; read line < /dev/stdin; echo oops >&2; sleep 60").await;
        let first = running.next_output().await.unwrap();
        assert_eq!((first.stream, first.bytes.as_slice()), (OutputStream::Stdout, b"first\n".as_slice()));
        let second = running.next_output().await.unwrap();
        assert_eq!((second.stream, second.bytes.as_slice()), (OutputStream::Stderr, b"oops\n".as_slice()));
        assert_eq!(running.output().text(), "first\noops\n", "it is read while the command runs");
        assert_eq!(running.result().map(|result| result.end), None);
        running.stopper().stop();
        assert_eq!(running.wait().await.end, CommandEnd::Stopped);
        assert_eq!(running.next_output().await, None);
    }
}

#[tokio::test]
async fn a_flood_is_counted_and_its_beginning_and_end_are_kept() {
    let world = World::new();
    let mut command =
        world.command(SandboxLevel::Open, "echo begin; head -c 300000000 /dev/zero | tr '\\0' x; echo end");
    command.limits.file_bytes = 1_000_000;
    let mut running = world.sandbox.start(command).await.unwrap();
    // The receiver is not read, and the command ends all the same.
    let result = running.wait().await;
    assert_eq!(result.end, CommandEnd::Exited { code: 0 });
    assert_eq!(result.output.total_bytes, 300_000_010);
    assert_eq!(std::fs::metadata(&result.output.file).unwrap().len(), 1_000_000);
    let text = result.output.text();
    assert!(text.starts_with("begin\nxxx") && text.ends_with("xxxend\n"), "{}", &text[..20]);
    assert!(text.contains("the output file ends after 1000000 bytes, its limit"));
    assert!(text.len() < 20_000);
    let mut delivered = 0;
    let mut skipped = 0;
    while let Some(chunk) = running.next_output().await {
        delivered += chunk.bytes.len() as u64;
        skipped += chunk.skipped;
    }
    assert!(delivered < 300_000_010 && skipped + delivered <= 300_000_010);
}

#[tokio::test]
async fn a_link_in_the_place_of_the_output_file_is_replaced() {
    let world = World::new();
    let mut command = world.command(SandboxLevel::Open, "head -c 100000 /dev/zero; echo done");
    command.output_file = world.path("full");
    std::os::unix::fs::symlink("/dev/full", world.path("full")).unwrap();
    let result = world.sandbox.start(command).await.unwrap().wait().await;
    // The link is replaced, never written through.
    assert!(!std::fs::symlink_metadata(world.path("full")).unwrap().is_symlink());
    assert_eq!(result.output.file_bytes, 100_005);
    assert_eq!(result.end, CommandEnd::Exited { code: 0 });
}

#[tokio::test]
async fn ends_are_told_apart() {
    let world = World::new();
    for level in world.levels().await {
        for (line, end, code) in [
            ("true", CommandEnd::Exited { code: 0 }, Some(0)),
            ("exit 42", CommandEnd::Exited { code: 42 }, Some(42)),
            ("no-such-program-here", CommandEnd::Exited { code: 127 }, Some(127)),
            ("kill -9 $$", CommandEnd::Signalled { signal: 9 }, Some(137)),
            ("kill -TERM $$", CommandEnd::Signalled { signal: 15 }, Some(143)),
            ("kill -9 0", CommandEnd::Signalled { signal: 9 }, Some(137)),
        ] {
            let result = world.run(level, line).await;
            assert_eq!(result.end, end, "{level}: {line}");
            assert_eq!(result.end.exit_code(), code);
        }
    }
}
