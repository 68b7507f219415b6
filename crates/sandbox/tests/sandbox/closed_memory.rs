//! A program that has taken a passphrase closes its memory to other processes of its user. The supervisor of a command is a copy of it.

#![cfg(target_os = "linux")]

use std::collections::BTreeSet;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use planwright_sandbox::{CommandEnd, SandboxLevel};
use planwright_test_support::prerequisites::{Prerequisite, skip};

use crate::world::World;

/// Set in the process that closes its memory.
const CLOSED: &str = "PLANWRIGHT_TEST_CLOSED_MEMORY";

/// Its exit code if the user may make no sandbox.
const NO_SANDBOX: i32 = 77;

/// No user of the system.
const USER: u32 = 64_203;

/// Root reads every memory, so an ordinary user runs the commands, in a process of their own: the other tests keep theirs open.
#[test]
fn the_supervisor_of_a_closed_program_is_never_open() {
    if std::env::var_os(CLOSED).is_some() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        return runtime.block_on(run_commands());
    }
    let home = tempfile::tempdir().unwrap();
    let program = home.path().join("tests");
    // Another process writes it: a program that is open for writing here cannot be started while another test starts one.
    let copied = Command::new("cp").arg(std::env::current_exe().unwrap()).arg(&program).status().unwrap();
    assert!(copied.success());
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new(program);
    command.args(["--exact", "closed_memory::the_supervisor_of_a_closed_program_is_never_open", "--nocapture"]);
    command.env(CLOSED, "1").env("TMPDIR", home.path()).env("HOME", home.path()).current_dir(home.path());
    if is_root() {
        chown(home.path(), Some(USER), Some(USER)).unwrap();
        command.uid(USER).gid(USER);
    }
    let ran = command.output().unwrap();
    if ran.status.code() == Some(NO_SANDBOX) {
        return skip(Prerequisite::Sandbox, "an ordinary user can make no sandbox here");
    }
    let told = format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success() && told.contains("1 passed"), "{told}");
}

fn is_root() -> bool {
    std::os::unix::fs::MetadataExt::uid(&std::fs::metadata("/proc/self").unwrap()) == 0
}

async fn run_commands() {
    let world = World::new();
    if world.sandbox.support().refusal(SandboxLevel::Workspace).is_some() {
        std::process::exit(NO_SANDBOX);
    }
    close_memory();
    let ended = Arc::new(AtomicBool::new(false));
    let watcher = std::thread::spawn({
        let ended = Arc::clone(&ended);
        move || watch(&ended)
    });
    for _ in 0..20 {
        let result = world.run(SandboxLevel::Workspace, "id -u; cat /proc/self/uid_map").await;
        assert_eq!(result.end, CommandEnd::Exited { code: 0 }, "{}", result.output.text());
    }
    ended.store(true, Ordering::Relaxed);
    let (seen, open) = watcher.join().unwrap();
    assert!(!seen.is_empty(), "no supervisor was seen");
    assert!(open.is_empty(), "{open:?} of {seen:?} were open");
}

#[allow(unsafe_code, reason = "no library of these tests has this call")]
fn close_memory() {
    // SAFETY: the option takes a plain number.
    let closed = unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0) };
    assert_eq!(closed, 0);
}

/// The supervisors, and those whose memory could be opened.
fn watch(ended: &AtomicBool) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut seen, mut open) = (BTreeSet::new(), BTreeSet::new());
    while !ended.load(Ordering::Relaxed) {
        for child in children() {
            if std::fs::File::open(format!("/proc/{child}/mem")).is_ok() {
                open.insert(child.clone());
            }
            seen.insert(child);
        }
    }
    (seen, open)
}

/// The children of every thread of this process. Their own children are commands, which have nothing of its memory.
fn children() -> Vec<String> {
    let threads = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let lists = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect()
}
