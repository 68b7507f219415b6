//! `planwright telegram`: checks the token of the bot, waits for a first message, and shows the id to allow. `bind` lets the
//! buttons of a user count where a verified person is asked for.

use std::time::Duration;

use planwright_telegram::TelegramOptions;
use planwright_telegram::api::ApiError;
use planwright_telegram::setup::{self, FirstSender};
use serde_json::json;

use crate::approver;
use crate::cli::{Global, TelegramArgs, TelegramCommand};
use crate::config::Settings;
use crate::context::{Context, Store};
use crate::failure::{Exit, ExitResult, Failure};
use crate::terminal::screen::Screen;

pub(crate) async fn run(global: &Global, arguments: &TelegramArgs) -> ExitResult {
    match &arguments.command {
        None => set_up(global, arguments).await,
        Some(command) => change(&Context::open(global, Store::MustExist).await?, command).await,
    }
}

/// `needs_person` of the commands has checked that a person is at the terminal.
async fn change(context: &Context, command: &TelegramCommand) -> ExitResult {
    let approvals = context.engine.approvals();
    let (state, message) = match command {
        TelegramCommand::Bind { user, approver } => {
            let allowed = context.served.telegram.as_ref().map(|telegram| telegram.allowed_users.as_slice());
            if !allowed.unwrap_or_default().contains(user) {
                let hint = context.invocation.command(["config", "set", "telegram.allowed_users", "IDS"]);
                return Err(Failure::usage(format!("the user {user} is not allowed to use the bot")).hint(hint));
            }
            let key = approver::unlock(&context.engine, &context.person, approver.as_deref()).await?;
            let state = approvals.bind_user(&context.person, *user, &key).await?;
            let message = format!(
                "The buttons of the user {user} count as verified now, bound by {}. An agent that writes the database can forge what a \
                 chat says.",
                key.approver()
            );
            (state, message)
        }
        TelegramCommand::Unbind { user } => {
            let state = approvals.unbind_user(&context.person, *user).await?;
            (state, format!("The user {user} is not bound any more."))
        }
    };
    context.screen.answer(|| json!({ "boundUsers": state.bound_users }), || format!("{message}\n"))
}

async fn set_up(global: &Global, arguments: &TelegramArgs) -> ExitResult {
    let settings = Settings::read(global)?;
    let screen = Screen::new(global.json);
    let file = settings.file.display().to_string();
    let Some(options) = &settings.telegram else {
        return Err(Failure::usage("there is no token of a bot").hint(format!(
            "write to @BotFather in Telegram, make a bot with /newbot, and set `telegram.token` in {file} or PLANWRIGHT_TELEGRAM_TOKEN"
        )));
    };
    let bot = setup::check(options).await.map_err(failed)?;
    let name = bot.username.unwrap_or_else(|| bot.id.to_string());
    if !screen.json {
        screen.print(&format!("The token belongs to @{name}.\n{}\n", people(options)))?;
    }
    let sender = match arguments.wait_seconds {
        0 => None,
        seconds => {
            if !screen.json {
                screen.print(&format!("Write a message to @{name} now; waiting for {seconds} seconds.\n"))?;
            }
            let timeout = Duration::from_secs(seconds.into());
            setup::wait_for_sender(options, timeout).await.map_err(failed)?
        }
    };
    let shown =
        sender.as_ref().map(|sender| json!({ "userId": sender.user, "name": sender.name, "groupId": sender.group }));
    screen.answer(
        || json!({ "bot": name, "allowedUsers": options.allowed_users, "sender": shown }),
        || describe(sender.as_ref(), options, &file, arguments.wait_seconds > 0),
    )?;
    Ok(if sender.is_none() && arguments.wait_seconds > 0 { Exit::Refused } else { Exit::Done })
}

fn people(options: &TelegramOptions) -> String {
    match options.allowed_users.as_slice() {
        [] => "No person may use it yet.".to_owned(),
        users => format!("Allowed people: {}", users.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")),
    }
}

fn describe(sender: Option<&FirstSender>, options: &TelegramOptions, file: &str, waited: bool) -> String {
    let Some(FirstSender { user, name, group }) = sender else {
        return if waited { "No message came.\n".to_owned() } else { String::new() };
    };
    let mut text = format!("{name} wrote; the id is {user}.\n");
    if options.allowed_users.contains(user) {
        text.push_str("This person is allowed already.\n");
    } else {
        let mut users = options.allowed_users.clone();
        users.push(*user);
        text.push_str(&format!(
            "To allow this person, put this into {file}:\n\n[telegram]\nallowed_users = {users:?}\n"
        ));
    }
    if let Some(group) = group {
        text.push_str(&format!(
            "The message was written in the group {group}; `allowed_chats = [{group}]` allows it.\n"
        ));
    }
    text
}

fn failed(error: ApiError) -> Failure {
    match error {
        ApiError::Conflict(why) if why.contains("webhook") => {
            Failure::unavailable("Telegram sends the messages of this bot to a webhook")
                .hint("start `planwright serve` with `telegram.mode = \"polling\"` once; it removes the webhook")
        }
        ApiError::Conflict(_) => Failure::unavailable("a server receives the messages of this bot now")
            .hint("stop `planwright serve` while you set the bot up, or look into its log"),
        error => Failure::unavailable(error.to_string()),
    }
}
