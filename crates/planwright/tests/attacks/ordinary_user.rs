//! Every attack once more, as an ordinary user: root may do more, and is stopped by less.

use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use planwright_test_support::prerequisites::{Prerequisite, skip};
use tempfile::TempDir;

use crate::acts::OLDER_PLANS;
use crate::decisions::SERVER;
use crate::place::{FILES, RESULTS, user};
use crate::stage::PROGRAM;

/// No user of the system.
const USER: u32 = 64_203;

/// Where skipped tests are named, and what must not be missing (`planwright_test_support::prerequisites`).
const SKIPPED: &str = "PLANWRIGHT_TEST_SKIPPED";
const NO_SKIPS: &str = "PLANWRIGHT_TEST_NO_SKIPS";

/// The user's home folder, with what the tests need. The folders above that of the program may be closed to others.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        let suite = std::env::current_exe().unwrap();
        for file in [PROGRAM.path(), SERVER.path(), OLDER_PLANS.path()] {
            home.copy(&file, file.file_name().unwrap().to_str().unwrap());
        }
        home.copy(&suite, "suite");
        std::fs::create_dir(home.path("tmp")).unwrap();
        for name in ["", "tmp"] {
            chown(home.path(name), Some(USER), Some(USER)).unwrap();
        }
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn copy(&self, file: &Path, name: &str) {
        let path = self.path(name);
        std::fs::copy(file, &path).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .uid(USER)
            .gid(USER)
            .current_dir(self.0.path())
            .env("HOME", self.0.path())
            .env("TMPDIR", self.path("tmp"));
        // What is installed below root's home folder belongs to root.
        let own = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.components().count() > 1);
        let path = std::env::var_os("PATH").unwrap();
        let open = std::env::split_paths(&path).filter(|one| own.as_ref().is_none_or(|own| !one.starts_with(own)));
        command.env("PATH", std::env::join_paths(open).unwrap());
        command.env(FILES, self.0.path()).env(SKIPPED, self.path("skipped")).env_remove("XDG_RUNTIME_DIR");
        command
    }

    /// Adds what the user's tests wrote to a file to the one that the variable names here.
    fn hand_on(&self, variable: &str, name: &str) {
        let (Some(to), Ok(text)) = (std::env::var_os(variable), std::fs::read(self.path(name))) else { return };
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(to).unwrap();
        std::io::Write::write_all(&mut file, &text).unwrap();
    }
}

#[test]
fn every_attack_as_an_ordinary_user() {
    if user() != 0 {
        return;
    }
    let home = Home::new();
    let namespaces = home.command("unshare").args(["-Urpf", "--mount-proc", "true"]).output();
    let required = std::env::var(NO_SKIPS).unwrap_or_default();
    let has_sandbox = namespaces.is_ok_and(|made| made.status.success()) && required.contains("sandbox");
    let mut suite = home.command(home.path("suite"));
    // Those of the page read sources, and those of this module begin this.
    suite.args(["--skip", "page::", "--skip", "ordinary_user::"]);
    suite.args(std::env::args().skip_while(|one| one != "--skip"));
    suite.env(NO_SKIPS, if has_sandbox { "sandbox" } else { "" });
    if std::env::var_os(RESULTS).is_some() {
        suite.env(RESULTS, home.path("results"));
    }
    let ran = suite.output().unwrap();
    home.hand_on(RESULTS, "results");
    home.hand_on(SKIPPED, "skipped");
    let output = String::from_utf8_lossy(&ran.stdout);
    let failures = output.split_once("\nfailures:\n").map_or(&*output, |(_, failures)| failures);
    assert!(ran.status.success(), "{failures}\n{}", String::from_utf8_lossy(&ran.stderr));
    assert!(output.contains("test shell::") || output.contains("test processes::"), "no attack ran: {output}");
}

/// Names what is left out where the tests have no root.
#[test]
fn every_attack_as_root() {
    if user() != 0 {
        skip(Prerequisite::Root, "root's attacks were not made");
    }
}
