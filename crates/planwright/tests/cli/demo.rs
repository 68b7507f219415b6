//! `planwright demo`, in a pipe: every step holds, says what was seen, and leaves nothing behind.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::Command;

use planwright_test_support::prerequisites::{Prerequisite, skip};

use crate::world::{Ran, World, ran};

/// Another process of Planwright stands above everything that ends up without a parent.
const ADOPTER: &str = r#"import ctypes, os, sys
libc = ctypes.CDLL(None)
libc.prctl(36, 1)
libc.prctl(15, b"planwright")
child = os.fork()
if child == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
while True:
    pid, status = os.wait()
    if pid == child:
        sys.exit(os.waitstatus_to_exitcode(status))
"#;

/// The demonstration with a folder of its own for temporary files, started by these words.
fn demo(world: &World, around: &[&str]) -> Ran {
    let temporary = world.path("temporary");
    std::fs::create_dir(&temporary).unwrap();
    let words: Vec<&str> = around.iter().copied().chain([env!("CARGO_BIN_EXE_planwright"), "demo"]).collect();
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).current_dir(world.path("")).env_clear().env("PATH", std::env::var("PATH").unwrap());
    // The person's own settings are for another store.
    command.env("TMPDIR", &temporary).env("PLANWRIGHT_DATA", world.path("")).env("PLANWRIGHT_SESSION", "short");
    command.env("PLANWRIGHT_APPROVAL_REQUIRE", "any").stdin(std::process::Stdio::null());
    let ran = ran(&mut command);
    assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0, "{ran:?}");
    assert_eq!(processes_of(&temporary), Vec::<String>::new());
    ran
}

/// The folders of this one that processes still work in, and their commands. A folder that is gone is still named.
fn processes_of(folder: &Path) -> Vec<String> {
    let folder = folder.to_str().unwrap();
    let all = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let process = entry.ok()?.path();
        let place =
            std::fs::read_link(process.join("cwd")).map_or_else(|_| String::new(), |place| place.display().to_string());
        let line = String::from_utf8_lossy(&std::fs::read(process.join("cmdline")).ok()?).replace('\0', " ");
        (place.contains(folder) || line.contains(folder)).then(|| format!("{place}: {line}"))
    });
    all.collect()
}

fn all_hold(ran: Ran) -> Ran {
    ran.done().never_says("does not hold").says("All 7 steps hold. The temporary folder is removed.")
}

#[test]
fn every_step_holds_and_leaves_nothing_behind() {
    let world = World::with_plan();
    let before = std::fs::read(world.store()).unwrap();
    let shown = all_hold(demo(&world, &[]))
        .says("1. The agent drafts a plan")
        .says("READY, version 1, digest ")
        .says("Plan 1 waits for a person's approval.")
        .says("it was started by `demo-agent`, the program that the agent of this session runs in")
        .says("exit code 3, and the plan is READY")
        .says("Plan 1 has changed since it was shown")
        .says("delete the posts")
        .says("the plan is APPROVED, and the edit is not denied any more")
        .says("EXECUTING, 1 of 3 steps done, files: one.txt, two.txt")
        .says("(exit code 137)")
        .says("Continuing a turn that was interrupted.")
        .says("COMPLETED, 3 of 3 steps done. The files of before the kill were not written again")
        .says("the model asked for 3 writes: one.txt, two.txt, three.txt")
        .says("Every journal is whole")
        .says("`two.txt is written` becomes `two.txt is deleted`")
        .says("does not match its hash")
        .says("exit code 7; the session cli:demo-work is named")
        .says("Sandbox for commands of an agent: level ");
    assert_eq!(shown.stderr, "");
    assert_eq!(std::fs::read(world.store()).unwrap(), before, "the person's own store is not touched");
}

#[test]
fn a_step_that_does_not_hold_is_said_and_is_the_exit_code() {
    let world = World::new();
    let adopter = world.write("adopter.py", ADOPTER);
    demo(&world, &["python3", adopter.to_str().unwrap()])
        .exits(1)
        .says("this does not hold: exit code 3")
        .says("do not hold. The temporary folder is removed.")
        .never_says("All 7 steps hold");
}

/// As in a container whose only program it is.
#[test]
fn it_may_be_the_first_process_of_its_system() {
    let unshare = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"];
    let probe = Command::new(unshare[0]).args(&unshare[1..]).arg("true").output();
    if !probe.is_ok_and(|output| output.status.success()) {
        skip(Prerequisite::Sandbox, "`unshare` makes no space of processes here");
        return;
    }
    all_hold(demo(&World::new(), &unshare));
}

#[test]
fn it_has_no_form_for_programs() {
    let error = World::new().run("demo --json").exits(2).error_json();
    assert_eq!(error["code"], "INVALID_ARGUMENT");
}
