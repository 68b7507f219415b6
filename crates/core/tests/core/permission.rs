//! Who decides about a call: a rule, the approved plan, a default, or a person.

mod lines;
mod own_command;
mod reading;

use std::collections::BTreeMap;

use jiff::Timestamp;
use planwright_core::actor::Actor;
use planwright_core::gate::ToolEffect;
use planwright_core::ids::StepId;
use planwright_core::permission::{
    CallTarget, GuardedFiles, Permission, PermissionCall, PermissionReason, PermissionRule, PermissionRules, PlanCover,
    WorkspaceKind, decide_permission, standing_rule,
};
use planwright_core::plan::content::{CallRunner, RecordedCall};
use planwright_core::plan::digest::{canonical, is_same};
use planwright_core::standing_rule::{PermittedCalls, RulePlace, StandingRule, StoredRule};
use serde_json::{Value, json};

use Permission::{Allow, Ask, Deny};
use WorkspaceKind::{Own, Project};

/// Rules as in the settings: tool, match, decision.
fn rules(rules: &[(&str, &str, Permission)]) -> PermissionRules {
    let rule = |(tool, target, decide): &(&str, &str, Permission)| PermissionRule {
        tool: (*tool).to_owned(),
        target: (!target.is_empty()).then(|| (*target).to_owned()),
        server: None,
        effect: None,
        exact: false,
        decide: *decide,
    };
    PermissionRules::new(rules.iter().map(rule).collect()).unwrap()
}

fn command(line: &str) -> PermissionCall<'_> {
    static NOTHING: Value = Value::Null;
    let target = CallTarget::Command(line);
    PermissionCall { tool: "run_command", arguments: &NOTHING, effect: ToolEffect::Changes, target }
}

fn on_paths<'a>(tool: &'a str, effect: ToolEffect, paths: &'a [String]) -> PermissionCall<'a> {
    static NOTHING: Value = Value::Null;
    PermissionCall { tool, arguments: &NOTHING, effect, target: CallTarget::Paths(paths) }
}

fn decided(rules: &PermissionRules, call: &PermissionCall<'_>) -> Permission {
    decide_permission(rules, call, Project, None).permission
}

#[test]
fn without_rules_the_defaults_decide() {
    let none = rules(&[]);
    let paths = ["src/a.rs".to_owned()];
    let named = ["cargo test".to_owned()];
    let plan = PlanCover { commands: &named, ..PlanCover::default() };
    let reading = on_paths("read_file", ToolEffect::ReadsOnly, &paths);
    let writing = on_paths("write_file", ToolEffect::Repeatable, &paths);
    let upstream = on_paths("github__create_issue", ToolEffect::Changes, &[]);
    let upstream_reading = on_paths("github__list_issues", ToolEffect::ReadsOnly, &[]);
    for (call, workspace, plan, expected, reason) in [
        (reading, Own, None, Allow, PermissionReason::Reading),
        (reading, Project, None, Allow, PermissionReason::Reading),
        (writing, Own, None, Allow, PermissionReason::OwnFolder),
        (writing, Project, None, Ask, PermissionReason::NotCovered),
        (writing, Project, Some(&plan), Allow, PermissionReason::PlanChange),
        (command("cargo test"), Own, None, Allow, PermissionReason::OwnFolder),
        (command("cargo test"), Project, None, Ask, PermissionReason::NotCovered),
        (command("cargo test"), Project, Some(&plan), Allow, PermissionReason::PlanCommand),
        (command(" cargo test\n"), Project, Some(&plan), Allow, PermissionReason::PlanCommand),
        (command("cargo test -q"), Project, Some(&plan), Ask, PermissionReason::NotCovered),
        (command("cargo  test"), Project, Some(&plan), Ask, PermissionReason::NotCovered),
        (command("cargo test; rm x"), Project, Some(&plan), Ask, PermissionReason::NotCovered),
        (upstream, Own, None, Ask, PermissionReason::NotCovered),
        (upstream, Project, Some(&plan), Ask, PermissionReason::NotCovered),
        (upstream_reading, Project, None, Allow, PermissionReason::Reading),
    ] {
        let outcome = decide_permission(&none, &call, workspace, plan);
        assert_eq!((outcome.permission, &outcome.reason), (expected, &reason), "{call:?} in {workspace:?}");
        assert!(outcome.reason.describe().ends_with('.'));
    }
}

#[test]
fn a_line_of_any_kind_is_covered_by_the_plan_that_names_it() {
    let named = ["make && ./run > out".to_owned()];
    let plan = PlanCover { commands: &named, ..PlanCover::default() };
    for (line, expected) in [("make && ./run > out", Allow), ("make && ./run > out2", Ask), ("make", Ask)] {
        assert_eq!(decide_permission(&rules(&[]), &command(line), Project, Some(&plan)).permission, expected, "{line}");
    }
}

#[test]
fn the_exact_calls_of_a_collected_plan_are_covered() {
    let recorded = RecordedCall {
        id: StepId::new("s1").unwrap(),
        tool: "github__create_issue".to_owned(),
        arguments: json!({ "title": "A", "labels": ["x"] }),
        description: None,
        runner: CallRunner::Planwright,
    };
    let plan = PlanCover { calls: &[recorded], ..PlanCover::default() };
    let asking = rules(&[("github__*", "", Ask)]);
    let denying = rules(&[("github__*", "", Deny), ("github__create_issue", "", Allow)]);
    for (rules, tool, arguments, expected) in [
        (&asking, "github__create_issue", json!({ "labels": ["x"], "title": "A" }), Allow),
        (&asking, "github__create_issue", json!({ "labels": ["x"], "title": "B" }), Ask),
        (&asking, "github__delete_issue", json!({ "labels": ["x"], "title": "A" }), Ask),
        (&denying, "github__create_issue", json!({ "labels": ["x"], "title": "A" }), Deny),
    ] {
        let call =
            PermissionCall { tool, arguments: &arguments, effect: ToolEffect::Changes, target: CallTarget::None };
        assert_eq!(decide_permission(rules, &call, Project, Some(&plan)).permission, expected, "{tool} {arguments}");
    }
}

#[test]
fn the_narrowest_rule_wins_and_deny_beats_all() {
    let list = [
        ("*", "", Ask),
        ("run_command", "", Allow),
        ("run_command", "git", Ask),
        ("run_command", "git status", Allow),
        ("run_command", "git push", Deny),
        ("run_command", "cargo test", Allow),
        ("run_command", "cargo", Ask),
    ];
    let mut reversed = list;
    reversed.reverse();
    // The order of writing does not matter.
    for rules in [rules(&list), rules(&reversed)] {
        for (line, expected) in [
            ("ls", Allow),
            ("git log", Ask),
            ("git status", Allow),
            ("git status --short", Allow),
            ("git push", Deny),
            ("git push --force", Deny),
            ("git -C . push", Deny),
            ("/usr/bin/git push", Deny),
            ("cargo test", Allow),
            ("cargo test -q a", Allow),
            ("cargo build", Ask),
        ] {
            assert_eq!(decided(&rules, &command(line)), expected, "{line}");
        }
    }
    let equal = rules(&[("run_command", "make", Allow), ("run_command", "make", Ask)]);
    assert_eq!(decided(&equal, &command("make")), Ask, "of equally narrow rules the strictest");
}

#[test]
fn the_rule_that_decided_is_named() {
    let rules = rules(&[("run_command", "", Ask), ("run_command", "cargo test", Allow)]);
    let outcome = decide_permission(&rules, &command("cargo test -q"), Project, None);
    assert_eq!(
        outcome.reason.describe(),
        "Rule 2 decides: tool = \"run_command\", match = \"cargo test\", decide = \"allow\"."
    );
}

#[test]
fn a_rule_that_stops_is_not_evaded() {
    let rules = rules(&[("run_command", "", Allow), ("run_command", "rm", Deny), ("run_command", "git push", Ask)]);
    for (line, expected) in [
        ("ls", Allow),
        ("rm x", Deny),
        ("/bin/rm x", Deny),
        ("ls; rm x", Deny),
        ("ls && /bin/rm x", Deny),
        ("echo $(rm x)", Deny),
        ("sudo rm x", Deny),
        ("env A=1 rm x", Deny),
        ("sh -c 'rm x'", Deny),
        ("find . -exec rm {} +", Deny),
        ("r''m x", Deny),
        ("r\\m x", Deny),
        ("r\\\nm x", Deny),
        ("echo a\\\\\nrm x", Deny),
        ("git pu\\\nsh", Ask),
        ("git push", Ask),
        ("git -c a=b push", Ask),
        ("sh -c 'git push'", Ask),
        // What cannot be read may hold either of them.
        ("$(echo r)m x", Ask),
        ("sh build.sh", Ask),
        ("ls | cat", Ask),
        ("python3 -c 'x'", Ask),
        ("python3.12 -c 'x'", Ask),
        ("perl5.36.0 -e 'exec q(rm)'", Deny),
        ("uvx rm x", Deny),
    ] {
        assert_eq!(decided(&rules, &command(line)), expected, "{line}");
    }
    let free = self::rules(&[("run_command", "", Allow)]);
    assert_eq!(decided(&free, &command("ls | cat; anything")), Allow, "nothing is stopped, so nothing can be hidden");
}

#[test]
fn programs_that_run_others_are_allowed_only_as_written() {
    let rules = rules(&[
        ("run_command", "env", Allow),
        ("run_command", "sudo", Allow),
        ("run_command", "xargs", Allow),
        ("run_command", "sh", Allow),
        ("run_command", "bash -c", Allow),
        ("run_command", "python3 -m pytest", Allow),
        ("run_command", "node", Allow),
        ("run_command", "timeout 5 cargo test", Allow),
        ("run_command", "python3.12", Allow),
        ("run_command", "/opt/node-22", Allow),
        ("run_command", "uvx", Allow),
    ]);
    for (line, expected) in [
        ("env", Allow),
        ("env rm x", Ask),
        ("sudo rm x", Ask),
        ("xargs rm", Ask),
        ("sh", Allow),
        ("sh -c 'rm x'", Ask),
        ("bash -c 'rm x'", Ask),
        ("python3 -m pytest", Allow),
        ("python3 -m pytest tests", Allow),
        ("python3 -c 'x'", Ask),
        ("node -e x", Ask),
        ("timeout 5 cargo test", Allow),
        ("timeout 5 cargo test -q", Ask),
        ("python3.12", Allow),
        ("python3.12 -c 'x'", Ask),
        ("/opt/node-22 -e x", Ask),
        ("uvx anything", Ask),
    ] {
        assert_eq!(decided(&rules, &command(line)), expected, "{line}");
    }
}

#[test]
fn paths_are_compared_below_the_workspace() {
    let rules = rules(&[
        ("write_file", "src/**", Allow),
        ("write_file", "src/secret/**", Deny),
        ("*", "**/*.lock", Ask),
        ("move_file", "docs/*", Allow),
    ]);
    for (tool, paths, expected) in [
        ("write_file", &["src/a.rs"][..], Allow),
        ("write_file", &["./src/b/../a.rs"], Allow),
        ("write_file", &["src/../other.rs"], Ask),
        ("write_file", &["../src/a.rs"], Ask),
        ("write_file", &["/src/a.rs"], Ask),
        ("write_file", &["src/secret/k"], Deny),
        ("write_file", &["src/x/../secret/k"], Deny),
        ("write_file", &["SRC/Secret/k"], Deny),
        ("write_file", &["Src/a.rs"], Ask),
        ("write_file", &["src/a.lock"], Ask),
        ("move_file", &["docs/a", "docs/b"], Allow),
        ("move_file", &["docs/a", "src/b"], Ask),
        ("move_file", &["docs/a/b", "docs/b"], Ask),
        ("move_file", &[], Ask),
    ] {
        let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
        assert_eq!(decided(&rules, &on_paths(tool, ToolEffect::Changes, &paths)), expected, "{tool} {paths:?}");
    }
}

#[test]
fn servers_and_effects_are_named_by_rules() {
    let settings = r#"[
        {"server": "github", "decide": "deny"},
        {"server": "files", "effect": "reads_only", "decide": "ask"},
        {"tool": "files__*", "effect": "changes", "decide": "allow"}
    ]"#;
    let rules = PermissionRules::new(serde_json::from_str(settings).unwrap()).unwrap();
    for (tool, effect, expected) in [
        ("github__list", ToolEffect::ReadsOnly, Deny),
        ("github_other", ToolEffect::ReadsOnly, Allow),
        ("files__read", ToolEffect::ReadsOnly, Ask),
        ("files__write", ToolEffect::Changes, Allow),
        ("files__touch", ToolEffect::Repeatable, Ask),
    ] {
        assert_eq!(decided(&rules, &on_paths(tool, effect, &[])), expected, "{tool}");
    }
}

#[test]
fn a_rule_that_cannot_mean_what_it_says_is_refused() {
    for (rule, text) in [
        (r#"{"tool": "run_command", "match": "ls; rm", "decide": "allow"}"#, "is not one program with plain words"),
        (r#"{"tool": "run_command", "match": "*", "decide": "allow"}"#, "leave `match` out"),
        (r#"{"tool": "run_command", "match": "", "decide": "allow"}"#, "is not one program with plain words"),
        (r#"{"tool": "write_file", "match": "a[", "decide": "deny"}"#, "is not a glob"),
        (r#"{"tool": "a[", "decide": "deny"}"#, "is not a glob"),
    ] {
        let refused = PermissionRules::new(vec![serde_json::from_str(rule).unwrap()]).unwrap_err().to_string();
        assert!(refused.contains(text) && refused.contains("Permission rule 1"), "{refused}");
    }
    for unread in [r#"{"tool": "x"}"#, r#"{"decide": "maybe"}"#, r#"{"decide": "ask", "path": "x"}"#] {
        assert!(serde_json::from_str::<PermissionRule>(unread).is_err(), "{unread}");
    }
}

/// What a person answers with "always" allows what they were shown where they were asked, and nothing that only begins like it.
#[test]
fn a_rule_made_from_a_call_allows_what_was_shown_in_its_place_only() {
    let project = |path: &str| RulePlace::Project { path: path.to_owned() };
    let (here, there) = (project("/home/ada/project"), project("/home/ada/another"));
    let made = |call: &PermissionCall<'_>, place: &RulePlace| {
        let rule = standing_rule(call, here.clone());
        let (by, at) = (Actor::person("ada", "cli"), Timestamp::UNIX_EPOCH);
        let stored = BTreeMap::from([(7, StoredRule { rule, by, at, session: None })]);
        rules(&[("*", "", Ask)]).with_stored(&stored, place).unwrap()
    };
    let (seen, longer, other) = (command("rm -r build"), command("rm -r build src"), command("rm -r src"));
    for (call, expected) in [(seen, Allow), (longer, Ask), (other, Ask), (command("rm -r build; ls"), Ask)] {
        assert_eq!(decided(&made(&seen, &here), &call), expected, "{call:?}");
        assert_eq!(decided(&made(&seen, &there), &call), Ask, "{call:?}");
    }
    let named = |path: &str| [path.to_owned()];
    let (odd, plain, below) = (named("src/[a]*.rs"), named("src/a.rs"), named("src/[a]bc.rs"));
    let writing = |paths| on_paths("write_file", ToolEffect::Repeatable, paths);
    for (paths, expected) in [(&odd, Allow), (&plain, Ask), (&below, Ask)] {
        assert_eq!(decided(&made(&writing(&odd), &here), &writing(paths)), expected, "{paths:?}");
    }
    let reason = decide_permission(&made(&seen, &here), &seen, Project, None).reason;
    assert!(reason.describe().starts_with("Rule 7 of the store permits the command"), "{}", reason.describe());
}

/// What no pattern says is permitted with exactly its arguments.
#[test]
fn a_call_of_another_kind_is_permitted_with_its_arguments_only() {
    let place = RulePlace::Session { session: crate::world::SESSION.parse().unwrap() };
    let (first, second) = (json!({ "title": "a", "n": 1 }), json!({ "n": 2, "title": "a" }));
    let target = CallTarget::Command("make && rm -r build");
    let two = ["a".to_owned(), "b".to_owned()];
    for (tool, target) in
        [("github__create_issue", CallTarget::None), ("run_command", target), ("move_file", CallTarget::Paths(&two))]
    {
        let call = |arguments| PermissionCall { tool, arguments, effect: ToolEffect::Changes, target };
        let rule = standing_rule(&call(&first), place.clone());
        let (by, at) = (Actor::person("ada", "cli"), Timestamp::UNIX_EPOCH);
        let stored = BTreeMap::from([(7, StoredRule { rule, by, at, session: None })]);
        let all = rules(&[("run_command", "", Ask)]).with_stored(&stored, &place).unwrap();
        assert_eq!((decided(&all, &call(&first)), decided(&all, &call(&second))), (Allow, Ask), "{tool}");
        // A rule that denies beats it.
        let denying = rules(&[("*", "", Deny)]).with_stored(&stored, &place).unwrap();
        assert_eq!(decided(&denying, &call(&first)), Deny);
    }
}

/// What an earlier version wrote into a file says the same in the store.
#[test]
fn a_rule_as_it_was_written_counts_everywhere() {
    let stored = |rule: Value| {
        let rule = StandingRule { permits: PermittedCalls::Written { rule }, place: RulePlace::Everywhere };
        BTreeMap::from([(7, StoredRule { rule, by: Actor::system("cli"), at: Timestamp::UNIX_EPOCH, session: None })])
    };
    let place = RulePlace::Project { path: "/home/ada/project".to_owned() };
    let all = rules(&[]).with_stored(&stored(json!({ "tool": "run_*", "decide": "deny" })), &place).unwrap();
    assert_eq!(decided(&all, &command("ls")), Deny);
    let refused = rules(&[]).with_stored(&stored(json!({ "tool": "run_*" })), &place).unwrap_err();
    assert!(refused.message.contains("Rule 7 of the store cannot be used"), "{refused}");
}

/// A person approved these arguments and no others. The two definitions of sameness agree.
#[test]
fn arguments_are_the_same_if_their_canonical_form_is() {
    let values = [
        json!({ "a": 1, "b": [1, { "x": null, "y": true }] }),
        json!({ "b": [1, { "y": true, "x": null }], "a": 1 }),
        json!({ "a": 1, "b": [{ "x": null, "y": true }, 1] }),
        json!({ "a": 1 }),
        json!({ "a": 1, "c": null }),
        json!({ "a": 1.0 }),
        json!({ "a": "1" }),
        json!({ "a": 0.0 }),
        json!({ "a": -0.0 }),
        json!({ "a": 0 }),
        json!({ "a": u64::MAX }),
        json!({ "a": u64::MAX - 1 }),
        json!({ "a": [] }),
        json!({ "a": {} }),
        json!([]),
        json!(null),
    ];
    for one in &values {
        for other in &values {
            assert_eq!(is_same(one, other), canonical(one) == canonical(other), "{one} and {other}");
        }
    }
    assert!(is_same(&values[0], &values[1]) && !is_same(&values[7], &values[8]));
}

#[test]
fn files_that_later_run_or_instruct_are_covered_only_by_their_names() {
    let named: Vec<_> = [".vscode/", "docs/AGENTS.md", "src", "tools/run.sh"].map(str::to_owned).into();
    let plan = PlanCover { files: &named, ..PlanCover::default() };
    let rules = rules(&[]).guarding(GuardedFiles::with(&["tools/".to_owned(), "/top.sh".to_owned()]));
    for (path, expected) in [
        ("src/main.rs", Allow),
        ("src/agents/mod.rs", Allow),
        ("docs/AGENTS.md.txt", Allow),
        ("src/top.sh", Allow),
        (".vscode/tasks.json", Allow),
        ("docs/AGENTS.md", Allow),
        ("tools/run.sh", Allow),
        ("tools/other.sh", Ask),
        ("top.sh", Ask),
        ("AGENTS.md", Ask),
        ("src/AGENTS.md", Ask),
        ("src/.vscode/tasks.json", Ask),
        ("src/Claude.MD", Ask),
        ("agents/coder.md", Ask),
        (".envrc", Ask),
        (".github/workflows/build.yml", Ask),
    ] {
        let paths = [path.to_owned()];
        let writing = on_paths("write_file", ToolEffect::Repeatable, &paths);
        let outcome = decide_permission(&rules, &writing, Project, Some(&plan));
        assert_eq!(outcome.permission, expected, "{path}: {outcome:?}");
        if expected == Ask {
            assert_eq!(outcome.reason, PermissionReason::GuardedFile { path: path.to_owned() });
            assert!(outcome.reason.describe().contains(path));
        }
        assert_eq!(decide_permission(&rules, &writing, Own, None).permission, Allow, "{path}");
        let reading = on_paths("read_file", ToolEffect::ReadsOnly, &paths);
        assert_eq!(decide_permission(&rules, &reading, Project, None).permission, Allow, "{path}");
    }
    let both = ["src/a.rs".to_owned(), ".envrc".to_owned()];
    let moving = on_paths("move_file", ToolEffect::Changes, &both);
    assert_eq!(decide_permission(&rules, &moving, Project, Some(&plan)).permission, Ask);
}

#[test]
fn a_rule_allows_a_file_that_later_runs_only_if_it_names_it() {
    for (tool, target, path, expected) in [
        ("*", "", "src/a.rs", Allow),
        ("*", "", ".envrc", Ask),
        ("write_file", "**", ".envrc", Ask),
        ("write_file", "src/**", "src/AGENTS.md", Ask),
        ("write_file", ".envrc", ".envrc", Allow),
        ("write_file", ".vscode/**", ".vscode/tasks.json", Allow),
        ("write_file", "src/AGENTS.md", "src/AGENTS.md", Allow),
    ] {
        let paths = [path.to_owned()];
        let writing = on_paths("write_file", ToolEffect::Repeatable, &paths);
        assert_eq!(decided(&rules(&[(tool, target, Allow)]), &writing), expected, "{target} {path}");
    }
    let paths = [".envrc".to_owned()];
    let writing = on_paths("write_file", ToolEffect::Repeatable, &paths);
    assert_eq!(decided(&rules(&[("*", ".envrc", Deny)]), &writing), Deny);
}
