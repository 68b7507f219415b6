//! What a surface submits to a session, and the request that it comes with.

use jiff::Timestamp;
use planwright_core::actor::Actor;
use planwright_core::ask::AskAnswer;
use planwright_core::auto::StartTarget;
use planwright_core::command::StuckChoice;
use planwright_core::ids::{AskId, PlanId, RequestId, RunId};
use planwright_core::plan::approval::Selection;
use planwright_core::plan::review::Review;
use planwright_core::plan::{ApprovalSignature, Digest, Plan};
use planwright_core::session::{SessionIdentity, TransportChat};
use planwright_core::slash::{
    self, AutoSubcommand, GoalSubcommand, MemorySubcommand, Mistake, PlanCommand, ProjectCommand, ScheduleSubcommand,
    SlashCommand, TaskSubcommand, ToolsCommand,
};
use planwright_core::turn::ShownPlan;
use planwright_core::workbook::DocumentKind;

/// An input for one session.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "one input waits per message, and it is moved a few times")]
pub enum Input {
    /// A message for the agent.
    Message(String),
    Command(SlashCommand),
    /// Text that was meant as a command and is not one.
    Mistake(Mistake),
    /// Approves exactly the version with this digest.
    Approve {
        plan: PlanId,
        digest: Digest,
        approving: Approving,
        begin: BeginWork,
    },
    Reject {
        plan: PlanId,
        reason: Option<String>,
    },
    /// Asks for changes and, unless the work begins later, gives them to the agent.
    Revise {
        plan: PlanId,
        changes: Changes,
        begin: BeginWork,
    },
    Cancel {
        plan: PlanId,
        reason: Option<String>,
    },
    /// Answers what the open turn asks.
    Answer {
        ask: AskId,
        digest: Digest,
        answer: AskAnswer,
    },
    /// Carries out a plan that is approved, or continues it from the first step not done. `choice` settles the step that
    /// it stopped at.
    ResumePlan {
        plan: PlanId,
        choice: Option<StuckChoice>,
        worker: Worker,
        /// The step that the person looked at, by its 1-based index. It is refused if another step ended since.
        after_step: Option<usize>,
    },
    /// Puts the files back that a plan or one of its steps changed. The step is from 1.
    Undo {
        plan: PlanId,
        step: Option<usize>,
    },
    /// Puts the files back that the last turn of the conversation changed outside of any plan.
    UndoLastTurn,
    /// Replaces a document of the workbook by what a person wrote from this version of it.
    WriteDocument {
        which: DocumentKind,
        base_version: u32,
        content: String,
    },
    /// Resumes a turn that its process left open.
    ResumeTurn,
    /// Resumes a plan whose process ended while it carried the plan out.
    ResumeExecution,
    /// The next turn of a run.
    Tick {
        run: RunId,
    },
    /// Starts the runs of the schedules that are due.
    FireSchedules,
    /// Ends a run, or every run of the session, and the turn that it has open.
    StopRuns {
        run: Option<RunId>,
    },
    /// Lets a run continue that was paused or interrupted. Its next tick waits for the running work.
    ResumeRun {
        run: RunId,
    },
    /// Starts a run. Its first tick waits for the running work.
    StartRun {
        target: StartTarget,
    },
    /// Stops the work of the session, in whichever process it runs.
    Stop,
    /// Stops the work of the session in this process.
    StopHere,
    /// Deletes the session with everything of it.
    Delete,
}

impl Input {
    /// Parses what a person typed: a message, a command, or a mistake.
    pub fn typed(text: &str) -> Self {
        match slash::parse(text) {
            slash::ParsedInput::Message(text) => Self::Message(text.to_owned()),
            slash::ParsedInput::Command(command) => Self::Command(command),
            slash::ParsedInput::Refused(mistake) => Self::Mistake(mistake),
        }
    }

    pub(crate) fn priority(&self) -> Priority {
        match self {
            Self::Message(_)
            | Self::Approve { .. }
            | Self::Reject { .. }
            | Self::Answer { .. }
            | Self::ResumePlan { .. }
            | Self::Undo { .. }
            | Self::UndoLastTurn
            | Self::ResumeTurn
            | Self::ResumeExecution
            | Self::Tick { .. }
            | Self::FireSchedules => Priority::Waits,
            Self::Command(command) => command_priority(command),
            Self::Mistake(_) => Priority::Reads,
            Self::WriteDocument { .. } | Self::ResumeRun { .. } | Self::StartRun { .. } => Priority::Beside,
            Self::Revise { .. } | Self::Cancel { .. } | Self::Delete => Priority::MayStop,
            Self::Stop | Self::StopHere | Self::StopRuns { .. } => Priority::Stops,
        }
    }
}

fn command_priority(command: &SlashCommand) -> Priority {
    match command {
        SlashCommand::Plan(plan) => match plan {
            PlanCommand::Status | PlanCommand::Show { .. } | PlanCommand::Diff(_) | PlanCommand::Export { .. } => {
                Priority::Reads
            }
            PlanCommand::Cancel { .. } | PlanCommand::Revise { .. } | PlanCommand::Done => Priority::MayStop,
            PlanCommand::On { .. }
            | PlanCommand::Off
            | PlanCommand::About(_)
            | PlanCommand::Files(_)
            | PlanCommand::Approve { .. }
            | PlanCommand::Reject { .. }
            | PlanCommand::Resume { .. } => Priority::Waits,
        },
        SlashCommand::Stop | SlashCommand::Reset | SlashCommand::Auto(AutoSubcommand::Off { .. }) => Priority::Stops,
        SlashCommand::Plans
        | SlashCommand::Sessions
        | SlashCommand::Status
        | SlashCommand::Tools(ToolsCommand::List | ToolsCommand::Accept { code: None, .. })
        | SlashCommand::Allow { code: None, .. }
        | SlashCommand::Help { .. }
        | SlashCommand::Project(ProjectCommand::Show)
        | SlashCommand::Memory(MemorySubcommand::List | MemorySubcommand::Search { .. })
        | SlashCommand::Auto(AutoSubcommand::Status)
        | SlashCommand::Goals
        | SlashCommand::Goal(GoalSubcommand::List | GoalSubcommand::Show { .. })
        | SlashCommand::Tasks
        | SlashCommand::Task(TaskSubcommand::List)
        | SlashCommand::Schedule(ScheduleSubcommand::List)
        | SlashCommand::Diary { text: None }
        | SlashCommand::Changes(_) => Priority::Reads,
        SlashCommand::Allow { code: Some(_), .. }
        | SlashCommand::Deny { .. }
        | SlashCommand::Answer { .. }
        | SlashCommand::Tools(ToolsCommand::Accept { code: Some(_), .. })
        | SlashCommand::New
        | SlashCommand::Switch { .. }
        | SlashCommand::Compact
        | SlashCommand::Auto(AutoSubcommand::On { .. } | AutoSubcommand::Resume { .. })
        | SlashCommand::Goal(_)
        | SlashCommand::Task(_)
        | SlashCommand::Schedule(_)
        | SlashCommand::Diary { text: Some(_) }
        | SlashCommand::Memory(_)
        | SlashCommand::Project(ProjectCommand::Off | ProjectCommand::At(_))
        | SlashCommand::Undo(_) => Priority::Waits,
    }
}

/// When an input takes effect relative to those that arrived before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Priority {
    /// After all of them.
    Waits,
    /// At once: it changes nothing.
    Reads,
    /// At once, beside the running work: it is one command that needs no turn, and the ledger refuses it if the session has
    /// changed so that it does not apply.
    Beside,
    /// At once, on the running work.
    Stops,
    /// At once if it concerns the running work, otherwise after all of them.
    MayStop,
}

/// The actor that submits an input, its location, and the name of the request.
#[derive(Debug, Clone)]
pub struct Request {
    pub location: ChatLocation,
    pub by: Actor,
    /// A request that is sent again under its name gets the outcome of the first time. At most 100 characters.
    pub id: Option<RequestId>,
    /// Whether the session has to exist. Else a command that begins work opens it.
    pub(crate) needs_session: bool,
    /// When the agent took the input in. The person has not seen what happened after it.
    pub(crate) received_at: Option<Timestamp>,
}

impl Request {
    pub fn new(location: ChatLocation, by: Actor) -> Self {
        Self { location, by, id: None, needs_session: false, received_at: None }
    }

    pub fn named(self, id: Option<RequestId>) -> Self {
        Self { id, ..self }
    }

    /// A session that does not exist is not found, and is not opened.
    pub fn in_existing_session(self) -> Self {
        Self { needs_session: true, ..self }
    }

    pub fn session(&self) -> &SessionIdentity {
        &self.location.session
    }

    /// A name for one of several commands that the request leads to.
    pub(crate) fn part(&self, part: &str) -> Option<RequestId> {
        RequestId::new(format!("{}-{part}", self.id.as_ref()?)).ok()
    }
}

/// A transport, and the session it is in now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatLocation {
    pub transport: TransportChat,
    pub session: SessionIdentity,
    pub seen: SeenPlan,
    pub seen_ask: SeenAsk,
}

impl ChatLocation {
    pub fn new(transport: TransportChat, session: SessionIdentity) -> Self {
        Self { transport, session, seen: SeenPlan::default(), seen_ask: SeenAsk::default() }
    }
}

/// Where the version of a plan that the person saw last is kept.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum SeenPlan {
    /// In the session, for surfaces that show answers to one person in one place.
    #[default]
    InSession,
    /// At the surface: several of them may be in the session, and each shows its own version.
    AtSurface(Option<ShownPlan>),
}

/// What the agent asks, as far as the person has it before them. What they type answers nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum SeenAsk {
    /// The surface shows what waits at once, so it is whatever waits.
    #[default]
    Waiting,
    /// This one, or none.
    AtSurface(Option<AskId>),
}

impl SeenAsk {
    pub(crate) fn has(&self, ask: &AskId) -> bool {
        match self {
            Self::Waiting => true,
            Self::AtSurface(seen) => seen.as_ref() == Some(ask),
        }
    }
}

/// What a person approves besides the text: which steps, with what note and which comments, and at what pace.
#[derive(Debug, Clone, Default)]
pub struct Approving {
    pub selection: Selection,
    pub note: Option<String>,
    pub review: Option<Review>,
    /// Whether the execution pauses after each step until a person has looked at it.
    pub step_by_step: bool,
    /// The approver's signature, where the policy asks for one.
    pub signature: Option<ApprovalSignature>,
}

impl Approving {
    /// The note as it is recorded: what the person said, and their comments in words.
    pub(crate) fn note_of(&self, plan: &Plan) -> Option<String> {
        let note_text = self.note.as_deref().map(str::trim).filter(|note| !note.is_empty());
        let comments = self.review.as_ref().filter(|review| !review.comments.is_empty());
        match (note_text, comments.map(|review| review.to_text(plan))) {
            (Some(note_text), Some(comments)) => Some(format!("{note_text}\n\n{comments}")),
            (note_text, comments) => note_text.map(str::to_owned).or(comments),
        }
    }
}

/// What a person wants changed: in words, with comments on the text, or both.
#[derive(Debug, Clone, Default)]
pub struct Changes {
    pub feedback: String,
    pub review: Option<Review>,
}

impl From<String> for Changes {
    fn from(feedback: String) -> Self {
        Self { feedback, review: None }
    }
}

impl Changes {
    /// In words, for the agent.
    pub(crate) fn to_text(&self, plan: &Plan) -> String {
        let comments = self.review.as_ref().filter(|review| !review.comments.is_empty());
        match (self.feedback.trim(), comments.map(|review| review.to_text(plan))) {
            ("", Some(comments)) => comments,
            (feedback, Some(comments)) => format!("{feedback}\n\n{comments}"),
            (_, None) => self.feedback.clone(),
        }
    }
}

/// Which agent continues a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Worker {
    #[default]
    ThisProcess,
    /// The agent of another program, if that drafted the document; otherwise this process.
    Drafter,
}

/// Whether the work begins with the decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BeginWork {
    #[default]
    Now,
    /// When the plan is resumed.
    Later,
}
