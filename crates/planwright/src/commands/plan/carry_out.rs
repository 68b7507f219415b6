//! Carrying a plan out here and now: progress is shown on the way, Ctrl+C stops it, and it can be resumed.

use std::io::Write as _;
use std::sync::Arc;

use planwright_agent::Agent;
use planwright_agent::session::input::{BeginWork, ChatLocation, Input, Request};
use planwright_agent::session::outcome::Outcome;
use planwright_agent::session::progress::{Decided, Progress, ProgressStream, ProgressUpdate};
use planwright_core::actor::Actor;
use planwright_core::command::StuckChoice;
use planwright_core::plan::{Plan, PlanStatus, PlanStyle};
use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::LedgerResult;
use planwright_llm::rehearsal::RehearsalModel;

use crate::chat::lines;
use crate::chat::output::{self, OutputLines};
use crate::commands::chat;
use crate::context::Context;
use crate::failure::{Exit, ExitResult, Failure};
use crate::signals::Signals;
use crate::terminal::markdown;

/// The agent that carries the plan out. Recorded calls need no model, and neither does work that begins later.
pub(super) fn agent(context: &Context, plan: &Plan, begin: BeginWork) -> Result<Agent, Failure> {
    match (plan.style(), begin) {
        (PlanStyle::Collect, _) | (_, BeginWork::Later) => Ok(agent_without_model(context)),
        (PlanStyle::Document | PlanStyle::Build, BeginWork::Now) => chat::agent(context, None),
    }
}

/// The agent that continues the plan. A document of another program's agent is continued by that one, so it needs no
/// model here; the engine decides which agent it is.
pub(in crate::commands) async fn resuming_agent(
    context: &Context,
    plan: &Plan,
    choice: Option<StuckChoice>,
) -> Result<Agent, Failure> {
    let elsewhere = context.engine.history().external_author(plan).await?.is_some();
    let begin = if elsewhere && plan.style() == PlanStyle::Document && choice.is_none() {
        BeginWork::Later
    } else {
        BeginWork::Now
    };
    agent(context, plan, begin)
}

/// For decisions that no model has a part in.
pub(super) fn agent_without_model(context: &Context) -> Agent {
    context.agent(Arc::new(RehearsalModel::default()), None)
}

/// A request of the person at the terminal in the plan's session.
pub(super) fn request(context: &Context, plan: &Plan) -> Request {
    request_in(context, &plan.session)
}

/// A request of the person at the terminal in a session.
pub(in crate::commands) fn request_in(context: &Context, session: &SessionIdentity) -> Request {
    request_as(context, &context.person, session)
}

/// The request of a person who was recognised in another way.
pub(in crate::commands) fn request_as(context: &Context, person: &Actor, session: &SessionIdentity) -> Request {
    let place = ChatLocation::new(context.terminal_chat(), session.clone());
    Request::new(place, person.clone())
}

/// Submits an input and shows its progress until its outcome. The first signal stops the work, the second one leaves it.
pub(in crate::commands) async fn follow(
    context: &Context,
    agent: &Agent,
    input: Input,
    request: Request,
    left: &str,
) -> Result<(ProgressStream, LedgerResult<Outcome>), Failure> {
    // One listener for the whole time: a signal between two of them would be lost.
    let signals = Signals::new();
    let mut signals = signals.map_err(|error| Failure::unexpected(format!("signals cannot be received: {error}")))?;
    let mut stream = agent.submit(input, request.clone());
    let mut stopping = false;
    let mut output = OutputLines::default();
    loop {
        tokio::select! {
            biased;
            update = stream.next() => match update {
                ProgressUpdate::Progress(progress) => show_progress(context, &progress, &mut output)?,
                ProgressUpdate::Outcome(outcome) => return Ok((stream, outcome)),
            },
            _ = signals.next() => {
                if std::mem::replace(&mut stopping, true) {
                    return Err(Failure::declined(left));
                }
                agent.submit(Input::StopHere, request.clone());
            }
        }
    }
}

/// Submits a decision, shows the progress of the work it leads to, and then the plan as it is.
pub(in crate::commands) async fn watched_as(
    context: &Context,
    person: &Actor,
    plan: &Plan,
    agent: &Agent,
    input: Input,
) -> ExitResult {
    let request = request_as(context, person, &plan.session);
    let is_approval = matches!(input, Input::Approve { .. });
    let (mut stream, outcome) = follow(context, agent, input, request, "Left; `plan resume` continues it.").await?;
    let left = matches!(stream.take_decision(), Some(Decided::Plan(decided)) if decided.left.is_some());
    let found = context.engine.plans().get(&plan.session, &plan.id).await?;
    let answer = outcome.map_err(super::refused(context, &found))?.answer();
    if let Some(answer) = answer.as_ref().filter(|answer| answer.refused()) {
        return Err(Failure::declined(answer.reply.clone()));
    }
    match (left, is_approval) {
        (true, true) => return super::approve::report(context, &found).await,
        (true, false) => return super::decide::report(context, &found).await,
        (false, _) => {}
    }
    if let Some(answer) = answer.filter(|_| !context.screen.json && found.style() == PlanStyle::Document) {
        context.screen.print(&markdown::render(&answer.reply, context.screen.width))?;
    }
    super::decide::report(context, &found).await?;
    Ok(if found.status == PlanStatus::Completed { Exit::Done } else { Exit::Refused })
}

fn show_progress(context: &Context, progress: &Progress, output: &mut OutputLines) -> Result<(), Failure> {
    let width = context.screen.width;
    let written = match progress {
        Progress::ToolOutput { text, .. } => output.push(text),
        Progress::ToolEnded { .. } | Progress::StepEnded { .. } => output.finish().into_iter().collect(),
        _ => Vec::new(),
    };
    let written: String = written.iter().map(|line| format!("{}\n", output::indented(line, width))).collect();
    let line = match progress {
        Progress::Said(text) => Some(markdown::render(text, width)),
        progress => lines::line(progress, "", width),
    };
    let text = format!("{written}{}", line.unwrap_or_default());
    if text.is_empty() || context.screen.json {
        return Ok(());
    }
    Ok(anstream::stderr().lock().write_all(text.as_bytes())?)
}
