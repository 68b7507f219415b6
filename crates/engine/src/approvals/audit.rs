//! Checks the records about approvers, what was accepted of MCP servers, and every signature in the store.

use std::collections::BTreeSet;

use planwright_core::approval::record::{ApprovalState, ToolsAcceptance};
use planwright_core::approval::{Approver, ApproverKey, Approvers, Passkey, PasskeyKey, Require};
use planwright_core::plan::Plan;
use planwright_core::upstream::list_digest;
use serde::Deserialize;

use super::Approvals;
use crate::ledger::{DamagedRow, LedgerError, LedgerResult};
use crate::upstream::PinnedServer;

const PAGE: u32 = 500;

/// A public key that was kept outside of the store.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ExportedKey {
    pub name: String,
    pub key: ApproverKey,
    #[serde(default)]
    pub passkeys: Vec<ExportedPasskey>,
}

/// A passkey that was kept outside of the store.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ExportedPasskey {
    pub id: String,
    #[serde(flatten)]
    pub key: PasskeyKey,
}

impl Approvals {
    /// What is wrong with the approvers and with the signatures of approvals. With `kept`, the approvers of the store have to
    /// be among those keys, and those keys have to be known to the store, so that a forged enrolment and a replaced store are found.
    pub async fn audit(&self, kept: Option<&[ExportedKey]>) -> LedgerResult<Vec<DamagedRow>> {
        let records = self.records().await?;
        let state = match ApprovalState::replay(&records) {
            Ok(state) => state,
            Err(damage) => return Ok(vec![row("the list of approvers", damage.to_string())]),
        };
        let mut found = self.wrong_acceptances(&state).await?;
        // A signature counts if it was made by an approver who was enrolled at some time.
        let mut known = state.enrolled_ever.clone();
        if let Some(kept) = kept {
            let is_kept = |one: &Approver| kept.iter().any(|key| key.name == one.name && key.key == one.key);
            for forged in state.approvers.0.iter().filter(|one| !is_kept(one)) {
                found.push(row(&format!("approver {}", forged.name), "its key is not among the keys that were kept"));
            }
            let is_missing = |key: &&ExportedKey| !known.0.iter().any(|one| key.name == one.name && key.key == one.key);
            for missing in kept.iter().filter(is_missing) {
                let why = "its key was kept, and it was never enrolled in this store";
                found.push(row(&format!("approver {}", missing.name), why));
            }
            let has_kept = |one: &Approver, passkey: &Passkey| {
                let fits = |kept: &ExportedPasskey| kept.id == passkey.id && kept.key == passkey.key;
                kept.iter().any(|key| key.name == one.name && key.key == one.key && key.passkeys.iter().any(fits))
            };
            for one in state.approvers.0.iter().filter(|one| is_kept(one)) {
                for forged in one.passkeys.iter().filter(|passkey| !has_kept(one, passkey)) {
                    let what = format!("passkey {} of approver {}", forged.label, one.name);
                    found.push(row(&what, "it is not among the keys that were kept"));
                }
            }
            known.0.retain(is_kept);
            for one in &mut known.0 {
                let own = one.clone();
                one.passkeys.retain(|passkey| has_kept(&own, passkey));
            }
        }
        let mut after = None;
        loop {
            let page = self.ledger().walk_sessions(after, PAGE).await?;
            for stored in page.items {
                let plans = match self.ledger().stored_plans(&stored.session.identity).await {
                    // Rows that cannot be read are reported by the check of the journals.
                    Err(LedgerError::Damaged { .. }) => continue,
                    read => read?.0,
                };
                found.extend(plans.values().flat_map(|plan| check(plan, &known)));
            }
            after = page.next;
            if after.is_none() {
                return Ok(found);
            }
        }
    }
}

impl Approvals {
    /// The MCP servers of which something else is kept than what was offered and accepted.
    async fn wrong_acceptances(&self, state: &ApprovalState) -> LedgerResult<Vec<DamagedRow>> {
        let mut found = Vec::new();
        let mut recorded: BTreeSet<_> = state.accepted_tools.keys().cloned().collect();
        for (server, _) in self.ledger().pin_revisions().await? {
            recorded.remove(server.as_str());
            match self.ledger().pinned_server(&server).await {
                Ok(pinned) => found.extend(pinned.and_then(|pinned| wrong_acceptance(&pinned, state))),
                Err(LedgerError::Damaged { what, reason }) => found.push(DamagedRow { what, reason }),
                Err(error) => return Err(error),
            }
        }
        let missing = "its tools were accepted, and nothing is kept of it";
        found.extend(recorded.into_iter().map(|server| row(&format!("the MCP server {server}"), missing)));
        Ok(found)
    }
}

/// What an earlier version accepted has no record.
fn wrong_acceptance(pinned: &PinnedServer, state: &ApprovalState) -> Option<DamagedRow> {
    let what = format!("the MCP server {}", pinned.server);
    let digest = pinned.offered.as_ref().map(|offered| offered.digest().to_string());
    if digest.is_some() && digest != pinned.offered_digest {
        return Some(row(&what, "the tools that it offers do not have the digest that is kept with them"));
    }
    let recorded = state.accepted_tools.get(pinned.server.as_str())?;
    let accepted = pinned.accepted.as_ref()?;
    let (digest, command) = (list_digest(&accepted.tools).to_string(), pinned.accepted_command?.to_string());
    let is_it = |one: &ToolsAcceptance| {
        let at = one.at.as_microsecond() == accepted.at.as_microsecond();
        at && one.digest == digest && one.command == command && one.by == accepted.by
    };
    (!recorded.iter().any(is_it)).then(|| row(&what, "no person accepted the tools that are kept as accepted"))
}

fn check(plan: &Plan, known: &Approvers) -> Vec<DamagedRow> {
    let what = format!("the approval of plan {} of {}", plan.number, plan.session);
    let waiting = plan.incomplete_approval.as_deref().map(|waiting| &waiting.approval);
    let Some(approval) = plan.approval.as_deref().or(waiting) else { return Vec::new() };
    let wrong = approval.signatures.iter().filter_map(|one| plan.check_signature(approval, one, known).err());
    let mut found: Vec<_> = wrong.map(|why| row(&what, why)).collect();
    let is_signed = !approval.signatures.is_empty() || approval.is_by_bound_user(known);
    if !is_signed && approval.required == Some(Require::Verified) {
        found.push(row(&what, "no approver signed it"));
    }
    found
}

fn row(what: &str, reason: impl Into<String>) -> DamagedRow {
    DamagedRow { what: what.to_owned(), reason: reason.into() }
}
