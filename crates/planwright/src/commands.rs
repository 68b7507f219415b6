//! One module per command. Each calls the engine and shows the answer, as text for people or as JSON for programs.

mod absent;
mod approver;
mod auto;
mod backup;
mod chat;
mod completions;
mod config;
mod dashboard;
mod doctor;
mod health;
mod hook;
mod import;
mod inbox;
mod install;
mod manual;
mod mcp;
mod mcp_server;
mod memory;
mod models;
mod nothing_yet;
mod overview;
mod permissions;
mod plan;
mod progress;
pub(crate) mod project;
mod restore;
mod serve;
mod sessions;
mod setup;
mod shared_files;
mod telegram;
mod token;
mod verify;
mod workbook;

use self::progress::ProgressLine;

use crate::cli::{AutoArgs, Cli, CliCommand, DiaryArgs, Global, GoalArgs, McpServerCommand, ScheduleArgs, TaskArgs};
use crate::context::{Context, Store};
use crate::demo;
use crate::failure::{Exit, ExitResult};
use crate::invocation::Invocation;
use crate::terminal::screen::Screen;

pub(crate) async fn run(cli: Cli) -> ExitResult {
    let Cli { global, command } = cli;
    let list = nothing_yet::list(&command);
    let on_damage = if matches!(command, CliCommand::Verify(_)) {
        "nothing was changed; restore a backup from before the damage".to_owned()
    } else {
        Invocation::new(&global).command(["verify"])
    };
    match carry_out(&global, command).await.map_err(|failure| failure.hint_on_damage(|| on_damage)) {
        Err(failure) if failure.exit == Exit::NotFound => nothing_yet::show(&global, list, failure).await,
        done => done,
    }
}

async fn carry_out(global: &Global, command: CliCommand) -> ExitResult {
    if needs_person(&command)
        && let Some(context) = Context::open_existing(global).await?
    {
        crate::approver::check_separate(&context).await?;
    }
    match command {
        CliCommand::Overview => overview::run(global),
        CliCommand::Chat(arguments) => {
            setup::before_first_chat(global, &arguments).await?;
            chat::run(Context::open(global, Store::MayBeMade).await?, arguments).await
        }
        CliCommand::Plan(arguments) => {
            let context = Context::open(global, plan::needs(&arguments.command)).await?;
            plan::run(context, arguments).await
        }
        CliCommand::Inbox(arguments) => inbox::run(Context::open(global, Store::MustExist).await?, arguments).await,
        CliCommand::Sessions(arguments) => sessions::run(global, &arguments).await,
        CliCommand::Memory(arguments) => memory::run(global, arguments).await,
        CliCommand::Workbook(arguments) => workbook::run(global, arguments).await,
        CliCommand::Auto(AutoArgs { of, approver, words }) => {
            auto::run(global, "auto", of, approver.as_deref(), &words).await
        }
        CliCommand::Goal(GoalArgs { of, words }) => auto::run(global, "goal", of, None, &words).await,
        CliCommand::Task(TaskArgs { of, words }) => auto::run(global, "task", of, None, &words).await,
        CliCommand::Schedule(ScheduleArgs { of, approver, words }) => {
            auto::run(global, "schedule", of, approver.as_deref(), &words).await
        }
        CliCommand::Diary(DiaryArgs { of, words }) => auto::run(global, "diary", of, None, &words).await,
        CliCommand::Mcp(arguments) => mcp::run(global, &arguments).await,
        CliCommand::Install(arguments) => {
            let exit = install::install(global, &Screen::new(global.json), &arguments)?;
            if arguments.yes { Ok(exit) } else { approver::offer(global).await }
        }
        CliCommand::Uninstall(arguments) => install::uninstall(global, &Screen::new(global.json), &arguments),
        CliCommand::Hook(arguments) => hook::run(global, &arguments).await,
        CliCommand::McpServer(arguments) => mcp_server::run(global, arguments).await,
        CliCommand::Serve(arguments) => serve::run(global, arguments).await,
        CliCommand::Telegram(arguments) => telegram::run(global, &arguments).await,
        CliCommand::Token(arguments) => token::run(global, &arguments),
        CliCommand::Import(arguments) => import::run(global, &arguments).await,
        CliCommand::Backup(arguments) => backup::run(&Context::open(global, Store::MustExist).await?, &arguments).await,
        CliCommand::Restore(arguments) => restore::run(global, &arguments).await,
        CliCommand::Approver(arguments) => {
            approver::run(&Context::open(global, Store::MayBeMade).await?, arguments.command).await
        }
        CliCommand::Dashboard(arguments) => {
            dashboard::run(&Context::open(global, Store::MayBeMade).await?, &arguments).await
        }
        CliCommand::Init(arguments) => {
            approver::init(&Context::open(global, Store::MayBeMade).await?, &arguments).await
        }
        CliCommand::Config(arguments) => config::run(global, arguments.command).await,
        CliCommand::Permissions(arguments) => {
            permissions::run(&Context::open(global, Store::MustExist).await?, arguments.command).await
        }
        CliCommand::Verify(arguments) => {
            let context = Context::open(global, Store::MustExist).await?;
            match &arguments.absent {
                Some(text) => absent::run(&context, text).await,
                None => verify::run(&context, arguments.approvers.as_deref()).await,
            }
        }
        CliCommand::Setup => setup::run(global).await,
        CliCommand::Models(arguments) => models::run(global, &arguments).await,
        CliCommand::Doctor(arguments) => doctor::run(global, &arguments).await,
        CliCommand::Health(arguments) => health::run(global, &arguments).await,
        CliCommand::Demo(arguments) => demo::run(global, &arguments).await,
        CliCommand::Completions(arguments) => completions::run(&Screen::new(global.json), &arguments),
        CliCommand::Man(arguments) => manual::run(&Screen::new(global.json), &arguments),
    }
}

/// Whether the command changes the store, its tools or the configuration of clients as a whole, which an agent's process may
/// not do. What the other commands do is checked where it is done: in a session by the rules of `core`, and for approvers and
/// links by their own commands.
fn needs_person(command: &CliCommand) -> bool {
    match command {
        CliCommand::Install(_) | CliCommand::Uninstall(_) | CliCommand::Import(_) | CliCommand::Setup => true,
        CliCommand::Restore(_) | CliCommand::Telegram(_) => true,
        CliCommand::McpServer(arguments) => {
            matches!(arguments.command, McpServerCommand::Add(_) | McpServerCommand::Remove { .. })
        }
        CliCommand::Token(arguments) => arguments.replaces(),
        // They change sessions only, and pass the door there.
        CliCommand::Chat(_) | CliCommand::Plan(_) | CliCommand::Inbox(_) | CliCommand::Sessions(_) => false,
        CliCommand::Memory(_) | CliCommand::Auto(_) | CliCommand::Goal(_) | CliCommand::Task(_) => false,
        CliCommand::Schedule(_) | CliCommand::Diary(_) | CliCommand::Mcp(_) | CliCommand::Hook(_) => false,
        CliCommand::Workbook(_) => false,
        // They ask for a person themselves.
        CliCommand::Approver(_) | CliCommand::Config(_) | CliCommand::Dashboard(_) | CliCommand::Serve(_) => false,
        CliCommand::Permissions(_) => false,
        // They change nothing that is there.
        CliCommand::Backup(_) | CliCommand::Init(_) | CliCommand::Verify(_) | CliCommand::Doctor(_) => false,
        CliCommand::Health(_) | CliCommand::Demo(_) | CliCommand::Completions(_) | CliCommand::Man(_) => false,
        CliCommand::Models(_) | CliCommand::Overview => false,
    }
}
