//! The progress of steps, as a person reads it.

use planwright_core::plan::execution::{StepState, StepStatus};
use planwright_core::visible::visible;
use tokio::time::Instant;

use super::runner::{ExecutionRunner, ExecutionState};
use crate::session::progress::Progress;

impl ExecutionRunner<'_> {
    pub(super) fn send_step_started(&self, state: &ExecutionState, position: usize, run: &StepState) {
        let about = visible(&run.description).into_owned();
        self.context.progress.send(Progress::StepStarted { position, total: state.runs().len(), about });
    }

    pub(super) fn send_step_ended(
        &self,
        state: &ExecutionState,
        position: usize,
        description: &str,
        status: StepStatus,
        note: Option<&str>,
        began: Instant,
    ) {
        let note = note.filter(|_| status != StepStatus::Completed);
        self.context.progress.send(Progress::StepEnded {
            position,
            total: state.runs().len(),
            about: visible(description).into_owned(),
            status,
            note: note.map(|note| visible(note).into_owned()),
            took: began.elapsed(),
        });
    }
}
