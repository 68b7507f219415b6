//! `/compact`: the older part of the conversation becomes a summary.

use planwright_core::command::{Command, TurnCommand};
use planwright_core::conversation::Conversation;
use planwright_core::event::{Event, SessionEvent};
use planwright_engine::ledger::{Lease, Leasing, LedgerResult};
use planwright_engine::submitter::SubmitRequest;

use crate::agent_context::AgentContext;
use crate::leases::Leases;
use crate::session::outcome::Answer;
use crate::session::progress::Progress;
use crate::session::shutdown::shutting_down;
use crate::session::work::InputContext;
use crate::turn::Turns;

/// Summarises the older part of the conversation.
pub(super) async fn run(
    agent: &AgentContext,
    leases: &Leases,
    turns: &Turns,
    context: &InputContext,
) -> LedgerResult<Answer> {
    let session = context.session();
    let before = context.find_committed(agent.engine()).await?;
    let messages = before.iter().flat_map(|committed| &committed.events).find_map(|event| match event {
        Event::Session(SessionEvent::Compacted { compaction }) => Some(compaction.messages),
        _ => None,
    });
    if let Some(messages) = messages {
        return Ok(Answer::text(session, format!("{messages} messages are summarised. Plans are untouched.")));
    }
    let held = leases.hold(context).await?;
    let outcome = compact(agent, turns, held.lease(), context).await;
    leases.release(&held).await;
    Ok(Answer::text(session, outcome?))
}

async fn compact(agent: &AgentContext, turns: &Turns, lease: &Lease, context: &InputContext) -> LedgerResult<String> {
    let (session, by, progress) = (context.session(), context.by(), &context.progress);
    let snapshot = agent.engine().sessions().snapshot(session).await?;
    let opened = snapshot.opened()?;
    let mut conversation = Conversation::default();
    let mut apply = |seq, event: &_| conversation.apply(seq, event);
    turns.conversations.read(session, opened.history_from, u64::MAX, &mut apply).await?;
    let before = conversation.tokens();
    let compaction = tokio::select! {
        biased;
        compaction = turns.requests.compact_now(&conversation, &snapshot, progress) => compaction?,
        () = context.work.stop.cancelled() => return Ok("Stopped; the conversation is as it was.".to_owned()),
        () = agent.shutdown.immediate() => return Err(shutting_down()),
    };
    let Some(compaction) = compaction else {
        return Ok("There is nothing to shorten yet.".to_owned());
    };
    let messages = compaction.messages;
    let command = Command::Turn(TurnCommand::Compact(compaction.clone()));
    let (id, leasing) = (context.engine(agent.engine()).submitter().next_request(), Leasing::Held(lease.clone()));
    agent.engine().submitter().submit_as(SubmitRequest { session, by, id, leasing, turn: None }, command).await?;
    context.progress.send(Progress::Compacted { messages });
    conversation.apply(u64::MAX, &SessionEvent::Compacted { compaction }.into());
    let after = conversation.tokens();
    Ok(format!("{messages} messages are summarised: about {before} tokens became {after}. Plans are untouched."))
}
