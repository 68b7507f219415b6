//! The number of connections that the process's limit on open files allows.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files that the store, the log and the tools need besides connections.
const OTHER_FILES: u64 = 256;

/// As many of the wanted connections as the process may open. The soft limit, often 1,024, is raised as far as the hard
/// limit allows: without this, idle connections could use up every file descriptor, also those of the store.
pub(super) fn fit_connections(wanted: usize) -> usize {
    let needed = wanted as u64 + OTHER_FILES;
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let allowed = match current {
        Some(current) if current < needed => {
            let raised = maximum.map_or(needed, |maximum| needed.min(maximum));
            match setrlimit(Resource::Nofile, Rlimit { current: Some(raised), maximum }) {
                Ok(()) => raised,
                Err(_) => current,
            }
        }
        Some(_) | None => return wanted,
    };
    let fitting = fitting(wanted, allowed);
    if fitting < wanted {
        tracing::warn!(
            event = "connections_limited",
            connections = fitting,
            "the limit on open files (`ulimit -n`) does not allow {wanted} connections",
        );
    }
    fitting
}

/// A quarter of a small limit is left for other files.
fn fitting(wanted: usize, allowed: u64) -> usize {
    let others = OTHER_FILES.min(allowed / 4);
    wanted.min(usize::try_from(allowed - others).unwrap_or(usize::MAX)).max(2)
}

#[cfg(test)]
mod tests {
    use super::fitting;

    #[test]
    fn other_files_keep_their_share() {
        for (wanted, allowed, expected) in
            [(4096, 8192, 4096), (4096, 4352, 4096), (4096, 1024, 768), (4096, 256, 192), (8, 256, 8), (4096, 0, 2)]
        {
            assert_eq!(fitting(wanted, allowed), expected, "{wanted} of {allowed}");
        }
    }
}
