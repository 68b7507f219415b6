//! The import of the older `plans.json`. A second import of the same file changes nothing.

use planwright_core::actor::Actor;
use planwright_core::command::Command;
use planwright_core::ids::PlanId;
use planwright_core::legacy::{self, Legacy};
use planwright_core::session::SessionIdentity;

use crate::ledger::{LedgerError, LedgerResult};
use crate::submitter::Submitter;

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

#[derive(Debug, Clone)]
pub struct Importer {
    submitter: Submitter,
}

impl Importer {
    pub(crate) fn new(submitter: Submitter) -> Self {
        Self { submitter }
    }

    pub async fn import(&self, json: &str, by: &Actor) -> LedgerResult<ImportReport> {
        let mut report = ImportReport::default();
        for (found, index) in legacy::read(json)?.into_iter().zip(1..) {
            match found {
                Legacy::Skipped { id, reason, .. } => report.skipped.push(SkippedItem { index, id, reason }),
                Legacy::Taken { session, plan, notes } => {
                    let title = plan.title.clone().unwrap_or_else(|| "Untitled plan".to_owned());
                    let item = ImportedItem { id: plan.id.clone(), session: session.clone(), title, notes };
                    if let Some(there) = self.submitter.ledger().session_of(&plan.id).await? {
                        report.already_here.push(ImportedItem { session: there, ..item });
                        continue;
                    }
                    match self.submitter.submit(&session, by, Command::Import(plan)).await {
                        Ok(_) => report.taken.push(item),
                        Err(LedgerError::Refused(refusal)) => {
                            let id = Some(item.id.to_string());
                            report.skipped.push(SkippedItem { index, id, reason: refusal.message });
                        }
                        Err(error) => return Err(error),
                    }
                }
            }
        }
        Ok(report)
    }
}
