//! `planwright config`: the guarded settings, which live in the store, and the configuration.
//!
//! - `file`: the configuration: its path, what it sets, and the editor

mod file;

use planwright_core::upstream::ServerName;
use planwright_core::visible::quoted;
use serde_json::json;

use crate::approver;
use crate::cli::{ConfigCommand, Global};
use crate::config::guarded::{
    ACCESS, BOT, GUARDED, GuardedSettings, TRUST, WEBHOOK, is_guarded, kept_value, trust_entry, with_entry,
};
use crate::config::setting_default;
use crate::context::{Context, Store};
use crate::failure::{ExitResult, Failure};
use crate::terminal::palette::DIM;
use crate::terminal::screen::Screen;
use crate::terminal::text::{pad, paint};

pub(crate) async fn run(global: &Global, command: ConfigCommand) -> ExitResult {
    let context = async || Context::open(global, Store::MustExist).await;
    match command {
        ConfigCommand::Show => show(Context::open_existing(global).await?.as_ref(), global).await,
        ConfigCommand::Path => file::path(global),
        ConfigCommand::Edit => file::edit(global),
        ConfigCommand::Set { key, value, approver } => {
            let value = Some(value.trim()).filter(|value| !value.is_empty());
            set(&context().await?, &key, value, approver.as_deref()).await
        }
        ConfigCommand::Unset { key, approver } => set(&context().await?, &key, None, approver.as_deref()).await,
    }
}

/// Without a store the guarded settings have their defaults.
async fn show(context: Option<&Context>, global: &Global) -> ExitResult {
    let own = file::own_values(global)?;
    let (settings, differences) = match context {
        Some(context) => {
            let settings = context.engine.approvals().state().await?.settings.unwrap_or_default();
            (settings, context.served.differences.as_slice())
        }
        None => Default::default(),
    };
    let describe = || {
        let keys = || GUARDED.iter().chain([&BOT]);
        let width = keys().map(|key| key.len()).max().unwrap_or_default();
        let value = |key: &str| settings.get(key).cloned().unwrap_or_else(|| default_of(key));
        let mut text: String = keys().map(|key| format!("{}  {}\n", pad(key, width), value(key))).collect();
        text.extend(differences.iter().map(|difference| format!("\n{difference}\n")));
        if !own.is_empty() {
            text.push_str(&format!("\n{}\n", paint("Set by the configuration and by variables:", DIM)));
            text.extend(own.iter().map(|own| format!("{}\n", own.describe())));
        }
        text
    };
    let view = || {
        let own: Vec<_> = own.iter().map(file::OwnValue::view).collect();
        json!({ "settings": settings, "differences": differences, "own": own })
    };
    Screen::new(global.json).answer(view, describe)
}

fn default_of(key: &str) -> String {
    let default = setting_default(key).map(|default| default.replace('`', ""));
    default.map_or_else(|| "not set".to_owned(), |default| format!("{default} (default)"))
}

async fn set(context: &Context, key: &str, value: Option<&str>, approver: Option<&str>) -> ExitResult {
    let settings = change(context, key, value, approver).await?;
    let stored = settings.get(key).map(String::as_str).filter(|_| key == TRUST);
    let now = stored.or(value).map_or_else(|| "has its default".to_owned(), |value| format!("is `{value}`"));
    let describe = || format!("`{key}` {now} now. Running programs use it once they are started again.\n");
    context.screen.answer(|| json!({ "settings": settings }), describe)
}

/// Has the store believe what a server says about its tools.
pub(super) async fn trust_annotations(
    context: &Context,
    server: &ServerName,
    approver: Option<&str>,
) -> Result<(), Failure> {
    let settings = context.engine.approvals().state().await?.settings.unwrap_or_default();
    let entries = with_entry(settings.get(TRUST), &believed(context, server).await?);
    change(context, TRUST, Some(&entries), approver).await.map(drop)
}

/// The entry of a server that a person believes: it is about the command whose tools they accepted.
async fn believed(context: &Context, server: &ServerName) -> Result<String, Failure> {
    let pinned = context.engine.ledger().pinned_server(server).await?;
    let command = pinned.filter(|pinned| pinned.accepted.is_some()).and_then(|pinned| pinned.accepted_command);
    let command = command.ok_or_else(|| {
        let accept = context.invocation.command(["mcp-server", "accept", server.as_str(), "--trust-annotations"]);
        Failure::usage(format!("no person has accepted the tools of the MCP server {server}"))
            .hint(format!("`{accept}` accepts them and believes what they say of themselves"))
    })?;
    Ok(trust_entry(server, command))
}

/// Names of servers with the commands that were accepted. An entry that has its command stays.
async fn with_commands(context: &Context, names: &str) -> Result<String, Failure> {
    let mut entries = Vec::new();
    for entry in names.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
        entries.push(match entry.contains('@') {
            true => entry.to_owned(),
            false => believed(context, &entry.parse()?).await?,
        });
    }
    Ok(entries.join(","))
}

/// Has the store let a server reach what its settings ask for.
pub(super) async fn allow_access(context: &Context, entry: &str, approver: Option<&str>) -> Result<(), Failure> {
    let settings = context.engine.approvals().state().await?.settings.unwrap_or_default();
    let entries = with_entry(settings.get(ACCESS), entry);
    change(context, ACCESS, Some(&entries), approver).await.map(drop)
}

/// A person changes a setting: at a terminal out of the agents' reach or, once an approver is enrolled, with their passphrase.
async fn change(
    context: &Context,
    key: &str,
    value: Option<&str>,
    approver: Option<&str>,
) -> Result<GuardedSettings, Failure> {
    check_key(key)?;
    let value = match value {
        Some(names) if key == TRUST => Some(with_commands(context, names).await?),
        value => value.map(|value| kept_value(key, value)).transpose().map_err(Failure::usage)?,
    };
    let value = value.as_deref();
    if let Some(value) = value {
        let stored = GuardedSettings::from([(key.to_owned(), value.to_owned())]);
        crate::config::check_guarded(&stored).map_err(|failure| Failure::usage(failure.message().to_owned()))?;
    }
    let approvals = context.engine.approvals();
    let key_of_approver = approver::separate_until_enrolled(context, approver).await?;
    let state = approvals.set_setting(&context.person, key, value, key_of_approver.as_ref()).await?;
    Ok(state.settings.unwrap_or_default())
}

fn check_key(key: &str) -> Result<(), Failure> {
    if is_guarded(key) || key == BOT || key == WEBHOOK {
        return Ok(());
    }
    if key == "approval.require" {
        return Err(Failure::usage("the policy has a command of its own")
            .hint("`planwright approver policy --require REQUIRE` changes it"));
    }
    Err(Failure::usage(format!("{} is not a guarded setting", quoted(key))).hint(format!(
        "these are: {}; every other setting is in planwright.toml or in a variable",
        GUARDED.iter().chain([&BOT]).copied().collect::<Vec<_>>().join(", ")
    )))
}
