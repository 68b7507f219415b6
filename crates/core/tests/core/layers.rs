//! The modules of `core` are layers: no module uses one that uses it, directly or through others.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

type Uses = BTreeMap<String, BTreeSet<String>>;

/// Which top-level modules each top-level module names in its sources.
#[expect(clippy::disallowed_methods, reason = "the test reads the sources of core; core itself does no I/O")]
fn uses(root: &Path) -> Uses {
    let mut uses = Uses::new();
    let mut files = Vec::new();
    collect(root, &mut files);
    for file in files {
        let first = file.strip_prefix(root).unwrap().components().next().unwrap();
        let module = first.as_os_str().to_str().unwrap().trim_end_matches(".rs").to_owned();
        if module != "lib" {
            let text = std::fs::read_to_string(&file).unwrap();
            let named = text.split("crate::").skip(1).map(|rest| {
                rest.chars().take_while(|letter| letter.is_ascii_lowercase() || *letter == '_').collect::<String>()
            });
            uses.entry(module).or_default().extend(named);
        }
    }
    let modules: BTreeSet<_> = uses.keys().cloned().collect();
    for (module, used) in &mut uses {
        used.retain(|name| name != module && modules.contains(name));
    }
    uses
}

pub(crate) fn collect(folder: &Path, files: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}

/// A way from the module back to itself, if there is one.
fn circle(uses: &Uses, module: &str) -> Option<Vec<String>> {
    let mut ways = vec![vec![module.to_owned()]];
    let mut seen = BTreeSet::new();
    while let Some(way) = ways.pop() {
        for next in way.last().and_then(|last| uses.get(last)).into_iter().flatten() {
            let longer: Vec<_> = way.iter().chain([next]).cloned().collect();
            if next == module {
                return Some(longer);
            }
            if seen.insert(next.clone()) {
                ways.push(longer);
            }
        }
    }
    None
}

#[test]
fn no_module_uses_itself_through_others() {
    let uses = uses(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    assert!(uses["decide"].contains("event") && uses["event"].contains("plan"), "{uses:?}");
    for module in uses.keys() {
        assert_eq!(circle(&uses, module), None);
    }
}

#[test]
fn a_circle_is_found() {
    let pairs = [("event", "turn"), ("turn", "model"), ("turn", "plan"), ("plan", "event")];
    let mut uses = Uses::new();
    for (module, used) in pairs {
        uses.entry(module.to_owned()).or_default().insert(used.to_owned());
    }
    assert_eq!(circle(&uses, "event").unwrap(), ["event", "turn", "plan", "event"]);
    assert_eq!(circle(&uses, "model"), None);
}
