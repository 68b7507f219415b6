//! What an upstream server may reach, as a person reads it before accepting it: the same words on every surface.

use serde_json::{Value, json};

use super::ServerName;
use crate::plan::Digest;

/// What a server may reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerReach {
    /// It runs elsewhere, and is reached at an address.
    Address(AddressReach),
    /// Planwright starts it.
    Program(ProgramReach),
}

/// What a server elsewhere is sent with every request, by name: the values may be secrets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddressReach {
    /// The headers of the settings.
    pub headers: Vec<String>,
    /// The parameters in the address.
    pub parameters: Vec<String>,
}

/// What the program of a server may reach.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgramReach {
    /// The file of the program. `None` if it was not found.
    pub program: Option<String>,
    /// The names of the variables that the settings give it.
    pub variables: Vec<String>,
    /// It runs without a sandbox.
    pub is_open: bool,
    pub has_network: bool,
    /// Beside the system and tools.
    pub reads: Vec<String>,
    /// It reads them, too.
    pub writes: Vec<String>,
    /// What the settings ask for and no person has allowed, such as `to use the network`. It does not count.
    pub asks: Option<String>,
    /// Why this system cannot keep the program to it. Then the program is not started.
    pub not_enforced: Option<String>,
}

impl ServerReach {
    /// Lines for a person.
    pub fn describe(&self, server: &ServerName) -> Vec<String> {
        match self {
            Self::Address(reach) => reach.describe(),
            Self::Program(reach) => reach.describe(server),
        }
    }
}

impl Default for ServerReach {
    fn default() -> Self {
        Self::Address(AddressReach::default())
    }
}

impl AddressReach {
    fn describe(&self) -> Vec<String> {
        let first = "It runs elsewhere. What is sent to it leaves this machine, and what it does there is not limited.";
        let mut lines = vec![first.to_owned()];
        for (what, names) in
            [("headers of the settings", &self.headers), ("parameters in the address", &self.parameters)]
        {
            if !names.is_empty() {
                lines.push(format!("  {what}: {}", names.join(", ")));
            }
        }
        lines
    }
}

impl ProgramReach {
    fn describe(&self, server: &ServerName) -> Vec<String> {
        let mut lines = self.describe_access(server);
        lines.extend(self.program.iter().map(|file| format!("  program: {file}")));
        if !self.variables.is_empty() {
            lines.push(format!("  variables of the settings: {}", self.variables.join(", ")));
        }
        lines
    }

    fn describe_access(&self, server: &ServerName) -> Vec<String> {
        if self.is_open {
            return vec![
                "It runs without a sandbox: it reads, writes and sends everything that you can, your keys included."
                    .to_owned(),
            ];
        }
        let list = |paths: &[String]| if paths.is_empty() { "nothing".to_owned() } else { paths.join(", ") };
        let mut lines = vec!["It runs in the sandbox (docs/sandbox.md).".to_owned()];
        if self.reads.is_empty() {
            lines.push("  reads: the system, tools, and what it may write".to_owned());
        } else {
            lines.push(format!("  reads: the system, tools, what it may write, and {}", list(&self.reads)));
        }
        lines.push(format!("  writes: {}", list(&self.writes)));
        lines.push(match self.has_network {
            true => "  network: all of it, with what listens on this machine".to_owned(),
            false => "  network: none".to_owned(),
        });
        if let Some(asks) = &self.asks {
            lines.push(format!(
                "  Its settings ask {asks}, which no person has allowed. `planwright mcp-server accept {server} --allow-access` allows it."
            ));
        }
        if let Some(reason) = &self.not_enforced {
            lines.push(format!(
                "  This system cannot enforce that, so the program is not started: {reason}. With `sandbox = \"open\"` in its settings, \
                 `planwright mcp-server accept {server} --allow-access` lets it run without a sandbox."
            ));
        }
        lines
    }
}

/// Names what the settings ask for a server to reach.
pub fn reach_digest(server: &ServerName, asked: &Value) -> Digest {
    Digest::of_value("planwright-upstream-reach-v1", &json!([server.as_str(), asked]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_reads_what_a_program_may_reach() {
        let server: ServerName = "files".parse().unwrap();
        let reach = ProgramReach {
            program: Some("/usr/bin/node".to_owned()),
            variables: vec!["A_KEY".to_owned(), "HOME".to_owned()],
            writes: vec!["/data/mcp/files".to_owned(), "/home/me/notes".to_owned()],
            asks: Some("to use the network".to_owned()),
            ..ProgramReach::default()
        };
        assert_eq!(
            ServerReach::Program(reach).describe(&server),
            [
                "It runs in the sandbox (docs/sandbox.md).",
                "  reads: the system, tools, and what it may write",
                "  writes: /data/mcp/files, /home/me/notes",
                "  network: none",
                "  Its settings ask to use the network, which no person has allowed. `planwright mcp-server accept files \
                 --allow-access` allows it.",
                "  program: /usr/bin/node",
                "  variables of the settings: A_KEY, HOME",
            ]
        );
        let open = ProgramReach { is_open: true, ..ProgramReach::default() };
        assert!(ServerReach::Program(open).describe(&server)[0].starts_with("It runs without a sandbox"));
        assert_eq!(ServerReach::default().describe(&server).len(), 1);
        let headers = vec!["Authorization".to_owned(), "X-Tenant".to_owned()];
        let address = AddressReach { headers, parameters: vec!["tenant".to_owned()] };
        let lines = ServerReach::Address(address).describe(&server);
        assert!(lines[0].starts_with("It runs elsewhere"));
        assert_eq!(
            lines[1..],
            ["  headers of the settings: Authorization, X-Tenant", "  parameters in the address: tenant"]
        );
    }
}
