//! `planwright.toml` as it is written. Every key has a variable: `limits.steps` is `PLANWRIGHT_LIMITS_STEPS`. Only the
//! descriptions of agents have none.

use planwright_core::permission::PermissionRule;
use planwright_core::plan::export::ExportPath;
use planwright_core::policy::{DocumentTools, Limits, OnFailure, Policy, StandingApproval};
use planwright_core::refusal::Refusal;
use planwright_core::turn::TurnLimits;
use serde::Deserialize;

use super::agents::AgentsSection;
use super::approval::ApprovalSection;
use super::auto::{AutoSection, PriceTable};
use super::chat::ChatSection;
use super::files::FilesSection;
use super::gateway::GatewaySection;
use super::guarded::{self, GuardedSettings};
use super::hook::HookSection;
use super::mcp::McpSection;
use super::memory::MemorySection;
use super::notify::NotifySection;
use super::planning_files::PlanningFilesSection;
use super::projects::ProjectsSection;
use super::reply::ReplySection;
use super::sandbox::SandboxSection;
use super::server::ServerSection;
use super::setting::{
    Check, Checked, Choice, Choices, Positive, Seconds, Setting, SettingValue as _, WholeNumber, section,
};
use super::telegram::TelegramSection;
use crate::failure::Failure;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) database: Option<String>,
    pub(super) database_password_command: Option<String>,
    pub(super) agents: Option<AgentsSection>,
    #[serde(default)]
    pub(super) permissions: Vec<PermissionRule>,
    #[serde(default)]
    pub(super) mcp: McpSection,
    pub(super) model: Option<String>,
    pub(super) context_tokens: Option<Positive<u32>>,
    #[serde(default)]
    pub(super) plan: PlanSection,
    #[serde(default)]
    pub(super) approval: ApprovalSection,
    #[serde(default)]
    pub(super) turn: TurnSection,
    #[serde(default)]
    pub(super) auto: AutoSection,
    #[serde(default)]
    pub(super) prices: Vec<PriceTable>,
    #[serde(default)]
    pub(super) memory: MemorySection,
    #[serde(default)]
    pub(super) reply: ReplySection,
    #[serde(default)]
    pub(super) limits: LimitsSection,
    #[serde(default)]
    pub(super) server: ServerSection,
    #[serde(default)]
    pub(super) planning_files: PlanningFilesSection,
    #[serde(default)]
    pub(super) sandbox: SandboxSection,
    #[serde(default)]
    pub(super) projects: ProjectsSection,
    #[serde(default)]
    pub(super) files: FilesSection,
    #[serde(default)]
    pub(super) gateway: GatewaySection,
    #[serde(default)]
    pub(super) hook: HookSection,
    #[serde(default)]
    pub(super) chat: ChatSection,
    #[serde(default)]
    pub(super) telegram: TelegramSection,
    #[serde(default)]
    pub(super) notify: NotifySection,
}

impl File {
    /// Replaces what the file says in its sections by what the variables say.
    pub(super) fn read_variables(&mut self) -> Result<(), Failure> {
        self.plan.read_variables()?;
        self.approval.read_variables()?;
        self.turn.read_variables()?;
        self.auto.read_variables()?;
        self.memory.read_variables()?;
        self.reply.read_variables()?;
        self.limits.read_variables()?;
        self.server.read_variables()?;
        self.sandbox.read_variables()?;
        self.planning_files.read_variables()?;
        self.gateway.read_variables()?;
        self.mcp.read_variables()?;
        self.hook.read_variables()?;
        self.chat.read_variables()?;
        self.projects.read_variables()?;
        self.files.read_variables()?;
        self.telegram.read_variables()?;
        self.notify.read_variables()
    }

    /// Replaces guarded settings by what the store says. Answers what differs, for people.
    pub(super) fn keep_guarded(
        &mut self,
        stored: &GuardedSettings,
        own: &GuardedSettings,
    ) -> Result<Vec<String>, Failure> {
        self.plan.keep_guarded(stored, own)?;
        self.approval.keep_guarded(stored, own)?;
        self.turn.keep_guarded(stored, own)?;
        self.auto.keep_guarded(stored, own)?;
        self.memory.keep_guarded(stored, own)?;
        self.reply.keep_guarded(stored, own)?;
        self.limits.keep_guarded(stored, own)?;
        self.server.keep_guarded(stored, own)?;
        self.sandbox.keep_guarded(stored, own)?;
        self.planning_files.keep_guarded(stored, own)?;
        self.gateway.keep_guarded(stored, own)?;
        self.mcp.keep_guarded(stored, own)?;
        self.hook.keep_guarded(stored, own)?;
        self.chat.keep_guarded(stored, own)?;
        self.projects.keep_guarded(stored, own)?;
        self.files.keep_guarded(stored, own)?;
        self.telegram.keep_guarded(stored, own)?;
        self.notify.keep_guarded(stored, own)?;
        let differs = guarded::differences(stored, own);
        // A bot that the store does not know could be anyone's.
        if self.telegram.bot_token().is_some() && guarded::is_other_bot(stored, own) {
            self.telegram.drop_bot();
        }
        Ok(differs)
    }

    /// Every setting, in the order of the reference.
    pub(super) fn settings() -> Vec<Setting> {
        let top =
            |name, kind: &str, default: &str, about| Setting::new("", name, kind.to_owned(), default.to_owned(), about);
        let mut settings = vec![
            top(
                "database",
                "`sqlite:FILE` or `postgres://USER@HOST/DATABASE`",
                "`sqlite:{data}/planwright.db`",
                "The store. A relative path is relative to the configuration file. The flag is `--database`.",
            ),
            top(
                "database_password_command",
                "a command of the shell",
                "none",
                "Prints the password of the PostgreSQL database that is named beside it: in the file with `database`, in the variable with `--database` and `PLANWRIGHT_DATABASE` ([postgresql.md](postgresql.md#passwords)).",
            ),
            top(
                "model",
                "`openai:NAME`, `anthropic:NAME`, `gemini:NAME`, `ollama:NAME` or `rehearsal`",
                "`rehearsal`",
                "The model that answers. The flag is `--model`.",
            ),
            top(
                "context_tokens",
                &Positive::<u32>::kind(),
                "the model's own",
                "How many tokens the model can read, if Planwright does not know it.",
            ),
            top(
                "agents",
                "a list of names, or tables `[agents.NAME]` with `prompt` (a file) or `instructions`, `about`, `tools`, `model`, `sandbox`, `model_calls`, `tool_calls`, `tokens` and `seconds`",
                "the built-in specialists",
                "The specialists that steps can be given to ([specialists.md](specialists.md)). Also as files `agents/NAME.md` in the data folder and in the project. `agents.only` names the ones to keep.",
            ),
            top(
                "permissions",
                "tables `[[permissions]]` with `tool`, `match`, `server`, `effect`, `exact` and `decide` (`allow`, `ask` or `deny`)",
                "no rules",
                "Which calls of tools run, are asked about or are denied ([permissions.md](permissions.md)).",
            ),
            top(
                "prices",
                "tables `[[prices]]` with `model`, `input` and `output`",
                "no prices",
                "What models cost for a million tokens, for the budgets of runs ([auto.md](auto.md)).",
            ),
            top(
                "mcp",
                "tables `[mcp.servers.NAME]` with `command`, `args`, `env`, `cwd`, `sandbox`, `network`, `read` and `write`, or `url` and `headers`; and `trust_annotations`, `elicitation`, `sampling`, `roots`, `tools`, `most_tools`, `start_seconds`, `call_seconds`",
                "no servers",
                "Upstream MCP servers whose tools the agent gets once a person accepts them ([upstream.md](upstream.md)).",
            ),
        ];
        settings.extend(PlanSection::settings());
        settings.extend(ApprovalSection::settings());
        settings.extend(TurnSection::settings());
        settings.extend(AutoSection::settings());
        settings.extend(MemorySection::settings());
        settings.extend(ReplySection::settings());
        settings.extend(LimitsSection::settings());
        settings.extend(PlanningFilesSection::settings());
        settings.extend(SandboxSection::settings());
        settings.extend(ProjectsSection::settings());
        settings.extend(FilesSection::settings());
        settings.extend(McpSection::settings());
        settings.extend(HookSection::settings());
        settings.extend(ChatSection::settings());
        settings.extend(GatewaySection::settings());
        settings.extend(ServerSection::settings());
        settings.extend(TelegramSection::settings());
        settings.extend(NotifySection::settings());
        settings
    }
}

section! {
    pub(super) struct PlanSection, "plan" {
        "Which tools the model may call while it drafts a document: all of them, or those that only read."
        tools: Choice<DocumentTools> = DocumentTools::default(),
        "What happens to the rest of a plan when a step fails."
        on_failure: Choice<OnFailure> = OnFailure::default(),
        "Whether recorded plans whose every step only reads are approved without a person."
        standing_approval: Choice<StandingApproval> = StandingApproval::default(),
        "How many turns in a row Planwright begins by itself for an approved document without recorded progress. Then it waits for a person."
        nudges: WholeNumber<u32> = Policy::default().nudges,
        "How many turns Planwright begins by itself for one execution of a document, whatever they record. Then it waits for a person, who lets it begin as many again."
        turns: Positive<u32> = Policy::default().plan_turns,
        "Where plans are also written as Markdown files of the project, with `{date}`, `{slug}`, `{number}` and `{id}` in the name ([plans-as-files.md](plans-as-files.md))."
        export: Checked<PlanFiles> => "no files",
    }
}

#[derive(Debug)]
pub(super) enum PlanFiles {}

impl Check for PlanFiles {
    type Value = ExportPath;
    const KIND: &'static str = "a path in the project, such as `docs/plans/{date}-{slug}.md`";

    fn check(text: &str) -> Result<ExportPath, String> {
        text.parse().map_err(|refusal: Refusal| refusal.message)
    }

    fn show(value: &ExportPath) -> String {
        format!("`{value}`")
    }
}

impl Choices for DocumentTools {
    const NAMES: &'static [(&'static str, Self)] = &[("all", Self::All), ("read_only", Self::ReadOnly)];
}

impl Choices for OnFailure {
    const NAMES: &'static [(&'static str, Self)] = &[("stop", Self::Stop), ("go_on", Self::GoOn)];
}

impl Choices for StandingApproval {
    const NAMES: &'static [(&'static str, Self)] = &[("off", Self::Off), ("read_only", Self::ReadOnly)];
}

section! {
    pub(super) struct TurnSection, "turn" {
        "How often one turn may call the model."
        model_calls: Positive<u32> = TurnLimits::default().model_calls,
        "How many tool calls one turn may make."
        tool_calls: Positive<u32> = TurnLimits::default().tool_calls,
        "How many tokens one turn may send and receive."
        tokens: Positive<u64> = TurnLimits::default().tokens,
        "How long one turn may take."
        seconds: Seconds = TurnLimits::default().time,
        "How long one tool call may take."
        tool_seconds: Seconds = TurnLimits::default().tool_time,
        "How often the model is called for a session within a minute in turns that no person began: those of plans and runs."
        calls_per_minute: Positive<u32> = TurnLimits::default().calls_per_minute,
    }
}

section! {
    pub(super) struct LimitsSection, "limits" {
        "The largest plan, in bytes."
        plan_bytes: Positive<usize> = Limits::default().plan_bytes,
        "The most steps of a plan."
        steps: Positive<usize> = Limits::default().steps,
        "The longest message, in bytes."
        message_bytes: Positive<usize> = Limits::default().message_bytes,
    }
}
