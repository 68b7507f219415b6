//! A person at a terminal: a prompt, an answer, a prompt.

use std::io::Write as _;
use std::path::PathBuf;

use planwright_core::plan::PlanStatus;
use planwright_core::session::Session;

use super::conversation::{Asked, ChatConversation, Exchanged};
use super::editor::{LineEditor, Prompt, Typed};
use super::quiet::Quiet;
use super::view::{self, View};
use super::wants_to_leave;
use crate::failure::{Exit, ExitResult, Failure};
use crate::terminal::palette::{self, BOLD, COMMAND, DIM, WARNING};
use crate::terminal::screen::{self, Screen};
use crate::terminal::text::{Span, paint, painted, shown_line, wrap};

const LEAVE_HINT: &str = "Ctrl+C again leaves.";

pub(crate) async fn run(mut conversation: ChatConversation, screen: Screen, history: PathBuf) -> ExitResult {
    conversation.watch_what_is_seen();
    let mut editor = LineEditor::new(history)?;
    let mut view = view::fitting(screen.json);
    screen.print(&welcome(&conversation).await?)?;
    // What waits for a decision is shown again: the one before may have ended before it could be read.
    let first = if has_a_plan_to_decide(&conversation).await { Asked::Text("/plan show") } else { Asked::Resume };
    match run_exchange(&mut conversation, first, view.as_mut()).await? {
        Next::GoOn => {}
        Next::Leave => return Ok(Exit::Done),
    }
    let mut asked_once = false;
    loop {
        let prompt = prompt(&conversation).await;
        let text = match editor.read(&prompt, conversation.signals()).await? {
            Typed::Text(text) => text,
            Typed::Interrupted { cleared: false } if asked_once => return Ok(Exit::Done),
            Typed::Interrupted { cleared } => {
                asked_once = !cleared;
                if asked_once {
                    screen.print(&format!("{}\n", paint(LEAVE_HINT, DIM)))?;
                }
                continue;
            }
            Typed::End => return Ok(Exit::Done),
        };
        asked_once = false;
        if text.trim().is_empty() {
            continue;
        }
        if wants_to_leave(&text) {
            return Ok(Exit::Done);
        }
        match run_exchange(&mut conversation, Asked::Text(&text), view.as_mut()).await? {
            Next::GoOn => {}
            Next::Leave => return Ok(Exit::Done),
        }
    }
}

enum Next {
    GoOn,
    Leave,
}

async fn run_exchange(
    conversation: &mut ChatConversation,
    asked: Asked<'_>,
    view: &mut dyn View,
) -> Result<Next, Failure> {
    let quiet = Quiet::begin();
    let exchanged = conversation.exchange(asked, view).await;
    if exchanged.is_ok() {
        conversation.watch_runs(view).await?;
    }
    drop(quiet);
    match exchanged? {
        Exchanged::Answer(_) | Exchanged::Nothing => Ok(Next::GoOn),
        Exchanged::Failed(failure) => {
            writeln!(anstream::stderr().lock(), "{}", failure.words())?;
            Ok(Next::GoOn)
        }
        Exchanged::Left => Ok(Next::Leave),
    }
}

/// A turn that was interrupted comes first; it ends with the plan.
async fn has_a_plan_to_decide(conversation: &ChatConversation) -> bool {
    let Ok(snapshot) = conversation.agent().engine().sessions().snapshot(conversation.session()).await else {
        return false;
    };
    let idle = snapshot.session.as_ref().is_some_and(|session| session.turn.is_none());
    idle && snapshot.active().is_some_and(|plan| plan.status == PlanStatus::Ready)
}

/// `plan 2 READY › `, or only `› ` where no plan is worked on.
async fn prompt(conversation: &ChatConversation) -> Prompt {
    // A store that cannot be reached is reported when an input needs it.
    let snapshot = conversation.agent().engine().sessions().snapshot(conversation.session()).await.ok();
    let Some(plan) = snapshot.as_ref().and_then(|snapshot| snapshot.active()) else {
        return Prompt { plain: "› ".to_owned(), styled: format!("{} ", paint("›", COMMAND)) };
    };
    let (number, status) = (format!("plan {}", plan.number), plan.status.as_str());
    Prompt {
        plain: format!("{number} {status} › "),
        styled: format!(
            "{} {} {} ",
            paint(&number, DIM),
            paint(status, palette::status(plan.status)),
            paint("›", COMMAND)
        ),
    }
}

/// Where one is, who answers, and how to find out more.
async fn welcome(conversation: &ChatConversation) -> Result<String, Failure> {
    let session = conversation.agent().engine().sessions().get(conversation.session()).await?;
    let model = conversation.agent().model().name();
    let mut text = head(&session, model);
    if model == planwright_llm::rehearsal::NAME {
        let words = "This is a rehearsal: the built-in model plays by rules, offline and without a key. For a real one: \
                     --model openai:NAME (or anthropic:, gemini:, ollama:), or PLANWRIGHT_MODEL.";
        text.push_str(&wrapped(&[Span::new(words, WARNING)]));
    }
    let hint = [
        Span::new("/help", COMMAND),
        Span::new(" lists the commands, ", DIM),
        Span::new("/quit", COMMAND),
        Span::new(
            " leaves. Ctrl+C stops the agent, Tab completes, a backslash at the end continues the message in the next line.",
            DIM,
        ),
    ];
    text.push_str(&wrapped(&hint));
    text.push('\n');
    Ok(text)
}

fn head(session: &Session, model: &str) -> String {
    let mut spans = vec![
        Span::new("Planwright", BOLD),
        Span::new("  session ", DIM),
        Span::plain(&session.identity.to_string()),
        Span::new("  model ", DIM),
        Span::plain(&shown_line(model)),
    ];
    if let Some(topic) = &session.topic {
        spans.push(Span::new(&format!("  “{}”", shown_line(topic)), DIM));
    }
    wrapped(&spans)
}

fn wrapped(spans: &[Span]) -> String {
    wrap(spans, screen::width()).iter().map(|line| format!("{}\n", painted(line))).collect()
}
