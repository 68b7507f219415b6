//! Names that every provider of models takes: at most 64 letters, digits, `_` and `-`.

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::refusal::Refusal;
use crate::visible::quoted;

/// The longest name of a tool that all providers take.
pub const MAX_TOOL_NAME: usize = 64;
const MAX_SERVER_NAME: usize = 32;
/// Between the name of the server and that of the tool. No server name contains it.
const SEPARATOR: &str = "__";
/// Hex digits of the hash at the end of a name that was changed.
const HASH_DIGITS: usize = 12;

/// The name that a person gave an MCP server: 1 to 32 of `a-z`, `0-9` and `-`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ServerName(String);

impl ServerName {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The server whose tool has this name.
    pub fn of_tool(name: &str) -> Option<Self> {
        name.split_once(SEPARATOR)?.0.parse().ok()
    }
}

impl FromStr for ServerName {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if (1..=MAX_SERVER_NAME).contains(&text.len()) && text.chars().all(plain) {
            return Ok(Self(text.to_owned()));
        }
        Err(Refusal::invalid(format!(
            "{} is not the name of an MCP server: it has 1 to {MAX_SERVER_NAME} of the characters a-z, 0-9 and -.",
            quoted(text)
        )))
    }
}

impl TryFrom<String> for ServerName {
    type Error = Refusal;

    fn try_from(text: String) -> Result<Self, Refusal> {
        text.parse()
    }
}

impl From<ServerName> for String {
    fn from(name: ServerName) -> Self {
        name.0
    }
}

impl fmt::Display for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The tool with which resources of a server are read. A server's own tool of this name is given another one.
pub const READ_RESOURCE: &str = "read_resource";
/// Stands for the tool in rules and in the journal where a prompt of a server is read.
pub const READ_PROMPT: &str = "read_prompt";
/// Stands for the tool in rules and in the journal where an argument of a prompt or of an address is completed.
pub const COMPLETE_ARGUMENT: &str = "complete_argument";
/// Stands for the tool in rules and in the journal where a client wants to hear of the changes of a resource.
pub const SUBSCRIBE_RESOURCE: &str = "subscribe_resource";
const OWN_TOOLS: [&str; 4] = [READ_RESOURCE, READ_PROMPT, COMPLETE_ARGUMENT, SUBSCRIBE_RESOURCE];

/// The name of each tool here, in the order of `tools`. A name that is too long or has other characters is shortened and
/// ends in a hash of the whole name, so it is the same in every process. `None` for a tool whose name another one has.
pub fn offered_names<'a>(server: &ServerName, tools: impl IntoIterator<Item = &'a str>) -> Vec<Option<String>> {
    let mut seen = HashSet::new();
    let tools: Vec<_> = tools.into_iter().map(|tool| (tool, seen.insert(tool))).collect();
    // A name that is taken as it is comes before names that were made.
    let mut taken: HashSet<String> = tools
        .iter()
        .filter(|(tool, first)| *first && fits(server, tool))
        .map(|(tool, _)| joined(server, tool))
        .collect();
    let name = |(tool, first): &(&str, bool)| {
        if !first {
            return None;
        }
        if fits(server, tool) {
            return Some(joined(server, tool));
        }
        Some(shortened(server, tool)).filter(|name| taken.insert(name.clone()))
    };
    tools.iter().map(name).collect()
}

fn joined(server: &ServerName, tool: &str) -> String {
    format!("{server}{SEPARATOR}{tool}")
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

fn fits(server: &ServerName, tool: &str) -> bool {
    let length = server.as_str().len() + SEPARATOR.len() + tool.len();
    let is_free = !OWN_TOOLS.contains(&tool);
    is_free && !tool.is_empty() && length <= MAX_TOOL_NAME && tool.chars().all(is_plain)
}

fn shortened(server: &ServerName, tool: &str) -> String {
    let hash = hex::encode(Sha256::digest(tool.as_bytes()));
    let room = MAX_TOOL_NAME - server.as_str().len() - SEPARATOR.len() - 1 - HASH_DIGITS;
    let readable: String = tool.chars().map(|c| if is_plain(c) { c } else { '_' }).take(room).collect();
    joined(server, &format!("{readable}_{}", &hash[..HASH_DIGITS]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(name: &str) -> ServerName {
        name.parse().unwrap()
    }

    #[test]
    fn names_of_servers() {
        let longest = "a".repeat(32);
        for name in ["a", "github", "my-server-2", "0", &longest] {
            assert_eq!(server(name).as_str(), name);
        }
        let too_long = "a".repeat(33);
        for name in ["", "Git", "my_server", "a b", "a__b", "ä", "../x", &too_long] {
            assert!(name.parse::<ServerName>().unwrap_err().message.contains("a-z, 0-9 and -"), "{name}");
        }
        assert_eq!(ServerName::of_tool("git-hub__create__issue"), Some(server("git-hub")));
        assert_eq!(ServerName::of_tool("run_command"), None);
    }

    #[test]
    fn every_name_is_taken_by_every_provider_and_none_is_used_twice() {
        let long = "x".repeat(300);
        let longer = format!("{long}y");
        let tools =
            ["read", "read", "files/read", "files.read", "files_read", &long, &longer, "", "größe", "a b", "a_b"];
        let names = offered_names(&server("fs"), tools);
        let given: Vec<_> = names.iter().flatten().collect();
        assert_eq!(names[0].as_deref(), Some("fs__read"));
        assert_eq!((&names[1], names[4].as_deref()), (&None, Some("fs__files_read")));
        assert!(given.iter().all(|name| name.len() <= MAX_TOOL_NAME && name.chars().all(is_plain)), "{given:?}");
        assert_eq!(given.iter().collect::<HashSet<_>>().len(), tools.len() - 1);
        assert_eq!(offered_names(&server("fs"), ["a b"]), [names[9].clone()]);
    }

    #[test]
    fn no_tool_of_a_server_has_the_name_of_the_one_that_reads_its_resources() {
        let names = offered_names(&server("fs"), ["read_resource", "read", "read_prompt", "complete_argument"]);
        assert!(!names.contains(&Some("fs__read_prompt".to_owned())), "{names:?}");
        assert!(!names.contains(&Some("fs__complete_argument".to_owned())), "{names:?}");
        assert_ne!(names[0].as_deref(), Some("fs__read_resource"));
        assert!(names[0].as_deref().unwrap().starts_with("fs__read_resource_"), "{names:?}");
        assert_eq!(names[1].as_deref(), Some("fs__read"));
    }

    #[test]
    fn a_tool_with_the_name_that_another_one_is_given_keeps_it() {
        let made = offered_names(&server("fs"), ["a b"]).remove(0).unwrap();
        let plain = made.strip_prefix("fs__").unwrap();
        assert_eq!(offered_names(&server("fs"), ["a b", plain]), [None, Some(made.clone())]);
    }
}
