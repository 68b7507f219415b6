//! `planwright approver` and `planwright init`

use std::io::Write as _;
use std::path::Path;

use planwright_core::approval::record::ApprovalState;
use planwright_core::approval::{ApprovalPolicy, Passkey, Require};
use planwright_core::session::Channel;
use planwright_engine::approvals::Enrolled;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};

use crate::approver;
use crate::cli::{ApproverCommand, Global, InitArgs, PolicyArgs};
use crate::context::{Context, Store};
use crate::failure::{Exit, ExitResult, Failure};
use crate::invocation::Invocation;
use crate::passphrase;
use crate::terminal::screen::Screen;
use crate::terminal::text::shown_line;
use crate::terminal::time;

pub(crate) async fn run(context: &Context, command: ApproverCommand) -> ExitResult {
    match command {
        ApproverCommand::Add { name, approver } => add(context, &name, approver.as_deref()).await,
        ApproverCommand::List => list(context).await,
        ApproverCommand::Remove { name, passkey: Some(id), approver } => {
            let key = approver::unlock(&context.engine, &context.person, approver.as_deref()).await?;
            let state = context.engine.approvals().remove_passkey(&context.person, &name, &id, &key).await?;
            report(context, &state, &format!("The passkey of {name} is removed."))
        }
        ApproverCommand::Remove { name, passkey: None, approver } => {
            let key = approver::unlock(&context.engine, &context.person, approver.as_deref()).await?;
            let state = context.engine.approvals().remove(&context.person, &name, &key).await?;
            report(context, &state, &format!("{name} is not an approver any more."))
        }
        ApproverCommand::Change { name } => {
            let key = approver::unlock(&context.engine, &context.person, name.as_deref()).await?;
            let new = tokio::task::block_in_place(|| passphrase::ask_new(key.approver()))?;
            let enrolled = context.engine.approvals().change(&context.person, &key, new.expose_secret()).await?;
            let message =
                format!("The passphrase of {} is changed. The recovery code is another one, too.", key.approver());
            report_with_code(context, &enrolled, key.approver(), &message)
        }
        ApproverCommand::Recover { name } => recover(context, name.as_deref()).await,
        ApproverCommand::Export { output } => export(context, output.as_deref()).await,
        ApproverCommand::Policy(arguments) => policy(context, &arguments).await,
    }
}

/// The first one is enrolled at a terminal of a person, every other one by an approver.
async fn add(context: &Context, name: &str, by: Option<&str>) -> ExitResult {
    let approvals = context.engine.approvals();
    let key = approver::enroller(context, by).await?;
    let passphrase = tokio::task::block_in_place(|| passphrase::ask_new(name))?;
    let enrolled = approvals.add(&context.person, name, passphrase.expose_secret(), key.as_ref()).await?;
    let export = context.invocation.command(["approver", "export", "--output", "FILE"]);
    let dashboard = context.invocation.command(["dashboard"]);
    let asks = asks_for(&approvals.policy().await?.approval);
    let message = format!(
        "{name} is an approver now. {asks}`{export}` writes the public keys to keep elsewhere; `{dashboard}` signs a browser in, \
         where you can add a passkey."
    );
    report_with_code(context, &enrolled, name, &message)
}

/// What the enrolment changes for agents with programs of their own.
fn asks_for(policy: &ApprovalPolicy) -> String {
    match policy.strictest_in(Channel::Mcp) {
        Require::Verified => {
            "Plans of `mcp` and `acp` sessions take the passphrase or a passkey from now on. ".to_owned()
        }
        Require::Any | Require::Separate => String::new(),
    }
}

/// Another passphrase for a person who forgot it.
async fn recover(context: &Context, named: Option<&str>) -> ExitResult {
    let approvals = context.engine.approvals();
    let name = approver::which(&context.engine, &context.person, named).await?;
    let code = tokio::task::block_in_place(|| passphrase::ask(&format!("Recovery code of {name}: ")))?;
    let key = approvals.recover(&context.person, &name, code.expose_secret()).await?;
    let new = tokio::task::block_in_place(|| passphrase::ask_new(&name))?;
    let enrolled = approvals.change(&context.person, &key, new.expose_secret()).await?;
    report_with_code(context, &enrolled, &name, &format!("The passphrase of {name} is changed. The code was used up."))
}

/// The recovery code is shown here and nowhere else.
fn report_with_code(context: &Context, enrolled: &Enrolled, name: &str, message: &str) -> ExitResult {
    let Enrolled { state, code } = enrolled;
    let value = || {
        let mut value = view(state);
        value["recoveryCode"] = json!(code.to_string());
        value
    };
    let recover = context.invocation.command(["approver", "recover", name]);
    let describe = || {
        format!(
            "{message}\n\nRecovery code of {name}, shown only now: {code}\nWrite it down and keep it away from this machine. If you \
             forget the passphrase, `{recover}` takes it.\n"
        )
    };
    context.screen.answer(value, describe)
}

/// Asks a person who has just put Planwright into the configuration of an agent whether they want to be enrolled.
pub(crate) async fn offer(global: &Global) -> ExitResult {
    let screen = Screen::new(global.json);
    if !screen.interactive {
        return Ok(Exit::Done);
    }
    let state = match Context::open_existing(global).await? {
        Some(context) => context.engine.approvals().state().await?,
        None => ApprovalState::default(),
    };
    if !state.approvers.is_empty() {
        return Ok(Exit::Done);
    }
    screen.print(
        "\nAn agent with a shell can do what you can. With a passphrase that only you know, nothing that it plans runs without you.\n",
    )?;
    if !screen.confirm("Set a passphrase now?")? {
        let init = Invocation::new(global).command(["init"]);
        screen.print(&format!("`{init}` sets one later.\n"))?;
        return Ok(Exit::Done);
    }
    init(&Context::open(global, Store::MayBeMade).await?, &InitArgs { approver: None }).await
}

/// Two steps: who approves, and with which passphrase.
pub(crate) async fn init(context: &Context, arguments: &InitArgs) -> ExitResult {
    let state = context.engine.approvals().state().await?;
    if !state.approvers.is_empty() {
        return report(context, &state, "Planwright is set up already.");
    }
    let name = match &arguments.approver {
        Some(name) => name.clone(),
        None if context.screen.interactive => {
            let asked = context.screen.ask(&format!("Who approves plans here? [{}] ", context.person.name))?;
            asked.filter(|name| !name.is_empty()).unwrap_or_else(|| context.person.name.clone())
        }
        None => {
            return Err(Failure::usage("there is no terminal to ask on").hint("name the approver: `--approver NAME`"));
        }
    };
    add(context, &name, None).await
}

async fn list(context: &Context) -> ExitResult {
    let state = context.engine.approvals().state().await?;
    let describe = || {
        let lines = state.approvers.0.iter();
        let lines = lines.map(|one| {
            let line = format!("{}  {}  since {}\n", one.name, one.key, time::absolute(one.enrolled_at));
            let passkeys = one.passkeys.iter().map(|passkey| {
                let (label, added) = (shown_line(&passkey.label), time::absolute(passkey.added_at));
                let place = shown_line(passkey.origin.as_deref().unwrap_or(&passkey.relying_party));
                format!("  passkey {label} for {place}, since {added}: {}\n", shown_line(&passkey.id))
            });
            std::iter::once(line).chain(passkeys).collect::<String>()
        });
        let list: String = lines.collect();
        if list.is_empty() { "No approver is enrolled.\n".to_owned() } else { list }
    };
    context.screen.answer(|| view(&state), describe)
}

async fn export(context: &Context, output: Option<&Path>) -> ExitResult {
    let state = context.engine.approvals().state().await?;
    let text = format!("{:#}\n", view(&state));
    match output {
        Some(path) => {
            let file = std::fs::File::options().write(true).create_new(true).open(path);
            let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
            written.map_err(|error| Failure::usage(format!("{} cannot be written: {error}", path.display())))?;
        }
        None => context.screen.print(&text)?,
    }
    Ok(Exit::Done)
}

/// Shows the policy in force, or puts another one in force. Once an approver is enrolled, they confirm a weaker one.
async fn policy(context: &Context, arguments: &PolicyArgs) -> ExitResult {
    let approvals = context.engine.approvals();
    let state = approvals.state().await?;
    let Some(require) = arguments.require else {
        let in_force = approvals.policy().await?.approval.clone();
        let describe = || {
            let rules = in_force.rules.iter().map(|rule| {
                let channel = rule.channel.map_or("every channel", |channel| channel.as_str());
                let risk = rule.risk.map_or("every risk", |risk| risk.as_str());
                let people = rule.people.filter(|people| *people > 1).map(|people| format!(" by {people} approvers"));
                format!("  {channel}, {risk}: {}{}\n", rule.require, people.unwrap_or_default())
            });
            format!("In force: {}\n{}", in_force.require, rules.collect::<String>())
        };
        context.screen.answer(|| json!({ "require": in_force.require, "rules": in_force.rules }), describe)?;
        return Ok(Exit::Done);
    };
    let next = match arguments.channel {
        Some(channel) => state.policy.clone().unwrap_or_default().requiring_in(channel, require),
        None => ApprovalPolicy { require, rules: Vec::new(), ..state.policy.clone().unwrap_or_default() },
    };
    let configured = &context.engine.policy().approval;
    let ApprovalPolicy { valid_for, remember, .. } = *configured;
    if (ApprovalPolicy { valid_for, remember, ..next.clone() }).is_weaker_than(configured) {
        let message = format!("The settings ask for `{}`; change `approval.require` there first.", configured.require);
        return Err(Failure::declined(message));
    }
    let named = arguments.approver.as_deref();
    let key = if state.is_weakened_by(&next) {
        approver::separate_until_enrolled(context, named).await?
    } else {
        // A stricter one passes here, too: an agent could lock the person out with it.
        approver::separate_or_unlocked(context, named).await?
    };
    let state = approvals.set_policy(&context.person, &next, key.as_ref()).await?;
    let note = match (require, state.approvers.is_empty()) {
        (Require::Verified, true) => " No approver is enrolled yet: `planwright approver add NAME` enrols one.",
        _ => "",
    };
    let place = arguments.channel.map(|channel| format!(" in sessions of `{}`", channel.as_str())).unwrap_or_default();
    report(context, &state, &format!("`{require}` is in force now{place}.{note}"))
}

fn report(context: &Context, state: &ApprovalState, message: &str) -> ExitResult {
    context.screen.answer(|| view(state), || format!("{message}\n"))
}

/// Also the format of `approver export`.
fn view(state: &ApprovalState) -> Value {
    let approvers = state.approvers.0.iter();
    let passkey = |passkey: &Passkey| {
        let mut view = json!({ "id": passkey.id, "label": passkey.label, "relyingParty": passkey.relying_party, "addedAt": passkey.added_at });
        if let Some(origin) = &passkey.origin {
            view["origin"] = json!(origin);
        }
        if let (Value::Object(view), Value::Object(key)) = (&mut view, json!(passkey.key)) {
            view.extend(key);
        }
        view
    };
    let approvers: Vec<_> = approvers
        .map(|one| {
            let passkeys: Vec<_> = one.passkeys.iter().map(passkey).collect();
            json!({ "name": one.name, "key": one.key, "enrolledAt": one.enrolled_at, "passkeys": passkeys })
        })
        .collect();
    json!({ "approvers": approvers, "records": state.seq, "hash": hex::encode(state.hash) })
}
