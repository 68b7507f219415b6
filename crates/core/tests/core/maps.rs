//! The maps of the code name what is there: the first page of a crate or module its modules, the documents files that exist.
//! And the first page of a crate says what may never be in it.

#![expect(clippy::disallowed_methods, reason = "the test reads sources; core itself does no I/O")]

use std::fs;
use std::path::{Path, PathBuf};

use crate::layers::collect;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

/// The modules that a file declares, without its tests.
fn modules(text: &str) -> Vec<&str> {
    let declared = text.lines().filter_map(|line| {
        let (visibility, name) = line.strip_suffix(';')?.split_once("mod ")?;
        (visibility.is_empty() || visibility.starts_with("pub")).then_some(name)
    });
    declared.filter(|name| *name != "tests").collect()
}

/// The names in backticks: `a::b` counts as `a`.
fn named(text: &str) -> Vec<&str> {
    let quoted = text.split('`').skip(1).step_by(2);
    quoted.map(|name| name.split("::").next().unwrap_or_default()).collect()
}

#[test]
fn a_map_names_every_module() {
    let mut files = Vec::new();
    collect(&root().join("crates"), &mut files);
    let mut maps = 0;
    let mut missing = Vec::new();
    let is_source = |file: &&PathBuf| {
        file.extension().is_some_and(|extension| extension == "rs") && file.iter().any(|name| name == "src")
    };
    for file in files.iter().filter(is_source) {
        let text = fs::read_to_string(file).unwrap();
        let page: String = text.lines().filter(|line| line.starts_with("//!")).collect::<Vec<_>>().join("\n");
        let is_crate =
            file.parent().unwrap().ends_with("src") && (file.ends_with("lib.rs") || file.ends_with("main.rs"));
        if !is_crate && !page.contains("\n//! - ") {
            continue;
        }
        maps += 1;
        let names = named(&page);
        let absent: Vec<_> = modules(&text).into_iter().filter(|module| !names.contains(module)).collect();
        if !absent.is_empty() {
            missing.push(format!("{} does not name {absent:?}", file.strip_prefix(root()).unwrap().display()));
        }
    }
    assert!(maps > 20 && missing.is_empty(), "{}", missing.join("\n"));
}

/// In the words of the table in ARCHITECTURE.md.
#[test]
fn the_first_page_of_a_crate_says_what_may_never_be_in_it() {
    let architecture = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let rows = architecture.lines().filter(|line| line.starts_with("| [`")).map(|line| {
        let cells: Vec<_> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let page = cells[0].split(['(', ')']).nth(1).unwrap();
        (page, format!("\n\nNever in it: {}.", cells[2]))
    });
    let rows: Vec<_> = rows.collect();
    for (page, never) in &rows {
        let text = fs::read_to_string(root().join(page)).unwrap();
        let lines = text.lines().map_while(|line| line.strip_prefix("//!"));
        let paragraphs: String =
            lines.map(|line| if line.is_empty() { "\n\n".to_owned() } else { format!("{} ", &line[1..]) }).collect();
        assert!(paragraphs.contains(never.as_str()), "{page} does not say:{never}");
    }
    assert_eq!(rows.len(), fs::read_dir(root().join("crates")).unwrap().count());
}

#[test]
fn documents_name_files_that_exist() {
    let mut missing = Vec::new();
    for document in ["ARCHITECTURE.md", "docs/where-is.md"] {
        let text = fs::read_to_string(root().join(document)).unwrap();
        for path in text.split('`').skip(1).step_by(2) {
            let is_path =
                path.contains('/') && (path.ends_with(".rs") || path.ends_with('/') || path.ends_with(".feature"));
            if is_path
                && !path.contains('*')
                && !["", "crates"].iter().any(|folder| root().join(folder).join(path).exists())
            {
                missing.push(format!("{document}: {path}"));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}
