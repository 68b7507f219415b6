//! What a shell really runs, beside what the reader of lines says. Programs that write down how they were called stand
//! for every program; nothing else is on the path.

#![expect(clippy::disallowed_methods, reason = "the test runs shells; core itself does no I/O")]

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use planwright_core::gate::ToolEffect;
use planwright_core::permission::{
    CallTarget, Permission, PermissionCall, PermissionRule, PermissionRules, RUN_COMMAND, ShellLine, WorkspaceKind,
    decide_permission,
};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use serde_json::Value;

use super::fuzz_time;

/// The programs of the test. `safe` is allowed by a rule, the others are not.
const PROGRAMS: [&str; 6] = ["safe", "b", "env", "sudo", "rm", "sh"];

/// Pieces that lines are made of: words, and everything that has a meaning in a shell.
const PIECES: [&str; 82] = [
    "safe",
    "safe",
    "safe",
    "safe ",
    "safe ",
    "safe ",
    " ",
    " ",
    " ",
    " ",
    "  ",
    "\t",
    "b",
    "b",
    "rm",
    "env",
    "sudo",
    "sh",
    "-c",
    "-x",
    "--flag=1",
    "A=1",
    "a.txt",
    "./safe",
    "/bin/true",
    "''",
    "'x y'",
    "\"x y\"",
    "'b'",
    "\"safe\"",
    "s'af'e",
    "'$(b)'",
    "\"$(b)\"",
    "$(b)",
    "`b`",
    "${A:-b}",
    "$A",
    ";",
    "&&",
    "||",
    "|",
    "&",
    "\n",
    "(",
    ")",
    "{",
    "}",
    "!",
    "> out",
    "<in",
    ">>out",
    "2>&1",
    "<<E\nb\nE\n",
    "#",
    "\\",
    "\\\n",
    "*",
    "?",
    "[a]",
    "~",
    "=",
    ":",
    "%",
    "@",
    "^",
    "if",
    "then",
    "fi",
    "while",
    "do",
    "done",
    "time",
    "eval",
    "exec",
    "command",
    "printf -v 'x[$(b)]' y",
    "test -v 'x[$(b)]'",
    "é",
    "A=1 safe ",
    "A=1 b ",
    "time safe ",
    "A=1 ",
];

struct Recorder {
    folder: tempfile::TempDir,
    shells: Vec<PathBuf>,
}

impl Recorder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("programs")).unwrap();
        for name in PROGRAMS {
            let path = folder.path().join("programs").join(name);
            let script = "#!/bin/sh\nprintf '%s\\0' \"${0##*/}\" \"$@\" >> \"$RECORD\"\necho >> \"$RECORD\"\n";
            std::fs::write(&path, script).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        // Several names are often one shell.
        let names = ["/bin/sh", "/bin/bash", "/bin/dash", "/bin/ksh", "/bin/mksh", "/bin/yash"];
        let shells: BTreeSet<_> = names.iter().filter_map(|name| Path::new(name).canonicalize().ok()).collect();
        Self { folder, shells: shells.into_iter().collect() }
    }

    /// The calls that the shell made for the line, and the files it made.
    fn run(&self, shell: &Path, line: &str) -> (Vec<Vec<String>>, usize) {
        let folder = self.folder.path().join("empty");
        let record = self.folder.path().join("record");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(&record, "").unwrap();
        let status = Command::new(shell)
            .args(["-c", line])
            .current_dir(&folder)
            .env_clear()
            .env("PATH", self.folder.path().join("programs"))
            .env("RECORD", &record)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        status.unwrap();
        let files = std::fs::read_dir(&folder).unwrap().count();
        std::fs::remove_dir_all(&folder).unwrap();
        let text = std::fs::read_to_string(&record).unwrap();
        let calls = text.lines().map(|call| call.split_terminator('\0').map(str::to_owned).collect()).collect();
        (calls, files)
    }

    /// A line read as words runs these words and nothing else; a line that a rule for `safe` allows runs `safe`.
    fn check(&self, line: &str) {
        let allowed = is_allowed(line);
        let ShellLine::Words(words) = ShellLine::parse(line) else {
            return assert!(!allowed, "{line:?} is allowed and was not read");
        };
        assert_eq!(allowed, words[0] == "safe", "{line:?}");
        for shell in &self.shells {
            let (calls, files) = self.run(shell, line);
            // A name that is no program of the test is one of the shell's own, or is not found.
            let expected: Vec<_> = PROGRAMS.contains(&words[0].as_str()).then(|| words.clone()).into_iter().collect();
            assert_eq!((calls, files), (expected, 0), "{} ran something else for {line:?}", shell.display());
        }
    }
}

fn is_allowed(line: &str) -> bool {
    let rule = PermissionRule {
        tool: RUN_COMMAND.to_owned(),
        target: Some("safe".to_owned()),
        server: None,
        effect: None,
        exact: false,
        decide: Permission::Allow,
    };
    let rules = PermissionRules::new(vec![rule]).unwrap();
    let call = PermissionCall {
        tool: RUN_COMMAND,
        arguments: &Value::Null,
        effect: ToolEffect::Changes,
        target: CallTarget::Command(line),
    };
    let outcome = decide_permission(&rules, &call, WorkspaceKind::Project, None);
    outcome.permission == Permission::Allow
}

fn line_of(pieces: &[u8]) -> String {
    pieces.iter().take(12).map(|piece| PIECES[usize::from(*piece) % PIECES.len()]).collect()
}

#[test]
fn lines_run_as_they_are_read() {
    let recorder = Recorder::new();
    match fuzz_time() {
        None => {
            let mut runner = TestRunner::deterministic();
            let cases = proptest::collection::vec(any::<u8>(), 1..9);
            let mut read = 0;
            for _ in 0..6_000 {
                let line = line_of(&cases.new_tree(&mut runner).unwrap().current());
                // Lines that are not read need no shell, so only the others are counted.
                read += usize::from(matches!(ShellLine::parse(&line), ShellLine::Words(_)));
                recorder.check(&line);
            }
            assert!(read > 300, "only {read} lines were read as words");
        }
        Some(time) => bolero::check!()
            .with_test_time(time)
            .with_type::<Vec<u8>>()
            .for_each(|pieces: &Vec<u8>| std::panic::AssertUnwindSafe(&recorder).check(&line_of(pieces))),
    }
}

/// Lines with every ASCII character in every place of a short command.
#[test]
fn single_characters_run_as_they_are_read() {
    let recorder = Recorder::new();
    for letter in (1..=127_u8).map(char::from) {
        for line in
            [format!("safe{letter}b"), format!("{letter}safe b"), format!("safe b{letter}"), format!("safe {letter} b")]
        {
            recorder.check(&line);
        }
    }
}

/// The recorder notices what it is there to notice.
#[test]
fn the_recorder_sees_other_programs() {
    let recorder = Recorder::new();
    for shell in &recorder.shells {
        let (calls, files) = recorder.run(shell, "safe 'x y' $(b) && rm -r c > out");
        assert_eq!(calls, [vec!["b"], vec!["safe", "x y"], vec!["rm", "-r", "c"]], "{}", shell.display());
        assert_eq!(files, 1);
    }
    assert!(!recorder.shells.is_empty());
}
