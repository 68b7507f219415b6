//! The arguments of `planwright permissions`.

use clap::{Args, Subcommand};

pub(super) const PERMISSIONS: &str = "\
These rules come from the answer `always` to a call that an agent asked about. Each names the project or the session, and the \
exact call or the pattern that was shown. Rules that allow calls in every session are added here; those that ask or deny are in \
planwright.toml.";

#[derive(Debug, Args)]
pub(crate) struct PermissionsArgs {
    #[command(subcommand)]
    pub(crate) command: PermissionsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PermissionsCommand {
    /// List what you permitted from now on
    List,
    /// Allow calls in every session by a rule, such as `{ tool = "run_command", match = "make" }`
    Add {
        /// The rule as in `[[permissions]]`, without `decide`
        rule: String,
        /// The approver who confirms it, where there are several
        #[arg(long, value_name = "NAME")]
        approver: Option<String>,
    },
    /// Take a rule back: its calls are asked about again
    Remove {
        /// The number of the rule
        number: u64,
        /// The approver who confirms it, where there are several
        #[arg(long, value_name = "NAME")]
        approver: Option<String>,
    },
}
