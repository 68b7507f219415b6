//! `planwright sessions`

mod delete;

use serde_json::json;

use self::delete::Asking;
use crate::cli::{SessionsArgs, SessionsCommand};
use crate::commands::plan::damaged;
use crate::context::{Context, PAGE};
use crate::failure::{Exit, Outcome};
use crate::terminal::palette::DIM;
use crate::terminal::sessions::{ListedSession, list};
use crate::terminal::text::paint;

pub(crate) async fn run(mut context: Context, arguments: &SessionsArgs) -> Outcome {
    match &arguments.command {
        None => show(&context, arguments.after).await,
        Some(SessionsCommand::Delete { session, yes }) => {
            let asking = if *yes { Asking::NotNeeded } else { Asking::First };
            delete::run(&mut context, session, asking).await
        }
    }
}

async fn show(context: &Context, after: Option<u64>) -> Outcome {
    let page = context.engine.sessions(after, PAGE).await?;
    let mut listed = Vec::with_capacity(page.items.len());
    for stored in &page.items {
        listed.push(context.listed(stored).await?);
    }
    let views = || {
        let sessions: Vec<_> = listed.iter().map(ListedSession::view).collect();
        json!({ "sessions": sessions, "next": page.next, "damaged": damaged::view(&page.damaged) })
    };
    let words = || {
        let mut text = match listed.as_slice() {
            [] if page.damaged.is_empty() => {
                format!("There are no sessions yet; `{}` begins one.\n", context.invocation.command(["chat"]))
            }
            [] => String::new(),
            sessions => list(sessions, &context.screen),
        };
        text.push_str(&damaged::words(&page.damaged));
        if let Some(next) = page.next {
            let more = context.invocation.command(["sessions", "--after", &next.to_string()]);
            text.push_str(&paint(&format!("more: {more}"), DIM));
            text.push('\n');
        }
        text
    };
    context.screen.answer(views, words)?;
    Ok(Exit::Done)
}
