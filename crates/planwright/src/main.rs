//! The program `planwright`: command line, configuration and wiring. What a plan is and what may be done with it is
//! decided in `core` and carried out by `engine`; this crate asks, and shows the answer.
//!
//! - [`backup`]: everything in one archive, and back again
//! - [`chat`]: the conversation with the agent in a terminal or a pipe
//! - [`cli`]: the arguments as they are typed
//! - [`config`]: what the flags, the environment and the file come to
//! - [`context`]: the store, the engine and the session a command works on
//! - [`commands`]: one module per command
//! - [`invocation`]: the commands that are handed out to be typed next
//! - [`logging`]: what the program says about itself
//! - [`server_probe`]: asks whether a server answers at an address
//! - [`terminal`]: how plans, differences and lists look
//! - [`failure`]: what goes wrong, in words and in exit codes
//! - [`token`]: which access token holds here
//! - [`tour`]: a plan's life, shown on a store that is thrown away

mod backup;
mod chat;
mod cli;
mod commands;
mod config;
mod context;
mod failure;
mod invocation;
mod logging;
mod server_probe;
mod terminal;
mod token;
mod tour;

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
    if !matches!(cli.command, cli::Command::Serve(_)) {
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
