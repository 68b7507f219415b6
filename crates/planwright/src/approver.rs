//! Verified approvals on the command line: which approver, their passphrase, and their signature.

use std::io::IsTerminal as _;

use planwright_agent::session::input::Approving;
use planwright_core::actor::Actor;
use planwright_core::approval::Require;
use planwright_core::plan::{ApprovalSignature, Digest, Plan};
use planwright_core::session::SessionIdentity;
use planwright_core::slash::SlashCommand;
use planwright_engine::Engine;
use planwright_engine::approvals::UnlockedKey;
use secrecy::ExposeSecret as _;

use crate::context::Context;
use crate::failure::Failure;
use crate::passphrase;
use crate::shown_act::ShownAct;

/// Whether an approval of this plan needs an approver's signature.
pub(crate) async fn needs_signature(engine: &Engine, plan: &Plan) -> Result<bool, Failure> {
    let policy = engine.approvals().policy_in(&plan.session).await?;
    Ok(plan.requirement(&policy.approval) == Require::Verified)
}

/// The named approver, or the only one, or the one with the person's name.
pub(crate) async fn which(engine: &Engine, person: &Actor, named: Option<&str>) -> Result<String, Failure> {
    let state = engine.approvals().state().await?;
    let names = state.approvers.names();
    Ok(match (named, names.as_slice()) {
        (Some(name), _) => name.to_owned(),
        (None, [only]) => (*only).to_owned(),
        (None, []) => {
            return Err(
                Failure::declined("No approver is enrolled yet.").hint("`planwright approver add NAME` enrols one")
            );
        }
        (None, several) if several.contains(&person.name.as_str()) => person.name.clone(),
        (None, several) => {
            let hint = format!("say which approver you are: `--approver {}`", several.join("` or `--approver "));
            return Err(Failure::usage("there are several approvers").hint(hint));
        }
    })
}

/// Asks for the passphrase of the named approver, or of the only one.
pub(crate) async fn unlock(engine: &Engine, person: &Actor, named: Option<&str>) -> Result<UnlockedKey, Failure> {
    let name = which(engine, person, named).await?;
    let question = format!("Passphrase of {name}: ");
    let passphrase = tokio::task::block_in_place(|| passphrase::ask(&question))?;
    Ok(engine.approvals().unlock(person, &name, passphrase.expose_secret()).await?)
}

/// The person as an approver, and their signature on exactly this approval.
pub(crate) async fn sign(
    engine: &Engine,
    person: &Actor,
    key: &UnlockedKey,
    plan: &Plan,
    digest: Digest,
    approving: &Approving,
) -> Result<(Actor, ApprovalSignature), Failure> {
    let signature = engine.approvals().sign(key, plan, digest, approving).await?;
    Ok((verified(person, key), signature))
}

pub(crate) fn verified(person: &Actor, key: &UnlockedKey) -> Actor {
    person.clone().recognised(key.presence())
}

/// Refuses unless this terminal is out of reach of every agent that Planwright knows.
pub(crate) async fn check_separate(context: &Context) -> Result<(), Failure> {
    Ok(context.engine.approvals().check_separate(&context.person).await?)
}

/// The person at a terminal out of reach of every agent until an approver is enrolled; then an approver with their passphrase.
pub(crate) async fn separate_until_enrolled(
    context: &Context,
    named: Option<&str>,
) -> Result<Option<UnlockedKey>, Failure> {
    if context.engine.approvals().state().await?.approvers.is_empty() {
        check_separate(context).await?;
        return Ok(None);
    }
    unlock(&context.engine, &context.person, named).await.map(Some)
}

/// The key of the person who enrols an approver, where a signature is needed. The first approver is enrolled at any terminal where
/// the system says nothing about processes and no agent runs.
pub(crate) async fn enroller(context: &Context, named: Option<&str>) -> Result<Option<UnlockedKey>, Failure> {
    let approvals = context.engine.approvals();
    if approvals.state().await?.approvers.is_empty() {
        approvals.check_first_enrolment(&context.person).await?;
        return Ok(None);
    }
    unlock(&context.engine, &context.person, named).await.map(Some)
}

/// The person at a terminal out of reach of every agent or, at any other one, an approver with their passphrase.
pub(crate) async fn separate_or_unlocked(
    context: &Context,
    named: Option<&str>,
) -> Result<Option<UnlockedKey>, Failure> {
    let Err(refused) = check_separate(context).await else { return Ok(None) };
    let is_enrolled = !context.engine.approvals().state().await?.approvers.is_empty();
    if !is_enrolled || !std::io::stdin().is_terminal() {
        return Err(refused);
    }
    unlock(&context.engine, &context.person, named).await.map(Some)
}

/// The person, who gives their passphrase if continuing this plan needs what its approval needs.
pub(crate) async fn verified_for_plan(context: &Context, plan: &Plan, named: Option<&str>) -> Result<Actor, Failure> {
    let policy = context.engine.approvals().policy_in(&plan.session).await?;
    let require = plan.requirement(&policy.approval);
    verified_for(&context.engine, &context.person, require, named).await
}

/// The person, who gives their passphrase for what they are shown if this command needs what a plan that changes files needs.
pub(crate) async fn verified_for_act(
    context: &Context,
    session: &SessionIdentity,
    command: &SlashCommand,
    named: Option<&str>,
) -> Result<Actor, Failure> {
    let policy = context.engine.approvals().policy_in(session).await?;
    match policy.approval.requirement_of_work(session.channel) {
        Require::Any | Require::Separate => return Ok(context.person.clone()),
        Require::Verified => {}
    }
    let shown = ShownAct::of(&context.engine, session, command).await;
    shown.as_ref().map_or(Ok(()), ShownAct::show)?;
    let person = verified(&context.person, &unlock(&context.engine, &context.person, named).await?);
    Ok(match shown {
        Some(shown) => shown.signed_by(person),
        None => person,
    })
}

/// The person, who gives their passphrase if a decision with this requirement needs it.
pub(crate) async fn verified_for(
    engine: &Engine,
    person: &Actor,
    require: Require,
    named: Option<&str>,
) -> Result<Actor, Failure> {
    match require {
        Require::Any | Require::Separate => Ok(person.clone()),
        Require::Verified => Ok(verified(person, &unlock(engine, person, named).await?)),
    }
}
