//! Sessions: opening them, plan mode, the reset of a conversation, and lists of them.

use planwright_core::actor::Actor;
use planwright_core::command::{Command, SessionCommand};
use planwright_core::ids::PlanId;
use planwright_core::mode::PlanModeState;
use planwright_core::plan::{PlanStatus, PlanStyle};
use planwright_core::presence::AgentClient;
use planwright_core::session::{Channel, ConversationKey, Session, SessionIdentity};
use planwright_core::snapshot::Snapshot;
use planwright_core::workspace::Workspace;

use crate::approvals::Approvals;
use crate::history::History;
use crate::ledger::{Committed, LedgerError, LedgerResult, Page, StoredSession};
use crate::lookup;
use crate::project_places::ProjectPlaces;
use crate::submitter::{SubmitRequest, Submitter};

/// How many pages one search reads.
const MAX_PAGES: usize = 100;

#[derive(Debug, Clone)]
pub struct Sessions {
    submitter: Submitter,
    project_places: Option<ProjectPlaces>,
}

impl Sessions {
    pub(crate) fn new(submitter: Submitter, project_places: Option<ProjectPlaces>) -> Self {
        Self { submitter, project_places }
    }

    /// An identity that no session has yet.
    pub fn new_identity(&self, channel: Channel) -> SessionIdentity {
        let id = self.submitter.next_request();
        // Time-ordered ids differ at their end; twelve hexadecimal digits are easy to type and hard to guess twice.
        let tail: String = id.as_str().chars().rev().filter(char::is_ascii_alphanumeric).take(12).collect();
        let key = ConversationKey::new(tail).unwrap_or_else(|_| unreachable!("twelve letters and digits are a key"));
        SessionIdentity::new(channel, key)
    }

    /// Opens the session unless it exists already.
    pub async fn open(&self, session: &SessionIdentity, by: &Actor) -> LedgerResult<Committed> {
        self.submit(session, by, SessionCommand::Open).await
    }

    pub async fn enable_plan_mode(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        style: PlanStyle,
    ) -> LedgerResult<Committed> {
        self.switch_with_draft(session, by, |parked| SessionCommand::EnablePlanMode { style, parked }).await
    }

    pub async fn ensure_plan_mode(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        style: Option<PlanStyle>,
    ) -> LedgerResult<Committed> {
        self.switch_with_draft(session, by, |parked| SessionCommand::EnsurePlanMode { style, parked }).await
    }

    pub async fn disable_plan_mode(&self, session: &SessionIdentity, by: &Actor) -> LedgerResult<Committed> {
        self.switch(session, by, SessionCommand::DisablePlanMode).await
    }

    /// The plan mode right after a command that switched it, also if that was carried out earlier.
    pub async fn plan_mode_after(&self, session: &SessionIdentity, switched: Committed) -> LedgerResult<PlanModeState> {
        let after = match switched.plan_mode_before {
            Some(_) => switched.snapshot,
            None => History::new(self.submitter.clone()).session_around(session, &switched).await?.1,
        };
        Ok(after.opened()?.plan_mode.clone())
    }

    pub async fn finish_plan_work(&self, session: &SessionIdentity, by: &Actor) -> LedgerResult<Committed> {
        self.switch(session, by, SessionCommand::FinishPlanWork).await
    }

    pub async fn reset(&self, session: &SessionIdentity, by: &Actor) -> LedgerResult<Committed> {
        // Entries that are written between this read and the reset also come before the reset.
        let head = self.submitter.ledger().session(session).await?.map_or(0, |stored| stored.head.seq);
        self.submit(session, by, SessionCommand::Reset { history_from: head + 1 }).await
    }

    /// The folder that the file tools work in from now on. The caller has checked it.
    pub async fn choose_workspace(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        workspace: Workspace,
    ) -> LedgerResult<Committed> {
        if let Some(places) = &self.project_places {
            places.record_first(session, &workspace).await?;
        }
        let chosen = self.submit(session, by, SessionCommand::ChooseWorkspace(workspace.clone())).await?;
        if let Some(places) = &self.project_places {
            places.record(session, &workspace).await?;
        }
        Ok(chosen)
    }

    /// Records the program that started `planwright mcp` for this session.
    pub async fn see_client(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        client: AgentClient,
    ) -> LedgerResult<Committed> {
        Approvals::new(self.submitter.clone()).see_agent(by, &client.name).await?;
        self.submit(session, by, SessionCommand::SeeClient(client)).await
    }

    pub async fn get(&self, session: &SessionIdentity) -> LedgerResult<Session> {
        lookup::session(self.submitter.ledger().as_ref(), session).await
    }

    /// The session with the head of its journal and the time of its last activity.
    pub async fn get_stored(&self, session: &SessionIdentity) -> LedgerResult<StoredSession> {
        lookup::stored_session(self.submitter.ledger().as_ref(), session).await
    }

    /// The session and its active plan, without a change.
    pub async fn snapshot(&self, session: &SessionIdentity) -> LedgerResult<Snapshot> {
        self.submitter.ledger().snapshot(session, None).await
    }

    pub async fn list(&self, after: Option<u64>, limit: u32) -> LedgerResult<Page<StoredSession>> {
        self.submitter.ledger().sessions(after, limit).await
    }

    /// The sessions whose title, topic, key or channel have all of these words, the most recently active first. A page may be
    /// short, and even empty, although another one follows.
    pub async fn search(&self, query_words: &str, after: Option<u64>, limit: u32) -> LedgerResult<Page<StoredSession>> {
        let query_words: Vec<_> = query_words.split_whitespace().map(str::to_lowercase).collect();
        if query_words.is_empty() {
            return self.list(after, limit).await;
        }
        if let Some(found) = self.submitter.ledger().sessions_with_words(&query_words, after, limit).await? {
            return Ok(found);
        }
        // So many sessions have the words that those of the first pages are found by reading these pages.
        let mut found = Page { items: Vec::new(), damaged: Vec::new(), next: after };
        for _ in 0..MAX_PAGES {
            let room = limit.saturating_sub(u32::try_from(found.items.len()).unwrap_or(u32::MAX));
            let page = self.list(found.next, room.max(1)).await?;
            found.items.extend(page.items.into_iter().filter(|stored| has_words(&stored.session, &query_words)));
            found.damaged.extend(page.damaged);
            found.next = page.next;
            // With little room left every read would be small.
            if found.next.is_none() || found.items.len() * 2 >= limit as usize {
                break;
            }
        }
        Ok(found)
    }

    /// Names the session, or takes its name away.
    pub async fn rename(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        title: Option<String>,
    ) -> LedgerResult<Committed> {
        self.submit(session, by, SessionCommand::Rename { title }).await
    }

    /// The sessions that have this key, one per channel at most.
    pub async fn with_key(&self, key: &ConversationKey) -> LedgerResult<Vec<SessionIdentity>> {
        self.submitter.ledger().sessions_with_key(key).await
    }

    /// Submits the command that plan work begins with. It continues the newest plan if that one is a parked draft.
    async fn switch_with_draft(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        command: impl Fn(Option<PlanId>) -> SessionCommand,
    ) -> LedgerResult<Committed> {
        let request = self.request_after_edit(session, by).await?;
        let newest = self.submitter.ledger().plans(session, None, 1).await?.items.pop();
        let parked = newest.filter(|plan| plan.status == PlanStatus::Collecting).map(|plan| plan.id);
        let continues = parked.is_some();
        let submit = |parked| self.submitter.submit_as(request.clone(), Command::Session(command(parked)));
        match submit(parked).await {
            // A plan that cannot be read is not used again.
            Err(LedgerError::Damaged { .. }) if continues => submit(None).await,
            committed => committed,
        }
    }

    /// Submits a command after which the active plan may not be the active one any more.
    async fn switch(&self, session: &SessionIdentity, by: &Actor, command: SessionCommand) -> LedgerResult<Committed> {
        let request = self.request_after_edit(session, by).await?;
        self.submitter.submit_as(request, Command::Session(command)).await
    }

    /// The request for a command, after a person's edit of the plan's file was read. The command gets the name of the request,
    /// and the edit does not.
    async fn request_after_edit<'a>(
        &self,
        session: &'a SessionIdentity,
        by: &'a Actor,
    ) -> LedgerResult<SubmitRequest<'a>> {
        let request = self.submitter.request(session, by);
        self.submitter.read_plan_file(session).await?;
        Ok(request)
    }

    async fn submit(&self, session: &SessionIdentity, by: &Actor, command: SessionCommand) -> LedgerResult<Committed> {
        self.submitter.submit(session, by, Command::Session(command)).await
    }
}

fn has_words(session: &Session, query_words: &[String]) -> bool {
    let text = session.search_text();
    query_words.iter().all(|word| text.contains(word))
}
