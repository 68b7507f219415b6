//! OpenAPI schemas of domain types in requests and answers. The domain types define how they are serialised, because the
//! journal stores them in the same way; these types only describe them.

#![expect(dead_code, reason = "only their schemas are used")]

use serde::Serialize;
use utoipa::ToSchema;

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = ActorKind)]
pub(crate) enum ActorKindSchema {
    /// A human being, on a surface made for people. Only they decide about plans.
    Person,
    /// A model, or a program that speaks for one.
    Agent,
    /// A standing rule that a person wrote into the configuration.
    Policy,
    /// Planwright itself.
    System,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Actor)]
pub(crate) struct ActorSchema {
    kind: ActorKindSchema,
    name: String,
    /// The surface it came through, such as `cli` or `mcp`.
    through: String,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = MemoryKind)]
pub(crate) enum MemoryKindSchema {
    Fact,
    Preference,
    Decision,
    Constraint,
    Result,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = DocumentKind)]
pub(crate) enum DocumentKindSchema {
    TaskPlan,
    Findings,
    Progress,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = GoalStatus)]
pub(crate) enum GoalStatusSchema {
    Active,
    Paused,
    Done,
    Cancelled,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = TaskStatus)]
pub(crate) enum TaskStatusSchema {
    Open,
    Done,
    Failed,
    Skipped,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[schema(as = RunKind)]
pub(crate) enum RunKindSchema {
    GoalRun,
    TaskRun,
}

/// Who wrote it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = MemoryTrust)]
pub(crate) enum MemoryTrustSchema {
    Person,
    Agent,
    System,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = StuckChoice)]
pub(crate) enum StuckChoiceSchema {
    Retry,
    Skip,
    Stop,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = Grant)]
pub(crate) enum GrantSchema {
    /// For this call.
    Once,
    /// For this call whenever it comes again while the plan is carried out.
    Plan,
    /// A rule allows it from now on.
    Always,
    No,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = CommentKind)]
pub(crate) enum CommentKindSchema {
    Comment,
    /// The words are to be replaced by the text.
    Replace,
    /// The words are to go.
    Strike,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = CommentState)]
pub(crate) enum CommentStateSchema {
    /// The plan still says what the comment is about.
    Open,
    /// The plan says something else there.
    Addressed,
    /// The place that the comment is about does not exist any more.
    Orphaned,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = SentWith)]
pub(crate) enum SentWithSchema {
    Revise,
    Approve,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = PlanStyle)]
pub(crate) enum PlanStyleSchema {
    /// One Markdown document is the plan.
    Document,
    /// Tool calls are recorded as steps instead of being run.
    Collect,
    /// A draft is built piece by piece and handed to specialists, step by step.
    Build,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PlanDiff)]
pub(crate) struct PlanDiffSchema {
    changes: Vec<ChangeSchema>,
    /// The text of a document line by line; empty for the other styles, and where the text is the same.
    lines: Vec<DiffLineSchema>,
}

/// One change. Positions count from 1; the ids of steps do not matter to a person and are not compared.
#[derive(Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[schema(as = Change)]
pub(crate) enum ChangeSchema {
    StyleChanged {
        from: PlanStyleSchema,
        to: PlanStyleSchema,
    },
    TitleChanged {
        from: Option<String>,
        to: Option<String>,
    },
    GoalChanged {
        from: Option<String>,
        to: Option<String>,
    },
    SummaryChanged {
        from: Option<String>,
        to: Option<String>,
    },
    HeadingAdded {
        level: u8,
        text: String,
    },
    HeadingRemoved {
        level: u8,
        text: String,
    },
    ItemAdded {
        list: ListNameSchema,
        text: String,
    },
    ItemRemoved {
        list: ListNameSchema,
        text: String,
    },
    ItemsReordered {
        list: ListNameSchema,
    },
    /// `position` is the one it had.
    StepRemoved {
        position: usize,
        description: String,
    },
    StepAdded {
        position: usize,
        description: String,
    },
    StepReworded {
        position: usize,
        from: String,
        to: String,
    },
    StepChanged {
        position: usize,
        field: StepFieldSchema,
        from: Option<String>,
        to: Option<String>,
    },
    StepMoved {
        from: usize,
        to: usize,
        description: String,
    },
    StepTicked {
        position: usize,
        description: String,
    },
    StepUnticked {
        position: usize,
        description: String,
    },
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ListName)]
pub(crate) enum ListNameSchema {
    Assumptions,
    Risks,
    Verification,
    Files,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = StepField)]
pub(crate) enum StepFieldSchema {
    Agent,
    Needs,
    Verification,
    Commands,
    Tool,
    Arguments,
}

/// Numbers count from 1. `from` is a line of the older text, `to` one of the newer.
#[derive(Serialize, ToSchema)]
#[serde(tag = "mark", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[schema(as = DiffLine)]
pub(crate) enum DiffLineSchema {
    Same {
        from: usize,
        to: usize,
        text: String,
    },
    Removed {
        from: usize,
        pieces: Vec<PieceSchema>,
        /// The last line of a text may lack its end.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        unended: bool,
    },
    Added {
        to: usize,
        pieces: Vec<PieceSchema>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        unended: bool,
    },
    /// Lines that are the same on both sides and not shown.
    Gap {
        lines: usize,
    },
}

/// A part of a changed line; together the pieces are the line.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Piece)]
pub(crate) struct PieceSchema {
    text: String,
    /// What is different from the line it replaces or that replaces it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    emphasized: bool,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[schema(as = StepStatus)]
pub(crate) enum StepStatusSchema {
    Pending,
    InProgress,
    Completed,
    Failed,
    Skipped,
    /// It was begun, and its result is unknown; a person decides what to do.
    Uncertain,
}

/// How far an execution has come.
#[derive(Serialize, ToSchema)]
#[schema(as = Progress)]
pub(crate) struct ProgressSchema {
    done: usize,
    total: usize,
    /// The position (from 1) and text of the step to do next.
    #[schema(required = true)]
    next: Option<NextStepSchema>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = NextStep)]
pub(crate) struct NextStepSchema {
    step: usize,
    description: String,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[schema(as = PlanStatus)]
pub(crate) enum PlanStatusSchema {
    Collecting,
    Ready,
    Approved,
    Executing,
    Completed,
    PartiallyCompleted,
    Rejected,
    Cancelled,
    Superseded,
}

#[derive(Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[schema(as = PlannerAnswer)]
pub(crate) enum PlannerAnswerSchema {
    /// Words, and no plan was made or changed.
    Answer {
        text: String,
    },
    /// A plan was made or changed. Its content is in the store.
    Plan {
        plan_id: String,
        status: PlannedAsSchema,
    },
    Failure {
        message: String,
    },
    /// A person stopped it, or the program ended in the middle.
    Interruption {
        message: String,
    },
}

/// How far a plan is, in the planner's words.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = PlannedAs)]
pub(crate) enum PlannedAsSchema {
    Draft,
    Proposal,
}

/// The codes that programs rely on. They are part of the public contract.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[schema(as = RefusalCode)]
pub(crate) enum RefusalCodeSchema {
    PolicyDenied,
    InvalidArgument,
    NotFound,
    WrongStatus,
    StaleApproval,
    Conflict,
    LimitExceeded,
    UnknownAgent,
    Unauthenticated,
    Unavailable,
    Internal,
}

/// One thing that is wrong, and where: `path` is a JSON pointer such as `/steps/2/agent`.
#[derive(Serialize, ToSchema)]
#[schema(as = ProblemDetail)]
pub(crate) struct ProblemSchema {
    path: String,
    message: String,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = Channel)]
pub(crate) enum ChannelSchema {
    Web,
    Telegram,
    Cli,
    Mcp,
    Acp,
    /// Conversations taken over from the older format, which did not know channels.
    Legacy,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = ToolStatus)]
pub(crate) enum ToolStatusSchema {
    Done,
    /// Written down as a step instead of being run.
    Planned,
    /// A plan tool that ended the planning: the plan now waits for a person, or there was nothing in it.
    Settled,
    /// It did not run: not allowed, not there, or with arguments that do not fit.
    Refused,
    Failed,
    TimedOut,
    /// A crash came between its beginning and its end, and it cannot simply be done again.
    Uncertain,
}
