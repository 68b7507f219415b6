//! A corpus of odd documents: what looks like a heading and is none, and what is one and does not look like it.

use planwright_core::workbook::sections::{Scope, headings, replace};

const CORPUS: &[(&str, &[&str])] = &[
    ("", &[]),
    ("\u{feff}", &[]),
    ("\n\n\n", &[]),
    ("# A", &["A"]),
    ("\u{feff}# A\n", &["A"]),
    ("   # Three spaces\n    # Four are code\n", &["Three spaces"]),
    ("#No space\n", &[]),
    ("#\tTab\n", &["Tab"]),
    ("#\n", &[""]),
    ("# A #\n## B ## \n### C \\#\n", &["A", "B", "C #"]),
    ("####### Seven\n", &[]),
    ("```\n# fenced\n```\n# A\n", &["A"]),
    ("~~~md\n# fenced\n```\n# still\n~~~\n# A\n", &["A"]),
    ("````\n```\n# fenced\n````\n# A\n", &["A"]),
    ("```\n# never closed\n", &[]),
    ("para\n    # lazy continuation\n# A\n", &["A"]),
    ("    # indented\n\n# A\n", &["A"]),
    ("\t# tab\n\n# A\n", &["A"]),
    ("> # quoted\n\n# A\n", &["A"]),
    ("> # quoted\n# A\n", &["A"]),
    ("- # in a list\n\n# A\n", &["A"]),
    ("1. item\n\n   # in the item\n\n# A\n", &["A"]),
    ("<!-- \n# comment\n-->\n# A\n", &["A"]),
    ("<!-- one line --> \n# A\n", &["A"]),
    ("<div>\n# html\n</div>\n\n# A\n", &["A"]),
    ("<div>\n\n# between html\n\n</div>\n", &["between html"]),
    ("<pre>\n\n# pre\n\n</pre>\n\n# A\n", &["A"]),
    ("<?php\n\n# php\n?>\n# A\n", &["A"]),
    ("Set\next\n===\n", &["Set ext"]),
    ("Setext\n   ---  \n", &["Setext"]),
    ("Not setext\n\n---\n# A\n", &["A"]),
    ("---\ntitle: x\n---\n# A\n", &["title: x", "A"]),
    ("- item\n---\n# A\n", &["A"]),
    ("| a | b |\n|---|---|\n| # c | d |\n# A\n", &["A"]),
    ("\\# escaped\n# A\n", &["A"]),
    ("text # not at the beginning\n", &[]),
    ("# A\r\n## B\r\n", &["A", "B"]),
    ("# A\r## B\r", &["A", "B"]),
    ("# A\n# A\n# A\n", &["A", "A", "A"]),
    ("# a\u{200b}b\n", &["a\u{200b}b"]),
    ("# [link](x) ![image](y) <b>\n", &["link image <b>"]),
    ("[ref]: /url\n# A [ref]\n", &["A ref"]),
    ("[ref]: /url\nTitle\n===\n", &["Title"]),
    ("# A [x]\n\n[x]: /y\n", &["A x"]),
    ("[^1]: note\n    # in the note\n\n# A\n", &["A"]),
    ("# ж 漢字 🦀\n", &["ж 漢字 🦀"]),
    ("#  \u{a0}space\n", &["space"]),
    ("* * *\n# A\n", &["A"]),
    ("`code\n# A\n`\n", &["A"]),
];

#[test]
fn only_headings_are_headings() {
    for (markdown, expected) in CORPUS {
        let titles: Vec<_> = headings(markdown).into_iter().map(|section| section.title).collect();
        assert_eq!(titles, *expected, "{markdown:?}");
    }
}

#[test]
fn places_are_whole_lines_in_order_and_cover_everything_behind_the_first_heading() {
    for (markdown, _) in CORPUS {
        let sections = headings(markdown);
        for section in &sections {
            let before = &markdown[..section.heading.start];
            assert!(before.is_empty() || before.ends_with(['\n', '\r', '\u{feff}']), "{markdown:?}: {section:?}");
            assert_eq!(section.heading.end, section.own.start, "{markdown:?}");
            assert!(section.own.end <= section.whole.end, "{markdown:?}");
        }
        for pair in sections.windows(2) {
            assert_eq!(pair[0].own.end, pair[1].heading.start, "{markdown:?}");
        }
        if let Some(last) = sections.last() {
            assert_eq!(last.own.end, markdown.len(), "{markdown:?}");
        }
    }
}

#[test]
fn every_section_of_every_odd_document_can_be_replaced() {
    for (markdown, _) in CORPUS {
        let sections = headings(markdown);
        let listed = planwright_core::workbook::sections::names(markdown);
        for (section, name) in sections.iter().zip(&listed) {
            let replaced = replace(markdown, name, "New *words*.", Scope::OwnText)
                .unwrap_or_else(|error| panic!("{markdown:?}, {name:?}: {error}"));
            let end = markdown.len() - section.own.end;
            assert_eq!(replaced[..section.own.start], markdown[..section.own.start], "{markdown:?}");
            assert_eq!(replaced[replaced.len() - end..], markdown[section.own.end..], "{markdown:?}");
            let inside = &replaced[section.own.start..replaced.len() - end];
            assert_eq!(inside.trim(), "New *words*.", "{markdown:?}");
        }
    }
}
