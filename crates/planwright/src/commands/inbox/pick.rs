//! What is meant where a person names nothing: the only thing that waits, or the one that they choose.

use planwright_core::session::SessionIdentity;
use planwright_surfaces::wire::{WaitingKind, WaitingView};
use serde_json::json;

use super::items::{self, InboxItem};
use crate::cli::InboxAnswerArgs;
use crate::context::Context;
use crate::failure::Failure;
use crate::terminal::inbox as view;

/// The item with this name. Without a name it is the only one, or the one that the person chooses.
pub(super) async fn item(
    context: &Context,
    session: Option<&SessionIdentity>,
    name: Option<&str>,
) -> Result<InboxItem, Failure> {
    if let Some(name) = name {
        return items::find(context, session, name).await;
    }
    let mut waiting = items::read(context, session).await?.items;
    let views: Vec<_> = waiting.iter().map(InboxItem::view).collect();
    let index = match views.as_slice() {
        [] => return Err(nothing_waits(context)),
        [_] => 0,
        several => choose(context, several)?,
    };
    Ok(waiting.swap_remove(index))
}

fn nothing_waits(context: &Context) -> Failure {
    let wait = context.invocation.command(["inbox", "--wait"]);
    Failure::not_found("Nothing waits for you.").hint(format!("`{wait}` waits until something does"))
}

/// Asks until the person gives a number of the list. An empty line chooses nothing.
fn choose(context: &Context, views: &[WaitingView]) -> Result<usize, Failure> {
    if !context.screen.interactive {
        let message = format!("{} things wait, and it is not clear which one is meant", views.len());
        let again = context.invocation.command(["inbox", "answer", "ID", "CHOICE"]);
        let list: Vec<_> = views.iter().map(view::one_line).collect();
        return Err(Failure::usage(format!("{message}: {}", list.join("; ")))
            .hint(format!("say which: {again}"))
            .with("items", json!(views)));
    }
    context.screen.print(&view::numbered(views, context.screen.width))?;
    let number = context.screen.number(&format!("Which one? [1-{}] ", views.len()), views.len())?;
    number.map(|number| number - 1).ok_or_else(|| Failure::declined("Nothing was chosen; nothing was done."))
}

/// The item that is answered, and the answer to it. One word may be a choice for the only thing that waits.
pub(super) async fn answered(
    context: &Context,
    session: Option<&SessionIdentity>,
    mut arguments: InboxAnswerArgs,
) -> Result<(InboxItem, InboxAnswerArgs), Failure> {
    if let (Some(word), None) = (&arguments.id, &arguments.choice)
        && is_choice(context, session, word).await?
    {
        arguments.choice = arguments.id.take();
    }
    let item = item(context, session, arguments.id.as_deref()).await?;
    if arguments.choice.is_none() && arguments.words.is_empty() {
        let choice = ask(context, &item).await?;
        arguments.words.extend(words_about(context, &item, &choice)?);
        arguments.choice = Some(choice);
    }
    Ok((item, arguments))
}

/// What the person says about a choice that goes with words.
fn words_about(context: &Context, item: &InboxItem, choice: &str) -> Result<Option<String>, Failure> {
    let question = match (item.view().kind, choice) {
        (WaitingKind::Question, _) => return Ok(None),
        (_, "revise") => "What should change? ",
        (WaitingKind::Permission, "no") => "Why not? (Enter for no reason) ",
        _ => return Ok(None),
    };
    let words = context.screen.ask(question)?.unwrap_or_default();
    if words.is_empty() && choice == "revise" {
        return Err(Failure::declined("Nothing was decided."));
    }
    Ok(Some(words).filter(|words| !words.is_empty()))
}

/// Whether the word is no name, but a choice of something that waits.
async fn is_choice(context: &Context, session: Option<&SessionIdentity>, word: &str) -> Result<bool, Failure> {
    let waiting = items::read(context, session).await?.items;
    Ok(waiting.iter().any(|item| item.view().choices.iter().any(|choice| choice == word)))
}

/// Shows the item and asks what the person decides, until it is one of the choices. A question is answered in words.
async fn ask(context: &Context, item: &InboxItem) -> Result<String, Failure> {
    let choices = item.view().choices;
    if !context.screen.interactive {
        let message = format!("No choice was given here; the choices are {}", choices.join(", "));
        return Err(Failure::usage(message));
    }
    context.screen.print(&item.whole(context).await?)?;
    let question = match choices.as_slice() {
        [] => "Your answer: ".to_owned(),
        choices => format!("What do you decide? [{}] ", choices.join(", ")),
    };
    loop {
        let answer = context.screen.ask(&question)?.unwrap_or_default();
        if answer.is_empty() {
            return Err(Failure::declined("Nothing was decided."));
        }
        if item.view().kind == WaitingKind::Question {
            return Ok(answer);
        }
        let named: Vec<_> = choices.iter().filter(|choice| choice.starts_with(&answer)).collect();
        if let [choice] = named.as_slice() {
            return Ok((*choice).clone());
        }
    }
}
