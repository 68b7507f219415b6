//! What `/proc` says. In a mount namespace of its own, a process can put another file or folder in the place of one of `/proc`, so
//! nothing is read across a mount.

use std::ffi::CStr;
use std::fs::File;
use std::io::Read as _;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use planwright_core::presence::ProcessPlace;
use rustix::fs::{Dir, FsWord, Mode, OFlags, ResolveFlags, fstatfs, open, openat2, readlinkat};
use rustix::io::{Errno, Result};

use super::{ConnectionEnd, Process};

/// The file system of `/proc`.
const PROC: FsWord = 0x9fa0;
/// The user namespace that every process is in unless it made another.
const FIRST_USERS: u64 = 4_026_531_837;

/// A file below `/proc`.
fn open_file(path: &str, flags: OFlags) -> Result<OwnedFd> {
    let root = open("/proc", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    if fstatfs(&root)?.f_type != PROC {
        return Err(Errno::XDEV);
    }
    openat2(&root, path, flags | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::NO_XDEV)
}

fn read(path: &str) -> Result<String> {
    text_of(open_file(path, OFlags::RDONLY)?)
}

fn text_of(file: OwnedFd) -> Result<String> {
    let mut bytes = Vec::new();
    let failed = |error: std::io::Error| Errno::from_io_error(&error).unwrap_or(Errno::IO);
    File::from(file).read_to_end(&mut bytes).map_err(failed)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Where a link of `/proc` leads, in words. It is not followed.
fn link(path: &str) -> Result<String> {
    let link = open_file(path, OFlags::PATH | OFlags::NOFOLLOW)?;
    Ok(readlinkat(&link, c"", Vec::new())?.to_string_lossy().into_owned())
}

/// The names in a folder of `/proc`.
fn names(path: &str) -> Result<Vec<String>> {
    let folder = Dir::new(open_file(path, OFlags::RDONLY | OFlags::DIRECTORY)?)?;
    folder.map(|entry| Ok(text(entry?.file_name()))).collect()
}

fn text(name: &CStr) -> String {
    name.to_string_lossy().into_owned()
}

/// `user:[4026531837]`
fn namespace(name: &str) -> Result<u64> {
    let link = link(&format!("self/ns/{name}"))?;
    let number = link.split_once(":[").and_then(|(_, number)| number.strip_suffix(']')?.parse().ok());
    number.ok_or(Errno::INVAL)
}

pub(super) fn place() -> Option<ProcessPlace> {
    let users = namespace("user").ok()?;
    Some(ProcessPlace {
        boot: boot(users).ok()?.trim().to_owned(),
        numbers: namespace("pid").ok()?,
        users,
        // Older kernels have one time for all.
        time: namespace("time").unwrap_or(0),
    })
}

/// Containers have a mount of their own at `/proc/sys`. Only root can make one outside of a user namespace.
fn boot(users: u64) -> Result<String> {
    const FILE: &str = "sys/kernel/random/boot_id";
    match read(FILE) {
        Err(Errno::XDEV) if users == FIRST_USERS => {
            let file = open(format!("/proc/{FILE}"), OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
            if fstatfs(&file)?.f_type == PROC { text_of(file) } else { Err(Errno::XDEV) }
        }
        read => read,
    }
}

/// Every process. Fails if one of them cannot be read although it is there.
pub(super) fn processes() -> Result<Vec<Process>> {
    let numbers = names(".")?.into_iter().filter_map(|name| name.parse::<u32>().ok());
    numbers.filter_map(|pid| process(pid).transpose()).collect()
}

/// `None` if there is no such process.
pub(super) fn process(pid: u32) -> Result<Option<Process>> {
    let read_all = || Ok((read(&format!("{pid}/stat"))?, read(&format!("{pid}/status"))?));
    match read_all() {
        Ok((stat, status)) => parse(pid, &stat, &status).map(Some).ok_or(Errno::INVAL),
        Err(Errno::NOENT | Errno::SRCH) => Ok(None),
        Err(error) => Err(error),
    }
}

fn parse(pid: u32, stat: &str, status: &str) -> Option<Process> {
    // The name of the program stands in brackets and may hold anything; what follows it does not.
    let (before, fields) = stat.rsplit_once(')')?;
    let (number, name) = before.split_once('(')?;
    if number.trim() != pid.to_string() {
        return None;
    }
    let fields: Vec<_> = fields.split_whitespace().collect();
    let number = |index: usize| fields.get(index)?.parse::<i64>().ok();
    let whole = |index: usize| number(index).and_then(|number| u32::try_from(number).ok());
    let users = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    Some(Process {
        pid,
        parent: whole(1)?,
        group: whole(2)?,
        session: whole(3)?,
        terminal: number(4).map(i64::unsigned_abs).filter(|device| *device > 0),
        started: fields.get(19)?.parse().ok()?,
        // The first is the real one: a program of root that the user started has the rights of root.
        user: users.split_whitespace().next()?.parse().ok()?,
        name: name.to_owned(),
        program: link(&format!("{pid}/exe")).ok().map(PathBuf::from),
        control_group: control_group(pid),
        // A process whose first thread has ended may have others.
        has_ended: matches!(fields.first(), Some(&("Z" | "X"))) && number(17).is_some_and(|threads| threads < 2),
        serves: None,
    })
}

/// The control group in the unified hierarchy, or the one of systemd. The first group of all tells no program from another.
fn control_group(pid: u32) -> Option<String> {
    let text = read(&format!("{pid}/cgroup")).ok()?;
    let group = |start: &str| text.lines().find_map(|line| line.strip_prefix(start));
    let named =
        group("0::").or_else(|| text.lines().find_map(|line| line.split_once(":name=systemd:").map(|(_, path)| path)));
    named.filter(|path| *path != "/").map(str::to_owned)
}

/// The pseudo-terminals that a process serves. `None` if this process may not know.
pub(super) fn served_terminals(pid: u32) -> Option<Vec<u64>> {
    let mut served = Vec::new();
    for name in names(&format!("{pid}/fdinfo")).ok()? {
        let Ok(text) = read(&format!("{pid}/fdinfo/{name}")) else { continue };
        let index = text.lines().find_map(|line| line.strip_prefix("tty-index:"));
        served.extend(index.and_then(|index| index.trim().parse::<u64>().ok()));
    }
    Some(served)
}

pub(super) fn end_at(peer: SocketAddr) -> Result<ConnectionEnd> {
    let peer = SocketAddr::new(peer.ip().to_canonical(), peer.port());
    let tables = [read("self/net/tcp")?, read("self/net/tcp6").unwrap_or_default()];
    let Some(socket) = tables.iter().find_map(|table| socket_at(table, peer)) else {
        return Ok(ConnectionEnd::Foreign);
    };
    let wanted = format!("socket:[{}]", socket.number);
    let numbers = names(".")?.into_iter().filter_map(|name| name.parse::<u32>().ok());
    let has_it = |pid: &u32| {
        let folder = format!("{pid}/fd");
        let files = names(&folder).unwrap_or_default();
        files.iter().any(|file| link(&format!("{folder}/{file}")).is_ok_and(|to| to == wanted))
    };
    Ok(match numbers.into_iter().find(has_it) {
        Some(pid) => ConnectionEnd::Process(pid),
        None if socket.user == rustix::process::getuid().as_raw() => ConnectionEnd::Hidden,
        None => ConnectionEnd::Foreign,
    })
}

struct Socket {
    number: u64,
    user: u32,
}

/// The socket that is bound to this address, in a table of `/proc/net`.
fn socket_at(table: &str, peer: SocketAddr) -> Option<Socket> {
    table.lines().skip(1).find_map(|line| {
        let fields: Vec<_> = line.split_whitespace().collect();
        let (address, port) = fields.get(1)?.split_once(':')?;
        let here = SocketAddr::new(address_of(address)?.to_canonical(), u16::from_str_radix(port, 16).ok()?);
        let (user, number) = (fields.get(7)?.parse().ok()?, fields.get(9)?.parse::<u64>().ok()?);
        (here == peer && number != 0).then_some(Socket { number, user })
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A program of root that the user started under another name is not a service of the system.
    #[test]
    fn a_process_belongs_to_the_user_who_started_it() {
        let stat = "7 (sshd) S 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 500 0";
        let process = parse(7, stat, "Name:\tsshd\nUid:\t1000\t0\t0\t0\n").unwrap();
        assert_eq!((process.user, process.started, process.has_ended), (1000, 500, false));
        let ended = parse(7, &stat.replace(" S ", " Z "), "Uid:\t0\t0\t0\t0\n").unwrap();
        assert!(ended.has_ended);
        let threads = stat.replace(" S ", " Z ").replace("20 0 1 0 500", "20 0 2 0 500");
        assert!(!parse(7, &threads, "Uid:\t0\t0\t0\t0\n").unwrap().has_ended, "another thread runs");
    }
}
