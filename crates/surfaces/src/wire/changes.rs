//! What plans changed in files.

use jiff::Timestamp;
use planwright_agent::toolbox::files::FileDiff;
use planwright_agent::{ChatChanges, PlanChanges, StepChanges, TurnChanges, UndoneChanges};
use planwright_core::actor::Actor;
use planwright_core::session::Channel;
use planwright_core::workspace::{ChangedPaths, NotUndone, Undo};
use serde::Serialize;
use utoipa::ToSchema;

/// The bytes of one diff in an answer.
const DIFF_BYTES: usize = 512 * 1024;

#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanChangesView {
    pub plan_id: String,
    pub session_id: String,
    pub channel: Channel,
    pub number: u32,
    /// Only this step, from 1.
    #[schema(required = true)]
    pub step: Option<usize>,
    /// What is different now, one diff for each file, by path. Files that were put back are not among them.
    pub files: Vec<FileDiffView>,
    /// The changes by step.
    pub steps: Vec<StepChangesView>,
    /// What commands changed. It is not kept, so it cannot be undone.
    pub uncovered: ChangedPathsView,
    /// What people had put back, in order.
    pub undone: Vec<UndoneView>,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileDiffView {
    /// The project folder; `null` is the session's own folder.
    #[schema(required = true)]
    pub workspace: Option<String>,
    pub path: String,
    /// A unified diff in the form of `git diff`.
    pub diff: String,
    pub added_lines: usize,
    pub removed_lines: usize,
    /// The diff was cut because it was too long.
    pub truncated: bool,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StepChangesView {
    /// From 1; `null` for changes outside of any step.
    #[schema(required = true)]
    pub step: Option<usize>,
    #[schema(required = true)]
    pub step_id: Option<String>,
    pub description: String,
    pub files: Vec<FileDiffView>,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangedPathsView {
    pub added: Vec<String>,
    pub changed: Vec<String>,
    pub removed: Vec<String>,
    /// Whether nothing is missing here.
    pub complete: bool,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UndoneView {
    pub by: Actor,
    pub at: Timestamp,
    /// Only this step, from 1.
    #[schema(required = true)]
    pub step: Option<usize>,
    /// The files that were put back.
    pub paths: Vec<String>,
    pub not_undone: Vec<NotUndoneView>,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NotUndoneView {
    #[schema(required = true)]
    pub workspace: Option<String>,
    pub path: String,
    /// A sentence for people.
    pub why: String,
}

/// What an undo did.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UndoView {
    /// The plan that made the changes; absent if a turn of the conversation made them outside of any plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub plan_id: Option<String>,
    /// The files that are as they were before.
    pub paths: Vec<String>,
    /// The files that were left as they are.
    pub not_undone: Vec<NotUndoneView>,
}

/// What a conversation changed outside of any plan.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChatChangesView {
    pub session_id: String,
    pub channel: Channel,
    /// What is different now, one diff for each file, by path. Files that were put back are not among them.
    pub files: Vec<FileDiffView>,
    /// The changes by turn, in order.
    pub turns: Vec<TurnChangesView>,
    /// What commands changed. It is not kept, so it cannot be undone.
    pub uncovered: ChangedPathsView,
    /// What people had put back, in order.
    pub undone: Vec<UndoneView>,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnChangesView {
    pub turn_id: String,
    pub at: Timestamp,
    /// What the person said.
    pub text: String,
    pub files: Vec<FileDiffView>,
}

impl From<&ChatChanges> for ChatChangesView {
    fn from(changes: &ChatChanges) -> Self {
        Self {
            session_id: changes.session.conversation.to_string(),
            channel: changes.session.channel,
            files: views(&changes.files),
            turns: views(&changes.turns),
            uncovered: (&changes.uncovered).into(),
            undone: views(&changes.undone),
        }
    }
}

impl From<&TurnChanges> for TurnChangesView {
    fn from(changes: &TurnChanges) -> Self {
        let TurnChanges { turn, at, text, files } = changes;
        Self { turn_id: turn.to_string(), at: *at, text: text.clone(), files: views(files) }
    }
}

impl From<&PlanChanges> for PlanChangesView {
    fn from(changes: &PlanChanges) -> Self {
        let plan = &changes.plan;
        Self {
            plan_id: plan.id.to_string(),
            session_id: plan.session.conversation.to_string(),
            channel: plan.session.channel,
            number: plan.number,
            step: changes.step,
            files: views(&changes.files),
            steps: changes.steps.iter().map(StepChangesView::from).collect(),
            uncovered: (&changes.uncovered).into(),
            undone: changes.undone.iter().map(UndoneView::from).collect(),
        }
    }
}

fn views<'a, T: 'a, V: From<&'a T>>(items: impl IntoIterator<Item = &'a T>) -> Vec<V> {
    items.into_iter().map(V::from).collect()
}

impl From<&FileDiff> for FileDiffView {
    fn from(diff: &FileDiff) -> Self {
        let FileDiff { workspace, path, text, added_lines, removed_lines, truncated } =
            diff.clone().shortened(DIFF_BYTES);
        let workspace = workspace.project().map(str::to_owned);
        Self { workspace, path, diff: text, added_lines, removed_lines, truncated }
    }
}

impl From<&StepChanges> for StepChangesView {
    fn from(changes: &StepChanges) -> Self {
        Self {
            step: changes.position,
            step_id: changes.step.as_ref().map(ToString::to_string),
            description: changes.description.clone(),
            files: views(&changes.files),
        }
    }
}

impl From<&ChangedPaths> for ChangedPathsView {
    fn from(paths: &ChangedPaths) -> Self {
        let ChangedPaths { added, changed, removed, complete } = paths.clone();
        Self { added, changed, removed, complete }
    }
}

impl From<&UndoneChanges> for UndoneView {
    fn from(undone: &UndoneChanges) -> Self {
        Self {
            by: undone.by.clone(),
            at: undone.at,
            step: undone.step,
            paths: undone.paths.clone(),
            not_undone: views(&undone.not_undone),
        }
    }
}

impl From<&NotUndone> for NotUndoneView {
    fn from(left: &NotUndone) -> Self {
        let NotUndone { workspace, path, why } = left.clone();
        Self { workspace: workspace.project().map(str::to_owned), path, why }
    }
}

impl From<&Undo> for UndoView {
    fn from(undo: &Undo) -> Self {
        Self {
            plan_id: undo.plan.as_ref().map(ToString::to_string),
            paths: undo.changes.iter().map(|change| change.path.clone()).collect(),
            not_undone: views(&undo.not_undone),
        }
    }
}
