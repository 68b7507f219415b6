//! JSON as it is printed. Characters that control a terminal or hide text are written as `\u…`: the JSON stays the same
//! value, and a terminal shows it harmlessly.

use std::fmt::Write as _;

use planwright_core::visible::visible;
use serde::Serialize;

use crate::failure::Failure;

/// On several lines, for one answer.
pub(crate) fn pretty(value: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string_pretty(value).map(escaped).map_err(unwritable)
}

/// On one line, for one of several answers.
pub(crate) fn line(value: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string(value).map(escaped).map_err(unwritable)
}

fn unwritable(error: serde_json::Error) -> Failure {
    Failure::unexpected(format!("the answer cannot be written as JSON: {error}"))
}

/// Outside of its strings, JSON has no character that is escaped here.
fn escaped(json: String) -> String {
    if !json.contains(is_hidden) {
        return json;
    }
    let mut text = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if is_hidden(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(text, "\\u{unit:04x}");
            }
        } else {
            text.push(c);
        }
    }
    text
}

fn is_hidden(c: char) -> bool {
    match c {
        '\n' | ' '..='~' => false,
        '\0'..='\u{9f}' => true,
        c => *visible(c.encode_utf8(&mut [0; 4])) != *c.encode_utf8(&mut [0; 4]),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn the_value_stays_the_same_and_nothing_in_it_controls_a_terminal() {
        let value = json!({ "a\u{202e}": "\u{9b}2J \u{7f} \u{1b} żółć 漢 \u{e0041}\u{200b}", "list": ["\n\t\"\\"] });
        for text in [pretty(&value).unwrap(), line(&value).unwrap()] {
            assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
            assert!(!text.contains(is_hidden), "{text:?}");
            assert!(text.contains("żółć 漢"), "{text}");
            assert!(text.contains("\\u202e") && text.contains("\\u009b") && text.contains("\\udb40\\udc41"), "{text}");
        }
    }
}
