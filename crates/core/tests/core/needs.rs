//! What a document says that it needs.

use planwright_core::gate::ToolEffect;
use planwright_core::permission::{
    CallTarget, Permission, PermissionCall, PermissionReason, PermissionRule, PermissionRules, PlanCover,
    WorkspaceKind, decide_permission,
};
use planwright_core::plan::PlanNeeds;
use serde_json::Value;

fn document(block: &str) -> String {
    format!("# Move the tables\n\n- [ ] copy\n\n```planwright-needs\n{block}\n```\n")
}

fn needs(block: &str) -> PlanNeeds {
    PlanNeeds::of_document(&document(block)).unwrap().unwrap()
}

#[test]
fn a_document_says_what_it_needs_in_one_block() {
    let found = needs("files = [\"src/**\", \"docs/api.md\"]\ncommands = [\"cargo test\"]\nnetwork = [\"crates.io\"]");
    assert_eq!(
        (found.files.len(), found.commands.as_slice(), found.tools.len()),
        (2, &["cargo test".to_owned()][..], 0)
    );
    for text in ["# One\n", "Write a block planwright-needs.\n", "```toml\n# planwright-needs\nfiles = 1\n```\n"] {
        assert_eq!(PlanNeeds::of_document(text).unwrap(), None, "{text}");
    }
}

#[test]
fn a_block_that_cannot_be_used_is_refused_with_the_reason() {
    for (block, expected) in [
        ("files = \"src\"", "cannot be read"),
        ("files = [", "cannot be read"),
        ("paths = [\"src\"]", "paths"),
        ("files = [\"../other\"]", "no path below the project"),
        ("files = [\"/etc/hosts\"]", "no path below the project"),
        ("files = [\"a[\"]", "no path below the project"),
        ("commands = [\" \"]", "empty entry"),
        ("tools = [\"*\"]", "every tool"),
        ("tools = [\"**\"]", "every tool"),
        ("tools = [\"{github__push,?*}\"]", "every tool"),
        ("tools = [\"[!x]*\"]", "every tool"),
        ("tools = [\"[A-Za-z_]*\"]", "every tool"),
        ("tools = [\"[a-zA-Z]*[a-z]\"]", "every tool"),
        ("tools = [\"{a,b,c,d,e}*\"]", "every tool"),
        ("tools = [\"???*\"]", "every tool"),
        ("tools = [\"*e*\"]", "every tool"),
        ("tools = [\"*_*_*\"]", "every tool"),
        ("tools = [\"mcp__*\"]", "every tool"),
        ("tools = ['\\*read']", "every tool"),
        ("tools = [\"\\u002a\"]", "write every letter as itself"),
        ("files = [\"src/\\U0000002a\"]", "write every letter as itself"),
    ] {
        let refused = PlanNeeds::of_document(&document(block)).expect_err(block);
        assert!(refused.message.contains(expected), "{block}: {}", refused.message);
    }
    let twice = format!("{}{}", document("files = []"), document("files = []"));
    assert!(PlanNeeds::of_document(&twice).expect_err("two blocks").message.contains("more than one"));
}

#[test]
fn what_is_named_is_covered_and_nothing_else() {
    let needs = needs(
        "files = [\"src/**\", \"./docs/api.md\"]\ncommands = [\"cargo test\", \"make a && make b\"]\n\
         tools = [\"github__get_*\"]\nnetwork = [\"crates.io\", \"*.example.org\"]",
    );
    for (line, expected) in [
        ("cargo test", true),
        (" cargo test\n", true),
        ("cargo test -p one", true),
        ("make a && make b", true),
        ("make a", false),
        ("cargo publish", false),
        ("cargo test; rm -r x", false),
        ("cargo test $(rm x)", false),
        ("git push --force", false),
        ("", false),
    ] {
        assert_eq!(needs.covers_command(line), expected, "{line}");
    }
    for (paths, expected) in [
        (&["src/a.rs"][..], true),
        (&["src/a/b.rs", "docs/api.md"][..], true),
        (&["./src/../src/a.rs"][..], true),
        (&["src/../a.rs"][..], false),
        (&["src/a.rs", "README.md"][..], false),
        (&["/etc/hosts"][..], false),
        (&["../src/a.rs"][..], false),
        (&[][..], false),
    ] {
        let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
        assert_eq!(needs.covers_files(&paths), expected, "{paths:?}");
    }
    for (tool, expected) in [("github__get_issue", true), ("github__push", false), ("get_issue", false)] {
        assert_eq!(needs.covers_tool(tool), expected, "{tool}");
    }
    for (host, expected) in [
        ("crates.io", true),
        ("Crates.IO", true),
        ("static.crates.io", false),
        ("a.example.org", true),
        ("example.org", false),
        ("badexample.org", false),
    ] {
        assert_eq!(needs.covers_host(host), expected, "{host}");
    }
}

#[test]
fn a_plan_that_says_what_it_needs_covers_nothing_else_in_a_project() {
    let needs = needs(
        "files = [\"src/**\"]\ncommands = [\"cargo test\"]\ntools = [\"github__get_*\", \"run_command\", \"wri*\"]",
    );
    let plan = PlanCover { needs: Some(&needs), ..PlanCover::default() };
    let deny: PermissionRule =
        serde_json::from_value(serde_json::json!({ "match": "src/secret.rs", "decide": "deny" })).unwrap();
    let rules = PermissionRules::new(vec![deny]).unwrap();
    let decide = |tool: &str, target: CallTarget<'_>| {
        let call = PermissionCall { tool, arguments: &Value::Null, effect: ToolEffect::Changes, target };
        let outcome = decide_permission(&rules, &call, WorkspaceKind::Project, Some(&plan));
        (outcome.permission, outcome.reason == PermissionReason::PlanNeed)
    };
    let path = |path: &str| [path.to_owned()];
    for (tool, target, expected) in [
        ("write_file", CallTarget::Paths(&path("src/a.rs")), (Permission::Allow, true)),
        ("write_file", CallTarget::Paths(&path("README.md")), (Permission::Ask, false)),
        ("write_file", CallTarget::Paths(&path("src/secret.rs")), (Permission::Deny, false)),
        ("write_file", CallTarget::Paths(&path("src/AGENTS.md")), (Permission::Ask, false)),
        ("run_command", CallTarget::Command("cargo test -q"), (Permission::Allow, true)),
        ("run_command", CallTarget::Command("git push --force"), (Permission::Ask, false)),
        ("github__get_issue", CallTarget::None, (Permission::Allow, true)),
        ("github__push", CallTarget::None, (Permission::Ask, false)),
    ] {
        assert_eq!(decide(tool, target), expected, "{tool} {target:?}");
    }
}

#[test]
fn a_file_that_later_runs_is_covered_only_by_its_exact_name_in_the_block() {
    let needs = needs("files = [\"**\", \"docs/AGENTS.md\", \".vscode\", \".idea/**\"]");
    let text = ["AGENTS.md".to_owned(), ".envrc".to_owned()];
    let plan = PlanCover { needs: Some(&needs), files: &text, ..PlanCover::default() };
    let rules = PermissionRules::new(Vec::new()).unwrap();
    for (path, expected) in [
        ("docs/AGENTS.md", Permission::Allow),
        ("./docs/AGENTS.md", Permission::Allow),
        ("AGENTS.md", Permission::Ask),
        (".envrc", Permission::Ask),
        (".vscode/tasks.json", Permission::Ask),
        (".idea/a.xml", Permission::Ask),
        ("src/a.rs", Permission::Allow),
    ] {
        let paths = [path.to_owned()];
        let target = CallTarget::Paths(&paths);
        let call = PermissionCall { tool: "write_file", arguments: &Value::Null, effect: ToolEffect::Changes, target };
        let outcome = decide_permission(&rules, &call, WorkspaceKind::Project, Some(&plan));
        assert_eq!(outcome.permission, expected, "{path}: {outcome:?}");
    }
}
