//! What is in `deploy/` names commands, flags, variables and folders that there are.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::world::{World, ran};

fn deploy(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy").join(name)
}

fn text(name: &str) -> String {
    std::fs::read_to_string(deploy(name)).unwrap()
}

/// A setting of the unit.
fn setting(unit: &str, name: &str) -> String {
    let found = unit.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    found.unwrap_or_else(|| panic!("{name} is not set")).to_owned()
}

/// Every `PLANWRIGHT_…` in a text is in the help.
#[track_caller]
fn knows_variables(text: &str) {
    let help = World::new().run("--help").done().stdout;
    let others = ["PLANWRIGHT_DATA", "PLANWRIGHT_COMMIT", "PLANWRIGHT_COMMIT_DATE"];
    let names =
        text.split(|c: char| !(c.is_ascii_uppercase() || c == '_')).filter(|word| word.starts_with("PLANWRIGHT_"));
    for name in names {
        assert!(others.contains(&name) || help.contains(name), "{name} is no setting");
    }
}

#[test]
fn the_unit_starts_what_there_is() {
    let unit = text("planwright.service");
    knows_variables(&unit);
    let start = setting(&unit, "ExecStart");
    let mut message = start.split_whitespace();
    assert_eq!(message.next(), Some("/usr/local/bin/planwright"));
    let world = World::new();
    // The command line is understood; the server is not to start here.
    ran(world.command().args(message).arg("--help")).done().says("--log-format");
    let data = format!("/var/lib/{}", setting(&unit, "StateDirectory"));
    assert_eq!(setting(&unit, "Environment"), format!("PLANWRIGHT_DATA={data}"));
    let grace = 30;
    assert!(setting(&unit, "TimeoutStopSec").parse::<u64>().unwrap() > grace);
    assert_eq!(setting(&unit, "Type"), "notify");
}

#[test]
fn the_unit_is_one() {
    let found = Command::new("systemd-analyze").arg("--version").output();
    assert!(found.is_ok(), "this test needs systemd-analyze, of the package systemd; `make test` installs it");
    let folder = tempfile::tempdir().unwrap();
    let unit = folder.path().join("planwright.service");
    let program = env!("CARGO_BIN_EXE_planwright");
    std::fs::write(&unit, text("planwright.service").replace("/usr/local/bin/planwright", program)).unwrap();
    let checked = Command::new("systemd-analyze").arg("verify").arg(&unit).output().unwrap();
    let stderr = String::from_utf8_lossy(&checked.stderr).into_owned();
    let about_it: Vec<_> = stderr.lines().filter(|line| line.contains("planwright")).collect();
    assert!(about_it.is_empty(), "{stderr}");
}

#[test]
fn the_container_starts_what_there_is() {
    let file = text("Containerfile");
    knows_variables(&file);
    let world = World::new();
    let list = |name: &str| -> Vec<String> {
        let line = file.lines().find(|line| line.contains(name)).unwrap();
        serde_json::from_str(&line[line.find('[').unwrap()..]).unwrap()
    };
    assert_eq!(list("ENTRYPOINT"), ["planwright"]);
    ran(world.command().args(list("CMD [\"serve")).arg("--help")).done();
    ran(world.command().args(&list("HEALTHCHECK")[1..]).arg("--help")).done();
    let data = file.lines().find_map(|line| line.trim_start_matches("ENV ").strip_prefix("PLANWRIGHT_DATA=")).unwrap();
    assert_eq!(list("VOLUME"), [data.trim_end_matches([' ', '\\'])]);
    assert!(file.contains("USER planwright\n"), "it does not run as root");
    for copied in ["Cargo.toml", "Cargo.lock", "crates", "bench", "clippy.toml", "rustfmt.toml"] {
        assert!(deploy("..").join(copied).exists() && file.contains(copied), "{copied}");
    }
    for taken_in in folders_taken_in() {
        assert!(file.contains(&format!("COPY {taken_in} ")) || file.contains(&format!("/{taken_in}/")), "{taken_in}");
    }
    assert!(
        file.contains(&format!("rust:{}", env!("CARGO_PKG_RUST_VERSION"))),
        "the compiler is the one that is asked for"
    );
}

/// The folders beside `crates` whose files the program takes in when it is compiled.
fn folders_taken_in() -> BTreeSet<String> {
    let mut found = BTreeSet::from(["dashboard".to_owned()]);
    let crates = deploy("../crates");
    let mut folders: Vec<_> =
        std::fs::read_dir(crates).unwrap().map(|entry| entry.unwrap().path().join("src")).collect();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("tests.rs") {
                let source = std::fs::read_to_string(&path).unwrap();
                let included = source.split("include_str!(\"").chain(source.split("include_bytes!(\"")).skip(1);
                let outside = included.filter_map(|rest| {
                    let name = rest.split('"').next()?;
                    let below = name.trim_start_matches("../");
                    let up = (name.len() - below.len()) / 3;
                    // `crates/NAME/src/…`: as many folders up as lead to the root.
                    let depth =
                        path.parent()?.components().rev().take_while(|part| part.as_os_str() != "crates").count();
                    (up > depth).then(|| below.split('/').next().unwrap().to_owned())
                });
                found.extend(outside);
            }
        }
    }
    found
}

/// Listening for others needs a token, which the image does not have.
#[test]
fn the_container_refuses_to_start_without_a_token() {
    let world = World::new();
    let mut command = world.command();
    let refused = ran(command.env("PLANWRIGHT_SERVER_LISTEN", "0.0.0.0:0").arg("serve")).exits(3);
    refused.complains("there is no token").complains("PLANWRIGHT_TOKEN").complains("planwright token");
    assert!(!world.path("token").exists());
}

#[test]
fn the_composition_names_settings_that_there_are() {
    let file = text("compose.yaml");
    knows_variables(&file);
    assert!(file.contains("dockerfile: deploy/Containerfile"));
    for needed in ["PLANWRIGHT_TOKEN: ${PLANWRIGHT_TOKEN:?", "PLANWRIGHT_DATABASE: postgres://"] {
        assert!(file.contains(needed), "{needed}");
    }
}

/// The alerts are about metrics that there are, and promtool takes the file where it is installed.
#[test]
fn the_alerts_are_about_metrics_that_there_are() {
    let rules = text("prometheus-rules.yml");
    let parsed = yaml_rust2::YamlLoader::load_from_str(&rules).unwrap();
    let rules = parsed[0]["groups"][0]["rules"].as_vec().unwrap();
    assert!(rules.len() >= 5);
    let names = Path::new(env!("CARGO_MANIFEST_DIR")).join("../surfaces/src/http/metrics/names.rs");
    let names = std::fs::read_to_string(names).unwrap();
    let mut alerts = BTreeSet::new();
    for rule in rules {
        let (alert, expression) = (rule["alert"].as_str().unwrap(), rule["expr"].as_str().unwrap());
        assert!(alerts.insert(alert), "{alert} is there twice");
        assert!(rule["annotations"]["summary"].as_str().is_some_and(|summary| !summary.is_empty()), "{alert}");
        let metrics: Vec<_> = expression
            .split("{job=\"planwright\"")
            .map(|before| before.rsplit(|c: char| !(c.is_ascii_lowercase() || c == '_')).next().unwrap())
            .filter(|name| !name.is_empty())
            .collect();
        assert!(!metrics.is_empty(), "{alert} is about no metric of Planwright");
        for metric in metrics {
            let base = metric.strip_suffix("_bucket").unwrap_or(metric);
            assert!(metric == "up" || names.contains(&format!("\"{base}\"")), "{alert} names {metric}");
        }
    }
    if let Ok(checked) = Command::new("promtool").args(["check", "rules"]).arg(deploy("prometheus-rules.yml")).output()
    {
        assert!(checked.status.success(), "{checked:?}");
    }
}
