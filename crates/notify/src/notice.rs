//! What can be told, and how it is found in a session.

use std::sync::Arc;

use jiff::Timestamp;
use planwright_core::approval::changes::{RecordedChange, since_last_look};
use planwright_core::approval::record::SealedRecord;
use planwright_core::ask::AskSubject;
use planwright_core::auto::{AutoRun, AutoState, RunEnd, RunPause, RunState};
use planwright_core::choices::is_worked_on;
use planwright_core::ids::RunId;
use planwright_core::plan::{Plan, PlanStatus};
use planwright_core::session::{Session, SessionIdentity};
use planwright_core::visible::visible;
use planwright_engine::inbox::{WaitingAsk, WaitingFor, WaitingRun, waiting_ask, waiting_runs};
use planwright_engine::ledger::{Ledger, LedgerResult};
use planwright_engine::{recognition, who};
use serde::{Deserialize, Serialize};

/// The plans of a session that are read at once.
const PLANS: u32 = 200;
const TITLE: usize = 120;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoticeKind {
    /// Something waits for a decision.
    Waits,
    Finished,
    Failed,
    /// A run is at one of its limits.
    Budget,
    Damage,
    /// The approval policy asks for less. It is told on every channel, whatever the settings name.
    Weakened,
}

impl NoticeKind {
    /// Those that a setting chooses from.
    pub const ALL: [Self; 5] = [Self::Waits, Self::Finished, Self::Failed, Self::Budget, Self::Damage];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waits => "waits",
            Self::Finished => "finished",
            Self::Failed => "failed",
            Self::Budget => "budget",
            Self::Damage => "damage",
            Self::Weakened => "weakened",
        }
    }
}

/// Something that a person is told. It says what, since when, and where to decide, and not enough to decide by it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Notice {
    /// Every process gives one thing this one id.
    pub id: String,
    pub kind: NoticeKind,
    pub session: String,
    /// What it is, in a few words.
    pub what: String,
    pub title: String,
    pub since: Timestamp,
    /// The page of the dashboard.
    pub path: String,
}

/// A notice, and what a card is made of.
#[derive(Debug, Clone)]
pub struct FoundNotice {
    pub notice: Notice,
    pub subject: Subject,
}

#[derive(Debug, Clone)]
pub enum Subject {
    Plan(Arc<Plan>),
    Ask(Box<WaitingAsk>),
    Run(SessionIdentity, RunId),
    None,
}

/// What is to be told about a session now. Work that ended before `since` is not told.
pub async fn find(ledger: &dyn Ledger, session: &SessionIdentity, since: Timestamp) -> LedgerResult<Vec<FoundNotice>> {
    let Some(stored) = ledger.session(session).await? else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    if let Some(waiting) = waiting_ask(&stored.session) {
        found.push(of_ask(waiting));
    }
    found.extend(waiting_runs(&stored.session).iter().map(of_run));
    if let Some(state) = stored.session.auto.as_deref() {
        found.extend(state.runs.iter().filter_map(|run| of_ended_run(session, state, run, since)));
    }
    let (mut plans, mut before) = (Vec::new(), None);
    loop {
        let page = ledger.plans(session, before, PLANS).await?;
        found.extend(page.damaged.iter().map(|row| of_damage(session, &row.what, stored.last_active)));
        plans.extend(page.items);
        before = page.next;
        if before.is_none() {
            break;
        }
    }
    for summary in &plans {
        let is_told = match summary.status {
            PlanStatus::Ready | PlanStatus::Executing => true,
            PlanStatus::Completed | PlanStatus::PartiallyCompleted => summary.updated_at >= since,
            PlanStatus::Collecting
            | PlanStatus::Approved
            | PlanStatus::Rejected
            | PlanStatus::Cancelled
            | PlanStatus::Superseded => false,
        };
        if !is_told {
            continue;
        }
        let snapshot = ledger.snapshot(session, Some(&summary.id)).await?;
        if let Some(plan) = snapshot.plans.get(&summary.id) {
            found.extend(of_plan(plan, &stored.session));
        }
    }
    Ok(found)
}

/// The changes since `since` after which less is asked of an approval.
pub fn find_weakened(records: &[SealedRecord], since: Timestamp) -> Vec<Notice> {
    let changes = since_last_look(records).changes.into_iter();
    let weakened = changes.filter(|change| change.what.is_weakening() && change.at >= since);
    let notice = |change: RecordedChange| Notice {
        id: format!("weakened-{}", change.seq.unwrap_or(0)),
        kind: NoticeKind::Weakened,
        session: String::new(),
        what: "Less is asked of an approval".to_owned(),
        title: format!("{} (by {}, {})", short(&change.what.to_string()), who(&change.by), recognition(&change.by)),
        since: change.at,
        path: "/settings".to_owned(),
    };
    weakened.map(notice).collect()
}

fn of_ask(waiting: WaitingAsk) -> FoundNotice {
    let ask = &waiting.ask;
    let what = match &ask.subject {
        AskSubject::Permission(_) => "The agent asks for permission",
        AskSubject::Questions { .. } => "The agent asks a question",
    };
    let notice = Notice {
        id: format!("ask-{}", ask.id),
        kind: NoticeKind::Waits,
        session: waiting.session.to_string(),
        what: what.to_owned(),
        // The arguments of a call may have secrets in them, so only the tool is named.
        title: match &ask.subject {
            AskSubject::Permission(call) => short(&call.tool),
            AskSubject::Questions { .. } => short(&ask.subject.title()),
        },
        since: ask.asked_at,
        path: format!("/?item={}", ask.id),
    };
    FoundNotice { notice, subject: Subject::Ask(Box::new(waiting)) }
}

fn of_run(waiting: &WaitingRun) -> FoundNotice {
    let WaitingRun { session, run, task, since, digest: _ } = waiting;
    let (kind, what) = match &run.state {
        RunState::Paused { reason: RunPause::Budget { .. }, .. } => (NoticeKind::Budget, "is at a limit"),
        RunState::Paused { .. } | RunState::Interrupted { .. } | RunState::Running | RunState::Ended { .. } => {
            (NoticeKind::Waits, "waits for you")
        }
    };
    let notice = Notice {
        id: format!("run-{}-{}", run.id(), since.as_microsecond()),
        kind,
        session: session.to_string(),
        what: format!("Run {} {what}", run.number),
        title: short(task),
        since: *since,
        path: format!("/?item={}", run.id()),
    };
    FoundNotice { notice, subject: Subject::Run(session.clone(), run.id().clone()) }
}

/// A run that ended since, with its result. A person who stopped it knows.
fn of_ended_run(session: &SessionIdentity, state: &AutoState, run: &AutoRun, since: Timestamp) -> Option<FoundNotice> {
    let RunState::Ended { end, at, note } = &run.state else { return None };
    let kind = match end {
        RunEnd::Completed => NoticeKind::Finished,
        RunEnd::Failed => NoticeKind::Failed,
        RunEnd::Stopped => return None,
    };
    if *at < since {
        return None;
    }
    let note = note.as_deref().or_else(|| state.task(run.context.task_id())?.note.as_deref());
    let note = note.map(|note| format!(": {}", short(note))).unwrap_or_default();
    let notice = Notice {
        id: format!("run-{}-ended", run.id()),
        kind,
        session: session.to_string(),
        what: format!("Run {} is {}{note}", run.number, end.as_str()),
        title: state.task(run.context.task_id()).map(|task| short(&task.title)).unwrap_or_default(),
        since: *at,
        path: format!("/s/{session}/runs"),
    };
    Some(FoundNotice { notice, subject: Subject::Run(session.clone(), run.id().clone()) })
}

fn of_plan(plan: &Arc<Plan>, session: &Session) -> Option<FoundNotice> {
    let micros = plan.updated_at.as_microsecond();
    let (id, kind, what) = match (plan.status, plan.waiting_for()) {
        (_, Some(WaitingFor::Approval)) => {
            let id = format!("plan-{}-{}", plan.id, plan.digest());
            (id, NoticeKind::Waits, format!("Plan #{} waits for your decision", plan.number))
        }
        (PlanStatus::PartiallyCompleted, Some(WaitingFor::UncertainStep { .. }))
        | (_, Some(WaitingFor::StepFailed { .. })) => {
            let execution = plan.execution.as_ref()?;
            let id = format!("ended-{}-{micros}", execution.id);
            (id, NoticeKind::Failed, format!("Plan #{} failed", plan.number))
        }
        (_, Some(WaitingFor::UncertainStep { position, .. })) => {
            let id = format!("uncertain-{}-{position}-{micros}", plan.id);
            (id, NoticeKind::Waits, format!("The result of step {position} of plan #{} is unknown", plan.number))
        }
        (_, Some(WaitingFor::StepEnded { position, .. })) => {
            let id = format!("step-{}-{position}-{micros}", plan.id);
            (id, NoticeKind::Waits, format!("Step {position} of plan #{} ended", plan.number))
        }
        (_, Some(WaitingFor::Paused)) if is_worked_on(plan, session) => return None,
        (_, Some(WaitingFor::Paused)) => {
            let id = format!("paused-{}-{micros}", plan.id);
            (id, NoticeKind::Waits, format!("Plan #{} is paused", plan.number))
        }
        (PlanStatus::Completed, None) => {
            let execution = plan.execution.as_ref()?;
            (format!("done-{}", execution.id), NoticeKind::Finished, format!("Plan #{} is done", plan.number))
        }
        // The inbox shows them; no notification is sent.
        (_, Some(WaitingFor::RefusedCalls { .. } | WaitingFor::CannotRun { .. })) => return None,
        (PlanStatus::PartiallyCompleted, None) => {
            let execution = plan.execution.as_ref()?;
            let id = format!("ended-{}-{micros}", execution.id);
            (id, NoticeKind::Finished, format!("Plan #{} is done in part", plan.number))
        }
        (_, None) => return None,
    };
    let notice = Notice {
        id,
        kind,
        session: plan.session.to_string(),
        what,
        title: short(&plan.display_title()),
        since: plan.updated_at,
        path: format!("/p/{}", plan.id),
    };
    Some(FoundNotice { notice, subject: Subject::Plan(Arc::clone(plan)) })
}

fn of_damage(session: &SessionIdentity, what: &str, since: Timestamp) -> FoundNotice {
    let notice = Notice {
        id: format!("damage-{session}-{what}"),
        kind: NoticeKind::Damage,
        session: session.to_string(),
        what: "Something in the store is damaged; `planwright verify` names it".to_owned(),
        title: short(what),
        since,
        path: "/".to_owned(),
    };
    FoundNotice { notice, subject: Subject::None }
}

fn short(text: &str) -> String {
    visible(text).lines().next().unwrap_or_default().chars().take(TITLE).collect()
}
