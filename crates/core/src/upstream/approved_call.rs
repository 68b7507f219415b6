//! A call of an approved plan compared with what is known of its server: an approval does not outlive what was accepted.

use serde_json::Value;

use super::{ServerName, ToolDifference, UpstreamTool, argument_problems, offered_names};
use crate::visible::{quoted, visible};

/// The end of the name of the tool that reads resources of a server.
const READS_RESOURCES: &str = "__read_resource";

/// What is known of the tools of a server.
#[derive(Debug, Clone, Copy, Default)]
pub struct KnownTools<'a> {
    /// The program that makes the calls of the session was started without the server.
    pub is_missing: bool,
    /// What a person accepted.
    pub accepted: Option<&'a [UpstreamTool]>,
    /// What the server offered last.
    pub offered: Option<&'a [UpstreamTool]>,
}

/// Why a call of this tool of the server cannot be made, as a sentence. `None` if nothing is known to be in its way.
pub fn why_not_made(server: &ServerName, known: KnownTools<'_>, tool: &str, arguments: &Value) -> Option<String> {
    if known.is_missing {
        return Some(format!(
            "no MCP server {server} is configured where the calls of this session are made. Configure it again, with \
             `planwright mcp-server add {server} -- COMMAND` or `--upstream`, and start the agent's program anew."
        ));
    }
    let Some(accepted) = known.accepted else {
        return Some(format!(
            "no person has accepted the tools of the MCP server {server}. `planwright mcp-server accept {server}` shows them."
        ));
    };
    let names = offered_names(server, accepted.iter().map(|tool| tool.name.as_str()));
    let found = accepted.iter().zip(names).find(|(_, name)| name.as_deref() == Some(tool)).map(|(tool, _)| tool);
    let Some(found) = found else {
        let is_own = tool.strip_prefix(server.as_str()) == Some(READS_RESOURCES);
        return (!is_own)
            .then(|| format!("the MCP server {server} has no tool {} that a person accepted.", quoted(tool)));
    };
    let difference = known.offered.map(|offered| ToolDifference::between(accepted, offered)).unwrap_or_default();
    if difference.removed.iter().any(|removed| removed.name == found.name) {
        return Some(format!("the MCP server {server} does not offer {} any more.", quoted(&found.name)));
    }
    if difference.changed.iter().any(|changed| changed.after.name == found.name) {
        return Some(format!(
            "the MCP server {server} describes its tool {} differently since a person accepted it. `planwright mcp-server accept \
             {server}` shows the difference.",
            quoted(&found.name)
        ));
    }
    let problems = argument_problems(&found.input_schema, arguments);
    let first = problems.first()?;
    Some(format!(
        "the arguments of {} do not fit the tool any more: {}: {}.",
        quoted(tool),
        visible(&first.path),
        visible(&first.message)
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::upstream::UpstreamAnnotations;

    fn tool(name: &str, description: &str, required: &[&str]) -> UpstreamTool {
        UpstreamTool {
            name: name.to_owned(),
            title: None,
            description: description.to_owned(),
            input_schema: json!({ "type": "object", "required": required }),
            output_schema: None,
            annotations: UpstreamAnnotations::default(),
        }
    }

    fn why(accepted: Option<&[UpstreamTool]>, offered: Option<&[UpstreamTool]>, called: &str) -> Option<String> {
        let server: ServerName = "up".parse().unwrap();
        why_not_made(&server, KnownTools { is_missing: false, accepted, offered }, called, &json!({ "text": "x" }))
    }

    #[test]
    fn what_is_in_the_way_of_an_approved_call_is_said() {
        let note = tool("note", "Notes.", &["text"]);
        let accepted = [note.clone(), tool("other", "x", &["path"])];
        for (offered, called, expected) in [
            (vec![], "up__note", "does not offer `note` any more"),
            (vec![tool("note", "Sends.", &["text"])], "up__note", "describes its tool `note` differently"),
            (vec![accepted[1].clone()], "up__other", "do not fit the tool any more"),
            (vec![note.clone()], "up__gone", "has no tool `up__gone` that a person accepted"),
        ] {
            let why = why(Some(&accepted), Some(&offered), called).unwrap();
            assert!(why.contains(expected) && why.ends_with('.'), "{called}: {why}");
        }
        assert!(why(None, Some(&accepted), "up__note").unwrap().starts_with("no person has accepted"));
    }

    #[test]
    fn a_server_that_is_not_configured_any_more_comes_before_its_tools() {
        let (server, accepted) = ("up".parse().unwrap(), [tool("note", "Notes.", &[])]);
        let known = KnownTools { is_missing: true, accepted: Some(&accepted), offered: Some(&accepted) };
        let why = why_not_made(&server, known, "up__note", &json!({})).unwrap();
        assert!(why.starts_with("no MCP server up is configured") && why.ends_with('.'), "{why}");
    }

    #[test]
    fn a_call_that_can_be_made_is_not_named() {
        let accepted = [tool("note", "Notes.", &["text"])];
        assert_eq!(why(Some(&accepted), Some(&accepted), "up__note"), None);
        assert_eq!(why(Some(&accepted), None, "up__note"), None, "the server was not seen since");
        assert_eq!(why(Some(&accepted), Some(&accepted), "up__read_resource"), None);
    }
}
