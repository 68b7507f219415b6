//! The schemas of all tools, held against what model providers take.
//!
//! - OpenAI: what the converter of its Agents SDK turns into a strict schema without an error: objects do not say
//!   `additionalProperties: true`, and no keyword is used that strict mode lacks.
//! - Gemini: the keywords of JSON Schema that function declarations have, with one type each and known formats.
//! - Anthropic: names of letters, digits, `_` and `-`, and an object at the top without alternatives.

use serde_json::{Value, json};

use crate::world::{BUILD, COLLECT, DOCUMENT, World};

type Rule = fn(&Value, &str, &mut Vec<String>);

const RULES: [(&str, Rule); 3] = [("OpenAI strict", openai), ("Gemini", gemini), ("Anthropic", anthropic)];

#[tokio::test]
async fn every_schema_fits_the_three_rule_sets() {
    let world = World::new().await;
    let by = planwright_core::actor::Actor::person("ada", "cli");
    let mut problems = Vec::new();
    let mut seen = 0;
    for start in [DOCUMENT, COLLECT, BUILD] {
        let mut client = world.client(start).await;
        world.engine.workbooks().switch_planning_files(&world.session, &by, true).await.unwrap();
        let answer = client.ask("tools/list", json!({})).await;
        for tool in answer["result"]["tools"].as_array().unwrap() {
            seen += 1;
            for (name, rule) in RULES {
                let mut found = Vec::new();
                check_name(tool["name"].as_str().unwrap(), &mut found);
                walk(&tool["inputSchema"], "", rule, &mut found);
                problems.extend(found.into_iter().map(|problem| format!("{name}: {}{problem}", tool["name"])));
            }
        }
        client.leave().await;
    }
    assert!(seen > 30, "{seen} tools");
    assert_eq!(problems, Vec::<String>::new());
}

fn check_name(name: &str, found: &mut Vec<String>) {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() || name.len() > 64 || !name.chars().all(fits) {
        found.push(" has a name that is not taken".to_owned());
    }
}

fn walk(schema: &Value, path: &str, rule: Rule, found: &mut Vec<String>) {
    rule(schema, path, found);
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        check_name(name, found);
        walk(field, &format!("{path}/{name}"), rule, found);
    }
    if schema["items"].is_object() {
        walk(&schema["items"], &format!("{path}/items"), rule, found);
    }
    for choice in schema["anyOf"].as_array().into_iter().flatten() {
        walk(choice, &format!("{path}/anyOf"), rule, found);
    }
}

fn only(schema: &Value, path: &str, keywords: &[&str], found: &mut Vec<String>) {
    for keyword in schema.as_object().into_iter().flatten().map(|(keyword, _)| keyword) {
        if !keywords.contains(&keyword.as_str()) {
            found.push(format!("{path} has `{keyword}`"));
        }
    }
    if schema.get("type").is_some_and(|kind| !kind.is_string()) {
        found.push(format!("{path} has several types"));
    }
    if schema.get("default").is_some_and(Value::is_null) {
        found.push(format!("{path} has the default null"));
    }
}

fn openai(schema: &Value, path: &str, found: &mut Vec<String>) {
    const KEYWORDS: [&str; 14] = [
        "type",
        "description",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "enum",
        "anyOf",
        "minimum",
        "maximum",
        "minItems",
        "maxItems",
        "pattern",
        "const",
    ];
    only(schema, path, &KEYWORDS, found);
    if schema["additionalProperties"] == true || schema["additionalProperties"].is_object() {
        found.push(format!("{path} takes any field"));
    }
}

fn gemini(schema: &Value, path: &str, found: &mut Vec<String>) {
    const KEYWORDS: [&str; 14] = [
        "type",
        "description",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "enum",
        "anyOf",
        "minimum",
        "maximum",
        "minItems",
        "maxItems",
        "format",
        "title",
    ];
    const FORMATS: [&str; 6] = ["enum", "date-time", "int32", "int64", "float", "double"];
    only(schema, path, &KEYWORDS, found);
    if schema["format"].as_str().is_some_and(|format| !FORMATS.contains(&format)) {
        found.push(format!("{path} has the format {}", schema["format"]));
    }
    if schema["enum"].as_array().is_some_and(|values| values.iter().any(|value| !value.is_string())) {
        found.push(format!("{path} has an enum that is not of strings"));
    }
}

fn anthropic(schema: &Value, path: &str, found: &mut Vec<String>) {
    if path.is_empty() {
        if schema["type"] != "object" || !schema["properties"].is_object() {
            found.push(" is not an object with properties".to_owned());
        }
        for keyword in ["anyOf", "oneOf", "allOf", "$ref"] {
            if schema.get(keyword).is_some() {
                found.push(format!(" has `{keyword}` at the top"));
            }
        }
    }
}
