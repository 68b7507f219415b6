//! Plans of the clients' own plan modes: taken in, decided by a person, and sent back to the client in its own form.

use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::world::{Ran, World, ran};

/// A client's name, and what it sends.
const INPUTS: &str = include_str!("hook_inputs/native_plans.txt");
const GET: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"plan_get","arguments":{}}}"#;

const FIRST: &str = "# Move the tables\n\n- [ ] copy the rows\n- [ ] drop the old table\n";
const SECOND: &str = "# Move the tables\n\n- [ ] copy the rows\n- [ ] rename the old table\n";

/// A client with a plan mode, in a world where an agent has begun to plan.
struct PlanMode {
    world: World,
    client: &'static str,
    input: &'static str,
}

/// What a client makes of an answer.
#[derive(Debug, PartialEq)]
enum Reaction {
    /// It goes on as it would without the hook.
    Nothing,
    Allowed,
    /// The words for its agent.
    Back(String),
    /// The words for its person; the turn ends.
    Told(String),
}

fn inputs() -> impl Iterator<Item = (&'static str, &'static str)> {
    INPUTS.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(' '))
}

impl PlanMode {
    fn new((client, input): (&'static str, &'static str)) -> Self {
        let world = World::new();
        crate::mcp::talk(&world, "mcp", &[GET]).done();
        Self { world, client, input }
    }

    fn claude_code() -> Self {
        Self::new(inputs().next().unwrap())
    }

    /// What the client sends about a plan, with its file written if it has the text there.
    fn input(&self, plan: &str) -> String {
        for file in
            ["home/plans/quiet-river.md", "home/copilot/session-state/7c1d9e20-0d4b-4a1e-9a51-3c5b1f0e8a11/plan.md"]
        {
            std::fs::create_dir_all(self.world.path(file).parent().unwrap()).unwrap();
            self.world.write(file, plan);
        }
        let project = self.world.path("").display().to_string();
        let proposed = json!(format!("Here is the plan.\n<proposed_plan>\n{plan}</proposed_plan>")).to_string();
        let input = self.input.replace("{proposed}", &proposed).replace("{plan}", &json!(plan).to_string());
        input.replace("{project}", project.trim_end_matches('/')).replace("{home}", &format!("{project}home"))
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = self.world.command();
        command.env("HOME", self.world.path("home")).env("GEMINI_PLANS_DIR", self.world.path("home/plans"));
        command.env("COPILOT_HOME", self.world.path("home/copilot"));
        command.args(["hook", "--client", self.client]).args(words);
        command
    }

    fn propose(&self, plan: &str) -> Reaction {
        self.send(&self.input(plan))
    }

    /// Nobody decides while this hook waits.
    fn send(&self, input: &str) -> Reaction {
        self.reaction(start(&mut self.command(&["--wait-seconds", "0", "native-plan"]), input))
    }

    fn reaction(&self, child: Child) -> Reaction {
        let ran: Ran = child.wait_with_output().unwrap().into();
        let ran = ran.done();
        if ran.stdout.is_empty() {
            return Reaction::Nothing;
        }
        let answer = ran.json();
        let own = &answer["hookSpecificOutput"];
        let words = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
        match (self.client, own["hookEventName"].as_str()) {
            ("claude-code", Some("PermissionRequest")) => match own["decision"]["behavior"].as_str() {
                Some("allow") => {
                    assert_eq!(own["decision"]["updatedPermissions"][0]["type"], "setMode");
                    assert!(own["decision"]["updatedInput"]["plan"].is_string(), "{answer}");
                    Reaction::Allowed
                }
                _ => Reaction::Back(words(&own["decision"]["message"])),
            },
            ("claude-code", Some("PreToolUse")) if own["permissionDecision"] == "allow" => {
                assert!(words(&own["additionalContext"]).contains("plan_progress"));
                // Without it Claude Code asks its person all the same.
                assert!(own["updatedInput"]["plan"].is_string(), "{answer}");
                Reaction::Allowed
            }
            ("claude-code" | "vscode", Some("PreToolUse")) => {
                assert_eq!(own["permissionDecision"], "deny");
                Reaction::Back(words(&own["permissionDecisionReason"]))
            }
            ("codex", None) if answer["decision"] == "block" => Reaction::Back(words(&answer["reason"])),
            ("codex", None) => Reaction::Told(words(&answer["systemMessage"])),
            ("gemini", None) => {
                assert_eq!(answer["decision"], "block");
                Reaction::Back(words(&answer["reason"]))
            }
            other => panic!("{other:?}: {answer}"),
        }
    }

    /// The client goes on: by the answer, or because there is none. Codex shows the words to its person as well.
    #[track_caller]
    fn assert_passes(&self, reaction: &Reaction) {
        let passes = match self.client {
            "claude-code" => *reaction == Reaction::Allowed,
            "codex" => matches!(reaction, Reaction::Told(words) if words.contains("approved plan")),
            _ => *reaction == Reaction::Nothing,
        };
        assert!(passes, "{}: {reaction:?}", self.client);
    }

    #[track_caller]
    fn assert_waits(&self, reaction: &Reaction) {
        let (Reaction::Back(words) | Reaction::Told(words)) = reaction else { panic!("{}: {reaction:?}", self.client) };
        assert!(words.contains("No person has decided yet"), "{words}");
        assert_eq!(matches!(reaction, Reaction::Told(_)), self.client == "codex", "{reaction:?}");
    }

    /// Whether an edit passes the client's hook before every call.
    fn edits(&self) -> bool {
        let call = json!({ "cwd": self.world.path(""), "tool_name": "edit", "tool_input": { "file_path": "a.txt" } });
        let child = start(&mut self.command(&["pre-tool-use"]), &call.to_string());
        let ran: Ran = child.wait_with_output().unwrap().into();
        ran.done().stdout.is_empty()
    }

    fn approve(&self) {
        let digest = self.world.json("plan show")["digest"].as_str().unwrap().to_owned();
        self.world.run(&format!("plan approve --digest {digest}")).done();
    }

    fn status(&self) -> Value {
        self.world.json("plan show")["status"].clone()
    }
}

fn start(command: &mut Command, input: &str) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A hook that answers without reading has closed its end.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child
}

#[track_caller]
fn back(reaction: Reaction) -> String {
    match reaction {
        Reaction::Back(words) => words,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_plan_of_each_plan_mode_waits_is_commented_changed_and_approved() {
    for found in inputs() {
        let mode = PlanMode::new(found);
        let world = &mode.world;
        mode.assert_waits(&mode.propose(FIRST));
        let inbox = world.json("inbox");
        assert_eq!(inbox["items"][0]["kind"], "plan", "{}: {inbox}", mode.client);
        world.run("plan show").done().says("drop the old table");
        assert!(!mode.edits(), "{}: an edit before the approval", mode.client);
        // The same text again waits on and is no other version.
        mode.assert_waits(&mode.propose(FIRST));
        assert_eq!(world.json("plan show")["version"], 1, "{}", mode.client);

        world.run("plan revise 1 -- keep the old table").done();
        let words = back(mode.propose(FIRST));
        assert!(words.contains("keep the old table"), "{}: {words}", mode.client);
        mode.assert_waits(&mode.propose(SECOND));
        world.run("plan diff").done().says("drop the old table").says("rename the old table");

        mode.approve();
        mode.assert_passes(&mode.propose(SECOND));
        assert!(mode.edits(), "{}: an edit after the approval", mode.client);
        assert_eq!(world.json("plan show")["number"], 1, "{}", mode.client);
    }
}

/// Looks until this text waits. The hook is another process.
fn until_it_waits(mode: &PlanMode, text: &str) {
    let begun = Instant::now();
    while !mode.world.json("plan show")["markdown"].as_str().is_some_and(|shown| shown.contains(text.trim())) {
        assert!(begun.elapsed() < Duration::from_secs(240), "the hook has not stored the plan");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn the_hook_waits_and_answers_with_the_decision() {
    for found in inputs().filter(|(client, _)| *client == "claude-code") {
        let mode = PlanMode::new(found);
        let waiting = |plan: &str| {
            let hook = start(&mut mode.command(&["--wait-seconds", "500", "native-plan"]), &mode.input(plan));
            until_it_waits(&mode, plan);
            hook
        };
        let hook = waiting(FIRST);
        mode.world.run("plan revise 1 -- keep the old table").done();
        assert!(back(mode.reaction(hook)).contains("keep the old table"));
        let hook = waiting(SECOND);
        mode.approve();
        assert_eq!(mode.reaction(hook), Reaction::Allowed);
    }
}

#[test]
fn another_text_after_the_approval_needs_its_own() {
    let mode = PlanMode::claude_code();
    mode.assert_waits(&mode.propose(FIRST));
    mode.approve();
    mode.assert_passes(&mode.propose(FIRST));
    mode.assert_waits(&mode.propose(SECOND));
    assert_eq!((&mode.world.json("plan show")["number"], mode.status()), (&json!(2), json!("READY")));
    assert!(!mode.edits());
}

#[test]
fn a_rejected_text_comes_back_with_the_reason_and_another_one_waits() {
    let mode = PlanMode::claude_code();
    mode.assert_waits(&mode.propose(FIRST));
    mode.world.run("plan reject 1 -- not this year").done();
    let words = back(mode.propose(FIRST));
    assert!(words.contains("not this year") && words.contains("rejected"), "{words}");
    mode.assert_waits(&mode.propose(SECOND));
}

#[test]
fn a_plan_that_is_refused_comes_back_with_the_reason() {
    let mode = PlanMode::claude_code();
    let words = back(mode.propose("# One\n\n```planwright-needs\nfile = [\"src\"]\n```\n"));
    assert!(words.contains("INVALID_ARGUMENT"), "{words}");
    assert!(back(mode.propose(" ")).contains("empty"));
    assert_eq!(mode.status(), "COLLECTING");
    // In a session that plans by recorded calls there is no text to store.
    mode.world.run("plan off").done();
    crate::mcp::talk(&mode.world, "mcp --session calls --plan collect", &[GET]).done();
    let entry = json!({ "command": "planwright", "args": ["mcp", "--session", "calls"] });
    mode.world.write(".mcp.json", &json!({ "mcpServers": { "planwright": entry } }).to_string());
    assert!(back(mode.propose(FIRST)).contains("does not take this plan in"));
}

#[test]
fn a_message_without_a_plan_and_a_session_without_plan_work_are_left_alone() {
    for (client, input) in inputs() {
        let mode = PlanMode::new((client, input));
        let other = mode.input(FIRST).replace("xitPlanMode", "ther").replace("exit_plan_mode", "other");
        let other = other.replace("<proposed_plan>", "");
        assert_eq!(mode.send(&other), Reaction::Nothing, "{client}");
        mode.world.run("plan off").done();
        assert_eq!(mode.propose(FIRST), Reaction::Nothing, "{client}: plan work is off");
        let unused = PlanMode { world: World::new(), client, input };
        assert_eq!(unused.propose(FIRST), Reaction::Nothing, "{client}: no agent has begun to plan");
    }
}

#[test]
fn a_store_that_cannot_be_read_approves_nothing() {
    for (client, input) in inputs() {
        let mode = PlanMode { world: World::new(), client, input };
        mode.world.write(
            "planwright.db",
            "this is no database, and it is long enough to be looked at as one by sqlite itself",
        );
        let reaction = mode.propose(FIRST);
        let (Reaction::Back(words) | Reaction::Told(words)) = &reaction else { panic!("{client}: {reaction:?}") };
        assert!(words.contains("cannot tell"), "{client}: {words}");
    }
    let mode = PlanMode::claude_code();
    assert!(back(mode.send("{ \"tool_name\": ")).contains("cannot read"));
}

/// Codex begins another turn with the reason, so it is given only once.
#[test]
fn what_was_sent_back_to_codex_is_not_sent_back_again() {
    let mode = PlanMode::new(inputs().find(|(client, _)| *client == "codex").unwrap());
    mode.propose(FIRST);
    mode.world.run("plan revise 1 -- keep the old table").done();
    assert!(matches!(mode.propose(FIRST), Reaction::Back(_)));
    let again = mode.input(FIRST).replace("\"stop_hook_active\": false", "\"stop_hook_active\": true");
    assert!(matches!(mode.send(&again), Reaction::Told(words) if words.contains("keep the old table")));
    let refused = mode.input("# One\n\n```planwright-needs\nfile = [\"src\"]\n```\n");
    let refused = refused.replace("\"stop_hook_active\": false", "\"stop_hook_active\": true");
    assert!(matches!(mode.send(&refused), Reaction::Told(words) if words.contains("INVALID_ARGUMENT")));
}

#[test]
fn the_name_of_a_plan_file_leads_nowhere_else() {
    let mode = PlanMode::new(inputs().find(|(client, _)| *client == "gemini").unwrap());
    std::fs::create_dir_all(mode.world.path("home")).unwrap();
    mode.world.write("home/secret.md", "secret");
    for name in ["../secret.md", "/etc/hostname", "none.md", "quiet-river.txt"] {
        let input = mode.input(FIRST).replace("quiet-river.md", name);
        assert!(back(mode.send(&input)).contains("cannot read the plan"), "{name}");
    }
    assert_eq!(mode.status(), "COLLECTING");
}

/// The plan mode of Claude Code and Gemini CLI writes its plan into a file before it proposes it.
#[test]
fn the_plan_file_of_a_plan_mode_is_written_before_the_approval_and_nothing_else() {
    let world = World::new();
    crate::mcp::talk(&world, "mcp", &[GET]).done();
    for folder in ["project/src", "home/.claude/plans", "home/plans"] {
        std::fs::create_dir_all(world.path(folder)).unwrap();
    }
    std::os::unix::fs::symlink(world.path("project"), world.path("home/.claude/plans/out")).unwrap();
    std::os::unix::fs::symlink(world.path("project/a.md"), world.path("home/.claude/plans/link.md")).unwrap();
    crate::mcp::talk(&world, "mcp --session own-plan", &[GET]).done();
    let entry = json!({ "command": "planwright", "args": ["mcp", "--session", "own-plan"] });
    for (client, tool, mode, file, passes) in [
        ("claude-code", "Write", "plan", "home/.claude/plans/a.md", true),
        ("claude-code", "Edit", "plan", "home/.claude/plans/a.md", true),
        ("claude-code", "Write", "default", "home/.claude/plans/a.md", false),
        ("claude-code", "Write", "plan", "home/.claude/plans/a.sh", false),
        ("claude-code", "Write", "plan", "home/.claude/plans/link.md", false),
        ("claude-code", "Write", "plan", "home/.claude/plans/out/a.md", false),
        ("claude-code", "Write", "plan", "home/.claude/plans/../CLAUDE.md", false),
        ("claude-code", "Write", "plan", "home/.claude/settings.json", false),
        ("claude-code", "Write", "plan", "project/a.md", false),
        ("gemini", "write_file", "plan", "home/plans/a.md", true),
        ("gemini", "write_file", "plan", "home/a.md", false),
        ("gemini", "run_shell_command", "plan", "home/plans/a.md", false),
    ] {
        let project = world.path("project");
        let call = json!({
            "cwd": project, "permission_mode": mode, "tool_name": tool,
            "tool_input": { "file_path": world.path(file), "content": "# Plan" },
        });
        world.write("project/.mcp.json", &json!({ "mcpServers": { "planwright": entry } }).to_string());
        std::fs::create_dir_all(world.path("project/.gemini")).unwrap();
        world.write("project/.gemini/settings.json", &json!({ "mcpServers": { "planwright": entry } }).to_string());
        let mut command = world.command();
        command.env("HOME", world.path("home")).env("GEMINI_PLANS_DIR", world.path("home/plans"));
        command.args(["hook", "--client", client, "pre-tool-use"]);
        let ran: Ran = start(&mut command, &call.to_string()).wait_with_output().unwrap().into();
        assert_eq!(ran.done().stdout.is_empty(), passes, "{client} {tool} {mode} {file}");
    }
}

/// Nobody has made the folder of plans before the first one.
#[test]
fn the_first_plan_file_of_a_plan_mode_is_written_as_well() {
    let world = World::new();
    std::fs::create_dir_all(world.path("project")).unwrap();
    crate::mcp::talk(&world, "mcp --session own-plan", &[GET]).done();
    let entry = json!({ "mcpServers": { "planwright": { "command": "planwright", "args": ["mcp", "--session", "own-plan"] } } });
    world.write("project/.mcp.json", &entry.to_string());
    std::fs::create_dir_all(world.path("project/.gemini")).unwrap();
    world.write("project/.gemini/settings.json", &entry.to_string());
    std::os::unix::fs::symlink(world.path("project"), world.path("out")).unwrap();
    for (client, tool, home, file, passes) in [
        ("claude-code", "Write", "home", "home/.claude/plans/a.md", true),
        ("claude-code", "Write", "home", "home/.claude/plans/b/../a.md", true),
        ("claude-code", "Write", "home", "home/.claude/plans/b/a.md", false),
        ("claude-code", "Write", "home", "home/.claude/a.md", false),
        ("claude-code", "Write", "out", "out/.claude/plans/a.md", false),
        ("gemini", "write_file", "home", "home/plans/a.md", true),
        ("gemini", "write_file", "out", "out/plans/a.md", false),
    ] {
        let call = json!({
            "cwd": world.path("project"), "permission_mode": "plan", "tool_name": tool,
            "tool_input": { "file_path": world.path(file), "content": "# Plan" },
        });
        let mut command = world.command();
        command.env("HOME", world.path(home)).env("GEMINI_PLANS_DIR", world.path(home).join("plans"));
        command.args(["hook", "--client", client, "pre-tool-use"]);
        let ran: Ran = start(&mut command, &call.to_string()).wait_with_output().unwrap().into();
        assert_eq!(ran.done().stdout.is_empty(), passes, "{client} {file}");
    }
}

fn in_project(world: &World, line: &str) -> Ran {
    std::fs::create_dir_all(world.path("project")).unwrap();
    let mut command = world.command();
    command.current_dir(world.path("project")).env("HOME", world.path("home")).args(line.split_whitespace());
    ran(&mut command)
}

#[test]
fn what_takes_plans_in_is_installed_unless_the_person_does_not_want_it() {
    for (client, file) in [
        ("claude-code", "project/.claude/settings.json"),
        ("codex", "home/.codex/hooks.json"),
        ("gemini", "home/.gemini/extensions/planwright/hooks/hooks.json"),
        ("vscode", "project/.github/hooks/planwright.json"),
    ] {
        let world = World::new();
        let text = || std::fs::read_to_string(world.path(file)).unwrap();
        // It is a part of what is shown.
        in_project(&world, &format!("install {client}")).exits(2).says("native-plan").says("--no-native-plans");
        in_project(&world, &format!("install {client} --no-native-plans --yes")).done().never_says("native-plan ");
        assert!(!text().contains("native-plan"), "{client}: {}", text());
        let doctor = in_project(&world, "doctor").stdout;
        for wrong in [
            "hooks.PreToolUse is missing",
            "hooks.PermissionRequest is missing",
            "hooks.Stop is missing",
            "of another version",
        ] {
            assert!(!doctor.contains(wrong), "{client}: {doctor}");
        }
        in_project(&world, &format!("install {client} --native-plans --yes")).done();
        assert!(text().contains("native-plan"), "{client}: {}", text());
        in_project(&world, &format!("install {client} --yes")).done().says("already");
        in_project(&world, &format!("uninstall {client} --yes")).done();
        assert!(!world.path(file).exists(), "{client}");
    }
    let world = World::new();
    in_project(&world, "install claude-code --yes").done();
    in_project(&world, "install claude-code --no-native-plans --yes")
        .exits(2)
        .complains("planwright uninstall claude-code");
    in_project(&world, "install goose --native-plans --yes").exits(2).complains("no plan mode");
    in_project(&world, "install goose --yes").done().never_says("native-plan");
}
