//! The processes of the machine.

#[cfg(target_os = "linux")]
mod linux;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::PathBuf;

use planwright_core::presence::ProcessPlace;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: u32,
    pub(super) parent: u32,
    pub(super) group: u32,
    /// The number of the first process of its session.
    pub(super) session: u32,
    /// The device of its controlling terminal.
    pub(super) terminal: Option<u64>,
    /// In the kernel's own count since the machine started.
    pub(super) started: u64,
    /// The user who started it, also where it has the rights of another.
    pub(super) user: u32,
    pub(super) name: String,
    /// The file that it runs, if this process may know.
    pub(super) program: Option<PathBuf>,
    pub(super) control_group: Option<String>,
    /// It runs no more, and its parent has not looked at how it ended.
    pub(super) has_ended: bool,
    /// The pseudo-terminals that it serves, by their number. `None` if this process may not know.
    pub(super) serves: Option<Vec<u64>>,
}

#[derive(Debug)]
pub(super) struct ProcessTree {
    pub(super) place: ProcessPlace,
    own_program: Option<PathBuf>,
    pub(super) processes: HashMap<u32, Process>,
}

/// What is at the other end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConnectionEnd {
    Process(u32),
    /// A process of this user that does not let itself be seen.
    Hidden,
    /// Another machine, or another user of this one.
    Foreign,
}

/// More ancestors than any real process has.
const MAX_CHAIN: usize = 1000;

impl ProcessTree {
    #[cfg(test)]
    pub(super) fn of(boot: &str, processes: impl Iterator<Item = Process>) -> Self {
        let processes = processes.map(|process| (process.pid, process)).collect();
        let place = ProcessPlace { boot: boot.to_owned(), numbers: 1, users: 1, time: 0 };
        Self { place, own_program: None, processes }
    }

    #[cfg(test)]
    pub(super) fn change(&mut self, pid: u32, change: impl FnOnce(&mut Process)) {
        self.processes.get_mut(&pid).map(change).unwrap();
    }

    /// The process and its ancestors. `None` where the system does not tell.
    #[cfg(target_os = "linux")]
    pub(super) fn read(pid: u32) -> Option<Self> {
        let place = linux::place()?;
        let own_program = std::fs::read_link("/proc/self/exe").ok();
        let mut processes = HashMap::new();
        let mut next = pid;
        // Only the ancestors are read.
        while let Some(mut process) = linux::process(next).ok().flatten() {
            process.serves = linux::served_terminals(next);
            next = process.parent;
            if processes.insert(process.pid, process).is_some() || processes.len() > MAX_CHAIN {
                return None;
            }
        }
        Some(Self { place, own_program, processes })
    }

    /// Every process that runs now, as far as this one may see them. Empty if one of them is covered by something else.
    #[cfg(target_os = "linux")]
    pub(super) fn running() -> Vec<Process> {
        let all = linux::processes().unwrap_or_default();
        all.into_iter().filter(|process| !process.has_ended).collect()
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn running() -> Vec<Process> {
        Vec::new()
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn read(_: u32) -> Option<Self> {
        None
    }

    /// The program at the other end of a connection.
    #[cfg(target_os = "linux")]
    pub(super) fn at_connection(peer: SocketAddr) -> ConnectionEnd {
        linux::end_at(peer).unwrap_or(ConnectionEnd::Hidden)
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn at_connection(_: SocketAddr) -> ConnectionEnd {
        ConnectionEnd::Foreign
    }

    /// The process and its ancestors up to the first process of the system. `None` if one of them cannot be found, or is
    /// another process by now.
    pub(super) fn chain(&self, pid: u32) -> Option<Vec<Process>> {
        let mut chain: Vec<Process> = Vec::new();
        let mut next = pid;
        while next != 0 {
            let process = self.processes.get(&next)?;
            let younger = chain.last().is_some_and(|child| process.started > child.started);
            if younger || chain.len() > MAX_CHAIN {
                return None;
            }
            chain.push(process.clone());
            next = process.parent;
        }
        Some(chain)
    }

    /// Whether it runs this program, which runs the commands of its own agent.
    pub(super) fn is_planwright(&self, process: &Process) -> bool {
        let same = process.program.is_some() && process.program == self.own_program;
        same || process.name == "planwright"
    }
}
