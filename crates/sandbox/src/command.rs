//! A command and its result.

use std::path::PathBuf;
use std::time::Duration;

use crate::{CapturedOutput, RepositoryReport, SandboxLevel};

/// The kernel takes an argument of at most 128 KiB.
pub(crate) const MAX_LINE: usize = 120 * 1024;

/// A shell line, where it runs, and its limits.
#[derive(Debug, Clone)]
pub struct ShellCommand {
    /// Given to `/bin/sh -c`.
    pub line: String,
    /// An existing folder. At level `workspace` the command writes below it.
    pub workspace: PathBuf,
    /// The folder the command starts in, relative to the workspace. Empty for the workspace itself.
    pub cwd: PathBuf,
    pub level: SandboxLevel,
    /// Variables that a person configured for this command. They replace passed ones of the same name.
    pub environment: Vec<(String, String)>,
    /// Receives the whole output. An existing file is replaced.
    pub output_file: PathBuf,
    pub limits: CommandLimits,
}

#[derive(Debug, Clone)]
pub struct CommandLimits {
    /// After this time the command is ended. `None` lets it run until it is stopped.
    pub timeout: Option<Duration>,
    /// How long a command that is told to end may take before it is killed.
    pub grace: Duration,
    /// The first bytes of the output that are kept in memory.
    pub head_bytes: usize,
    /// The last bytes of the output that are kept in memory.
    pub tail_bytes: usize,
    /// The output file gets no more than this; what follows is counted and dropped.
    pub file_bytes: u64,
    /// Processes and threads of the command at one time. Not enforced at level `open`.
    pub processes: u32,
    /// Room in each of the command's temporary folders, which are in memory. Not enforced at level `open`.
    pub temporary_bytes: u64,
    /// Memory of the command as a whole, in bytes, where it can have a control group of its own; else the address space of each
    /// of its processes, of which some runtimes reserve much more than they use. `None` sets no limit.
    pub memory: Option<u64>,
}

impl Default for CommandLimits {
    fn default() -> Self {
        Self {
            timeout: Some(Duration::from_secs(120)),
            grace: Duration::from_secs(2),
            head_bytes: 8 * 1024,
            tail_bytes: 8 * 1024,
            file_bytes: 64 * 1024 * 1024,
            processes: 2048,
            temporary_bytes: 1024 * 1024 * 1024,
            memory: None,
        }
    }
}

/// Why a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandEnd {
    Exited {
        code: i32,
    },
    Signalled {
        signal: i32,
    },
    /// The time limit was reached and the command was ended.
    TimedOut,
    /// A [`CommandStopper`](crate::CommandStopper) ended it, or the `RunningCommand` was dropped.
    Stopped,
    /// The supervisor ended without a report, for example because the system ran out of memory.
    Lost {
        reason: String,
    },
}

#[derive(Debug, Clone)]
pub struct CommandResult {
    pub end: CommandEnd,
    pub duration: Duration,
    pub output: CapturedOutput,
    /// What it did to git repositories that the sandbox did not leave so, or that a person should know.
    pub repositories: RepositoryReport,
}

impl CommandEnd {
    /// The code as a shell reports it: 128 and the signal's number for a signal.
    pub fn exit_code(&self) -> Option<i32> {
        match self {
            Self::Exited { code } => Some(*code),
            Self::Signalled { signal } => Some(128 + signal),
            Self::TimedOut | Self::Stopped | Self::Lost { .. } => None,
        }
    }
}
