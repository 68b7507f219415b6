//! Stores of any size. Each session is decided, sealed and written back as a restored one is, so `verify` finds the store whole.
//! A store that has some of the sessions gets the others.

use std::sync::Arc;
use std::time::Instant;

use anyhow::Context as _;
use futures::{StreamExt as _, TryStreamExt as _};
use jiff::{SignedDuration, Timestamp};
use planwright_core::actor::Actor;
use planwright_core::command::{Command, DraftCommand, SessionCommand, TurnCommand};
use planwright_core::ids::{RequestId, TurnId};
use planwright_core::journal::{Head, SealedEntry};
use planwright_core::model::{ModelReply, Usage};
use planwright_core::plan::PlanStyle;
use planwright_core::policy::Policy;
use planwright_core::refusal::RefusalCode;
use planwright_core::session::{Channel, ConversationKey, SessionIdentity};
use planwright_core::snapshot::{CommandContext, Snapshot};
use planwright_core::turn::{Purpose, TurnEnd, TurnEnding, TurnInput};
use planwright_engine::core as planwright_core;
use planwright_engine::ledger::Ledger;
use planwright_engine::version_index::apply_and_index;
use planwright_store::Location;

use crate::figures;

/// The entries of each session.
const ENTRIES: u64 = 10;
/// One session of so many has a plan that waits for a decision.
const PLAN_EVERY: usize = 10;
/// How many sessions are written at once: the store commits them together.
const AT_ONCE: usize = 256;
/// The time between the beginnings of two sessions, and between two entries.
const BETWEEN_SESSIONS: SignedDuration = SignedDuration::from_secs(10);
const BETWEEN_ENTRIES: SignedDuration = SignedDuration::from_secs(1);

const VERBS: [&str; 8] = ["Move", "Rename", "Measure", "Review", "Repair", "Describe", "Replace", "Test"];
const THINGS: [&str; 12] = [
    "mailer",
    "archive",
    "invoices",
    "backup",
    "sign-in",
    "calendar",
    "search page",
    "printer",
    "queue",
    "report",
    "gallery",
    "importer",
];
const PLACES: [&str; 10] =
    ["Aachen", "Bergen", "Cádiz", "Delft", "Espoo", "Faro", "Gdańsk", "Haifa", "Izmir", "Jelgava"];

/// Brings the store at `location` to so many sessions.
pub(crate) async fn run(location: &Location, sessions: usize) -> anyhow::Result<()> {
    let ledger = planwright_store::open(location).await?;
    let since = Timestamp::now() - BETWEEN_SESSIONS * i32::try_from(sessions).context("so many sessions")?;
    let present = usize::try_from(ledger.count_sessions().await?)?;
    let began = Instant::now();
    let written = futures::stream::iter(0..sessions).map(|n| {
        let ledger = Arc::clone(&ledger);
        let task = tokio::spawn(async move { write(ledger.as_ref(), n, since).await });
        async move { task.await?.map(|()| n) }
    });
    let mut written = written.buffer_unordered(AT_ONCE);
    let mut count = 0_usize;
    while written.try_next().await?.is_some() {
        count += 1;
        if count.is_multiple_of((sessions / 10).max(1)) {
            let seconds = began.elapsed().as_secs_f64();
            figures::remark(&format!("{count} of {sessions} sessions after {seconds:.1} s"));
        }
    }
    let now = ledger.count_sessions().await?;
    figures::remark(&format!("{now} sessions are in the store; {present} were there before"));
    Ok(())
}

async fn write(ledger: &dyn Ledger, n: usize, since: Timestamp) -> anyhow::Result<()> {
    let session = identity(n)?;
    if ledger.session(&session).await?.is_some() {
        return Ok(());
    }
    let journal = journal(&session, n, since)?;
    match ledger.restore(&session, Arc::new(journal)).await {
        // An earlier call wrote it.
        Err(error) if error.code() == RefusalCode::Conflict => Ok(()),
        outcome => Ok(outcome?),
    }
}

fn identity(n: usize) -> anyhow::Result<SessionIdentity> {
    Ok(SessionIdentity::new(Channel::Web, ConversationKey::new(format!("load-{n:07}"))?))
}

/// A conversation, and in one of ten a plan that waits for a decision.
fn journal(session: &SessionIdentity, n: usize, since: Timestamp) -> anyhow::Result<Vec<SealedEntry>> {
    let mut story = Story::begin(session, n, since)?;
    story.carry_out(Command::Session(SessionCommand::Open))?;
    let (verb, thing, place) = (VERBS[n % VERBS.len()], THINGS[n / 3 % THINGS.len()], PLACES[n / 7 % PLACES.len()]);
    story.talk(&format!("{verb} the {thing} of {place}, number {n}"))?;
    if n.is_multiple_of(PLAN_EVERY) {
        let enable = SessionCommand::EnablePlanMode { style: PlanStyle::Document, parked: None };
        story.carry_out(Command::Session(enable))?;
        let markdown = format!(
            "# {verb} the {thing} of {place}\n\n- [ ] Read what is there\n- [ ] Try it beside the old one\n- [ ] Switch over\n"
        );
        story.carry_out(Command::Draft(DraftCommand::SetContent { markdown, title: None }))?;
    }
    while story.head.seq + 3 <= ENTRIES {
        story.talk(&format!("What is left to do for the {thing} after entry {}?", story.head.seq))?;
    }
    while story.head.seq < ENTRIES {
        let title = Some(format!("{thing} of {place}, {}", story.head.seq));
        story.carry_out(Command::Session(SessionCommand::Rename { title }))?;
    }
    Ok(story.sealed)
}

/// The journal of a session as it grows.
struct Story {
    session: SessionIdentity,
    snapshot: Snapshot,
    head: Head,
    sealed: Vec<SealedEntry>,
    policy: Policy,
    name: String,
    at: Timestamp,
}

impl Story {
    fn begin(session: &SessionIdentity, n: usize, since: Timestamp) -> anyhow::Result<Self> {
        Ok(Self {
            session: session.clone(),
            snapshot: Snapshot::new(session.clone()),
            head: Head::START,
            sealed: Vec::new(),
            policy: Policy::default(),
            name: format!("load-{n}"),
            at: since + BETWEEN_SESSIONS * i32::try_from(n)?,
        })
    }

    /// Three entries: a message, what the model replies, and the end of the turn.
    fn talk(&mut self, text: &str) -> anyhow::Result<()> {
        let turn = TurnId::new(self.next_request()?.as_str())?;
        self.carry_out(Command::Turn(TurnCommand::Begin {
            text: text.to_owned(),
            tokens: 12,
            purpose: Purpose::Answer,
        }))?;
        let answer = format!("{text}: it is read, and nothing stands in the way. The next step is yours.");
        let usage = Usage { input_tokens: 900, output_tokens: 40 };
        let reply = ModelReply { text: answer.clone(), calls: Vec::new(), usage, cut_off: false };
        let ending = TurnEnding { end: TurnEnd::Answered, text: answer, tokens: 40, shown: None };
        let inputs = vec![TurnInput::Replied { reply, tokens: 40 }];
        self.carry_out(Command::Turn(TurnCommand::Record { turn, inputs, ending: Some(ending) }))
    }

    /// The name of the request that is carried out next.
    fn next_request(&self) -> anyhow::Result<RequestId> {
        Ok(RequestId::new(format!("{}-{}", self.name, self.head.seq + 1))?)
    }

    fn carry_out(&mut self, command: Command) -> anyhow::Result<()> {
        let is_drafted = matches!(command, Command::Draft(_));
        let by = if is_drafted { Actor::agent("planner", "bench") } else { Actor::person("ada", "bench") };
        let context = CommandContext { at: self.at, by, request: self.next_request()? };
        for event in planwright_core::decide(&self.snapshot, &command, &context, &self.policy)? {
            let entry = self.head.seal(&self.session, &context, &event)?;
            apply_and_index(&mut self.snapshot, &event, &context, entry.seq);
            self.sealed.push(entry);
        }
        self.at += BETWEEN_ENTRIES;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_session_has_ten_entries_and_one_of_ten_an_open_plan() -> anyhow::Result<()> {
        let since = Timestamp::UNIX_EPOCH;
        for n in 0..30 {
            let session = identity(n)?;
            let sealed = journal(&session, n, since)?;
            assert_eq!(sealed.len(), 10, "session {n}");
            let (mut head, mut snapshot) = (Head::START, Snapshot::new(session.clone()));
            for entry in &sealed {
                let checked = head.check(&session, entry)?;
                apply_and_index(&mut snapshot, &checked.event, &checked.context(), checked.seq);
            }
            let waiting = snapshot.plans.values().filter(|plan| plan.wants_a_look().is_some()).count();
            assert_eq!(waiting, usize::from(n.is_multiple_of(PLAN_EVERY)), "session {n}");
        }
        Ok(())
    }
}
