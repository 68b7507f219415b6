//! The arguments of `planwright workbook`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct WorkbookArgs {
    /// The session: its key, or channel:key [default: that of the project folder, else the only one]
    #[arg(long, value_name = "KEY", env = "PLANWRIGHT_SESSION", global = true)]
    pub(crate) session: Option<String>,
    #[command(subcommand)]
    pub(crate) command: WorkbookAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WorkbookAction {
    /// Begin a workbook with the files `task_plan.md`, `findings.md` and `progress.md` of a folder, which stay as they are
    Adopt(AdoptArgs),
}

#[derive(Debug, Args)]
pub(crate) struct AdoptArgs {
    /// The folder with the files [default: the current one]
    #[arg(value_name = "FOLDER", default_value = ".", hide_default_value = true)]
    pub(crate) folder: PathBuf,
    /// Archive a workbook that is in work
    #[arg(long)]
    pub(crate) archive: bool,
}
