//! The section `sandbox`: what the agent's commands may do and see, and their limits.

use std::path::{Path, PathBuf};
use std::time::Duration;

use planwright_agent::toolbox::command::CommandOptions;
use planwright_core::visible::quoted;
use planwright_sandbox::{SandboxLevel, is_never_passed};

use super::setting::{Check, Checked, List, Positive, Seconds, WholeNumber, section};

#[derive(Debug, Clone)]
pub(crate) struct SandboxSettings {
    pub(crate) level: SandboxLevel,
    /// Further folders and files that commands may read.
    pub(crate) readable: Vec<PathBuf>,
    /// Further folders and files that commands never see.
    pub(crate) hidden: Vec<PathBuf>,
    /// Names of further variables that are passed on.
    pub(crate) passed_variables: Vec<String>,
    /// Variables with a value.
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) timeout: Duration,
    pub(crate) longest_timeout: Duration,
    pub(crate) output_bytes: usize,
    pub(crate) memory: Option<u64>,
}

fn options() -> CommandOptions {
    CommandOptions::default()
}

section! {
    pub(super) struct SandboxSection, "sandbox" {
        "What the agent's commands may do ([sandbox.md](sandbox.md)). Where this system cannot enforce the level, commands are refused; `open` enforces nothing."
        level: Checked<Level> = options().level,
        "Folders and files that commands may read, besides the workspace, the system and its tools."
        read: List<AbsolutePath> = Vec::new(),
        "Folders and files that commands never see. The data folder, the configuration, the store and the token are always among them."
        hide: List<AbsolutePath> = Vec::new(),
        "Variables for commands: `NAME` passes one on, `NAME=VALUE` sets one. Those of Planwright and keys of models are refused."
        env: List<EnvironmentVariable> = Vec::new(),
        "The time limit of a command that names none."
        timeout_seconds: Seconds = options().timeout,
        "The longest time limit that a command may name."
        longest_timeout_seconds: Seconds = options().longest_timeout,
        "How much of a command's output the model reads, in bytes: its beginning and its end. All of it is kept in a file."
        output_bytes: Positive<usize> = options().output_bytes,
        "How much memory a command may use, in bytes: as a whole where it can have a control group of its own, else as the address space of each of its processes. 0 sets no limit."
        memory_bytes: WholeNumber<u64> = options().memory.unwrap_or_default(),
    }
}

impl SandboxSection {
    pub(super) fn sandbox(mut self) -> SandboxSettings {
        let mut passed_variables = Vec::new();
        let mut environment = Vec::new();
        for Variable { name, value } in self.env() {
            match value {
                Some(value) => environment.push((name, value)),
                None => passed_variables.push(name),
            }
        }
        let timeout = self.timeout_seconds();
        SandboxSettings {
            level: self.level(),
            readable: self.read(),
            hidden: self.hide(),
            passed_variables,
            environment,
            timeout,
            longest_timeout: self.longest_timeout_seconds().max(timeout),
            output_bytes: self.output_bytes(),
            memory: Some(self.memory_bytes()).filter(|bytes| *bytes > 0),
        }
    }
}

#[derive(Debug)]
pub(super) enum Level {}

impl Check for Level {
    type Value = SandboxLevel;
    const KIND: &'static str = "`read_only`, `workspace` or `open`";

    fn check(text: &str) -> Result<SandboxLevel, String> {
        text.parse().map_err(|_| format!("{} is none of `read_only`, `workspace`, `open`", quoted(text)))
    }

    fn show(value: &SandboxLevel) -> String {
        format!("`{value}`")
    }
}

#[derive(Debug)]
pub(super) enum AbsolutePath {}

impl Check for AbsolutePath {
    type Value = PathBuf;
    const KIND: &'static str = "absolute paths; `~/` is the home folder";

    fn check(text: &str) -> Result<PathBuf, String> {
        if let Some(rest) = text.strip_prefix("~/") {
            return dirs::home_dir().map(|home| home.join(rest)).ok_or_else(|| "there is no home folder".to_owned());
        }
        let path = Path::new(text);
        if path.is_absolute() { Ok(path.to_owned()) } else { Err(format!("{} is not an absolute path", quoted(text))) }
    }

    fn show(value: &PathBuf) -> String {
        format!("`{}`", value.display())
    }
}

#[derive(Debug)]
pub(super) struct Variable {
    name: String,
    value: Option<String>,
}

#[derive(Debug)]
pub(super) enum EnvironmentVariable {}

impl Check for EnvironmentVariable {
    type Value = Variable;
    const KIND: &'static str = "`NAME` or `NAME=VALUE`";

    /// The errors never show the value, which may be a secret.
    fn check(text: &str) -> Result<Variable, String> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (text, None),
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.is_empty() || !name.chars().all(plain) || name.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(format!("{} is not the name of a variable", quoted(name)));
        }
        if is_never_passed(name) {
            return Err(format!(
                "{} is refused: no command gets a variable of Planwright or the key of a model",
                quoted(name)
            ));
        }
        Ok(Variable { name: name.to_owned(), value })
    }

    fn show(value: &Variable) -> String {
        format!("`{}`", value.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<SandboxSettings, String> {
        toml::from_str::<SandboxSection>(text).map(SandboxSection::sandbox).map_err(|error| error.message().to_owned())
    }

    #[test]
    fn variables_are_passed_or_set() {
        let settings = read("env = [\"RUST_LOG\", \"CI=1\", \"EMPTY=\"]").unwrap();
        assert_eq!(settings.passed_variables, ["RUST_LOG"]);
        let set = [("CI", "1"), ("EMPTY", "")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(settings.environment, set);
    }

    #[test]
    fn secrets_of_ours_and_values_are_neither_passed_nor_shown() {
        for (text, name) in [
            ("env = [\"PLANWRIGHT_TOKEN\"]", "PLANWRIGHT_TOKEN"),
            ("env = [\"OPENAI_API_KEY=sk-hidden\"]", "OPENAI_API_KEY"),
            ("env = [\"anthropic_api_key\"]", "anthropic_api_key"),
            ("env = [\"A B=sk-hidden\"]", "A B"),
        ] {
            let refused = read(text).unwrap_err();
            assert!(refused.contains(name) && !refused.contains("sk-hidden"), "{refused}");
        }
    }

    #[test]
    fn memory_has_a_limit_where_one_is_set() {
        assert_eq!(read("").unwrap().memory, None);
        assert_eq!(read("memory_bytes = 0").unwrap().memory, None);
        assert_eq!(read("memory_bytes = 1073741824").unwrap().memory, Some(1 << 30));
    }

    #[test]
    fn wrong_values_are_told() {
        for (text, expected) in [
            ("level = \"none\"", "`none` is none of `read_only`"),
            ("read = [\"tools\"]", "`tools` is not an absolute path"),
            ("timeout_seconds = 0", "seconds from 1 up"),
        ] {
            let refused = read(text).unwrap_err();
            assert!(refused.contains(expected), "{refused}");
        }
        let settings = read("timeout_seconds = 3600").unwrap();
        assert_eq!(settings.longest_timeout, Duration::from_secs(3600), "the default is never over the longest");
    }
}
