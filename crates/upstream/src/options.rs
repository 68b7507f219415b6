//! How a server is reached, and its limits.

use std::path::PathBuf;
use std::time::Duration;

use planwright_core::upstream::{AnnotationTrust, ServerName};
use planwright_engine::upstream::{ToolSelection, UpstreamServer};
use planwright_sandbox::SandboxLevel;

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
        /// Variables with the person's values.
        environment: Vec<(String, String)>,
        /// Made if it is missing.
        folder: PathBuf,
        level: SandboxLevel,
    },
    /// An address that speaks streamable HTTP.
    Http { url: String, headers: Vec<(String, String)> },
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
            Self::Http { url, .. } => url.split(['?', '#']).next().unwrap_or_default().to_owned(),
        }
    }
}

fn shown(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,=@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) { word.to_owned() } else { format!("{word:?}") }
}

impl UpstreamServerOptions {
    pub(crate) fn server(&self) -> UpstreamServer {
        UpstreamServer {
            name: self.name.clone(),
            reached_by: self.reach.describe(),
            trust: self.trust,
            selection: self.selection.clone(),
            // A start, a call, and time to write the result down.
            longest_call: self.start_time + self.call_time + Duration::from_secs(10),
        }
    }
}
