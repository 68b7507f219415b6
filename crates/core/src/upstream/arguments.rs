//! Arguments compared with the schema of a tool, so that a call that its server would refuse is never shown for approval.
//! Only what is certain is a problem: a part of a schema that is not understood permits everything.

use serde_json::{Map, Value};

use crate::refusal::Problem;
use crate::visible::quoted;

/// How deep schemas and arguments are followed.
const MAX_DEPTH: usize = 32;
/// How many problems are named.
const MAX_PROBLEMS: usize = 20;

/// Where these arguments do not fit the schema.
pub fn argument_problems(schema: &Value, arguments: &Value) -> Vec<Problem> {
    let mut check = SchemaCheck { root: schema, problems: Vec::new() };
    check.value(schema, arguments, "", 0);
    check.problems.truncate(MAX_PROBLEMS);
    check.problems
}

struct SchemaCheck<'a> {
    root: &'a Value,
    problems: Vec<Problem>,
}

impl<'a> SchemaCheck<'a> {
    fn value(&mut self, schema: &'a Value, value: &Value, path: &str, depth: usize) {
        let Some(rules) = schema.as_object() else {
            if *schema == Value::Bool(false) {
                self.report(path, "there is no such argument".to_owned());
            }
            return;
        };
        if depth > MAX_DEPTH || self.problems.len() >= MAX_PROBLEMS {
            return;
        }
        if let Some(referred) = rules.get("$ref").and_then(Value::as_str).and_then(|name| self.referred(name)) {
            self.value(referred, value, path, depth + 1);
        }
        if let Some(expected) = wrong_type(rules, value) {
            return self.report(path, format!("it is {}, and {expected} is expected", kind(value)));
        }
        if let Some(allowed) = rules.get("enum").and_then(Value::as_array).filter(|allowed| !allowed.contains(value)) {
            let names: Vec<_> = allowed.iter().take(MAX_PROBLEMS).map(Value::to_string).collect();
            self.report(path, format!("it is none of {}", names.join(", ")));
        }
        if let Some(only) = rules.get("const").filter(|only| *only != value) {
            self.report(path, format!("only {only} is taken"));
        }
        for part in list(rules, "allOf") {
            self.value(part, value, path, depth + 1);
        }
        for choice in ["anyOf", "oneOf"] {
            let parts = list(rules, choice);
            if !parts.is_empty() && !parts.iter().any(|part| self.fits(part, value, depth + 1)) {
                self.report(path, "it fits none of what is taken here".to_owned());
            }
        }
        match value {
            Value::Object(object) => self.object(rules, object, path, depth),
            Value::Array(items) => self.array(rules, items, path, depth),
            Value::Number(number) => self.number(rules, number.as_f64(), path),
            Value::String(text) => self.text(rules, text, path),
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn object(&mut self, rules: &'a Map<String, Value>, object: &Map<String, Value>, path: &str, depth: usize) {
        for name in list(rules, "required").iter().filter_map(Value::as_str) {
            if !object.contains_key(name) {
                self.report(&format!("{path}/{name}"), "it is missing".to_owned());
            }
        }
        let known = rules.get("properties").and_then(Value::as_object);
        let has_patterns = rules.contains_key("patternProperties");
        for (name, value) in object {
            let path = format!("{path}/{name}");
            match (known.and_then(|known| known.get(name)), rules.get("additionalProperties")) {
                (Some(schema), _) => self.value(schema, value, &path, depth + 1),
                (None, Some(Value::Bool(false))) if !has_patterns => {
                    self.report(&path, "there is no such argument".to_owned());
                }
                (None, Some(schema @ Value::Object(_))) if !has_patterns => {
                    self.value(schema, value, &path, depth + 1);
                }
                (None, _) => {}
            }
        }
    }

    fn array(&mut self, rules: &'a Map<String, Value>, items: &[Value], path: &str, depth: usize) {
        let count = items.len() as u64;
        if bound(rules, "minItems").is_some_and(|least| count < least) {
            self.report(path, "it has too few items".to_owned());
        }
        if bound(rules, "maxItems").is_some_and(|most| count > most) {
            self.report(path, "it has too many items".to_owned());
        }
        // Schemas of earlier drafts have a list here.
        let Some(schema) = rules.get("items").filter(|schema| schema.is_object()) else { return };
        if rules.contains_key("prefixItems") {
            return;
        }
        for (index, item) in items.iter().enumerate() {
            self.value(schema, item, &format!("{path}/{index}"), depth + 1);
        }
    }

    fn number(&mut self, rules: &Map<String, Value>, number: Option<f64>, path: &str) {
        let limit = |name: &str| rules.get(name).and_then(Value::as_f64);
        let Some(number) = number else { return };
        if limit("minimum").is_some_and(|least| number < least)
            || limit("exclusiveMinimum").is_some_and(|least| number <= least)
        {
            self.report(path, "it is too small".to_owned());
        }
        if limit("maximum").is_some_and(|most| number > most)
            || limit("exclusiveMaximum").is_some_and(|most| number >= most)
        {
            self.report(path, "it is too large".to_owned());
        }
    }

    fn text(&mut self, rules: &Map<String, Value>, text: &str, path: &str) {
        let count = text.chars().count() as u64;
        if bound(rules, "minLength").is_some_and(|least| count < least) {
            self.report(path, "it is too short".to_owned());
        }
        if bound(rules, "maxLength").is_some_and(|most| count > most) {
            self.report(path, "it is too long".to_owned());
        }
    }

    fn fits(&self, schema: &'a Value, value: &Value, depth: usize) -> bool {
        let mut check = SchemaCheck { root: self.root, problems: Vec::new() };
        check.value(schema, value, "", depth);
        check.problems.is_empty()
    }

    /// A part of this schema: `#/$defs/name`.
    fn referred(&self, name: &str) -> Option<&'a Value> {
        self.root.pointer(name.strip_prefix('#')?)
    }

    fn report(&mut self, path: &str, message: String) {
        let path = if path.is_empty() { "/" } else { path };
        self.problems.push(Problem::new(path, message));
    }
}

fn list<'a>(rules: &'a Map<String, Value>, name: &str) -> &'a [Value] {
    rules.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn bound(rules: &Map<String, Value>, name: &str) -> Option<u64> {
    rules.get(name).and_then(Value::as_u64)
}

/// What is expected instead, if the value has none of the types.
fn wrong_type(rules: &Map<String, Value>, value: &Value) -> Option<String> {
    let types: Vec<&str> = match rules.get("type")? {
        Value::String(one) => vec![one.as_str()],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => return None,
    };
    if types.is_empty() || types.iter().any(|expected| is_of_type(value, expected)) {
        return None;
    }
    Some(types.iter().map(|expected| quoted(expected)).collect::<Vec<_>>().join(" or "))
}

fn is_of_type(value: &Value, expected: &str) -> bool {
    match expected {
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "null" => value.is_null(),
        // A type that this version does not know permits everything.
        _ => true,
    }
}

const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_certainly_does_not_fit_is_named_with_its_place() {
        let schema = json!({
            "type": "object",
            "required": ["to"],
            "additionalProperties": false,
            "$defs": { "address": { "type": "string", "minLength": 2 } },
            "properties": {
                "to": { "$ref": "#/$defs/address" },
                "sum": { "type": "integer", "minimum": 1 },
                "kind": { "enum": ["now", "later"] },
                "tags": { "type": "array", "items": { "type": "string" }, "maxItems": 2 },
                "when": { "anyOf": [{ "type": "null" }, { "type": "string" }] },
            },
        });
        let problems = |arguments: Value| -> Vec<String> {
            argument_problems(&schema, &arguments).into_iter().map(|problem| problem.path).collect()
        };
        for (arguments, expected) in [
            (json!({ "to": "ada", "sum": 3.0, "kind": "now", "tags": ["a"], "when": null }), vec![]),
            (json!({}), vec!["/to"]),
            (json!({ "to": 7 }), vec!["/to"]),
            (json!({ "to": "a" }), vec!["/to"]),
            (json!({ "to": "ada", "sum": "10" }), vec!["/sum"]),
            (json!({ "to": "ada", "sum": 0 }), vec!["/sum"]),
            (json!({ "to": "ada", "sum": 1.5 }), vec!["/sum"]),
            (json!({ "to": "ada", "kind": "never" }), vec!["/kind"]),
            (json!({ "to": "ada", "tags": ["a", 1, "c"] }), vec!["/tags", "/tags/1"]),
            (json!({ "to": "ada", "when": 5 }), vec!["/when"]),
            (json!({ "to": "ada", "cc": "eve" }), vec!["/cc"]),
            (json!([]), vec!["/"]),
        ] {
            assert_eq!(problems(arguments.clone()), expected, "{arguments}");
        }
    }

    #[test]
    fn a_schema_that_is_not_understood_permits_everything() {
        let circle = json!({ "$ref": "#" });
        for schema in [json!(true), json!({}), json!({ "type": "thing" }), json!({ "$ref": "other.json" }), circle] {
            assert!(argument_problems(&schema, &json!({ "x": [1] })).is_empty(), "{schema}");
        }
    }
}
