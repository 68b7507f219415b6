//! Lists where nothing was begun yet: no store, or no session in it. An empty list is no failure.

use planwright_core::visible::quoted;
use serde_json::{Value, json};

use crate::cli::{
    CliCommand, Global, InboxArgs, InboxCommand, MemoryAction, PermissionsCommand, PlanArgs, PlanSubcommand, SessionArg,
};
use crate::context::Context;
use crate::failure::{ExitResult, Failure};
use crate::invocation::Invocation;
use crate::terminal::screen::Screen;

/// What a list says where nothing was begun.
#[derive(Debug)]
pub(super) struct EmptyList {
    text: &'static str,
    view: Value,
}

/// The list that the command shows. `None` for every other command, and for one that names a session, since a name may be wrong.
pub(super) fn list(command: &CliCommand) -> Option<EmptyList> {
    match command {
        CliCommand::Inbox(InboxArgs { session: None, wait: false, command }) => match command {
            None | Some(InboxCommand::List { wait: false }) => {
                Some(EmptyList { text: "Nothing waits for you.", view: json!({ "items": [], "damaged": [] }) })
            }
            Some(_) => None,
        },
        CliCommand::Plan(PlanArgs { session: None, command: PlanSubcommand::List { .. } }) => {
            let view = json!({
                "sessionId": null, "channel": null, "planMode": null, "plans": [], "next": null, "damaged": []
            });
            Some(EmptyList { text: "There are no plans yet.", view })
        }
        CliCommand::Memory(arguments) if arguments.session.is_none() => match arguments.command {
            MemoryAction::List { .. } => {
                let view = json!({ "items": [], "next": null, "damaged": [] });
                Some(EmptyList { text: "Nothing is remembered yet.", view })
            }
            _ => None,
        },
        CliCommand::Permissions(arguments) => match arguments.command {
            PermissionsCommand::List => {
                Some(EmptyList { text: "No rule is in the store.", view: json!({ "items": [] }) })
            }
            PermissionsCommand::Add { .. } | PermissionsCommand::Remove { .. } => None,
        },
        CliCommand::Goal(arguments) => of_words(&arguments.of, &arguments.words, "There are no goals yet."),
        CliCommand::Task(arguments) => of_words(&arguments.of, &arguments.words, "There are no tasks yet."),
        CliCommand::Schedule(arguments) => of_words(&arguments.of, &arguments.words, "There are no schedules yet."),
        CliCommand::Diary(arguments) => of_words(&arguments.of, &arguments.words, "The diary is empty."),
        CliCommand::Auto(arguments) => of_words(&arguments.of, &arguments.words, "There are no runs yet."),
        _ => None,
    }
}

/// A command whose words are those of the chat: nothing, `list` or `status` looks.
fn of_words(of: &SessionArg, words: &[String], text: &'static str) -> Option<EmptyList> {
    let words: Vec<_> = words.iter().map(|word| word.to_lowercase()).collect();
    let looks = matches!(words.iter().map(String::as_str).collect::<Vec<_>>().as_slice(), [] | ["list" | "status"]);
    let view = json!({ "sessionId": null, "channel": null, "reply": text, "outcome": "done" });
    (looks && of.session.is_none()).then_some(EmptyList { text, view })
}

/// Shows the empty list if nothing was begun; otherwise the failure stands.
pub(super) async fn show(global: &Global, list: Option<EmptyList>, failure: Failure) -> ExitResult {
    let Some(EmptyList { text, view }) = list else { return Err(failure) };
    if !is_nothing_begun(global).await? {
        return Err(failure);
    }
    let chat = Invocation::new(global).command(["chat"]);
    Screen::new(global.json).answer(|| view, || format!("{text} {} begins a session.\n", quoted(&chat)))
}

async fn is_nothing_begun(global: &Global) -> Result<bool, Failure> {
    let Some(context) = Context::open_existing(global).await? else { return Ok(true) };
    let sessions = context.engine.sessions().list(None, 1).await?;
    Ok(sessions.items.is_empty() && sessions.damaged.is_empty())
}
