//! Which plans the built-in rehearsal carries out.

use planwright_core::plan::{Plan, PlanStyle};
use planwright_core::refusal::{Refusal, RefusalCode};

use crate::agent::agent_context::AgentContext;
use crate::ledger::LedgerResult;
use crate::model::REHEARSAL;

/// Refuses a plan that another agent drafted if the rehearsal is to carry it out: it would report steps as done that
/// it does not do. Recorded calls need no model, so their author does not matter.
pub(super) async fn check(agent: &AgentContext, plan: &Plan) -> LedgerResult<()> {
    let needs_model = match plan.style() {
        PlanStyle::Document | PlanStyle::Build => true,
        PlanStyle::Collect => false,
    };
    if agent.model().name() != REHEARSAL || !needs_model {
        return Ok(());
    }
    let author = agent.engine().history().version_author(plan).await?.map(|author| author.by);
    if author.as_ref().is_some_and(|author| author.name == REHEARSAL) {
        return Ok(());
    }
    let author = author.map_or_else(|| "Another agent".to_owned(), |author| author.to_string());
    let message = format!(
        "No model is configured, and the built-in rehearsal carries out only plans that it drafted itself. {author} \
             drafted plan {number}. Set `PLANWRIGHT_MODEL`, such as `openai:gpt-5`, and then `/plan resume {number}`.",
        number = plan.number
    );
    Err(Refusal::new(RefusalCode::Unavailable, message).into())
}
