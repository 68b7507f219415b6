//! The arguments of the commands that run Planwright and look after it.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::config::listen_address;
use crate::logging::LogFormat;

pub(super) const SERVE: &str = "\
The first start makes an access token and prints the address with it, once; later it is in the file that is named, and \
`planwright token` shows it. Elsewhere than on this machine it listens only if there is a token already.

SIGTERM and SIGINT let what is under way reach a safe point; a second one ends it at once. SIGHUP changes nothing, \
unless it was started in a terminal, with which it stops. With --json the only line on stdout is {\"address\": …}, when it is ready.";

pub(super) const TOKEN: &str = "\
Whoever has the token may do everything you may. It is made if it is not there, in a file that only you can read. With \
PLANWRIGHT_TOKEN set, that is the token, and the file is not looked at.";

pub(super) const BACKUP: &str = "\
Others may go on working: every session is in the archive as it was at one moment. In it are all journals, which sessions \
were chosen where, and the files of the sessions. Not in it are the access token, and planwright.toml, which may hold \
passwords. Sessions that are damaged are named and left out, with exit code 7.";

pub(super) const RESTORE: &str = "\
The whole archive is checked before anything is written, and the store may be of another kind than the one it was made \
from. A store that has other sessions is refused, unless they are to be merged: then what is there stays as it is. \
After an interruption the same command goes on.";

pub(super) const DOCTOR: &str = "\
It only looks, and makes nothing: no folder, no store, no newer schema. Exit code 0 means that nothing is wrong, 7 that \
something is damaged, 6 that something else cannot be used, 2 that the configuration is wrong.";

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// The address to listen at; port 0 takes any that is free [default: the setting `server.listen`, else 127.0.0.1:7717]
    #[arg(long, value_name = "ADDRESS", value_parser = listen_address)]
    pub(crate) listen: Option<SocketAddr>,
    /// Another name this server is reached by, as browsers and programs send it; may be given several times
    #[arg(long = "host", value_name = "NAME", value_parser = crate::config::host_name)]
    pub(crate) hosts: Vec<String>,
    /// Who answers: openai:NAME, anthropic:NAME, gemini:NAME, ollama:NAME or rehearsal [default: the setting `model`,
    /// else rehearsal]
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// How the log looks, on stderr [default: pretty on a terminal, json elsewhere]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) log_format: Option<LogFormat>,
}

#[derive(Debug, Args)]
pub(crate) struct HealthArgs {
    /// The address it listens at [default: the setting `server.listen`, else 127.0.0.1:7717]
    #[arg(long, value_name = "ADDRESS", value_parser = listen_address)]
    pub(crate) listen: Option<SocketAddr>,
}

#[derive(Debug, Args)]
pub(crate) struct TokenArgs {
    #[command(subcommand)]
    pub(crate) command: Option<TokenCommand>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Subcommand)]
pub(crate) enum TokenCommand {
    /// Print the token; this is what happens without a word as well
    Show,
    /// Replace it: from then on only the new one counts, and open connections are cut
    Rotate,
    /// Print where it is kept
    Path,
}

#[derive(Debug, Args)]
pub(crate) struct BackupArgs {
    /// The archive to write; `-` writes to stdout
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Write over a file that is there
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    /// The archive; `-` reads it from stdin
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Into a store that has sessions already; those that are there stay as they are, and are named
    #[arg(long)]
    pub(crate) merge: bool,
}
