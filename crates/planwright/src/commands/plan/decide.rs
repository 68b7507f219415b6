//! `plan reject`, `revise`, `cancel` and `resume`

use planwright_agent::session::input::{BeginWork, Input, Worker};
use planwright_agent::session::progress::{Decided, ProgressUpdate};
use planwright_core::command::StuckChoice;
use planwright_core::plan::{Execution, Plan};
use planwright_core::session::SessionIdentity;
use planwright_surfaces::wire::PlanView;
use serde_json::json;

use super::carry_out;
use crate::approver;
use crate::cli::{ReasonArgs, ResumeArgs, ReviseArgs};
use crate::context::{Context, read_stdin};
use crate::failure::{ExitResult, Failure};
use crate::terminal::card;

pub(super) async fn reject(context: &Context, session: &SessionIdentity, arguments: ReasonArgs) -> ExitResult {
    let plan = super::find(context, session, arguments.plan.as_ref()).await?;
    let reason = one_text(arguments.reason, &arguments.words);
    decided(context, &plan, Input::Reject { plan: plan.id.clone(), reason }).await
}

pub(super) async fn cancel(context: &Context, session: &SessionIdentity, arguments: ReasonArgs) -> ExitResult {
    let plan = super::find(context, session, arguments.plan.as_ref()).await?;
    let reason = one_text(arguments.reason, &arguments.words);
    decided(context, &plan, Input::Cancel { plan: plan.id.clone(), reason }).await
}

/// The agent reads the feedback when it works on the plan next.
pub(super) async fn revise(context: &Context, session: &SessionIdentity, arguments: ReviseArgs) -> ExitResult {
    let plan = super::find(context, session, arguments.plan.as_ref()).await?;
    let feedback = match one_text(arguments.feedback, &arguments.words).unwrap_or_default() {
        stdin if stdin == "-" => read_stdin()?,
        feedback => feedback,
    };
    decided(context, &plan, Input::Revise { plan: plan.id.clone(), changes: feedback.into(), begin: BeginWork::Later })
        .await
}

/// Continues the plan in this process, unless another program's agent works on the document.
pub(super) async fn resume(context: &Context, session: &SessionIdentity, arguments: ResumeArgs) -> ExitResult {
    let plan = super::find(context, session, arguments.plan.as_ref()).await?;
    let choice = arguments.choice();
    let agent = carry_out::resuming_agent(context, &plan, choice).await?;
    let after_step = plan.execution.as_ref().and_then(Execution::step_pause).map(|pause| pause.step);
    let after_step = after_step.filter(|_| choice.is_none());
    let input = Input::ResumePlan { plan: plan.id.clone(), choice, worker: Worker::Drafter, after_step };
    let person = match choice {
        Some(StuckChoice::Stop) => context.person.clone(),
        Some(StuckChoice::Retry | StuckChoice::Skip) | None => {
            approver::verified_for_plan(context, &plan, arguments.approver.as_deref()).await?
        }
    };
    carry_out::watched_as(context, &person, &plan, &agent, input).await
}

/// Submits a decision that needs no model, and shows the plan that it is about afterwards.
async fn decided(context: &Context, plan: &Plan, input: Input) -> ExitResult {
    let mut stream = carry_out::agent_without_model(context).submit(input, carry_out::request(context, plan));
    let outcome = loop {
        if let ProgressUpdate::Outcome(outcome) = stream.next().await {
            break outcome;
        }
    };
    let answer = outcome.map_err(super::refused(context, plan))?.answer();
    match (stream.take_decision(), answer) {
        (Some(Decided::Plan(decided)), _) => report(context, &decided.plan).await,
        (Some(Decided::Ask(_)) | None, Some(answer)) => Err(Failure::declined(answer.reply)),
        (Some(Decided::Ask(_)) | None, None) => Err(Failure::declined("Nothing was decided.".to_owned())),
    }
}

/// What was given as an option, or as words after `--`.
fn one_text(option: Option<String>, words: &[String]) -> Option<String> {
    option.or_else(|| (!words.is_empty()).then(|| words.join(" ")))
}

pub(super) async fn report(context: &Context, plan: &Plan) -> ExitResult {
    let next = context.next(plan).await?;
    let describe = || format!("{}{}{next}", card::line(plan), card::progress(plan, context.screen.width));
    context.screen.answer(|| json!(PlanView::from(plan)), describe)
}
