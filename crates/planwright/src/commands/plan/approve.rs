//! `plan approve`: shows what is approved, and approves exactly that.

use std::collections::BTreeSet;

use planwright_agent::session::input::{Approving, BeginWork, Input};
use planwright_core::actor::Actor;
use planwright_core::plan::approval::{Selection, SkippedStep};
use planwright_core::plan::lifecycle::Action;
use planwright_core::plan::{Digest, Plan, PlanStyle};
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::SessionIdentity;
use planwright_surfaces::wire::PlanView;
use serde_json::json;

use super::carry_out;
use crate::approver;
use crate::cli::ApproveArgs;
use crate::context::Context;
use crate::failure::{ExitResult, Failure};
use crate::terminal::card::{self, Form};
use crate::terminal::text::shown_line;

pub(super) async fn run(context: &Context, session: &SessionIdentity, arguments: ApproveArgs) -> ExitResult {
    let selection = selection(&arguments);
    let mut plan = super::find(context, session, arguments.plan.as_ref()).await?;
    loop {
        let digest = match arguments.digest {
            Some(digest) => digest,
            None => shown_and_agreed(context, &plan, &selection, &arguments).await?,
        };
        let mut approving = Approving {
            selection: selection.clone(),
            note: arguments.note.clone(),
            step_by_step: arguments.step_by_step,
            ..Approving::default()
        };
        let begin = if arguments.later { BeginWork::Later } else { BeginWork::Now };
        let agent = carry_out::agent(context, &plan, begin)?;
        let person = signed(context, &plan, digest, &mut approving, &arguments).await?;
        let input = Input::Approve { plan: plan.id.clone(), digest, approving, begin };
        match carry_out::watched_as(context, &person, &plan, &agent, input).await {
            Ok(exit) => return Ok(exit),
            Err(failure) if failure.code() == RefusalCode::StaleApproval => {
                plan = context.engine.plans().get(session, &plan.id).await?;
                if arguments.digest.is_some() || !context.screen.interactive {
                    return Err(stale(context, &plan, &selection, &arguments, failure).await?);
                }
                context.screen.print("\nThe plan has changed while you read it. This is what it says now:\n\n")?;
            }
            Err(failure) => return Err(failure),
        }
    }
}

/// The person who approves. Where the policy asks for it they give their passphrase, after the whole plan was shown.
async fn signed(
    context: &Context,
    plan: &Plan,
    digest: Digest,
    approving: &mut Approving,
    arguments: &ApproveArgs,
) -> Result<Actor, Failure> {
    if arguments.approver.is_none() && !approver::needs_signature(&context.engine, plan).await? {
        return Ok(context.person.clone());
    }
    plan.permits(Action::Approve).map_err(|refusal| super::refused(context, plan)(refusal.into()))?;
    let selected = approving.selection.over(&plan.content.steps())?;
    if digest != plan.digest() {
        return Ok(context.person.clone());
    }
    if arguments.digest.is_some() && !context.screen.json {
        show(context, plan, &selected.skipped).await?;
    }
    let key = approver::unlock(&context.engine, &context.person, arguments.approver.as_deref()).await?;
    let (person, signature) = approver::sign(&context.engine, &context.person, &key, plan, digest, approving).await?;
    approving.signature = Some(signature);
    Ok(person)
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
async fn shown_and_agreed(
    context: &Context,
    plan: &Plan,
    selection: &Selection,
    arguments: &ApproveArgs,
) -> Result<Digest, Failure> {
    // A plan that cannot be approved is refused before the person reads it.
    plan.permits(Action::Approve).map_err(|refusal| super::refused(context, plan)(refusal.into()))?;
    if plan.style() == PlanStyle::Document && *selection != Selection::All {
        return Err(whole_only(context, plan));
    }
    let selected = selection.over(&plan.content.steps())?;
    let digest = plan.digest();
    if context.screen.json {
        return Err(with_details(needs_digest(context, plan, arguments), plan, selection, &selected.skipped));
    }
    show(context, plan, &selected.skipped).await?;
    if !context.screen.interactive {
        return Err(needs_digest(context, plan, arguments));
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

/// The whole text, and the steps that would not be done.
async fn show(context: &Context, plan: &Plan, skipped: &[SkippedStep]) -> Result<(), Failure> {
    let source = context.source_of(plan).await?;
    let text = card::whole(plan, source.as_ref(), Form::Rendered, context.screen.width);
    context.screen.print(&format!("{text}{}", left_out(context, plan, skipped)))
}

fn left_out(context: &Context, plan: &Plan, skipped: &[SkippedStep]) -> String {
    let reasons: Vec<_> = skipped.iter().map(|step| (step.position, step.why.to_string())).collect();
    card::left_out(plan, reasons.iter().map(|(position, why)| (*position, why.as_str())), context.screen.width)
}

fn whole_only(context: &Context, plan: &Plan) -> Failure {
    let refusal =
        Refusal::invalid("A document is approved as a whole; `--only` and `--skip` are for recorded and built plans.");
    let revise = ["revise", &plan.number.to_string(), "--", "what", "to", "leave", "out"];
    Failure::from(refusal).hint(context.invocation.plan(revise))
}

fn needs_digest(context: &Context, plan: &Plan, arguments: &ApproveArgs) -> Failure {
    Failure::usage(format!("there is no terminal to ask on, so plan {} was not approved", plan.number))
        .hint(format!("to approve exactly what is above: {}", same_again(context, plan, arguments)))
}

/// The whole command: the digest covers the text, but not which of its steps are meant.
fn same_again(context: &Context, plan: &Plan, arguments: &ApproveArgs) -> String {
    let mut describe = vec!["approve".to_owned(), plan.number.to_string()];
    for (name, steps) in [("--only", &arguments.only), ("--skip", &arguments.skip)] {
        if !steps.is_empty() {
            describe.push(name.to_owned());
            describe.push(steps.iter().map(ToString::to_string).collect::<Vec<_>>().join(","));
        }
    }
    if arguments.step_by_step {
        describe.push("--step-by-step".to_owned());
    }
    match &arguments.note {
        Some(note) if note.starts_with('-') => describe.push(format!("--note={note}")),
        Some(note) => describe.extend(["--note".to_owned(), note.clone()]),
        None => {}
    }
    describe.extend(["--digest".to_owned(), plan.digest().to_string()]);
    context.invocation.plan(describe)
}

/// What programs need to decide: the text with its digest, the selection, and the steps that it skips.
fn with_details(failure: Failure, plan: &Plan, selection: &Selection, skipped: &[SkippedStep]) -> Failure {
    let skipped: Vec<_> = skipped
        .iter()
        .map(|step| json!({ "step": step.step, "position": step.position, "reason": step.why.to_string() }))
        .collect();
    failure
        .with("digest", plan.digest().to_string())
        .with("selection", json!(selection))
        .with("skipped", skipped)
        .with("plan", json!(PlanView::from(plan)))
}

pub(super) async fn report(context: &Context, plan: &Plan) -> ExitResult {
    let next = context.next(plan).await?;
    let describe = || {
        let skipped = plan.approval.as_ref().map_or(&[][..], |approval| &approval.skipped);
        let waiting =
            plan.incomplete_approval.as_ref().map(|waiting| format!("{}.\n", shown_line(&waiting.to_string())));
        format!("{}{}{}{next}", card::line(plan), waiting.unwrap_or_default(), left_out(context, plan, skipped))
    };
    context.screen.answer(|| json!(PlanView::from(plan)), describe)
}

/// The refusal, after the text as it is now. The same steps are named again only if they are still there.
async fn stale(
    context: &Context,
    plan: &Plan,
    selection: &Selection,
    arguments: &ApproveArgs,
    failure: Failure,
) -> Result<Failure, Failure> {
    let selected = selection.over(&plan.content.steps());
    let skipped = selected.as_ref().map_or(&[][..], |selected| &selected.skipped);
    if context.screen.json {
        return Ok(with_details(failure, plan, selection, skipped));
    }
    show(context, plan, skipped).await?;
    Ok(failure.hint(match &selected {
        Ok(_) => format!("to approve what is above now: {}", same_again(context, plan, arguments)),
        Err(refusal) => format!("the steps that were named do not fit any more: {}", refusal.message),
    }))
}
