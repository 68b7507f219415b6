//! Files that use each other in a circle can only be understood together, so no circle has more than six of them. And the crates
//! stand on floors: each is built on lower ones only.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::Peekable;
use std::path::{Path, PathBuf};

use crate::layers::collect;

const MAX_CIRCLE: usize = 6;

/// The crates of the program, from the lowest floor up.
const FLOORS: [&[&str]; 6] = [
    &["core", "sandbox"],
    &["engine"],
    &["agent", "llm", "store", "upstream"],
    &["surfaces", "telegram"],
    &["notify"],
    &["planwright"],
];

/// Libraries that only these crates are built on: what touches the world has one place in the program. Without its library no
/// crate can have SQL, HTTP, a sandbox or a command line.
const LIBRARIES: [(&[&str], &[&str]); 8] = [
    (
        &[
            "deadpool",
            "deadpool-postgres",
            "object_store",
            "rusqlite",
            "rustls-native-certs",
            "tokio-postgres",
            "tokio-rustls",
        ],
        &["store"],
    ),
    (&["rustls"], &["store", "telegram"]),
    (&["axum", "hyper", "hyper-util", "tower", "utoipa-axum"], &["surfaces"]),
    (&["reqwest"], &["llm", "notify", "telegram", "upstream"]),
    (&["rmcp"], &["surfaces", "upstream"]),
    (&["lettre"], &["notify"]),
    (&["landlock", "libc", "seccompiler"], &["sandbox"]),
    (&["anstream", "clap", "rustyline", "tar", "tracing-subscriber"], &["planwright"]),
];

/// Nothing async, and nothing that makes ids up.
const NEVER_IN_CORE: [&str; 5] = ["async-trait", "futures", "getrandom", "tokio", "uuid"];

/// A module by the names that lead to it from the crate's root.
type Module = Vec<String>;
type Uses = BTreeMap<Module, BTreeSet<Module>>;

/// Which modules each module of a crate names in its sources. What a module takes from those around it is left out: they are
/// one place, told in several files.
#[expect(clippy::disallowed_methods, reason = "the test reads sources; core itself does no I/O")]
fn uses(root: &Path) -> Uses {
    let mut files = Vec::new();
    collect(root, &mut files);
    let files = files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "rs"));
    let texts: BTreeMap<Module, String> =
        files.map(|file| (module(root, file), std::fs::read_to_string(file).unwrap())).collect();
    let used = |module: &Module, text: &str| {
        let named = paths(text).into_iter().filter_map(|path| resolve(module, &path, &texts));
        named.filter(|other| !module.starts_with(other)).collect()
    };
    texts.iter().map(|(module, text)| (module.clone(), used(module, text))).collect()
}

fn module(root: &Path, file: &Path) -> Module {
    let path = file.strip_prefix(root).unwrap().with_extension("");
    let names: Module = path.iter().map(|name| name.to_str().unwrap().to_owned()).collect();
    if names == ["lib"] || names == ["main"] { Module::new() } else { names }
}

/// Every path in a source without its unit tests. Names in braces make one path each.
fn paths(text: &str) -> Vec<Vec<&str>> {
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    let mut tokens = lines.flat_map(tokens).peekable();
    let mut found = Vec::new();
    while tokens.peek().is_some() {
        read_path(&mut tokens, &[], &mut found);
    }
    found
}

/// Names, `::`, and single characters.
fn tokens(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        let name = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(rest.len());
        let end = match name {
            0 if rest.starts_with("::") => 2,
            0 => rest.chars().next()?.len_utf8(),
            name => name,
        };
        let (token, after) = rest.split_at(end);
        rest = after;
        Some(token)
    })
}

fn read_path<'a>(
    tokens: &mut Peekable<impl Iterator<Item = &'a str>>,
    before: &[&'a str],
    found: &mut Vec<Vec<&'a str>>,
) {
    let mut path = before.to_vec();
    while let Some(token) = tokens.next() {
        if token == "{" && !path.is_empty() {
            while tokens.next_if(|token| *token == "}").is_none() && tokens.peek().is_some() {
                if tokens.next_if(|token| *token == ",").is_none() {
                    read_path(tokens, &path, found);
                }
            }
            return;
        }
        path.push(token);
        if tokens.next_if(|token| *token == "::").is_none() {
            break;
        }
    }
    if path.len() > 1 {
        found.push(path);
    }
}

/// The module that a path in this module leads into.
fn resolve(module: &Module, path: &[&str], texts: &BTreeMap<Module, String>) -> Option<Module> {
    let parents = path.iter().take_while(|name| **name == "super").count();
    let child = || texts.contains_key(&[module.as_slice(), &[path[0].to_owned()]].concat());
    let (mut found, rest) = match path[0] {
        "crate" => (Module::new(), &path[1..]),
        "self" => (module.clone(), &path[1..]),
        "super" => (module[..module.len().checked_sub(parents)?].to_vec(), &path[parents..]),
        _ if child() => (module.clone(), path),
        _ => return None,
    };
    for name in rest {
        found.push((*name).to_owned());
        if !texts.contains_key(&found) {
            found.pop();
            break;
        }
    }
    Some(found)
}

fn reachable<'a>(uses: &'a Uses, from: &'a Module) -> BTreeSet<&'a Module> {
    let (mut seen, mut next) = (BTreeSet::new(), vec![from]);
    while let Some(module) = next.pop() {
        next.extend(uses.get(module).into_iter().flatten().filter(|other| seen.insert(*other)));
    }
    seen
}

/// The sets of modules that lead to each other.
fn circles(uses: &Uses) -> BTreeSet<BTreeSet<&Module>> {
    let reach: BTreeMap<&Module, _> = uses.keys().map(|module| (module, reachable(uses, module))).collect();
    let circle = |module: &Module| {
        let back = reach[module].iter().copied().filter(|other| reach[other].contains(module));
        back.collect::<BTreeSet<_>>()
    };
    uses.keys().map(circle).filter(|circle| !circle.is_empty()).collect()
}

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

#[test]
fn no_circle_has_more_than_six_files() {
    for name in FLOORS.concat() {
        let uses = uses(&crates().join(name).join("src"));
        assert!(uses.values().any(|used| !used.is_empty()), "{name}");
        for circle in circles(&uses) {
            let files: Vec<_> = circle.iter().map(|module| module.join("::")).collect();
            assert!(files.len() <= MAX_CIRCLE, "{} files of {name} use each other: {files:?}", files.len());
        }
    }
}

/// What a crate is built on, beside what its tests are.
#[expect(clippy::disallowed_methods, reason = "the test reads manifests; core itself does no I/O")]
fn dependencies(name: &str) -> BTreeSet<String> {
    let manifest = std::fs::read_to_string(crates().join(name).join("Cargo.toml")).unwrap();
    let own = manifest.split("[dev-dependencies]").next().unwrap();
    own.lines().filter_map(|line| Some(line.split_once(['.', ' '])?.0.to_owned())).collect()
}

#[test]
fn every_crate_is_built_on_lower_floors_only() {
    for (floor, names) in FLOORS.iter().enumerate() {
        let lower: BTreeSet<&str> = FLOORS[..floor].concat().into_iter().collect();
        for name in *names {
            for used in dependencies(name).iter().filter_map(|used| used.strip_prefix("planwright-")) {
                assert!(lower.contains(used), "{name} is built on {used}");
            }
        }
    }
}

#[test]
fn a_library_stands_in_its_crates_only() {
    for name in FLOORS.concat() {
        let own = dependencies(name);
        for (libraries, crates) in LIBRARIES {
            let used: Vec<_> = libraries.iter().filter(|library| own.contains(**library)).collect();
            assert!(used.is_empty() || crates.contains(&name), "{name} is built on {used:?}");
            assert!(!used.is_empty() || !crates.contains(&name), "{name} has no use for {libraries:?}");
        }
    }
    assert!(NEVER_IN_CORE.iter().all(|library| !dependencies("core").contains(*library)));
}

#[test]
fn the_paths_of_a_source_are_read_and_circles_found() {
    let source = "use crate::a::{self, b::C};\nuse super::{d, e};\nfn f() { a::g(1); H { i: 2 } } // j::k\n#[cfg(test)]\nmod tests { l::m }";
    let expected: [&[&str]; 5] =
        [&["crate", "a", "self"], &["crate", "a", "b", "C"], &["super", "d"], &["super", "e"], &["a", "g"]];
    let found: Vec<_> = paths(source).into_iter().filter(|path| path.contains(&"a") || path[0] == "super").collect();
    assert_eq!(found, expected);
    let named = |name: &str| vec![name.to_owned()];
    let pairs = [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")];
    let mut uses: Uses = ["a", "b", "c", "d"].into_iter().map(|name| (named(name), BTreeSet::new())).collect();
    for (module, used) in pairs {
        uses.get_mut(&named(module)).unwrap().insert(named(used));
    }
    let [a, b, c] = [named("a"), named("b"), named("c")];
    assert_eq!(circles(&uses), BTreeSet::from([BTreeSet::from([&a, &b, &c])]));
}
