//! A field or an element of a JSON file, put in and taken out with everything else kept as it is written: comments, order,
//! numbers, escapes, line ends.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use serde_json::Value;

/// An object may be asked for where the client also takes one word for all of it: `"bash": "ask"` in opencode.
const WORD_FOR_ALL: &str = "permission";
const BYTE_ORDER_MARK: char = '\u{feff}';

type Edited = Result<String, String>;

pub(super) fn value_at(text: &str, path: &[&str]) -> Result<Option<Value>, String> {
    let root = parse(text)?;
    let Some(mut value) = root.to_serde_value() else { return Ok(None) };
    check_once(&root, path)?;
    for name in path {
        match value.get_mut(name) {
            Some(next) => value = next.take(),
            None => return Ok(None),
        }
    }
    Ok(Some(value))
}

pub(super) fn set_field(text: &str, path: &[&str], value: &Value) -> Edited {
    edited(text, path, |root| {
        let (last, before) = path.split_last().ok_or_else(odd)?;
        let object = object_at(root, before)?;
        match object.get(last) {
            Some(field) => field.set_value(input(value)),
            None => drop(object.append(last, input(value))),
        }
        Ok(())
    })
}

pub(super) fn add_element(text: &str, path: &[&str], value: &Value) -> Edited {
    edited(text, path, |root| {
        let (last, before) = path.split_last().ok_or_else(odd)?;
        let list = object_at(root, before)?.array_value_or_create(last).ok_or_else(odd)?;
        list.append(input(value));
        Ok(())
    })
}

pub(super) fn remove_field(text: &str, path: &[&str]) -> Edited {
    edited(text, path, |root| {
        let (last, before) = path.split_last().ok_or_else(odd)?;
        if let Some(field) = found_object(root, before).and_then(|object| object.get(last)) {
            field.remove();
        }
        prune(root, before);
        Ok(())
    })
}

pub(super) fn remove_element(text: &str, path: &[&str], value: &Value) -> Edited {
    edited(text, path, |root| {
        let (last, before) = path.split_last().ok_or_else(odd)?;
        let Some(object) = found_object(root, before) else { return Ok(()) };
        let Some(list) = object.array_value(last) else { return Ok(()) };
        for element in list.elements() {
            if element.to_serde_value().as_ref() == Some(value) {
                element.remove();
            }
        }
        if list.elements().is_empty() {
            if let Some(field) = object.get(last) {
                field.remove();
            }
            prune(root, before);
        }
        Ok(())
    })
}

fn edited(text: &str, path: &[&str], change: impl FnOnce(&CstRootNode) -> Result<(), String>) -> Edited {
    let mark = if text.starts_with(BYTE_ORDER_MARK) { "\u{feff}" } else { "" };
    let is_new = text.trim_start_matches(BYTE_ORDER_MARK).trim().is_empty();
    let root = parse(text)?;
    check_once(&root, path)?;
    if root.value().is_some() && root.object_value().is_none() {
        return Err(odd());
    }
    change(&root)?;
    let end = if is_new { "\n" } else { "" };
    let changed = format!("{mark}{}{end}", root.to_string().trim_start_matches(BYTE_ORDER_MARK));
    parse(&changed)?;
    Ok(changed)
}

/// JSON as the clients take it: with comments and commas at the end.
fn parse(text: &str) -> Result<CstRootNode, String> {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let text = text.trim_start_matches(BYTE_ORDER_MARK);
    let text = if text.trim().is_empty() { "{}" } else { text };
    CstRootNode::parse(text, &options).map_err(|error| format!("it is not JSON: {error}"))
}

fn odd() -> String {
    "a field in it has another type than the client gives it".to_owned()
}

/// A name that stands twice on the way is not changed: programs differ in which one counts.
fn check_once(root: &CstRootNode, path: &[&str]) -> Result<(), String> {
    let mut object = root.object_value();
    for name in path {
        let Some(found) = object else { return Ok(()) };
        let named = found.properties().into_iter();
        if named.filter(|field| field.decoded_name().as_deref() == Some(name)).count() > 1 {
            return Err(format!("`{name}` is in it twice"));
        }
        object = found.object_value(name);
    }
    Ok(())
}

/// The object at the path, which is made if it is missing.
fn object_at(root: &CstRootNode, path: &[&str]) -> Result<CstObject, String> {
    let mut object = root.object_value_or_create().ok_or_else(odd)?;
    for name in path {
        if path[0] == WORD_FOR_ALL
            && let Some(field) = object.get(name)
            && let Some(word) = field.to_serde_value_of_field()
        {
            field.set_value(CstInputValue::Object(vec![("*".to_owned(), CstInputValue::String(word))]));
        }
        object = object.object_value_or_create(name).ok_or_else(odd)?;
    }
    Ok(object)
}

trait FieldWord {
    fn to_serde_value_of_field(&self) -> Option<String>;
}

impl FieldWord for jsonc_parser::cst::CstObjectProp {
    /// The value, if it is a text.
    fn to_serde_value_of_field(&self) -> Option<String> {
        self.value()?.to_serde_value()?.as_str().map(str::to_owned)
    }
}

fn found_object(root: &CstRootNode, path: &[&str]) -> Option<CstObject> {
    path.iter().try_fold(root.object_value()?, |object, name| object.object_value(name))
}

/// Takes out objects that are empty now.
fn prune(root: &CstRootNode, path: &[&str]) {
    for depth in (1..=path.len()).rev() {
        let is_empty = found_object(root, &path[..depth]).is_some_and(|object| object.properties().is_empty());
        let field = found_object(root, &path[..depth - 1]).and_then(|object| object.get(path[depth - 1]));
        if let (true, Some(field)) = (is_empty, field) {
            field.remove();
        }
    }
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(value) => CstInputValue::Number(value.to_string()),
        Value::String(value) => CstInputValue::String(value.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        Value::Object(fields) => {
            CstInputValue::Object(fields.iter().map(|(name, value)| (name.clone(), input(value))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const PATH: &[&str] = &["mcpServers", "planwright"];

    #[test]
    fn everything_else_stays_as_it_is_written() {
        for text in [
            "// mine\n{\n  \"big\": 12345678901234567890123, // a number\n  \"a\": 1, \"a\": 2,\n}\n",
            "{\r\n\t\"path\": \"C:\\u005cx\",\r\n\t\"mcpServers\": {\r\n\t\t\"other\": { \"command\": \"x\" }\r\n\t}\r\n}\r\n",
            "\u{feff}{\"theme\":\"dark\",\"n\":1.0}",
        ] {
            let put_in = set_field(text, PATH, &json!({ "command": "planwright" })).unwrap();
            assert_eq!(value_at(&put_in, PATH), Ok(Some(json!({ "command": "planwright" }))), "{put_in}");
            assert_eq!(put_in.contains("\r\n"), text.contains("\r\n"));
            assert_eq!(put_in.starts_with('\u{feff}'), text.starts_with('\u{feff}'));
            let unbroken = |text: &str| text.replace("\r\n", "\n").matches('\r').count();
            assert_eq!(unbroken(&put_in), 0);
            for kept in [
                "12345678901234567890123, // a number",
                "\"a\": 1, \"a\": 2",
                "C:\\u005cx",
                "{ \"command\": \"x\" }",
                "1.0",
            ] {
                assert_eq!(put_in.contains(kept), text.contains(kept), "{kept}: {put_in}");
            }
            assert_eq!(value_at(&remove_field(&put_in, PATH).unwrap(), PATH), Ok(None));
        }
    }

    #[test]
    fn a_word_for_all_tools_becomes_a_rule_beside_the_new_one() {
        let path = &["permission", "bash", "planwright plan approve*"];
        for (text, expected) in [
            (
                r#"{ "permission": { "bash": "ask" } }"#,
                json!({ "bash": { "*": "ask", "planwright plan approve*": "deny" } }),
            ),
            (r#"{ "permission": "ask" }"#, json!({ "*": "ask", "bash": { "planwright plan approve*": "deny" } })),
        ] {
            let edited = set_field(text, path, &json!("deny")).unwrap();
            assert_eq!(value_at(&edited, &["permission"]), Ok(Some(expected)), "{edited}");
        }
    }

    #[test]
    fn a_file_that_cannot_be_changed_safely_is_refused() {
        for (text, expected) in [
            ("{ \"mcpServers\": {}, \"mcpServers\": {} }", "twice"),
            ("{ \"mcpServers\": [] }", "another type"),
            ("[]", "another type"),
            ("{ \"a\": 1 \"b\": 2 }", "not JSON"),
            ("{", "not JSON"),
        ] {
            let refused = set_field(text, PATH, &json!({})).expect_err(text);
            assert!(refused.contains(expected), "{text}: {refused}");
        }
    }
}
