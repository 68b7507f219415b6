//! What is in `deploy/` names commands, flags, variables and folders that there are.

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
    let others = ["PLANWRIGHT_DATA"];
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
    assert!(
        file.contains(&format!("rust:{}", env!("CARGO_PKG_RUST_VERSION"))),
        "the compiler is the one that is asked for"
    );
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
