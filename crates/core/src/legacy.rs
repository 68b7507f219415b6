//! The older `plans.json`, read and translated. One bad element never costs the others: it is skipped with a reason.
//!
//! The format knew three versions. The newest names a channel and a transport chat beside the conversation; the two
//! before it only knew a chat, and the oldest had no Markdown either.
//!
//! - `element`: one element of the file as a plan of today; `fields`: reading its fields; `steps`: the steps of an older plan
//! - `project`: plans that other programs keep as files of a project
//! - [`golemcore`]: what else the bot keeps that wrote the older format; `protobuf`: the format of its conversations

mod element;
mod fields;
pub mod golemcore;
mod project;
mod protobuf;
mod steps;

use std::collections::BTreeSet;

use serde_json::Value;

use crate::command::ImportedPlan;
use crate::ids::PlanId;
use crate::refusal::Refusal;
use crate::session::SessionIdentity;

pub use project::{ForeignFile, ForeignPlan, ForeignPlans};

/// What becomes of one element of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Legacy {
    Taken {
        session: SessionIdentity,
        plan: Box<ImportedPlan>,
        /// What had to be assumed or made up, in words.
        notes: Vec<String>,
    },
    Skipped {
        /// Where it stands in the file, from 0.
        index: usize,
        /// What it says about itself, valid as an id or not.
        id: Option<String>,
        reason: String,
    },
}

/// Only a file that is not a JSON array is refused as a whole. The same file is always read the same way.
pub fn read(json: &str) -> Result<Vec<Legacy>, Refusal> {
    let json = json.strip_prefix('\u{feff}').unwrap_or(json);
    let elements: Vec<Value> = serde_json::from_str(json)
        .map_err(|error| Refusal::invalid(format!("The file is not a JSON array of plans: {error}.")))?;
    let mut taken = BTreeSet::new();
    Ok(elements.iter().enumerate().map(|(index, element)| read_element(index, element, &mut taken)).collect())
}

fn read_element(index: usize, element: &Value, taken: &mut BTreeSet<PlanId>) -> Legacy {
    let read = element::read(element).and_then(|read| {
        let id = &read.plan.id;
        if taken.insert(id.clone()) { Ok(read) } else { Err(format!("plan {id} is in the file more than once")) }
    });
    match read {
        Ok(read) => Legacy::Taken { session: read.session, plan: Box::new(read.plan), notes: read.notes },
        Err(reason) => {
            let id = element.get("id").and_then(Value::as_str).map(str::to_owned);
            Legacy::Skipped { index, id, reason }
        }
    }
}
