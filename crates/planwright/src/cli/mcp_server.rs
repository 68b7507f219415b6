//! The arguments of `planwright mcp-server`.

use clap::{Args, Subcommand};
use planwright_core::plan::Digest;
use planwright_core::refusal::Refusal;
use planwright_core::upstream::ServerName;

pub(super) const MCP_SERVER: &str = "\
A server is a program that Planwright starts, or an address. Its tools are NAME__tool. The agent is given them after a \
person has accepted them; what the server changes afterwards is refused until a person accepts the difference. Servers are kept \
in planwright.toml. docs/upstream.md says more.

A program runs in the sandbox: it writes below a folder of its own and below the folders that its command names, and has no \
network. --network, --read, --write and --sandbox open give it more; they are your word, which the store keeps.

  planwright mcp-server add files --network -- npx -y @modelcontextprotocol/server-filesystem /home/me/notes
  planwright mcp-server add search --url https://example.org/mcp --header 'Authorization=Bearer ${SEARCH_TOKEN}'";

#[derive(Debug, Args)]
pub(crate) struct McpServerArgs {
    #[command(subcommand)]
    pub(crate) command: McpServerCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum McpServerCommand {
    /// Add a server to the configuration, show its tools, and accept them
    Add(AddServerArgs),
    /// List the servers
    List,
    /// Show a server, its tools, and what there is to accept
    Show {
        #[arg(value_name = "NAME", value_parser = server_name)]
        name: ServerName,
    },
    /// Remove a server from the configuration, and forget what was accepted of it
    Remove {
        #[arg(value_name = "NAME", value_parser = server_name)]
        name: ServerName,
    },
    /// Accept the tools that a server offers now, after you have seen what is new
    Accept {
        #[arg(value_name = "NAME", value_parser = server_name)]
        name: ServerName,
        /// Accept exactly the offer with this digest, without asking
        #[arg(long, value_name = "DIGEST", value_parser = digest)]
        digest: Option<Digest>,
        /// Believe the server about which of its tools only read or may be repeated: calls that only read run at once
        #[arg(long)]
        trust_annotations: bool,
        /// The approver who accepts them, where the policy asks for a passphrase
        #[arg(long, value_name = "NAME")]
        approver: Option<String>,
        /// Allow what the server's settings ask to reach: the network, further folders, or to run without a sandbox
        #[arg(long)]
        allow_access: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct AddServerArgs {
    /// 1 to 32 of the characters a-z, 0-9 and -
    #[arg(value_name = "NAME", value_parser = server_name)]
    pub(crate) name: ServerName,
    /// The address of a server that speaks streamable HTTP
    #[arg(long, value_name = "URL", conflicts_with = "program")]
    pub(crate) url: Option<String>,
    /// A header for the address, as NAME=VALUE; ${VARIABLE} in it is read when the server is used
    #[arg(long = "header", value_name = "NAME=VALUE", value_parser = pair, requires = "url")]
    pub(crate) headers: Vec<(String, String)>,
    /// A variable for the program, as NAME=VALUE; ${VARIABLE} in it is read when the program is started
    #[arg(long = "env", value_name = "NAME=VALUE", value_parser = pair, requires = "program")]
    pub(crate) environment: Vec<(String, String)>,
    /// The folder that the program starts in [default: one of its own in the data folder]
    #[arg(long, value_name = "DIR", requires = "program")]
    pub(crate) cwd: Option<std::path::PathBuf>,
    /// What the program may do: read_only, workspace or open, which is no sandbox [default: workspace]
    #[arg(long, value_name = "LEVEL", requires = "program")]
    pub(crate) sandbox: Option<String>,
    /// Give the program the network of this machine
    #[arg(long, requires = "program")]
    pub(crate) network: bool,
    /// A further folder or file that the program may read; may be given several times
    #[arg(long = "read", value_name = "PATH", requires = "program")]
    pub(crate) read: Vec<std::path::PathBuf>,
    /// A further folder that the program may write below; may be given several times
    #[arg(long = "write", value_name = "DIR", requires = "program")]
    pub(crate) write: Vec<std::path::PathBuf>,
    /// Trust the server about which of its tools only read or may be repeated
    #[arg(long)]
    pub(crate) trust_annotations: bool,
    /// The approver who accepts its tools, where the policy asks for a passphrase
    #[arg(long, value_name = "NAME")]
    pub(crate) approver: Option<String>,
    /// Give the agent only tools whose names match; may be given several times
    #[arg(long = "tool", value_name = "PATTERN")]
    pub(crate) tools: Vec<String>,
    /// The program and its arguments; no shell reads them
    #[arg(last = true, value_name = "COMMAND", id = "program", required_unless_present = "url")]
    pub(crate) command: Vec<String>,
}

fn server_name(text: &str) -> Result<ServerName, String> {
    text.parse().map_err(|refusal: Refusal| refusal.message)
}

fn digest(text: &str) -> Result<Digest, String> {
    text.parse().map_err(|refusal: Refusal| refusal.message)
}

/// The value is not repeated in an error: it may be a secret.
fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        Some(_) | None => Err("write it as NAME=VALUE".to_owned()),
    }
}
