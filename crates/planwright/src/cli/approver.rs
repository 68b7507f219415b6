//! The arguments of `planwright approver` and `planwright init`.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use planwright_core::approval::Require;
use planwright_core::session::Channel;

pub(super) const APPROVER: &str = "\
An approver signs approvals with a key that a passphrase unlocks. The passphrase is asked on the terminal; it is never an \
argument, a variable or a pipe. Every approver but the first is enrolled by another one. With the enrolment a recovery code is \
shown, once: `planwright approver recover` takes it instead of a passphrase that was forgotten.";

#[derive(Debug, Args)]
pub(crate) struct ApproverArgs {
    #[command(subcommand)]
    pub(crate) command: ApproverCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ApproverCommand {
    /// Enrol an approver; an approver who is enrolled already confirms it
    Add {
        name: String,
        /// The approver who confirms it
        #[arg(long, value_name = "NAME")]
        approver: Option<String>,
    },
    /// List the approvers with their public keys
    List,
    /// Remove an approver, or one of their passkeys: its signatures no longer count
    Remove {
        name: String,
        /// Remove only this passkey of theirs; `list` shows the ids
        #[arg(long, value_name = "ID")]
        passkey: Option<String>,
        /// The approver who confirms it
        #[arg(long, value_name = "NAME")]
        approver: Option<String>,
    },
    /// Change an approver's passphrase and recovery code
    Change { name: Option<String> },
    /// Choose another passphrase with the recovery code
    Recover { name: Option<String> },
    /// Write the public keys, to keep them elsewhere; `verify --approvers FILE` compares the store with them
    Export {
        /// The file to write [default: stdout]
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Show how a person has to be recognised to approve, or change it
    Policy(PolicyArgs),
}

#[derive(Debug, Args)]
pub(crate) struct PolicyArgs {
    /// The requirement from now on; a weaker one has to be confirmed
    #[arg(long, value_name = "REQUIRE", value_parser = require())]
    pub(crate) require: Option<Require>,
    /// Only for sessions of this channel, such as `mcp`; rules for a risk stay before it [default: every channel]
    #[arg(long, value_name = "CHANNEL", requires = "require", value_parser = channel())]
    pub(crate) channel: Option<Channel>,
    /// The approver who confirms it
    #[arg(long, value_name = "NAME")]
    pub(crate) approver: Option<String>,
}

pub(super) const DASHBOARD: &str = "\
The link signs one browser in, once, within two minutes. That browser counts as you until you sign out, close it, or twelve \
hours have passed. The link is made only at a terminal out of the agent's reach, or with a passphrase.";

#[derive(Debug, Args)]
pub(crate) struct DashboardArgs {
    /// The address of the server [default: the setting `server.public_url`, else `server.listen`]
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// Be recognised by the passphrase of this approver instead of by the terminal
    #[arg(long, value_name = "NAME")]
    pub(crate) approver: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Who approves plans [default: asked]
    #[arg(long, value_name = "NAME")]
    pub(crate) approver: Option<String>,
}

fn channel() -> impl TypedValueParser<Value = Channel> {
    PossibleValuesParser::new(Channel::ALL.map(Channel::as_str))
        .try_map(|name| Channel::ALL.into_iter().find(|channel| channel.as_str() == name).ok_or("this is no channel"))
}

fn require() -> impl TypedValueParser<Value = Require> {
    PossibleValuesParser::new(Require::ALL.map(Require::as_str))
        .map(|name| Require::ALL.into_iter().find(|require| require.as_str() == name).unwrap_or_default())
}
