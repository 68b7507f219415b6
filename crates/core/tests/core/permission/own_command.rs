//! A line of an agent that may run a command of Planwright which asks for a person is known in every spelling.

use planwright_core::permission::may_decide;

#[test]
fn a_command_that_asks_for_a_person_is_known_however_it_is_written() {
    for line in [
        "planwright plan approve 1",
        "cd x && /usr/bin/planwright --data y plan approve",
        "./target/debug/planwright plan off",
        "planwright plan done; planwright plan show",
        "planwright --json plan cancel 3",
        "planwright plan revise 3 'do more'",
        "planwright plan on",
        "planwright --data /d --color never auto on 'all of it'",
        "planwright schedule add x",
        "planwright memory promote 7",
        "planwright config set approval.require any",
        "planwright inbox answer 4 once",
        "planwright mcp --plan off",
        "env PLANWRIGHT_DATA=/d planwright plan approve",
        "sh -c 'planwright plan approve'",
        "bash -lc \"planwright \\\"plan\\\" approve\"",
        "npx -y planwright@1.2 plan approve",
        "cargo run -p planwright -- plan approve",
        "alias p=planwright; p plan approve",
        "x=planwright\n$x plan off",
        "set -- plan approve; planwright \"$@\"",
        "echo plan approve | xargs planwright",
        "pl\"\"anwright plan approve",
        "plan\\wright plan approve",
        "printf y | planwright chat",
        "$(which planwright) plan approve",
        "(planwright uninstall claude-code --yes)",
        "Planwright plan off",
        "p=$(command -v planwright) && $p approver remove ada",
        "planwright token show",
        "planwright sessions delete web:abcdefgh --yes",
        "planwright \\\nconfig set x y",
        "plan\\\nwright permissions \\\r\nadd x",
        "echo a\\\\\nplanwright config set x y",
        "planwright --session s config set a b",
        "planwright plan --session s approve 1",
        "planwright plan {approve,1}",
        "planwright {config,set} x y",
        "x=config; planwright $x set a b",
        "planwright mcp-server $(echo accept) evil",
        "planwright mcp-server `echo accept` evil",
        "alias p=planwright; p permissions add x",
        "p() { planwright \"$@\"; }; p config set a b",
        "echo config set a b | xargs planwright",
        "planwright plan list; x=config; planwright $x set a b",
        "planwright plan $x show",
        "/usr/bin/planwr*ht plan off",
        "./target/*/plan?right config set x y",
        "plan[w]right approver remove ada",
        "[p]lanwright plan approve",
    ] {
        assert!(may_decide(line), "{line}");
    }
}

#[test]
fn looking_and_what_only_has_the_name_passes() {
    for line in [
        "planwright plan show",
        "planwright plan list --json | head",
        "planwright inbox list",
        "planwright doctor",
        "planwright --help",
        "planwright plan show --json | jq '.steps[] | {id}'",
        "planwright --data /d plan list | awk '{print $1}'",
        "planwright doctor && echo $HOME",
        "cd ~/src/planwright && cargo test approve",
        "cd planwright; make install",
        "grep -rn foo crates/planwright src/",
        "cargo test -p planwright",
        "cargo test approve",
        "git commit -m 'plan approve'",
        "cat planwright.toml",
        "ls plan* src",
        "ls * auto",
        "grep -rn plan docs/*",
        "cat plans* install.md",
        "",
    ] {
        assert!(!may_decide(line), "{line}");
    }
}
