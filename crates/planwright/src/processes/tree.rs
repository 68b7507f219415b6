//! The processes of the machine.

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
    processes: HashMap<u32, Process>,
}

/// More ancestors than any real process has.
const LONGEST_CHAIN: usize = 1000;

impl ProcessTree {
    #[cfg(test)]
    pub(super) fn of(boot: &str, processes: impl Iterator<Item = Process>) -> Self {
        let processes = processes.map(|process| (process.pid, process)).collect();
        let place = ProcessPlace { boot: boot.to_owned(), numbers: 1, users: 1, time: 1 };
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
        while let Some(mut process) = linux::process(next) {
            process.serves = linux::served_terminals(next);
            next = process.parent;
            if processes.insert(process.pid, process).is_some() || processes.len() > LONGEST_CHAIN {
                return None;
            }
        }
        Some(Self { place, own_program, processes })
    }

    /// Every process that runs now, as far as this one may see them.
    #[cfg(target_os = "linux")]
    pub(super) fn running() -> Vec<Process> {
        let Ok(folders) = std::fs::read_dir("/proc") else { return Vec::new() };
        let numbers = folders.flatten().filter_map(|folder| folder.file_name().to_str()?.parse::<u32>().ok());
        numbers.filter_map(linux::process).filter(|process| !process.has_ended).collect()
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn running() -> Vec<Process> {
        Vec::new()
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn read(_: u32) -> Option<Self> {
        None
    }

    /// The process on this machine at the other end of a connection.
    #[cfg(target_os = "linux")]
    pub(super) fn at_connection(peer: SocketAddr) -> Option<u32> {
        linux::process_at(peer)
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn at_connection(_: SocketAddr) -> Option<u32> {
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
    use std::fs::File;
    use std::io::Read as _;
    use std::net::{IpAddr, SocketAddr};
    use std::os::unix::fs::MetadataExt as _;

    use planwright_core::presence::ProcessPlace;

    use super::Process;

    /// The file systems of the kernel that tell about processes and namespaces.
    const PROC: rustix::fs::FsWord = 0x9fa0;
    const NAMESPACES: rustix::fs::FsWord = 0x6e73_6673;

    /// A file of `/proc` that really is one: in a mount namespace of its own, a process can put another file in its place.
    fn open(path: &str, system: rustix::fs::FsWord) -> Option<File> {
        let file = File::open(path).ok()?;
        (rustix::fs::fstatfs(&file).ok()?.f_type == system).then_some(file)
    }

    fn read(path: &str) -> Option<String> {
        let mut bytes = Vec::new();
        open(path, PROC)?.read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn namespace(name: &str) -> Option<u64> {
        Some(open(&format!("/proc/self/ns/{name}"), NAMESPACES)?.metadata().ok()?.ino())
    }

    pub(super) fn place() -> Option<ProcessPlace> {
        Some(ProcessPlace {
            boot: read("/proc/sys/kernel/random/boot_id")?.trim().to_owned(),
            numbers: namespace("pid")?,
            users: namespace("user")?,
            // Older kernels have one time for all.
            time: namespace("time").unwrap_or(0),
        })
    }

    /// The control group in the unified hierarchy, or the one of systemd. The first group of all tells no program from another.
    fn control_group(pid: u32) -> Option<String> {
        let text = read(&format!("/proc/{pid}/cgroup"))?;
        let group = |start: &str| text.lines().find_map(|line| line.strip_prefix(start));
        let named = group("0::")
            .or_else(|| text.lines().find_map(|line| line.split_once(":name=systemd:").map(|(_, path)| path)));
        named.filter(|path| *path != "/").map(str::to_owned)
    }

    pub(super) fn process(pid: u32) -> Option<Process> {
        if pid == 0 {
            return None;
        }
        let folder = format!("/proc/{pid}");
        let stat = read(&format!("{folder}/stat"))?;
        // The name of the program stands in brackets and may hold anything; what follows it does not.
        let (before, fields) = stat.rsplit_once(')')?;
        let (number, name) = before.split_once('(')?;
        if number.trim() != pid.to_string() {
            return None;
        }
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
            control_group: control_group(pid),
            // A process whose first thread has ended may have others.
            has_ended: matches!(fields.first(), Some(&("Z" | "X"))) && number(17).is_some_and(|threads| threads < 2),
            serves: None,
        })
    }

    pub(super) fn served_terminals(pid: u32) -> Option<Vec<u64>> {
        let mut served = Vec::new();
        for file in std::fs::read_dir(format!("/proc/{pid}/fdinfo")).ok()?.flatten() {
            let Some(text) = read(&file.path().to_string_lossy()) else { continue };
            let index = text.lines().find_map(|line| line.strip_prefix("tty-index:"));
            served.extend(index.and_then(|index| index.trim().parse::<u64>().ok()));
        }
        Some(served)
    }

    pub(super) fn process_at(peer: SocketAddr) -> Option<u32> {
        let peer = SocketAddr::new(peer.ip().to_canonical(), peer.port());
        let tables = ["/proc/net/tcp", "/proc/net/tcp6"].into_iter().filter_map(read);
        let socket = tables.into_iter().find_map(|table| socket_at(&table, peer))?;
        let link = format!("socket:[{socket}]");
        let folders = std::fs::read_dir("/proc").ok()?.flatten();
        let mut numbers = folders.filter_map(|folder| folder.file_name().to_str()?.parse::<u32>().ok());
        numbers.find(|pid| {
            let Ok(files) = std::fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
            files.flatten().any(|file| std::fs::read_link(file.path()).is_ok_and(|to| to.as_os_str() == link.as_str()))
        })
    }

    /// The number of the socket that is bound to this address, in a table of `/proc/net`.
    fn socket_at(table: &str, peer: SocketAddr) -> Option<u64> {
        table.lines().skip(1).find_map(|line| {
            let fields: Vec<_> = line.split_whitespace().collect();
            let (address, port) = fields.get(1)?.split_once(':')?;
            let here = SocketAddr::new(address_of(address)?.to_canonical(), u16::from_str_radix(port, 16).ok()?);
            let socket = fields.get(9)?.parse::<u64>().ok()?;
            (here == peer && socket != 0).then_some(socket)
        })
    }

    /// Groups of four bytes, each as one number of this machine.
    fn address_of(text: &str) -> Option<IpAddr> {
        let mut bytes = Vec::new();
        for start in (0..text.len()).step_by(8) {
            let group = u32::from_str_radix(text.get(start..start + 8)?, 16).ok()?;
            bytes.extend(group.to_ne_bytes());
        }
        match bytes.len() {
            4 => <[u8; 4]>::try_from(bytes).ok().map(IpAddr::from),
            _ => <[u8; 16]>::try_from(bytes).ok().map(IpAddr::from),
        }
    }
}
