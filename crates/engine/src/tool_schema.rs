//! The vocabulary of tools: definitions, arguments, and the JSON Schema of arguments, which is made from the type that
//! they are parsed into.

use planwright_core::refusal::Refusal;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The arguments of one call.
pub type Arguments = Map<String, Value>;

/// A tool as it is advertised.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolDefinition {
    pub name: &'static str,
    pub description: String,
    pub input_schema: Value,
    pub reads_only: bool,
}

pub(crate) fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    // Models read this; what only validators need is left out.
    schema.remove("$schema");
    schema.remove("title");
    let mut schema = schema.to_value();
    if let Some(object) = schema.as_object_mut() {
        object.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    }
    schema
}

pub(crate) fn parse<T: DeserializeOwned>(tool: &str, arguments: Arguments) -> Result<T, Refusal> {
    serde_json::from_value(Value::Object(arguments))
        .map_err(|error| Refusal::invalid(format!("The arguments of {tool} do not fit: {error}.")))
}
