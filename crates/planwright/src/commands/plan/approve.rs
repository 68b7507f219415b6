//! `plan approve`: shows what is approved, and approves exactly that.

use std::collections::BTreeSet;
use std::sync::Arc;

use planwright_core::plan::approval::Selection;
use planwright_core::plan::lifecycle::Action;
use planwright_core::plan::{Digest, Plan, PlanStyle};
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::SessionIdentity;
use planwright_engine::view::PlanView;
use serde_json::json;

use crate::cli::ApproveArgs;
use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use crate::terminal::card::{self, Form};

pub(super) async fn run(context: &Context, session: &SessionIdentity, arguments: ApproveArgs) -> Outcome {
    let selection = selection(&arguments);
    let mut plan = super::find(context, session, arguments.plan.as_ref()).await?;
    loop {
        let digest = match arguments.digest {
            Some(digest) => digest,
            None => shown_and_agreed(context, &plan, &selection).await?,
        };
        match approve(context, &plan, digest, &selection, arguments.note.clone()).await {
            Ok(approved) => return said(context, &approved),
            Err(failure) if failure.code() == RefusalCode::StaleApproval => {
                plan = context.engine.plan(session, &plan.id).await?;
                if arguments.digest.is_some() || !context.screen.interactive {
                    return Err(stale(context, &plan, failure).await?);
                }
                context.screen.print("\nThe plan has changed while you read it. This is what it says now:\n\n")?;
            }
            Err(failure) => return Err(failure),
        }
    }
}

fn selection(arguments: &ApproveArgs) -> Selection {
    let positions = |list: &[usize]| list.iter().copied().collect::<BTreeSet<_>>();
    match (arguments.only.as_slice(), arguments.skip.as_slice()) {
        ([], []) => Selection::All,
        ([], skip) => Selection::Skip(positions(skip)),
        (only, _) => Selection::Only(positions(only)),
    }
}

/// The digest of the text that was on the screen when the person said yes.
async fn shown_and_agreed(context: &Context, plan: &Plan, selection: &Selection) -> Result<Digest, Failure> {
    // What would be refused anyway is refused before anybody reads it for nothing.
    plan.permits(Action::Approve).map_err(|refusal| super::refused(plan)(refusal.into()))?;
    if plan.style() == PlanStyle::Document && *selection != Selection::All {
        return Err(whole_only(plan));
    }
    let selected = selection.over(&plan.content.steps())?;
    let digest = plan.digest();
    if context.screen.json {
        return Err(needs_digest(plan, &digest).with("plan", json!(PlanView::from(plan))));
    }
    let source = context.source_of(plan).await?;
    let mut text = card::whole(plan, source.as_ref(), Form::Rendered, context.screen.width);
    let reasons: Vec<_> = selected.skipped.iter().map(|step| (step.position, step.why.to_string())).collect();
    let reasons = reasons.iter().map(|(position, why)| (*position, why.as_str()));
    text.push_str(&card::left_out(plan, reasons, context.screen.width));
    context.screen.print(&text)?;
    if !context.screen.interactive {
        return Err(needs_digest(plan, &digest));
    }
    let question = match selected.skipped.len() {
        0 => format!("Approve plan {} as shown?", plan.number),
        _ => format!("Approve plan {} as shown, without those steps?", plan.number),
    };
    if context.screen.confirm(&question)? {
        Ok(digest)
    } else {
        Err(Failure::declined(format!("Plan {} was not approved; nothing changed.", plan.number)))
    }
}

fn whole_only(plan: &Plan) -> Failure {
    let refusal =
        Refusal::invalid("A document is approved as a whole; `--only` and `--skip` are for recorded and built plans.");
    Failure::from(refusal).hint(format!("planwright plan revise {} -- what to leave out", plan.number))
}

fn needs_digest(plan: &Plan, digest: &Digest) -> Failure {
    Failure::usage(format!("nobody can be asked here, so plan {} was not approved", plan.number))
        .hint(format!(
            "to approve exactly the text above: planwright plan approve {} --session {} --digest {digest}",
            plan.number, plan.session
        ))
        .with("digest", digest.to_string())
}

async fn approve(
    context: &Context,
    plan: &Plan,
    digest: Digest,
    selection: &Selection,
    note: Option<String>,
) -> Result<Arc<Plan>, Failure> {
    let outcome =
        context.engine.approve(&plan.session, &context.person, &plan.id, digest, selection.clone(), note).await;
    outcome.map_err(super::refused(plan))
}

fn said(context: &Context, plan: &Plan) -> Outcome {
    let words = || {
        let skipped: Vec<_> = plan.approval.iter().flat_map(|approval| &approval.skipped).collect();
        let reasons: Vec<_> = skipped.iter().map(|step| (step.position, step.why.to_string())).collect();
        let reasons = reasons.iter().map(|(position, why)| (*position, why.as_str()));
        format!("{}{}{}", card::line(plan), card::left_out(plan, reasons, context.screen.width), card::next(plan))
    };
    context.screen.answer(|| json!(PlanView::from(plan)), words)?;
    Ok(Exit::Done)
}

/// The refusal, after the text as it is now.
async fn stale(context: &Context, plan: &Plan, failure: Failure) -> Result<Failure, Failure> {
    if context.screen.json {
        return Ok(failure.with("plan", json!(PlanView::from(plan))));
    }
    let source = context.source_of(plan).await?;
    context.screen.print(&card::whole(plan, source.as_ref(), Form::Rendered, context.screen.width))?;
    Ok(failure.hint(format!("what it says now is above; its digest is {}", plan.digest())))
}
