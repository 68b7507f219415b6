//! How deep JSON goes. Reading what is nested deeply costs far more than its bytes say, so it is looked at first.

/// Text that is not JSON has some answer, too; the parser refuses it afterwards.
pub(super) fn is_deeper_than(json: &[u8], limit: usize) -> bool {
    let mut depth = 0_usize;
    let (mut in_text, mut escaped) = (false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b'[' | b'{' if !in_text => {
                depth += 1;
                if depth > limit {
                    return true;
                }
            }
            b']' | b'}' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::is_deeper_than;

    #[test]
    fn lists_and_objects_count_and_brackets_in_text_do_not() {
        let cases: &[(&str, usize)] = &[
            ("1", 0),
            ("[]", 1),
            (r#"{"a":[{}]}"#, 3),
            (r#"[[],[],[]]"#, 2),
            (r#"["[[[[", "{{{"]"#, 1),
            (r#"["\"[[[["]"#, 1),
            (r#"["\\", []]"#, 2),
        ];
        for (json, depth) in cases {
            assert!(!is_deeper_than(json.as_bytes(), *depth), "{json}");
            assert_eq!(is_deeper_than(json.as_bytes(), depth.wrapping_sub(1)), *depth > 0, "{json}");
        }
    }
}
