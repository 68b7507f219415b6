//! Processes: those of the program that an agent runs in, and those between a person's terminal and the system.

use serde::{Deserialize, Serialize};

/// A process. Its number may be used again; its start time tells the two apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ProcessId {
    pub pid: u32,
    /// In the kernel's own count since the machine started.
    pub started: u64,
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
}

/// What the operating system says about the process of an approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TerminalEvidence {
    pub machine: String,
    /// The process itself and its ancestors, the nearest first.
    pub ancestors: Vec<ProcessId>,
    /// Whether an ancestor is a process of Planwright, which runs the commands of its agent.
    pub own_command: bool,
    /// `None` without a controlling terminal.
    pub terminal: Option<Terminal>,
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
    #[error("it is not known which program the agent of this session runs in on this machine")]
    UnknownClient,
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
    /// Whether the process is out of reach of the agent, as far as processes and terminals tell.
    pub(crate) fn check_separate(&self, agent: AgentProgram, clients: &[AgentClient]) -> Result<(), NotSeparate> {
        if self.own_command {
            return Err(NotSeparate::OwnCommand);
        }
        let clients: Vec<_> = clients.iter().filter(|client| client.machine == self.machine).collect();
        if let Some(client) = clients.iter().find(|client| client.processes.iter().any(|id| self.has_ancestor(id))) {
            return Err(NotSeparate::WithinClient(client.name.clone()));
        }
        let terminal = self.terminal.ok_or(NotSeparate::NoTerminal)?;
        let holder = terminal.holder.ok_or(NotSeparate::Detached)?;
        match agent {
            AgentProgram::Client if clients.is_empty() => return Err(NotSeparate::UnknownClient),
            AgentProgram::Client | AgentProgram::Planwright => {}
        }
        if let Some(client) = clients.iter().find(|client| client.terminal == Some(terminal.device)) {
            return Err(NotSeparate::SameTerminal(client.name.clone()));
        }
        let younger = |client: &&&AgentClient| client.started().is_none_or(|started| holder.started >= started);
        match clients.iter().find(younger) {
            Some(client) if !holder.login => Err(NotSeparate::YoungTerminal(client.name.clone())),
            Some(_) | None => Ok(()),
        }
    }

    fn has_ancestor(&self, id: &ProcessId) -> bool {
        self.ancestors.contains(id)
    }
}

impl AgentClient {
    /// When its outermost process started.
    fn started(&self) -> Option<u64> {
        self.processes.iter().map(|process| process.started).min()
    }
}
