//! A pressed button: for the person it was made for, once, and about the version that was shown.

use std::sync::Arc;

use planwright_agent::session::input::{Approving, BeginWork, Input, Worker};
use planwright_core::ask::AskAnswer;
use planwright_core::ids::{AskId, PlanId};
use planwright_core::plan::Digest;
use planwright_core::plan::approval::Selection;
use planwright_core::refusal::Refusal;
use planwright_core::session::ConversationKey;
use planwright_core::slash::SlashCommand;
use planwright_engine::ledger::LedgerResult;

use crate::buttons::{self, ButtonAction, ButtonPlan, PressedAnswer, StoredButton};
use crate::card;
use crate::conversation::{Addressee, ConversationWork, StartedUpdate, UpdateHandler};
use crate::records;
use crate::update::Press;

const UNKNOWN: &str = "This button is not valid any more.";
const NOT_YOURS: &str = "This button is for another person.";
const USED: &str = "This button was used already.";

pub(crate) async fn begin(handler: &Arc<UpdateHandler>, update: i64, press: &Press) -> LedgerResult<StartedUpdate> {
    let action = match claim(handler, update, press).await? {
        Ok(action) => action,
        Err(text) => {
            tell(handler, press, text);
            return Ok(handler.finishing(update, Vec::new()));
        }
    };
    tell(handler, press, "");
    let to = Addressee { update, chat: press.chat.id, person: press.from.clone() };
    match carry_out(handler, &to, press, action).await? {
        Ok(begun) => Ok(begun),
        Err(refusal) => handler.answering(&to, &refusal.message),
    }
}

/// What the button does, if this press may use it. The same press after a restart may.
async fn claim(
    handler: &UpdateHandler,
    update: i64,
    press: &Press,
) -> LedgerResult<Result<ButtonAction, &'static str>> {
    if !buttons::is_code(&press.code) {
        return Ok(Err(UNKNOWN));
    }
    let (ledger, key) = (handler.context.ledger.as_ref(), buttons::key(&press.code));
    loop {
        let Some(stored) = records::read::<StoredButton>(ledger, &key).await? else { return Ok(Err(UNKNOWN)) };
        let button = stored.value;
        if button.user != press.from.id || button.chat != press.chat.id {
            return Ok(Err(NOT_YOURS));
        }
        match button.used_by {
            Some(used_by) if used_by == update => return Ok(Ok(button.action)),
            Some(_) => return Ok(Err(USED)),
            None => {
                let used = StoredButton { used_by: Some(update), ..button.clone() };
                if records::write(ledger, &key, stored.revision, &used).await? {
                    return Ok(Ok(button.action));
                }
            }
        }
    }
}

/// Ends the wait that the person sees. It does not matter if that fails.
fn tell(handler: &UpdateHandler, press: &Press, text: &'static str) {
    let (api, press) = (handler.context.api.clone(), press.id.clone());
    tokio::spawn(async move { api.answer_press(&press, text).await });
}

async fn carry_out(
    handler: &Arc<UpdateHandler>,
    to: &Addressee,
    press: &Press,
    action: ButtonAction,
) -> LedgerResult<Result<StartedUpdate, Refusal>> {
    let context = &handler.context;
    match action {
        ButtonAction::Approve { plan, skip } => {
            let selection = if skip.is_empty() { Selection::All } else { Selection::Skip(skip.into_iter().collect()) };
            let approving = Approving { selection, ..Approving::default() };
            about_plan(handler, to, plan, |id, digest| Input::Approve {
                plan: id,
                digest,
                approving,
                begin: BeginWork::Now,
            })
            .await
        }
        ButtonAction::Reject { plan } => {
            about_plan(handler, to, plan, |plan, _| Input::Reject { plan, reason: None }).await
        }
        ButtonAction::Cancel { plan } => {
            about_plan(handler, to, plan, |plan, _| Input::Cancel { plan, reason: None }).await
        }
        ButtonAction::Resume { plan, choice, after_step } => {
            about_plan(handler, to, plan, |plan, _| Input::ResumePlan {
                plan,
                choice,
                worker: Worker::Drafter,
                after_step,
            })
            .await
        }
        ButtonAction::Changes { plan } => {
            let id = context.message_id(to.update, "changes");
            let message = card::changes_prompt(to, plan);
            let stored = context.stored(id, &message)?;
            Ok(Ok(handler.finishing(to.update, vec![stored])))
        }
        ButtonAction::ChooseSteps { plan, skip } => {
            let id = context.message_id(to.update, "steps");
            let messages = card::choose_steps(context, &id, to, press.message, &plan, skip).await?;
            let stored =
                messages.iter().enumerate().map(|(index, message)| context.stored(format!("{id}-{index}"), message));
            Ok(Ok(handler.finishing(to.update, stored.collect::<LedgerResult<_>>()?)))
        }
        ButtonAction::Answer { session, ask, digest, answer } => {
            let (Ok(ask), Ok(digest)) = (AskId::new(ask), digest.parse::<Digest>()) else { return Ok(Err(damaged())) };
            let answer = match answer {
                PressedAnswer::Permission(grant) => AskAnswer::permission(grant, None),
                PressedAnswer::Choice { choice } => AskAnswer::Questions { answers: vec![choice] },
            };
            let location = handler.in_session(to, session).await?;
            let input = Input::Answer { ask, digest, answer };
            Ok(Ok(handler.submit(ConversationWork::new(to.clone(), location, input, None))))
        }
        ButtonAction::Switch { key } => {
            let Ok(key) = ConversationKey::existing(key) else { return Ok(Err(damaged())) };
            move_chat(handler, to, SlashCommand::Switch { key }).await
        }
        ButtonAction::New => move_chat(handler, to, SlashCommand::New).await,
    }
}

async fn about_plan(
    handler: &Arc<UpdateHandler>,
    to: &Addressee,
    plan: ButtonPlan,
    input: impl FnOnce(PlanId, Digest) -> Input,
) -> LedgerResult<Result<StartedUpdate, Refusal>> {
    let (Ok(id), Ok(digest)) = (PlanId::new(plan.id.clone()), plan.digest.parse::<Digest>()) else {
        return Ok(Err(damaged()));
    };
    let location = handler.in_session(to, plan.session.clone()).await?;
    Ok(Ok(handler.submit(ConversationWork::new(to.clone(), location, input(id, digest), Some(plan)))))
}

async fn move_chat(
    handler: &Arc<UpdateHandler>,
    to: &Addressee,
    command: SlashCommand,
) -> LedgerResult<Result<StartedUpdate, Refusal>> {
    let location = handler.location(to, None).await?;
    let begun = handler.submit(ConversationWork::new(to.clone(), location, Input::Command(command), None));
    Ok(Ok(StartedUpdate { moves_chat: true, ..begun }))
}

fn damaged() -> Refusal {
    Refusal::invalid("This button cannot be read any more. Ask for the plan again with `/plan show`.")
}
