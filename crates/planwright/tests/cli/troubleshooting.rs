//! `docs/troubleshooting.md` quotes messages of the program. Each of them is in its source.

use std::path::Path;

fn read_sources(folder: &Path, text: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read_sources(&path, text);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text.push_str(&std::fs::read_to_string(path).unwrap());
        }
    }
}

#[test]
fn every_quoted_message_is_one_of_the_program() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut sources = String::new();
    for name in ["core", "engine", "llm", "planwright", "store", "surfaces"] {
        read_sources(&root.join("crates").join(name).join("src"), &mut sources);
    }
    // A long string may be broken into several lines.
    let sources = sources.replace("\\\n", "").split_whitespace().collect::<Vec<_>>().join(" ");
    let page = std::fs::read_to_string(root.join("docs/troubleshooting.md")).unwrap();
    let titles = page.lines().filter_map(|line| line.strip_prefix("### `")?.strip_suffix('`'));
    let titles = titles.filter(|title| !title.contains('`'));
    let mut quoted = 0;
    for piece in titles.flat_map(|title| title.split('…')).map(str::trim).filter(|piece| piece.len() > 3) {
        quoted += 1;
        // serde and clap have their own words.
        assert!(piece == "unknown field" || sources.contains(piece), "no message has {piece:?} in it");
    }
    assert!(quoted > 10, "{quoted}");
}
