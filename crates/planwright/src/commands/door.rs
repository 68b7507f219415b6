//! Which commands change the store, its tools or the configuration of clients as a whole: an agent's process is refused.

use crate::cli::{CliCommand, McpServerCommand};

/// Whether the command passes the door before it does anything. What the other commands do is checked where it is done: in
/// a session by the rules of `core`, and for approvers and links by their own commands.
pub(super) fn needs_person(command: &CliCommand) -> bool {
    match command {
        CliCommand::McpServer(arguments) => match &arguments.command {
            McpServerCommand::Add(_) | McpServerCommand::Remove { .. } => true,
            McpServerCommand::List | McpServerCommand::Show { .. } | McpServerCommand::Accept { .. } => false,
        },
        CliCommand::Install(_)
        | CliCommand::Uninstall(_)
        | CliCommand::Import(_)
        | CliCommand::Restore(_)
        | CliCommand::Telegram(_) => true,
        CliCommand::Token(arguments) => arguments.replaces(),
        CliCommand::Chat(_)
        | CliCommand::Plan(_)
        | CliCommand::Inbox(_)
        | CliCommand::Sessions(_)
        | CliCommand::Memory(_)
        | CliCommand::Auto(_)
        | CliCommand::Goal(_)
        | CliCommand::Task(_)
        | CliCommand::Schedule(_)
        | CliCommand::Diary(_)
        | CliCommand::Mcp(_)
        | CliCommand::Hook(_)
        | CliCommand::Serve(_)
        | CliCommand::Dashboard(_)
        | CliCommand::Backup(_)
        | CliCommand::Init(_)
        | CliCommand::Approver(_)
        | CliCommand::Config(_)
        | CliCommand::Verify(_)
        | CliCommand::Doctor
        | CliCommand::Health(_)
        | CliCommand::Tour(_) => false,
    }
}
