//! Which environment variables a command gets.

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Variables that are passed on from this process if they are set. Everything else stays here: keys, tokens, sockets of
/// agents and desktops, and variables that change how a shell or a loader starts.
pub const PASSED_VARIABLES: [&str; 24] = [
    "PATH",
    "USER",
    "LOGNAME",
    "LANG",
    "LANGUAGE",
    "TZ",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "GOPATH",
    "GOROOT",
    "GOFLAGS",
    "JAVA_HOME",
    "PYENV_ROOT",
    "PYENV_VERSION",
    "VIRTUAL_ENV",
    "NVM_DIR",
    "VOLTA_HOME",
    "NODE_VERSION",
    "DENO_DIR",
    "NIX_PATH",
    "NIX_PROFILES",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];

/// Variables that no configuration passes on: they hold our own secrets, and the keys of model providers.
const OWN_PREFIX: &str = "PLANWRIGHT_";
const KEY_SUFFIX: &str = "_API_KEY";

/// Whether no configuration passes the variable on.
pub fn is_never_passed(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    name.starts_with(OWN_PREFIX) || name.ends_with(KEY_SUFFIX)
}

pub(crate) const DEFAULT_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Whether configured variables may be keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Secrets {
    /// For commands, which a model writes.
    Refused,
    /// For a program that the person configured, with the keys that the person gave it. Variables of Planwright are refused.
    OfThePerson,
}

impl Secrets {
    fn permit(self, name: &str) -> bool {
        match self {
            Self::Refused => !is_never_passed(name),
            Self::OfThePerson => !name.to_ascii_uppercase().starts_with(OWN_PREFIX),
        }
    }
}

pub(crate) struct Environment<'a> {
    /// The variables of this process.
    pub(crate) own: &'a [(OsString, OsString)],
    /// Names of further variables to pass on.
    pub(crate) passed: &'a [String],
    /// Variables with a value, set last.
    pub(crate) configured: &'a [(String, String)],
    pub(crate) secrets: Secrets,
    pub(crate) home: &'a Path,
    /// `None` leaves the choice to the command.
    pub(crate) temporary: Option<&'a Path>,
}

impl Environment<'_> {
    /// The variables of the command, each name once.
    pub(crate) fn variables(&self) -> Vec<(OsString, OsString)> {
        let mut variables: Vec<(OsString, OsString)> = Vec::new();
        let mut set = |name: &OsStr, value: &OsStr| {
            variables.retain(|(other, _)| other != name);
            variables.push((name.to_owned(), value.to_owned()));
        };
        set(OsStr::new("PATH"), OsStr::new(DEFAULT_PATH));
        for (name, value) in self.own.iter().filter(|(name, _)| self.is_passed(name)) {
            set(name, value);
        }
        set(OsStr::new("HOME"), self.home.as_os_str());
        set(OsStr::new("SHELL"), OsStr::new("/bin/sh"));
        // There is no terminal: programs that page or ask would wait for ever.
        for (name, value) in [("TERM", "dumb"), ("PAGER", "cat"), ("GIT_PAGER", "cat"), ("GIT_TERMINAL_PROMPT", "0")] {
            set(OsStr::new(name), OsStr::new(value));
        }
        if let Some(temporary) = self.temporary {
            set(OsStr::new("TMPDIR"), temporary.as_os_str());
        }
        for (name, value) in self.configured.iter().filter(|(name, _)| is_name(name) && self.secrets.permit(name)) {
            set(OsStr::new(name), OsStr::new(value));
        }
        variables
    }

    fn is_passed(&self, name: &OsStr) -> bool {
        let Some(text) = name.to_str() else { return false };
        let listed = PASSED_VARIABLES.contains(&text)
            || text.starts_with("LC_")
            || self.passed.iter().any(|passed| passed == text);
        listed && !is_own(name)
    }
}

fn is_own(name: &OsStr) -> bool {
    name.to_str().is_some_and(is_never_passed)
}

/// A name that the environment can hold.
fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listed_variables_are_passed() {
        let own: Vec<(OsString, OsString)> = [
            ("PATH", "/bin"),
            ("LC_ALL", "C"),
            ("OPENAI_API_KEY", "sk"),
            ("PLANWRIGHT_TOKEN", "secret"),
            ("SSH_AUTH_SOCK", "/run/agent"),
            ("LD_PRELOAD", "/tmp/x.so"),
            ("BASH_ENV", "/tmp/x"),
            ("BASH_FUNC_ls%%", "() { rm x; }"),
            ("ENV", "/tmp/x"),
            ("MY_FLAG", "1"),
            ("HOME", "/root"),
        ]
        .map(|(name, value)| (name.into(), value.into()))
        .into();
        let passed = ["MY_FLAG", "PLANWRIGHT_TOKEN", "OPENAI_API_KEY"].map(str::to_owned);
        let configured = [("planwright_token", "x"), ("X_API_KEY", "x"), ("LANG", "de_DE"), ("A=B", "x"), ("", "x")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let environment = Environment {
            own: &own,
            passed: &passed,
            configured: &configured,
            secrets: Secrets::Refused,
            home: Path::new("/home/p"),
            temporary: Some(Path::new("/tmp")),
        };
        let mut lines: Vec<_> = environment
            .variables()
            .into_iter()
            .map(|(name, value)| format!("{}={}", name.display(), value.display()))
            .collect();
        lines.sort();
        let expected = [
            "GIT_PAGER=cat",
            "GIT_TERMINAL_PROMPT=0",
            "HOME=/home/p",
            "LANG=de_DE",
            "LC_ALL=C",
            "MY_FLAG=1",
            "PAGER=cat",
            "PATH=/bin",
            "SHELL=/bin/sh",
            "TERM=dumb",
            "TMPDIR=/tmp",
        ];
        assert_eq!(lines, expected);
    }
    #[test]
    fn a_configured_program_gets_the_keys_of_the_person_and_none_of_planwright() {
        let configured = [("BRAVE_API_KEY", "key"), ("PLANWRIGHT_TOKEN", "secret"), ("planwright_data", "x")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let own = [(OsString::from("OPENAI_API_KEY"), OsString::from("sk"))];
        let environment = Environment {
            own: &own,
            passed: &[],
            configured: &configured,
            secrets: Secrets::OfThePerson,
            home: Path::new("/home/p"),
            temporary: None,
        };
        let names: Vec<_> = environment.variables().into_iter().map(|(name, _)| name).collect();
        assert!(names.contains(&"BRAVE_API_KEY".into()), "{names:?}");
        let refused = |name: &OsString| {
            let name = name.to_string_lossy().to_uppercase();
            name.starts_with("PLANWRIGHT") || name == "OPENAI_API_KEY"
        };
        assert!(!names.iter().any(refused), "{names:?}");
    }
}
