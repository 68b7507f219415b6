//! The table in `docs/approval.md` is made from the list of attacks.

use std::path::Path;

use crate::results::{ATTACKS, AttackResult};

const BEGIN: &str = "<!-- attacks: made by the attack suite -->\n";
const END: &str = "<!-- end of attacks -->";

fn table() -> String {
    let cell = |result: AttackResult| match result {
        AttackResult::Stopped => "stopped",
        AttackResult::Found => "found by `verify`",
        AttackResult::Succeeds => "**succeeds**",
    };
    let mut table = "| attack | `any` | `separate` | `verified` |\n|---|---|---|---|\n".to_owned();
    for attack in ATTACKS {
        let [any, separate, verified] = attack.results.map(cell);
        table.push_str(&format!("| {} | {any} | {separate} | {verified} |\n", attack.message));
    }
    table
}

#[test]
fn the_table_on_the_page_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/approval.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (written, after) = rest.split_once(END).unwrap();
    if std::env::var_os("WRITE_DOCS").is_some() {
        std::fs::write(&path, format!("{before}{BEGIN}{}{END}{after}", table())).unwrap();
        return;
    }
    assert!(written == table(), "docs/approval.md is out of date; `make docs` writes it");
}

/// Every attack on the list has a test of its name.
#[test]
fn every_attack_has_a_test() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/attacks");
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let sources: String = files.map(|file| std::fs::read_to_string(file).unwrap()).collect();
    for attack in ATTACKS {
        assert!(sources.contains(&format!("\nfn {}() {{", attack.name)), "{} has no test", attack.name);
    }
}
