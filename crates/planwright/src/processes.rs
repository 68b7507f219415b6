//! What the operating system says about the processes around this one: which program an agent runs in, and whether the
//! terminal of an approval belongs to a person.
//!
//! - `places`: where people sit and which of these places count, as tests
//! - `tree`: the processes of the machine, read from `/proc`

#[cfg(test)]
mod places;
mod tree;

use std::net::SocketAddr;

use planwright_core::presence::{
    AgentClient, Presence, ProcessId, RunningProcess, Terminal, TerminalEvidence, TerminalHolder,
};

use self::tree::{ConnectionEnd, Process, ProcessTree};

/// Shells that a person types in.
const SHELLS: [&str; 14] =
    ["bash", "zsh", "fish", "sh", "dash", "ash", "ksh", "mksh", "tcsh", "csh", "nu", "pwsh", "xonsh", "elvish"];

/// Programs that give a person another shell.
const SHELL_STARTERS: [&str; 4] = ["su", "sudo", "doas", "login"];

/// Programs that start everything a person starts, on a desktop or by a login.
const SESSION_MANAGERS: [&str; 12] = [
    "systemd",
    "init",
    "gnome-shell",
    "gnome-session-b",
    "gnome-session",
    "plasmashell",
    "kwin_wayland",
    "startplasma-way",
    "sway",
    "Hyprland",
    "xfce4-session",
    "openbox",
];

/// The services of the system that check who logs in before they open a terminal.
const LOGIN_SERVICES: [&str; 3] = ["sshd", "sshd-session", "login"];

/// The kernel's number for the devices of pseudo-terminals.
const PSEUDO_TERMINALS: u64 = 136;

/// The time namespace that every process is in unless it made another, and what stands for it where there are none.
const FIRST_TIME: u64 = 4_026_531_834;
const NO_TIME: u64 = 0;

/// A person at this process's terminal, or a process without one.
pub(crate) fn presence() -> Presence {
    let own = std::process::id();
    let evidence = ProcessTree::read(own).and_then(|tree| evidence(&tree, own));
    // Which agents have ended matters only to a terminal.
    let running = |seen: &TerminalEvidence| match seen.terminal {
        Some(_) => ProcessTree::running().iter().map(running_process).collect(),
        None => Vec::new(),
    };
    Presence::terminal(evidence.map(|seen| TerminalEvidence { running: running(&seen), ..seen }))
}

/// This process as the program that the agent's unconfined commands run in. Only what starts from now on can be theirs.
pub(crate) fn own_program() -> Option<AgentClient> {
    let tree = ProcessTree::read(std::process::id())?;
    let own = tree.chain(std::process::id())?.into_iter().next()?;
    let newest = ProcessTree::running().iter().map(|process| process.started).max()?;
    Some(AgentClient {
        machine: machine(&tree),
        name: "Planwright's own agent".to_owned(),
        processes: vec![own.id()],
        // A person may sit at its terminal, and its commands have kernel sessions of their own.
        terminal: None,
        session: None,
        place: Some(tree.place.clone()),
        group: own.control_group,
        since: Some(newest),
        beats: false,
    })
}

/// As earlier versions wrote it.
fn machine(tree: &ProcessTree) -> String {
    format!("{}/pid:[{}]", tree.place.boot, tree.place.numbers)
}

fn running_process(process: &Process) -> RunningProcess {
    RunningProcess {
        id: process.id(),
        parent: process.parent,
        session: process.session,
        terminal: process.terminal,
        group: process.control_group.clone(),
        adopts: adopts(process),
    }
}

/// The program that started this process, in which an agent runs.
pub(crate) fn client() -> AgentClient {
    let own = std::process::id();
    let tree = ProcessTree::read(own);
    let found = tree.as_ref().and_then(|tree| client_of(tree, tree.chain(own)?.get(1..)?));
    found.unwrap_or_else(|| unknown_client(tree.as_ref(), "a program that cannot be seen"))
}

/// A program of this user that does not let itself be seen.
#[derive(Debug)]
pub(crate) struct HiddenProgram;

/// The program at the other end of a connection, in which an agent runs.
pub(crate) fn client_at(peer: SocketAddr) -> Result<AgentClient, HiddenProgram> {
    let (end, own) = (ProcessTree::at_connection(peer), ProcessTree::read(std::process::id()));
    match end {
        ConnectionEnd::Hidden => Err(HiddenProgram),
        ConnectionEnd::Foreign => Ok(unknown_client(own.as_ref(), "a program on another machine, or of another user")),
        ConnectionEnd::Process(pid) => {
            let tree = ProcessTree::read(pid).ok_or(HiddenProgram)?;
            let chain = tree.chain(pid).ok_or(HiddenProgram)?;
            Ok(client_of(&tree, &chain).unwrap_or_else(|| unknown_client(own.as_ref(), "a program of the system")))
        }
    }
}

/// A program that an agent runs in and that processes cannot be compared with.
fn unknown_client(tree: Option<&ProcessTree>, name: &str) -> AgentClient {
    AgentClient {
        machine: tree.map(machine).unwrap_or_default(),
        name: name.to_owned(),
        processes: Vec::new(),
        terminal: None,
        place: tree.map(|tree| tree.place.clone()),
        session: None,
        group: None,
        since: None,
        beats: false,
    }
}

fn evidence(tree: &ProcessTree, pid: u32) -> Option<TerminalEvidence> {
    let chain = tree.chain(pid)?;
    let (own, before) = chain.split_first()?;
    Some(TerminalEvidence {
        place: tree.place.clone(),
        ancestors: chain.iter().map(Process::id).collect(),
        own_command: before.iter().any(|process| tree.is_planwright(process)),
        terminal: own.terminal.map(|device| Terminal { device, holder: holder(&chain, own.session, device) }),
        running: Vec::new(),
    })
}

/// The process that opened the terminal is the parent of the first process in it.
fn holder(chain: &[Process], session: u32, device: u64) -> Option<TerminalHolder> {
    let position = chain.iter().position(|process| process.pid == session)?;
    let leader = &chain[position];
    let parent = chain.get(position + 1);
    // A process whose parent has ended is adopted: then nothing is known about who opened the terminal.
    let opened = |parent: &&Process| is_one_of(parent, &LOGIN_SERVICES) || serves(parent, device);
    let Some(parent) = parent.filter(|parent| !adopts(parent)).filter(opened) else {
        let login = leader.user == 0 && is_one_of(leader, &LOGIN_SERVICES);
        return Some(TerminalHolder { started: leader.started, login });
    };
    // The part of a remote login that the user could not start: it belongs to the system.
    let by_system = chain[position + 1..].iter().take(2).any(|one| one.user == 0 && is_one_of(one, &LOGIN_SERVICES));
    let login = by_system && is_one_of(parent, &LOGIN_SERVICES);
    Some(TerminalHolder { started: parent.started, login })
}

/// Whether the process is the one that shows the terminal. One that other processes are left to serves only its own.
fn serves(process: &Process, device: u64) -> bool {
    let (major, minor) = ((device >> 8) & 0xfff, (device & 0xff) | ((device >> 12) & 0xf_ff00));
    major != PSEUDO_TERMINALS || process.serves.as_ref().is_some_and(|served| served.contains(&minor))
}

/// `chain` is the innermost process of the program and its ancestors. `None` if the system has adopted what the program started, or
/// if the times in this namespace are not those of other processes.
fn client_of(tree: &ProcessTree, chain: &[Process]) -> Option<AgentClient> {
    let has_own_time = ![NO_TIME, FIRST_TIME].contains(&tree.place.time);
    let mut members: Vec<&Process> = vec![chain.first().filter(|first| !adopts(first) && !has_own_time)?];
    for (position, next) in chain.iter().enumerate().skip(1) {
        let inner = &chain[position - 1];
        // What opened the terminal that the program is the first process of is not part of the program.
        let opened_for_it = inner.pid == inner.session && inner.terminal.is_some();
        if opened_for_it || adopts(next) || is_persons_shell(next, inner, chain.get(position + 1)) {
            break;
        }
        members.push(next);
    }
    let outermost = members.last();
    Some(AgentClient {
        machine: machine(tree),
        session: outermost.map(|process| process.session),
        group: outermost.and_then(|process| process.control_group.clone()),
        place: Some(tree.place.clone()),
        name: members.last().map(|outermost| outermost.name.clone()).unwrap_or_default(),
        processes: members.iter().map(|process| process.id()).collect(),
        terminal: members.iter().find_map(|process| process.terminal),
        since: None,
        beats: false,
    })
}

/// A shell with job control puts each command into a process group of its own; a script does not.
fn is_persons_shell(shell: &Process, inner: &Process, outer: Option<&Process>) -> bool {
    let first = shell.pid == shell.session;
    let nested = outer.is_some_and(|outer| is_one_of(outer, &SHELLS) || is_one_of(outer, &SHELL_STARTERS));
    is_one_of(shell, &SHELLS) && shell.terminal.is_some() && shell.group != inner.group && (first || nested)
}

fn adopts(process: &Process) -> bool {
    process.pid == 1 || is_one_of(process, &SESSION_MANAGERS)
}

fn is_one_of(process: &Process, names: &[&str]) -> bool {
    names.contains(&process.name.trim_start_matches('-'))
}

impl Process {
    fn id(&self) -> ProcessId {
        ProcessId { pid: self.pid, started: self.started }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `pid parent group session terminal started user name`, one a line.
    pub(super) fn tree(lines: &str) -> ProcessTree {
        let processes = lines.trim().lines().map(|line| {
            let words: Vec<_> = line.split_whitespace().collect();
            let number = |index: usize| words[index].parse::<u32>().unwrap();
            Process {
                pid: number(0),
                parent: number(1),
                group: number(2),
                session: number(3),
                terminal: Some(u64::from(number(4))).filter(|device| *device > 0),
                started: u64::from(number(5)),
                user: number(6),
                name: words[7].to_owned(),
                program: None,
                control_group: None,
                has_ended: false,
                serves: None,
            }
        });
        ProcessTree::of("here", processes)
    }

    pub(super) const DESKTOP: &str = "
        1 0 1 1 0 1 0 systemd
        20 1 20 20 0 20 1000 systemd
        30 20 30 30 0 30 1000 gnome-terminal-
        31 30 31 31 1 31 1000 bash
        40 31 40 31 1 40 1000 codex
        41 40 40 31 1 41 1000 sh
        42 41 40 31 1 42 1000 planwright
        50 30 50 50 2 50 1000 bash
        51 50 51 50 2 51 1000 planwright
        60 40 60 60 0 60 1000 bash
        61 60 60 60 0 61 1000 planwright
        70 20 70 70 0 70 1000 script
        71 70 71 71 3 71 1000 bash
        72 71 72 71 3 72 1000 planwright
        80 20 80 80 4 80 1000 bash
        81 80 81 80 4 81 1000 planwright
        90 20 90 31 1 90 1000 sh
        91 90 90 31 1 91 1000 planwright
        100 1 100 100 0 5 0 sshd
        101 100 101 101 0 101 0 sshd-session
        102 101 101 101 0 102 1000 sshd-session
        103 102 103 103 5 103 1000 bash
        104 103 104 103 5 104 1000 planwright";

    #[test]
    fn a_client_ends_at_the_shell_of_the_person() {
        let tree = tree(DESKTOP);
        let client = client_of(&tree, &tree.chain(42).unwrap()[1..]).unwrap();
        assert_eq!(client.name, "codex");
        assert_eq!(client.processes.iter().map(|process| process.pid).collect::<Vec<_>>(), [41, 40]);
        assert_eq!(client.terminal, Some(1));
    }

    #[test]
    fn what_the_system_adopted_has_no_known_client() {
        let tree = tree(DESKTOP);
        assert_eq!(client_of(&tree, &tree.chain(70).unwrap()[1..]), None);
    }

    #[test]
    fn a_client_that_is_the_first_process_of_its_terminal_ends_there() {
        let lines = "1 0 1 1 0 1 0 systemd\n30 1 30 30 0 30 1000 tmux\n40 30 40 40 1 40 1000 codex\n42 40 40 40 1 42 1000 planwright";
        let tree = tree(lines);
        let client = client_of(&tree, &tree.chain(42).unwrap()[1..]).unwrap();
        assert_eq!((client.name.as_str(), client.processes.len()), ("codex", 1));
    }

    #[test]
    fn a_terminal_is_known_by_the_process_that_opened_it() {
        let tree = tree(DESKTOP);
        let holder = |pid| evidence(&tree, pid).unwrap().terminal.map(|terminal| terminal.holder);
        let opened = |started, login| Some(Some(TerminalHolder { started, login }));
        assert_eq!(holder(51), opened(30, false), "another window of the same terminal emulator");
        assert_eq!(holder(61), None, "a command of the agent without a terminal");
        assert_eq!(holder(72), opened(70, false), "a fake terminal that was detached");
        assert_eq!(holder(81), opened(80, false), "a terminal whose opener left it to the system");
        assert_eq!(holder(91), Some(None), "detached, with the terminal of another program");
        assert_eq!(holder(104), opened(102, true), "a remote login");
    }

    #[test]
    fn a_chain_that_cannot_be_followed_proves_nothing() {
        assert_eq!(evidence(&tree("51 50 51 50 2 51 1000 planwright"), 51), None);
        let reused = "1 0 1 1 0 1 0 systemd\n50 1 50 50 2 90 1000 bash\n51 50 51 50 2 51 1000 planwright";
        assert_eq!(evidence(&tree(reused), 51), None, "the parent began after its child");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_own_process_is_found() {
        let tree = ProcessTree::read(std::process::id()).unwrap();
        let evidence = evidence(&tree, std::process::id()).unwrap();
        assert_eq!(evidence.ancestors[0].pid, std::process::id());
        assert!(!evidence.own_command);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_program_at_the_other_end_of_a_connection_is_found() {
        for listen in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = std::net::TcpListener::bind(listen) else { continue };
            let near = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let client = client_at(near.local_addr().unwrap()).unwrap();
            assert_eq!(client.processes[0].pid, std::process::id(), "over {listen}");
        }
        let elsewhere = client_at("192.0.2.1:9".parse().unwrap()).unwrap();
        assert!(elsewhere.processes.is_empty() && elsewhere.place.is_some());
    }

    /// A program that others are left to is older than the agent, and it does not show the terminal.
    #[test]
    fn a_terminal_that_its_parent_does_not_serve_is_as_old_as_its_first_process() {
        let mut tree = tree("1 0 1 1 0 1 0 systemd\n30 1 30 30 0 30 1000 supervisor\n50 30 50 50 34819 50 1000 bash");
        let started = |tree: &ProcessTree| evidence(tree, 50).unwrap().terminal.unwrap().holder.unwrap().started;
        assert_eq!(started(&tree), 50, "it cannot be told what the supervisor serves");
        tree.change(30, |supervisor| supervisor.serves = Some(vec![3]));
        assert_eq!(started(&tree), 30);
        tree.change(30, |supervisor| supervisor.serves = Some(vec![4]));
        assert_eq!(started(&tree), 50);
    }
}
