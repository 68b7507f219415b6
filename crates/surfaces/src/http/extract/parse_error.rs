//! The messages of the parsing libraries in plain words: they name types of the programming language.

/// What is wrong with a value, as the end of a sentence.
pub(super) fn explain(message: &str) -> String {
    let message = without_position(message);
    if let Some((found, expected)) = mismatch(message) {
        return format!("it is {}, and has to be {}", found_value(found), expected_value(expected));
    }
    if let Some(field) = message.strip_prefix("missing field ") {
        return format!("the field {field} is missing");
    }
    if let Some(field) = message.strip_prefix("duplicate field ") {
        return format!("the field {field} is given twice");
    }
    if let Some(rest) = message.strip_prefix("unknown field ") {
        return match rest.split_once(", expected ") {
            Some((field, expected)) => format!("there is no field {field}; possible is {}", alternatives(expected)),
            None => format!("there is no field {}", rest.split(',').next().unwrap_or(rest)),
        };
    }
    if let Some((variant, expected)) =
        message.strip_prefix("unknown variant ").and_then(|rest| rest.split_once(", expected "))
    {
        return format!("it is {variant}, and has to be {}", alternatives(expected));
    }
    match message {
        "invalid digit found in string" => "it is not a whole number".to_owned(),
        "number too large to fit in target type" => "the number is too large".to_owned(),
        "number too small to fit in target type" => "the number is too small".to_owned(),
        "number would be zero for non-zero type" => "it has to be a whole number above 0".to_owned(),
        "cannot parse integer from empty string" => "it is empty, and has to be a whole number".to_owned(),
        "provided string was not `true` or `false`" => "it has to be `true` or `false`".to_owned(),
        other => unparsable(other).unwrap_or_else(|| other.to_owned()),
    }
}

/// The position of a value is told by its path.
fn without_position(message: &str) -> &str {
    match message.rsplit_once(" at line ") {
        Some((text, position)) if position.starts_with(|letter: char| letter.is_ascii_digit()) => text,
        Some(_) | None => message,
    }
}

fn mismatch(message: &str) -> Option<(&str, &str)> {
    let rest = message.strip_prefix("invalid type: ").or_else(|| message.strip_prefix("invalid value: "))?;
    rest.rsplit_once(", expected ")
}

fn found_value(found: &str) -> String {
    let (kind, value) = found.split_once(' ').unwrap_or((found, ""));
    match kind {
        "integer" | "floating" => format!("the number {}", value.trim_start_matches("point ").trim_matches('`')),
        "string" => format!("the text {value}"),
        "boolean" => value.to_owned(),
        "sequence" => "a list".to_owned(),
        "map" => "an object".to_owned(),
        _ => found.to_owned(),
    }
}

fn expected_value(expected: &str) -> &str {
    match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" | "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        _ if expected.starts_with("a nonzero ") => "a whole number above 0",
        "f32" | "f64" => "a number",
        "a string" | "string" | "str" => "text",
        "a boolean" => "`true` or `false`",
        "a sequence" => "a list",
        "a map" => "an object",
        _ if expected.starts_with("struct ") => "an object",
        _ if expected.starts_with("enum ") || expected.starts_with("variant identifier") => "one of the listed words",
        other => other,
    }
}

fn alternatives(expected: &str) -> &str {
    expected.strip_prefix("one of ").unwrap_or(expected)
}

/// ``Cannot parse `number` with value `x` to a `u8` ``
fn unparsable(message: &str) -> Option<String> {
    let (name, rest) = message.strip_prefix("Cannot parse ")?.split_once(" with value ")?;
    let (value, kind) = rest.rsplit_once(" to a ")?;
    Some(format!("{name} is {value}, and has to be {}", expected_value(kind.trim_matches('`'))))
}

#[cfg(test)]
mod tests {
    use super::explain;

    #[test]
    fn no_message_names_a_type_of_the_programming_language() {
        for (message, expected) in [
            (
                "invalid type: integer `5`, expected a string at line 1 column 10",
                "it is the number 5, and has to be text",
            ),
            ("invalid type: string \"x\", expected u32", "it is the text \"x\", and has to be a whole number"),
            ("invalid type: floating point `1.5`, expected u32", "it is the number 1.5, and has to be a whole number"),
            (
                "invalid value: integer `0`, expected a nonzero u32",
                "it is the number 0, and has to be a whole number above 0",
            ),
            ("invalid value: integer `-1`, expected u64", "it is the number -1, and has to be a whole number"),
            ("invalid type: boolean `true`, expected a sequence", "it is `true`, and has to be a list"),
            ("invalid type: null, expected struct NewMessage", "it is null, and has to be an object"),
            ("missing field `token` at line 1 column 2", "the field `token` is missing"),
            ("duplicate field `token`", "the field `token` is given twice"),
            ("unknown field `more`, expected `token`", "there is no field `more`; possible is `token`"),
            ("unknown field `x`, expected one of `a`, `b`", "there is no field `x`; possible is `a`, `b`"),
            ("unknown field `x`, there are no fields", "there is no field `x`"),
            ("unknown variant `fax`, expected one of `web`, `cli`", "it is `fax`, and has to be `web`, `cli`"),
            ("invalid digit found in string", "it is not a whole number"),
            ("number too large to fit in target type", "the number is too large"),
            ("Cannot parse `number` with value `x` to a `u8`", "`number` is `x`, and has to be a whole number"),
            ("A digest has 64 hexadecimal digits.", "A digest has 64 hexadecimal digits."),
        ] {
            assert_eq!(explain(message), expected);
        }
    }
}
