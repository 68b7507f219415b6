//! What happened to a plan, line by line, and then its versions, decisions and executions.

mod decisions;
mod executions;

use planwright_core::event::{AutoEvent, Event, MemoryEvent, PlanEvent, SessionEvent, TurnEvent, WorkbookEvent};
use planwright_core::ids::StepId;
use planwright_core::mode::ModeEnd;
use planwright_core::plan::execution::{StepOutcome, StepStatus};
use planwright_core::plan::{Plan, PlanStatus};
use planwright_core::visible::quoted;
use planwright_core::workspace::CallChanges;
use planwright_engine::history::{HistoryItem, HistoryReport};
use planwright_engine::who;
use serde_json::Value;

use super::card::permission_text;
use super::palette::{self, BOLD, DIM};
use super::text::{Span, count, paint, painted, shown_line, wrap};
use super::time;
use crate::invocation::Invocation;

pub(crate) fn render(history: &HistoryReport, plan: &Plan, invocation: &Invocation, width: usize) -> String {
    let mut text = String::new();
    // Consecutive entries of one actor and one moment share a heading.
    for together in history.items.chunk_by(|one, next| heading(one) == heading(next)) {
        text.push_str(&format!("{}\n", paint(&heading(&together[0]), DIM)));
        for item in together {
            for (index, line) in wrap(&[describe(&item.event, plan)], width.saturating_sub(4)).iter().enumerate() {
                let indent = if index == 0 { "  " } else { "    " };
                text.push_str(&format!("{indent}{}\n", painted(line)));
            }
        }
    }
    match history.versions.len() {
        0 => {}
        1 => text.push_str("\n1 version\n"),
        count => {
            let compare = invocation.plan(["diff", &plan.number.to_string(), "--from", "N", "--to", "N"]);
            text.push_str(&format!("\n{count} versions; `{compare}` compares two\n"));
        }
    }
    for version in &history.versions {
        text.push_str(&format!(
            "  {} {} {}\n",
            paint(&format!("version {}", version.version), BOLD),
            paint(&version.digest.short(), DIM),
            paint(&format!("{} by {}", time::both(version.at), shown_line(&who(&version.by))), DIM)
        ));
    }
    text.push_str(&decisions::render(&history.decisions, width));
    text.push_str(&executions::render(&history.executions, width));
    text
}

fn heading(item: &HistoryItem) -> String {
    format!("{}, {}: {}", time::absolute(item.at), time::ago(item.at), shown_line(&who(&item.by)))
}

fn describe(event: &Event, plan: &Plan) -> Span {
    match event {
        Event::Session(event) => Span::plain(&describe_session(event)),
        Event::Turn { event, .. } => Span::plain(&describe_turn(event)),
        Event::Workbook(event) => Span::plain(&describe_workbook(event)),
        Event::Memory(event) => Span::plain(describe_memory(event)),
        Event::Auto(event) => Span::plain(&describe_auto(event)),
        Event::Plan { event, .. } => describe_plan(event, plan),
    }
}

fn describe_auto(event: &AutoEvent) -> String {
    match event {
        AutoEvent::GoalAdded { number, title, .. } => format!("goal {number} was set: {}", shown_line(title)),
        AutoEvent::GoalChanged { status, .. } => format!("a goal is {status}"),
        AutoEvent::TaskAdded { number, title, .. } => format!("task {number} was added: {}", shown_line(title)),
        AutoEvent::TaskChanged { status, .. } => format!("a task is {status}"),
        AutoEvent::DiaryWritten { text, .. } => format!("diary: {}", shown_line(text)),
        AutoEvent::ScheduleAdded { number, line, .. } => format!("schedule {number} was made: {}", line.expression),
        AutoEvent::SchedulePaused { .. } => "a schedule was paused".to_owned(),
        AutoEvent::ScheduleResumed { .. } => "a schedule was resumed".to_owned(),
        AutoEvent::ScheduleDeleted { .. } => "a schedule was deleted".to_owned(),
        AutoEvent::ScheduleFired { .. } => "a schedule started a run".to_owned(),
        AutoEvent::SchedulePostponed { reason, .. } => {
            format!("a schedule is tried again later: {}", shown_line(reason))
        }
        AutoEvent::RunStarted { number, context, .. } => format!("run {number} was started ({})", context.run_kind()),
        AutoEvent::RunTicked { .. } => "a turn of a run ended".to_owned(),
        AutoEvent::RunMoved { .. } => "a run continues with another task".to_owned(),
        AutoEvent::RunPaused { reason, .. } => format!("a run is paused: {}", shown_line(&reason.to_string())),
        AutoEvent::RunResumed { .. } => "a run continues".to_owned(),
        AutoEvent::RunInterrupted { .. } => "a run was interrupted".to_owned(),
        AutoEvent::RunEnded { end, .. } => format!("a run is {}", end.as_str()),
    }
}

fn describe_memory(event: &MemoryEvent) -> &'static str {
    match event {
        MemoryEvent::Saved { .. } => "a memory was saved",
        MemoryEvent::Promoted { .. } => "a memory was promoted to global",
        MemoryEvent::Forgotten { .. } => "a memory was forgotten",
        MemoryEvent::Restored { .. } => "a memory was restored",
        MemoryEvent::OfferDeclined { .. } => "an offered memory was declined",
    }
}

fn describe_session(event: &SessionEvent) -> String {
    match event {
        SessionEvent::Opened => "the session began".to_owned(),
        SessionEvent::ConversationReset { .. } => "the conversation was reset".to_owned(),
        SessionEvent::PlanModeEnabled { style, .. } => format!("plan work on it is on ({style})"),
        SessionEvent::PlanModeDisabled { end } => mode_end(*end).to_owned(),
        SessionEvent::Compacted { compaction } => format!("{} summarised", count(compaction.messages, "message")),
        SessionEvent::PlanShown { shown } => format!("shown in the conversation, digest {}", shown.digest),
        SessionEvent::Renamed { title: Some(title) } => format!("the session is called {}", shown_line(title)),
        SessionEvent::Renamed { title: None } => "the session has no name any more".to_owned(),
        SessionEvent::ReviewDrafted { review, .. } => {
            format!("{} on version {} kept as a draft", count(review.comments.len(), "comment"), review.version)
        }
        SessionEvent::ReviewSent { review, .. } => {
            format!("{} on version {} sent", count(review.comments.len(), "comment"), review.version)
        }
        SessionEvent::ReviewAnswered { answers, .. } => {
            let texts: Vec<_> = answers.iter().map(|answer| answer.text.as_str()).collect();
            format!("{} answered: {}", count(answers.len(), "comment"), shown_line(&texts.join(" ")))
        }
        SessionEvent::CommentResolved { resolved: true, .. } => "a comment is resolved".to_owned(),
        SessionEvent::CommentResolved { resolved: false, .. } => "a comment is open again".to_owned(),
        SessionEvent::PlanCreated { creation } => match &creation.succeeds {
            None => format!("plan {} began ({})", creation.number, creation.style),
            Some(predecessor) => format!("plan {} began in place of {}", creation.number, predecessor.of.short()),
        },
        SessionEvent::WorkspaceChosen { path: Some(path) } => format!("the workspace is {}", quoted(path)),
        SessionEvent::WorkspaceChosen { path: None } => "the workspace is the session's own folder".to_owned(),
        SessionEvent::FilesChanged { call_changes, .. } => files_changed(call_changes),
        SessionEvent::ChangesUndone { undo } => {
            let left = match undo.not_undone.len() {
                0 => String::new(),
                left => format!(", {} left as they are", count(left, "file")),
            };
            format!("{} put back as before{left}", count(undo.changes.len(), "file"))
        }
        SessionEvent::Restored => "the session was restored from an archive; earlier approvals are history".to_owned(),
        SessionEvent::ClientSeen { client, .. } => format!("{} started `planwright mcp`", quoted(&client.name)),
        SessionEvent::ClientCallAsked { asked, .. } => {
            format!("asked about a call to {}: {}", quoted(&asked.tool), one_call(&asked.arguments))
        }
        SessionEvent::ClientCallAnswered { grant, note, .. } => {
            format!("answered `{}`{}", grant.as_str(), because(note.as_deref()))
        }
        SessionEvent::ClientCallTaken { .. } => "the call that was permitted once is made".to_owned(),
        SessionEvent::GatewayAsked { tool, state, .. } => format!("call to {}: {state}", quoted(tool)),
        SessionEvent::GatewayCalled { record, .. } => {
            let outcome = record.outcome.as_ref().map(outcome_text).unwrap_or_default();
            format!(
                "call to {} was made ({}){outcome}: {}",
                quoted(&record.tool),
                record.why,
                one_call(&record.arguments)
            )
        }
        SessionEvent::GatewayCallEnded { tool, outcome, .. } => {
            format!("call to {}{}{}", quoted(tool), outcome_text(outcome), because(outcome.note.as_deref()))
        }
        SessionEvent::GatewayQuestioned { tool, questions, answers: None, .. } => {
            format!("call to {}: the server asks {}", quoted(tool), one_call(questions))
        }
        SessionEvent::GatewayQuestioned { tool, answers: Some(answers), .. } => {
            format!("call to {}: the server is answered {}", quoted(tool), one_call(answers))
        }
        SessionEvent::GatewayRefused { tool, arguments, refusal, .. } => format!(
            "call to {} refused ({}): {}; it was {}",
            quoted(tool),
            refusal.code,
            shown_line(&refusal.message),
            one_call(arguments)
        ),
        SessionEvent::PlanImported { number, plan } => format!("taken over as plan {number}, {}", plan.status),
    }
}

fn outcome_text(outcome: &StepOutcome) -> String {
    format!(", which {}", status_text(outcome.status))
}

/// The arguments of a call, short enough for a line.
fn one_call(arguments: &Value) -> String {
    const MAX_CHARACTERS: usize = 200;
    let text = shown_line(&arguments.to_string());
    match text.char_indices().nth(MAX_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn files_changed(call_changes: &CallChanges) -> String {
    const MAX_NAMED: usize = 3;
    let paths: Vec<_> = call_changes.changes.iter().map(|change| quoted(&change.path)).collect();
    let more = paths.len().saturating_sub(MAX_NAMED);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    match (paths.as_slice(), &call_changes.uncovered) {
        ([], Some(_)) => "a command changed files, which cannot be undone".to_owned(),
        (paths, _) => format!("changed {}{more}", paths[..paths.len().min(MAX_NAMED)].join(", ")),
    }
}

fn describe_turn(event: &TurnEvent) -> String {
    match event {
        TurnEvent::Begun { text, .. } => format!("said: {}", shown_line(text)),
        TurnEvent::Resumed => "an interrupted turn was resumed".to_owned(),
        TurnEvent::ModelReplied { reply, .. } => format!("replied: {}", shown_line(&reply.text)),
        TurnEvent::ToolEnded { outcome, .. } => format!("a tool answered: {}", shown_line(&outcome.text)),
        TurnEvent::PermissionAsked { asked, .. } => format!("asked for permission to call {}", shown_line(&asked.tool)),
        TurnEvent::PermissionAnswered { grant, note, arguments, .. } => {
            let note = note.as_ref().map(|note| format!(", {}", shown_line(note))).unwrap_or_default();
            let changed = arguments.as_ref().map(|arguments| format!(", with {}", shown_line(&arguments.to_string())));
            format!("answered: {}{}{note}", grant.as_str(), changed.unwrap_or_default())
        }
        TurnEvent::QuestionsAsked { questions, .. } => {
            let texts: Vec<_> = questions.iter().map(|question| question.text.as_str()).collect();
            format!("asked: {}", shown_line(&texts.join(" ")))
        }
        TurnEvent::QuestionsAnswered { answers, .. } => format!("answered: {}", shown_line(&answers.join(" "))),
        TurnEvent::Ended { ending } => format!("the turn ended: {}", ending.end.name()),
    }
}

fn describe_workbook(event: &WorkbookEvent) -> String {
    match event {
        WorkbookEvent::Switched { on: true } => "planning files were switched on".to_owned(),
        WorkbookEvent::Switched { on: false } => "planning files were switched off".to_owned(),
        WorkbookEvent::Begun { title, .. } => format!("a workbook began: {}", shown_line(title)),
        WorkbookEvent::Written { which, version, .. } => format!("{which} was written, version {version}"),
        WorkbookEvent::Archived { name } => format!("the workbook was archived as {}", shown_line(name)),
        WorkbookEvent::Cleared => "the workbook was cleared".to_owned(),
        WorkbookEvent::Assessed { record } => format!(
            "{} ({})",
            if record.begin { "worth a workbook" } else { "not worth a workbook" },
            shown_line(&record.reasons.join("; "))
        ),
    }
}

fn describe_plan(event: &PlanEvent, plan: &Plan) -> Span {
    let plain = |text: String| Span::plain(&text);
    match event {
        PlanEvent::ContentSet { markdown, .. } => Span::new(
            &format!("the text was set: {}; ready for a decision", count(markdown.lines().count(), "line")),
            palette::status(PlanStatus::Ready),
        ),
        PlanEvent::StepRecorded { step, .. } => plain(format!("step recorded: {}", shown_line(&step.call()))),
        PlanEvent::MetadataSet { .. } => plain("what it says beside its steps was changed".to_owned()),
        PlanEvent::StepAdded { index, step, .. } => plain(format!(
            "step {} added for {}: {}",
            index + 1,
            shown_line(&step.agent),
            shown_line(&step.description)
        )),
        PlanEvent::StepUpdated { index, step, .. } => {
            plain(format!("step {} changed: {}", index + 1, shown_line(&step.description)))
        }
        PlanEvent::StepRemoved { step, .. } => plain(format!("step {step} removed")),
        PlanEvent::Finalized { .. } => Span::new("ready for a decision", palette::status(PlanStatus::Ready)),
        PlanEvent::Approved { approval, .. } => {
            let mut text = match approval.skipped.len() {
                0 => "approved".to_owned(),
                1 => "approved, but for 1 step".to_owned(),
                count => format!("approved, but for {count} steps"),
            };
            text.push_str(&because(approval.note.as_deref()));
            Span::new(&text, palette::status(PlanStatus::Approved))
        }
        PlanEvent::ApprovalSigned { signed } => Span::new(
            &format!("{}{}", shown_line(&signed.to_string()), because(signed.approval.note.as_deref())),
            palette::status(PlanStatus::Ready),
        ),
        PlanEvent::Rejected { reason, .. } => {
            Span::new(&format!("rejected{}", because(reason.as_deref())), palette::status(PlanStatus::Rejected))
        }
        PlanEvent::RevisionRequested { feedback, .. } => {
            Span::new(&format!("changes asked for: {}", shown_line(feedback)), palette::CHANGED)
        }
        PlanEvent::Cancelled { reason, .. } => {
            Span::new(&format!("cancelled{}", because(reason.as_deref())), palette::REMOVED)
        }
        PlanEvent::Superseded { by, .. } => plain(format!("{} took its place", by.short())),
        PlanEvent::ExecutionPaused { after_step: Some(pause), .. } => plain(format!(
            "the execution is paused after step {}; it waits until a person has looked at it",
            pause.step
        )),
        PlanEvent::ExecutionPaused { .. } => plain("the execution is paused; it waits for a person".to_owned()),
        PlanEvent::ExecutionResumed { .. } => plain("the execution is resumed".to_owned()),
        PlanEvent::ExecutionStarted { execution, .. } => plain(format!("execution {} began", execution.number)),
        PlanEvent::StepBegun { step, .. } => plain(format!("{} begun", name(step, plan))),
        PlanEvent::StepEnded { step, outcome, .. } => {
            let (mark, style) = palette::step(outcome.status);
            let text = format!(
                "{mark} {} {}{}",
                name(step, plan),
                status_text(outcome.status),
                because(outcome.note.as_deref())
            );
            Span::new(&text, style)
        }
        PlanEvent::PermissionsCounted { step, permissions, .. } => {
            plain(format!("{}: {}", name(step, plan), permission_text(permissions)))
        }
        PlanEvent::ExecutionFinished { status, .. } => {
            Span::new(&format!("the execution ended: {status}"), palette::status(*status))
        }
    }
}

/// People count steps; ids are for programs.
fn name(step: &StepId, plan: &Plan) -> String {
    let position = plan.content.steps().iter().position(|known| known.id == *step);
    position.map_or_else(|| format!("step {step}"), |index| format!("step {}", index + 1))
}

const fn mode_end(end: ModeEnd) -> &'static str {
    match end {
        ModeEnd::Off => "plan work was turned off",
        ModeEnd::Done => "plan work is done",
        ModeEnd::Reset => "plan work ended with the conversation",
        ModeEnd::NothingCollected => "plan work ended: nothing was collected",
    }
}

const fn status_text(status: StepStatus) -> &'static str {
    match status {
        StepStatus::Pending => "is to be done again",
        StepStatus::InProgress => "is in progress",
        StepStatus::Completed => "is done",
        StepStatus::Failed => "failed",
        StepStatus::Skipped => "is skipped",
        StepStatus::Uncertain => "has an unknown result",
    }
}

fn because(reason: Option<&str>) -> String {
    reason.map_or_else(String::new, |reason| format!(": {}", shown_line(reason)))
}
