//! What a specialist may use.

use std::time::Duration;

use crate::refusal::Refusal;
use crate::visible::quoted;

/// Where nothing is said, a specialist has what every other has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SpecialistOptions {
    /// Names of tools, or beginnings of names that end in `*`. The tool for its report is always there.
    pub tools: Option<Vec<String>>,
    /// The model that answers, such as `openai:NAME`; the one of the configuration if absent.
    pub model: Option<String>,
    /// The name of the sandbox level of its commands.
    pub sandbox: Option<String>,
    pub model_calls: Option<u32>,
    pub tool_calls: Option<u32>,
    /// Tokens sent and received in one turn.
    pub tokens: Option<u64>,
    /// How long one turn may take.
    pub time: Option<Duration>,
}

impl SpecialistOptions {
    pub fn permits_tool(&self, name: &str) -> bool {
        let matches = |listed: &String| match listed.strip_suffix('*') {
            Some(beginning) => name.starts_with(beginning),
            None => listed == name,
        };
        self.tools.as_ref().is_none_or(|tools| tools.iter().any(matches))
    }

    pub fn check_tool_names(&self) -> Result<(), String> {
        let is_name = |tool: &String| !tool.trim_end_matches('*').is_empty() && !tool.contains(char::is_whitespace);
        match self.tools.iter().flatten().find(|tool| !is_name(tool)) {
            Some(wrong) => Err(format!("{} is not the name of a tool", quoted(wrong))),
            None => Ok(()),
        }
    }

    /// The refusal of a tool that is not among those of the specialist.
    pub fn check_tool(&self, specialist: &str, name: &str) -> Result<(), Refusal> {
        if self.permits_tool(name) {
            return Ok(());
        }
        let message = format!("{} is not among the tools of the specialist {}.", quoted(name), quoted(specialist));
        Err(Refusal::policy_denied(message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_named_whole_or_by_their_beginning() {
        let tools = ["read_file", "github__*"].map(str::to_owned).to_vec();
        let some = SpecialistOptions { tools: Some(tools), ..SpecialistOptions::default() };
        for (name, permitted) in [
            ("read_file", true),
            ("read_files", false),
            ("write_file", false),
            ("github__issues", true),
            ("github_", false),
            ("", false),
        ] {
            assert_eq!(some.permits_tool(name), permitted, "{name}");
        }
        assert!(SpecialistOptions::default().permits_tool("write_file"));
        let none = SpecialistOptions { tools: Some(Vec::new()), ..SpecialistOptions::default() };
        assert!(!none.permits_tool("read_file"));
    }
}
