//! The program `planwright`: command line, configuration and wiring. `core` decides and `engine` carries out; this crate calls
//! them and shows the answers.
//!
//! - [`approver`], [`passphrase`]: verified approvals
//! - [`backup`]: everything in one archive, and the way back
//! - [`chat`]: the conversation with the agent in a terminal or a pipe
//! - [`cli`]: the arguments of the command line
//! - [`config`]: the settings, from flags, variables and the file
//! - [`context`]: the store, the engine and the session a command works on
//! - [`commands`]: one module per command
//! - [`demo`]: what an agent tries and what Planwright answers, on a temporary store
//! - `asking_server`: upstream servers that ask for more than they may reach
//! - [`external_editor`], [`external_pager`]: the person's editor and pager
//! - [`file_sharing`]: where servers share the files of sessions
//! - [`file_system`]: whether a folder is on another machine, and how much room it has
//! - [`invocation`]: commands in hints, as they have to be typed
//! - [`logging`]: the log
//! - [`output_file`]: files for other programs, outside of the own folders
//! - [`processes`]: which program an agent runs in, and whether a terminal belongs to a person
//! - [`server_probe`]: asks whether a server answers at an address
//! - `shown_act`: what a person reads before they sign that work starts
//! - [`terminal`]: plans, differences and lists as text
//! - [`failure`]: errors, as text, JSON and exit codes
//! - [`token`]: where the access token is
//! - `models`: the models that specialists name, each connected once
//! - `permissions`: the permission rules that are not in the store: those of the configuration and of `{data}/permissions.toml`
//! - `sandbox`: the sandbox of the agent's commands, as the settings describe it
//! - `signals`: Ctrl+C, and the wish of the system that the program ends
//!
//! Never in it: logic. A rule belongs in `core`, a use case in the engine or the agent.

mod approver;
mod asking_server;
mod backup;
mod chat;
mod cli;
mod commands;
mod config;
mod context;
mod demo;
mod external_editor;
mod external_pager;
mod failure;
mod file_sharing;
mod file_system;
mod invocation;
mod logging;
mod models;
mod output_file;
mod passphrase;
mod permissions;
mod processes;
mod sandbox;
mod server_probe;
mod shown_act;
mod signals;
mod terminal;
mod token;

use std::process::ExitCode;

use crate::cli::Cli;
use crate::failure::{Exit, Failure};

fn main() -> ExitCode {
    let cli = match Cli::read(std::env::args_os()) {
        Ok(cli) => cli,
        Err(error) => return failure::report_usage(&error),
    };
    terminal::screen::choose_colors(cli.global.color);
    // The server's log has a format of its own, which its settings choose.
    if !matches!(cli.command, cli::CliCommand::Serve(_)) {
        logging::start(cli.global.verbose);
    }
    let json = cli.global.json;
    let outcome = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => {
            let outcome = runtime.block_on(commands::run(cli));
            // A read from stdin that still waits must not keep the program from ending.
            runtime.shutdown_background();
            outcome
        }
        Err(error) => Err(Failure::unexpected(format!("the program could not start its threads: {error}"))),
    };
    logging::finish();
    match outcome {
        Ok(exit) => exit.into(),
        Err(failure) => failure.report(json),
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
