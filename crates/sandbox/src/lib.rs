//! Runs a shell line in a workspace folder, inside limits that the kernel enforces.
//!
//! - [`Sandbox::start`] starts a [`ShellCommand`] at a [`SandboxLevel`] and returns a [`RunningCommand`]
//! - [`RunningCommand`] streams the output, stops the command, and waits for its [`CommandResult`]
//! - [`Sandbox::start_program`] starts a [`PipedProgram`] without a shell and gives its standard input and output
//! - [`Support`] says what this kernel can enforce; a level that it cannot enforce is refused in the same words
//! - `paths` says which folders a command reads, `environment` which variables it gets
//! - `linux` builds the sandbox from namespaces, Landlock and a seccomp filter; `macos` writes a profile for `sandbox-exec`
//! - `capture`: the output of a command: all of it in a file up to a limit, its beginning and its end in memory
//! - `command`: a command and its result
//! - `driver`: the thread that reads a command's output, keeps its time limit and ends it
//! - `error`: why a command was not started
//! - `level`: how much a command may do
//! - `program`: a program without a shell, with pipes to its standard input and output
//! - `repositories`: what git obeys in the repositories of a workspace, kept from commands
//! - `running`: a command that was started
//! - `sandbox`: the settings that all commands of a process share, and the start of a command
//! - `scratch`: a folder on the disk that all commands of a sandbox share
//! - `support`: what this system can enforce
//! - `portable`: commands on systems other than Linux
//! - `wait`: waiting for descriptors
//!
//! Every command has a supervisor process. It ends the whole process tree of the command when the command ends, when
//! the [`RunningCommand`] is dropped, and when this process dies: the supervisor holds one end of a pipe whose other
//! end only this process has.
//!
//! Never in it: policy, plans. Whether a command may run, and at which level, is decided before this crate is called.

mod capture;
mod command;
mod driver;
mod environment;
mod error;
mod level;
mod paths;
mod program;
mod repositories;
mod running;
mod sandbox;
mod scratch;
mod support;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(any(target_os = "macos", test))]
mod macos;
#[cfg(not(target_os = "linux"))]
mod portable;
#[cfg(unix)]
mod wait;

#[cfg(target_os = "linux")]
use linux as platform;
#[cfg(not(target_os = "linux"))]
use portable as platform;

pub use capture::{CapturedOutput, OutputChunk, OutputStream};
pub use command::{CommandEnd, CommandLimits, CommandResult, ShellCommand};
pub use environment::{PASSED_VARIABLES, is_never_passed};
pub use error::SandboxError;
pub use level::SandboxLevel;
pub use paths::may_be_shared;
pub use program::{PipedProgram, ProgramAccess, ProgramHandle, ProgramPipes, locate_program};
pub use repositories::{MadeRepository, RepositoryReport};
pub use running::{CommandMonitor, CommandStopper, RunningCommand};
pub use sandbox::{Layers, Sandbox, SandboxOptions};
pub use support::{Support, SupportItem};
