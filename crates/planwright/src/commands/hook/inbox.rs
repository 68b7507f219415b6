//! A call that the approved plan does not cover, asked about in Planwright's inbox instead of in the client. The agent is denied
//! and makes the call again; what a person permitted then passes.

use planwright_core::actor::Actor;
use planwright_core::ask::{AskAnswer, CallToPermit, Grant, led_to, names_path};
use planwright_core::command::{Command, ExternalCommand};
use planwright_core::plan::Plan;
use planwright_core::snapshot::Snapshot;
use planwright_core::visible::visible;
use planwright_engine::engine::Engine;
use planwright_engine::ledger::LedgerError;

use super::changed_files::changed_paths;
use super::wire::{HookDecision, HookPlace, ToolRequest};
use crate::config::guarded::in_force;
use crate::config::{HookAsk, Settings};
use crate::failure::Failure;

const KEY: &str = "hook.ask";

/// Whether people are asked here. The store has the setting, and this process may only be stricter.
pub(super) async fn is_asked_here(engine: &Engine, settings: &Settings) -> Result<bool, Failure> {
    let state = engine.approvals().state().await.map_err(Failure::from)?;
    let own = settings.guarded.get(KEY).map(String::as_str);
    Ok(match &state.settings {
        Some(stored) => in_force(KEY, stored.get(KEY).map(String::as_str), own) == Some("inbox"),
        // A store that no server has opened yet.
        None => settings.hook_ask == HookAsk::Inbox,
    })
}

/// What a person said about this call, or that they are asked.
pub(super) async fn decide(
    engine: &Engine,
    snapshot: &Snapshot,
    plan: &Plan,
    place: &HookPlace,
    request: &ToolRequest,
    reason: &str,
) -> Result<HookDecision, Failure> {
    let ToolRequest { tool, input } = request;
    let paths = changed_paths(place, request);
    let is_named = |path: &str| {
        let whole = place.project.join(path);
        names_path(input, path) || names_path(input, &whole.to_string_lossy())
    };
    let reason = &led_to(reason, &paths, is_named);
    // A link that leads elsewhere since makes it another call.
    let made =
        CallToPermit { tool: tool.clone(), arguments: input.clone(), reason: reason.clone(), paths, always: None };
    let by = Actor::system(snapshot.identity.channel.as_str());
    let submit = async |command: ExternalCommand| {
        engine.submitter().submit(&snapshot.identity, &by, Command::External(command)).await
    };
    let known = snapshot.session.as_ref().and_then(|session| {
        let is_this = |asked: &&planwright_core::client_ask::ClientAsk| asked.plan == plan.id && asked.is_about(&made);
        session.client_asks.iter().find(is_this)
    });
    let Some(asked) = known else {
        return match submit(ExternalCommand::AskClientCall(made)).await {
            Ok(_) => Ok(HookDecision::Deny(waiting(reason))),
            Err(LedgerError::Refused(refusal)) => Ok(HookDecision::Deny(format!("{reason} {}", refusal.message))),
            Err(error) => Err(error.into()),
        };
    };
    let permitted =
        |how: &str| HookDecision::Allow(format!("Plan {}: A person permitted this call {how}.", plan.number));
    match asked.answer() {
        None | Some(AskAnswer::Questions { .. }) => Ok(HookDecision::Deny(waiting(reason))),
        Some(AskAnswer::Permission { grant: Grant::Plan | Grant::Always, .. }) => Ok(permitted("for this plan")),
        Some(AskAnswer::Permission { grant: Grant::Once, .. }) => {
            match submit(ExternalCommand::TakeClientCall { ask: asked.ask.id.clone() }).await {
                Ok(_) => Ok(permitted("once")),
                Err(LedgerError::Refused(refusal)) => Ok(HookDecision::Deny(format!("{reason} {}", refusal.message))),
                Err(error) => Err(error.into()),
            }
        }
        Some(AskAnswer::Permission { grant: Grant::No, note, .. }) => {
            let words = note.as_ref().map_or_else(String::new, |note| format!(" They say: {}", visible(note)));
            Ok(HookDecision::Deny(format!("Plan {}: A person did not permit this call.{words}", plan.number)))
        }
    }
}

fn waiting(reason: &str) -> String {
    format!(
        "{reason} A person is asked about this call in Planwright's inbox. Go on with what the plan covers, and make exactly the same \
         call again later; if nothing else is left, tell the person that you wait."
    )
}
