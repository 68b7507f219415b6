//! Tests that need more of the machine than every machine has. Where it is missing they are skipped by name, or they fail:
//!
//! - `PLANWRIGHT_TEST_NO_SKIPS` names the prerequisites, separated by spaces, without which a test fails
//! - `PLANWRIGHT_TEST_SKIPPED` is a file that the names of skipped tests, and what they lack, are appended to
//!
//! `scripts/run-tests`, which `make test` uses, sets both.

use std::io::Write as _;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prerequisite {
    /// Commands run in a sandbox with namespaces.
    Sandbox,
    /// Tests that act as several users.
    Root,
    /// A terminal multiplexer.
    Tmux,
    /// A service for remote logins.
    OpenSsh,
    /// Programs that look into others of the same user.
    Debugger,
}

impl Prerequisite {
    fn name(self) -> &'static str {
        match self {
            Self::Sandbox => "sandbox",
            Self::Root => "root",
            Self::Tmux => "tmux",
            Self::OpenSsh => "openssh",
            Self::Debugger => "debugger",
        }
    }

    /// What to install or allow.
    fn remedy(self) -> &'static str {
        match self {
            Self::Sandbox => {
                "allow user namespaces (docs/sandbox.md, \"What the kernel must offer\"); in Docker: --security-opt \
                 seccomp=unconfined --security-opt systempaths=unconfined"
            }
            Self::Root => "run the tests as root",
            Self::Tmux => "install tmux",
            Self::OpenSsh => {
                "install OpenSSH with its server (Debian and Ubuntu: apt-get install openssh-server) and let root log in with a key"
            }
            Self::Debugger => "let programs of one user trace each other: sysctl kernel.yama.ptrace_scope=0",
        }
    }
}

/// Records that the running test is skipped, which the caller then leaves. Panics if it must not be skipped.
#[track_caller]
pub fn skip(missing: Prerequisite, reason: &str) {
    let name = missing.name();
    let required = std::env::var("PLANWRIGHT_TEST_NO_SKIPS").unwrap_or_default();
    assert!(
        !required.split_whitespace().any(|one| one == name),
        "this test needs: {name}. {reason}. To run it, {}. Without `{name}` in PLANWRIGHT_TEST_NO_SKIPS it is skipped",
        missing.remedy()
    );
    // libtest names the thread of a test after the test.
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    // The second line is the same for all tests that lack this, so that a list shows it once.
    let lines = format!(
        "skipped without {name}: {test}\nskipped without {name}, because {reason}. To run these tests, {}.\n",
        missing.remedy()
    );
    eprint!("{lines}");
    if let Some(file) = std::env::var_os("PLANWRIGHT_TEST_SKIPPED") {
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(file).unwrap();
        // One write, because many processes append at once.
        file.write_all(lines.as_bytes()).unwrap();
    }
}
