//! Reads, in two or three rounds, all that the commands of a batch look at. The sessions are locked first, in the
//! order of their ids, so that batches of any number of machines wait for each other and never in a circle.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use futures::try_join;
use planwright_core::command::Command;
use planwright_core::event::Event;
use planwright_core::ids::{MemoryId, PlanId};
use planwright_core::memory::{MemoryChange, MemoryCommand};
use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::{Leasing, LedgerResult, Submission};
use tokio_postgres::{Error, Row};

use super::session::BatchSession;
use super::{Batch, Done};
use crate::apply_command::may_open_session;
use crate::encode;
use crate::memory_rows;
use crate::postgres::errors::DatabaseError;
use crate::postgres::leases;
use crate::postgres::rows::{self, SessionRow};
use crate::postgres::schema;
use crate::postgres::writer_connection::WriterConnection;

pub(super) async fn load<'a>(
    connection: &WriterConnection,
    submissions: &[&'a Submission],
) -> Result<Batch<'a>, DatabaseError> {
    let sessions: BTreeSet<_> = submissions.iter().map(|submission| &submission.session).collect();
    let opening: BTreeSet<_> =
        submissions.iter().filter(|s| may_open_session(&s.command)).map(|submission| &submission.session).collect();
    let requests: Vec<&str> = submissions.iter().map(|submission| submission.context.request.as_str()).collect();
    let leased = submissions.iter().filter(|s| s.leasing != Leasing::None).map(|submission| &submission.session);
    let leased: BTreeSet<_> = leased.collect();
    let (channels, conversations) = names(&sessions);
    let (new_channels, new_conversations) = names(&opening);
    let (leased_channels, leased_conversations) = names(&leased);

    // Sent in one go, carried out one after the other: the requests are looked up once the sessions are locked, when
    // no other transaction can be carrying them out any more.
    let ((), fresh, locked, version, ends, leases, repeated) = try_join!(
        connection.begin(),
        connection.query(opening.len(), &connection.make_sessions, [&new_channels, &new_conversations]),
        connection.query(sessions.len(), &connection.lock_sessions, [&channels, &conversations]),
        connection.query(1, &connection.schema_version, []),
        connection.query(sessions.len(), &connection.journal_ends, [&channels, &conversations]),
        connection.query(leased.len(), &connection.find_leases, [&leased_channels, &leased_conversations]),
        connection.query(requests.len(), &connection.find_requests, [&requests]),
    )?;
    schema::check_version(&version)?;

    let sessions = sessions.into_iter().map(|session| (session, BatchSession::new(session))).collect();
    let mut batch = Batch { sessions, done: HashMap::new(), homes: HashMap::new(), loaded: 0, entries: Vec::new() };
    let fresh = fresh.iter().map(|row| row.try_get(0)).collect::<Result<BTreeSet<i64>, Error>>()?;
    batch.add_sessions(&locked, &ends, &fresh)?;
    batch.add_lease_holders(&leases)?;
    // Such a session existed when it was to be made, and was deleted before it was locked.
    let is_gone = |session: &BatchSession| session.id.is_none() && !session.busy;
    if opening.iter().any(|session| batch.sessions.get(session).is_none_or(is_gone)) {
        return Err(DatabaseError::Overtaken);
    }
    for row in &repeated {
        batch.recall(connection, submissions, row).await?;
    }
    let plans = batch.wanted_plans(submissions);
    let plans = connection.query(plans.len(), &connection.find_plans, [&plans]).await?;
    batch.add_plans(&plans)?;
    let memories = batch.wanted_memories(submissions);
    let memories = connection.query(memories.len(), &connection.find_memories, [&memories]).await?;
    batch.add_memories(&memories)?;
    Ok(batch)
}

fn names<'a>(sessions: &BTreeSet<&'a SessionIdentity>) -> (Vec<&'static str>, Vec<&'a str>) {
    sessions.iter().map(|session| (session.channel.as_str(), session.conversation.as_str())).unzip()
}

impl<'a> Batch<'a> {
    fn add_sessions(&mut self, locked: &[Row], ends: &[Row], fresh: &BTreeSet<i64>) -> Result<(), DatabaseError> {
        for row in ends {
            // A session that exists is busy unless it is among the locked ones.
            if let Ok(identity) = rows::identity(row)?
                && let Some(session) = self.sessions.get_mut(&identity)
            {
                session.busy = true;
            }
        }
        let end = |row| {
            let (seq, hash): (Option<i64>, Option<&[u8]>) = (Row::try_get(row, "seq")?, row.try_get("hash")?);
            Ok((row.try_get("session_id")?, seq.zip(hash)))
        };
        let ends = ends.iter().map(end).collect::<Result<HashMap<i64, _>, Error>>()?;
        for row in locked {
            // The rows were asked for by these names.
            let Ok(identity) = rows::identity(row)? else { continue };
            let Some(session) = self.sessions.get_mut(&identity) else { continue };
            let id = row.try_get("id")?;
            session.id = Some(id);
            session.busy = false;
            session.fresh = fresh.contains(&id);
            if session.fresh {
                continue;
            }
            let head = (row.try_get("head_seq")?, row.try_get("head_hash")?);
            let found = SessionRow { state: row.try_get("state")?, head, end: ends.get(&id).copied().flatten() };
            match encode::set_damage_aside(found.read(&identity))? {
                Ok((opened, head)) => {
                    session.snapshot.session = Some(opened.into());
                    session.head = head;
                }
                Err(damage) => session.damage = Some(damage),
            }
        }
        Ok(())
    }

    /// Finds the events of a request that was carried out before.
    async fn recall(
        &mut self,
        connection: &WriterConnection,
        submissions: &[&'a Submission],
        row: &Row,
    ) -> Result<(), DatabaseError> {
        let (request, session_id, first): (&str, i64, i64) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
        let same = submissions.iter().find(|submission| submission.context.request.as_str() == request);
        let Some(submission) = same else { return Ok(()) };
        let rows = connection.query(1, &connection.request_entries, [&session_id, &first]).await?;
        let events = rows.iter().map(|row| rows::entry(row).map(|entry| entry.map(|entry| entry.event)));
        let events = events.collect::<Result<LedgerResult<Vec<Event>>, Error>>()?;
        let last = first.unsigned_abs() + rows.len() as u64 - 1;
        let done = Done { session_id, last, events: encode::set_damage_aside(events)? };
        self.done.insert(&submission.context.request, done);
        Ok(())
    }

    fn wanted_plans(&self, submissions: &[&'a Submission]) -> Vec<String> {
        let subjects = submissions.iter().filter_map(|submission| submission.command.subject());
        let active = self.sessions.values().filter_map(BatchSession::active);
        let rounds = self.sessions.values().filter_map(BatchSession::round);
        let worked_on = self.sessions.values().filter_map(|session| session.snapshot.session.as_ref()?.worked_on());
        let recalled =
            self.done.values().filter_map(|done| done.events.as_ref().ok()).flatten().filter_map(Event::plan);
        let wanted: BTreeSet<_> = subjects.chain(active).chain(rounds).chain(worked_on).chain(recalled).collect();
        wanted.into_iter().map(PlanId::to_string).collect()
    }

    /// Puts each plan on the snapshot of its own session; a plan of a session that is not here is only known to exist.
    fn add_plans(&mut self, plans: &[Row]) -> Result<(), DatabaseError> {
        let mut sessions: BTreeMap<i64, &mut BatchSession> =
            self.sessions.values_mut().filter_map(|session| Some((session.id?, session))).collect();
        for row in plans {
            let Ok(id) = PlanId::new(row.try_get::<_, &str>("id")?) else { continue };
            let home: i64 = row.try_get("session_id")?;
            let runs: Vec<&str> = row.try_get("runs")?;
            self.loaded += row.try_get::<_, &str>("body")?.len() + runs.iter().map(|run| run.len()).sum::<usize>();
            self.homes.insert(id.clone(), home);
            let Some(session) = sessions.get_mut(&home) else { continue };
            match encode::set_damage_aside(rows::plan(row, &session.snapshot.identity)?)? {
                Ok(plan) => drop(session.snapshot.plans.insert(id, plan.into())),
                Err(damage) => drop(session.unreadable.insert(id, damage)),
            }
        }
        Ok(())
    }

    /// The memories that commands name. Several undos take back several of the last changes.
    fn wanted_memories(&self, submissions: &[&'a Submission]) -> Vec<String> {
        let mut wanted = BTreeSet::new();
        for submission in submissions {
            let opened = self.sessions.get(&submission.session).and_then(|session| session.snapshot.session.as_deref());
            wanted.extend(submission.command.memory_subject(opened));
            if matches!(submission.command, Command::Memory(MemoryCommand::Undo)) {
                wanted.extend(opened.iter().flat_map(|session| &session.memory_changes).map(MemoryChange::memory));
            }
        }
        wanted.into_iter().map(MemoryId::to_string).collect()
    }

    /// Puts each memory on the snapshot of every session that may name it.
    fn add_memories(&mut self, memories: &[Row]) -> Result<(), DatabaseError> {
        for row in memories {
            let owner: i64 = row.try_get("session_id")?;
            let (id, record) =
                memory_rows::record(row.try_get("id")?, row.try_get("body")?, row.try_get("forgotten")?)?;
            for session in self.sessions.values_mut() {
                if session.id.is_some_and(|session_id| memory_rows::may_name(session_id, owner)) {
                    session.snapshot.memories.insert(id.clone(), record.clone());
                }
            }
        }
        Ok(())
    }

    fn add_lease_holders(&mut self, leases: &[Row]) -> Result<(), DatabaseError> {
        for row in leases {
            let session_id: i64 = row.try_get("session_id")?;
            let holder = leases::holder_of(row)?;
            if let Some(session) = self.sessions.values_mut().find(|session| session.id == Some(session_id)) {
                session.holder = Some(holder);
            }
        }
        Ok(())
    }
}
