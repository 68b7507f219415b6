//! What an agent says about the comments of a person, with the new version of the plan.

use std::sync::Arc;

use planwright_core::gate::PlanTool;
use planwright_core::plan::Plan;
use planwright_core::plan::review::{CommentAnswer, ReviewAnswers};
use planwright_core::refusal::Refusal;
use planwright_engine::ledger::LedgerResult;
use planwright_engine::submitter::SubmitRequest;
use serde_json::Value;

use super::{PlanTools, arguments};
use crate::tool_schema::Arguments;

/// The answers in the arguments of a call, before the call is made.
pub(super) fn given(tool: PlanTool, arguments: &Arguments) -> Option<Value> {
    match tool {
        PlanTool::SetContent | PlanTool::Finalize | PlanTool::Submit => {
            arguments.get("answers").filter(|answers| !answers.is_null()).cloned()
        }
        PlanTool::Get
        | PlanTool::List
        | PlanTool::Progress
        | PlanTool::AddCall
        | PlanTool::AwaitDecision
        | PlanTool::CreateDraft
        | PlanTool::SetMetadata
        | PlanTool::AddStep
        | PlanTool::UpdateStep
        | PlanTool::RemoveStep => None,
    }
}

impl PlanTools {
    /// Finds the comments that are answered. Nothing is changed by a call that answers one that does not exist.
    pub(super) async fn find_answered(
        &self,
        plan: Option<Arc<Plan>>,
        request: &SubmitRequest<'_>,
        given: Option<Value>,
    ) -> LedgerResult<Option<ReviewAnswers>> {
        let Some(given) = given else { return Ok(None) };
        let given: Vec<arguments::CommentAnswer> = serde_json::from_value(given)
            .map_err(|error| Refusal::invalid(format!("The `answers` cannot be read: {error}.")))?;
        if given.is_empty() {
            return Ok(None);
        }
        let sent = match plan {
            Some(plan) => self.engine.reviews().last_sent(&plan, request.by).await?,
            None => None,
        };
        let Some(sent) = sent else {
            return Err(Refusal::invalid("There is no review to answer: leave `answers` out.").into());
        };
        let mut answers = Vec::new();
        for arguments::CommentAnswer { comment, answer } in given {
            let found = comment.checked_sub(1).and_then(|index| sent.comments.get(index));
            let Some(found) = found else {
                let count = sent.comments.len();
                let message = format!("The review has no comment {comment}; it has {count}. Nothing was changed.");
                return Err(Refusal::invalid(message).into());
            };
            answers.push(CommentAnswer { comment: found.clone(), text: answer });
        }
        Ok(Some(ReviewAnswers { plan: sent.plan, answers }))
    }
}
