//! What every request begins with: who the agent is, and where the plan stands. The text holds no time and nothing else
//! that changes by itself, so that it stays the same byte for byte while nothing happens and providers can keep it.

mod auto_block;
mod memory_block;
mod plan_block;
mod project;
pub mod specialist;
mod template;

use crate::agents::Specialist;
use crate::plan::PlanStatus;
use crate::snapshot::Snapshot;

pub use auto_block::{auto_block, opening_text, tick_text};
pub use memory_block::{memory_block, memory_provenance};
pub use plan_block::plan_block;
pub use project::{ProjectGuide, project_block};
pub use template::template_block;

/// A plan of the session, in one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanLine {
    pub number: u32,
    pub status: PlanStatus,
    pub title: String,
}

/// The system prompt. `finished` are the plans of the session that are over, the newest first; a few are enough.
/// `workbook` is what is said about the workbook, where there may be one.
pub fn system(
    snapshot: &Snapshot,
    finished: &[PlanLine],
    specialists: &[Specialist],
    workbook: Option<&str>,
) -> String {
    let mut text = include_str!("prompt/identity.md").trim_end().to_owned();
    text.push_str("\n\n");
    text.push_str(&plan_block(snapshot, finished, specialists));
    if let Some(workbook) = workbook {
        text.push('\n');
        text.push_str(workbook);
    }
    let run = snapshot.open_turn().and_then(|open| open.purpose.run());
    if let Some(block) = snapshot.session.as_ref().and_then(|session| auto_block(session.auto.as_deref()?, run)) {
        text.push_str(&block);
    }
    text
}

/// What a model is asked when a conversation is summarised.
pub const SUMMARIZE: &str = include_str!("prompt/summarize.md");
