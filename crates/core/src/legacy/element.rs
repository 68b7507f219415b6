//! One element of the file as a plan of today.

use jiff::Timestamp;
use serde_json::Value;

use super::fields::{Fields, Reason};
use super::steps::{self, OlderStep};
use crate::command::ImportedPlan;
use crate::ids::{ExecutionId, PlanId};
use crate::plan::content::{Collected, Document};
use crate::plan::execution::{Execution, StepStatus};
use crate::plan::{LegacyOrigin, PlanContent, PlanStatus};
use crate::session::{Channel, ConversationKey, SessionIdentity, TransportChat};
use crate::visible::quoted;

pub(super) struct Element {
    pub(super) session: SessionIdentity,
    pub(super) plan: ImportedPlan,
    pub(super) notes: Vec<String>,
}

pub(super) fn read(value: &Value) -> Result<Element, Reason> {
    let fields = Fields::of(value, String::new())?;
    let mut notes = Vec::new();
    let id = fields.text("id")?.ok_or("it has no id")?;
    let id = PlanId::new(id).map_err(|refusal| refusal.message)?;
    let (session, transport_chat) = session(&fields, &mut notes)?;
    let (created_at, updated_at) = times(&fields, &mut notes)?;
    let status = status(&fields, &mut notes)?;
    let steps = steps::read(fields.list("steps")?, &mut notes)?;
    let markdown = fields.text("markdown")?.filter(|markdown| !markdown.trim().is_empty());
    let started = steps.iter().any(|step| step.status != StepStatus::Pending);
    let (content, runs) = match markdown {
        Some(markdown) => {
            let runs = steps::beside_document(&steps);
            (PlanContent::Document(Document { markdown: markdown.to_owned() }), runs)
        }
        None if steps.is_empty() => (PlanContent::Document(Document::default()), Vec::new()),
        None => {
            let calls = steps.iter().map(OlderStep::as_call).collect::<Result<_, _>>()?;
            let runs = if started || past_approval(status) {
                steps.iter().map(OlderStep::as_state).collect()
            } else {
                Vec::new()
            };
            (PlanContent::Collect(Collected { summary: None, steps: calls }), runs)
        }
    };
    let execution = (!runs.is_empty()).then(|| Execution {
        // The older format had no executions, so the plan's only one is named after the plan.
        id: ExecutionId::from(&id),
        number: 1,
        started_at: steps.iter().filter_map(|step| step.executed_at).min().unwrap_or(updated_at),
        finished_at: Some(updated_at),
        steps: runs,
        pause: None,
    });
    let owned = |text: Option<&str>| text.map(str::to_owned);
    let origin = LegacyOrigin {
        transport_chat,
        description: owned(fields.filled("description")?),
        model_tier: owned(fields.filled("modelTier")?),
    };
    let title = owned(fields.filled("title")?);
    let plan = ImportedPlan { id, status, title, content, execution, origin, created_at, updated_at };
    Ok(Element { session, plan, notes })
}

/// With a channel, `chatId` is the conversation. Without one it is the transport chat of a conversation that had no
/// other name, so the name is taken from it.
fn session(fields: &Fields<'_>, notes: &mut Vec<String>) -> Result<(SessionIdentity, Option<TransportChat>), Reason> {
    const WITHOUT_CHAT: &str = "default";
    let chat = fields.text("chatId")?;
    let transport = fields.filled("transportChatId")?;
    let channel = match fields.filled("channelType")? {
        Some(name) => name.to_ascii_lowercase().parse::<Channel>().map_err(|refusal| refusal.message)?,
        None => Channel::Legacy,
    };
    let key = match chat {
        Some(chat) => chat,
        None if channel == Channel::Legacy => {
            notes.push(format!("it names no chat and goes to the session {channel}:{WITHOUT_CHAT}"));
            WITHOUT_CHAT
        }
        None => return Err(format!("it came through {channel} but has no chatId")),
    };
    let key = ConversationKey::existing(key).map_err(|refusal| format!("its chatId {}", refusal.message))?;
    let transport = transport.or(chat.filter(|_| channel == Channel::Legacy));
    Ok((SessionIdentity::new(channel, key), transport.map(|chat| TransportChat(chat.to_owned()))))
}

fn times(fields: &Fields<'_>, notes: &mut Vec<String>) -> Result<(Timestamp, Timestamp), Reason> {
    let created = fields.time("createdAt")?;
    let updated = fields.time("updatedAt")?;
    Ok(match (created, updated) {
        (Some(created), Some(updated)) => (created, updated),
        (Some(created), None) => {
            notes.push("it does not say when it was updated; the time it was created is used".to_owned());
            (created, created)
        }
        (None, Some(updated)) => {
            notes.push("it does not say when it was created; the time it was updated is used".to_owned());
            (updated, updated)
        }
        (None, None) => {
            notes.push("it has no times; the beginning of 1970 is used".to_owned());
            (Timestamp::UNIX_EPOCH, Timestamp::UNIX_EPOCH)
        }
    })
}

/// The status it has from now on. Nothing runs it any more, so one that was running waits to be resumed.
fn status(fields: &Fields<'_>, notes: &mut Vec<String>) -> Result<PlanStatus, Reason> {
    let name = fields.text("status")?.ok_or("it has no status")?;
    let known = PlanStatus::ALL.into_iter().find(|status| status.as_str() == name);
    match known {
        Some(PlanStatus::Executing) => {
            notes.push("it was EXECUTING and is PARTIALLY_COMPLETED now; it can be resumed".to_owned());
            Ok(PlanStatus::PartiallyCompleted)
        }
        Some(
            status @ (PlanStatus::Collecting
            | PlanStatus::Ready
            | PlanStatus::Approved
            | PlanStatus::Completed
            | PlanStatus::PartiallyCompleted
            | PlanStatus::Cancelled),
        ) => Ok(status),
        // These two came later; in the older format they are as unknown as any other word.
        Some(PlanStatus::Rejected | PlanStatus::Superseded) | None => {
            Err(format!("its status {} is none of the older format", quoted(name)))
        }
    }
}

fn past_approval(status: PlanStatus) -> bool {
    match status {
        PlanStatus::Executing | PlanStatus::Completed | PlanStatus::PartiallyCompleted => true,
        PlanStatus::Collecting
        | PlanStatus::Ready
        | PlanStatus::Approved
        | PlanStatus::Rejected
        | PlanStatus::Cancelled
        | PlanStatus::Superseded => false,
    }
}
