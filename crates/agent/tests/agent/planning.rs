//! Plan work through the whole loop, style by style.

mod build;
mod cards;
mod collect;
mod document;
mod gate;
mod own_tools;

use planwright_llm::scripted::Reply;
use serde_json::json;

/// A reply that stores this plan.
pub(crate) fn set(markdown: &str) -> Reply {
    Reply::call("plan_set_content", json!({ "plan_markdown": markdown }))
}

/// Works on the plan it has, and says so.
pub(crate) fn report(step: usize) -> Reply {
    Reply::call("plan_progress", json!({"step": step, "status": "done", "evidence": "I looked."}))
}
