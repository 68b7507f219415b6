//! What comes back at the start of a conversation and after a compaction: the plan, and where the workbook is.

use planwright_core::plan::{Plan, PlanStatus};
use planwright_core::session::SessionIdentity;
use planwright_core::visible::visible;
use serde_json::Value;

use super::wire::{self, HookInput};
use super::{Lookup, engine_of, servers_of, session_of};
use crate::cli::{ClientName, Global};
use crate::config::Settings;
use crate::failure::Failure;

/// The characters of a plan that are brought back.
const MAX_PLAN: usize = 20_000;

pub(super) async fn brought_back(
    global: &Global,
    client: ClientName,
    input: &HookInput,
) -> Result<Option<Value>, Failure> {
    for server in servers_of(global, client, &input.place).iter().filter(|server| !server.is_own_again) {
        let Ok(target) = &server.target else { continue };
        let Lookup::Found(snapshot, ledger) = session_of(target, &input.place.project).await? else { continue };
        let session = snapshot.session.as_ref();
        let is_on = session.is_some_and(|session| session.plan_mode.enabled);
        let is_written = |plan: &&Plan| !(plan.status == PlanStatus::Collecting && plan.is_empty());
        let plan = snapshot.active().filter(|_| is_on).filter(is_written);
        let mut parts: Vec<String> = plan.map(|plan| of_plan(plan, &snapshot.identity)).into_iter().collect();
        if session.is_some_and(|session| session.current_workbook().is_some()) {
            let engine = engine_of(&Settings::read(&target.global)?, ledger);
            parts.extend(engine.workbook_middleware().hint(&snapshot).await);
        }
        if !parts.is_empty() {
            return Ok(wire::context(client, "SessionStart", &parts.join("\n\n")));
        }
    }
    Ok(None)
}

/// The plan as data for the agent's context.
fn of_plan(plan: &Plan, session: &SessionIdentity) -> String {
    let text: String = visible(&plan.markdown()).chars().take(MAX_PLAN).collect();
    let progress = plan.execution.as_ref().map_or_else(String::new, |execution| {
        let progress = execution.progress();
        format!(" {} of {} steps are done.", progress.done, progress.total)
    });
    format!(
        "Planwright keeps this plan (session {session}, plan {}, status {}, digest {}).{progress} Work by it only while its status \
         is APPROVED or EXECUTING, and report with plan_progress; plan_get tells how it stands now. The text of the plan:\n\n{text}",
        plan.number,
        plan.status.as_str(),
        plan.digest()
    )
}
