//! The arguments of the commands that run and maintain Planwright.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::config::listen_address;
use crate::logging::LogFormat;

pub(super) const SERVE: &str = "\
The first start makes an access token. In a terminal every start shows an address that signs one browser in, once; elsewhere \
`planwright token` shows the token. To listen for other machines the token must exist already.

On SIGTERM or SIGINT running work may reach a safe point; a second signal ends it at once. SIGHUP is ignored, except in a \
terminal, where it stops the server. With --json the only line on stdout is {\"address\": …}, when the server is ready.";

pub(super) const TOKEN: &str = "\
The token gives full access: keep it secret. If there is none, it is made, in a file that only you can read. If \
PLANWRIGHT_TOKEN is set, that is the token, and the file is not used.";

pub(super) const BACKUP: &str = "\
Other processes can keep working: the archive holds every session as it was at one moment. It holds all journals, the \
session that each chat was in, and the sessions' files. It does not hold the access token, or planwright.toml, which may \
have passwords in it. Damaged sessions are named and left out; the exit code is then 7.";

pub(super) const RESTORE: &str = "\
Sessions and files of the archive are added to the store; nothing that exists is replaced or removed. The store may be of \
another kind than the one the archive was made from. The whole archive is checked before anything is written. A store that \
has other sessions is refused, unless --merge is given. After an interruption, run the same command again.";

pub(super) const DOCTOR: &str = "\
It changes nothing and makes no folder, no store and no newer schema. Exit code 0: everything works. 7: something is \
damaged. 6: something else cannot be used. 2: the configuration is wrong.";

pub(super) const MODELS: &str = "\
A provider is asked for its list if its key is set, and Ollama if it runs. That costs nothing. A model is chosen with `--model`, \
with PLANWRIGHT_MODEL, or with `model` in planwright.toml.";

#[derive(Debug, Args)]
pub(crate) struct ModelsArgs {
    /// Only models whose name has this in it
    #[arg(value_name = "TEXT")]
    pub(crate) filter: Option<String>,
}

pub(super) const COMPLETIONS: &str = "\
Without --install it prints a script for the shell. With it the script is written for your user:
  bash        ~/.local/share/bash-completion/completions/planwright
  zsh         ~/.local/share/zsh/site-functions/_planwright; that folder has to be in `fpath`
  fish        ~/.config/fish/completions/planwright.fish
In PowerShell add this to your profile: planwright completions powershell | Out-String | Invoke-Expression";

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: clap_complete::Shell,
    /// Write the script where the shell looks for it
    #[arg(long)]
    pub(crate) install: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// The address at which a server is looked for [default: the setting `server.listen`, else 127.0.0.1:7717]
    #[arg(long, value_name = "ADDRESS", value_parser = listen_address)]
    pub(crate) listen: Option<SocketAddr>,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The folder; it is made if it does not exist
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// The address to listen at; port 0 takes any free port [default: the setting `server.listen`, else 127.0.0.1:7717]
    #[arg(long, value_name = "ADDRESS", value_parser = listen_address)]
    pub(crate) listen: Option<SocketAddr>,
    /// Another name this server is reached by, as browsers and programs send it; may be given several times
    #[arg(long = "host", value_name = "NAME", value_parser = crate::config::host_name)]
    pub(crate) hosts: Vec<String>,
    /// Who answers: openai:NAME, anthropic:NAME, gemini:NAME, ollama:NAME or rehearsal [default: the setting `model`,
    /// else rehearsal]
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// The format of the log on stderr [default: pretty on a terminal, json elsewhere]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) log_format: Option<LogFormat>,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// Also compare the approvers and their signatures with this file, which `approver export` wrote
    #[arg(long, value_name = "FILE")]
    pub(crate) approvers: Option<PathBuf>,
    /// Instead look for this text in every table and in every file of the data folder, as after a deletion; `-` reads it from stdin
    #[arg(long, value_name = "TEXT", conflicts_with = "approvers")]
    pub(crate) absent: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct HealthArgs {
    /// The address it listens at [default: the setting `server.listen`, else 127.0.0.1:7717]
    #[arg(long, value_name = "ADDRESS", value_parser = listen_address)]
    pub(crate) listen: Option<SocketAddr>,
}

#[derive(Debug, Args)]
pub(crate) struct TelegramArgs {
    /// How long to wait for a message; 0 only checks the token
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    pub(crate) wait_seconds: u32,
    #[command(subcommand)]
    pub(crate) command: Option<TelegramCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TelegramCommand {
    /// Let a user's buttons count where a verified person is asked for; an approver signs it
    Bind {
        /// The user's id, which `planwright telegram` shows
        user: i64,
        /// The approver who answers for them
        #[arg(long, value_name = "NAME")]
        approver: Option<String>,
    },
    /// Take that back
    Unbind { user: i64 },
}

#[derive(Debug, Args)]
pub(crate) struct TokenArgs {
    #[command(subcommand)]
    pub(crate) command: Option<TokenCommand>,
}

impl TokenArgs {
    pub(crate) fn replaces(&self) -> bool {
        match self.command {
            Some(TokenCommand::Rotate) => true,
            Some(TokenCommand::Show | TokenCommand::Path) | None => false,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Subcommand)]
pub(crate) enum TokenCommand {
    /// Print the token; the default
    Show,
    /// Replace the token: the old one is no longer valid, and open connections are closed
    Rotate,
    /// Print the path of the file it is in
    Path,
}

#[derive(Debug, Args)]
pub(crate) struct BackupArgs {
    /// The archive to write; `-` writes to stdout
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Overwrite an existing file
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    /// The archive; `-` reads it from stdin
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Add to a store that has other sessions; what exists stays as it is, and conflicts are named
    #[arg(long)]
    pub(crate) merge: bool,
}
