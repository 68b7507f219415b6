//! An execution carries a plan out and keeps the outcome of every step. A plan may have any number of them.

use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::copy_on_write::CopyOnWrite;
use crate::ids::{ExecutionId, StepId};
use crate::plan::{Plan, PlanStatus, PlanStyle};
use crate::wire::text_enum;

text_enum! {
    pub enum StepStatus {
        Pending = "PENDING",
        InProgress = "IN_PROGRESS",
        Completed = "COMPLETED",
        Failed = "FAILED",
        Skipped = "SKIPPED",
        /// It was begun and its result is unknown; a person decides how to continue.
        Uncertain = "UNCERTAIN",
    }
}

impl StepStatus {
    /// Nothing more will happen to the step in this execution by itself.
    pub const fn is_settled(self) -> bool {
        match self {
            Self::Completed | Self::Failed | Self::Skipped => true,
            Self::Pending | Self::InProgress | Self::Uncertain => false,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Execution {
    pub id: ExecutionId,
    /// Its number among the executions of the plan, from 1.
    pub number: u32,
    /// A store keeps them beside the rest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepState>,
    pub started_at: Timestamp,
    pub finished_at: Option<Timestamp>,
    /// Whether it waits for a person. A store keeps it beside the steps, because it changes with them.
    #[serde(skip)]
    pub pause: Option<Pause>,
}

/// Whether an execution waits for a person, and how far the system went on by itself. It is `None` until the first pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Pause {
    /// No process works on it any more, and none will until a person says so.
    Paused {
        at: Timestamp,
        /// How many turns in a row the system began for it, none of which recorded any progress.
        idle_turns: u32,
        /// The step that a person looks at before the next one begins.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after_step: Option<StepPause>,
        /// Absent in entries of earlier versions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        brake: Option<Brake>,
    },
    /// A person asked for it to continue, and no step has begun since.
    Resumed { at: Timestamp },
    /// A report on a step came in after a pause. The counts stay: a report alone is no progress.
    Working { idle_turns: u32, brake: Brake },
}

impl Pause {
    /// A step has begun or ended since.
    pub(crate) fn after_report(self) -> Option<Self> {
        match self {
            Self::Paused { idle_turns, brake: Some(brake), .. } | Self::Working { idle_turns, brake } => {
                Some(Self::Working { idle_turns, brake })
            }
            Self::Paused { brake: None, .. } | Self::Resumed { .. } => None,
        }
    }
}

/// What bounds the turns that the system begins for an execution by itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Brake {
    /// How many turns the system began since the approval, or since a person last asked for it to continue.
    pub turns: u32,
    /// The furthest that the steps ever were, as [`Execution::reached`] counts it. Only a turn that takes them further
    /// made progress.
    pub furthest: u32,
}

/// Why the system does not go on by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BrakeReason {
    /// So many turns in a row took no step further.
    NoProgress { turns: u32 },
    /// The system began so many turns, the most that the setting allows.
    Turns { turns: u32 },
}

impl fmt::Display for BrakeReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoProgress { turns } => write!(f, "the agent ended {turns} turns in a row without recorded progress"),
            Self::Turns { turns } => {
                write!(f, "Planwright began {turns} turns for it by itself, the most that `plan.turns` allows")
            }
        }
    }
}

/// The pause after a step of a plan that is approved step by step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepPause {
    /// 1-based index of the step that ended.
    pub step: usize,
    /// Whether the agent of another program carries the plan out and reported the step.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub external: bool,
}

/// The state of a step in one execution. Executions share it until one of them changes it.
pub type StepState = CopyOnWrite<StepStateRecord>;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepStateRecord {
    pub step: StepId,
    pub description: String,
    pub status: StepStatus,
    /// What the tool or the agent answered, or why it failed or was skipped.
    pub note: Option<String>,
    /// What shows that it was done.
    pub evidence: Option<String>,
    pub started_at: Option<Timestamp>,
    pub finished_at: Option<Timestamp>,
    /// Earlier tries that did not do it, the latest last; of many only the latest are kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attempts: Vec<Attempt>,
    /// How the calls that were made for it in this execution were permitted.
    #[serde(default, skip_serializing_if = "PermissionCounts::is_zero")]
    pub permissions: PermissionCounts,
}

/// How many calls the approved plan covered, how many a person was asked about, and how many were refused. A call that
/// a person was asked about and refused counts twice: as asked and as refused.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionCounts {
    /// Calls that were allowed because the approved plan covers them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub covered: u32,
    /// Calls that waited for a person's answer.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub asked: u32,
    /// Calls that a rule denied or a person did not permit.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub refused: u32,
}

impl PermissionCounts {
    pub const COVERED: Self = Self { covered: 1, asked: 0, refused: 0 };
    pub const ASKED: Self = Self { covered: 0, asked: 1, refused: 0 };
    pub const REFUSED: Self = Self { covered: 0, asked: 0, refused: 1 };

    pub fn is_zero(&self) -> bool {
        *self == Self::default()
    }
}

impl std::ops::Add for PermissionCounts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            covered: self.covered.saturating_add(other.covered),
            asked: self.asked.saturating_add(other.asked),
            refused: self.refused.saturating_add(other.refused),
        }
    }
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// The result of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepOutcome {
    pub status: StepStatus,
    pub note: Option<String>,
    pub evidence: Option<String>,
}

/// A try that did not do the step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    pub status: StepStatus,
    pub note: Option<String>,
}

/// How many earlier attempts are kept with a step.
const MAX_ATTEMPTS: usize = 3;

/// How far an execution has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Progress))]
pub struct ExecutionProgress {
    pub done: usize,
    pub total: usize,
    /// The position (from 1) and text of the step to do next.
    #[cfg_attr(feature = "schema", schema(required = true))]
    pub next: Option<NextStep>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct NextStep {
    pub step: usize,
    pub description: String,
}

impl StepState {
    pub fn pending(step: StepId, description: String) -> Self {
        StepStateRecord {
            step,
            description,
            status: StepStatus::Pending,
            note: None,
            evidence: None,
            started_at: None,
            finished_at: None,
            attempts: Vec::new(),
            permissions: PermissionCounts::default(),
        }
        .into()
    }

    /// Keeps this try as an attempt, because the step is to be done again.
    pub(crate) fn tried(&mut self, note: Option<String>) {
        let status = self.status;
        self.attempts.push(Attempt { status, note });
        let older = self.attempts.len().saturating_sub(MAX_ATTEMPTS);
        self.attempts.drain(..older);
    }

    /// What the next execution takes over from this one. A call that was begun may have had its effect, so it is not
    /// run again by itself; an agent that works from a document looks itself at what is done.
    fn kept(&self, style: PlanStyle) -> Option<Self> {
        match self.status {
            StepStatus::Completed | StepStatus::Uncertain => Some(self.clone()),
            // A person may have skipped it because its effect was unknown.
            StepStatus::Skipped => match style {
                PlanStyle::Document => None,
                PlanStyle::Collect | PlanStyle::Build => Some(self.clone()),
            },
            StepStatus::InProgress => match style {
                PlanStyle::Document => None,
                PlanStyle::Collect | PlanStyle::Build => {
                    let mut state = self.clone();
                    state.status = StepStatus::Uncertain;
                    state.note =
                        Some("begun in an earlier execution, which ended before its outcome was known".to_owned());
                    Some(state)
                }
            },
            StepStatus::Pending | StepStatus::Failed => None,
        }
    }
}

impl Execution {
    /// The execution that starts now: what an earlier one completed stays completed, what it began without a known
    /// result waits for a person, what the approval left out is skipped, everything else is to be done.
    pub(crate) fn starting(plan: &Plan, id: ExecutionId, at: Timestamp) -> Self {
        let earlier = plan.execution.as_ref();
        let left_out = plan.approval.as_ref().map(|approval| &approval.skipped);
        let runs: BTreeMap<_, _> =
            earlier.iter().flat_map(|execution| &execution.steps).map(|state| (&state.step, state)).collect();
        let steps = plan
            .content
            .steps()
            .into_iter()
            .map(|step| {
                let before = runs.get(&step.id);
                if let Some(mut kept) = before.and_then(|state| state.kept(plan.style())) {
                    if !kept.permissions.is_zero() {
                        kept.permissions = PermissionCounts::default();
                    }
                    return kept;
                }
                let skipped = left_out.and_then(|skipped| skipped.iter().find(|left| left.step == step.id));
                let mut state = StepState::pending(step.id, step.description);
                if let Some(before) = before {
                    state.attempts.clone_from(&before.attempts);
                    if before.status == StepStatus::Failed {
                        state.status = before.status;
                        state.tried(before.note.clone());
                        state.status = StepStatus::Pending;
                    }
                }
                if let Some(left) = skipped {
                    state.status = StepStatus::Skipped;
                    state.note = Some(left.why.to_string());
                } else if step.ticked {
                    state.status = StepStatus::Completed;
                    state.note = Some("ticked in the approved text".to_owned());
                }
                state
            })
            .collect();
        Self {
            id,
            number: earlier.map_or(1, |execution| execution.number + 1),
            steps,
            started_at: at,
            finished_at: None,
            pause: None,
        }
    }

    /// Since when it waits for a person, if it does.
    pub fn paused_since(&self) -> Option<Timestamp> {
        match self.pause {
            Some(Pause::Paused { at, .. }) => Some(at),
            Some(Pause::Resumed { .. } | Pause::Working { .. }) | None => None,
        }
    }

    /// The step that a person looks at before the next one begins, if it waits for that.
    pub fn step_pause(&self) -> Option<StepPause> {
        match self.pause {
            Some(Pause::Paused { after_step, .. }) => after_step,
            Some(Pause::Resumed { .. } | Pause::Working { .. }) | None => None,
        }
    }

    /// How the calls of all its steps were permitted.
    pub fn permissions(&self) -> PermissionCounts {
        self.steps.iter().fold(PermissionCounts::default(), |sum, state| sum + state.permissions)
    }

    /// How many turns in a row the system began for it without any recorded progress.
    pub fn idle_turns(&self) -> u32 {
        match self.pause {
            Some(Pause::Paused { idle_turns, .. } | Pause::Working { idle_turns, .. }) => idle_turns,
            Some(Pause::Resumed { .. }) | None => 0,
        }
    }

    /// How far the system went on by itself. `None` before its first turn ended.
    pub fn brake(&self) -> Option<Brake> {
        match self.pause {
            Some(Pause::Paused { brake, .. }) => brake,
            Some(Pause::Working { brake, .. }) => Some(brake),
            Some(Pause::Resumed { .. }) | None => None,
        }
    }

    /// How far its steps are: one for each that was begun, two for each that is settled.
    pub fn reached(&self) -> u32 {
        let of_step = |state: &StepState| match state.status {
            StepStatus::Pending => 0,
            StepStatus::InProgress | StepStatus::Uncertain => 1,
            StepStatus::Completed | StepStatus::Failed | StepStatus::Skipped => 2,
        };
        self.steps.iter().map(of_step).sum()
    }

    /// The counts after a turn that the system began has ended: the idle turns in a row, and the brake. The turn made
    /// progress if the steps are further than they ever were. The same report again, or another note, is none.
    pub(crate) fn after_system_turn(&self) -> (u32, Brake) {
        let reached = self.reached();
        let before = self.brake().unwrap_or_default();
        let is_progress = match self.brake() {
            Some(brake) => reached > brake.furthest,
            None => self.is_touched(),
        };
        let idle_turns = if is_progress { 1 } else { self.idle_turns().saturating_add(1) };
        let brake = Brake { turns: before.turns.saturating_add(1), furthest: before.furthest.max(reached) };
        (idle_turns, brake)
    }

    /// Whether any step was begun in it, or ended in it.
    pub fn is_touched(&self) -> bool {
        let since = |at: Option<Timestamp>| at.is_some_and(|at| at >= self.started_at);
        self.steps.iter().any(|state| since(state.started_at) || since(state.finished_at))
    }

    pub fn step(&self, step: &StepId) -> Option<&StepState> {
        self.steps.iter().find(|state| state.step == *step)
    }

    /// The step that stops it: one whose result is unknown, else one that failed.
    pub fn stuck_at(&self) -> Option<(usize, &StepState)> {
        let with = |status| (1..).zip(&self.steps).find(move |(_, state)| state.status == status);
        with(StepStatus::Uncertain).or_else(|| with(StepStatus::Failed))
    }

    pub fn is_settled(&self) -> bool {
        self.steps.iter().all(|state| state.status.is_settled())
    }

    /// What its notes weigh, in bytes.
    pub(crate) fn size(&self) -> usize {
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let tried = |state: &StepState| state.attempts.iter().map(|attempt| text(&attempt.note)).sum::<usize>();
        self.steps
            .iter()
            .map(|state| state.description.len() + text(&state.note) + text(&state.evidence) + tried(state))
            .sum()
    }

    /// What the plan is after this execution, by what was done. No step done is never complete.
    pub fn result(&self) -> PlanStatus {
        let done = self.steps.iter().filter(|state| state.status == StepStatus::Completed).count();
        let left = self.steps.iter().any(|state| !matches!(state.status, StepStatus::Completed | StepStatus::Skipped));
        if done > 0 && !left { PlanStatus::Completed } else { PlanStatus::PartiallyCompleted }
    }

    pub fn progress(&self) -> ExecutionProgress {
        let done = self.steps.iter().filter(|state| state.status == StepStatus::Completed).count();
        let open = |state: &&StepState| !state.status.is_settled();
        let next = self.steps.iter().find(open).and_then(|state| {
            let step = self.steps.iter().position(|other| other.step == state.step)? + 1;
            Some(NextStep { step, description: state.description.clone() })
        });
        ExecutionProgress { done, total: self.steps.len(), next }
    }
}
