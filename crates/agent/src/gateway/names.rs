//! Names of tools that the agent of another program gives: those that no tool has, and those that only look like one.

use planwright_core::refusal::Refusal;
use planwright_core::upstream::{ServerName, check_tool_name, no_such_tool};
use serde_json::Value;

use super::Gateway;

impl Gateway {
    /// Refuses a call for a plan if it names a tool that only looks like one, or one that its server does not have, or if
    /// the arguments are not those of the tool. Any other name is a tool of the agent's own program.
    pub fn check_planned(&self, name: &str, arguments: &Value) -> Result<(), Refusal> {
        if let Some(tool) = self.agent.upstream().and_then(|upstream| upstream.get(name)) {
            // Clients that know no objects give them as JSON text.
            let given = match arguments {
                Value::String(text) => serde_json::from_str(text).unwrap_or_else(|_| arguments.clone()),
                given => given.clone(),
            };
            return match given {
                Value::Object(given) => tool.check(&given),
                // The plan tool says what it expects.
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Ok(()),
            };
        }
        let (known, servers) = (self.names(), self.server_names());
        check_tool_name(name, &as_text(&known), &as_text(&servers))
    }

    /// The refusal of a call to a tool that this process does not have; `None` if it has the tool. `own` are the names of the
    /// plan tools that the agent has.
    pub fn refuse_unknown(&self, name: &str, own: &[&str]) -> Option<Refusal> {
        if own.contains(&name) || self.agent.context.toolbox.get(name).is_some() {
            return None;
        }
        let (mut known, servers) = (self.names(), self.server_names());
        if let Err(refusal) = check_tool_name(name, &as_text(&known), &as_text(&servers)) {
            return Some(refusal);
        }
        known.extend(own.iter().map(|name| (*name).to_owned()));
        Some(no_such_tool(name, &as_text(&known)))
    }

    fn names(&self) -> Vec<String> {
        self.tools().into_iter().map(|tool| tool.spec.name).collect()
    }

    fn server_names(&self) -> Vec<String> {
        let servers = self.agent.upstream().map(|upstream| upstream.servers()).unwrap_or_default();
        servers.iter().map(|server| &server.name).map(ServerName::to_string).collect()
    }
}

fn as_text(names: &[String]) -> Vec<&str> {
    names.iter().map(String::as_str).collect()
}
