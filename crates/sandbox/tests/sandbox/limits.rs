//! A command that takes too much harms itself alone.

use planwright_sandbox::{CommandEnd, SandboxLevel};

use crate::world::World;

#[tokio::test]
async fn a_fork_bomb_meets_a_limit() {
    let world = World::new();
    if !world.levels().await.contains(&SandboxLevel::Workspace) {
        return;
    }
    // More than the namespace's smallest limit, in processes that wait.
    let line = "i=0; while [ $i -lt 700 ]; do sleep 30 & i=$((i+1)); done; echo all $i";
    let mut command = world.command(SandboxLevel::Workspace, line);
    command.limits.processes = 512;
    let result = world.sandbox.start(command).await.unwrap().wait().await;
    let text = result.output.text();
    let (limited, detail) = process_limit();
    if !limited {
        return eprintln!("skipped: {detail}; the command ended with {:?}", result.end);
    }
    assert!(text.contains("Cannot fork") || text.contains("Resource temporarily unavailable"), "{text}");
    assert!(!text.contains("all 700"), "{text}");
}

/// Root is exempt from the limit by user; kernels from 6.14 on have one by namespace.
fn process_limit() -> (bool, String) {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut numbers = release.split(['.', '-']).map_while(|part| part.parse::<u32>().ok());
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    let root = std::os::unix::fs::MetadataExt::uid(&std::fs::metadata("/proc/self").unwrap()) == 0;
    (!root || version >= (6, 14), format!("kernel {} has no process limit for root", release.trim()))
}

#[tokio::test]
async fn a_memory_limit_is_kept() {
    let world = World::new();
    // `tail` keeps all of it in memory.
    let line = "echo kept $(head -c 200000000 /dev/zero | tail -c 200000000 | wc -c)";
    for level in world.levels().await {
        for (memory, fits) in [(None, true), (Some(64 * 1024 * 1024), false)] {
            let mut command = world.command(level, line);
            command.limits.memory = memory;
            let result = world.sandbox.start(command).await.unwrap().wait().await;
            assert_eq!(result.end, CommandEnd::Exited { code: 0 }, "{level}: {}", result.output.text());
            let kept = result.output.text();
            assert_eq!(kept.contains("kept 200000000\n"), fits, "{level}, {memory:?}: {kept}");
        }
    }
}
