//! The import of plans: of the older `plans.json`, and of other programs. A second import of the same changes nothing.

use jiff::Timestamp;
use planwright_core::actor::Actor;
use planwright_core::approval::{ApprovalPolicy, Require};
use planwright_core::command::{Command, ImportedPlan};
use planwright_core::decide;
use planwright_core::event::Event;
use planwright_core::ids::{PlanId, RequestId};
use planwright_core::legacy::{self, Legacy};
use planwright_core::policy::Policy;
use planwright_core::session::SessionIdentity;
use planwright_core::snapshot::CommandContext;

use crate::clock::{Clock, TimeOrderedIds};
use crate::ledger::{Leasing, LedgerError, LedgerResult};
use crate::submitter::{SubmitRequest, Submitter};

#[derive(Debug, Clone, Default)]
pub struct ImportReport {
    pub taken: Vec<ImportedItem>,
    /// Plans that were here before, with the session they are in.
    pub already_here: Vec<ImportedItem>,
    pub skipped: Vec<SkippedItem>,
}

#[derive(Debug, Clone)]
pub struct ImportedItem {
    pub id: PlanId,
    pub session: SessionIdentity,
    pub title: String,
    pub notes: Vec<String>,
}

#[derive(Debug, Clone)]
pub struct SkippedItem {
    /// Its place in the file, from 1.
    pub index: usize,
    pub id: Option<String>,
    pub reason: String,
}

/// Whether anything is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportRun {
    Real,
    /// Says what would become of each plan.
    Dry,
}

/// A command that is carried out once, however often it is imported.
#[derive(Debug, Clone)]
pub struct ImportRequest<'a> {
    pub session: &'a SessionIdentity,
    pub by: &'a Actor,
    /// One thing of the other program always has one id, so that it is imported once.
    pub id: RequestId,
    /// When it happened there; now if absent.
    pub at: Option<Timestamp>,
}

/// What became of one command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Once {
    /// What it wrote; nothing in a dry run.
    Now(Vec<Event>),
    /// What it wrote when it was carried out.
    Before(Vec<Event>),
    Refused(String),
}

#[derive(Debug)]
struct StoppedClock(Timestamp);

impl Clock for StoppedClock {
    fn now(&self) -> Timestamp {
        self.0
    }
}

/// What became of one plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TakenPlan {
    Taken,
    /// It was here before, in this session.
    AlreadyHere(SessionIdentity),
    Refused(String),
}

#[derive(Debug, Clone)]
pub struct Importer {
    submitter: Submitter,
}

impl Importer {
    pub(crate) fn new(submitter: Submitter) -> Self {
        Self { submitter }
    }

    pub async fn import(&self, json: &str, by: &Actor) -> LedgerResult<ImportReport> {
        self.import_in(json, by, ImportRun::Real).await
    }

    /// Takes the plans of an older `plans.json` over, or says what would become of them.
    pub async fn import_in(&self, json: &str, by: &Actor, run: ImportRun) -> LedgerResult<ImportReport> {
        let mut report = ImportReport::default();
        for (found, index) in legacy::read(json)?.into_iter().zip(1..) {
            match found {
                Legacy::Skipped { id, reason, .. } => report.skipped.push(SkippedItem { index, id, reason }),
                Legacy::Taken { session, plan, notes } => {
                    let title = plan.title.clone().unwrap_or_else(|| "Untitled plan".to_owned());
                    let item = ImportedItem { id: plan.id.clone(), session: session.clone(), title, notes };
                    match self.take(&session, by, plan, run).await? {
                        TakenPlan::Taken => report.taken.push(item),
                        TakenPlan::AlreadyHere(there) => {
                            report.already_here.push(ImportedItem { session: there, ..item })
                        }
                        TakenPlan::Refused(reason) => {
                            report.skipped.push(SkippedItem { index, id: Some(item.id.to_string()), reason });
                        }
                    }
                }
            }
        }
        Ok(report)
    }

    /// Takes one plan into a session, which begins if it does not exist.
    pub async fn take(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        plan: Box<ImportedPlan>,
        run: ImportRun,
    ) -> LedgerResult<TakenPlan> {
        if let Some(there) = self.submitter.ledger().session_of(&plan.id).await? {
            return Ok(TakenPlan::AlreadyHere(there));
        }
        let tried = match run {
            ImportRun::Real => self.submitter.submit(session, by, Command::Import(plan)).await.map(drop),
            ImportRun::Dry => self.try_out(session, by, Command::Import(plan)).await,
        };
        match tried {
            Ok(()) => Ok(TakenPlan::Taken),
            Err(LedgerError::Refused(refusal)) => Ok(TakenPlan::Refused(refusal.message)),
            Err(error) => Err(error),
        }
    }

    /// Carries out a command under a name of its own, at the time at which it happened in the other program. A command of a name that
    /// was carried out before changes nothing.
    pub async fn carry_out_once(
        &self,
        request: ImportRequest<'_>,
        command: Command,
        run: ImportRun,
    ) -> LedgerResult<Once> {
        let ImportRequest { session, by, id, at } = request;
        if let Some(before) = self.submitter.ledger().find_request(session, &id).await? {
            return Ok(Once::Before(before.events));
        }
        if run == ImportRun::Dry {
            return Ok(Once::Now(Vec::new()));
        }
        let submitter = match at {
            Some(at) => self.submitter.clone().with_clock(StoppedClock(at), TimeOrderedIds),
            None => self.submitter.clone(),
        };
        let request = SubmitRequest { session, by, id, leasing: Leasing::None, turn: None };
        match submitter.submit_as(request, command).await {
            Ok(committed) => Ok(Once::Now(committed.events)),
            Err(LedgerError::Refused(refusal)) => Ok(Once::Refused(refusal.message)),
            Err(error) => Err(error),
        }
    }

    /// Decides about a command as if it were submitted, and writes nothing.
    async fn try_out(&self, session: &SessionIdentity, by: &Actor, command: Command) -> LedgerResult<()> {
        let snapshot = self.submitter.ledger().snapshot(session, None).await?;
        let context =
            CommandContext { at: self.submitter.now(), by: by.clone(), request: self.submitter.next_request() };
        // The door is passed when the command is submitted: a person who only looks needs none.
        let policy = Policy { approval: ApprovalPolicy::requiring(Require::Any), ..self.submitter.policy().clone() };
        decide(&snapshot, &command, &context, &policy)?;
        Ok(())
    }
}
