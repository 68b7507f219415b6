//! What a plan may do, read off its content.

use std::collections::BTreeSet;

use crate::approval::{ApprovalPolicy, Require, Risk};
use crate::identity::Channel;
use crate::plan::{Plan, PlanContent};

impl Plan {
    /// Everything that carrying it out may do. A plan that only reads has no other risk.
    pub fn risks(&self) -> BTreeSet<Risk> {
        let mut risks = match &self.content {
            // A document is carried out by an agent that chooses its calls itself.
            PlanContent::Document(_) | PlanContent::Build(_) => BTreeSet::from([Risk::ChangesFiles]),
            PlanContent::Collect(collected) => {
                let mut risks = BTreeSet::new();
                collected.steps.iter().for_each(|call| risks.extend(risks_of(&call.tool)));
                risks
            }
        };
        if !self.content.commands(|_| true).is_empty() {
            risks.insert(Risk::Commands);
        }
        // The client's agent has tools of its own.
        let is_external = matches!(self.session.channel, Channel::Mcp | Channel::Acp);
        if is_external && matches!(self.content, PlanContent::Document(_) | PlanContent::Build(_)) {
            risks.extend([Risk::Commands, Risk::Network]);
        }
        if risks.len() > 1 {
            risks.remove(&Risk::ReadsOnly);
        }
        if risks.is_empty() {
            risks.insert(Risk::ReadsOnly);
        }
        risks
    }
}

impl Plan {
    /// What approving and continuing it takes.
    pub fn requirement(&self, policy: &ApprovalPolicy) -> Require {
        policy.requirement(self.session.channel, &self.risks())
    }
}

/// What permitting a call of a tool takes in sessions of this channel.
pub fn requirement_of_call(policy: &ApprovalPolicy, channel: Channel, tool: &str) -> Require {
    policy.requirement(channel, &tool_risks(tool))
}

/// What a call of a tool may do. A tool that Planwright does not know may do anything.
pub fn tool_risks(tool: &str) -> BTreeSet<Risk> {
    risks_of(tool).iter().copied().collect()
}

fn risks_of(tool: &str) -> &'static [Risk] {
    match tool {
        "list_files" | "glob_files" | "grep_files" | "read_file" | "plan_get" | "plan_list" | "memory_search"
        | "command_output" | "read_plan" | "list_plans" => &[Risk::ReadsOnly],
        "write_file" | "edit_file" | "delete_file" | "move_file" => &[Risk::ChangesFiles],
        "run_command" | "stop_command" => &[Risk::Commands],
        upstream if upstream.contains("__") => &[Risk::Upstream],
        _ => &[Risk::ChangesFiles, Risk::Commands, Risk::Network],
    }
}
