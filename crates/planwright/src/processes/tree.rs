//! The processes of the machine.

use std::collections::HashMap;
use std::path::PathBuf;

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
    pub(super) user: u32,
    pub(super) name: String,
    /// The file that it runs, if this process may know.
    pub(super) program: Option<PathBuf>,
}

#[derive(Debug)]
pub(super) struct ProcessTree {
    /// This start of this machine, and the space in which its processes are numbered.
    pub(super) machine: String,
    own_program: Option<PathBuf>,
    processes: HashMap<u32, Process>,
}

/// More ancestors than any real process has.
const LONGEST_CHAIN: usize = 1000;

impl ProcessTree {
    #[cfg(test)]
    pub(super) fn of(machine: &str, processes: impl Iterator<Item = Process>) -> Self {
        let processes = processes.map(|process| (process.pid, process)).collect();
        Self { machine: machine.to_owned(), own_program: None, processes }
    }

    /// `None` where the system does not tell.
    #[cfg(target_os = "linux")]
    pub(super) fn read() -> Option<Self> {
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        let space = std::fs::read_link("/proc/self/ns/pid").ok()?;
        let machine = format!("{}/{}", boot.trim(), space.display());
        let own_program = std::fs::read_link("/proc/self/exe").ok();
        let mut processes = HashMap::new();
        let mut next = std::process::id();
        // Only the ancestors are read.
        while let Some(process) = linux::process(next) {
            next = process.parent;
            if processes.insert(process.pid, process).is_some() || processes.len() > LONGEST_CHAIN {
                return None;
            }
        }
        Some(Self { machine, own_program, processes })
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn read() -> Option<Self> {
        None
    }

    /// The process and its ancestors up to the first process of the system. `None` if one of them cannot be found, or is
    /// another process by now.
    pub(super) fn chain(&self, pid: u32) -> Option<Vec<Process>> {
        let mut chain: Vec<Process> = Vec::new();
        let mut next = pid;
        while next != 0 {
            let process = self.processes.get(&next)?;
            let younger = chain.last().is_some_and(|child| process.started > child.started);
            if younger || chain.len() > LONGEST_CHAIN {
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

#[cfg(target_os = "linux")]
mod linux {
    use std::os::unix::fs::MetadataExt as _;

    use super::Process;

    pub(super) fn process(pid: u32) -> Option<Process> {
        if pid == 0 {
            return None;
        }
        let folder = format!("/proc/{pid}");
        let stat = std::fs::read(format!("{folder}/stat")).ok()?;
        let stat = String::from_utf8_lossy(&stat);
        // The name of the program stands in brackets and may hold anything; what follows it does not.
        let (before, fields) = stat.rsplit_once(')')?;
        let (_, name) = before.split_once('(')?;
        let fields: Vec<_> = fields.split_whitespace().collect();
        let number = |index: usize| fields.get(index)?.parse::<i64>().ok();
        let whole = |index: usize| number(index).and_then(|number| u32::try_from(number).ok());
        Some(Process {
            pid,
            parent: whole(1)?,
            group: whole(2)?,
            session: whole(3)?,
            terminal: number(4).map(i64::unsigned_abs).filter(|device| *device > 0),
            started: fields.get(19)?.parse().ok()?,
            user: std::fs::metadata(&folder).ok()?.uid(),
            name: name.to_owned(),
            program: std::fs::read_link(format!("{folder}/exe")).ok(),
        })
    }
}
