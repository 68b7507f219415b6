//! `planwright permissions`: what a person permitted from now on by answering `always`.

use planwright_core::standing_rule::{PermittedCalls, StoredRule};
use serde_json::{Value, json};

use crate::approver;
use crate::cli::PermissionsCommand;
use crate::context::Context;
use crate::failure::ExitResult;
use crate::terminal::text::shown_line;
use crate::terminal::time;

pub(crate) async fn run(context: &Context, command: PermissionsCommand) -> ExitResult {
    match command {
        PermissionsCommand::List => list(context).await,
        PermissionsCommand::Remove { number } => remove(context, number).await,
    }
}

async fn list(context: &Context) -> ExitResult {
    let rules = context.engine.approvals().permissions().await?;
    let value = || json!({ "items": rules.iter().map(|(number, rule)| view(*number, rule)).collect::<Vec<_>>() });
    context.screen.answer(value, || {
        if rules.is_empty() {
            return "No rule is in the store. The answer `always` to a call that an agent asks about makes one.\n"
                .to_owned();
        }
        rules.iter().map(|(number, rule)| format!("{number}  {}\n", describe(rule))).collect()
    })
}

fn describe(stored: &StoredRule) -> String {
    let mut text = stored.rule.describe();
    if let PermittedCalls::Call { arguments, .. } = &stored.rule.permits {
        text.push_str(&format!("\n   {arguments}"));
    }
    let session = stored.session.as_ref().map(|session| format!(" in {session}")).unwrap_or_default();
    text.push_str(&format!("\n   by {}, {}{session}", stored.by, time::ago(stored.at)));
    text.lines().map(shown_line).collect::<Vec<_>>().join("\n")
}

fn view(number: u64, stored: &StoredRule) -> Value {
    json!({
        "number": number,
        "describes": stored.rule.describe(),
        "rule": stored.rule,
        "by": stored.by,
        "at": stored.at,
        "session": stored.session.as_ref().map(ToString::to_string),
    })
}

/// A person takes it back at a terminal out of the agents' reach.
async fn remove(context: &Context, number: u64) -> ExitResult {
    approver::check_separate(context).await?;
    let removed = context.engine.approvals().remove_permission(&context.person, number).await?;
    let describe = || format!("Rule {number} is removed. It was: {}\n", shown_line(&removed.rule.describe()));
    context.screen.answer(|| json!({ "removed": view(number, &removed) }), describe)
}
