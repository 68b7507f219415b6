//! Reaching other processes.

use std::fs::{self, File, OpenOptions};
use std::io::{Error, Result, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::Command;

use super::Attempt;
use crate::calls;

pub(super) fn attempts() -> Vec<Attempt> {
    vec![
        Attempt::new("signal", "end another process", |at| calls::signal(at.number("VICTIM"), libc::SIGKILL))
            .changing(),
        Attempt::new("signal_us", "signal Planwright", |at| calls::signal(at.number("PLANWRIGHT"), 0)),
        Attempt::new("trace", "trace another process", |at| calls::trace(at.number("VICTIM"))),
        Attempt::new("trace_us", "trace Planwright", |at| {
            // Attaching would stop the test; asking for the memory is the same permission.
            calls::read_memory(at.number("PLANWRIGHT"))
        }),
        Attempt::new("memory_call", "read the memory of another process", |at| calls::read_memory(at.number("VICTIM"))),
        Attempt::new("memory_file", "read Planwright's memory through /proc", |at| {
            memory(&Path::new("/proc").join(at.value("PLANWRIGHT")))
        }),
        Attempt::new("environment", "read Planwright's variables", |at| {
            fs::read(Path::new("/proc").join(at.value("PLANWRIGHT")).join("environ")).map(drop)
        }),
        Attempt::new("arguments", "read the arguments of another process", |at| {
            fs::read(at.victim().join("cmdline")).map(drop)
        }),
        Attempt::new("list", "see another process in the list", |at| fs::metadata(at.victim()).map(drop)),
        Attempt::new("supervisor_memory", "read the memory of the command's supervisor", |_| memory(&supervisor()?))
            .for_root(),
        Attempt::new("supervisor_environment", "read the variables of the command's supervisor", |_| {
            fs::read(supervisor()?.join("environ")).map(drop)
        })
        .for_root(),
        Attempt::new("take_descriptor", "take a descriptor of another process", |at| {
            let process = calls::descriptor(libc::SYS_pidfd_open, &[at.number("VICTIM") as u64, 0])?;
            calls::descriptor(libc::SYS_pidfd_getfd, &[process.as_raw_fd() as u64, 0, 0]).map(drop)
        }),
        Attempt::new("memory_score", "change when another process is ended for memory", |at| {
            fs::write(at.victim().join("oom_score_adj"), "500")
        })
        .changing(),
        Attempt::new("own_memory_file", "write own memory through /proc/self/mem", |_| own_memory()),
        Attempt::new("priority", "change the priority of another process", |at| {
            calls::call(libc::SYS_setpriority, &[0, at.number("VICTIM") as u64, 5]).map(drop)
        }),
        Attempt::new("limits_of_others", "change a limit of another process", |at| {
            let limit = [64_u64, 64];
            let arguments = [at.number("VICTIM") as u64, libc::RLIMIT_CORE.into(), limit.as_ptr() as u64, 0];
            calls::call(libc::SYS_prlimit64, &arguments).map(drop)
        }),
        Attempt::new("setuid_program", "become another user by a setuid program", |_| setuid_program()).for_root(),
        Attempt::new("setuid_call", "become another user by a call", |_| {
            calls::call(libc::SYS_setuid, &[65533]).map(drop)
        })
        .for_root(),
    ]
}

fn memory(process: &Path) -> Result<()> {
    let maps = fs::read_to_string(process.join("maps"))?;
    let start = maps.split('-').next().and_then(|start| u64::from_str_radix(start, 16).ok());
    let start = start.ok_or_else(|| Error::from_raw_os_error(libc::EACCES))?;
    File::open(process.join("mem"))?.read_exact_at(&mut [0; 16], start)
}

/// The supervisor is the parent of the shell: the first ancestor that is another program than the shell and this one.
fn supervisor() -> Result<std::path::PathBuf> {
    let mut pid = std::process::id();
    for _ in 0..4 {
        let folder = Path::new("/proc").join(pid.to_string());
        let status = fs::read_to_string(folder.join("status"))?;
        let parent = status.lines().find_map(|line| line.strip_prefix("PPid:")?.trim().parse::<u32>().ok());
        pid = parent.ok_or_else(|| Error::from_raw_os_error(libc::ESRCH))?;
        let folder = Path::new("/proc").join(pid.to_string());
        let command = fs::read_to_string(folder.join("cmdline"))?;
        if !command.starts_with("sh\0") && !command.contains("attempt") {
            return Ok(folder);
        }
    }
    Err(Error::from_raw_os_error(libc::ESRCH))
}

fn own_memory() -> Result<()> {
    let target = Box::new(7_u8);
    let address = &raw const *target as u64;
    let mut memory = OpenOptions::new().read(true).write(true).open("/proc/self/mem")?;
    std::io::Seek::seek(&mut memory, std::io::SeekFrom::Start(address))?;
    memory.write_all(&[8])
}

/// The program belongs to another user, is marked to run as that user, and prints which user that is.
fn setuid_program() -> Result<()> {
    let status = Command::new("./other-user").args(["user"]).output()?;
    let user = String::from_utf8_lossy(&status.stdout).trim().to_owned();
    if user == "65534" { Ok(()) } else { Err(Error::from_raw_os_error(libc::EPERM)) }
}
