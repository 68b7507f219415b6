//! The name this process holds sessions under. It tells others on the same machine whether the process still runs,
//! so that they need not wait until its leases run out. And whether others may read the memory of this process.

use std::fs;
use std::io::ErrorKind;

use uuid::Uuid;

/// A name that no other process has, nor this one after another start.
pub fn own_name() -> String {
    let unique = Uuid::now_v7();
    match (place(), started("self")) {
        (Some(place), Some(started)) => format!("{place}/{}/{started}/{unique}", std::process::id()),
        _ => unique.to_string(),
    }
}

/// Closes the memory of this process to all others but root's, from now on, and leaves no copy of it after a crash. It has a passphrase or a
/// key in it.
#[cfg(target_os = "linux")]
pub fn close_memory() {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    if let Err(error) = set_dumpable_behavior(DumpableBehavior::NotDumpable) {
        tracing::warn!(event = "memory_not_closed", %error, "other processes of this user may read the memory of this one");
    }
}

#[cfg(not(target_os = "linux"))]
pub fn close_memory() {}

/// Whether the process with this name has surely ended. Of processes elsewhere nothing is known.
pub fn is_gone(owner: &str) -> bool {
    let parts: Vec<_> = owner.split('/').collect();
    let [boot, space, pid, began, _] = parts.as_slice() else { return false };
    let here = place().is_some_and(|place| place == format!("{boot}/{space}"));
    let known = pid.bytes().all(|b| b.is_ascii_digit());
    here && known && ended(pid, began)
}

/// Whether the process with this name is or was on this machine, among the processes that this one sees.
pub fn is_here(owner: &str) -> bool {
    place().is_some_and(|place| owner.strip_prefix(&place).is_some_and(|rest| rest.starts_with('/')))
}

/// Nothing is known of a process that this one may not look at.
fn ended(pid: &str, began: &str) -> bool {
    match fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => began_at(&stat).as_deref() != Some(began),
        Err(error) if error.kind() == ErrorKind::NotFound => sees_others(),
        Err(_) => false,
    }
}

/// Where processes of other users are hidden, a process that cannot be seen may still run.
fn sees_others() -> bool {
    fs::metadata("/proc/1/stat").is_ok()
}

/// This start of this machine, and the space in which its processes are numbered.
fn place() -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let space = fs::read_link("/proc/self/ns/pid").ok()?;
    Some(format!("{}/{}", boot.trim(), space.display()))
}

/// When a process began, in the kernel's own count; a number that is used again has another beginning.
fn started(pid: &str) -> Option<String> {
    began_at(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// `None` for one that has ended and was not waited for yet.
fn began_at(stat: &str) -> Option<String> {
    // The name of the program stands in brackets and may hold anything; what follows it does not.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace();
    let state = fields.next()?;
    let began = fields.nth(18)?.to_owned();
    (!matches!(state, "Z" | "X")).then_some(began)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_is_there_is_not_gone() {
        assert!(!is_gone(&own_name()));
        assert!(!is_gone("another-owner"));
        assert!(!is_gone(""));
    }

    /// What this program finds out about itself it still finds out.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_process_whose_memory_is_closed_still_knows_itself() {
        let before = (place(), started("self"));
        close_memory();
        assert_eq!(rustix::process::dumpable_behavior().unwrap(), rustix::process::DumpableBehavior::NotDumpable);
        assert_eq!((place(), started("self")), before);
        assert!(fs::read_link("/proc/self/exe").is_ok() && !is_gone(&own_name()));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_process_that_has_ended_is_gone() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let began = started(&child.id().to_string()).unwrap_or_else(|| "0".to_owned());
        let name = format!("{}/{}/{began}/x", place().unwrap(), child.id());
        child.wait().unwrap();
        assert!(is_gone(&name) && is_here(&name));
        let elsewhere = name.replacen('/', "x/", 1);
        assert!(!is_gone(&elsewhere) && !is_here(&elsewhere) && is_here(&own_name()));
    }
}
