//! Rules as a person writes them, and as they are compared with calls.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use globset::{GlobBuilder, GlobMatcher};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::shell::{CommandWords, ShellLine};
use super::{CallTarget, GuardedFiles, Permission, PermissionCall};
use crate::gate::ToolEffect;
use crate::plan::digest::is_same;
use crate::refusal::Refusal;
use crate::standing_rule::{PermittedCalls, RulePlace, StandingRule, StoredRule};
use crate::visible::quoted;
use crate::workspace::normal;

/// The tool whose target is a shell line.
pub const RUN_COMMAND: &str = "run_command";
const READ_FILE: &str = "read_file";
const GREP_FILES: &str = "grep_files";

/// One rule of the settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PermissionRule {
    /// A tool's name, with `*` for any characters.
    #[serde(default = "any")]
    pub tool: String,
    /// The first words of a command, or a glob for paths below the workspace.
    #[serde(default, rename = "match", skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The upstream server the tool comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<RuleEffect>,
    /// For a command: it has these words and no more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exact: bool,
    pub decide: Permission,
}

/// A tool's effect, as a rule names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleEffect {
    ReadsOnly,
    Repeatable,
    Changes,
}

impl RuleEffect {
    const fn effect(self) -> ToolEffect {
        match self {
            Self::ReadsOnly => ToolEffect::ReadsOnly,
            Self::Repeatable => ToolEffect::Repeatable,
            Self::Changes => ToolEffect::Changes,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::ReadsOnly => "reads_only",
            Self::Repeatable => "repeatable",
            Self::Changes => "changes",
        }
    }
}

fn any() -> String {
    "*".to_owned()
}

impl fmt::Display for PermissionRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tool = {:?}", self.tool)?;
        if let Some(target) = &self.target {
            write!(f, ", match = {target:?}")?;
        }
        if let Some(server) = &self.server {
            write!(f, ", server = {server:?}")?;
        }
        if let Some(effect) = self.effect {
            write!(f, ", effect = {:?}", effect.name())?;
        }
        if self.exact {
            write!(f, ", exact = true")?;
        }
        write!(f, ", decide = {:?}", self.decide.name())
    }
}

/// Rules that were read and found to make sense, in the order in which they were written.
#[derive(Debug, Clone, Default)]
pub struct PermissionRules {
    rules: Vec<CompiledRule>,
    guarded: GuardedFiles,
}

#[derive(Debug, Clone)]
pub(super) struct CompiledRule {
    pub(super) rule: PermissionRule,
    tool: GlobMatcher,
    target: RuleTarget,
    /// Of a rule of the store.
    stored: Option<(u64, Box<StandingRule>)>,
}

/// What the words of `match` are. A rule for tools of both kinds has both readings.
#[derive(Debug, Clone)]
enum RuleTarget {
    Any,
    Some { words: Option<CommandWords>, paths: Option<Box<Paths>> },
}

/// A glob in two readings: exactly as written, and without regard to case for rules that stop.
#[derive(Debug, Clone)]
struct Paths {
    exact: GlobMatcher,
    any_case: GlobMatcher,
}

/// Larger is narrower: what is named of the target, then of the tool, then of its origin.
pub(super) type Narrowness = (usize, usize, bool, bool);

/// The paths that rules keep a tool from. A search passes them by.
#[derive(Debug, Clone, Default)]
pub struct DeniedPaths(Arc<[GlobMatcher]>);

impl DeniedPaths {
    pub fn contains(&self, path: &str) -> bool {
        self.0.iter().any(|glob| glob.is_match(path))
    }
}

impl PermissionRules {
    /// Refuses the first rule that could never mean what it says.
    pub fn new(rules: Vec<PermissionRule>) -> Result<Self, Refusal> {
        let compiled = rules.into_iter().zip(1..).map(|(rule, position)| {
            compile(rule.clone()).map_err(|reason| {
                Refusal::invalid(format!("Permission rule {position} ({rule}) cannot be used: {reason}."))
            })
        });
        let rules = compiled.collect::<Result<_, _>>()?;
        Ok(Self { rules, guarded: GuardedFiles::default() })
    }

    /// With these files that later run or instruct.
    #[must_use]
    pub fn guarding(self, guarded: GuardedFiles) -> Self {
        Self { guarded, ..self }
    }

    pub fn guarded(&self) -> &GuardedFiles {
        &self.guarded
    }

    /// These rules and those of the store that count in this place.
    pub fn with_stored(&self, stored: &BTreeMap<u64, StoredRule>, place: &RulePlace) -> Result<Self, Refusal> {
        let here = stored.iter().filter(|(_, rule)| rule.rule.counts_in(place));
        let compiled = here.map(|(number, StoredRule { rule, .. })| match written(rule).and_then(compile) {
            Ok(compiled) => Ok(CompiledRule { stored: Some((*number, Box::new(rule.clone()))), ..compiled }),
            Err(reason) => Err(Refusal::invalid(format!("Rule {number} of the store cannot be used: {reason}."))),
        });
        let rules = self.rules.iter().cloned().map(Ok).chain(compiled).collect::<Result<_, _>>()?;
        Ok(Self { rules, guarded: self.guarded.clone() })
    }

    pub fn rules(&self) -> impl Iterator<Item = &PermissionRule> {
        self.rules.iter().map(|compiled| &compiled.rule)
    }

    /// The paths that a tool may not find. What may not be read is not searched either.
    pub fn denied_paths(&self, tool: &str, effect: ToolEffect) -> DeniedPaths {
        let arguments = serde_json::Value::Null;
        let call = |tool| PermissionCall { tool, arguments: &arguments, effect, target: CallTarget::None };
        let (own, reading) = (call(tool), call(READ_FILE));
        let is_about = |rule: &&CompiledRule| rule.is_about(&own) || (tool == GREP_FILES && rule.is_about(&reading));
        let denying = self.rules.iter().filter(|rule| rule.rule.decide == Permission::Deny).filter(is_about);
        DeniedPaths(denying.filter_map(|rule| rule.paths()).map(|paths| paths.any_case.clone()).collect())
    }

    /// `line` is what the call runs, if it runs a command.
    pub(super) fn matching(
        &self,
        call: &PermissionCall<'_>,
        line: Option<&ShellLine>,
    ) -> impl Iterator<Item = (usize, &CompiledRule)> {
        let matches = move |rule: &CompiledRule| rule.is_about(call) && rule.matches_target(&call.target, line);
        self.rules.iter().enumerate().filter(move |(_, rule)| matches(rule))
    }

    /// A rule that stops some commands, and about which a line that cannot be read says nothing.
    pub(super) fn stopping_commands(&self, call: &PermissionCall<'_>) -> Option<(usize, &CompiledRule)> {
        self.rules.iter().enumerate().find(|(_, rule)| {
            let stops = match rule.rule.decide {
                Permission::Deny | Permission::Ask => true,
                Permission::Allow => false,
            };
            stops && rule.names_commands() && rule.is_about(call)
        })
    }
}

/// A rule of the store as one of the settings would say it, except for the arguments.
fn written(rule: &StandingRule) -> Result<PermissionRule, String> {
    let (tool, target, exact) = match &rule.permits {
        PermittedCalls::Command { line } => (RUN_COMMAND, Some(line.clone()), true),
        PermittedCalls::Path { tool, path } => (tool.as_str(), Some(globset::escape(path)), false),
        PermittedCalls::Call { tool, .. } => (tool.as_str(), None, false),
        PermittedCalls::Written { rule } => {
            return serde_json::from_value(rule.clone()).map_err(|error| error.to_string());
        }
    };
    let (tool, decide) = (globset::escape(tool), Permission::Allow);
    Ok(PermissionRule { tool, target, server: None, effect: None, exact, decide })
}

fn compile(rule: PermissionRule) -> Result<CompiledRule, String> {
    let tool = glob(&rule.tool, true)?;
    let target = match &rule.target {
        None => RuleTarget::Any,
        Some(text) => {
            let words = match ShellLine::parse(text) {
                ShellLine::Words(words) => Some(CommandWords(words)),
                ShellLine::Complex => None,
            };
            let commands_only = rule.tool == RUN_COMMAND;
            if commands_only && words.is_none() {
                return Err(format!(
                    "{} is not one program with plain words; leave `match` out for every command",
                    quoted(text)
                ));
            }
            let paths = match commands_only {
                true => None,
                false => Some(Box::new(Paths { exact: glob(text, true)?, any_case: glob(text, false)? })),
            };
            RuleTarget::Some { words: words.filter(|_| tool.is_match(RUN_COMMAND)), paths }
        }
    };
    Ok(CompiledRule { rule, tool, target, stored: None })
}

fn glob(text: &str, case_matters: bool) -> Result<GlobMatcher, String> {
    let glob = GlobBuilder::new(text.strip_prefix("./").unwrap_or(text))
        .literal_separator(true)
        .case_insensitive(!case_matters)
        .build()
        .map_err(|error| format!("{} is not a glob: {}", quoted(text), error.kind()))?;
    Ok(glob.compile_matcher())
}

impl CompiledRule {
    fn is_about(&self, call: &PermissionCall<'_>) -> bool {
        self.tool.is_match(call.tool)
            && self.rule.server.as_deref().is_none_or(|server| call.server() == Some(server))
            && self.rule.effect.is_none_or(|effect| effect.effect() == call.effect)
            && self.arguments().is_none_or(|arguments| is_same(arguments, call.arguments))
    }

    fn matches_target(&self, target: &CallTarget<'_>, line: Option<&ShellLine>) -> bool {
        let RuleTarget::Some { words, paths } = &self.target else { return true };
        let stops = match self.rule.decide {
            Permission::Allow => false,
            Permission::Ask | Permission::Deny => true,
        };
        match target {
            CallTarget::Command(text) => {
                words.as_ref().zip(line).is_some_and(|(words, line)| match (stops, self.rule.exact) {
                    (true, _) => words.concerns(text, line),
                    (false, true) => words.are(line),
                    (false, false) => words.covers(line),
                })
            }
            CallTarget::Paths(named) => paths.as_ref().is_some_and(|paths| match stops {
                true => named.iter().any(|path| paths.concern(path)),
                false => !named.is_empty() && named.iter().all(|path| paths.cover(path)),
            }),
            CallTarget::None => false,
        }
    }

    /// Its number and the whole rule, if it is one of the store.
    pub(super) fn stored(&self) -> Option<(u64, StandingRule)> {
        self.stored.as_ref().map(|(number, rule)| (*number, (**rule).clone()))
    }

    fn arguments(&self) -> Option<&Value> {
        match &self.stored.as_ref()?.1.permits {
            PermittedCalls::Call { arguments, .. } => Some(arguments),
            PermittedCalls::Command { .. } | PermittedCalls::Path { .. } | PermittedCalls::Written { .. } => None,
        }
    }

    fn paths(&self) -> Option<&Paths> {
        match &self.target {
            RuleTarget::Some { paths, .. } => paths.as_deref(),
            RuleTarget::Any => None,
        }
    }

    fn names_commands(&self) -> bool {
        matches!(&self.target, RuleTarget::Some { words: Some(_), .. })
    }

    /// Whether it allows commands without naming any.
    pub(super) fn allows_every_command(&self) -> bool {
        self.rule.decide == Permission::Allow && !self.names_commands() && self.arguments().is_none()
    }

    pub(super) fn narrowness(&self, target: &CallTarget<'_>) -> Narrowness {
        let literal = |text: &str| text.chars().filter(|letter| !"*?[]{}".contains(*letter)).count();
        let named = match (&self.target, target) {
            (RuleTarget::Some { words: Some(words), .. }, CallTarget::Command(_)) => words.0.len(),
            (RuleTarget::Some { .. }, _) => self.rule.target.as_deref().map_or(0, |text| 1 + literal(text)),
            (RuleTarget::Any, _) if self.arguments().is_some() => usize::MAX,
            (RuleTarget::Any, _) => 0,
        };
        let tool = literal(&self.rule.tool) + usize::from(!self.rule.tool.contains('*'));
        (named, tool, self.rule.server.is_some(), self.rule.effect.is_some())
    }

    /// For the choice among rules: the narrowest first, of equally narrow ones the strictest, then the earliest.
    pub(super) fn rank(&self, index: usize, target: &CallTarget<'_>) -> (Narrowness, Permission, Reverse<usize>) {
        (self.narrowness(target), self.rule.decide, Reverse(index))
    }
}

impl Paths {
    fn cover(&self, path: &str) -> bool {
        normal(path).is_some_and(|path| self.exact.is_match(path))
    }

    /// A path that leads out of the workspace is compared as it is written too.
    fn concern(&self, path: &str) -> bool {
        self.any_case.is_match(path) || normal(path).is_some_and(|path| self.any_case.is_match(path))
    }
}
