use crate::world::{PLAN, SESSION, World};

#[test]
fn with_no_session_it_says_what_to_do() {
    let world = World::new();
    world.run("plan list").done().says("There are no plans yet.").says("planwright chat");
    world.run("plan show").exits(4).complains("There is no store").complains("planwright plan on");
    assert_eq!(world.json("inbox"), serde_json::json!({ "items": [], "damaged": [] }));
    world.run("sessions").done().says("There are no sessions yet").says("planwright chat");
    assert_eq!(world.json("sessions"), serde_json::json!({ "sessions": [], "next": null, "damaged": [] }));
    world.run("sessions delete no-such-key --yes").exits(4).complains("There is no store");
    assert!(!world.store().exists(), "looking makes nothing");
    world.with_engine(async |_| ());
    assert_eq!(world.json("plan list")["plans"], serde_json::json!([]));
    world.run("plan show").exits(4).complains("There are no sessions yet").complains("planwright plan on");
    world.run("sessions").done().says("There are no sessions yet").says("planwright chat");
}

#[test]
fn plan_on_begins_a_session_and_says_its_key() {
    let world = World::new();
    let answer = world.json("plan on");
    assert_eq!(answer["channel"], "cli");
    assert_eq!(answer["planMode"]["enabled"], true);
    assert_eq!(answer["activePlan"]["status"], "COLLECTING");
    let key = answer["sessionId"].as_str().unwrap();
    // The only session is the one that is meant, and an empty plan is used again.
    let again = world.run("plan on").done().says(key);
    assert!(!again.stdout.contains("New session"), "{}", again.stdout);
    assert_eq!(world.json("plan list")["plans"].as_array().unwrap().len(), 1);
}

#[test]
fn plan_on_with_an_unused_key_begins_that_session() {
    let world = World::with_plan();
    let answer = world.json("plan on collect --session my-own-key");
    assert_eq!((&answer["channel"], &answer["sessionId"]), (&"cli".into(), &"my-own-key".into()));
    assert_eq!(answer["planMode"]["style"], "collect");
    // A short name of a person's own gets a beginning.
    world.run("plan on --session work").done().says("New session cli:session-work");
    assert_eq!(world.json("plan on --session work")["sessionId"], "session-work");
    world.run("plan on --session web:other-key").done().says("New session web:other-key");
}

/// Every command refuses a wrong key with one message.
#[test]
fn a_key_that_cannot_be_one_is_refused_in_the_same_words() {
    let world = World::with_plan();
    let rule = "a new key has 8 to 64 letters, digits, '_' or '-'";
    for line in ["plan on --session ab", "chat --session ab /status", "plan on --session cli:ab"] {
        let ran = world.run(line);
        assert!(ran.code == 2 || ran.code == 4, "{ran:?}");
        ran.complains(rule);
    }
    for line in ["plan on --session a.b", "plan show --session a.b", "mcp --session cli:a.b"] {
        world.run(line).exits(2).complains(rule);
    }
}

#[test]
fn between_several_sessions_it_is_never_guessed() {
    let world = World::with_plan();
    world.agent_drafts("web:session-two", PLAN);
    let listed = world.run("plan show").exits(2).complains("several sessions").complains("--session");
    assert!(listed.stderr.contains(SESSION) && listed.stderr.contains("web:session-two"), "{}", listed.stderr);
    assert!(listed.stderr.contains("Move the tables"), "{}", listed.stderr);
    let error = world.run("plan on --json").exits(2).error_json();
    assert_eq!(error["sessions"].as_array().unwrap().len(), 2);
    // The most recently active one comes first.
    assert_eq!(error["sessions"][0]["sessionId"], "session-two");
    world.run("plan show --session session-two").done().says("web:session-two");
}

#[test]
fn a_key_on_two_channels_needs_its_channel() {
    let world = World::with_plan();
    world.agent_drafts("web:session-one", PLAN);
    world.run("plan show --session session-one").exits(2).complains("mcp:session-one").complains("web:session-one");
    world.run("plan show --session web:session-one").done().says("web:session-one");
}

#[test]
fn a_session_that_is_not_there() {
    let world = World::with_plan();
    world.run("plan show --session no-such-key").exits(4).complains("no-such-key").complains("planwright sessions");
    world.run("plan show --session web:session-one").exits(4).complains("There is no session web:session-one");
    world.run("plan show --session fax:session-one").exits(2).complains("not a channel");
    let error = world.run("plan show --session no-such-key --json").exits(4).error_json();
    assert_eq!(error["code"], "NOT_FOUND");
}

#[test]
fn the_variable_names_the_session_and_the_flag_wins() {
    let world = World::with_plan();
    world.agent_drafts("web:session-two", PLAN);
    let show = |arguments: &[&str]| {
        crate::world::ran(
            world.command().env("PLANWRIGHT_SESSION", "session-two").args(["plan", "show"]).args(arguments),
        )
    };
    show(&[]).done().says("web:session-two");
    show(&["--session", "session-one"]).done().says("mcp:session-one");
}

#[test]
fn sessions_are_listed_with_what_they_work_on() {
    let world = World::with_plan();
    world.run("sessions").done().says(SESSION).says("READY").says("1. Move the tables");
    let listed = world.json("sessions");
    assert_eq!(listed["sessions"][0]["activePlan"]["title"], "Move the tables");
    assert_eq!(listed["next"], serde_json::Value::Null);
}

#[test]
fn plan_on_again_says_what_becomes_of_the_plan_before() {
    let world = World::with_plan();
    world.run("plan on").done().says("Plan 1  READY").says("parked").says("Plan 2  COLLECTING");
    assert_eq!(world.status(), "READY");
}

#[test]
fn plan_off_parks_and_plan_done_cancels_what_is_empty() {
    let world = World::with_plan();
    world.run("plan status").done().says("on").says("READY");
    world.run("plan off").done().says("off").says("parked");
    assert_eq!(world.status(), "READY");
    assert_eq!(world.json("plan status")["activePlan"], serde_json::Value::Null);
    world.run("plan on").done();
    world.run("plan done").done().says("CANCELLED");
    world.run("plan show").exits(4).complains("No plan is active").complains("planwright plan list");
}

#[test]
fn commands_that_are_handed_out_name_the_session_where_that_is_needed() {
    let world = World::with_plan();
    world.run("plan show").done().says(": planwright plan approve 1\n");
    world.run("plan show 7").exits(4).complains("hint: planwright plan list\n");
    world
        .run("plan show --session session-one")
        .done()
        .says(&format!(": planwright plan approve 1 --session {SESSION}\n"));
    world.agent_drafts("web:session-two", PLAN);
    world.agent_drafts("web:session-two", "# Another text\n");
    let ran = |line: &str| {
        crate::world::ran(world.command().env("PLANWRIGHT_SESSION", "session-two").args(line.split_whitespace()))
    };
    ran("plan status").done().says(": planwright plan approve 1 --session web:session-two\n");
    let compare = "`planwright plan diff 1 --from N --to N --session web:session-two`";
    ran("plan history").done().says(compare);
    ran("plan show 7").exits(4).complains("hint: planwright plan list --session web:session-two\n");
    ran("plan approve 1 --only 1").exits(2).complains("planwright plan revise 1 --session web:session-two -- what");
    ran("plan reject 1").done().says(": planwright plan on --session web:session-two\n");
    ran("plan reject 1").exits(3).complains("hint: planwright plan show 1 --session web:session-two\n");
}

#[test]
fn commands_that_are_handed_out_name_the_store_that_was_named() {
    let world = World::new();
    let elsewhere = |line: &str| {
        let mut command = world.command();
        crate::world::ran(command.args(line.split_whitespace()).args(["--data", "my plans"]))
    };
    elsewhere("plan show").exits(4).complains("`planwright plan on --data 'my plans'` begins one");
    elsewhere("plan on").done().says("through: planwright mcp --session cli:").says("--data 'my plans'\n");
    elsewhere("plan cancel 1").done().says(": planwright plan on --data 'my plans'\n");
    elsewhere("plan show 7").exits(4).complains("hint: planwright plan list --data 'my plans'\n");
    elsewhere("plan show --session no-such-key").exits(4).complains("hint: planwright sessions --data 'my plans'\n");
    let database = world.run("plan on --database sqlite:other.db").done();
    assert!(database.stdout.contains("--database sqlite:other.db\n"), "{}", database.stdout);
    // What is set for every command is not repeated.
    let variable =
        crate::world::ran(world.command().env("PLANWRIGHT_DATABASE", "sqlite:other.db").args(["plan", "show", "7"]));
    variable.exits(4).complains("hint: planwright plan list\n");
}
