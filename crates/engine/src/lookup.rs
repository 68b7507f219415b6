//! Reads that several services share: a session or a plan, or the refusal that says it does not exist.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use planwright_core::approval::AgentSandbox;
use planwright_core::approval::record::{ApprovalState, SealedRecord};
use planwright_core::ids::PlanId;
use planwright_core::plan::Plan;
use planwright_core::presence::{AgentClient, CLIENT_HEARTBEAT_TIMEOUT, Presence};
use planwright_core::refusal::Refusal;
use planwright_core::session::{Channel, Session, SessionIdentity};
use planwright_core::snapshot::Snapshot;

use crate::ledger::{Ledger, LedgerError, LedgerResult, StoredSession};

/// The sessions that are read at once.
const PAGE: u32 = 256;

pub async fn session(ledger: &dyn Ledger, session: &SessionIdentity) -> LedgerResult<Session> {
    Ok(stored_session(ledger, session).await?.session)
}

pub async fn stored_session(ledger: &dyn Ledger, session: &SessionIdentity) -> LedgerResult<StoredSession> {
    let stored = ledger.session(session).await?;
    stored.ok_or_else(|| Refusal::not_found(format!("There is no session {session}.")).into())
}

pub async fn plan(ledger: &dyn Ledger, session: &SessionIdentity, id: &PlanId) -> LedgerResult<Arc<Plan>> {
    named(&ledger.snapshot(session, Some(id)).await?, id)
}

/// A plan of a snapshot that was read with it.
pub fn named(snapshot: &Snapshot, id: &PlanId) -> LedgerResult<Arc<Plan>> {
    snapshot.plans.get(id).cloned().ok_or_else(|| no_plan(&snapshot.identity, id).into())
}

pub fn no_plan(session: &SessionIdentity, id: &PlanId) -> Refusal {
    Refusal::not_found(format!("There is no plan {id} in session {session}."))
}

/// The programs of the agents of all sessions. One whose processes are not known counts in its own session only: it could be on any
/// machine.
pub(crate) async fn agents_of_sessions(ledger: &dyn Ledger) -> LedgerResult<Vec<AgentClient>> {
    let mut clients = Vec::new();
    let mut after = None;
    loop {
        let page = ledger.sessions_with_agents(after, PAGE).await?;
        let found = page.items.into_iter().flat_map(|stored| stored.session.clients);
        clients.extend(found.filter(|client| !client.is_unknown()));
        after = page.next;
        if after.is_none() {
            return Ok(clients);
        }
    }
}

/// The signs of life of the session's programs that have stopped, as far as the process of this presence cannot look at the
/// programs itself.
pub(crate) async fn silent_agents(
    ledger: &dyn Ledger,
    clients: &[AgentClient],
    presence: Option<&Presence>,
) -> LedgerResult<BTreeSet<String>> {
    let Some(presence) = presence else { return Ok(BTreeSet::new()) };
    let elsewhere = clients.iter().filter(|client| client.ran_elsewhere(presence));
    let mut silent = BTreeSet::new();
    for name in elsewhere.filter_map(AgentClient::heartbeat).collect::<BTreeSet<_>>() {
        // One clock for all machines: that of an agent's machine could be late, and the agent would seem to have ended.
        if ledger.silent_for(&name).await?.is_none_or(|age| age > CLIENT_HEARTBEAT_TIMEOUT) {
            silent.insert(name);
        }
    }
    Ok(silent)
}

/// The name of an agent's program that gave a sign of life within the last minute, on any machine: a heartbeat or, where its program gives
/// none, work in its session. `open` is whether every session is one of an agent that can start processes of its own.
pub(crate) async fn living_agent(
    ledger: &dyn Ledger,
    kept: &[AgentClient],
    open: AgentSandbox,
    now: Timestamp,
) -> LedgerResult<Option<String>> {
    // A time that has not come yet is recent.
    let is_recent = |at: Timestamp| now.duration_since(at).unsigned_abs() <= CLIENT_HEARTBEAT_TIMEOUT || at > now;
    let mut after = None;
    let mut programs = kept.to_vec();
    loop {
        let page = ledger.walk_sessions(after, PAGE).await?;
        for StoredSession { session, last_active, .. } in page.items {
            let has_agent = match (session.identity.channel, open) {
                (Channel::Mcp | Channel::Acp, _) | (_, AgentSandbox::Open) => true,
                (Channel::Web | Channel::Telegram | Channel::Cli | Channel::Legacy, AgentSandbox::Restricted) => {
                    !session.clients.is_empty()
                }
            };
            if has_agent && is_recent(last_active) {
                let name = session.clients.last().map(|client| client.name.clone());
                return Ok(Some(name.unwrap_or_else(|| format!("the agent of session {}", session.identity))));
            }
            programs.extend(session.clients);
        }
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    for client in programs {
        let Some(name) = client.heartbeat() else { continue };
        if ledger.silent_for(&name).await?.is_some_and(|age| age <= CLIENT_HEARTBEAT_TIMEOUT) {
            return Ok(Some(client.name));
        }
    }
    Ok(None)
}

/// What the records of approvers and policies say, checked.
pub(crate) fn approval_state(records: &[SealedRecord]) -> LedgerResult<ApprovalState> {
    ApprovalState::replay(records).map_err(|damage| LedgerError::damaged("the list of approvers", damage))
}
