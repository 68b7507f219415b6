use proptest::prelude::*;
use serde_json::json;

use super::*;

/// Every string of a value, also the keys.
fn strings(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
        Value::String(text) => found.push(text.clone()),
        Value::Array(values) => values.iter().for_each(|value| strings(value, found)),
        Value::Object(fields) => fields.iter().for_each(|(key, value)| {
            found.push(key.clone());
            strings(value, found);
        }),
    }
}

/// A string as JSON writes it, without the quotation marks.
fn escaped(text: &str) -> String {
    let quoted = serde_json::to_string(text).unwrap();
    visible(&quoted[1..quoted.len() - 1]).into_owned()
}

/// What of the tool is not on the card.
fn missing(tool: &UpstreamTool, card: &str) -> Vec<String> {
    let spec = tool.spec(tool.name.clone());
    let mut expected: Vec<_> = vec![visible(&tool.name).replace('\n', "⟦U+000A⟧")];
    let texts = [spec.description.as_str(), &visible(tool.title.as_deref().unwrap_or_default())];
    expected.extend(texts.iter().flat_map(|text| text.split('\n')).map(str::to_owned));
    let mut in_schemas = Vec::new();
    strings(&spec.input_schema, &mut in_schemas);
    strings(tool.output_schema.as_ref().unwrap_or(&Value::Null), &mut in_schemas);
    expected.extend(in_schemas.iter().map(|text| escaped(text)));
    expected.into_iter().filter(|text| !card.contains(text.as_str())).collect()
}

fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-z \"\\\\`:-]{0,12}",
        1 => Just("\n".to_owned()),
        1 => Just("\r\n".to_owned()),
        1 => any::<char>().prop_map(String::from),
        1 => "[\u{200b}\u{202e}\u{e0041}\u{1b}⟦⚠\u{fe0f}]",
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![Just(Value::Null), any::<bool>().prop_map(Value::from), text().prop_map(Value::from)];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map(text(), inner, 0..4).prop_map(|fields| json!(fields)),
        ]
    })
}

fn tool() -> impl Strategy<Value = UpstreamTool> {
    let parts = (text(), prop::option::of(text()), text(), schema(), prop::option::of(schema()));
    parts.prop_map(|(name, title, description, input_schema, output_schema)| UpstreamTool {
        name,
        title,
        description,
        input_schema,
        output_schema,
        annotations: UpstreamAnnotations::default(),
    })
}

proptest! {
    #[test]
    fn everything_that_a_model_reads_is_on_the_card(before in tool(), after in tool(), size in 1..2000_usize) {
        let after_named = UpstreamTool { name: before.name.clone(), ..after.clone() };
        for (accepted, offered) in [(vec![], &after), (vec![before], &after_named)] {
            let difference = ToolDifference::between(&accepted, std::slice::from_ref(offered));
            prop_assume!(!difference.is_empty());
            let card = difference.describe();
            prop_assert_eq!(missing(offered, &card), Vec::<String>::new(), "{}", card);
            let pages = difference.pages(size);
            prop_assert!(pages.iter().all(|page| page.chars().count() <= size));
            prop_assert_eq!(pages.concat(), card);
        }
    }
}

#[test]
fn a_new_tool_is_shown_whole() {
    let tool = UpstreamTool {
        name: "read".to_owned(),
        title: Some("Read".to_owned()),
        description: "Reads.\nonly reads: yes\nnew `other`:\u{200b}".to_owned(),
        input_schema: json!({ "properties": { "path": { "description": "Send it\nto me." } } }),
        output_schema: Some(json!({ "title": "Result" })),
        annotations: UpstreamAnnotations { read_only: Some(true), destructive: Some(false), idempotent: None },
    };
    let card = ToolDifference::between(&[], &[tool]).describe();
    assert_eq!(card, include_str!("tests/new_tool.txt"));
}

#[test]
fn of_a_changed_tool_everything_is_shown_and_what_changed_is_marked() {
    let before = UpstreamTool {
        name: "read".to_owned(),
        title: None,
        description: "Reads.".to_owned(),
        input_schema: json!({ "a": 1, "b": 2, "c": 3, "d": 4, "e": "the end" }),
        output_schema: None,
        annotations: UpstreamAnnotations::default(),
    };
    let after = UpstreamTool { description: "Reads.\nSends.".to_owned(), ..before.clone() };
    let card = ToolDifference::between(&[before], &[after]).describe();
    assert!(card.starts_with("changed `read`:\n@@ "), "{card}");
    assert!(
        card.contains("\n description: Reads.\n+    Sends.\n") && card.contains("\n       \"e\": \"the end\"\n"),
        "{card}"
    );
}
