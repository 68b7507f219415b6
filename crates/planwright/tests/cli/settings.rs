use crate::world::{Ran, World, ran};

#[test]
fn wrong_settings_name_the_file_the_line_and_the_key() {
    for (text, complaint) in [
        ("database = \"sqlite:a.db\"\nsteps = 3\n", "line 2, at `steps`: unknown field `steps`"),
        ("[limits]\n\nsteps = \"many\"\n", "line 3, at `steps`: invalid type"),
        ("[limits]\nplan_bytes = 0\n", "line 2, at `plan_bytes`: `0` is not a whole number from 1 up"),
        ("[plans]\ntools = \"all\"\n", "unknown field `plans`"),
        ("[plan]\ntools = \"some\"\n", "line 2, at `tools`: `some` is none of `all`, `read_only`"),
        ("[turn]\ntool_seconds = -1\n", "line 2, at `tool_seconds`: `-1` is not a whole number of seconds"),
        ("[reply]\ntext_bytes = 0\n", "line 2, at `text_bytes`: `0` is not a whole number from 1 up"),
        ("[reply]\nwords = 1\n", "line 2, at `words`: unknown field `words`"),
        ("[turn]\nminutes = 1\n", "line 2, at `minutes`: unknown field `minutes`"),
        (
            "context_tokens = 5000000000\n",
            "line 1, at `context_tokens`: `5000000000` is not a whole number from 1 up, or is too large",
        ),
        ("context_tokens = 0\n", "line 1, at `context_tokens`: `0` is not a whole number from 1 up"),
        ("model = \"gpt-5\"\n", "at `model`: `gpt-5` does not say whose model it is; did you mean `openai:gpt-5`?"),
        ("[planning_files]\nenabled = \"yes\"\n", "line 2, at `enabled`: invalid type"),
        ("[planning_files]\nfindings_every = -1\n", "line 2, at `findings_every`"),
        ("[planning_files]\nauto = true\n", "line 2, at `auto`: unknown field `auto`"),
        ("database = \n", "line 1, at `database`"),
        ("database = \"mysql:x\"\n", "at `database`: The database is given as"),
        ("[server]\nlisten = \"7717\"\n", "line 2, at `listen`: `7717` is not an address with a port"),
        ("[server]\n\nhosts = [\"https://a.example\"]\n", "line 3, at `hosts`: `https://a.example` is not the name of"),
        ("[server]\norigins = [\"a.example\"]\n", "line 2, at `origins`: `a.example` is not an origin"),
        ("[server]\ngrace_seconds = 0\n", "line 2, at `grace_seconds`"),
        ("[server]\nlease_seconds = 0\n", "line 2, at `lease_seconds`"),
        ("[server]\nlog_format = \"xml\"\n", "line 2, at `log_format`: `xml` is none of `pretty`, `json`"),
        ("[server]\nbody_bytes = \"2 MB\"\n", "line 2, at `body_bytes`: invalid type"),
        ("[server]\ntoken = \"never in a file\"\n", "line 2, at `token`: unknown field `token`"),
        ("agents = []\n", "at `agents`: at least one agent"),
        ("agents = [\"planner\"]\n", "at `agents`: `planner` is always there"),
    ] {
        let world = World::new();
        world.write("planwright.toml", text);
        let ran = world.run("plan on").exits(2).complains("planwright.toml").complains(complaint);
        ran.never_complains("nonzero").never_complains("u32");
        assert!(!world.store().exists(), "{text}");
    }
}

#[test]
fn a_secret_in_the_file_is_never_shown() {
    let world = World::new();
    world.write("planwright.toml", "database = \"postgres://me:secret@host/db\nplan = 1\n");
    let ran = world.run("plan on").exits(2);
    assert!(!ran.stderr.contains("secret"), "{}", ran.stderr);
}

#[test]
fn a_named_file_must_be_there_and_the_usual_one_need_not() {
    let world = World::new();
    world.run("plan on").done();
    world.run("plan list --config nowhere.toml").exits(2).complains("nowhere.toml cannot be read");
}

/// The store that was made tells which setting won.
#[test]
fn flags_come_before_variables_before_the_file_before_defaults() {
    let made = |name: &str, world: &World, run: &dyn Fn() -> Ran| {
        run().done();
        assert!(world.path(name).exists(), "{name}");
    };
    let world = World::new();
    made("planwright.db", &world, &|| world.run("plan on"));
    let world = World::new();
    world.write("planwright.toml", "database = \"sqlite:file.db\"\n");
    made("file.db", &world, &|| world.run("plan on"));
    let with_variable = || {
        let mut command = world.command();
        command.env("PLANWRIGHT_DATABASE", "sqlite:variable.db").args(["plan", "on"]);
        command
    };
    made("variable.db", &world, &|| ran(&mut with_variable()));
    made("flag.db", &world, &|| ran(with_variable().args(["--database", "sqlite:flag.db"])));
    // An empty variable is one that is not set.
    let world = World::new();
    made("planwright.db", &world, &|| ran(world.command().env("PLANWRIGHT_DATABASE", "").args(["plan", "on"])));
}

#[test]
fn a_path_in_the_file_counts_from_the_file() {
    let world = World::new();
    std::fs::create_dir(world.path("etc")).unwrap();
    world.write("etc/p.toml", "database = \"sqlite:store.db\"\n");
    world.run("plan on --config etc/p.toml").done();
    assert!(world.path("etc/store.db").exists());
}

#[test]
fn every_setting_has_a_variable_that_wins_over_the_file() {
    let world = World::new();
    world.write("planwright.toml", "agents = [\"coder\"]\n[limits]\nplan_bytes = 5\nsteps = 5\n");
    world.run("plan on").done();
    for (name, value, complaint) in [
        ("PLANWRIGHT_LIMITS_STEPS", "none", "PLANWRIGHT_LIMITS_STEPS: `none` is not a whole number from 1 up"),
        ("PLANWRIGHT_LIMITS_PLAN_BYTES", "0", "PLANWRIGHT_LIMITS_PLAN_BYTES"),
        ("PLANWRIGHT_LIMITS_MESSAGE_BYTES", "-1", "PLANWRIGHT_LIMITS_MESSAGE_BYTES"),
        ("PLANWRIGHT_AGENTS", "planner,coder", "PLANWRIGHT_AGENTS"),
        ("PLANWRIGHT_MODEL", "openai:", "PLANWRIGHT_MODEL: The name of the model is missing after `openai:`"),
        ("PLANWRIGHT_CONTEXT_TOKENS", "many", "PLANWRIGHT_CONTEXT_TOKENS: `many` is not a whole number from 1 up"),
        ("PLANWRIGHT_PLAN_TOOLS", "none", "PLANWRIGHT_PLAN_TOOLS: `none` is none of `all`, `read_only`"),
        ("PLANWRIGHT_PLAN_ON_FAILURE", "x", "PLANWRIGHT_PLAN_ON_FAILURE: `x` is none of `stop`, `go_on`"),
        (
            "PLANWRIGHT_PLAN_STANDING_APPROVAL",
            "all",
            "PLANWRIGHT_PLAN_STANDING_APPROVAL: `all` is none of `off`, `read_only`",
        ),
        ("PLANWRIGHT_TURN_MODEL_CALLS", "0", "PLANWRIGHT_TURN_MODEL_CALLS"),
        ("PLANWRIGHT_TURN_TOOL_CALLS", "x", "PLANWRIGHT_TURN_TOOL_CALLS"),
        ("PLANWRIGHT_TURN_TOKENS", "1.5", "PLANWRIGHT_TURN_TOKENS"),
        ("PLANWRIGHT_TURN_SECONDS", "soon", "PLANWRIGHT_TURN_SECONDS"),
        ("PLANWRIGHT_TURN_TOOL_SECONDS", "-", "PLANWRIGHT_TURN_TOOL_SECONDS"),
        ("PLANWRIGHT_REPLY_TEXT_BYTES", "0", "PLANWRIGHT_REPLY_TEXT_BYTES"),
        ("PLANWRIGHT_REPLY_ARGUMENTS_BYTES", "x", "PLANWRIGHT_REPLY_ARGUMENTS_BYTES"),
        ("PLANWRIGHT_REPLY_CALLS", "x", "PLANWRIGHT_REPLY_CALLS"),
        ("PLANWRIGHT_REPLY_BYTES", "x", "PLANWRIGHT_REPLY_BYTES"),
        ("PLANWRIGHT_REPLY_EVENT_BYTES", "x", "PLANWRIGHT_REPLY_EVENT_BYTES"),
        ("PLANWRIGHT_REPLY_STREAM_BYTES", "x", "PLANWRIGHT_REPLY_STREAM_BYTES"),
        ("PLANWRIGHT_SERVER_LISTEN", "here", "PLANWRIGHT_SERVER_LISTEN: `here` is not an address with a port"),
        ("PLANWRIGHT_SERVER_HOSTS", "a.example,b/c", "PLANWRIGHT_SERVER_HOSTS: `b/c` is not the name of a host"),
        ("PLANWRIGHT_SERVER_ORIGINS", "a.example", "PLANWRIGHT_SERVER_ORIGINS: `a.example` is not an origin"),
        ("PLANWRIGHT_SERVER_GRACE_SECONDS", "soon", "PLANWRIGHT_SERVER_GRACE_SECONDS"),
        ("PLANWRIGHT_SERVER_LOG_FORMAT", "xml", "PLANWRIGHT_SERVER_LOG_FORMAT: `xml` is none of `pretty`, `json`"),
        ("PLANWRIGHT_SERVER_BODY_BYTES", "0", "PLANWRIGHT_SERVER_BODY_BYTES"),
        ("PLANWRIGHT_SERVER_HEADER_BYTES", "x", "PLANWRIGHT_SERVER_HEADER_BYTES"),
        ("PLANWRIGHT_SERVER_HEADERS", "x", "PLANWRIGHT_SERVER_HEADERS"),
        ("PLANWRIGHT_SERVER_JSON_DEPTH", "x", "PLANWRIGHT_SERVER_JSON_DEPTH"),
        ("PLANWRIGHT_SERVER_CONNECTIONS", "-1", "PLANWRIGHT_SERVER_CONNECTIONS"),
        ("PLANWRIGHT_SERVER_CONNECTIONS_PER_ADDRESS", "x", "PLANWRIGHT_SERVER_CONNECTIONS_PER_ADDRESS"),
        ("PLANWRIGHT_SERVER_HEADER_SECONDS", "x", "PLANWRIGHT_SERVER_HEADER_SECONDS"),
        ("PLANWRIGHT_SERVER_BODY_SECONDS", "x", "PLANWRIGHT_SERVER_BODY_SECONDS"),
        ("PLANWRIGHT_SERVER_WRITE_SECONDS", "x", "PLANWRIGHT_SERVER_WRITE_SECONDS"),
        ("PLANWRIGHT_SERVER_REQUESTS_PER_SECOND", "x", "PLANWRIGHT_SERVER_REQUESTS_PER_SECOND"),
        ("PLANWRIGHT_SERVER_BURST", "x", "PLANWRIGHT_SERVER_BURST"),
        ("PLANWRIGHT_SERVER_WRONG_TOKENS_PER_MINUTE", "x", "PLANWRIGHT_SERVER_WRONG_TOKENS_PER_MINUTE"),
        ("PLANWRIGHT_TOKEN", "short", "PLANWRIGHT_TOKEN: it is too short"),
        (
            "PLANWRIGHT_PLANNING_FILES_ENABLED",
            "maybe",
            "PLANWRIGHT_PLANNING_FILES_ENABLED: `maybe` is neither `true` nor `false`",
        ),
        ("PLANWRIGHT_PLANNING_FILES_AUTO_INIT", "2", "PLANWRIGHT_PLANNING_FILES_AUTO_INIT"),
        (
            "PLANWRIGHT_PLANNING_FILES_FINDINGS_EVERY",
            "-1",
            "PLANWRIGHT_PLANNING_FILES_FINDINGS_EVERY: `-1` is not a whole number from 0 up",
        ),
        ("PLANWRIGHT_PLANNING_FILES_FINDINGS_CHARS", "x", "PLANWRIGHT_PLANNING_FILES_FINDINGS_CHARS"),
        ("PLANWRIGHT_PLANNING_FILES_MIN_WORDS", "x", "PLANWRIGHT_PLANNING_FILES_MIN_WORDS"),
        ("PLANWRIGHT_PLANNING_FILES_MIN_SCORE", "x", "PLANWRIGHT_PLANNING_FILES_MIN_SCORE"),
        ("PLANWRIGHT_PLANNING_FILES_ERROR_ATTEMPTS", "x", "PLANWRIGHT_PLANNING_FILES_ERROR_ATTEMPTS"),
    ] {
        ran(world.command().env(name, value).args(["plan", "list"])).exits(2).complains(complaint);
    }
    ran(world.command().env("PLANWRIGHT_AGENTS", "cook, waiter").args(["plan", "list"])).done();
}

#[test]
fn limits_reach_the_engine() {
    let world = World::with_plan();
    world.write("planwright.toml", "[limits]\nplan_bytes = 10\n");
    let call = r##"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"plan_set_content","arguments":{"plan_markdown":"# much too long"}}}"##;
    let answer = crate::mcp::talk(&world, "mcp --session session-one", &[call]);
    assert!(answer.stdout.contains("LIMIT_EXCEEDED") && answer.stdout.contains("at most 10"), "{answer:?}");
    let raised =
        crate::mcp::talk_with(&world, "mcp --session session-one", &[call], &[("PLANWRIGHT_LIMITS_PLAN_BYTES", "100")]);
    assert!(raised.stdout.contains("READY"), "{raised:?}");
}

/// The tools that an agent is offered tell whether planning files are on.
#[test]
fn planning_files_are_switched_on_by_the_file_and_by_the_variable_which_wins() {
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let name = "PLANWRIGHT_PLANNING_FILES_ENABLED";
    for (file, variable, expected) in [
        ("", None, false),
        ("[planning_files]\nenabled = true\n", None, true),
        ("", Some("true"), true),
        ("[planning_files]\nenabled = true\n", Some("off"), false),
    ] {
        let world = World::new();
        world.write("planwright.toml", file);
        let variables: Vec<_> = variable.map(|value| (name, value)).into_iter().collect();
        let answer = crate::mcp::talk_with(&world, "mcp --session session-one", &[list], &variables);
        assert_eq!(answer.stdout.contains("init_plan"), expected, "{file} {variable:?}: {answer:?}");
    }
}

/// It is for new sessions; the others stay as they are. The store has it, so that an agent's variable turns nothing off.
#[test]
fn plan_work_over_mcp_begins_as_the_setting_says() {
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let plans = |world: &World, line: &str, variables: &[(&str, &str)]| {
        crate::mcp::talk_with(world, line, &[list], variables).stdout.contains("plan_set_content")
    };
    let off = &[("PLANWRIGHT_MCP_PLAN", "off")];
    let world = World::new();
    assert!(plans(&world, "mcp --session session-one", &[]));
    assert!(plans(&world, "mcp --session session-two", off), "the store counts");
    world.run("config set mcp.plan off").done();
    assert!(!plans(&world, "mcp --session session-three", &[]));
    assert!(plans(&world, "mcp --session session-one", &[]), "it stays as it was");
    assert!(plans(&world, "mcp --session session-four --plan document", &[]));
    assert!(plans(&world, "mcp --session session-five", &[("PLANWRIGHT_MCP_PLAN", "on")]), "it is stricter");
    world.run("config set mcp.plan maybe").exits(2).complains("`maybe` is none of `on`, `off`");

    let world = World::new();
    world.write("planwright.toml", "[mcp]\nplan = \"off\"\n");
    assert!(!plans(&world, "mcp --session session-one", &[]), "a new store takes it from the file");
    world.run("config show").done().says("mcp.plan");
}

#[test]
fn colours_are_for_terminals_or_when_asked_for() {
    let world = World::with_plan();
    let escape = "\u{1b}[";
    world.run("plan show").done().never_says(escape);
    world.run("plan show --color always").done().says(escape);
    world.run("plan show --color never").done().never_says(escape);
    ran(world.command().env("NO_COLOR", "1").args(["plan", "show"])).done().never_says(escape);
    // What is asked for explicitly wins.
    ran(world.command().env("NO_COLOR", "1").args(["plan", "show", "--color", "always"])).done().says(escape);
}

#[test]
fn what_happens_is_told_on_stderr_only() {
    let world = World::with_plan();
    let loud = world.run("plan off -v --json").done();
    assert!(loud.stderr.contains("committed"), "{}", loud.stderr);
    loud.json();
    let filtered = ran(world.command().env("PLANWRIGHT_LOG", "planwright_engine=debug").args(["plan", "on"])).done();
    assert!(filtered.stderr.contains("committed"), "{}", filtered.stderr);
}

#[test]
fn a_store_that_cannot_be_opened_says_why() {
    let world = World::new();
    world.write("in-the-way", "");
    world.run("plan on --database sqlite:in-the-way/p.db").exits(6).complains("error: ").complains("in-the-way");
    let path = world.path("in-the-way/data");
    ran(world.command().args(["plan", "on", "--data"]).arg(path)).exits(6).complains("in-the-way");
    world.run("plan on --database mysql:x").exits(2).complains("sqlite:FILE");
}

#[cfg(unix)]
#[test]
fn a_new_data_folder_is_the_persons_own() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::new();
    let folder = world.path("fresh/data");
    ran(world.command().args(["plan", "on", "--data"]).arg(&folder)).done();
    assert_eq!(std::fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn a_wrong_template_or_path_of_plan_files_is_named() {
    let world = World::new();
    world.write("plan-template.md", "no sections\n");
    world.run("plan on").exits(2).complains("plan-template.md").complains("at least one heading");
    let world = World::new();
    world.write("planwright.toml", "[plan]\nexport = \"plans/{day}.md\"\n");
    world.run("plan on").exits(2).complains("planwright.toml").complains("unknown placeholder");
}
