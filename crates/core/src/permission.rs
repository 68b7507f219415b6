//! Whether a call runs, is asked about, or is denied.
//!
//! The gate says which tools there are; this says whether a person has permitted the call. The decision is one pure
//! function over the rules, the call, the workspace and the approved plan that is being carried out. It names the rule or
//! the default that decided.
//!
//! - [`own_command`]: whether a shell line may run a command of Planwright that asks for a person
//! - [`reading`]: when a shell line certainly only reads
//! - [`rule`]: rules and what they match
//! - [`shell`]: when a shell line is one program with plain words

pub mod own_command;
pub mod reading;
pub mod rule;
pub mod shell;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::gate::ToolEffect;
use crate::plan::PlanNeeds;
use crate::plan::content::RecordedCall;
use crate::plan::digest::is_same;
use crate::standing_rule::{PermittedCalls, RulePlace, StandingRule};
use crate::visible::quoted;

pub use crate::guarded_files::{GuardedFiles, is_git_name};
pub use own_command::may_decide;
pub use reading::{ReadingLine, has_other_quotes, only_reads};
pub use rule::{DeniedPaths, PermissionRule, PermissionRules, RUN_COMMAND, RuleEffect};
pub use shell::{ShellLine, covers_line};

/// What becomes of a call. The later, the stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    Allow,
    /// A person decides about this call.
    Ask,
    Deny,
}

impl Permission {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// A call that passed the gate.
#[derive(Debug, Clone, Copy)]
pub struct PermissionCall<'a> {
    pub tool: &'a str,
    pub arguments: &'a Value,
    pub effect: ToolEffect,
    pub target: CallTarget<'a>,
}

/// What a call acts on.
#[derive(Debug, Clone, Copy)]
pub enum CallTarget<'a> {
    /// A shell line.
    Command(&'a str),
    /// Paths below the workspace, after links were resolved.
    Paths(&'a [String]),
    /// Something that rules do not name further.
    None,
}

impl<'a> PermissionCall<'a> {
    /// The upstream server that the tool comes from.
    pub fn server(&self) -> Option<&'a str> {
        self.tool.split_once("__").map(|(server, _)| server)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkspaceKind {
    /// The session's own folder.
    Own,
    /// A project folder that a person named.
    Project,
}

/// The approved plan that is being carried out.
#[derive(Debug, Clone, Copy, Default)]
pub struct PlanCover<'a> {
    /// The lines of `commands[]` of its approved steps.
    pub commands: &'a [String],
    /// The recorded calls of its approved steps.
    pub calls: &'a [RecordedCall],
    /// The paths that it names anywhere.
    pub files: &'a [String],
    /// What it says that it needs, if it says so: then it covers nothing else.
    pub needs: Option<&'a PlanNeeds>,
}

/// A decision with what decided it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermissionOutcome {
    pub permission: Permission,
    pub reason: PermissionReason,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PermissionReason {
    /// 0-based index within the rules.
    Rule { index: usize, rule: PermissionRule },
    /// A rule of the store, with its number.
    StoredRule { number: u64, rule: StandingRule },
    /// A rule allows every command, and this line may contain one that the named rule stops.
    UnreadableCommand { index: usize, rule: PermissionRule },
    /// The approved plan records exactly this call.
    RecordedCall,
    /// The approved plan names exactly this command.
    PlanCommand,
    /// The approved plan says that it needs this.
    PlanNeed,
    /// The approved plan is carried out, and the change is below the workspace.
    PlanChange,
    /// The tool only reads.
    Reading,
    /// The workspace is the session's own folder.
    OwnFolder,
    /// It changes a file that later runs or instructs, and that no rule and no approved plan names.
    GuardedFile { path: String },
    /// No rule and no approved plan covers it.
    NotCovered,
}

impl PermissionOutcome {
    /// What a rule of the person says, if one decides.
    pub const fn by_rule(&self) -> Option<Permission> {
        match self.reason {
            PermissionReason::Rule { .. } | PermissionReason::StoredRule { .. } => Some(self.permission),
            PermissionReason::UnreadableCommand { .. }
            | PermissionReason::RecordedCall
            | PermissionReason::PlanCommand
            | PermissionReason::PlanNeed
            | PermissionReason::PlanChange
            | PermissionReason::Reading
            | PermissionReason::OwnFolder
            | PermissionReason::GuardedFile { .. }
            | PermissionReason::NotCovered => None,
        }
    }
}

impl PermissionReason {
    /// Whether the approval of the plan is what allows the call.
    pub const fn is_plan_cover(&self) -> bool {
        match self {
            Self::RecordedCall | Self::PlanCommand | Self::PlanNeed | Self::PlanChange => true,
            Self::Rule { .. }
            | Self::StoredRule { .. }
            | Self::UnreadableCommand { .. }
            | Self::Reading
            | Self::OwnFolder
            | Self::GuardedFile { .. }
            | Self::NotCovered => false,
        }
    }

    /// Why, as a sentence.
    pub fn describe(&self) -> String {
        match self {
            Self::Rule { index, rule } => format!("Rule {} decides: {rule}.", index + 1),
            Self::StoredRule { number, rule } => {
                format!("Rule {number} of the store permits {}.", rule.describe())
            }
            Self::UnreadableCommand { index, rule } => format!(
                "The line is more than one program with plain words, so it cannot be compared with rule {}: {rule}.",
                index + 1
            ),
            Self::RecordedCall => "The approved plan records exactly this call.".to_owned(),
            Self::PlanCommand => "The approved plan names exactly this command.".to_owned(),
            Self::PlanNeed => "The approved plan says that it needs this.".to_owned(),
            Self::PlanChange => "The approved plan is being carried out below the workspace.".to_owned(),
            Self::Reading => "The tool only reads.".to_owned(),
            Self::OwnFolder => "The workspace is the session's own folder.".to_owned(),
            Self::GuardedFile { path } => format!(
                "{} is a file that later runs or instructs, and no rule and no approved plan names it.",
                quoted(path)
            ),
            Self::NotCovered => "No rule and no approved plan covers this call.".to_owned(),
        }
    }
}

/// The rule that the answer `always` makes: for a command its exact words, for a call about one path the tool and the path, for
/// every other call exactly its arguments.
pub fn standing_rule(call: &PermissionCall<'_>, place: RulePlace) -> StandingRule {
    let tool = call.tool.to_owned();
    let permits = match call.target {
        CallTarget::Command(line) if matches!(ShellLine::parse(line), ShellLine::Words(_)) && tool == RUN_COMMAND => {
            PermittedCalls::Command { line: line.trim().to_owned() }
        }
        CallTarget::Paths([path]) => PermittedCalls::Path { tool, path: path.clone() },
        CallTarget::Command(_) | CallTarget::Paths(_) | CallTarget::None => {
            PermittedCalls::Call { tool, arguments: call.arguments.clone() }
        }
    };
    StandingRule { permits, place }
}

/// Decides about a call. `plan` is the approved plan that the call is made for, if it is made for one.
pub fn decide_permission(
    rules: &PermissionRules,
    call: &PermissionCall<'_>,
    workspace: WorkspaceKind,
    plan: Option<&PlanCover<'_>>,
) -> PermissionOutcome {
    let line = match call.target {
        CallTarget::Command(text) => Some(ShellLine::parse(text)),
        CallTarget::Paths(_) | CallTarget::None => None,
    };
    let matching: Vec<_> = rules.matching(call, line.as_ref()).collect();
    let by_rule = |(index, compiled): (usize, &rule::CompiledRule)| PermissionOutcome {
        permission: compiled.rule.decide,
        reason: match compiled.stored() {
            Some((number, rule)) => PermissionReason::StoredRule { number, rule },
            None => PermissionReason::Rule { index, rule: compiled.rule.clone() },
        },
    };
    let ranked = |denied_only: bool| {
        let considered = matching.iter().filter(|(_, rule)| !denied_only || rule.rule.decide == Permission::Deny);
        considered.copied().max_by_key(|(index, rule)| rule.rank(*index, &call.target))
    };
    if let Some(denying) = ranked(true) {
        return by_rule(denying);
    }
    if plan.is_some_and(|plan| plan.records(call)) {
        return allowed(PermissionReason::RecordedCall);
    }
    let narrowest = ranked(false);
    if workspace == WorkspaceKind::Project
        && let Some(path) = guarded_path(rules.guarded(), call, plan)
    {
        let names_it = |rule: &rule::CompiledRule| {
            let words = rule.rule.target.as_deref();
            rule.rule.decide != Permission::Allow || words.is_some_and(|words| rules.guarded().is_named(path, words))
        };
        let asked = || PermissionOutcome {
            permission: Permission::Ask,
            reason: PermissionReason::GuardedFile { path: path.to_owned() },
        };
        return narrowest.filter(|(_, rule)| names_it(rule)).map_or_else(asked, by_rule);
    }
    match narrowest {
        Some((_, narrowest)) if narrowest.allows_every_command() && line.as_ref().is_some_and(shell::is_opaque) => {
            match rules.stopping_commands(call) {
                Some((index, stopping)) => PermissionOutcome {
                    permission: Permission::Ask,
                    reason: PermissionReason::UnreadableCommand { index, rule: stopping.rule.clone() },
                },
                None => ranked(false).map_or_else(|| default(call, workspace, plan), by_rule),
            }
        }
        Some(narrowest) => by_rule(narrowest),
        None => default(call, workspace, plan),
    }
}

/// The first path of a change that is guarded and that the plan does not name.
fn guarded_path<'a>(
    guarded: &GuardedFiles,
    call: &PermissionCall<'a>,
    plan: Option<&PlanCover<'_>>,
) -> Option<&'a str> {
    let paths = match (call.effect, call.target) {
        (ToolEffect::ReadsOnly, _) | (_, CallTarget::Command(_) | CallTarget::None) => return None,
        (ToolEffect::Repeatable | ToolEffect::Changes, CallTarget::Paths(paths)) => paths,
    };
    // A plan that says what it needs names a file there, and not somewhere in its text.
    let is_named = |path: &str| {
        plan.is_some_and(|plan| match plan.needs {
            Some(needs) => needs.names_file(path),
            None => plan.files.iter().any(|named| guarded.is_named(path, named)),
        })
    };
    paths.iter().map(String::as_str).find(|path| guarded.contain(path) && !is_named(path))
}

fn allowed(reason: PermissionReason) -> PermissionOutcome {
    PermissionOutcome { permission: Permission::Allow, reason }
}

fn default(call: &PermissionCall<'_>, workspace: WorkspaceKind, plan: Option<&PlanCover<'_>>) -> PermissionOutcome {
    let asked = PermissionOutcome { permission: Permission::Ask, reason: PermissionReason::NotCovered };
    if let Some(needs) = plan.and_then(|plan| plan.needs)
        && needs_cover(needs, call)
    {
        return allowed(PermissionReason::PlanNeed);
    }
    match (call.effect, call.target) {
        // An upstream server is outside of every workspace.
        (ToolEffect::Repeatable | ToolEffect::Changes, _) if call.server().is_some() => asked,
        (ToolEffect::ReadsOnly, CallTarget::Paths(_) | CallTarget::None) => allowed(PermissionReason::Reading),
        (_, CallTarget::Command(line)) => match (workspace, plan) {
            (_, Some(plan)) if plan.names(line) => allowed(PermissionReason::PlanCommand),
            (WorkspaceKind::Own, _) => allowed(PermissionReason::OwnFolder),
            (WorkspaceKind::Project, _) => asked,
        },
        (ToolEffect::Repeatable | ToolEffect::Changes, CallTarget::Paths(_) | CallTarget::None) => {
            match (workspace, plan) {
                (WorkspaceKind::Own, _) => allowed(PermissionReason::OwnFolder),
                (WorkspaceKind::Project, Some(plan)) if plan.needs.is_none() => allowed(PermissionReason::PlanChange),
                (WorkspaceKind::Project, Some(_)) => asked,
                (WorkspaceKind::Project, None) => asked,
            }
        }
    }
}

/// A tool is named for calls that nothing else tells about: the name of the shell would cover every line.
fn needs_cover(needs: &PlanNeeds, call: &PermissionCall<'_>) -> bool {
    match call.target {
        CallTarget::Command(line) => needs.covers_command(line),
        CallTarget::Paths(paths) => call.server().is_none() && needs.covers_files(paths),
        CallTarget::None => needs.covers_tool(call.tool),
    }
}

impl PlanCover<'_> {
    /// The person saw the line, so it may be of any kind; it has to be the same line.
    fn names(&self, line: &str) -> bool {
        self.commands.iter().any(|command| command.trim() == line.trim())
    }

    fn records(&self, call: &PermissionCall<'_>) -> bool {
        self.calls.iter().any(|recorded| recorded.tool == call.tool && is_same(&recorded.arguments, call.arguments))
    }
}
