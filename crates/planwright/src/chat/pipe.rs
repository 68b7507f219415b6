//! Messages from the command line, or line by line from stdin. The chat asks no questions. A message that is refused or
//! fails ends it, because the messages after it were written for a conversation in which it succeeded.

use std::io::Write as _;

use planwright_core::slash::{self, ParsedInput};
use planwright_core::visible::quoted;
use planwright_core::visible::visible;
use tokio::io::{AsyncBufReadExt as _, BufReader, Stdin};

use super::conversation::{self, ChatConversation, ExchangeResult, ExchangeStart};
use super::view::{self, View};
use super::wants_to_leave;
use crate::failure::{Exit, ExitResult, Failure};
use crate::signals::Signals;

#[derive(Debug)]
pub(crate) enum Messages {
    One(String),
    Lines(BufReader<Stdin>),
}

impl Messages {
    pub(crate) fn on_stdin() -> Self {
        Self::Lines(BufReader::new(tokio::io::stdin()))
    }

    /// The next one that says something; `None` after the last, or when the program is to end.
    async fn next(&mut self, signals: &mut Signals) -> Result<Option<String>, Failure> {
        loop {
            let line = match self {
                Self::One(text) => Some(std::mem::take(text)).filter(|text| !text.is_empty()),
                Self::Lines(stdin) => tokio::select! {
                    line = whole_line(stdin) => line?,
                    _ = signals.next() => None,
                },
            };
            match line {
                Some(text) if text.trim().is_empty() => {}
                Some(text) if wants_to_leave(&text) => return Ok(None),
                line => return Ok(line),
            }
        }
    }
}

pub(crate) async fn run(mut conversation: ChatConversation, mut messages: Messages, json: bool) -> ExitResult {
    let mut view = view::fitting(json);
    if !json {
        let model = conversation.agent().model().name();
        let session = conversation.session();
        let stored = conversation.agent().engine().sessions().get(session).await?;
        let project = stored.workspace.project().map(|path| format!(", project {}", visible(path)));
        writeln!(anstream::stderr(), "session {session}, model {}{}", visible(model), project.unwrap_or_default())?;
    }
    let (mut exit, mut resumed, mut first) = (Exit::Done, false, true);
    loop {
        let next = messages.next(conversation.signals()).await?;
        // What stops work or only looks does not wait for what was interrupted.
        let resumes = next.as_deref().map_or(first, |text| !conversation::acts_at_once(text));
        if resumes && !std::mem::replace(&mut resumed, true) {
            exit = exit_of(conversation.exchange(ExchangeStart::Resume, view.as_mut()).await?)?;
        }
        let Some(text) = next.filter(|_| exit == Exit::Done) else { return Ok(exit) };
        first = false;
        exit = submit(&mut conversation, &text, view.as_mut()).await?;
        if exit != Exit::Done {
            return Ok(exit);
        }
    }
}

/// One command, and the run that it starts until that pauses or ends.
pub(crate) async fn one(mut conversation: ChatConversation, text: &str, json: bool) -> ExitResult {
    let mut view = view::fitting(json);
    submit(&mut conversation, text, view.as_mut()).await
}

/// The next line, without its end. A command whose line breaks off may be incomplete: it is not carried out.
async fn whole_line(stdin: &mut BufReader<Stdin>) -> Result<Option<String>, Failure> {
    let mut line = String::new();
    let read = stdin.read_line(&mut line).await;
    if read.map_err(|error| Failure::usage(format!("stdin cannot be read: {error}")))? == 0 {
        return Ok(None);
    }
    let text = line.trim_end_matches(['\n', '\r']).to_owned();
    if text.len() == line.len() && matches!(slash::parse(&text), ParsedInput::Command(_)) {
        let message = format!("{} has no line end, so it was not carried out", quoted(&text));
        return Err(Failure::usage(message));
    }
    Ok(Some(without_mark(text)))
}

/// Some editors begin a file with a mark that is no part of its text.
fn without_mark(line: String) -> String {
    line.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(line)
}

async fn submit(conversation: &mut ChatConversation, text: &str, view: &mut dyn View) -> ExitResult {
    let exit = exit_of(conversation.exchange(ExchangeStart::Text(text), view).await?)?;
    conversation.watch_runs(view).await?;
    Ok(exit)
}

fn exit_of(exchanged: ExchangeResult) -> ExitResult {
    match exchanged {
        ExchangeResult::Answer(answer) => Ok(view::exit(&answer)),
        ExchangeResult::Nothing => Ok(Exit::Done),
        ExchangeResult::Failed(failure) => Err(failure),
        ExchangeResult::Left => Ok(Exit::Refused),
    }
}
