//! What Telegram refuses in a message. Here also what it silently drops is refused, so that a test finds it.

use serde_json::Value;

const MAX_TEXT: usize = 4_096;
const MAX_ENTITIES: usize = 100;
const MAX_DATA: usize = 64;

pub(super) fn message(params: &Value) -> Result<(), String> {
    let text = params["text"].as_str().unwrap_or_default();
    if text.trim().is_empty() {
        return Err("message text is empty".to_owned());
    }
    let wide: Vec<u16> = text.encode_utf16().collect();
    if wide.len() > MAX_TEXT {
        return Err("message is too long".to_owned());
    }
    entities(&wide, params["entities"].as_array().map(Vec::as_slice).unwrap_or_default())?;
    let rows = params["reply_markup"]["inline_keyboard"].as_array().cloned().unwrap_or_default();
    for button in rows.iter().flat_map(|row| row.as_array().cloned().unwrap_or_default()) {
        let data = button["callback_data"].as_str();
        if data.is_some_and(|data| data.is_empty() || data.len() > MAX_DATA) {
            return Err("BUTTON_DATA_INVALID".to_owned());
        }
        if data.is_none() && button["url"].as_str().is_none() {
            return Err("text buttons are unallowed in the inline keyboard".to_owned());
        }
    }
    Ok(())
}

fn entities(text: &[u16], entities: &[Value]) -> Result<(), String> {
    if entities.len() > MAX_ENTITIES {
        return Err("too many entities".to_owned());
    }
    let mut ranges: Vec<(usize, usize, &str)> = Vec::new();
    for entity in entities {
        let number = |name: &str| entity[name].as_u64().and_then(|number| usize::try_from(number).ok());
        let (Some(offset), Some(length), Some(kind)) = (number("offset"), number("length"), entity["type"].as_str())
        else {
            return Err(format!("can't parse entities: {entity}"));
        };
        let end = offset + length;
        let splits_pair = |at: usize| at > 0 && text.get(at).is_some_and(|unit| (0xdc00..0xe000).contains(unit));
        if length == 0 || end > text.len() || splits_pair(offset) || splits_pair(end) {
            return Err(format!("can't parse entities: {entity} is not in the text"));
        }
        if kind == "text_link" && !entity["url"].as_str().is_some_and(|url| url.starts_with("http")) {
            return Err(format!("can't parse entities: {entity} has no address"));
        }
        for (other_offset, other_end, other) in &ranges {
            let apart = end <= *other_offset || *other_end <= offset;
            let nested =
                (*other_offset <= offset && end <= *other_end) || (offset <= *other_offset && *other_end <= end);
            if !apart && !nested {
                return Err(format!("can't parse entities: {entity} crosses another one"));
            }
            let has_code = [kind, other].iter().any(|kind| matches!(*kind, "code" | "pre"));
            if !apart && has_code {
                return Err(format!("can't parse entities: {entity} and {other} cannot be nested"));
            }
        }
        ranges.push((offset, end, kind));
    }
    Ok(())
}
