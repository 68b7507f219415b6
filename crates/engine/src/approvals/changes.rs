//! What was changed about who may decide since a person looked last.

use planwright_core::actor::Actor;
use planwright_core::approval::Require;
use planwright_core::approval::changes::{ChangedAbout, RecordedChange, Unseen, since_last_look};
use planwright_core::approval::record::ApprovalEvent;
use planwright_core::presence::Presence;
use planwright_core::refusal::Refusal;

use super::Approvals;
use crate::ledger::LedgerResult;

impl Approvals {
    /// Every change of the records, and every MCP server whose tools were accepted, since a person looked last.
    pub async fn unseen(&self) -> LedgerResult<Unseen> {
        let mut unseen = since_last_look(&self.records().await?);
        for (server, _) in self.ledger().pin_revisions().await? {
            let accepted = self.ledger().pinned_server(&server).await?.and_then(|pinned| pinned.accepted);
            let is_new = |at| unseen.since.is_none_or(|since| at > since);
            if let Some(accepted) = accepted.filter(|accepted| is_new(accepted.at)) {
                let what = ChangedAbout::ToolsAccepted { server: server.to_string() };
                unseen.changes.push(RecordedChange { seq: None, at: accepted.at, by: accepted.by, what });
            }
        }
        unseen.changes.sort_by_key(|change| change.at);
        Ok(unseen)
    }

    /// Records that a person was shown these changes. Only a person at a terminal or in a browser outside of the agent's reach
    /// has seen them.
    pub async fn see_changes(&self, by: &Actor, shown: &Unseen) -> LedgerResult<()> {
        let looks = |presence: &Presence| {
            matches!(presence, Presence::Terminal { .. } | Presence::Browser | Presence::Verified { .. })
        };
        if !by.presence.as_ref().is_some_and(looks) {
            return Err(
                Refusal::policy_denied("Only a person at a terminal or in a signed-in browser looks at this.").into()
            );
        }
        self.check_everywhere(by, Require::Separate).await?;
        let Some(until) = shown.changes.iter().map(|change| change.at).max() else { return Ok(()) };
        let seq = shown.changes.iter().filter_map(|change| change.seq).max().unwrap_or(0);
        let seen = ApprovalEvent::RecordsSeen { seq, until };
        self.append_if(by, |_| Some(seen.clone())).await.map(drop)
    }
}
