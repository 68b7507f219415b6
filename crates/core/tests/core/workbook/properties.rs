//! What holds for any document, any section and any content.

use planwright_core::workbook::sections::{Scope, SectionProblem, headings, names, replace};
use planwright_core::workbook::{completion, errors, findings};
use proptest::prelude::*;

fn config() -> ProptestConfig {
    ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() }
}

/// Pieces that documents are made of, odd ones among them.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "#{1,3} (Goal|Phases|Phase 1|Phase 10|Log|Tests)".prop_map(|heading| format!("{heading}\n")),
        1 => "(Goal|Log)\n(===|---)".prop_map(|heading| format!("\n{heading}\n")),
        3 => "[a-z ]{0,12}\n",
        1 => Just("\n".to_owned()),
        1 => Just("```\n# code\n```\n".to_owned()),
        1 => Just("```\n".to_owned()),
        1 => Just("<!-- \n".to_owned()),
        1 => Just("-->\n".to_owned()),
        1 => Just("<div>\n".to_owned()),
        1 => Just("> # quoted\n".to_owned()),
        1 => Just("- # item\n".to_owned()),
        1 => Just("    # indented\n".to_owned()),
        1 => Just("- [ ] task\n- Status: complete\n".to_owned()),
        1 => Just("---\n".to_owned()),
        1 => Just("| Last seen | Call | Error | Attempts |\n|---|---|---|---|\n".to_owned()),
        1 => Just("[x]: /y\n".to_owned()),
        1 => Just("ж\u{200b}\t\n".to_owned()),
    ]
}

fn document() -> impl Strategy<Value = String> {
    let ends = prop_oneof![3 => Just("\n"), 1 => Just("\r\n"), 1 => Just("\r")];
    (prop::collection::vec(piece(), 0..14), ends, any::<bool>(), any::<bool>()).prop_map(|(pieces, end, mark, cut)| {
        let text = pieces.concat();
        let text = if cut { text.trim_end() } else { &text };
        format!("{}{}", if mark { "\u{feff}" } else { "" }, text.replace('\n', end))
    })
}

fn scope() -> impl Strategy<Value = Scope> {
    prop_oneof![Just(Scope::OwnText), Just(Scope::WithSubsections)]
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn nothing_outside_the_section_changes(
        markdown in document(),
        pick in any::<prop::sample::Index>(),
        content in prop::collection::vec(piece(), 0..5).prop_map(|pieces| pieces.concat()),
        scope in scope(),
    ) {
        let (sections, names) = (headings(&markdown), names(&markdown));
        if sections.is_empty() {
            return Ok(());
        }
        let at = pick.index(sections.len());
        let range = match scope {
            Scope::OwnText => sections[at].own.clone(),
            Scope::WithSubsections => sections[at].whole.clone(),
        };
        match replace(&markdown, &names[at], &content, scope) {
            Ok(replaced) => {
                let behind = markdown.len() - range.end;
                prop_assert!(replaced.len() >= range.start + behind);
                prop_assert_eq!(&replaced[..range.start], &markdown[..range.start]);
                prop_assert_eq!(&replaced[replaced.len() - behind..], &markdown[range.end..]);
                // Replacing it once more with this content changes nothing.
                let again = replace(&replaced, &names[at], &content, scope);
                if let Ok(again) = again {
                    prop_assert_eq!(again, replaced);
                }
            }
            Err(error) => match error.problem {
                SectionProblem::HeadingTooHigh { .. }
                | SectionProblem::Doubled { .. }
                | SectionProblem::WholeDocument { .. }
                | SectionProblem::Swallows => {}
                SectionProblem::Unknown { .. } | SectionProblem::Ambiguous { .. } => {
                    return Err(TestCaseError::fail(format!("{markdown:?}: {:?} is listed, and {error}", names[at])));
                }
            },
        }
    }

    #[test]
    fn plain_words_can_always_be_put_into_a_section(markdown in document(), pick in any::<prop::sample::Index>(), scope in scope()) {
        let names = names(&markdown);
        if names.is_empty() {
            return Ok(());
        }
        let name = &names[pick.index(names.len())];
        let replaced = replace(&markdown, name, "Plain words.", scope);
        if let Err(error) = replaced {
            let whole = matches!(error.problem, SectionProblem::WholeDocument { .. });
            // The end of a section can be what makes the next line a heading, if it defines a reference.
            let defines = markdown.contains("[x]:") && error.problem == SectionProblem::Swallows;
            prop_assert!(whole || defines, "{:?} {:?}: {}", markdown, name, error);
        }
    }

    #[test]
    fn notes_keep_every_heading_and_count(markdown in document(), text in "[a-z#`|<>\\\\\n\r ]{0,40}") {
        let titles = |text: &str| headings(text).into_iter().map(|section| section.title).collect::<Vec<_>>();
        let at = jiff::Timestamp::UNIX_EPOCH;
        let kept = |noted: &str| {
            let noted = titles(noted);
            let mut rest = noted.iter();
            titles(&markdown).iter().all(|title| rest.any(|other| other == title))
        };
        let (noted, first) = errors::note(&markdown, &text, &text, at);
        prop_assert!(first >= 1 && kept(&noted), "{noted:?}");
        let found = findings::add(&markdown, &text, &text, 20, at);
        prop_assert!(kept(&found), "{found:?}");
        // Below a title that says so, every section is a phase.
        if !titles(&markdown).contains(&"Phases".to_owned()) {
            prop_assert_eq!(completion::is_complete(&found), completion::is_complete(&markdown), "{:?}", found);
            prop_assert_eq!(completion::is_complete(&noted), completion::is_complete(&markdown), "{:?}", noted);
        }
    }
}
