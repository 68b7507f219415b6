//! The glossary names things that exist: every identifier in its column *code* is a word of the sources.

use std::collections::BTreeSet;
use std::path::Path;

const GLOSSARY: &str = include_str!("../../../../docs/glossary.md");

/// The rows of its tables: term, meaning, code, elsewhere.
fn rows() -> impl Iterator<Item = Vec<&'static str>> {
    let rows = GLOSSARY.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| term "));
    rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect())
}

#[expect(clippy::disallowed_methods, reason = "the test reads the sources; core itself does no I/O")]
fn words_of(folder: &Path, words: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            words_of(&path, words);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let found = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
            words.extend(found.filter(|word| !word.is_empty()).map(str::to_owned));
        }
    }
}

#[test]
fn every_identifier_is_in_the_sources() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut words = BTreeSet::new();
    for name in ["core", "engine", "store", "llm", "sandbox", "surfaces", "telegram", "notify", "planwright"] {
        words_of(&crates.join(name).join("src"), &mut words);
    }
    assert!(words.contains("Snapshot") && !words.contains("NoSuchIdentifier"));
    for row in rows() {
        for identifier in row[2].split('`').skip(1).step_by(2) {
            assert!(words.contains(identifier), "{}: there is no `{identifier}` in the sources", row[0]);
        }
    }
}

#[test]
fn every_term_stands_once_and_has_a_meaning() {
    let mut terms = BTreeSet::new();
    for row in rows() {
        assert_eq!(row.len(), 4, "{row:?}");
        assert!(terms.insert(row[0]), "{} stands twice", row[0]);
        assert!(row[1].ends_with('.') && row[1].starts_with(char::is_uppercase), "{}: {}", row[0], row[1]);
    }
    assert!(terms.len() > 60, "{}", terms.len());
}
