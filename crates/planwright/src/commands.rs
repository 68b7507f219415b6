//! One module per command. Each calls the engine and shows the answer, as text for people or as JSON for programs.

mod approver;
mod auto;
mod backup;
mod chat;
mod dashboard;
mod doctor;
mod health;
mod hook;
mod import;
mod inbox;
mod install;
mod mcp;
mod mcp_server;
mod memory;
mod plan;
mod progress;
pub(crate) mod project;
mod restore;
mod serve;
mod sessions;
mod telegram;
mod token;
mod verify;

use self::progress::ProgressLine;

use crate::cli::{AutoArgs, Cli, Command, DiaryArgs, Global, GoalArgs, ScheduleArgs, TaskArgs};
use crate::context::{Context, Store};
use crate::failure::Outcome;
use crate::invocation::Invocation;
use crate::terminal::screen::Screen;
use crate::tour;

pub(crate) async fn run(cli: Cli) -> Outcome {
    let Cli { global, command } = cli;
    let on_damage = match command {
        Command::Verify(_) => "nothing was changed; restore a backup from before the damage".to_owned(),
        Command::Chat(_)
        | Command::Plan(_)
        | Command::Inbox(_)
        | Command::Sessions(_)
        | Command::Memory(_)
        | Command::Auto(_)
        | Command::Goal(_)
        | Command::Task(_)
        | Command::Schedule(_)
        | Command::Diary(_)
        | Command::Mcp(_)
        | Command::Install(_)
        | Command::Uninstall(_)
        | Command::Hook(_)
        | Command::McpServer(_)
        | Command::Serve(_)
        | Command::Dashboard(_)
        | Command::Telegram(_)
        | Command::Token(_)
        | Command::Approver(_)
        | Command::Init(_)
        | Command::Import(_)
        | Command::Backup(_)
        | Command::Restore(_)
        | Command::Doctor
        | Command::Health(_)
        | Command::Tour(_) => Invocation::new(&global).command(["verify"]),
    };
    carry_out(&global, command).await.map_err(|failure| failure.hint_on_damage(|| on_damage))
}

async fn carry_out(global: &Global, command: Command) -> Outcome {
    match command {
        Command::Chat(arguments) => chat::run(Context::open(global, Store::MayBeMade).await?, arguments).await,
        Command::Plan(arguments) => {
            let context = Context::open(global, plan::needs(&arguments.command)).await?;
            plan::run(context, arguments).await
        }
        Command::Inbox(arguments) => inbox::run(Context::open(global, Store::MustExist).await?, arguments).await,
        Command::Sessions(arguments) => sessions::run(global, &arguments).await,
        Command::Memory(arguments) => memory::run(global, arguments).await,
        Command::Auto(AutoArgs { of, words }) => auto::run(global, "auto", of, &words).await,
        Command::Goal(GoalArgs { of, words }) => auto::run(global, "goal", of, &words).await,
        Command::Task(TaskArgs { of, words }) => auto::run(global, "task", of, &words).await,
        Command::Schedule(ScheduleArgs { of, words }) => auto::run(global, "schedule", of, &words).await,
        Command::Diary(DiaryArgs { of, words }) => auto::run(global, "diary", of, &words).await,
        Command::Mcp(arguments) => mcp::run(global, &arguments).await,
        Command::Install(arguments) => install::install(&Screen::new(global.json), &arguments),
        Command::Uninstall(arguments) => install::uninstall(&Screen::new(global.json), &arguments),
        Command::Hook(arguments) => hook::run(global, arguments.event).await,
        Command::McpServer(arguments) => mcp_server::run(global, arguments).await,
        Command::Serve(arguments) => serve::run(global, arguments).await,
        Command::Telegram(arguments) => telegram::run(global, &arguments).await,
        Command::Token(arguments) => token::run(global, &arguments),
        Command::Import(arguments) => import::run(global, &arguments).await,
        Command::Backup(arguments) => backup::run(&Context::open(global, Store::MustExist).await?, &arguments).await,
        Command::Restore(arguments) => restore::run(global, &arguments).await,
        Command::Approver(arguments) => {
            approver::run(&Context::open(global, Store::MayBeMade).await?, arguments.command).await
        }
        Command::Dashboard(arguments) => {
            dashboard::run(&Context::open(global, Store::MayBeMade).await?, &arguments).await
        }
        Command::Init(arguments) => approver::init(&Context::open(global, Store::MayBeMade).await?, &arguments).await,
        Command::Verify(arguments) => {
            verify::run(&Context::open(global, Store::MustExist).await?, arguments.approvers.as_deref()).await
        }
        Command::Doctor => doctor::run(global).await,
        Command::Health(arguments) => health::run(global, &arguments).await,
        Command::Tour(arguments) => tour::run(global, &arguments).await,
    }
}
