//! Why a command was not started.

use std::io;
use std::path::PathBuf;

use crate::SandboxLevel;

#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    #[error("{0:?} is not a sandbox level; the levels are read_only, workspace and open")]
    UnknownLevel(String),

    #[error(
        "this system cannot enforce the sandbox level {level}: {reason}. The command was not run. A person can choose \
         the level open, which enforces nothing."
    )]
    NotEnforceable { level: SandboxLevel, reason: String },

    #[error("the workspace {path} cannot be used: {reason}")]
    Workspace { path: PathBuf, reason: String },

    #[error("the folder {path} for the command is not a folder below the workspace")]
    WorkingFolder { path: PathBuf },

    #[error("the command contains a NUL byte, which no shell accepts")]
    NulByte,

    #[error("the command is {bytes} bytes long; the longest allowed is {limit} bytes")]
    TooLong { bytes: usize, limit: usize },

    #[error("there is no program {0:?} in the folders of PATH")]
    NoProgram(String),

    #[error("cannot write the command's output to {path}: {source}")]
    OutputFile { path: PathBuf, source: io::Error },

    #[error("cannot make a temporary folder for the command: {0}")]
    Scratch(io::Error),

    #[error("cannot start the command: {0}")]
    Start(String),
}
