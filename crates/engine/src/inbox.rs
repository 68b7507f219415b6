//! Every decision that waits for a person, over all sessions.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use planwright_core::auto::AutoRun;
pub use planwright_core::choices::WaitingAsk;
use planwright_core::plan::content::CallRunner;
pub use planwright_core::plan::waiting::WaitingFor;
use planwright_core::plan::{Digest, Plan, PlanStatus, PlanStyle};
use planwright_core::presence::Act;
use planwright_core::refusal::RefusalCode;
use planwright_core::session::{Session, SessionIdentity};
use planwright_core::upstream::{KnownTools, ServerName, why_not_made};

use crate::ledger::{DamagedRow, Ledger, LedgerError, LedgerResult, Page, PlanAnywhere, RunsFilter};
use crate::lookup;
use crate::process::is_gone;

/// A plan that waits for a person's decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    pub session: SessionIdentity,
    pub plan: Arc<Plan>,
    pub digest: Digest,
    pub since: Timestamp,
    /// Whether the session works on it.
    pub active: bool,
    pub wants: WaitingFor,
}

/// A run that waits for a person: at one of its limits, or because its process ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingRun {
    pub session: SessionIdentity,
    pub run: AutoRun,
    /// The title of the task that it works on.
    pub task: String,
    pub since: Timestamp,
    /// Of what a person signs who lets it continue.
    pub digest: String,
}

/// The largest number of asks that are listed.
const MAX_ASKS: usize = 1_000;

#[derive(Debug, Clone)]
pub struct Inbox {
    ledger: Arc<dyn Ledger>,
}

impl Inbox {
    pub(crate) fn new(ledger: Arc<dyn Ledger>) -> Self {
        Self { ledger }
    }

    /// The plan that changed last comes first. `after` is the `next` of the page before.
    pub async fn list(&self, mut after: Option<u64>, limit: u32) -> LedgerResult<Page<Waiting>> {
        let mut found = Page { items: Vec::new(), damaged: Vec::new(), next: None };
        loop {
            let room = limit.saturating_sub(u32::try_from(found.items.len()).unwrap_or(u32::MAX));
            let page = self.ledger.waiting_plans(after, room).await?;
            found.damaged.extend(page.damaged);
            for listed in page.items {
                match self.waiting(listed).await {
                    Ok(waiting) => found.items.extend(waiting),
                    // A plan that cannot be read does not hide the others.
                    Err(LedgerError::Damaged { what, reason }) => found.damaged.push(DamagedRow { what, reason }),
                    Err(error) => return Err(error),
                }
            }
            (found.next, after) = (page.next, page.next);
            // Some wait for no decision after all, so the page is filled up with the next ones.
            if found.next.is_none() || found.items.len() >= limit as usize {
                return Ok(found);
            }
        }
    }

    /// What turns and the hooks of clients ask, the longest waiting first. Of the calls of one session it is the first one.
    pub async fn asks(&self) -> LedgerResult<(Vec<WaitingAsk>, Vec<DamagedRow>)> {
        let (mut asks, mut damaged, mut after) = (Vec::new(), Vec::new(), None);
        loop {
            let page = self.ledger.asking(after, 256).await?;
            damaged.extend(page.damaged);
            asks.extend(page.items.into_iter().filter_map(|stored| waiting_ask(&stored.session)));
            after = page.next;
            if after.is_none() || asks.len() >= MAX_ASKS {
                break;
            }
        }
        asks.sort_by_key(|waiting| waiting.ask.asked_at);
        Ok((asks, damaged))
    }

    /// Runs that wait for a person, the longest waiting first.
    pub async fn runs(&self) -> LedgerResult<(Vec<WaitingRun>, Vec<DamagedRow>)> {
        let (mut runs, mut damaged, mut after) = (Vec::new(), Vec::new(), None);
        loop {
            let page = self.ledger.sessions_with_runs(RunsFilter::Waiting, after, 256).await?;
            damaged.extend(page.damaged);
            runs.extend(page.items.iter().flat_map(|stored| waiting_runs(&stored.session)));
            after = page.next;
            if after.is_none() || runs.len() >= MAX_ASKS {
                break;
            }
        }
        runs.sort_by_key(|waiting| waiting.since);
        Ok((runs, damaged))
    }

    /// Keeps which MCP servers are configured where the calls of the session are made, each with its command. The program that
    /// was started last is the one that counts: only it knows what its command line names.
    pub async fn record_servers(&self, session: &SessionIdentity, servers: &ConfiguredServers) -> LedgerResult<()> {
        let (key, body) = (servers_key(session), serde_json::json!(servers).to_string());
        let before = self.ledger.keyed_record(&key).await?;
        if before.as_ref().map_or(servers.is_empty(), |before| before.body == body) {
            return Ok(());
        }
        let revision = before.map_or(0, |before| before.revision);
        // A program that wrote meanwhile was started at the same time, and is as good.
        self.ledger.put_keyed_record(&key, revision, &body).await.map(drop)
    }

    async fn waiting(&self, listed: PlanAnywhere) -> LedgerResult<Option<Waiting>> {
        let PlanAnywhere { session, plan, active } = listed;
        // A failed plan that its session left for another waits no more.
        if plan.status == PlanStatus::PartiallyCompleted && !active {
            return Ok(None);
        }
        // Of approved plans only one whose recorded calls cannot be made waits for a person.
        if plan.status == PlanStatus::Approved && plan.style != PlanStyle::Collect {
            return Ok(None);
        }
        let plan = match lookup::plan(self.ledger.as_ref(), &session, &plan.id).await {
            // Its session was deleted meanwhile.
            Err(error) if error.code() == RefusalCode::NotFound => return Ok(None),
            plan => plan?,
        };
        let wants = match plan.wants_a_look() {
            Some(WaitingFor::Paused) if self.is_worked_on(&session, &plan).await? => None,
            Some(wants) => Some(wants),
            // A plan that its session left for another is not carried out by itself.
            None if active || plan.round.is_some() => self.cannot_run(&plan).await?,
            None => None,
        };
        let Some(wants) = wants else { return Ok(None) };
        let (digest, since) = (plan.digest(), plan.updated_at);
        Ok(Some(Waiting { session, plan, digest, since, active, wants }))
    }
}

impl Inbox {
    /// Whether the plan is not paused, because a process works on its turn, or the turn asks a person something. What it asks is
    /// an item of its own.
    async fn is_worked_on(&self, session: &SessionIdentity, plan: &Plan) -> LedgerResult<bool> {
        let Some(stored) = self.ledger.session(session).await? else { return Ok(false) };
        if WaitingAsk::about(&stored.session, plan).is_some() {
            return Ok(true);
        }
        let has_turn = stored.session.worked_on() == Some(&plan.id);
        Ok(has_turn && self.ledger.lease(session).await?.is_some_and(|lease| !is_gone(&lease.owner)))
    }

    /// Whether the next call of an approved plan cannot be made, as far as the store knows its server.
    async fn cannot_run(&self, plan: &Plan) -> LedgerResult<Option<WaitingFor>> {
        let Some((_, call)) = plan.next_recorded_call().filter(|(_, call)| call.runner == CallRunner::Planwright)
        else {
            return Ok(None);
        };
        let Some(server) = call.tool.split_once("__").and_then(|(server, _)| server.parse::<ServerName>().ok()) else {
            return Ok(None);
        };
        let pinned = self.ledger.pinned_server(&server).await?;
        let configured = self.configured_servers(&plan.session).await?;
        let command = configured.as_ref().and_then(|servers| servers.get(&server).copied());
        let pinned = pinned.map(|pinned| match command {
            Some(command) => pinned.reached_by(command),
            None => pinned,
        });
        let (accepted, offered) = match &pinned {
            Some(pinned) => (pinned.accepted.as_ref(), pinned.offered.as_ref()),
            None => (None, None),
        };
        let known = KnownTools {
            is_missing: configured.is_some_and(|servers| !servers.contains_key(&server)),
            accepted: accepted.map(|accepted| accepted.tools.as_slice()),
            offered: offered.map(|offered| offered.tools.as_slice()),
        };
        let why = why_not_made(&server, known, &call.tool, &call.arguments);
        Ok(why.map(|why| WaitingFor::CannotRun { why }))
    }

    /// The servers of the program that makes the calls of the session. `None` if it never said so.
    async fn configured_servers(&self, session: &SessionIdentity) -> LedgerResult<Option<ConfiguredServers>> {
        let record = self.ledger.keyed_record(&servers_key(session)).await?;
        // A program of an earlier version wrote their names alone; the next one that is started writes this.
        Ok(record.and_then(|record| serde_json::from_str(&record.body).ok()))
    }
}

/// MCP servers with the digests of their commands.
pub type ConfiguredServers = BTreeMap<ServerName, Digest>;

fn servers_key(session: &SessionIdentity) -> String {
    format!("mcp-servers/{session}")
}

/// The session's runs that wait for a person.
pub fn waiting_runs(session: &Session) -> Vec<WaitingRun> {
    let Some(state) = session.auto.as_deref() else { return Vec::new() };
    let waiting = |run: &AutoRun| {
        let task = state.task(run.context.task_id()).map(|task| task.title.clone()).unwrap_or_default();
        let (since, digest) = (run.waits_since()?, Act::resume_run(run, state).digest);
        Some(WaitingRun { session: session.identity.clone(), run: run.clone(), task, since, digest })
    };
    state.runs.iter().filter_map(waiting).collect()
}

/// What the session asks a person, if it waits for an answer.
pub fn waiting_ask(session: &Session) -> Option<WaitingAsk> {
    WaitingAsk::of_session(session)
}
