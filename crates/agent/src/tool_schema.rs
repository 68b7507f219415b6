//! The vocabulary of tools: definitions, arguments, and the JSON Schema of arguments, which is made from the type that
//! they are parsed into.

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use planwright_core::refusal::Refusal;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

pub use planwright_engine::upstream::Arguments;

/// A tool as it is advertised.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolDefinition {
    pub name: &'static str,
    pub description: String,
    pub input_schema: Value,
    pub reads_only: bool,
}

/// The schema of a tool's arguments. It is made once for each type, because it is wanted with every request.
pub fn schema_of<T: JsonSchema + 'static>() -> Value {
    static MADE: LazyLock<Mutex<HashMap<TypeId, Value>>> = LazyLock::new(Mutex::default);
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    made.entry(TypeId::of::<T>()).or_insert_with(make_schema::<T>).clone()
}

fn make_schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    // Models read this; what only validators need is left out.
    schema.remove("$schema");
    schema.remove("title");
    let mut schema = schema.to_value();
    simplify(&mut schema);
    if let Some(object) = schema.as_object_mut() {
        object.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    }
    schema
}

/// Leaves out what providers refuse or warn about and models do not need: formats that only Rust knows, `null` as a type
/// beside the type of an optional field, and defaults.
fn simplify(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            let format = object.get("format").and_then(Value::as_str).unwrap_or_default();
            if format.starts_with("uint") || format.starts_with("int") {
                object.remove("format");
            }
            object.remove("default");
            // Every number of a tool counts something, and what does not fit is refused.
            if object.get("minimum") == Some(&Value::from(0)) {
                object.remove("minimum");
            }
            if let Some(Value::Array(types)) = object.get_mut("type") {
                types.retain(|name| name != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    object.insert("type".to_owned(), only);
                }
            }
            if let Some(Value::Array(choices)) = object.get_mut("anyOf") {
                choices.retain(|choice| choice.get("type").and_then(Value::as_str) != Some("null"));
                if let [Value::Object(only)] = choices.as_slice() {
                    let only = only.clone();
                    object.remove("anyOf");
                    for (name, value) in only {
                        object.entry(name).or_insert(value);
                    }
                }
            }
            if let Some(Value::Array(values)) = object.get_mut("enum") {
                values.retain(|value| !value.is_null());
            }
            for (name, value) in object {
                match (name.as_str(), value) {
                    // The names below it are fields, not words of the schema.
                    ("properties", Value::Object(fields)) => fields.values_mut().for_each(simplify),
                    (_, value) => simplify(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(simplify),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

pub fn parse<T: DeserializeOwned>(tool: &str, arguments: Arguments) -> Result<T, Refusal> {
    serde_json::from_value(Value::Object(arguments))
        .map_err(|error| Refusal::invalid(format!("The arguments of {tool} do not fit: {error}.")))
}
