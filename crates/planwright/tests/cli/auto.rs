//! `planwright goal`, `task`, `schedule`, `diary` and `auto`, as a person meets them.

use crate::world::World;

const ADDED_FIRST: [&str; 5] = [
    "goal add No warnings",
    "task add Tidy up",
    "schedule add 0 9 * * 1 Read the news",
    "diary add It rained",
    "memory save The till is called Hedwig",
];

#[test]
fn what_is_added_first_begins_the_session_that_a_chat_takes() {
    for line in ADDED_FIRST {
        let world = World::new();
        world.run(line).done().says("New session cli:");
        let listed = world.json("sessions");
        let key = &listed["sessions"][0]["sessionId"];
        assert_eq!(&world.run("chat --json /status").done().json()["sessionId"], key, "{line}");
        world.run(line).done().never_says("New session");
        assert_eq!(world.json("sessions")["sessions"].as_array().unwrap().len(), 1, "{line}");
    }
}

/// A mistake and a look make nothing, and a mistake is explained in the words of the shell.
#[test]
fn a_mistake_makes_nothing_and_says_what_to_type() {
    let world = World::new();
    for (line, text) in [
        ("goal add", "Say what the goal is. Usage: `planwright goal [add|"),
        ("goal done", "`planwright goal list` lists them"),
        ("goal frobnicate 1", "`planwright goal [add|"),
        ("task done", "`planwright task [add|"),
        ("schedule add never", "`planwright schedule [add|"),
        ("auto sideways", "`planwright auto "),
    ] {
        let ran = world.run(line).exits(2).complains(text);
        assert!(!ran.stderr.contains("`/"), "{line}: {}", ran.stderr);
    }
    for line in ["goal list", "task list", "auto status", "memory list", "diary"] {
        world.run(line).done().says("begins a session");
    }
    world.run("goal list --session no-such-key").exits(4).complains("There is no store");
    assert!(!world.store().exists());
    // A session that is named is not made.
    world.run("goal add No warnings").done();
    world.run("goal add No warnings --session no-such-key").exits(4).complains("no-such-key");
    world.run("goal done 7").exits(3);
}

#[test]
fn goals_tasks_and_a_run_from_the_shell() {
    let world = World::new();
    world.run("goal add No warnings").done().says("Goal 1 is set: No warnings.");
    world.run("task add #1 Look at the build").done().says("Task 1 is added");
    world.run("goal list").done().says("goal 1 is active: No warnings");
    world.run("auto status").done().says("No run is open");
    let started = world.run("auto on").done();
    assert!(started.stdout.contains("Run 1 (GOAL_RUN) is started"), "{}", started.stdout);
    world.run("auto off").done();
    world.run("auto status").done().says("run 1 (GOAL_RUN)");
}
