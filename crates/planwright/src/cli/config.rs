//! The arguments of `planwright config`.

use clap::{Args, Subcommand};

pub(super) const CONFIG: &str = "\
Guarded settings say who may decide and what an agent may reach. They live in the store: a new store takes them from the process \
that creates it, and afterwards the configuration file and variables change nothing about them. All other settings are in \
planwright.toml and in variables.";

#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show the guarded settings of the store, where the settings of this process differ, and what the configuration sets
    Show,
    /// Print the path of the configuration, which may not exist yet
    Path,
    /// Open the configuration in your editor (VISUAL, else EDITOR), and check it afterwards
    Edit,
    /// Change a guarded setting
    Set {
        /// Such as telegram.allowed_users
        key: String,
        /// As in the variable of the setting: a list has commas between its items
        value: String,
        /// The approver who confirms it, once one is enrolled
        #[arg(long, value_name = "NAME")]
        approver: Option<String>,
    },
    /// Reset a guarded setting to its default
    Unset {
        key: String,
        /// The approver who confirms it, once one is enrolled
        #[arg(long, value_name = "NAME")]
        approver: Option<String>,
    },
}
