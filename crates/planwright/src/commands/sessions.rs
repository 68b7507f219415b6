//! `planwright sessions`

mod delete;

use serde_json::json;

use self::delete::Confirmation;
use crate::cli::{Global, SessionsArgs, SessionsCommand};
use crate::commands::plan::damaged;
use crate::context::{Context, PAGE, Store};
use crate::failure::ExitResult;
use crate::invocation::Invocation;
use crate::terminal::palette::DIM;
use crate::terminal::screen::Screen;
use crate::terminal::sessions::{ListedSession, list};
use crate::terminal::text::paint;

pub(crate) async fn run(global: &Global, arguments: &SessionsArgs) -> ExitResult {
    match &arguments.command {
        None => match Context::open_existing(global).await? {
            Some(context) => list_page(&context, arguments.after).await,
            None => no_store(global),
        },
        Some(SessionsCommand::Delete { session, yes }) => {
            let mut context = Context::open(global, Store::MustExist).await?;
            let confirmation = if *yes { Confirmation::NotNeeded } else { Confirmation::Asked };
            delete::run(&mut context, session, confirmation).await
        }
    }
}

/// Before the first session there is no store.
fn no_store(global: &Global) -> ExitResult {
    let view = || json!({ "sessions": [], "next": null, "damaged": [] });
    Screen::new(global.json).answer(view, || none_yet(&Invocation::new(global)))
}

fn none_yet(invocation: &Invocation) -> String {
    format!("There are no sessions yet; `{}` begins one.\n", invocation.command(["chat"]))
}

async fn list_page(context: &Context, after: Option<u64>) -> ExitResult {
    let page = context.engine.sessions().list(after, PAGE).await?;
    let mut listed = Vec::with_capacity(page.items.len());
    for stored in &page.items {
        listed.push(context.listed(stored).await?);
    }
    let views = || {
        let sessions: Vec<_> = listed.iter().map(ListedSession::view).collect();
        json!({ "sessions": sessions, "next": page.next, "damaged": damaged::view(&page.damaged) })
    };
    let describe = || {
        let mut text = match listed.as_slice() {
            [] if page.damaged.is_empty() => none_yet(&context.invocation),
            [] => String::new(),
            sessions => list(sessions, &context.screen),
        };
        text.push_str(&damaged::describe(&page.damaged));
        if let Some(next) = page.next {
            let more = context.invocation.command(["sessions", "--after", &next.to_string()]);
            text.push_str(&paint(&format!("more: {more}"), DIM));
            text.push('\n');
        }
        text
    };
    context.screen.answer(views, describe)
}
