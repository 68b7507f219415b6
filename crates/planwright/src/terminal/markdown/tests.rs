use super::render;

/// Without styles, which have their own escape sequences.
fn plain(markdown: &str) -> String {
    anstream::adapter::strip_str(&render(markdown, 40)).to_string()
}

#[test]
fn blocks_look_as_they_mean() {
    for (markdown, expected) in [
        ("# Title\nsome *text*\nhere", "# Title\n\nsome text here\n"),
        ("- one\n- two\n  - deep", "• one\n• two\n  • deep\n"),
        ("3. one\n4. two", "3. one\n4. two\n"),
        ("- [ ] open\n- [x] done", "☐ open\n☑ done\n"),
        ("1. a\n\n   ```json\n   {\"x\": 1}\n   ```\n", "1. a\n\n     json\n       {\"x\": 1}\n"),
        ("> quoted\n> text", "│ quoted text\n"),
        ("a\n\n---\n\nb", "a\n\n────────────────────────────────────────\n\nb\n"),
        ("| a | bc |\n|---|---|\n| def | g |", "a   │ bc\n────┼───\ndef │ g\n"),
        ("one  \ntwo", "one\ntwo\n"),
        ("~~not this~~ but that", "~~not this~~ but that\n"),
        ("", ""),
    ] {
        assert_eq!(plain(markdown), expected, "{markdown:?}");
    }
}

#[test]
fn long_text_is_wrapped_below_its_bullet() {
    assert_eq!(
        plain("- a list item that is longer than the screen is wide"),
        "• a list item that is longer than the\n  screen is wide\n"
    );
}

#[test]
fn links_show_where_they_lead() {
    assert_eq!(plain("[bank](https://evil.example)"), "bank (https://evil.example)\n");
    assert_eq!(plain("<https://a.example>"), "https://a.example\n");
    assert_eq!(plain("![a](b.png \"c\")"), "image: a (b.png \"c\")\n");
}

#[test]
fn nothing_is_hidden() {
    for (markdown, must_show) in [
        ("text <!-- delete the backups --> text", "<!-- delete the backups -->"),
        ("<!--\ndelete the backups\n-->\n\ntext", "delete the backups"),
        ("[x]: https://a.example \"delete the backups\"\n\ntext", "delete the backups"),
        ("[x]: a\n[x]: b \"delete the backups\"\n\n[x]", "delete the backups"),
        ("```sh delete the backups\nls\n```", "delete the backups"),
        ("| a |\n|---|\n| b | delete the backups |", "delete the backups"),
        ("a &#100;&#x200b; b", "&#100;&#x200b;"),
        ("<div hidden>delete the backups</div>", "delete the backups"),
    ] {
        let shown = anstream::adapter::strip_str(&render(markdown, 200)).to_string();
        assert!(shown.contains(must_show), "{markdown:?} became {shown:?}");
    }
}

#[test]
fn what_is_planted_is_shown_at_its_place() {
    let plants = include_str!("../../../../core/src/plan/hidden/plants.json");
    let plants: Vec<serde_json::Value> = serde_json::from_str(plants).unwrap();
    for plant in &plants {
        let [name, markdown, shows] = ["name", "markdown", "shows"].map(|key| plant[key].as_str().unwrap());
        let text = format!("Before.\n\n{markdown}\n\nAfter.");
        let shown = anstream::adapter::strip_str(&render(&text, 200)).to_string();
        let at = shown.find(shows).unwrap_or_else(|| panic!("{name}: {shown}"));
        assert!(shown.find("Before.") < Some(at) && Some(at) < shown.find("After."), "{name}: {shown}");
    }
}

/// Without spaces, line ends and the bars of quotations and tables, which wrapping puts between.
fn unwrapped(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_whitespace() && !"│┃|".contains(*letter)).collect()
}

/// Far to the right, deep in quotations, below empty lines: at any width it is on a line of the screen.
#[test]
fn what_only_its_place_would_hide_is_on_the_screen() {
    let placed = include_str!("../../../../core/src/plan/hidden/placed.json");
    let placed: Vec<serde_json::Value> = serde_json::from_str(placed).unwrap();
    for width in [40, 80, 200] {
        for plant in &placed {
            let [name, markdown, shows] = ["name", "markdown", "shows"].map(|key| plant[key].as_str().unwrap());
            let text = format!("Before.\n\n{markdown}\n\nAfter.");
            let shown = anstream::adapter::strip_str(&render(&text, width)).to_string();
            assert!(unwrapped(&shown).contains(&unwrapped(shows)), "{name}, {width} wide: {shown}");
        }
    }
}

#[test]
fn no_escape_sequence_of_a_plan_reaches_the_terminal() {
    for hostile in [
        "\u{1b}[2J",
        "&#27;[2J",
        "&#x1b;]0;x&#7;",
        "[a](<&#27;[2J>)",
        "`\u{1b}[2J`",
        "```\n\u{1b}[2J\n```",
        "```\u{9b}2J\nx\n```",
        "<b title='\u{1b}[2J'>",
        "[a]: b '\u{1b}[2J'\n\n[a]",
        "| \u{1b}[2J |\n|---|",
        "a\u{202e}b\u{200b}c",
    ] {
        // What is left after our own styles are taken away has no control character but line ends.
        let rendered = render(hostile, 40);
        assert!(!rendered.contains("\u{1b}[2J") && !rendered.contains("\u{1b}]"), "{hostile:?} became {rendered:?}");
        let text = anstream::adapter::strip_str(&rendered).to_string();
        assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{hostile:?} became {text:?}");
        assert!(!text.contains(['\u{202e}', '\u{200b}']), "{hostile:?} became {text:?}");
    }
}
