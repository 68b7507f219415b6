//! `/project`, `/changes` and `/undo`.
//!
//! - `chat`: what a conversation changed outside of any plan

mod chat;

use std::path::Path;
use std::sync::Arc;

use planwright_core::actor::ActorKind;
use planwright_core::command::{Command, SessionCommand};
use planwright_core::event::{Event, SessionEvent};
use planwright_core::permission::GuardedFiles;
use planwright_core::plan::reference::PlanReference;
use planwright_core::plan::{Plan, PlanStatus};
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::SessionIdentity;
use planwright_core::slash::{ChangeSelection, ProjectCommand};
use planwright_core::visible::quoted;
use planwright_core::workspace::{ChangedPaths, FileChange, Undo, Workspace};
use planwright_engine::engine::Engine;
use planwright_engine::ledger::{Leasing, LedgerResult};
use planwright_engine::plan_status::one_line;
use planwright_engine::submitter::SubmitRequest;

use super::plans::fenced;
use crate::agent_context::AgentContext;
use crate::chat_changes::ChatChangesReader;
use crate::leases::Leases;
use crate::plan_changes::{PlanChanges, PlanChangesReader, step_at};
use crate::session::lease::LeaseGuard;
use crate::session::outcome::Answer;
use crate::session::work::InputContext;
use crate::toolbox::ToolContext;
use crate::toolbox::files::FileDiff;

/// The bytes of diffs that a chat shows.
const MAX_DIFF_BYTES: usize = 256 * 1024;
/// The paths that an answer names of what commands changed.
const MAX_NAMED_PATHS: usize = 20;

#[derive(Debug, Clone)]
pub(crate) struct WorkspaceCommands {
    agent: Arc<AgentContext>,
    leases: Leases,
    changes: PlanChangesReader,
    chat_changes: ChatChangesReader,
}

impl WorkspaceCommands {
    pub(super) fn new(agent: &Arc<AgentContext>, leases: Leases) -> Self {
        let (changes, chat_changes) = (PlanChangesReader::new(agent), ChatChangesReader::new(agent));
        Self { agent: Arc::clone(agent), leases, changes, chat_changes }
    }

    pub(super) async fn project(&self, command: ProjectCommand, context: &InputContext) -> LedgerResult<Answer> {
        let session = context.session();
        let workspace = match command {
            ProjectCommand::Show => {
                let workspace = self.agent.engine().sessions().get(session).await?.workspace;
                return Ok(Answer::text(session, self.workspace_text(session, &workspace)));
            }
            ProjectCommand::Off => Workspace::Own,
            ProjectCommand::At(path) => self.agent.files.project(Path::new(&path))?,
        };
        let engine = context.engine(self.agent.engine());
        engine.sessions().choose_workspace(session, context.by(), workspace.clone()).await?;
        Ok(Answer::text(session, self.workspace_text(session, &workspace)))
    }

    fn workspace_text(&self, session: &SessionIdentity, workspace: &Workspace) -> String {
        match workspace {
            Workspace::Own => {
                format!(
                    "The file tools work in the session's own folder, `{}`.",
                    self.agent.files.folder(session).display()
                )
            }
            Workspace::Project { path } => {
                format!("The file tools work in the project folder {}. `/project off` ends that.", quoted(path))
            }
        }
    }

    async fn plan(&self, session: &SessionIdentity, plan: Option<&PlanReference>) -> LedgerResult<Arc<Plan>> {
        match plan {
            Some(_) => self.agent.engine().plans().find(session, plan).await,
            None => self.changes.default_plan(session).await,
        }
    }

    pub(super) async fn changes(&self, selection: ChangeSelection, session: &SessionIdentity) -> LedgerResult<Answer> {
        let (plan, step) = match selection {
            ChangeSelection::Chat => return self.changes_of_chat(session).await,
            ChangeSelection::Latest if self.chat_is_latest(session).await? => {
                return self.changes_of_chat(session).await;
            }
            ChangeSelection::Latest => (None, None),
            ChangeSelection::Plan { plan, step } => (plan, step),
        };
        let plan = self.plan(session, plan.as_ref()).await?;
        let changes = self.changes.read(plan, step).await?;
        Ok(Answer::text(session, changes_text(&changes, &self.agent.guarded_files())))
    }

    pub(super) async fn undo_selected(
        &self,
        selection: ChangeSelection,
        context: &InputContext,
    ) -> LedgerResult<Answer> {
        let session = context.session();
        let (plan, step) = match selection {
            ChangeSelection::Chat => return self.undo_last_turn(context).await,
            ChangeSelection::Latest if self.undoes_chat(context).await? => return self.undo_last_turn(context).await,
            ChangeSelection::Latest => (None, None),
            ChangeSelection::Plan { plan, step } => (plan, step),
        };
        let plan = self.plan(session, plan.as_ref()).await?;
        self.undo(&plan, step, context).await
    }

    /// Whether an undo that names nothing is about the conversation. A request that is sent again is about the same.
    async fn undoes_chat(&self, context: &InputContext) -> LedgerResult<bool> {
        match undone_before(self.agent.engine(), context).await? {
            Some(undo) => Ok(undo.plan.is_none()),
            None => self.chat_is_latest(context.session()).await,
        }
    }

    /// Puts the files back. A file that something else changed since is left as it is and named.
    pub(crate) async fn undo(&self, plan: &Plan, step: Option<usize>, context: &InputContext) -> LedgerResult<Answer> {
        let session = context.session();
        if let Some(undo) = undone_before(self.agent.engine(), context).await? {
            return Ok(undone(session, plan, undo));
        }
        self.check_undo(context).await?;
        self.agent.engine().check_project_is_here(session).await?;
        let held = self.leases.hold(context).await?;
        let outcome = self.undo_under(&held, plan, step, context).await;
        self.leases.release(&held).await;
        outcome
    }

    async fn undo_under(
        &self,
        held: &LeaseGuard,
        plan: &Plan,
        step: Option<usize>,
        context: &InputContext,
    ) -> LedgerResult<Answer> {
        let (session, engine) = (context.session(), self.agent.engine());
        let plan = engine.plans().get(session, &plan.id).await?;
        self.check_idle(&plan).await?;
        let step_id = step.map(|position| step_at(&plan, position)).transpose()?;
        let standing = self.changes.standing(&plan, step).await?;
        let what = step.map_or_else(String::new, |step| format!("step {step} of "));
        if standing.is_empty() {
            let message = format!("There is nothing to undo: no file is changed by {what}plan {}.", plan.number);
            return Ok(Answer::refusal(session, RefusalCode::WrongStatus, message));
        }
        let tool_context = ToolContext::leased(session, held, engine.ledger().as_ref());
        let report = self.agent.files.undo(tool_context, &standing).await?;
        let (changes, not_undone) = (report.changes, report.not_undone);
        let undo = Undo { plan: Some(plan.id.clone()), step: step_id, in_turn: None, changes, not_undone };
        if undo.changes.is_empty() {
            return Ok(Answer::refusal(session, RefusalCode::Conflict, undo_text(&plan, &undo)));
        }
        let command = Command::Session(SessionCommand::RecordUndo(Box::new(undo.clone())));
        let id = context.engine(engine).submitter().next_request();
        let leasing = Leasing::Held(held.lease().clone());
        let request = SubmitRequest { session, by: context.by(), id, leasing, turn: None };
        engine.submitter().submit_as(request, command).await?;
        Ok(undone(session, &plan, undo))
    }

    /// Refused before a file is touched: only a person puts files back, from outside of the agent's reach.
    pub(super) async fn check_undo(&self, context: &InputContext) -> LedgerResult<()> {
        match context.by().kind {
            ActorKind::Person => {
                let approvals = self.agent.engine().approvals();
                approvals.check_separate_in(context.by(), context.session()).await
            }
            ActorKind::Agent | ActorKind::Policy | ActorKind::System => {
                Err(Refusal::policy_denied("Only a person can undo changes.").into())
            }
        }
    }

    /// A plan that is carried out would continue with files that it does not expect.
    async fn check_idle(&self, plan: &Plan) -> LedgerResult<()> {
        let session = self.agent.engine().sessions().get(&plan.session).await?;
        let paused = plan.is_paused();
        let runs = plan.status == PlanStatus::Executing && !paused;
        if runs || session.worked_on() == Some(&plan.id) {
            let message = format!("Plan {} is being carried out; stop it before its changes are undone.", plan.number);
            return Err(Refusal::wrong_status(message).into());
        }
        Ok(())
    }
}

fn undone(session: &SessionIdentity, plan: &Plan, undo: Undo) -> Answer {
    let message = undo_text(plan, &undo);
    Answer { undone: Some(Box::new(undo)), ..Answer::text(session, message) }
}

/// What this request put back before, if it was sent before.
async fn undone_before(engine: &Engine, context: &InputContext) -> LedgerResult<Option<Undo>> {
    let Some(before) = context.find_committed(engine).await? else { return Ok(None) };
    Ok(before.events.into_iter().find_map(|event| match event {
        Event::Session(SessionEvent::ChangesUndone { undo }) => Some(undo),
        _ => None,
    }))
}

fn undo_text(plan: &Plan, undo: &Undo) -> String {
    put_back_text(&format!("plan {}", plan.number), undo)
}

fn put_back_text(subject: &str, undo: &Undo) -> String {
    let mut lines = Vec::new();
    lines.push(match undo.changes.len() {
        0 => format!("Nothing that {subject} changed was put back."),
        1 => format!("1 file that {subject} changed is as it was before:"),
        files => format!("{files} files that {subject} changed are as they were before:"),
    });
    lines.extend(undo.changes.iter().map(|change| format!("- {}", undone_line(change))));
    if !undo.not_undone.is_empty() {
        lines.push(format!("\n{} left as it is:", files(undo.not_undone.len())));
        lines.extend(undo.not_undone.iter().map(|left| format!("- {}: {}", quoted(&left.path), left.why)));
    }
    lines.join("\n")
}

fn undone_line(change: &FileChange) -> String {
    let path = quoted(&change.path);
    match (&change.before, &change.after) {
        (None, Some(_)) => format!("{path} is back"),
        (Some(_), None) => format!("{path} is gone again"),
        (Some(_), Some(_)) | (None, None) => path,
    }
}

fn changes_text(changes: &PlanChanges, guarded: &GuardedFiles) -> String {
    let number = changes.plan.number;
    let subject = changes.step.map_or_else(|| format!("Plan {number}"), |step| format!("Step {step} of plan {number}"));
    let mut parts = Vec::new();
    parts.push(match changes.files.len() {
        0 if changes.undone.is_empty() => format!("{subject} changed no file."),
        0 => format!("{subject} left no file changed."),
        count => format!("{subject} changed {} ({}).", files(count), lines_changed(&changes.files)),
    });
    if changes.step.is_none() && !changes.steps.is_empty() {
        let lines = changes.steps.iter().map(|step| {
            let names: Vec<_> = step.files.iter().map(|file| quoted(&file.path)).collect();
            let title = step.position.map_or_else(
                || "outside of any step".to_owned(),
                |position| format!("step {position}, {}", one_line(&step.description)),
            );
            format!("- {title}: {}", names.join(", "))
        });
        parts.push(lines.collect::<Vec<_>>().join("\n"));
    }
    if !changes.files.is_empty() {
        let (text, left_out) = shown_diff(&changes.files);
        parts.push(fenced("diff", &text));
        if left_out > 0 {
            parts.push(format!(
                "{} is not shown whole here; `/changes {number} step 1` shows one step.",
                files(left_out)
            ));
        }
    }
    if !changes.uncovered.is_empty() {
        parts.push(uncovered_text(&changes.uncovered, guarded));
    }
    for undo in &changes.undone {
        let step = undo.step.map_or_else(String::new, |step| format!(" of step {step}"));
        parts.push(format!("Put back{step} by {}: {}.", undo.by.name, names(&undo.paths)));
    }
    parts.join("\n\n")
}

fn uncovered_text(uncovered: &ChangedPaths, guarded: &GuardedFiles) -> String {
    let kinds = [("added", &uncovered.added), ("changed", &uncovered.changed), ("removed", &uncovered.removed)];
    let lines =
        kinds.iter().filter(|(_, paths)| !paths.is_empty()).map(|(kind, paths)| format!("- {kind}: {}", names(paths)));
    let more = if uncovered.complete { "" } else { "\n- and perhaps others" };
    let lines: Vec<_> = lines.collect();
    let guarded = match uncovered.guarded(guarded).as_slice() {
        [] => String::new(),
        paths => format!("\nOf these, later run or instruct: {}. Look at them before you use them.", names(paths)),
    };
    format!(
        "Commands changed these files too. They are not covered: `/undo` leaves them.\n{}{more}{guarded}",
        lines.join("\n")
    )
}

fn names(paths: &[String]) -> String {
    let named: Vec<_> = paths.iter().take(MAX_NAMED_PATHS).map(|path| quoted(path)).collect();
    match paths.len().saturating_sub(MAX_NAMED_PATHS) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

/// The diffs one after another, and how many of them are not whole.
fn shown_diff(files: &[FileDiff]) -> (String, usize) {
    let (mut text, mut left_out) = (String::new(), 0);
    for file in files {
        let room = MAX_DIFF_BYTES.saturating_sub(text.len());
        let file = file.clone().shortened(room);
        left_out += usize::from(file.truncated);
        text.push_str(&file.text);
    }
    (text, left_out)
}

fn lines_changed(files: &[FileDiff]) -> String {
    let added: usize = files.iter().map(|file| file.added_lines).sum();
    let removed: usize = files.iter().map(|file| file.removed_lines).sum();
    format!("+{added} −{removed} lines")
}

fn files(count: usize) -> String {
    if count == 1 { "1 file".to_owned() } else { format!("{count} files") }
}
