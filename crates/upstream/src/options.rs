//! How a server is reached, and its limits.

use std::path::PathBuf;
use std::time::Duration;

use planwright_core::located_program::LocatedProgram;
use planwright_core::plan::Digest;
use planwright_core::upstream::{AnnotationTrust, ServerCommand, ServerName, command_digest, reach_digest};
use planwright_engine::upstream::{ToolSelection, UpstreamServer};
use planwright_sandbox::{SandboxLevel, locate_program};
use serde_json::{Value, json};

#[derive(Debug, Clone)]
pub struct UpstreamServerOptions {
    pub name: ServerName,
    pub reach: Reach,
    pub trust: AnnotationTrust,
    pub passed_requests: PassedRequests,
    pub selection: ToolSelection,
    /// How long the server may take to start and to list its tools.
    pub start_time: Duration,
    /// How long a call may take.
    pub call_time: Duration,
}

/// What of a server's own requests is passed to the client of the gateway that made the call. The rest is refused.
pub use planwright_engine::upstream::QuestionKinds as PassedRequests;

#[derive(Clone)]
pub enum Reach {
    /// A program that is started without a shell and talks over standard input and output.
    Program {
        command: String,
        arguments: Vec<String>,
        /// The file that the command is. `None` if it was not found.
        program: Option<LocatedProgram>,
        /// Variables with the person's values.
        environment: Vec<(String, String)>,
        /// It starts there unless a person allowed another folder. Made if it is missing.
        folder: PathBuf,
        /// The folder that is its home folder inside of the sandbox. Made if it is missing.
        home: PathBuf,
        access: AskedAccess,
    },
    /// An address that speaks streamable HTTP.
    Http {
        url: String,
        headers: Vec<(String, String)>,
        /// The headers as the settings have them, before names are replaced by values.
        written: Vec<(String, String)>,
    },
}

/// What the settings ask for a program to reach, beside its own folders and the paths that its command names.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct AskedAccess {
    pub level: SandboxLevel,
    /// The network of this machine.
    pub network: bool,
    /// Further folders and files that it reads.
    pub readable: Vec<PathBuf>,
    /// Further folders that it writes below.
    pub writable: Vec<PathBuf>,
    /// Another folder to start in, which it writes below.
    pub starts_in: Option<PathBuf>,
    /// The variables of the program as the settings have them, before names are replaced by values: they can make it another program.
    pub variables: Vec<(String, String)>,
    /// Whether a person allowed exactly this. Without that it runs at `workspace` or less, with none of it.
    pub is_allowed: bool,
}

/// Variables may be secrets.
impl std::fmt::Debug for AskedAccess {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let what = if self.needs_person() { self.describe() } else { format!("to run at {}", self.level) };
        f.write_str(&what)
    }
}

impl AskedAccess {
    /// Whether it is more than what every program has.
    pub fn needs_person(&self) -> bool {
        let asks_for_paths = !self.readable.is_empty() || !self.writable.is_empty() || self.starts_in.is_some();
        self.level == SandboxLevel::Open || self.network || asks_for_paths
    }

    /// For people, such as `to use the network`.
    pub fn describe(&self) -> String {
        if self.level == SandboxLevel::Open {
            return "to run without a sandbox".to_owned();
        }
        let paths = |verb: &str, paths: &[PathBuf]| {
            let paths: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
            (!paths.is_empty()).then(|| format!("to {verb} {}", paths.join(", ")))
        };
        let network = self.network.then(|| "to use the network".to_owned());
        let paths = [paths("read", &self.readable), paths("write below", &self.writable)].into_iter().flatten();
        let starts = self.starts_in.iter().map(|folder| format!("to start in {} and write below it", folder.display()));
        let parts = network.into_iter().chain(paths).chain(starts);
        parts.collect::<Vec<_>>().join(" and ")
    }

    /// What counts.
    pub(crate) fn in_force(&self) -> Self {
        if self.is_allowed || !self.needs_person() {
            return self.clone();
        }
        let level = match self.level {
            SandboxLevel::ReadOnly => SandboxLevel::ReadOnly,
            SandboxLevel::Workspace | SandboxLevel::Open => SandboxLevel::Workspace,
        };
        Self { level, ..Self::default() }
    }
}

/// Values of variables and headers may be secrets.
impl std::fmt::Debug for Reach {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.describe())
    }
}

impl Reach {
    /// For people, without secrets.
    fn describe(&self) -> String {
        match self {
            Self::Program { command, arguments, .. } => {
                let words = std::iter::once(command).chain(arguments);
                words.map(|word| shown(word)).collect::<Vec<_>>().join(" ")
            }
            Self::Http { url, .. } => {
                let shown = url.split(['?', '#']).next().unwrap_or_default();
                // Before an `@` there may be a password.
                let (scheme, rest) = shown.split_once("://").unwrap_or(("", shown));
                let (place, path) = rest.split_once('/').map_or((rest, None), |(place, path)| (place, Some(path)));
                let place = place.rsplit('@').next().unwrap_or_default();
                path.map_or_else(|| format!("{scheme}://{place}"), |path| format!("{scheme}://{place}/{path}"))
            }
        }
    }

    /// Everything of the settings that can make it another server, for a digest: values of variables and headers as they are
    /// written, so that a secret that is replaced by its name may change.
    fn accepted_parts(&self, program: Option<&LocatedProgram>) -> Value {
        match self {
            Self::Program { command, arguments, access, .. } => json!({
                "command": command,
                "args": arguments,
                "cwd": access.starts_in,
                "env": access.variables,
                "program": program.map(|program| &program.file),
            }),
            Self::Http { url, written, .. } => json!({ "url": url, "headers": written }),
        }
    }
}

fn shown(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,=@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) { word.to_owned() } else { format!("{word:?}") }
}

impl UpstreamServerOptions {
    /// What a person accepts of how it is reached.
    pub fn command(&self) -> ServerCommand {
        let program = match &self.reach {
            Reach::Program { program, .. } => program.as_ref(),
            Reach::Http { .. } => None,
        };
        ServerCommand { digest: self.digest_with(program), program: program.cloned() }
    }

    fn digest_with(&self, program: Option<&LocatedProgram>) -> Digest {
        command_digest(self.reach.accepted_parts(program))
    }

    /// Finds the program, in the `PATH` of its settings or of this process.
    pub fn locate(&mut self) {
        if let Reach::Program { command, folder, access, environment, program, .. } = &mut self.reach {
            let folder = access.starts_in.as_ref().unwrap_or(folder);
            let path = environment.iter().find(|(name, _)| name == "PATH").map(|(_, path)| path.as_str());
            let found = locate_program(command, folder, path).ok();
            *program = found.map(|(file, path)| LocatedProgram { file, path });
        }
    }

    /// Uses the program that a person accepted for exactly these settings, as long as it is there, whatever `PATH` this process
    /// has. `accepted` is the digest of the command that was accepted with it.
    pub fn use_accepted(&mut self, accepted: &str, located: &LocatedProgram) {
        if self.digest_with(Some(located)).to_string() != accepted {
            return;
        }
        if let Reach::Program { folder, program, .. } = &mut self.reach
            && locate_program(&located.file, folder, Some(&located.path)).is_ok()
        {
            *program = Some(located.clone());
        }
    }

    /// Names what the settings ask for this program to reach, for a person's word about exactly that: another command has another
    /// digest. `None` if it asks for nothing.
    pub fn asked_access(&self) -> Option<Digest> {
        let Reach::Program { folder, access, program, .. } = &self.reach else { return None };
        let AskedAccess { level, network, readable, writable, starts_in, variables, is_allowed: _ } = access;
        let asked = json!({
            "command": self.reach.describe(),
            "program": program.as_ref().map(|program| &program.file),
            "cwd": starts_in.as_ref().unwrap_or(folder),
            "env": variables,
            "level": level.name(),
            "network": network,
            "read": readable,
            "write": writable,
        });
        access.needs_person().then(|| reach_digest(&self.name, &asked))
    }

    /// Counts what the settings ask for this program to reach, or does not, as a person said.
    pub fn allow_access(&mut self, is_allowed: bool) {
        if let Reach::Program { access, .. } = &mut self.reach {
            access.is_allowed = is_allowed;
        }
    }

    /// What the settings ask for that no person has allowed, for people.
    pub fn not_allowed(&self) -> Option<String> {
        let Reach::Program { access, .. } = &self.reach else { return None };
        (access.needs_person() && !access.is_allowed).then(|| access.describe())
    }

    pub(crate) fn server(&self) -> UpstreamServer {
        UpstreamServer {
            name: self.name.clone(),
            reached_by: self.reach.describe(),
            command: self.command(),
            trust: self.trust,
            selection: self.selection.clone(),
            // A start, a call, and time to write the result down.
            longest_call: self.start_time + self.call_time + Duration::from_secs(10),
        }
    }
}
