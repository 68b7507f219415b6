//! What each plan tool takes. The JSON Schemas that models read are derived from these types.

use planwright_core::agents::AgentRegistry;
use planwright_core::command::{MetadataChange, NewStep, StepChange};
use planwright_core::gate::PlanTool;
use planwright_core::ids::StepId;
use planwright_core::plan::PlanStyle;
use planwright_core::plan::execution::StepStatus;
use planwright_core::refusal::Refusal;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::tool_schema::schema_of as of;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SetContent {
    #[schemars(
        description = "For example: # Title\n\n- [ ] first step\n\n```planwright-needs\nfiles = [\"src/**\"]\ncommands = [\"cargo test\"]\n```\nThe \
                       block (TOML; also `tools`, `network`) says what the work needs. Once approved, a person is asked about other calls only."
    )]
    pub(super) plan_markdown: String,
    /// Without it, the first heading.
    #[serde(default)]
    pub(super) title: Option<String>,
    /// What you did about each comment of the person's review.
    #[serde(default)]
    #[expect(dead_code, reason = "`answers` reads it before the command is made; its type is checked here")]
    pub(super) answers: Option<Vec<CommentAnswer>>,
}

// What the agent did about one comment.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CommentAnswer {
    /// Its number in the review.
    pub(super) comment: usize,
    /// What you changed, or why not.
    pub(super) answer: String,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum ReportedStatus {
    InProgress,
    Done,
    Failed,
    Skipped,
}

impl From<ReportedStatus> for StepStatus {
    fn from(status: ReportedStatus) -> Self {
        match status {
            ReportedStatus::InProgress => Self::InProgress,
            ReportedStatus::Done => Self::Completed,
            ReportedStatus::Failed => Self::Failed,
            ReportedStatus::Skipped => Self::Skipped,
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Progress {
    /// Its number, from 1; without it, the step in progress or the next one.
    #[serde(default)]
    pub(super) step: Option<usize>,
    pub(super) status: ReportedStatus,
    /// What happened.
    #[serde(default)]
    pub(super) note: Option<String>,
    /// What shows it: a command's output, a commit, a file.
    #[serde(default)]
    pub(super) evidence: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ExternalSetContent {
    #[schemars(
        description = "For example: # Title\n\n- [ ] first step\n\n```planwright-needs\nfiles = [\"src/**\"]\ncommands = [\"cargo test\"]\n```\nThe \
                       block (TOML; also `tools`, `network`) says what the work needs. Once approved, a person is asked about other calls only."
    )]
    pub(super) plan_markdown: String,
    /// Without it, the first heading.
    #[serde(default)]
    pub(super) title: Option<String>,
    /// The `digest` that you read: nothing is stored if another client changed the plan since.
    #[serde(default)]
    pub(super) expected_digest: Option<String>,
    /// What you did about each comment of the person's review.
    #[serde(default)]
    #[expect(dead_code, reason = "`answers` reads it before the command is made; its type is checked here")]
    pub(super) answers: Option<Vec<CommentAnswer>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ExternalProgress {
    /// Its number, from 1, or its id; without it, the step in progress or the next one.
    #[serde(default)]
    pub(super) step: Option<StepName>,
    pub(super) status: ReportedStatus,
    /// What happened.
    #[serde(default)]
    pub(super) note: Option<String>,
    /// What shows it: a command's output, a commit, a file.
    #[serde(default)]
    pub(super) evidence: Option<String>,
}

/// A step by its 1-based position or by its id. Answers name it by number, and clients check what they send against the schema.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(super) enum StepName {
    Position(usize),
    Text(String),
}

impl JsonSchema for StepName {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "StepName".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "anyOf": [{ "type": "integer", "minimum": 1 }, { "type": "string" }] })
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AddCall {
    /// The name of your tool.
    pub(super) tool: String,
    /// As you will give them, for example `{"path": "a.txt"}`.
    #[serde(default)]
    pub(super) arguments: CallArguments,
    /// What the call is for.
    #[serde(default)]
    pub(super) description: Option<String>,
}

/// A JSON object. Its text is taken as well, from clients that cannot describe an object without fixed fields.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(super) enum CallArguments {
    Object(serde_json::Map<String, Value>),
    Text(String),
}

impl Default for CallArguments {
    fn default() -> Self {
        Self::Object(serde_json::Map::new())
    }
}

impl CallArguments {
    pub(super) fn into_value(self) -> Result<Value, Refusal> {
        match self {
            Self::Object(object) => Ok(Value::Object(object)),
            Self::Text(text) => serde_json::from_str(&text)
                .ok()
                .filter(Value::is_object)
                .ok_or_else(|| Refusal::invalid("The `arguments` of plan_add_call are not a JSON object.")),
        }
    }
}

impl JsonSchema for CallArguments {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "CallArguments".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "object" })
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AwaitDecision {
    /// 50 if absent, 3600 at most.
    #[serde(default)]
    #[expect(dead_code, reason = "the surface waits; its type is checked here")]
    pub(super) timeout_seconds: Option<u32>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Summary {
    /// The plan in a few words, for the person.
    #[serde(default)]
    pub(super) summary: Option<String>,
    /// What you did about each comment of the person's review.
    #[serde(default)]
    #[expect(dead_code, reason = "`answers` reads it before the command is made; its type is checked here")]
    pub(super) answers: Option<Vec<CommentAnswer>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CreateDraft {
    /// What is to be achieved.
    pub(super) goal: String,
    #[serde(default)]
    pub(super) title: Option<String>,
}

// Only what is given changes; a list replaces the list that was there.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SetMetadata {
    #[serde(default)]
    goal: Option<String>,
    #[serde(default)]
    title: Option<String>,
    /// What is taken for granted.
    #[serde(default)]
    assumptions: Option<Vec<String>>,
    /// What could go wrong.
    #[serde(default)]
    risks: Option<Vec<String>>,
    /// What shows that the goal is reached.
    #[serde(default)]
    verification: Option<Vec<String>>,
    /// Files that change.
    #[serde(default)]
    files: Option<Vec<String>>,
}

impl From<SetMetadata> for MetadataChange {
    fn from(given: SetMetadata) -> Self {
        let SetMetadata { goal, title, assumptions, risks, verification, files } = given;
        Self { goal, title, assumptions, risks, verification, files }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AddStep {
    /// What is to be done.
    description: String,
    agent: String,
    /// From 1; at the end if absent.
    #[serde(default)]
    position: Option<usize>,
    /// `step_id`s of earlier steps that it builds on, for example `["s1"]`.
    #[serde(default)]
    needs: Option<Vec<String>>,
    /// What shows that it is done.
    #[serde(default)]
    verification: Option<String>,
    /// Shell lines exactly as the step runs them, for example `["cargo test"]`. They are approved with the plan; a person is
    /// asked about any other.
    #[serde(default)]
    commands: Option<Vec<String>>,
}

/// The agent of another program carries the steps out itself, so it need not name anyone.
#[derive(Debug, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "AddStep")]
#[expect(dead_code, reason = "the schema only; the fields are read as those of `AddStep`")]
pub(super) struct ExternalAddStep {
    /// What is to be done.
    description: String,
    /// Leave it out: you carry the step out yourself.
    #[serde(default)]
    agent: Option<String>,
    /// Where to put it, from 1; at the end if absent.
    #[serde(default)]
    position: Option<usize>,
    /// Ids of earlier steps whose outcome it builds on.
    #[serde(default)]
    needs: Option<Vec<String>>,
    /// How it is seen that the step is done.
    #[serde(default)]
    verification: Option<String>,
    /// Shell lines that the step will run, exactly as they will be run. The person approves them with the plan.
    #[serde(default)]
    commands: Option<Vec<String>>,
}

impl TryFrom<AddStep> for NewStep {
    type Error = Refusal;

    fn try_from(given: AddStep) -> Result<Self, Refusal> {
        Ok(Self {
            description: given.description,
            agent: given.agent,
            position: given.position,
            needs: step_ids(given.needs.unwrap_or_default())?,
            verification: given.verification,
            commands: given.commands.unwrap_or_default(),
        })
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct UpdateStep {
    pub(super) step_id: String,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    agent: Option<String>,
    /// Its new place, from 1.
    #[serde(default)]
    position: Option<usize>,
    #[serde(default)]
    needs: Option<Vec<String>>,
    #[serde(default)]
    verification: Option<String>,
    /// Replaces the list.
    #[serde(default)]
    commands: Option<Vec<String>>,
}

impl TryFrom<UpdateStep> for StepChange {
    type Error = Refusal;

    fn try_from(given: UpdateStep) -> Result<Self, Refusal> {
        Ok(Self {
            description: given.description,
            agent: given.agent,
            position: given.position,
            needs: given.needs.map(step_ids).transpose()?,
            verification: given.verification,
            commands: given.commands,
        })
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RemoveStep {
    pub(super) step_id: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Get {
    /// Another plan than the active one, by its number or id.
    #[serde(default)]
    pub(super) plan_id: Option<String>,
    /// The `next_from` of the part before.
    #[serde(default)]
    pub(super) from: Option<usize>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetActive {
    /// The `next_from` of the part before.
    #[serde(default)]
    pub(super) from: Option<usize>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct List {
    /// Only plans with a smaller number.
    #[serde(default)]
    pub(super) before: Option<u32>,
}

fn step_ids(ids: Vec<String>) -> Result<Vec<StepId>, Refusal> {
    ids.into_iter().map(StepId::new).collect()
}

pub(super) fn schema(tool: PlanTool, style: PlanStyle) -> Value {
    match (tool, style) {
        (PlanTool::Get, PlanStyle::Document | PlanStyle::Collect) => of::<GetActive>(),
        (PlanTool::Get, PlanStyle::Build) => of::<Get>(),
        (PlanTool::SetContent, _) => of::<SetContent>(),
        (PlanTool::Progress, _) => of::<Progress>(),
        (PlanTool::AddCall, _) => of::<AddCall>(),
        (PlanTool::AwaitDecision, _) => of::<AwaitDecision>(),
        (PlanTool::Finalize | PlanTool::Submit, _) => of::<Summary>(),
        (PlanTool::CreateDraft, _) => of::<CreateDraft>(),
        (PlanTool::SetMetadata, _) => of::<SetMetadata>(),
        (PlanTool::AddStep, _) => of::<AddStep>(),
        (PlanTool::UpdateStep, _) => of::<UpdateStep>(),
        (PlanTool::RemoveStep, _) => of::<RemoveStep>(),
        (PlanTool::List, _) => of::<List>(),
    }
}

/// The schema of a tool's arguments for the agent of another program.
pub(super) fn external_schema(tool: PlanTool, style: PlanStyle) -> Value {
    match tool {
        PlanTool::SetContent => of::<ExternalSetContent>(),
        PlanTool::Progress => of::<ExternalProgress>(),
        PlanTool::Get => of::<Get>(),
        PlanTool::AddStep => of::<ExternalAddStep>(),
        PlanTool::AddCall
        | PlanTool::Finalize
        | PlanTool::AwaitDecision
        | PlanTool::CreateDraft
        | PlanTool::SetMetadata
        | PlanTool::UpdateStep
        | PlanTool::RemoveStep
        | PlanTool::Submit
        | PlanTool::List => schema(tool, style),
    }
}

pub(super) fn description(tool: PlanTool, agents: &AgentRegistry) -> String {
    text(tool).replace("{agents}", &agents.names()).replace("{then}", "")
}

/// The description for the agent of another program, which waits for the decision itself.
pub(super) fn external_description(tool: PlanTool, agents: &AgentRegistry) -> String {
    text(tool).replace("{agents}", &agents.names()).replace("{then}", " Then call plan_await_decision.")
}

fn text(tool: PlanTool) -> &'static str {
    match tool {
        PlanTool::Get => include_str!("descriptions/plan_get.md"),
        PlanTool::SetContent => include_str!("descriptions/plan_set_content.md"),
        PlanTool::Progress => include_str!("descriptions/plan_progress.md"),
        PlanTool::AddCall => include_str!("descriptions/plan_add_call.md"),
        PlanTool::AwaitDecision => include_str!("descriptions/plan_await_decision.md"),
        PlanTool::Finalize => include_str!("descriptions/plan_finalize.md"),
        PlanTool::CreateDraft => include_str!("descriptions/plan_create_draft.md"),
        PlanTool::SetMetadata => include_str!("descriptions/plan_set_metadata.md"),
        PlanTool::AddStep => include_str!("descriptions/plan_add_step.md"),
        PlanTool::UpdateStep => include_str!("descriptions/plan_update_step.md"),
        PlanTool::RemoveStep => include_str!("descriptions/plan_remove_step.md"),
        PlanTool::Submit => include_str!("descriptions/plan_submit.md"),
        PlanTool::List => include_str!("descriptions/plan_list.md"),
    }
    .trim_end()
}
