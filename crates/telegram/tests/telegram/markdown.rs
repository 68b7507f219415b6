//! For any Markdown, what Telegram gets is valid and whole.

use planwright_core::visible::visible;
use planwright_llm::scripted::Reply;
use planwright_telegram::markdown::{FormattedText, LinkStyle, Look, MAX_ENTITIES, MAX_TEXT, units};
use planwright_test_support::bot_api::SentMessage;
use proptest::prelude::*;

use crate::world::{ADA, World, plan};

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

/// The looks of each UTF-16 unit of a text, in the order of their names.
fn looks_by_unit(formatted: &FormattedText) -> Vec<Vec<String>> {
    let mut looks = vec![Vec::new(); units(&formatted.text)];
    for entity in &formatted.entities {
        for unit in &mut looks[entity.offset..entity.offset + entity.length] {
            unit.push(format!("{:?}", entity.look));
        }
    }
    looks.iter_mut().for_each(|looks| looks.sort());
    looks
}

/// Marks around marks around words, with characters of one and of two UTF-16 units.
fn nested() -> impl Strategy<Value = String> {
    let leaf = prop_oneof!["[a-z ]{1,20}", "(🙂|𝒳|é|日){1,8}", Just("`let x = \"🙂\";`".to_owned())];
    leaf.prop_recursive(5, 40, 4, |inner| {
        let wrap = |before: &'static str, after: &'static str| {
            move |pieces: Vec<String>| format!("{before}{}{after}", pieces.join(" x "))
        };
        let pieces = prop::collection::vec(inner, 1..4);
        prop_oneof![
            pieces.clone().prop_map(wrap("**", "**")),
            pieces.clone().prop_map(wrap("*", "*")),
            pieces.clone().prop_map(wrap("~~", "~~")),
            pieces.clone().prop_map(wrap("[", "](https://a.example/🙂)")),
            pieces.clone().prop_map(wrap("[", "](https://a.example/x)")),
            pieces.clone().prop_map(wrap("> ", "\n\n")),
            pieces.clone().prop_map(wrap("- ", "\n")),
            pieces.prop_map(wrap("# ", "\n\n")),
        ]
    })
}

/// A text around the limit of one message: words, a code block, and more words.
fn long_with_code() -> impl Strategy<Value = (String, String)> {
    let before = prop::collection::vec("w[a-z🙂 ]{0,300}", 0..30).prop_map(|pieces| pieces.join("\n\n"));
    let line = prop_oneof!["[a-z(){};= ]{0,60}x", "(🙂|x){1,40}"];
    let code = prop::collection::vec(line, 1..300).prop_map(|lines| lines.join("\n"));
    (before, code, "w[a-z ]{0,60}")
        .prop_map(|(before, code, after)| (format!("{before}\n\n```rust\n{code}\n```\n\n{after}"), code))
}

fn letters(text: &str) -> String {
    text.chars().filter(|letter| letter.is_ascii_alphanumeric()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_markdown_is_valid_and_whole(source in pieces(), limit in prop::sample::select(vec![2_usize, 7, 64, MAX_TEXT])) {
        let whole = FormattedText::markdown(&source, LinkStyle::Hidden);
        check(&whole);
        let parts = whole.clone().split(limit);
        for part in &parts {
            prop_assert!(units(&part.text) <= limit && !part.text.is_empty());
            prop_assert!(part.entities.len() <= MAX_ENTITIES);
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Nested marks: every character keeps its looks, in whichever message it is.
    #[test]
    fn a_split_text_looks_like_the_whole(pieces in prop::collection::vec(nested(), 1..12), limit in prop::sample::select(vec![2_usize, 3, 16, 100, MAX_TEXT])) {
        let whole = FormattedText::markdown(&pieces.join("\n\n"), LinkStyle::Hidden);
        check(&whole);
        let looks = looks_by_unit(&whole);
        let mut at = 0;
        for part in whole.clone().split(limit) {
            let length = units(&part.text);
            prop_assert!(length <= limit.max(2));
            check(&part);
            if part.entities.len() < MAX_ENTITIES {
                prop_assert_eq!(looks_by_unit(&part), &looks[at..at + length]);
            }
            at += length;
        }
        prop_assert_eq!(at, looks.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// A code block over several messages is code in each of them, and no character of it is lost.
    #[test]
    fn a_long_code_block_is_code_in_every_message((source, code) in long_with_code()) {
        let whole = FormattedText::markdown(&source, LinkStyle::Hidden);
        check(&whole);
        let parts = whole.clone().split(MAX_TEXT);
        let mut shown = String::new();
        for part in &parts {
            prop_assert!(units(&part.text) <= MAX_TEXT);
            prop_assert!(part.entities.len() <= MAX_ENTITIES);
            check(part);
            let wide: Vec<u16> = part.text.encode_utf16().collect();
            for entity in part.entities.iter().filter(|entity| matches!(entity.look, Look::Pre { .. })) {
                shown.push_str(&String::from_utf16(&wide[entity.offset..entity.offset + entity.length]).unwrap());
            }
        }
        let joined: String = parts.iter().map(|part| part.text.as_str()).collect();
        prop_assert_eq!(joined, whole.text);
        let cut = parts.iter().any(|part| part.entities.len() == MAX_ENTITIES);
        prop_assert!(cut || shown.trim_end() == code.trim_end(), "{shown:?} is not {code:?}");
    }

    /// Exactly at the limit, with characters of two units around it.
    #[test]
    fn the_limit_is_in_utf_16_units(before in 4_080_usize..4_100, wide in 1_usize..20) {
        let source = format!("{}{}", "a".repeat(before), "🙂".repeat(wide));
        let whole = FormattedText::markdown(&source, LinkStyle::Hidden);
        let parts = whole.clone().split(MAX_TEXT);
        prop_assert_eq!(parts.len(), units(&source).div_ceil(MAX_TEXT));
        for part in &parts {
            prop_assert!(units(&part.text) <= MAX_TEXT);
            check(part);
        }
        prop_assert_eq!(parts.iter().map(|part| part.text.as_str()).collect::<String>(), source);
    }
}

/// What a rendering would leave out.
fn plants() -> Vec<(String, String, String)> {
    read(include_str!("../../../core/src/plan/hidden/plants.json"))
}

/// What only its place would hide.
fn placed() -> Vec<(String, String, String)> {
    read(include_str!("../../../core/src/plan/hidden/placed.json"))
}

fn read(plants: &str) -> Vec<(String, String, String)> {
    let plants: Vec<serde_json::Value> = serde_json::from_str(plants).unwrap();
    let text = |plant: &serde_json::Value, key| plant[key].as_str().unwrap().to_owned();
    plants.iter().map(|plant| (text(plant, "name"), text(plant, "markdown"), text(plant, "shows"))).collect()
}

#[test]
fn what_is_planted_in_a_text_to_decide_about_is_shown_at_its_place() {
    for (name, markdown, shows) in plants() {
        let source = format!("Before.\n\n{markdown}\n\nAfter.");
        let shown = FormattedText::markdown(&source, LinkStyle::Written);
        check(&shown);
        let at = shown.text.find(&shows).unwrap_or_else(|| panic!("{name}: {}", shown.text));
        let (before, after) = (shown.text.find("Before."), shown.text.find("After."));
        assert!(before < Some(at) && Some(at) < after, "{name}: {}", shown.text);
    }
}

#[tokio::test]
async fn the_card_of_a_plan_shows_what_is_planted_in_it() {
    let (with_definitions, without): (Vec<_>, Vec<_>) =
        plants().into_iter().partition(|(_, markdown, _)| markdown.contains("]:"));
    let numbered = |text: &str, number: usize| text.replace("backups", &format!("backups{number:02}"));
    for plants in [with_definitions, without] {
        let parts: Vec<_> = plants.iter().zip(0..).map(|(plant, number)| numbered(&plant.1, number)).collect();
        let markdown = format!("- [ ] one\n- [ ] two\n\n{}", parts.join("\n\nwords\n\n"));
        let world = World::new([plan(&markdown), Reply::text("Look.")]).await;
        world.api.say(ADA, "/plan on");
        world.api.say(ADA, "tidy up");
        let is_card = |message: &SentMessage| message.labels().iter().any(|label| label.contains("Approve"));
        let card = world.api.wait_for(ADA, "a card", is_card).await;
        for ((name, _, shows), number) in plants.iter().zip(0..) {
            assert!(card.text.contains(&numbered(shows, number)), "{name}: {}", card.text);
        }
    }
}

#[test]
fn what_only_its_place_would_hide_is_in_the_text() {
    for (name, markdown, shows) in placed() {
        let shown = FormattedText::markdown(&visible(&markdown), LinkStyle::Written);
        check(&shown);
        assert!(shown.text.contains(&shows), "{name}: {}", shown.text);
    }
}

/// As many in one card as are shown whole.
#[tokio::test]
async fn the_card_of_a_plan_shows_what_only_its_place_would_hide() {
    const MAX_PLAN: usize = 2_000;
    let mut cards: Vec<Vec<(String, String, String)>> = vec![Vec::new()];
    for plant in placed() {
        let length: usize = cards.last().unwrap().iter().map(|(_, markdown, _)| markdown.len()).sum();
        if length + plant.1.len() > MAX_PLAN {
            cards.push(Vec::new());
        }
        cards.last_mut().unwrap().push(plant);
    }
    for plants in cards {
        let parts: Vec<_> = plants.iter().map(|(_, markdown, _)| markdown.as_str()).collect();
        let world =
            World::new([plan(&format!("- [ ] one\n\n{}", parts.join("\n\nwords\n\n"))), Reply::text("Look.")]).await;
        world.api.say(ADA, "/plan on");
        world.api.say(ADA, "tidy up");
        let is_card = |message: &SentMessage| message.labels().iter().any(|label| label.contains("Approve"));
        let card = world.api.wait_for(ADA, "a card", is_card).await;
        for (name, _, shows) in &plants {
            assert!(card.text.contains(shows), "{name}: {}", card.text);
        }
    }
}
