//! Processes: those of the program that an agent runs in, and those between a person's terminal and the system.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Presence;
use crate::identity::Channel;

/// For how long a program of another machine counts after its last sign of life.
pub const CLIENT_HEARTBEAT_TIMEOUT: Duration = Duration::from_secs(60);

/// A process. Its number may be used again; its start time tells the two apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ProcessId {
    pub pid: u32,
    /// In the kernel's own count since the machine started.
    pub started: u64,
}

/// Where a process runs: processes of two places can be compared only as far as the places agree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessPlace {
    /// This start of this machine.
    pub boot: String,
    /// The space in which its processes are numbered.
    pub numbers: u64,
    /// The space in which its users are numbered: in one of its own, a process looks like root's.
    pub users: u64,
    /// The space that tells the time since the machine started. In one of its own, a process looks older than it is.
    pub time: u64,
}

/// The program that started a session's `planwright mcp`: the agent runs in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentClient {
    /// This start of this machine, and the space in which its processes are numbered.
    pub machine: String,
    /// The name of its outermost process, for people.
    pub name: String,
    /// From the parent of `planwright mcp` to the outermost process of the program. The shell that a person started it
    /// from is not among them.
    pub processes: Vec<ProcessId>,
    /// The terminal that it was started in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal: Option<u64>,
    /// Absent in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<ProcessPlace>,
    /// The kernel's session of its outermost process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<u32>,
    /// The control group of its outermost process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Planwright itself, which runs the commands of its own agent without a sandbox: only what started from then on can be one
    /// of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
    /// Whether its `planwright mcp` gives signs of life while it runs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub beats: bool,
}

/// What the operating system says about the process of a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TerminalEvidence {
    pub place: ProcessPlace,
    /// The process itself and its ancestors, the nearest first.
    pub ancestors: Vec<ProcessId>,
    /// Whether an ancestor is a process of Planwright, which runs the commands of its agent.
    pub own_command: bool,
    /// `None` without a controlling terminal.
    pub terminal: Option<Terminal>,
    /// The processes that run now, as far as this process may see them.
    pub running: Vec<RunningProcess>,
}

/// A process that runs now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningProcess {
    pub id: ProcessId,
    pub parent: u32,
    /// The kernel's session.
    pub session: u32,
    pub terminal: Option<u64>,
    pub group: Option<String>,
    /// Whether it takes over processes whose parent has ended, as the first process of a system does.
    pub adopts: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terminal {
    pub device: u64,
    /// `None` if the first process of the terminal is not an ancestor: the process was detached from it.
    pub holder: Option<TerminalHolder>,
}

/// The process that opened the terminal: a terminal emulator, a multiplexer or a remote login.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalHolder {
    pub started: u64,
    /// The system's own login service opened it, after it had checked who logs in.
    pub login: bool,
}

/// Why a terminal does not prove that a person sits at it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotSeparate {
    #[error("the operating system does not say which processes started this command")]
    Unseen,
    #[error("it was started by `{0}`, the program that the agent of this session runs in")]
    WithinClient(String),
    #[error("it was started by a command of the agent itself")]
    OwnCommand,
    #[error("it has no terminal")]
    NoTerminal,
    #[error("it comes from the terminal in which `{0}`, the program of this session's agent, was started")]
    SameTerminal(String),
    #[error("it was detached from the terminal that it uses")]
    Detached,
    #[error("its terminal was opened after `{0}`, the program of this session's agent, was started")]
    YoungTerminal(String),
    #[error("it runs in a time namespace of its own, so it cannot be told whether its terminal is older than `{0}`")]
    OtherTime(String),
    #[error("it is not known which program the agent of this session runs in on this machine")]
    UnknownClient,
    #[error(
        "`{0}`, the program of this session's agent, ran on another machine within the last minute, and its processes cannot be compared \
         with those here"
    )]
    OtherMachine(String),
}

/// Whether the agent of a session is a program of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AgentProgram {
    /// It runs in Planwright.
    Planwright,
    /// It is a client of Planwright.
    Client,
}

impl TerminalEvidence {
    /// Whether the process is out of reach of the agent, as far as processes and terminals tell. `clients` are the programs of
    /// the session's agent, `others` those of agents of other sessions, and `silent` the signs of life that have stopped.
    pub(crate) fn check_separate(
        &self,
        agent: AgentProgram,
        clients: &[AgentClient],
        others: &[AgentClient],
        silent: &BTreeSet<String>,
    ) -> Result<(), NotSeparate> {
        if self.own_command {
            return Err(NotSeparate::OwnCommand);
        }
        let is_here = |client: &&AgentClient| client.may_run_in(&self.place);
        let is_known = |client: &AgentClient| is_here(&client) || client.is_silent(silent) == Some(true);
        let is_unknown = !clients.iter().any(is_known);
        let elsewhere = clients.iter().find(|client| !is_here(client) && client.is_silent(silent) == Some(false));
        let clients: Vec<_> = clients.iter().chain(others).filter(is_here).collect();
        self.check_not_within(&clients)?;
        let terminal = self.terminal.ok_or(NotSeparate::NoTerminal)?;
        let holder = terminal.holder.ok_or(NotSeparate::Detached)?;
        match (agent, elsewhere) {
            (AgentProgram::Client, Some(client)) => return Err(NotSeparate::OtherMachine(client.name.clone())),
            (AgentProgram::Client, None) if is_unknown => return Err(NotSeparate::UnknownClient),
            (AgentProgram::Client | AgentProgram::Planwright, _) => {}
        }
        for client in clients {
            let is_over = self.is_over(client);
            // The number of a terminal is used again after its end.
            let is_another = is_over && client.started().is_some_and(|started| holder.started > started);
            let same_terminal = client.sees_terminals_of(&self.place) && client.terminal == Some(terminal.device);
            if same_terminal && !is_another {
                return Err(NotSeparate::SameTerminal(client.name.clone()));
            }
            if !is_over {
                self.check_older(client, holder)?;
            }
        }
        Ok(())
    }

    /// Refuses what is certainly, or may well be, a process of the agent. A terminal of whatever age passes.
    pub(crate) fn check_not_agent(&self, clients: &[AgentClient]) -> Result<(), NotSeparate> {
        if self.own_command {
            return Err(NotSeparate::OwnCommand);
        }
        let clients: Vec<_> = clients.iter().filter(|client| client.may_run_in(&self.place)).collect();
        self.check_not_within(&clients)?;
        match self.terminal {
            _ if clients.is_empty() => Ok(()),
            None => Err(NotSeparate::NoTerminal),
            Some(Terminal { holder: None, .. }) => Err(NotSeparate::Detached),
            Some(Terminal { holder: Some(_), .. }) => Ok(()),
        }
    }

    fn check_not_within(&self, clients: &[&AgentClient]) -> Result<(), NotSeparate> {
        let within = |client: &&&AgentClient| {
            // In the process that runs an agent of our own, a person decides in the chat.
            let own = usize::from(client.since.is_some());
            let ancestors = self.ancestors.get(own..).unwrap_or_default();
            client.numbers_as(&self.place) && client.processes.iter().any(|id| ancestors.contains(id))
        };
        match clients.iter().find(within) {
            Some(client) => Err(NotSeparate::WithinClient(client.name.clone())),
            None => Ok(()),
        }
    }

    /// Refuses a terminal that the agent's program may have opened. A remote login passes if the login service is one of the
    /// system that the agent runs in, and not of a namespace that it made.
    fn check_older(&self, client: &AgentClient, holder: TerminalHolder) -> Result<(), NotSeparate> {
        let same_time = client.place.as_ref().is_none_or(|place| place.time == self.place.time);
        if !same_time {
            return Err(NotSeparate::OtherTime(client.name.clone()));
        }
        let is_older = client.started().is_some_and(|started| holder.started < started);
        let same_system = client
            .place
            .as_ref()
            .is_some_and(|place| place.users == self.place.users && place.numbers == self.place.numbers);
        match is_older || (holder.login && same_system) {
            true => Ok(()),
            false if client.is_unknown() => Err(NotSeparate::UnknownClient),
            false => Err(NotSeparate::YoungTerminal(client.name.clone())),
        }
    }

    /// Whether the program has ended and left nothing behind that runs. What it may have left has its kernel session, its
    /// terminal or its control group, is younger than the program and was adopted by the system.
    fn is_over(&self, client: &AgentClient) -> bool {
        let Some(started) = client.started().filter(|_| client.place.as_ref() == Some(&self.place)) else {
            return false;
        };
        let is_own = |process: &&RunningProcess| client.processes.contains(&process.id);
        let is_near = |process: &&RunningProcess| {
            let same_session = client.session.is_some_and(|session| session == process.session);
            // A terminal belongs to one kernel session, and its number is used again after its end.
            let same_terminal =
                client.session.is_none() && client.terminal.is_some() && client.terminal == process.terminal;
            let same_group = client.group.is_some() && client.group == process.group;
            process.id.started >= started && (same_session || same_terminal || same_group)
        };
        !self.running.is_empty()
            && !self.running.iter().any(|process| is_own(&process))
            && !self.running.iter().filter(is_near).any(|process| self.is_adopted(process, started))
    }

    /// Whether the system has adopted it, or a process above it, since `started`: no older process but the system's own stands
    /// above it.
    fn is_adopted(&self, process: &RunningProcess, started: u64) -> bool {
        let mut parent = process.parent;
        // No real process has as many ancestors.
        for _ in 0..self.running.len() {
            // Its parent is outside of what this process may see.
            let Some(above) = self.running.iter().find(|other| other.id.pid == parent) else { return parent != 0 };
            if above.adopts {
                return true;
            }
            if above.id.started < started {
                return false;
            }
            parent = above.parent;
        }
        true
    }
}

impl AgentClient {
    /// When its outermost process started. Of Planwright itself, when its first command could.
    fn started(&self) -> Option<u64> {
        self.since.or_else(|| self.processes.iter().map(|process| process.started).min())
    }

    /// Whether one of these programs came into a session of another channel than those of agents with programs of their own. Planwright
    /// itself is none of them.
    pub(crate) fn joined(channel: Channel, clients: &[Self]) -> bool {
        !matches!(channel, Channel::Mcp | Channel::Acp) && clients.iter().any(|client| client.since.is_none())
    }

    /// The name of its signs of life: one for the program, however often it starts `planwright mcp`.
    pub fn heartbeat(&self) -> Option<String> {
        let outermost = self.processes.last().map(|process| format!("{}/{}", process.pid, process.started));
        self.beats.then(|| format!("agent/{}/{}", self.machine, outermost.unwrap_or_default()))
    }

    /// Whether its signs of life have stopped. `None` if it gives none.
    fn is_silent(&self, silent: &BTreeSet<String>) -> Option<bool> {
        self.heartbeat().map(|name| silent.contains(&name))
    }

    /// Whether it ran on another machine than the process that was seen, or before that machine's last start.
    pub fn ran_elsewhere(&self, seen: &Presence) -> bool {
        seen.evidence().is_some_and(|seen| !self.may_run_in(&seen.place))
    }

    /// The start of the machine that it ran in.
    fn boot(&self) -> &str {
        match &self.place {
            Some(place) => &place.boot,
            // Earlier versions wrote the start and the space of process numbers with a slash between them.
            None => self.machine.split('/').next().unwrap_or_default(),
        }
    }

    /// Whether it is not known which processes the program has.
    pub fn is_unknown(&self) -> bool {
        self.processes.is_empty()
    }

    /// Whether it may have processes where this place is. No process from before the machine's last start is running.
    fn may_run_in(&self, place: &ProcessPlace) -> bool {
        let is_anywhere = self.place.is_none() && self.is_unknown();
        is_anywhere || self.boot() == place.boot
    }

    /// Whether both have the same terminals. In a user namespace of its own, a process can have terminals of its own with the same
    /// numbers. One of an earlier version is taken for one that has the same.
    fn sees_terminals_of(&self, place: &ProcessPlace) -> bool {
        self.place.as_ref().is_none_or(|own| own.numbers == place.numbers && own.users == place.users)
    }

    /// Whether its processes are numbered in the same space. One of an earlier version is taken for one that is.
    fn numbers_as(&self, place: &ProcessPlace) -> bool {
        self.place.as_ref().is_none_or(|own| own.numbers == place.numbers)
    }

    /// Whether both are records of the same program.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let outermost = |client: &Self| client.processes.last().copied();
        self.machine == other.machine && self.place == other.place && outermost(self) == outermost(other)
    }
}
