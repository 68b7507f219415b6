//! The steps of an execution, counted by status.

use planwright_core::plan::Execution;
use planwright_core::plan::execution::StepStatus;
use serde::Serialize;

/// How many steps are in each status.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Counts))]
#[serde(rename_all = "camelCase")]
pub struct StepCounts {
    pub total: usize,
    pub done: usize,
    pub failed: usize,
    pub skipped: usize,
    pub uncertain: usize,
    pub in_progress: usize,
    pub not_begun: usize,
}

impl StepCounts {
    pub fn of(execution: &Execution) -> Self {
        let mut counts = Self { total: execution.steps.len(), ..Self::default() };
        for run in &execution.steps {
            *match run.status {
                StepStatus::Pending => &mut counts.not_begun,
                StepStatus::InProgress => &mut counts.in_progress,
                StepStatus::Completed => &mut counts.done,
                StepStatus::Failed => &mut counts.failed,
                StepStatus::Skipped => &mut counts.skipped,
                StepStatus::Uncertain => &mut counts.uncertain,
            } += 1;
        }
        counts
    }

    /// `2 done, 1 failed, 3 not begun`
    pub fn describe(&self) -> String {
        std::iter::once(format!("{} done", self.done)).chain(self.not_done()).collect::<Vec<_>>().join(", ")
    }

    /// `1 failed`, `3 not begun`: every other status that occurs.
    pub fn not_done(&self) -> impl Iterator<Item = String> {
        [
            (self.failed, "failed"),
            (self.skipped, "skipped"),
            (self.uncertain, "uncertain"),
            (self.in_progress, "in progress"),
            (self.not_begun, "not begun"),
        ]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
    }
}
