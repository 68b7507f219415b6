//! One module per command. Each asks the engine and shows the answer, once for people and once for programs.

mod import;
mod mcp;
mod plan;
mod sessions;
mod verify;

use crate::cli::{Cli, Command};
use crate::context::{Context, Store};
use crate::failure::Outcome;
use crate::tour;

pub(crate) async fn run(cli: Cli) -> Outcome {
    let Cli { global, command } = cli;
    match command {
        Command::Plan(arguments) => {
            let context = Context::open(&global, plan::needs(&arguments.command)).await?;
            plan::run(&context, arguments).await
        }
        Command::Sessions(arguments) => {
            sessions::run(&Context::open(&global, Store::MustExist).await?, &arguments).await
        }
        Command::Mcp(arguments) => mcp::run(&Context::open(&global, Store::MayBeMade).await?, &arguments).await,
        Command::Import(arguments) => import::run(&global, &arguments).await,
        Command::Verify => verify::run(&Context::open(&global, Store::MustExist).await?).await,
        Command::Tour(arguments) => tour::run(&global, &arguments).await,
    }
}
