//! The fingerprint of what a plan says. An approval names it, so that a person only approves the text they were shown.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::plan::{Plan, PlanContent};
use crate::refusal::Refusal;
use crate::visible::quoted;
use crate::wire::hex_text;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(utoipa::ToSchema),
    schema(value_type = String, pattern = "^(sha256:)?[0-9a-fA-F]{64}$", min_length = 64, max_length = 71)
)]
#[serde(try_from = "String", into = "String")]
pub struct Digest([u8; 32]);

impl Digest {
    /// SHA-256 over the canonical JSON of everything a person is shown to decide on, and nothing else.
    pub fn of(plan: &Plan) -> Self {
        let content = match &plan.content {
            PlanContent::Document(document) => json!({ "markdown": document.markdown }),
            PlanContent::Collect(collected) => json!(collected),
            PlanContent::Build(built) => json!(built),
        };
        let mut whole = json!({ "style": plan.style(), "title": plan.title, "content": content });
        if let Some(round) = &plan.round {
            whole["round"] = json!(round);
        }
        Self::of_value("planwright-plan-v1", &whole)
    }

    /// SHA-256 over the name of a format and the canonical JSON of a value.
    pub(crate) fn of_value(format: &str, value: &Value) -> Self {
        let mut hasher = Sha256::new();
        hasher.update(format.as_bytes());
        hasher.update(b"\n");
        hasher.update(canonical(value).as_bytes());
        Self(hasher.finalize().into())
    }

    /// Enough of it to recognise, not enough to approve with.
    pub fn short(&self) -> String {
        self.to_string()[..12].to_owned()
    }
}

/// JSON with sorted keys and no white space: the same value always gives the same bytes.
pub fn canonical(value: &Value) -> String {
    fn sorted(value: &Value) -> Value {
        match value {
            Value::Array(items) => items.iter().map(sorted).collect(),
            Value::Object(object) => {
                let mut entries: Vec<_> = object.iter().collect();
                entries.sort_unstable_by_key(|(key, _)| *key);
                Value::Object(
                    entries.into_iter().map(|(key, value)| (key.clone(), sorted(value))).collect::<Map<_, _>>(),
                )
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
        }
    }
    sorted(value).to_string()
}

/// Whether two values have the same canonical form: the same arguments, whatever the order of their keys.
pub fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        // Zero equals minus zero and is written differently.
        (Value::Number(one), Value::Number(other)) => {
            one == other && one.as_f64().map(f64::to_bits) == other.as_f64().map(f64::to_bits)
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let has = |(key, value): (&String, &Value)| other.get(key).is_some_and(|other| is_same(value, other));
            one.len() == other.len() && one.iter().all(has)
        }
        (one, other) => one == other,
    }
}

hex_text!(Digest with or without "sha256:", |text| format!(
    "{} is not a digest: give all 64 hexadecimal digits that were shown",
    quoted(text)
));
