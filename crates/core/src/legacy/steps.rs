//! The steps of an older plan: tool calls with their outcomes in one record.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::fields::{Fields, Reason, kind};
use crate::gate;
use crate::ids::StepId;
use crate::plan::content::{CallRunner, RecordedCall};
use crate::plan::execution::{StepState, StepStatus};
use crate::visible::quoted;

const CUT_SHORT: &str = "it was running when the plan was taken over, and its end was never recorded";

pub(super) struct OlderStep {
    id: StepId,
    path: String,
    tool: Option<String>,
    description: Option<String>,
    arguments: Value,
    result: Option<String>,
    pub(super) status: StepStatus,
    pub(super) executed_at: Option<Timestamp>,
}

/// In the order they were meant to run in.
pub(super) fn read(list: &[Value], notes: &mut Vec<String>) -> Result<Vec<OlderStep>, Reason> {
    let mut found = Vec::with_capacity(list.len());
    for (index, value) in list.iter().enumerate() {
        let fields = Fields::of(value, format!("/steps/{index}"))?;
        let order = fields.whole_number("order")?.unwrap_or_else(|| i64::try_from(index).unwrap_or(i64::MAX));
        found.push((order, fields));
    }
    found.sort_by_key(|(order, _)| *order);
    let mut ids = Ids::keeping(&found.iter().map(|(_, fields)| fields).collect::<Vec<_>>())?;
    found.iter().map(|(_, fields)| OlderStep::read(fields, &mut ids, notes)).collect()
}

/// What is known about steps that stood beside a Markdown plan; the call goes into the words, as it has no other
/// place. Their ids must not be those of the steps that are read from the text, or an outcome would be taken for
/// that of another step.
pub(super) fn beside_document(steps: &[OlderStep]) -> Vec<StepState> {
    let mut taken: BTreeSet<String> = steps.iter().map(|step| step.id.to_string()).collect();
    let mut runs = Vec::with_capacity(steps.len());
    for step in steps {
        let mut state = step.as_state();
        if let (Some(description), Some(call)) = (&step.description, step.call()) {
            state.description = format!("{description}: {call}");
        }
        if StepId::is_made_here(&step.id) {
            state.step = free_id(&mut taken, &format!("older-{}", step.id)).unwrap_or_else(|_| state.step.clone());
        }
        runs.push(state);
    }
    runs
}

impl OlderStep {
    fn read(fields: &Fields<'_>, ids: &mut Ids, notes: &mut Vec<String>) -> Result<Self, Reason> {
        let mut status = status(fields)?;
        let mut result = fields.filled("result")?.map(str::to_owned);
        let id = ids.next(fields, notes)?;
        if status == StepStatus::InProgress {
            status = StepStatus::Failed;
            notes.push(format!("step {id} was running and counts as failed"));
            result =
                Some(result.map_or(CUT_SHORT.to_owned(), |result| format!("{CUT_SHORT}; it had answered: {result}")));
        }
        Ok(Self {
            id,
            path: fields.at("toolName"),
            tool: fields.filled("toolName")?.map(str::to_owned),
            description: fields.filled("description")?.map(str::to_owned),
            arguments: arguments(fields)?,
            result,
            status,
            executed_at: fields.time("executedAt")?,
        })
    }

    pub(super) fn as_call(&self) -> Result<RecordedCall, Reason> {
        let tool = self.tool.as_ref().ok_or_else(|| format!("{} is missing", self.path))?;
        gate::check_tool_name(tool).map_err(|refusal| format!("{}: {}", self.path, refusal.message))?;
        Ok(RecordedCall {
            id: self.id.clone(),
            tool: tool.clone(),
            arguments: self.arguments.clone(),
            description: self.description.clone(),
            runner: CallRunner::Planwright,
        })
    }

    pub(super) fn as_state(&self) -> StepState {
        let description = self.description.clone().or_else(|| self.call()).unwrap_or_else(|| "(no text)".to_owned());
        let mut state = StepState::pending(self.id.clone(), description);
        state.status = self.status;
        state.note.clone_from(&self.result);
        state.finished_at = self.executed_at.filter(|_| self.status.is_settled());
        state
    }

    fn call(&self) -> Option<String> {
        self.tool.as_ref().map(|tool| format!("{tool}({})", self.arguments))
    }
}

fn status(fields: &Fields<'_>) -> Result<StepStatus, Reason> {
    let Some(name) = fields.filled("status")? else { return Ok(StepStatus::Pending) };
    // `UNCERTAIN` came later and is unknown to the older format.
    let known = StepStatus::ALL.into_iter().filter(|status| *status != StepStatus::Uncertain);
    let mut matching = known.filter(|status| status.as_str() == name);
    matching.next().ok_or_else(|| format!("{} {} is none of the older format", fields.at("status"), quoted(name)))
}

/// An object, or text that holds one.
fn arguments(fields: &Fields<'_>) -> Result<Value, Reason> {
    const NAME: &str = "toolArguments";
    match fields.value(NAME) {
        None => Ok(Value::Object(Map::new())),
        Some(object @ Value::Object(_)) => Ok(object.clone()),
        Some(Value::String(text)) if text.trim().is_empty() => Ok(Value::Object(Map::new())),
        Some(Value::String(text)) => match serde_json::from_str(text) {
            Ok(object @ Value::Object(_)) => Ok(object),
            Ok(Value::Null) => Ok(Value::Object(Map::new())),
            Ok(other) => Err(format!("{} holds {}, not an object", fields.at(NAME), kind(&other))),
            Err(error) => Err(format!("{} is text that is not JSON: {error}", fields.at(NAME))),
        },
        Some(other) => Err(fields.wrong(NAME, other, "an object")),
    }
}

/// Gives every step an id of its own: the one it has, as long as that is valid and not given yet.
struct Ids {
    /// Valid ids of the file that are not given yet, and all that are; a made-up one must not meet either.
    known: BTreeSet<String>,
    given: BTreeSet<StepId>,
}

impl Ids {
    fn keeping(steps: &[&Fields<'_>]) -> Result<Self, Reason> {
        let mut known = BTreeSet::new();
        for fields in steps {
            known.extend(fields.text("id")?.map(str::to_owned));
        }
        Ok(Self { known, given: BTreeSet::new() })
    }

    fn next(&mut self, fields: &Fields<'_>, notes: &mut Vec<String>) -> Result<StepId, Reason> {
        let own = fields.text("id")?;
        if let Some(id) = own.and_then(|text| StepId::new(text).ok()).filter(|id| !self.given.contains(id)) {
            self.given.insert(id.clone());
            return Ok(id);
        }
        let made = free_id(&mut self.known, &format!("step-{}", self.given.len() + 1))?;
        notes.push(match own {
            None => format!("a step without an id is {made} now"),
            Some(own) => format!("the step {} is {made} now, since that id is not valid or used twice", quoted(own)),
        });
        self.given.insert(made.clone());
        Ok(made)
    }
}

/// `wanted`, or `wanted` with the first number that makes it unique.
fn free_id(taken: &mut BTreeSet<String>, wanted: &str) -> Result<StepId, Reason> {
    let mut text = wanted.to_owned();
    let mut n = 2_u32;
    while !taken.insert(text.clone()) {
        text = format!("{wanted}-{n}");
        n += 1;
    }
    StepId::new(text).map_err(|refusal| refusal.message)
}
