//! Plans, questions and stopped work as messages with buttons.

use std::sync::Arc;

use planwright_core::ask::AskSubject;
use planwright_core::choices::{Choice, ChoiceKind, PlanChoice, WaitingAsk, ask_choices, choices, is_worked_on};
use planwright_core::ids::PlanId;
use planwright_core::plan::{Plan, PlanStatus, PlanStyle};
use planwright_core::session::SessionIdentity;
use planwright_core::visible::visible;
use planwright_engine::inbox::WaitingFor;
use planwright_engine::ledger::LedgerResult;

use crate::buttons::{ButtonAction, ButtonMaker, ButtonPlan, PressedAnswer};
use crate::context::BotContext;
use crate::conversation::Addressee;
use crate::markdown::{FormattedText, LinkStyle, units};
use crate::message::{Button, CardKind, CardSubject, ChangesPrompt, Content, Keyboard, Markup, OutgoingMessage};

/// The most of a plan that is shown in its card. A longer one is attached whole.
const SHOWN_PLAN: usize = 2_800;
/// The steps that have buttons.
const STEP_BUTTONS: usize = 40;
const MAX_LABEL: usize = 40;
const DIGEST: usize = 12;

/// A plan with its buttons. A long plan comes before it as a file.
pub(crate) async fn plan_messages(
    context: &BotContext,
    id: &str,
    to: &Addressee,
    plan: &Plan,
) -> LedgerResult<Vec<OutgoingMessage>> {
    let mut messages = Vec::new();
    let (text, is_whole) = plan_text(plan);
    if !is_whole {
        let name = format!("plan-{}.md", plan.number);
        let caption = format!("Plan #{}, whole", plan.number);
        messages.push(OutgoingMessage::document(to.chat, name, visible(&plan.markdown()).into_owned(), caption));
    }
    let mut maker = ButtonMaker::new(&context.options.token, id, to.person.id, to.chat);
    let keyboard = plan_keyboard(context, &mut maker, plan, &[]);
    maker.store(context.ledger.as_ref()).await?;
    let mut card = OutgoingMessage::text(to.chat, text, keyboard.map(Markup::Buttons));
    if plan.status == PlanStatus::Ready {
        card.card = Some(subject(plan, CardKind::Plan, plan.digest().to_string(), to.person.id));
    }
    messages.push(card);
    Ok(messages)
}

/// What the person reads, and whether it is the whole plan.
fn plan_text(plan: &Plan) -> (FormattedText, bool) {
    let mut text = FormattedText::default();
    text.push_bold(&format!("Plan #{}: {}", plan.number, visible(&plan.display_title())));
    text.push_text(&format!("\n{} · {} · version {} · digest ", plan.status.as_str(), plan.style(), plan.version));
    text.push_code(&plan.digest().to_string().chars().take(DIGEST).collect::<String>());
    let source = plan.markdown();
    let body = FormattedText::markdown(&visible(&source), LinkStyle::Written);
    if body.is_blank() {
        return (text, true);
    }
    text.push_text("\n\n");
    let is_whole = body.units() <= SHOWN_PLAN;
    let mut parts = body.split(SHOWN_PLAN).into_iter();
    if let Some(first) = parts.next() {
        text.push(first);
    }
    if !is_whole {
        text.push_text("\n…\nThe whole plan is in the file above. An approval is for all of it.");
    }
    (text, is_whole)
}

fn version(plan: &Plan) -> ButtonPlan {
    ButtonPlan {
        session: plan.session.clone(),
        id: plan.id.to_string(),
        number: plan.number,
        digest: plan.digest().to_string(),
    }
}

fn subject(plan: &Plan, kind: CardKind, digest: String, user: i64) -> CardSubject {
    CardSubject { session: plan.session.clone(), subject: plan.id.to_string(), digest, kind, user }
}

/// `None` if nothing is to be decided about the plan.
fn plan_keyboard(context: &BotContext, maker: &mut ButtonMaker<'_>, plan: &Plan, skip: &[usize]) -> Option<Keyboard> {
    let open = context.link(&format!("/p/{}", plan.id)).map(|url| link("Open", url));
    if plan.status != PlanStatus::Ready {
        return open.map(|open| Keyboard { rows: vec![vec![open]] });
    }
    let mut rows = choice_rows(maker, plan, skip);
    let has_steps = match plan.style() {
        PlanStyle::Collect | PlanStyle::Build => (2..=STEP_BUTTONS).contains(&plan.content.steps().len()),
        PlanStyle::Document => false,
    };
    let choose = (has_steps && skip.is_empty())
        .then(|| maker.button("☑ Choose steps", ButtonAction::ChooseSteps { plan: version(plan), skip: Vec::new() }));
    if let Some(last) = rows.last_mut() {
        last.extend(choose.into_iter().chain(open));
    }
    Some(Keyboard { rows })
}

/// A button for each choice, two in a row. `skip` are the steps that an approval leaves out.
fn choice_rows(maker: &mut ButtonMaker<'_>, plan: &Plan, skip: &[usize]) -> Vec<Vec<Button>> {
    let mut buttons = Vec::new();
    for choice in choices(plan, None).list {
        let ChoiceKind::Plan(kind) = choice.kind else { continue };
        let resume = |choice, after_step| Some(ButtonAction::Resume { plan: version(plan), choice, after_step });
        let (mark, action) = match kind {
            PlanChoice::Approve => ("✅ ", Some(ButtonAction::Approve { plan: version(plan), skip: skip.to_vec() })),
            PlanChoice::Revise => ("✏️ ", Some(ButtonAction::Changes { plan: version(plan) })),
            PlanChoice::Reject => ("❌ ", Some(ButtonAction::Reject { plan: version(plan) })),
            PlanChoice::Resume => ("", resume(None, None)),
            PlanChoice::Next { after_step } => ("", resume(None, Some(after_step))),
            PlanChoice::Settle(settle) => ("", resume(Some(settle), None)),
            PlanChoice::Cancel => ("", Some(ButtonAction::Cancel { plan: version(plan) })),
            PlanChoice::Watch | PlanChoice::Begin => ("", None),
        };
        let without = match (kind, skip.len()) {
            (PlanChoice::Approve, left_out @ 1..) => format!(" without {left_out}"),
            _ => String::new(),
        };
        buttons.extend(action.map(|action| maker.button(format!("{mark}{}{without}", choice.label), action)));
    }
    in_rows(buttons)
}

fn in_rows(buttons: Vec<Button>) -> Vec<Vec<Button>> {
    buttons.chunks(2).map(<[Button]>::to_vec).collect()
}

/// The card with a button for each step. A press leaves the step out, or takes it in again.
pub(crate) async fn choose_steps(
    context: &BotContext,
    id: &str,
    to: &Addressee,
    message: i64,
    version: &ButtonPlan,
    skip: Vec<usize>,
) -> LedgerResult<Vec<OutgoingMessage>> {
    let Some(plan) = find(context, &version.session, &version.id).await? else {
        return fresh(context, id, to, version).await;
    };
    if plan.status != PlanStatus::Ready || plan.digest().to_string() != version.digest {
        return fresh(context, id, to, version).await;
    }
    let mut maker = ButtonMaker::new(&context.options.token, id, to.person.id, to.chat);
    let mut rows = Vec::new();
    for (index, step) in plan.content.steps().iter().enumerate() {
        let position = index + 1;
        let mut toggled = skip.clone();
        let mark = match toggled.iter().position(|skipped| *skipped == position) {
            Some(at) => {
                toggled.remove(at);
                "⬜"
            }
            None => {
                toggled.push(position);
                toggled.sort_unstable();
                "☑"
            }
        };
        let label: String =
            visible(&step.description).lines().next().unwrap_or_default().chars().take(MAX_LABEL).collect();
        let action = ButtonAction::ChooseSteps { plan: version.clone(), skip: toggled };
        rows.push(vec![maker.button(format!("{mark} {position}. {label}"), action)]);
    }
    // A plan with no step left cannot be approved.
    if skip.len() < plan.content.steps().len()
        && let Some(keyboard) = plan_keyboard(context, &mut maker, &plan, &skip)
    {
        rows.extend(keyboard.rows);
    }
    maker.store(context.ledger.as_ref()).await?;
    let (text, _) = plan_text(&plan);
    let mut card = OutgoingMessage::text(to.chat, text, Some(Markup::Buttons(Keyboard { rows })));
    card.replaces = Some(message);
    card.card = Some(subject(&plan, CardKind::Plan, version.digest.clone(), to.person.id));
    Ok(vec![card])
}

/// The plan as it is now, after a button of an old version.
pub(crate) async fn fresh(
    context: &BotContext,
    id: &str,
    to: &Addressee,
    version: &ButtonPlan,
) -> LedgerResult<Vec<OutgoingMessage>> {
    match find(context, &version.session, &version.id).await? {
        Some(plan) => plan_messages(context, id, to, &plan).await,
        None => {
            let text = format!("Plan #{} does not exist any more.", version.number);
            Ok(vec![OutgoingMessage::text(to.chat, FormattedText::plain(text), None)])
        }
    }
}

/// `None` if the plan is gone.
pub(crate) async fn find(
    context: &BotContext,
    session: &SessionIdentity,
    plan: &str,
) -> LedgerResult<Option<Arc<Plan>>> {
    let Ok(id) = PlanId::new(plan) else { return Ok(None) };
    match context.agent.engine().plans().get(session, &id).await {
        Ok(plan) => Ok(Some(plan)),
        Err(planwright_engine::ledger::LedgerError::Refused(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Asks for words. The reply to this message is what to change.
pub(crate) fn changes_prompt(to: &Addressee, plan: ButtonPlan) -> OutgoingMessage {
    let text = format!("What should be changed in plan #{}? Reply to this message.", plan.number);
    let markup = Markup::ForceReply { placeholder: "What to change".to_owned() };
    let mut message = OutgoingMessage::text(to.chat, FormattedText::plain(text), Some(markup));
    let ButtonPlan { session, id, digest, .. } = plan;
    message.prompt = Some(ChangesPrompt { session, plan: id, digest, user: to.person.id });
    message
}

/// Buttons below what the agent asks.
pub(crate) async fn add_ask(
    context: &BotContext,
    id: &str,
    to: &Addressee,
    waiting: &WaitingAsk,
    messages: &mut [OutgoingMessage],
) -> LedgerResult<()> {
    let WaitingAsk { session, ask, .. } = waiting;
    let mut maker = ButtonMaker::new(&context.options.token, id, to.person.id, to.chat);
    let action = |answer| ButtonAction::Answer {
        session: session.clone(),
        ask: ask.id.to_string(),
        digest: ask.digest.to_string(),
        answer,
    };
    let list = ask_choices(waiting).list;
    let mut rows = match &ask.subject {
        AskSubject::Permission(_) => {
            let button = |choice: Choice| match choice.kind {
                ChoiceKind::Permit(grant) => Some(maker.button(choice.label, action(PressedAnswer::Permission(grant)))),
                ChoiceKind::Plan(_)
                | ChoiceKind::AcceptTools
                | ChoiceKind::Answer
                | ChoiceKind::ResumeRun
                | ChoiceKind::StopRun => None,
            };
            in_rows(list.into_iter().filter_map(button).collect())
        }
        // Several answers to one question take words.
        AskSubject::Questions { questions } if questions.iter().any(|question| question.many) => Vec::new(),
        AskSubject::Questions { .. } => list
            .into_iter()
            .take(STEP_BUTTONS)
            .map(|Choice { label: choice, .. }| {
                let label: String = visible(&choice).chars().take(MAX_LABEL).collect();
                vec![maker.button(label, action(PressedAnswer::Choice { choice }))]
            })
            .collect(),
    };
    if let Some(url) = context.link(&format!("/?item={}", ask.id)) {
        rows.push(vec![link("Open", url)]);
    }
    maker.store(context.ledger.as_ref()).await?;
    let Some(last) = messages.last_mut() else { return Ok(()) };
    last.card = Some(CardSubject {
        session: session.clone(),
        subject: ask.id.to_string(),
        digest: ask.digest.to_string(),
        kind: CardKind::Ask,
        user: to.person.id,
    });
    if !rows.is_empty() {
        set_markup(Some(last), Markup::Buttons(Keyboard { rows }));
    }
    Ok(())
}

/// The plan of a session that is carried out and waits for a person.
pub(crate) async fn waiting_execution(
    context: &BotContext,
    session: &SessionIdentity,
    about: Option<&ButtonPlan>,
) -> LedgerResult<Option<Arc<Plan>>> {
    let Some(about) = about else { return Ok(None) };
    let Some(plan) = find(context, session, &about.id).await? else { return Ok(None) };
    let waits = match waits_in_execution(&plan) {
        Some(WaitingFor::Paused) => {
            let stored = context.ledger.session(session).await?;
            stored.is_none_or(|stored| !is_worked_on(&plan, &stored.session))
        }
        wants => wants.is_some(),
    };
    Ok(waits.then_some(plan))
}

fn waits_in_execution(plan: &Plan) -> Option<WaitingFor> {
    plan.waiting_for().filter(|wants| *wants != WaitingFor::Approval)
}

/// Tells one stop of an execution from the next.
pub(crate) fn execution_key(plan: &Plan) -> Option<String> {
    let key = match waits_in_execution(plan)? {
        WaitingFor::Approval | WaitingFor::RefusedCalls { .. } | WaitingFor::CannotRun { .. } => return None,
        WaitingFor::UncertainStep { position, .. } => format!("uncertain-{position}"),
        WaitingFor::StepEnded { position, .. } => format!("step-{position}"),
        WaitingFor::StepFailed { position, .. } => format!("failed-{position}"),
        WaitingFor::Paused => "paused".to_owned(),
    };
    Some(format!("{key}-{}", plan.updated_at.as_microsecond()))
}

/// A plan that is carried out and waits: a step whose result is unknown, a step to look at, or a pause.
pub(crate) async fn execution_messages(
    context: &BotContext,
    id: &str,
    to: &Addressee,
    plan: &Plan,
) -> LedgerResult<Vec<OutgoingMessage>> {
    let (Some(wants), Some(key)) = (waits_in_execution(plan), execution_key(plan)) else { return Ok(Vec::new()) };
    let mut maker = ButtonMaker::new(&context.options.token, id, to.person.id, to.chat);
    let head = format!("Plan #{}: {}", plan.number, visible(&plan.display_title()));
    let (step, note) = match &wants {
        WaitingFor::Approval | WaitingFor::RefusedCalls { .. } | WaitingFor::CannotRun { .. } => return Ok(Vec::new()),
        WaitingFor::UncertainStep { position, description, note }
        | WaitingFor::StepFailed { position, description, note } => {
            (format!("\nStep {position}: {}", visible(description)), note.as_deref())
        }
        WaitingFor::StepEnded { position, description, status, note } => {
            (format!("\nStep {position} is {}: {}", status.as_str(), visible(description)), note.as_deref())
        }
        WaitingFor::Paused => (String::new(), None),
    };
    let note = note.map_or_else(String::new, |note| format!("\n{}", visible(note)));
    let message = format!("{}{step}{note}", choices(plan, None).situation);
    let mut rows = choice_rows(&mut maker, plan, &[]);
    rows.extend(context.link(&format!("/p/{}", plan.id)).map(|url| vec![link("Open", url)]));
    maker.store(context.ledger.as_ref()).await?;
    let mut text = FormattedText::default();
    text.push_bold(&head);
    text.push_text(&format!("\n\n{}", cut(&message)));
    let mut card = OutgoingMessage::text(to.chat, text, Some(Markup::Buttons(Keyboard { rows })));
    card.card = Some(subject(plan, CardKind::Execution, key, to.person.id));
    Ok(vec![card])
}

fn cut(text: &str) -> String {
    if units(text) <= SHOWN_PLAN {
        return text.to_owned();
    }
    format!("{}…", text.chars().take(SHOWN_PLAN / 2).collect::<String>())
}

fn link(text: &str, url: String) -> Button {
    Button { text: text.to_owned(), code: None, url: Some(url) }
}

pub(crate) fn set_markup(message: Option<&mut OutgoingMessage>, new: Markup) {
    if let Some(Content::Text { markup, .. }) = message.map(|message| &mut message.content) {
        *markup = Some(new);
    }
}
