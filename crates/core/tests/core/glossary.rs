//! The glossary names things that exist: every identifier in its column *code* is a word of the sources.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const GLOSSARY: &str = include_str!("../../../../docs/glossary.md");

/// The rows of its tables: term, meaning, code, elsewhere.
fn rows() -> impl Iterator<Item = Vec<&'static str>> {
    let rows = GLOSSARY.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| term "));
    rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect())
}

const CRATES: [&str; 11] =
    ["core", "engine", "agent", "store", "llm", "sandbox", "surfaces", "telegram", "notify", "upstream", "planwright"];

/// Every source file, by its path below `crates/`.
fn sources() -> Vec<(String, String)> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut found = Vec::new();
    for name in CRATES {
        sources_in(&crates.join(name).join("src"), &mut found);
    }
    found
}

#[expect(clippy::disallowed_methods, reason = "the test reads the sources; core itself does no I/O")]
fn sources_in(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources_in(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push((path.display().to_string(), std::fs::read_to_string(&path).unwrap()));
        }
    }
}

#[test]
fn every_identifier_is_in_the_sources() {
    let mut words = BTreeSet::new();
    let sources = sources();
    for (_, text) in &sources {
        let found = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        words.extend(found.filter(|word| !word.is_empty()));
    }
    assert!(words.contains("Snapshot") && !words.contains("NoSuchIdentifier"));
    for row in rows() {
        for identifier in row[2].split('`').skip(1).step_by(2) {
            assert!(words.contains(identifier), "{}: there is no `{identifier}` in the sources", row[0]);
        }
    }
}

/// The name of the type that a line declares for the whole crate or for others.
fn declared_type(line: &str) -> Option<&str> {
    let line = line.strip_prefix("pub ").or_else(|| line.strip_prefix("pub(crate) "))?;
    let (kind, rest) = line.split_once(' ')?;
    matches!(kind, "struct" | "enum" | "trait" | "type" | "union").then(|| {
        let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(rest.len());
        &rest[..end]
    })
}

/// A reader who sees a name in two places takes it for the same thing. Names that a module keeps to itself are free, and
/// so are those that two crates keep to themselves.
#[test]
fn a_public_type_name_has_one_meaning() {
    let mut types: BTreeMap<String, Vec<(String, bool)>> = BTreeMap::new();
    for (path, text) in sources() {
        for line in text.lines() {
            if let Some(name) = declared_type(line) {
                types.entry(name.to_owned()).or_default().push((path.clone(), line.starts_with("pub ")));
            }
        }
    }
    assert!(types.len() > 500 && types.contains_key("Snapshot"), "{}", types.len());
    let is_ambiguous = |places: &[(String, bool)]| places.len() > 1 && places.iter().any(|(_, public)| *public);
    let ambiguous: Vec<_> = types.iter().filter(|(_, places)| is_ambiguous(places)).collect();
    assert!(ambiguous.is_empty(), "{ambiguous:#?}");
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
