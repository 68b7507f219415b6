//! `planwright permissions`: what a person permitted from now on by answering `always`.

use planwright_core::permission::PermissionRule;
use planwright_core::standing_rule::{PermittedCalls, StoredRule};
use serde_json::{Value, json};

use crate::approver;
use crate::cli::PermissionsCommand;
use crate::context::Context;
use crate::failure::{ExitResult, Failure};
use crate::terminal::text::shown_line;
use crate::terminal::time;

pub(crate) async fn run(context: &Context, command: PermissionsCommand) -> ExitResult {
    match command {
        PermissionsCommand::List => list(context).await,
        PermissionsCommand::Add { rule, approver } => add(context, &rule, approver.as_deref()).await,
        PermissionsCommand::Remove { number, approver } => remove(context, number, approver.as_deref()).await,
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

/// A person at a terminal out of the agents' reach or, once an approver is enrolled, with their passphrase.
async fn add(context: &Context, text: &str, approver: Option<&str>) -> ExitResult {
    let rule = read(text).map_err(|error| Failure::usage(format!("this is not a rule: {error}")))?;
    let approvals = context.engine.approvals();
    let key = approver::separate_until_enrolled(context, approver).await?;
    let person = key.map_or_else(|| context.person.clone(), |key| approver::verified(&context.person, &key));
    let number = approvals.permit_everywhere(&person, &rule).await?;
    let describe = || format!("Rule {number} permits {}, in every session.\n", shown_line(&rule.to_string()));
    context.screen.answer(|| json!({ "number": number, "rule": rule }), describe)
}

/// As in `[[permissions]]`.
fn read(text: &str) -> Result<PermissionRule, String> {
    let table: toml::Table = toml::from_str(&format!("rule = {text}")).map_err(|error| error.message().to_owned())?;
    let mut rule = table.get("rule").and_then(toml::Value::as_table).cloned().ok_or("it is not a table")?;
    rule.entry("decide").or_insert_with(|| "allow".into());
    rule.try_into().map_err(|error: toml::de::Error| error.message().to_owned())
}

/// A person takes it back at a terminal out of the agents' reach or, once an approver is enrolled, with their passphrase.
async fn remove(context: &Context, number: u64, approver: Option<&str>) -> ExitResult {
    let key = approver::separate_or_unlocked(context, approver).await?;
    let person = key.map_or_else(|| context.person.clone(), |key| approver::verified(&context.person, &key));
    let removed = context.engine.approvals().remove_permission(&person, number).await?;
    let describe = || format!("Rule {number} is removed. It was: {}\n", shown_line(&removed.rule.describe()));
    context.screen.answer(|| json!({ "removed": view(number, &removed) }), describe)
}
