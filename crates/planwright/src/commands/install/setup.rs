//! What every client is told to start: the program with its options, as a server and in hooks.

use std::path::Path;

use serde_json::{Value, json};

use crate::cli::{ClientName, HookEvent};

/// The program and the options that name the store.
#[derive(Debug)]
pub(super) struct Setup {
    pub(super) program: String,
    pub(super) options: Vec<String>,
    /// Whether plans of the client's own plan mode are taken in, where the client can do it.
    pub(super) native_plans: bool,
}

impl Setup {
    pub(super) fn arguments(&self) -> Vec<&str> {
        self.options.iter().map(String::as_str).chain(["mcp"]).collect()
    }

    pub(super) fn server(&self) -> Value {
        json!({ "command": self.program, "args": self.arguments() })
    }

    /// The words of a hook's command.
    pub(super) fn hook(&self, client: ClientName, event: HookEvent) -> Vec<&str> {
        let options = self.options.iter().map(String::as_str);
        std::iter::once(self.program.as_str())
            .chain(options)
            .chain(["hook", "--client", client.name(), event.name()])
            .collect()
    }

    pub(super) fn hook_line(&self, client: ClientName, event: HookEvent) -> String {
        self.hook(client, event).into_iter().map(quoted).collect::<Vec<_>>().join(" ")
    }

    /// The hook before a call, in a shell that denies the call if the program is gone, is killed or fails. `entry` and `file`
    /// are where the person takes it out.
    pub(super) fn closing_hook_line(&self, client: ClientName, entry: &str, file: &Path) -> String {
        self.closing_line(client, HookEvent::PreToolUse, entry, file)
    }

    /// The hook that takes in a plan of the client's own plan mode, in a shell that denies it if the program fails.
    pub(super) fn native_plan_line(&self, client: ClientName, entry: &str, file: &Path) -> String {
        self.closing_line(client, HookEvent::NativePlan, entry, file)
    }

    fn closing_line(&self, client: ClientName, event: HookEvent, entry: &str, file: &Path) -> String {
        // Cursor shows what such a hook prints, the others what it says on stderr.
        let output = if client == ClientName::Cursor { "" } else { " >&2" };
        let file = quoted(&file.to_string_lossy());
        let inner = format!(
            "{} || {{ echo Planwright could not answer, so this call is denied. planwright doctor says why. If Planwright was removed, \
             take its entry out of {entry} in {file}{output}; exit 2; }}",
            self.hook_line(client, event)
        );
        format!("sh -c {}", in_quotes(&inner))
    }
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@+,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) { word.to_owned() } else { in_quotes(word) }
}

fn in_quotes(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn run(setup: &Setup, input: &str) -> (Option<i32>, String, String) {
        let line = setup.closing_hook_line(ClientName::Codex, "hooks.PreToolUse", Path::new("/home/a d'a/hooks.json"));
        // As a client does it.
        let ran = Command::new("sh").args(["-c", &format!("echo '{input}' | {line}")]).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (ran.status.code(), text(ran.stdout), text(ran.stderr))
    }

    #[test]
    fn a_program_that_is_gone_or_killed_denies_and_names_the_entry() {
        let folder = tempfile::tempdir().unwrap();
        let script = |name: &str, text: &str| {
            use std::os::unix::fs::PermissionsExt as _;
            let path = folder.path().join(name);
            std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
            path.display().to_string()
        };
        let options = vec!["--data".to_owned(), "/with space".to_owned()];
        let setup = |program| Setup { program, options: options.clone(), native_plans: true };
        let gone = folder.path().join("it's gone").display().to_string();
        for program in [gone, script("killed", "kill -9 $$"), script("fails", "exit 6"), script("panics", "exit 101")] {
            let (code, output, errors) = run(&setup(program.clone()), "{}");
            assert_eq!((code, output.as_str()), (Some(2), ""), "{program}");
            assert!(errors.contains("out of hooks.PreToolUse in /home/a d'a/hooks.json"), "{errors}");
        }
        let answers = script("answers", r#"cat >&2; echo "$1|$2|$3|$4|$5|$6""#);
        let (code, output, errors) = run(&setup(answers), "the call");
        assert_eq!((code, errors.as_str()), (Some(0), "the call\n"));
        assert_eq!(output, "--data|/with space|hook|--client|codex|pre-tool-use\n");
    }
}
