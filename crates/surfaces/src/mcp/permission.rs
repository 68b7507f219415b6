//! Asking the person in the client whether a call of an upstream tool is made.

use planwright_core::choices::{ChoiceKind, Choices, external_call_choices};
use planwright_core::refusal::Refusal;
use planwright_core::visible::visible;
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationSchema, JsonObject};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;

use super::decision::{choice_form, chosen, elicit};

/// The question as a form.
pub(super) fn question(name: &str, arguments: &JsonObject) -> Option<ElicitRequestParams> {
    let Choices { situation, list } = external_call_choices(name);
    let shown = format!("{:#}", Value::Object(arguments.clone()));
    let message = format!("{situation} with\n\n{}", visible(&shown));
    choice_form(message, ElicitationSchema::builder(), &list, &[])
}

/// Whether the person permits the call.
pub(super) fn permits(name: &str, answer: ElicitResult) -> bool {
    let offered = external_call_choices(name).list;
    matches!(chosen(answer, &offered), Some((ChoiceKind::Permit(grant), _)) if grant.permits())
}

/// Asks by a request to the client. A client that cannot ask means no.
pub(super) async fn ask(name: &str, arguments: &JsonObject, context: &RequestContext<RoleServer>) -> bool {
    let can_ask = context.peer.peer_info().is_some_and(|info| info.capabilities.elicitation.is_some());
    let Some(question) = question(name, arguments).filter(|_| can_ask) else { return false };
    elicit(&context.peer, question).await.is_some_and(|answer| permits(name, answer))
}

pub(super) fn not_asked(name: &str) -> Refusal {
    Refusal::policy_denied(format!(
        "`{}` is made only after a person permitted it, and the approval policy takes no answer from the program that the agent \
         runs in. Write the call into a plan that a person approves, or have the person permit it by a rule in `[[permissions]]`.",
        visible(name)
    ))
}

pub(super) fn not_permitted(name: &str) -> Refusal {
    Refusal::policy_denied(format!(
        "`{}` is made only after a person permitted it in the client, and they did not. A rule in `[[permissions]]` permits it \
         without asking.",
        visible(name)
    ))
}
