//! The words of an upstream server's questions as a client may show them: nothing in them hides or reorders text. What the client
//! sends back stays as it is: names of fields and values.

use std::borrow::Cow;

use planwright_core::upstream::ServerName;
use planwright_core::visible::visible;
use rmcp::model::{ElicitRequestParams, ElicitationSchema, PrimitiveSchemaDefinition};
use serde_json::{Value, json};

/// Says which server asks, and writes out what hides text.
pub(super) fn show(server: &ServerName, params: &mut ElicitRequestParams) {
    let name_server = |message: &mut String| {
        *message = format!("The MCP server {server} asks: {}", visible(message));
    };
    match params {
        ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => {
            name_server(message);
            show_form(requested_schema);
        }
        ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
            name_server(message);
            *url = encoded(url);
        }
        // The enum may grow.
        _ => {}
    }
}

fn show_form(form: &mut ElicitationSchema) {
    for text in [&mut form.title, &mut form.description].into_iter().flatten() {
        *text = Cow::Owned(visible(text).into_owned());
    }
    for (name, field) in &mut form.properties {
        let shown = serde_json::to_value(&*field).map(|field| shown_field(name, field));
        if let Ok(shown) = shown.and_then(serde_json::from_value::<PrimitiveSchemaDefinition>) {
            *field = shown;
        }
    }
}

/// A field whose name or choices hide text gets a title for each of them.
fn shown_field(name: &str, mut field: Value) -> Value {
    show_titles(&mut field);
    if field.get("title").is_none() && is_hidden(name) {
        field["title"] = json!(visible(name));
    }
    if field.get("enumNames").is_none() && hides_choices(&field) {
        let names: Vec<_> = choices(&field).map(visible).collect();
        field["enumNames"] = json!(names);
    }
    if field.get("items").is_some_and(hides_choices) {
        let titled: Vec<_> =
            choices(&field["items"]).map(|choice| json!({ "const": choice, "title": visible(choice) })).collect();
        field["items"] = json!({ "anyOf": titled });
    }
    field
}

fn show_titles(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                match (name.as_str(), field) {
                    ("title" | "description", Value::String(text)) => *text = visible(text).into_owned(),
                    ("enumNames", Value::Array(names)) => names.iter_mut().for_each(show_text),
                    (_, field) => show_titles(field),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(show_titles),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn show_text(value: &mut Value) {
    if let Value::String(text) = value {
        *text = visible(text).into_owned();
    }
}

/// What can be chosen, where the choices have no titles.
fn choices(field: &Value) -> impl Iterator<Item = &str> {
    field.get("enum").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

fn hides_choices(field: &Value) -> bool {
    choices(field).any(is_hidden)
}

fn is_hidden(text: &str) -> bool {
    *visible(text) != *text
}

/// The address, with characters that belong to no address percent-encoded.
fn encoded(url: &str) -> String {
    let mut shown = String::with_capacity(url.len());
    for letter in url.chars() {
        let mut bytes = [0; 4];
        let text: &str = letter.encode_utf8(&mut bytes);
        if letter.is_control() || is_hidden(text) {
            shown.extend(text.bytes().map(|byte| format!("%{byte:02X}")));
        } else {
            shown.push(letter);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(params: &Value) -> Value {
        let mut params = serde_json::from_value(params.clone()).unwrap();
        show(&"shop".parse().unwrap(), &mut params);
        serde_json::to_value(params).unwrap()
    }

    #[test]
    fn no_word_of_a_form_hides_text() {
        let form = json!({
            "type": "object",
            "title": "Your\u{202e} order",
            "description": "Now\u{200b}",
            "properties": {
                "plain": { "type": "string", "title": "Name", "default": "x" },
                "named\u{202e}": { "type": "integer", "description": "How\u{2066} many" },
                "size": { "type": "string", "enum": ["s", "\u{202e}m"] },
                "colour": { "type": "string", "enum": ["r"], "enumNames": ["R\u{202e}ed"] },
                "kind": { "type": "string", "oneOf": [{ "const": "a\u{202e}", "title": "A\u{202e}" }] },
                "extras": { "type": "array", "items": { "type": "string", "enum": ["x\u{202e}"] } },
            },
        });
        let shown = shown(&json!({ "mode": "form", "message": "Which\u{202e}?", "requestedSchema": form }));
        assert_eq!(shown["message"], "The MCP server shop asks: Which⟦U+202E⟧?");
        let form = &shown["requestedSchema"];
        assert_eq!((&form["title"], &form["description"]), (&json!("Your⟦U+202E⟧ order"), &json!("Now⟦U+200B⟧")));
        let expected = json!({
            "plain": { "type": "string", "title": "Name", "default": "x" },
            "named\u{202e}": { "type": "integer", "title": "named⟦U+202E⟧", "description": "How⟦U+2066⟧ many" },
            "size": { "type": "string", "enum": ["s", "\u{202e}m"], "enumNames": ["s", "⟦U+202E⟧m"] },
            "colour": { "type": "string", "enum": ["r"], "enumNames": ["R⟦U+202E⟧ed"] },
            "kind": { "type": "string", "oneOf": [{ "const": "a\u{202e}", "title": "A⟦U+202E⟧" }] },
            "extras": { "type": "array", "items": { "anyOf": [{ "const": "x\u{202e}", "title": "x⟦U+202E⟧" }] } },
        });
        assert_eq!(form["properties"], expected);
    }

    #[test]
    fn no_address_hides_where_it_leads() {
        let url = "https://shop.example/\u{202e}pay\n?a=ü";
        let shown = shown(&json!({ "mode": "url", "message": "Pay", "url": url, "elicitationId": "1" }));
        assert_eq!(shown["url"], "https://shop.example/%E2%80%AEpay%0A?a=ü");
    }
}
