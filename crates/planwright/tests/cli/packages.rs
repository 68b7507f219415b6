//! What `make dist` packs describes itself as what it is. The packages themselves are tried by `make test-dist`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::world::{World, ran};

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The manifests as the packages get them.
struct Manifests(TempDir);

impl Manifests {
    fn write() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("python3");
        command.env("PYTHONDONTWRITEBYTECODE", "1").env_remove("GITHUB_REPOSITORY");
        command.arg(root().join("packaging/manifests.py")).arg(env!("CARGO_BIN_EXE_planwright")).arg(folder.path());
        let output = command.output().expect("this test needs Python 3.11");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Self(folder)
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.0.path().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.text(name)).unwrap()
    }

    fn list(&self, name: &str) -> Vec<String> {
        serde_json::from_str(&self.text(name)).unwrap()
    }
}

#[test]
fn every_manifest_says_the_same_version() {
    let manifests = Manifests::write();
    for name in ["npm.json", "npm-platform.json", "manifest.json", "server.json"] {
        assert_eq!(manifests.json(name)["version"], VERSION, "{name}");
    }
    assert_eq!(manifests.json("server.json")["packages"][0]["version"], VERSION);
    assert!(manifests.text("METADATA").contains(&format!("\nName: planwright-runtime\nVersion: {VERSION}\n")));
    assert!(text("CHANGELOG.md").contains(&format!("\n## {VERSION}")), "the changelog has no version {VERSION}");
    for line in text("Cargo.lock").split("\n[[package]]\n").filter(|one| one.starts_with("name = \"planwright")) {
        assert!(line.contains(&format!("\nversion = \"{VERSION}\"\n")), "{line}");
    }
}

#[test]
fn the_npm_package_starts_the_one_of_its_platform() {
    let manifests = Manifests::write();
    let (main, platform) = (manifests.json("npm.json"), manifests.json("npm-platform.json"));
    assert_eq!(main["optionalDependencies"][platform["name"].as_str().unwrap()], VERSION);
    assert_eq!((&platform["os"][0], &platform["cpu"][0]), (&Value::from("linux"), &Value::from("x64")));
    let start = main["bin"]["planwright"].as_str().unwrap();
    assert_eq!(start, "bin/planwright.js");
    let script = text("packaging/npm/planwright.js");
    assert!(script.contains("`planwright-${process.platform}-${process.arch}`") && script.contains("/bin/planwright`"));
    let files = manifests.list("files.json");
    for page in main["man"].as_array().unwrap() {
        let page = page.as_str().unwrap().trim_start_matches("./").to_owned();
        assert!(files.contains(&page), "{page}");
    }
    for manifest in [&main, &platform] {
        assert!(manifest.get("scripts").is_none(), "nothing runs when it is installed");
    }
}

#[test]
fn the_bundle_starts_what_is_in_it() {
    let manifest = Manifests::write().json("manifest.json");
    for needed in ["manifest_version", "name", "description"] {
        assert!(manifest[needed].is_string(), "{needed}");
    }
    assert!(manifest["author"]["name"].is_string());
    let server = &manifest["server"];
    assert_eq!((&server["type"], &server["entry_point"]), (&"binary".into(), &"server/planwright".into()));
    assert_eq!(server["mcp_config"]["command"], "${__dirname}/server/planwright");
    let arguments: Vec<String> = serde_json::from_value(server["mcp_config"]["args"].clone()).unwrap();
    ran(World::new().command().args(arguments).arg("--help")).done().says("MCP");
}

/// The rules of the registry's schema that concern us.
#[test]
fn the_registry_entry_is_one() {
    let entry = Manifests::write().json("server.json");
    assert!(entry["$schema"].as_str().unwrap().ends_with("/server.schema.json"));
    let (namespace, name) = entry["name"].as_str().unwrap().split_once('/').unwrap();
    let is_plain = |part: &str| part.chars().all(|c| c.is_ascii_alphanumeric() || ".-_".contains(c));
    assert!(is_plain(namespace) && is_plain(name) && !name.is_empty());
    assert!((1..=100).contains(&entry["description"].as_str().unwrap().len()));
    let package = &entry["packages"][0];
    assert_eq!((&package["registryType"], &package["transport"]["type"]), (&"mcpb".into(), &"stdio".into()));
    let hash = package["fileSha256"].as_str().unwrap();
    assert!(hash.len() == 64 && hash.chars().all(|c| c.is_ascii_digit() || ('a'..='f').contains(&c)), "{hash}");
}

/// cargo-deb packs what is written for it, and nothing that is written is left out.
#[test]
fn the_debian_package_holds_completions_manual_and_unit() {
    let manifests = Manifests::write();
    let written = manifests.list("debian-files.json");
    let manifest: toml::Table = text("crates/planwright/Cargo.toml").parse().unwrap();
    let deb = &manifest["package"]["metadata"]["deb"];
    let mut packed = Vec::new();
    for asset in deb["assets"].as_array().unwrap() {
        let source = asset[0].as_str().unwrap();
        let Some(source) = source.strip_prefix("target/release/package-files/") else {
            assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join(source).is_file(), "{source}");
            continue;
        };
        let (before, after) = source.split_once('*').unwrap_or((source, ""));
        let fits = |path: &&String| {
            if source == before { *path == before } else { path.starts_with(before) && path.ends_with(after) }
        };
        let found: Vec<_> = written.iter().filter(fits).cloned().collect();
        assert!(!found.is_empty(), "{source} is not written");
        packed.extend(found);
    }
    packed.sort();
    assert_eq!(packed, written);
    for needed in
        ["usr/share/man/man1/planwright-plan-approve.1.gz", "usr/share/fish/vendor_completions.d/planwright.fish"]
    {
        assert!(packed.contains(&needed.to_owned()), "{needed}");
    }
    for kept in deb["conf-files"].as_array().unwrap() {
        let target = kept.as_str().unwrap().trim_start_matches('/');
        assert!(deb["assets"].as_array().unwrap().iter().any(|asset| asset[1].as_str() == Some(target)), "{target}");
    }
    for script in ["postinst", "prerm", "postrm"] {
        assert!(text(&format!("packaging/debian/{script}")).starts_with("#!/bin/sh\nset -e\n"), "{script}");
    }
}

#[test]
fn the_unit_of_the_debian_package_starts_its_program_as_its_user() {
    let unit = Manifests::write().text("planwright.service");
    assert!(unit.contains("\nExecStart=/usr/bin/planwright serve"), "{unit}");
    assert!(unit.contains("\nUser=planwright\nGroup=planwright\n") && !unit.contains("DynamicUser"));
    let user = text("packaging/debian/postinst");
    assert!(user.contains("useradd --system") && user.contains("/var/lib/planwright"));
    let help = World::new().run("--help").done().stdout;
    for line in text("packaging/debian/environment").lines() {
        let name = line.trim_start_matches("# ").split('=').next().unwrap();
        assert!(line.starts_with('#'), "nothing is set: {line}");
        assert!(!name.starts_with("PLANWRIGHT_") || help.contains(name), "{name} is no setting");
    }
}

/// The image of `make dist` is what the Containerfile builds.
#[test]
fn both_containers_are_alike() {
    let (file, script) = (text("deploy/Containerfile"), text("packaging/container.py"));
    for both in [
        "10717",
        "/var/lib/planwright",
        "PLANWRIGHT_SERVER_LISTEN=0.0.0.0:7717",
        "PLANWRIGHT_SERVER_LOG_FORMAT=json",
        "SIGTERM",
        "bookworm",
        "git",
        "/usr/sbin/nologin",
    ] {
        assert!(file.contains(both) && script.contains(both), "{both}");
    }
}

/// Cargo only warns of a library that the profile names and that is not there any more.
#[test]
fn the_profile_of_packages_names_libraries_that_there_are() {
    let manifest: toml::Table = text("Cargo.toml").parse().unwrap();
    let lock = text("Cargo.lock");
    for name in manifest["profile"]["dist"]["package"].as_table().unwrap().keys() {
        assert!(lock.contains(&format!("\nname = \"{name}\"\n")), "{name}");
    }
}

#[test]
fn the_release_is_what_make_dist_makes() {
    let workflow = text(".github/workflows/release.yml");
    assert!(
        workflow.contains("make dist")
            && workflow.contains("make test-dist")
            && workflow.contains("has never run at GitHub")
    );
    let makefile = text("Makefile");
    for target in ["dist", "dist-twice", "test-dist"] {
        assert!(makefile.contains(&format!("\n{target}: ")), "{target}");
        assert!(root().join("scripts").join(target).is_file(), "{target}");
    }
}
