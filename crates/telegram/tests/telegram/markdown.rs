//! For any Markdown, what Telegram gets is valid and whole.

use planwright_telegram::markdown::{FormattedText, LONGEST_TEXT, LinkStyle, Look, MOST_ENTITIES, units};
use proptest::prelude::*;

fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "**",
            "*",
            "_",
            "`",
            "```\n",
            "```rust\n",
            "~~",
            "# ",
            "- ",
            "1. ",
            "> ",
            "[",
            "](",
            ")",
            "](https://a.example/x)",
            "![",
            "\n",
            "\n\n",
            "  ",
            "|",
            "|---|\n",
            "- [ ] ",
            "- [x] ",
            "<b>",
            "</b>",
            "<!-- x -->",
            "&amp;",
            "\\",
            "---\n",
            "\t",
            "🙂",
            "é",
            "\u{202e}",
            "\u{0}",
            "\r\n",
            "[^1]",
            "$$",
            "~",
        ])
        .prop_map(str::to_owned),
        "[a-zA-Z0-9 ]{1,12}",
        "\\PC{1,6}",
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

fn check(formatted: &FormattedText) {
    let wide: Vec<u16> = formatted.text.encode_utf16().collect();
    let is_low = |at: usize| wide.get(at).is_some_and(|unit| (0xdc00..0xe000).contains(unit));
    let mut seen: Vec<(usize, usize, bool)> = Vec::new();
    for entity in &formatted.entities {
        let (from, to) = (entity.offset, entity.offset + entity.length);
        assert!(from < to && to <= wide.len(), "{formatted:?}");
        assert!(!is_low(from) && !is_low(to), "{formatted:?}");
        let is_code = matches!(entity.look, Look::Code | Look::Pre { .. });
        for (other_from, other_to, other_is_code) in &seen {
            let apart = to <= *other_from || *other_to <= from;
            let nested = (*other_from <= from && to <= *other_to) || (from <= *other_from && *other_to <= to);
            assert!(apart || (nested && !is_code && !other_is_code), "{formatted:?}");
        }
        seen.push((from, to, is_code));
    }
}

fn letters(text: &str) -> String {
    text.chars().filter(|letter| letter.is_ascii_alphanumeric()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_markdown_is_valid_and_whole(source in pieces(), limit in prop::sample::select(vec![2_usize, 7, 64, LONGEST_TEXT])) {
        let whole = FormattedText::markdown(&source, LinkStyle::Hidden);
        check(&whole);
        let parts = whole.clone().split(limit);
        for part in &parts {
            prop_assert!(units(&part.text) <= limit && !part.text.is_empty());
            prop_assert!(part.entities.len() <= MOST_ENTITIES);
            check(part);
        }
        let joined: String = parts.iter().map(|part| part.text.as_str()).collect();
        prop_assert_eq!(joined, whole.text);
    }

    /// Text without any markup is not changed.
    #[test]
    fn plain_words_stay_as_they_are(source in "[a-zA-Z0-9]{1,20}( [a-zA-Z0-9]{1,20}){0,40}") {
        let whole = FormattedText::markdown(&source, LinkStyle::Hidden);
        prop_assert_eq!(whole.text, source);
    }

    /// Words are kept in their order wherever the markup is.
    #[test]
    fn words_between_marks_are_kept(words in prop::collection::vec("[a-zA-Z]{1,8}", 1..12), marks in prop::collection::vec(prop::sample::select(vec!["**", "*", "`", "~~", "\n\n", "\n# ", "\n- ", "\n> ", " "]), 12)) {
        let source: String = words.iter().zip(&marks).map(|(word, mark)| format!("{mark}{word}")).collect();
        let whole = FormattedText::markdown(&source, LinkStyle::Hidden);
        prop_assert_eq!(letters(&whole.text), words.concat());
    }
}
