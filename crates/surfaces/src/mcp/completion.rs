//! Completion of the arguments of prompts and resources: the numbers of plans.

use planwright_core::session::SessionIdentity;
use planwright_engine::Engine;
use planwright_engine::ledger::LedgerResult;
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, Reference};

use super::prompts;

pub(super) async fn complete(
    engine: &Engine,
    session: &SessionIdentity,
    request: &CompleteRequestParams,
) -> LedgerResult<CompleteResult> {
    let (name, begun) = (request.argument.name.as_str(), request.argument.value.trim());
    let takes_plan = match &request.r#ref {
        Reference::Prompt(prompt) => prompts::completes_plans(&prompt.name, name),
        Reference::Resource(_) => name == "number",
        // The enum may grow.
        _ => false,
    };
    if !takes_plan {
        return Ok(CompleteResult::default());
    }
    let most = u32::try_from(CompletionInfo::MAX_VALUES).unwrap_or(u32::MAX);
    let plans = engine.plans().list(session, None, most).await?;
    let numbers = plans.items.iter().map(|plan| plan.number.to_string());
    let values: Vec<String> = numbers.filter(|number| number.starts_with(begun)).collect();
    Ok(CompleteResult::new(CompletionInfo::new(values).unwrap_or_default()))
}
