//! What a surface submits to a session, and the request that it comes with.

use jiff::Timestamp;
use planwright_core::actor::Actor;
use planwright_core::ask::AskAnswer;
use planwright_core::auto::StartTarget;
use planwright_core::command::StuckChoice;
use planwright_core::ids::{AskId, PlanId, RequestId, RunId};
use planwright_core::plan::Digest;
use planwright_core::session::{SessionIdentity, TransportChat};
use planwright_core::slash::{self, AutoSubcommand, Mistake, PlanCommand, SlashCommand};
use planwright_core::turn::ShownPlan;
use planwright_core::workbook::DocumentKind;

pub use planwright_engine::plans::{Approving, Changes};

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

    /// Whether it waits for no other work of the session: it stops work, or only looks.
    pub fn acts_at_once(&self) -> bool {
        match self.priority() {
            Priority::Reads | Priority::Beside | Priority::Stops | Priority::MayStop => true,
            Priority::Waits => false,
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
        SlashCommand::Stop | SlashCommand::Reset | SlashCommand::Auto(AutoSubcommand::Off { .. }) => Priority::Stops,
        SlashCommand::Plan(PlanCommand::Cancel { .. } | PlanCommand::Revise { .. } | PlanCommand::Done) => {
            Priority::MayStop
        }
        command if command.is_look() => Priority::Reads,
        _ => Priority::Waits,
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
