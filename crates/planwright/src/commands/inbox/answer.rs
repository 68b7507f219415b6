//! `inbox answer`: the same decisions as elsewhere, about what was shown.

use planwright_agent::session::ask_prompt::typed_answers;
use planwright_agent::session::input::{Input, Worker};
use planwright_core::actor::Actor;
use planwright_core::ask::{Ask, AskAnswer, AskSubject, Grant};
use planwright_core::choices::run_choices;
use planwright_core::command::{AnswerCommand, Command, StuckChoice};
use planwright_core::plan::Digest;
use planwright_core::plan::risk::requirement_of_call;
use planwright_core::refusal::Refusal;
use planwright_core::visible::quoted;
use planwright_engine::inbox::{Waiting, WaitingAsk, WaitingFor};
use planwright_surfaces::wire::WaitingView;
use serde_json::json;

use super::items::InboxItem;
use crate::approver;
use crate::cli::{ApproveArgs, InboxAnswerArgs, ReasonArgs, ResumeArgs, ReviseArgs};
use crate::commands::auto;
use crate::commands::plan;
use crate::commands::{chat, plan::carry_out};
use crate::context::Context;
use crate::failure::{Exit, ExitResult, Failure};
use crate::terminal::inbox as view;
use crate::terminal::markdown;
use crate::terminal::text::short_id;

pub(super) async fn run(context: &Context, item: InboxItem, arguments: InboxAnswerArgs) -> ExitResult {
    let choices = item.view().choices;
    match item {
        InboxItem::Plan(waiting) => decide(context, &waiting, &choices, arguments).await,
        InboxItem::Run(waiting) => {
            let name = one_of(&choices, arguments.choice.as_deref())?;
            let chosen = run_choices(&waiting.run).list.into_iter().find(|choice| choice.name() == name);
            let chosen = chosen.ok_or_else(|| not_a_choice(name, &choices))?;
            auto::in_session(context, &waiting.session, &chosen.command).await
        }
        InboxItem::Ask(waiting) => match &waiting.ask.subject {
            AskSubject::Permission(_) => permit(context, &waiting, &choices, arguments).await,
            AskSubject::Questions { .. } => answer(context, &waiting, arguments).await,
        },
    }
}

async fn decide(context: &Context, waiting: &Waiting, choices: &[String], arguments: InboxAnswerArgs) -> ExitResult {
    let (session, id) = (&waiting.session, waiting.plan.id.as_str());
    let reference = || id.parse().ok();
    let choice = one_of(choices, arguments.choice.as_deref())?;
    let words = arguments.words.clone();
    let reasons = || ReasonArgs { plan: reference(), reason: None, words: words.clone() };
    let resuming = |choice: Option<StuckChoice>| ResumeArgs {
        plan: reference(),
        retry: choice == Some(StuckChoice::Retry),
        skip: choice == Some(StuckChoice::Skip),
        stop: choice == Some(StuckChoice::Stop),
        approver: arguments.approver.clone(),
    };
    match (&waiting.wants, choice) {
        (WaitingFor::Approval, "approve") => {
            let digest = arguments.digest.as_deref().map(str::parse::<Digest>).transpose()?;
            let note = (!words.is_empty()).then(|| words.join(" "));
            let approver = arguments.approver.clone();
            let approving = ApproveArgs { plan: reference(), note, digest, approver, ..ApproveArgs::default() };
            plan::approve(context, session, approving).await
        }
        (_, "reject") => plan::reject(context, session, reasons()).await,
        (_, "cancel") => plan::cancel(context, session, reasons()).await,
        (_, "revise") if words.is_empty() => {
            let again = context.invocation.command(["inbox", "answer", id, "revise", "--", "WORDS"]);
            Err(Failure::usage("say what to change, after `--`").hint(again))
        }
        (_, "revise") => plan::revise(context, session, ReviseArgs { plan: reference(), feedback: None, words }).await,
        (WaitingFor::StepEnded { position, .. }, "next") => {
            let (plan, after_step) = (waiting.plan.id.clone(), Some(*position));
            let agent = carry_out::resuming_agent(context, &waiting.plan, None).await?;
            let input = Input::ResumePlan { plan, choice: None, worker: Worker::Drafter, after_step };
            let person = approver::verified_for_plan(context, &waiting.plan, arguments.approver.as_deref()).await?;
            carry_out::watched_as(context, &person, &waiting.plan, &agent, input).await
        }
        (_, "retry") => plan::resume(context, session, resuming(Some(StuckChoice::Retry))).await,
        (_, "skip") => plan::resume(context, session, resuming(Some(StuckChoice::Skip))).await,
        (_, "stop") => plan::resume(context, session, resuming(Some(StuckChoice::Stop))).await,
        (_, "resume") => plan::resume(context, session, resuming(None)).await,
        (_, other) => Err(not_a_choice(other, choices)),
    }
}

/// Permission for a call. A yes needs the call on the screen, or its digest.
async fn permit(context: &Context, waiting: &WaitingAsk, choices: &[String], arguments: InboxAnswerArgs) -> ExitResult {
    let choice = one_of(choices, arguments.choice.as_deref())?;
    let grant = Grant::ALL.into_iter().find(|grant| grant.as_str() == choice);
    let grant = grant.ok_or_else(|| not_a_choice(choice, choices))?;
    if grant.permits() {
        check_shown(context, waiting, choice, &arguments)?;
    }
    let note = (!arguments.words.is_empty()).then(|| arguments.words.join(" "));
    let person = match &waiting.ask.subject {
        AskSubject::Permission(call) if grant.permits() => {
            let policy = context.engine.approvals().policy_in(&waiting.session).await?;
            let require = requirement_of_call(&policy.approval, waiting.session.channel, &call.tool);
            approver::verified_for(&context.engine, &context.person, require, arguments.approver.as_deref()).await?
        }
        AskSubject::Permission(_) | AskSubject::Questions { .. } => context.person.clone(),
    };
    submit(context, waiting, &person, AskAnswer::permission(grant, note)).await
}

fn check_shown(
    context: &Context,
    waiting: &WaitingAsk,
    choice: &str,
    arguments: &InboxAnswerArgs,
) -> Result<(), Failure> {
    let ask = &waiting.ask;
    let view = WaitingView::from(waiting);
    match &arguments.digest {
        Some(digest) if is_named(ask, digest) => return Ok(()),
        Some(_) => {
            let stale = Refusal::stale("The agent asks about another call now; nothing was permitted.");
            return Err(Failure::from(stale).with("item", json!(view)));
        }
        None => {}
    }
    if !context.screen.json {
        context.screen.print(&view::asked(&view, context.screen.width))?;
    }
    if !context.screen.interactive {
        let again = ["inbox", "answer", short_id(ask.id.as_str()), choice, "--digest", &ask.code()];
        return Err(Failure::usage("there is no terminal to ask on, so the call was not permitted")
            .hint(format!("to permit exactly this call: {}", context.invocation.command(again)))
            .with("item", json!(view)));
    }
    let question = match choice {
        "plan" => "Permit this call whenever it comes again while the plan is carried out?",
        "always" => "Permit this from now on, by the rule above?",
        _ => "Permit this call once?",
    };
    if context.screen.confirm(question)? {
        Ok(())
    } else {
        Err(Failure::declined("The call was not permitted; the agent still waits for your answer."))
    }
}

fn is_named(ask: &Ask, digest: &str) -> bool {
    let digits = digest.trim().trim_start_matches("sha256:");
    digits.len() >= ask.code().len() && ask.is_named(digits)
}

/// Answers to questions, in the person's words or by the number of a choice.
async fn answer(context: &Context, waiting: &WaitingAsk, arguments: InboxAnswerArgs) -> ExitResult {
    let AskSubject::Questions { questions } = &waiting.ask.subject else { return Ok(Exit::Unexpected) };
    let given: Vec<_> = arguments.choice.iter().chain(&arguments.words).map(String::as_str).collect();
    let text = if questions.len() == 1 { given.join(" ") } else { given.join("\n") };
    let Some(answers) = typed_answers(questions, &text) else {
        let again =
            context.invocation.command(["inbox", "answer", short_id(waiting.ask.id.as_str()), "--", "FIRST", "SECOND"]);
        let message = format!("{} questions are asked, and {} answers were given", questions.len(), given.len());
        return Err(Failure::usage(message).hint(format!("one argument for each: {again}")));
    };
    submit(context, waiting, &context.person, AskAnswer::Questions { answers }).await
}

/// Writes the answer down. The turn continues here, as it does when a person answers in the chat.
async fn submit(context: &Context, waiting: &WaitingAsk, person: &Actor, answer: AskAnswer) -> ExitResult {
    let agent = chat::agent(context, None)?;
    if !agent.may_continue(&waiting.session).await? {
        return write_down(context, waiting, person, answer).await;
    }
    let request = carry_out::request_as(context, person, &waiting.session);
    let input = Input::Answer { ask: waiting.ask.id.clone(), digest: waiting.ask.digest, answer };
    let left = "Left; another process continues the turn.";
    let (_, outcome) = carry_out::follow(context, &agent, input, request, left).await?;
    let Some(answer) = outcome?.answer() else { return Ok(Exit::Done) };
    if answer.refused() {
        return Err(Failure::declined(answer.reply));
    }
    let value = || json!({ "sessionId": waiting.session.conversation.to_string(), "reply": answer.reply });
    context.screen.answer(value, || markdown::render(&answer.reply, context.screen.width))
}

/// No model is configured here, and another one began the turn: a process that has that model continues it.
async fn write_down(context: &Context, waiting: &WaitingAsk, person: &Actor, answer: AskAnswer) -> ExitResult {
    let session = &waiting.session;
    let always = matches!(answer, AskAnswer::Permission { grant: Grant::Always, .. });
    let command = AnswerCommand { ask: waiting.ask.id.clone(), digest: waiting.ask.digest, answer };
    let committed = context.engine.submit(session, person, Command::Answer(command)).await?;
    let answered = match always {
        true => context.engine.approvals().permit_asked(person, &committed.snapshot, &waiting.ask.id).await?,
        false => "Answered.".to_owned(),
    };
    let reply =
        format!("{answered} No model is configured here: a server, or a chat in {session} with a model, continues.");
    let value = || json!({ "sessionId": session.conversation.to_string(), "reply": reply });
    context.screen.answer(value, || format!("{reply}\n"))
}

fn one_of<'a>(choices: &[String], given: Option<&'a str>) -> Result<&'a str, Failure> {
    let given = given.unwrap_or_default();
    if choices.iter().any(|choice| choice == given) { Ok(given) } else { Err(not_a_choice(given, choices)) }
}

fn not_a_choice(given: &str, choices: &[String]) -> Failure {
    let reason =
        if given.is_empty() { "No choice was given".to_owned() } else { format!("{} is not a choice", quoted(given)) };
    Failure::usage(format!("{reason} here; the choices are {}", choices.join(", ")))
}
