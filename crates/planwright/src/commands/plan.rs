//! `planwright plan …`

mod approve;
pub(super) mod carry_out;
mod changes;
pub(crate) mod damaged;
mod decide;
mod diff;
mod export;
mod files;
mod history;
mod list;
mod mode;
mod show;
mod watch;
mod which;

use std::sync::Arc;

use planwright_core::plan::Plan;
use planwright_core::plan::reference::PlanReference;
use planwright_core::refusal::RefusalCode;
use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::LedgerError;

use crate::cli::{ApproveArgs, FilesCommand, PlanArgs, PlanSubcommand, ReasonArgs, ResumeArgs, ReviseArgs};
use crate::context::{Context, SessionUse, Store};
use crate::failure::{ExitResult, Failure};

/// Turning something on may make a store.
pub(crate) fn needs(command: &PlanSubcommand) -> Store {
    let begins = matches!(command, PlanSubcommand::On { .. } | PlanSubcommand::Files { command: FilesCommand::On });
    if begins { Store::MayBeMade } else { Store::MustExist }
}

pub(crate) async fn run(mut context: Context, mut arguments: PlanArgs) -> ExitResult {
    let purpose = match needs(&arguments.command) {
        Store::MayBeMade => SessionUse::Begin,
        Store::MustExist => SessionUse::Use,
    };
    let named = arguments.session.as_deref().map(str::trim).filter(|name| !name.is_empty());
    let session = &match named {
        Some(_) => context.enter(named, purpose).await?,
        None => match which::session(&context, &mut arguments.command).await? {
            Some(session) => {
                context.invocation.name_session(&session);
                session
            }
            None => context.enter(None, purpose).await?,
        },
    };
    let remembers = named.is_none() && purpose == SessionUse::Begin;
    let context = &context;
    let outcome = match arguments.command {
        PlanSubcommand::On { style } => mode::on(context, session, style).await,
        PlanSubcommand::Off => mode::off(context, session).await,
        PlanSubcommand::Done => mode::done(context, session).await,
        PlanSubcommand::Status => mode::status(context, session).await,
        PlanSubcommand::Watch(arguments) => watch::run(context, session, &arguments).await,
        PlanSubcommand::List { before } => list::run(context, session, before).await,
        PlanSubcommand::Show { plan, raw } => show::run(context, session, plan.as_ref(), raw).await,
        PlanSubcommand::Approve(arguments) => approve::run(context, session, arguments).await,
        PlanSubcommand::Reject(arguments) => decide::reject(context, session, arguments).await,
        PlanSubcommand::Revise(arguments) => decide::revise(context, session, arguments).await,
        PlanSubcommand::Cancel(arguments) => decide::cancel(context, session, arguments).await,
        PlanSubcommand::Resume(arguments) => decide::resume(context, session, arguments).await,
        PlanSubcommand::Diff(arguments) => diff::run(context, session, &arguments).await,
        PlanSubcommand::Changes { of, raw } => changes::run(context, session, &of, raw).await,
        PlanSubcommand::Undo(arguments) => changes::undo(context, session, &arguments).await,
        PlanSubcommand::Export(arguments) => export::run(context, session, &arguments).await,
        PlanSubcommand::Files { command } => files::run(context, session, &command).await,
        PlanSubcommand::History { plan } => history::run(context, session, plan.as_ref()).await,
    };
    if remembers && outcome.is_ok() {
        context.remember_session(session).await?;
    }
    outcome
}

pub(super) async fn approve(context: &Context, session: &SessionIdentity, arguments: ApproveArgs) -> ExitResult {
    approve::run(context, session, arguments).await
}

pub(super) async fn reject(context: &Context, session: &SessionIdentity, arguments: ReasonArgs) -> ExitResult {
    decide::reject(context, session, arguments).await
}

pub(super) async fn revise(context: &Context, session: &SessionIdentity, arguments: ReviseArgs) -> ExitResult {
    decide::revise(context, session, arguments).await
}

pub(super) async fn cancel(context: &Context, session: &SessionIdentity, arguments: ReasonArgs) -> ExitResult {
    decide::cancel(context, session, arguments).await
}

pub(super) async fn resume(context: &Context, session: &SessionIdentity, arguments: ResumeArgs) -> ExitResult {
    decide::resume(context, session, arguments).await
}

/// The named or active plan, or a failure with the command that lists the plans.
async fn find(
    context: &Context,
    session: &SessionIdentity,
    plan: Option<&PlanReference>,
) -> Result<Arc<Plan>, Failure> {
    context.engine.plans().find(session, plan).await.map_err(not_found(context))
}

/// A plan that was not found, with the command that lists the plans.
fn not_found(context: &Context) -> impl FnOnce(LedgerError) -> Failure {
    let list = context.invocation.plan(["list"]);
    move |error| {
        let hint = || list.clone();
        let failure = Failure::from(error).hint_on(RefusalCode::NotFound, hint).hint_on(RefusalCode::Conflict, hint);
        failure.hint_on(RefusalCode::InvalidArgument, hint)
    }
}

/// A refused decision, with the command that shows the plan.
fn refused(context: &Context, plan: &Plan) -> impl FnOnce(LedgerError) -> Failure {
    let show = context.invocation.plan(["show", &plan.number.to_string()]);
    move |error| Failure::from(error).hint_on(RefusalCode::WrongStatus, || show)
}
