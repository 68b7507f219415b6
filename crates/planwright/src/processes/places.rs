//! "How do I approve here" in `docs/approval.md`: the processes of each place, as they are there, and whether a terminal in it counts while
//! the agent runs.

use std::collections::BTreeSet;

use planwright_core::approval::{AgentSandbox, AgentsSeen, ApprovalCheck, ApprovalPolicy, Require};
use planwright_core::presence::{AgentClient, Presence, TerminalEvidence};
use planwright_core::session::Channel;

use super::tests::{DESKTOP, tree};
use super::{ProcessTree, client_of, evidence, running_process, unknown_client};

/// What a person is told in a session of this client; nothing if the decision counts.
fn refused(client: AgentClient, presence: &Presence) -> Option<String> {
    let check = ApprovalCheck {
        policy: &ApprovalPolicy::requiring(Require::Separate),
        sandbox: AgentSandbox::Restricted,
        channel: Channel::Mcp,
        clients: &[client],
        others: &[],
        silent: &BTreeSet::new(),
        agents_seen: AgentsSeen::Some,
        risks: &BTreeSet::new(),
        presence: Some(presence),
    };
    check.check().err().map(|refusal| refusal.message)
}

fn client(tree: &ProcessTree, mcp: u32) -> AgentClient {
    let chain = tree.chain(mcp).unwrap();
    client_of(tree, &chain[1..]).unwrap_or_else(|| unknown_client(Some(tree), "a program that cannot be seen"))
}

/// The person's process, as the tree has it.
fn person(tree: &ProcessTree, pid: u32) -> Presence {
    let running = tree.processes.values().map(running_process).collect();
    Presence::terminal(Some(TerminalEvidence { running, ..evidence(tree, pid).unwrap() }))
}

/// A place: the processes, `planwright mcp` of the agent, the person's command, and a part of what the person is told.
struct Place(&'static str, &'static str, u32, u32, Option<&'static str>);

/// The agent runs in a window; `tmux` was there before it. Then come a second `tmux` and another terminal emulator.
const TERMINALS: &str = "
    1 0 1 1 0 1 0 systemd
    20 1 20 20 0 20 1000 systemd
    25 20 25 25 0 25 1000 tmux:_server
    30 20 30 30 0 30 1000 gnome-terminal-
    31 30 31 31 1 31 1000 bash
    40 31 40 31 1 40 1000 codex
    42 40 40 31 1 42 1000 planwright
    50 30 50 50 2 50 1000 bash
    51 50 51 50 2 51 1000 planwright
    60 25 60 60 3 60 1000 bash
    61 60 61 60 3 61 1000 planwright
    70 20 70 70 0 70 1000 tmux:_server
    71 70 71 71 4 71 1000 bash
    72 71 72 71 4 72 1000 planwright
    80 20 80 80 0 80 1000 alacritty
    81 80 81 81 5 81 1000 bash
    82 81 82 81 5 82 1000 planwright";

/// Codex in one of VS Code's terminals, and an extension that starts `planwright mcp`.
const EDITOR: &str = "
    1 0 1 1 0 1 0 systemd
    20 1 20 20 0 20 1000 systemd
    30 20 30 30 0 30 1000 code
    31 30 30 30 0 31 1000 code
    32 31 32 32 1 32 1000 bash
    40 32 40 32 1 40 1000 codex
    42 40 40 32 1 42 1000 planwright
    50 31 50 50 2 50 1000 bash
    51 50 51 50 2 51 1000 planwright
    60 30 30 30 0 60 1000 code
    61 60 30 30 0 61 1000 planwright";

/// A container in which VS Code's server runs, with what `docker exec` starts. Their parents are outside.
const CONTAINER: &str = "
    1 0 1 1 0 1 0 sleep
    20 0 20 20 0 20 1000 node
    21 20 20 20 0 21 1000 node
    22 21 22 22 1 22 1000 bash
    35 0 35 35 3 35 1000 bash
    36 35 36 35 3 36 1000 planwright
    40 22 40 22 1 40 1000 codex
    42 40 40 22 1 42 1000 planwright
    50 21 50 50 2 50 1000 bash
    51 50 51 50 2 51 1000 planwright
    60 0 60 60 4 60 1000 bash
    61 60 61 60 4 61 1000 planwright";

const PLACES: &[Place] = &[
    Place("a window opened after the agent by an older terminal emulator", TERMINALS, 42, 51, None),
    Place("a pane opened after the agent in an older tmux", TERMINALS, 42, 61, None),
    Place("a tmux that was started after the agent", TERMINALS, 42, 72, Some("opened after `codex`")),
    Place("a terminal emulator that was started after the agent", TERMINALS, 42, 82, Some("opened after `codex`")),
    Place("a remote login while the agent runs", DESKTOP, 42, 104, None),
    Place("another terminal of VS Code", EDITOR, 42, 51, None),
    Place("a terminal of VS Code whose extension runs the agent", EDITOR, 61, 51, Some("started by `code`")),
    Place("another terminal of VS Code in a devcontainer", CONTAINER, 42, 51, None),
    Place("docker exec before the agent", CONTAINER, 42, 36, None),
    Place("docker exec after the agent", CONTAINER, 42, 61, Some("opened after `codex`")),
];

#[test]
fn each_place_counts_or_says_why_not() {
    for Place(name, lines, mcp, own, expected) in PLACES {
        let tree = tree(lines);
        let told = refused(client(&tree, *mcp), &person(&tree, *own));
        match expected {
            None => assert_eq!(told, None, "{name}"),
            Some(why) => {
                let told = told.unwrap_or_else(|| panic!("{name}: it counts"));
                assert!(told.contains(why) && told.contains("passphrase"), "{name}: {told}");
            }
        }
    }
}

/// The agent comes over HTTP, as another user of the machine.
#[test]
fn a_service_user_decides_with_a_passphrase() {
    let tree = tree(TERMINALS);
    let of_another_user = unknown_client(Some(&tree), "a program of another user");
    let told = refused(of_another_user, &person(&tree, 51)).unwrap();
    assert!(told.contains("not known which program") && told.contains("passphrase"), "{told}");
}

/// macOS and Windows tell nothing about the processes.
#[test]
fn where_the_system_tells_nothing_a_passphrase_decides() {
    let client = unknown_client(None, "a program that cannot be seen");
    let told = refused(client, &Presence::terminal(None)).unwrap();
    assert!(told.contains("does not say which processes") && told.contains("passphrase"), "{told}");
}
