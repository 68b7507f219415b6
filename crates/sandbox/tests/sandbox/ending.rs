//! Nothing that a command started lives longer than it may.

use std::path::Path;
use std::time::Duration;

use planwright_sandbox::{CommandEnd, SandboxLevel};

use crate::world::{World, lines_of};

/// Processes that try to stay: in the background, in a session of their own, without their parent, deaf to signals. Each
/// writes a line into the file `ticks` again and again.
const STAYING: &str = r#"
tick() { while :; do echo "$1" >> ~/ticks; sleep 0.02; done; }
trap '' TERM HUP INT
tick child &
setsid sh -c 'trap "" TERM HUP; while :; do echo session >> ~/ticks; sleep 0.02; done' &
(setsid sh -c '(trap "" TERM HUP; while :; do echo daemon >> ~/ticks; sleep 0.02; done) &' &)
"#;

/// Waits until all three are seen, so that there is something to end.
async fn all_started(ticks: &Path) {
    loop {
        let text = std::fs::read_to_string(ticks).unwrap_or_default();
        if ["child", "session", "daemon"].iter().all(|name| text.contains(name)) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The processes that have the file's name in their arguments, seen from outside of every namespace.
fn remaining(mark: &str) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let own = std::process::id().to_string();
    entries
        .filter(|entry| entry.file_name().to_str() != Some(&own))
        .filter_map(|entry| std::fs::read_to_string(entry.path().join("cmdline")).ok())
        .filter(|line| line.contains(mark))
        .collect()
}

/// A line that is recognised in the list of processes, whose staying processes write into the workspace or home.
fn marked(world: &World, after: &str) -> (String, String) {
    let mark = world.folder.path().file_name().unwrap().to_str().unwrap().to_owned();
    let ticks = world.path("workspace/ticks").display().to_string();
    (
        format!(
            ": {mark}; {}{after}",
            STAYING.replace("~/ticks", &ticks).replace("setsid sh -c '", &format!("setsid sh -c ': {mark}; "))
        ),
        mark,
    )
}

fn levels(levels: Vec<SandboxLevel>) -> impl Iterator<Item = SandboxLevel> {
    // Read-only commands cannot write the file by which the test sees them.
    levels.into_iter().filter(|level| *level != SandboxLevel::ReadOnly)
}

#[tokio::test]
async fn the_end_of_the_line_ends_what_it_left() {
    let world = World::new();
    for level in levels(world.levels().await) {
        let ticks = world.path("workspace/ticks");
        let _ = std::fs::remove_file(&ticks);
        let wait = format!(
            "until grep -q child {0} && grep -q session {0} && grep -q daemon {0}; do sleep 0.01; done; exit 5",
            ticks.display()
        );
        let (line, mark) = marked(&world, &wait);
        let result = world.run(level, &line).await;
        assert_eq!(result.end, CommandEnd::Exited { code: 5 }, "{level}: {}", result.output.text());
        assert_eq!(remaining(&mark), [""; 0], "{level}");
    }
}

#[tokio::test]
async fn stopping_it_ends_what_it_started() {
    let world = World::new();
    for level in levels(world.levels().await) {
        let _ = std::fs::remove_file(world.path("workspace/ticks"));
        let (line, mark) = marked(&world, "wait; sleep 60");
        let mut command = world.command(level, &line);
        command.limits.grace = Duration::from_millis(50);
        let running = world.sandbox.start(command).await.unwrap();
        all_started(&world.path("workspace/ticks")).await;
        running.stopper().stop();
        assert_eq!(running.wait().await.end, CommandEnd::Stopped, "{level}");
        assert_eq!(remaining(&mark), [""; 0], "{level}");
    }
}

#[tokio::test]
async fn its_time_limit_ends_what_it_started() {
    let world = World::new();
    for level in levels(world.levels().await) {
        let (line, mark) = marked(&world, "wait; sleep 60");
        let mut command = world.command(level, &line);
        command.limits.timeout = Some(Duration::from_millis(300));
        command.limits.grace = Duration::from_millis(50);
        let result = world.sandbox.start(command).await.unwrap().wait().await;
        assert_eq!(result.end, CommandEnd::TimedOut, "{level}");
        assert!(result.duration >= Duration::from_millis(300));
        assert_eq!(remaining(&mark), [""; 0], "{level}");
    }
}

#[tokio::test]
async fn a_command_that_ends_when_asked_has_its_last_words() {
    let world = World::new();
    for level in world.levels().await {
        let mut running =
            world.start(level, "trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.01; done").await;
        running.next_output().await.unwrap();
        running.stopper().stop();
        let result = running.wait().await;
        assert_eq!(result.end, CommandEnd::Stopped, "{level}");
        // The shell may also report that it ended `sleep`, before its last words or after them.
        let text = result.output.text();
        assert!(text.starts_with("ready\n") && text.lines().any(|line| line == "bye"), "{level}: {text}");
    }
}

#[tokio::test]
async fn dropping_it_ends_what_it_started() {
    let world = World::new();
    for level in levels(world.levels().await) {
        let _ = std::fs::remove_file(world.path("workspace/ticks"));
        let (line, mark) = marked(&world, "wait; sleep 3600");
        let running = world.start(level, &line).await;
        let stopper = running.stopper();
        all_started(&world.path("workspace/ticks")).await;
        drop(running);
        let ended = async {
            while !remaining(&mark).is_empty() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let waited = tokio::time::timeout(Duration::from_secs(60), ended).await;
        assert!(waited.is_ok(), "{level}: {:?}", remaining(&mark));
        // A stopper that is left over does nothing.
        stopper.stop();
    }
}

/// This test starts itself again as a process that starts a command and is killed in the middle of it.
#[tokio::test]
async fn the_death_of_this_process_ends_what_it_started() {
    const FOLDER: &str = "SANDBOX_TEST_FOLDER";
    if let Some(folder) = std::env::var_os(FOLDER) {
        return die_with_a_command(Path::new(&folder)).await;
    }
    let world = World::new();
    for level in levels(world.levels().await) {
        let _ = std::fs::remove_file(world.path("workspace/ticks"));
        let (line, mark) = marked(&world, "wait; sleep 60");
        std::fs::write(world.path("line"), line).unwrap();
        std::fs::write(world.path("level"), level.name()).unwrap();
        let mut process = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "ending::the_death_of_this_process_ends_what_it_started"])
            .env(FOLDER, world.folder.path())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        all_started(&world.path("workspace/ticks")).await;
        process.kill().unwrap();
        process.wait().unwrap();
        while !remaining(&mark).is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        world.sandbox.remove_leftovers();
        let own = format!("planwright-command-{}-", std::process::id());
        let others = std::fs::read_dir(world.path("scratch")).unwrap().flatten();
        let left: Vec<_> =
            others.map(|entry| entry.file_name()).filter(|name| !name.to_string_lossy().starts_with(&own)).collect();
        assert_eq!(left, [""; 0], "{level}: the folder of the dead process is removed");
    }
    lines_of(&world.path("workspace/ticks"), 3).await;
}

async fn die_with_a_command(folder: &Path) {
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let options = planwright_sandbox::SandboxOptions {
        home: Some(folder.join("home")),
        scratch: Some(folder.join("scratch")),
        ..planwright_sandbox::SandboxOptions::default()
    };
    let command = planwright_sandbox::ShellCommand {
        line: read("line"),
        workspace: folder.join("workspace"),
        cwd: "".into(),
        level: read("level").parse().unwrap(),
        environment: Vec::new(),
        output_file: folder.join("other-output"),
        limits: planwright_sandbox::CommandLimits::default(),
    };
    planwright_sandbox::Sandbox::new(options).start(command).await.unwrap().wait().await;
}
