//! What persons permitted from now on by answering `always`: rules in the store, each with who made it, when, and where.

use planwright_core::actor::Actor;
use planwright_core::approval::record::ApprovalEvent;
use planwright_core::ask::{AskSubject, CallToPermit};
use planwright_core::ids::AskId;
use planwright_core::permission::{Permission, PermissionRule, PermissionRules};
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_core::snapshot::Snapshot;
use planwright_core::standing_rule::{PermittedCalls, RulePlace, StandingRule, StoredRule, StoredRules};

use super::{Approvals, OpenedFor, internal};
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

    /// Keeps the rules that allow calls in every session, as they were written: in a new store those of the process that makes it,
    /// in a store of an earlier version those of its first server. Call it before the settings are recorded.
    pub async fn import_permissions(
        &self,
        by: &Actor,
        rules: &[PermissionRule],
        opened: OpenedFor,
    ) -> LedgerResult<()> {
        let state = self.state().await?;
        if state.settings.is_some() || (state.policy.is_some() && opened != OpenedFor::Server) {
            return Ok(());
        }
        for rule in rules.iter().filter(|rule| rule.decide == Permission::Allow) {
            self.permit(by, &everywhere(rule)?, None).await?;
        }
        Ok(())
    }

    /// Keeps a rule that counts in every session. The caller has checked that a person asks for it.
    pub async fn permit_everywhere(&self, by: &Actor, rule: &PermissionRule) -> LedgerResult<u64> {
        if rule.decide != Permission::Allow {
            return Err(Refusal::invalid("The store keeps rules that allow; others are in planwright.toml.").into());
        }
        PermissionRules::new(vec![rule.clone()])?;
        self.permit(by, &everywhere(rule)?, None).await
    }

    /// The rules among these that allow calls and are not in the store. They do not count.
    pub async fn not_in_store<'a>(&self, rules: &'a [PermissionRule]) -> LedgerResult<Vec<&'a PermissionRule>> {
        let stored = self.state().await?.permissions;
        let mut missing = Vec::new();
        for rule in rules.iter().filter(|rule| rule.decide == Permission::Allow) {
            let written = everywhere(rule)?;
            if !stored.values().any(|stored| stored.rule == written) {
                missing.push(rule);
            }
        }
        Ok(missing)
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

fn everywhere(rule: &PermissionRule) -> LedgerResult<StandingRule> {
    let rule = serde_json::to_value(rule).map_err(internal)?;
    Ok(StandingRule { permits: PermittedCalls::Written { rule }, place: RulePlace::Everywhere })
}
