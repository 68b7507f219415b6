//! What persons permitted from now on by answering `always`: rules in the store, each with who made it, when, and where.

use planwright_core::actor::Actor;
use planwright_core::approval::record::ApprovalEvent;
use planwright_core::ask::{AskSubject, CallToPermit};
use planwright_core::ids::AskId;
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_core::snapshot::Snapshot;
use planwright_core::standing_rule::{StandingRule, StoredRule, StoredRules};

use super::Approvals;
use crate::ledger::LedgerResult;

impl Approvals {
    /// The rules that count now.
    pub async fn permissions(&self) -> LedgerResult<StoredRules> {
        Ok(self.policy().await?.permissions.clone())
    }

    /// Keeps a rule, and answers its number; one that is there already keeps its own. The caller has recorded the answer of
    /// the person, which passed the door.
    pub async fn permit(
        &self,
        by: &Actor,
        rule: &StandingRule,
        session: Option<&SessionIdentity>,
    ) -> LedgerResult<u64> {
        let given = || ApprovalEvent::PermissionGiven { rule: rule.clone(), session: session.cloned() };
        let is_same = |stored: &StoredRule| stored.rule == *rule;
        let state = self.append_if(by, |state| (!state.permissions.values().any(is_same)).then(given)).await?;
        let found = state.permissions.iter().find(|(_, stored)| is_same(stored)).map(|(number, _)| *number);
        Ok(found.unwrap_or(state.seq))
    }

    /// Keeps the rule that was shown with an ask, after a person answered it with `always`. Answers what they read about it.
    pub async fn permit_asked(&self, by: &Actor, snapshot: &Snapshot, ask: &AskId) -> LedgerResult<String> {
        let subject = snapshot.open_turn().and_then(|open| open.asked(ask)).map(|ask| &ask.subject);
        let Some(AskSubject::Permission(CallToPermit { always: Some(rule), .. })) = subject else {
            return Ok("Answered.".to_owned());
        };
        let number = self.permit(by, rule, Some(&snapshot.identity)).await?;
        Ok(format!(
            "Answered. Rule {number} permits {}. `planwright permissions remove {number}` takes it back.",
            rule.describe()
        ))
    }

    /// Takes a rule back. The caller has checked that a person asks for it.
    pub async fn remove_permission(&self, by: &Actor, number: u64) -> LedgerResult<StoredRule> {
        let removed = self.state().await?.permissions.remove(&number);
        let removed = removed.ok_or_else(|| {
            Refusal::not_found(format!("There is no rule {number}; `planwright permissions list` shows them."))
        })?;
        let is_there = ApprovalEvent::PermissionRemoved { number };
        self.append_if(by, |state| state.permissions.contains_key(&number).then(|| is_there.clone())).await?;
        Ok(removed)
    }
}
