//! The line that is being typed: editing, history, and completion of commands.

mod rest;

use std::borrow::Cow;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anstream::{AutoStream, ColorChoice};
use planwright_core::slash::completions;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::{Hint, Hinter};
use rustyline::history::FileHistory;
use rustyline::validate::Validator;
use rustyline::{ColorMode, CompletionType, Config, Context, Editor, Helper};

use super::elsewhere::Elsewhere;
use super::keyboard::{FoundTerminal, PASTE_AS_TYPED};
use super::known_arguments::KnownArguments;
use super::short_answers::{self, ShortAnswer};
use super::{LEAVING, lines, local};
use crate::failure::Failure;
use crate::signals::{Signal, Signals};
use crate::terminal::palette::DIM;
use crate::terminal::screen;
use crate::terminal::text::paint;
pub(super) use rest::Rest;

/// The history of a person who types a lot.
const MAX_LINES: usize = 2_000;
/// How often a note looks whether the line is empty.
const EMPTY_INTERVAL: Duration = Duration::from_millis(250);
const CLEAR_LINE: &str = "\r\u{1b}[K";

pub(super) struct LineEditor {
    /// Away while a line is read.
    editor: Option<Editor<Commands, FileHistory>>,
    history: PathBuf,
    line: CurrentLine,
    /// What was typed at once after the line that was read last.
    rest: Rest,
}

/// The line that is being typed, as the editor's helper sees it.
#[derive(Debug, Clone, Default)]
struct CurrentLine {
    text: Arc<Mutex<String>>,
}

impl CurrentLine {
    fn set(&self, text: &str) {
        text.clone_into(&mut self.text.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn is_empty(&self) -> bool {
        self.text.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    fn take(&self) -> String {
        std::mem::take(&mut self.text.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What the person did at the prompt.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Typed {
    Text(String),
    /// Ctrl+C; `cleared` if there was something in the line.
    Interrupted {
        cleared: bool,
    },
    /// Ctrl+D, or the terminal is gone, or the program is to end.
    End,
}

/// As it is shown and as it is measured.
#[derive(Debug, Clone)]
pub(super) struct Prompt {
    pub(super) plain: String,
    pub(super) styled: String,
}

impl LineEditor {
    pub(super) fn new(history: PathBuf) -> Result<Self, Failure> {
        let colored = AutoStream::choice(&std::io::stdout()) != ColorChoice::Never;
        let config = Config::builder()
            .max_history_size(MAX_LINES)
            .and_then(|builder| builder.history_ignore_dups(true))
            .map_err(unusable)?
            .history_ignore_space(true)
            .completion_type(CompletionType::List)
            .color_mode(if colored { ColorMode::Enabled } else { ColorMode::Disabled })
            .build();
        let mut editor = Editor::with_config(config).map_err(unusable)?;
        let line = CurrentLine::default();
        editor.set_helper(Some(Commands {
            line: line.clone(),
            waits: true,
            offered: Vec::new(),
            arguments: KnownArguments::default(),
        }));
        // The first time there is none yet.
        let _ = editor.load_history(&history);
        Ok(Self { editor: Some(editor), history, line, rest: Rest::default() })
    }

    /// Whether a text can stand in the line before the person types anything.
    pub(super) fn can_prefill(&self) -> bool {
        rest::reads_keys()
    }

    /// These letters stand for something from now on, and these arguments complete a line.
    pub(super) fn offer(&mut self, offered: &[ShortAnswer], arguments: KnownArguments) {
        if let Some(helper) = self.editor.as_mut().and_then(Editor::helper_mut) {
            helper.offered = offered.to_vec();
            helper.arguments = arguments;
        }
    }

    /// Reads a message that may be begun already. A message that ends in a backslash continues in the next line.
    pub(super) async fn read(
        &mut self,
        prompt: &Prompt,
        begun: &str,
        signals: &mut Signals,
        elsewhere: &mut Elsewhere,
    ) -> Result<Typed, Failure> {
        let mut text = String::new();
        let (mut prompt, mut begun) = (prompt.clone(), begun.to_owned());
        loop {
            let line = match self.rest.lines.pop_front() {
                Some(line) => line,
                None => match self.read_line(prompt, begun, signals, elsewhere).await? {
                    Typed::Text(line) => line,
                    Typed::Interrupted { cleared } => {
                        return Ok(Typed::Interrupted { cleared: cleared || !text.is_empty() });
                    }
                    Typed::End => return Ok(Typed::End),
                },
            };
            match line.strip_suffix('\\') {
                Some(line) => {
                    text.push_str(line);
                    text.push('\n');
                    prompt = Prompt { plain: "… ".to_owned(), styled: "… ".to_owned() };
                    // A line of the rest goes before what is not finished.
                    begun = if self.rest.lines.is_empty() {
                        std::mem::take(&mut self.rest.unfinished)
                    } else {
                        String::new()
                    };
                }
                None => {
                    text.push_str(&line);
                    self.remember(&text);
                    return Ok(Typed::Text(text));
                }
            }
        }
    }

    /// What was typed at once after the message. It was typed before anything about the message was on the screen.
    pub(super) fn take_rest(&mut self) -> Rest {
        std::mem::take(&mut self.rest)
    }

    async fn read_line(
        &mut self,
        prompt: Prompt,
        begun: String,
        signals: &mut Signals,
        elsewhere: &mut Elsewhere,
    ) -> Result<Typed, Failure> {
        let Some(mut editor) = self.editor.take() else { return Ok(Typed::End) };
        self.line.take();
        let (line, found) = (self.line.clone(), FoundTerminal::remember());
        let (drawn, mut told) = (prompt.styled.clone(), None);
        let mut reading = tokio::task::spawn_blocking(move || {
            let read = editor.readline_with_initial(&(prompt.plain, prompt.styled), (&begun, ""));
            let rest = match &read {
                Ok(_) => rest::take(&mut editor, &line),
                Err(_) => Ok(Rest::default()),
            };
            (editor, read, rest)
        });
        let read = loop {
            tokio::select! {
                done = &mut reading => break done,
                // One that came too late for the turn it was meant for.
                signal = signals.next() => if signal != Signal::Interrupt {
                    // The thread that reads cannot be ended, so what it set is put back here.
                    drop(found);
                    write!(std::io::stdout().lock(), "{PASTE_AS_TYPED}\r\n")?;
                    return Ok(Typed::End);
                },
                text = elsewhere.next(), if told.is_none() => told = Some(text),
                () = tokio::time::sleep(EMPTY_INTERVAL), if told.is_some() => {}
            }
            // It waits while a line is being typed.
            if let Some(text) = told.take_if(|_| self.line.is_empty()) {
                tell_above(&text, &drawn)?;
            }
        };
        let (editor, read, rest) = read.map_err(|error| Failure::unexpected(format!("the prompt failed: {error}")))?;
        self.editor = Some(editor);
        self.rest = rest.map_err(|error| unusable(error.into()))?;
        match read {
            Ok(line) => Ok(Typed::Text(line)),
            Err(ReadlineError::Interrupted) => Ok(Typed::Interrupted { cleared: !self.line.take().is_empty() }),
            Err(ReadlineError::Eof) => Ok(Typed::End),
            Err(error) => Err(unusable(error)),
        }
    }

    /// Written at once, so that a killed program forgets nothing.
    pub(super) fn remember(&mut self, text: &str) {
        let Some(editor) = &mut self.editor else { return };
        let kept = editor.add_history_entry(text).and_then(|_| editor.append_history(&self.history));
        if let Err(error) = kept {
            tracing::warn!(path = %self.history.display(), %error, "the history is not kept");
        }
    }
}

/// Writes a note where the empty line is, and the prompt below it.
fn tell_above(text: &str, prompt: &str) -> Result<(), Failure> {
    let note = lines::note("↻", text, screen::width()).replace('\n', "\r\n");
    let start = if rest::reads_keys() { CLEAR_LINE } else { "\n" };
    write!(std::io::stdout().lock(), "{start}")?;
    let mut out = anstream::stdout().lock();
    write!(out, "{note}{prompt}")?;
    Ok(out.flush()?)
}

fn unusable(error: ReadlineError) -> Failure {
    Failure::unexpected(format!("the terminal cannot be used: {error}"))
}

/// What the editor asks about the line.
struct Commands {
    line: CurrentLine,
    /// Whether the editor waits for keys.
    waits: bool,
    /// The letters that stand for something.
    offered: Vec<ShortAnswer>,
    arguments: KnownArguments,
}

/// What Enter does with the letter that stands in the line. No key puts it into the line.
#[derive(Debug)]
struct EnterHint(String);

impl Hint for EnterHint {
    fn display(&self) -> &str {
        &self.0
    }

    fn completion(&self) -> Option<&str> {
        None
    }
}

impl Helper for Commands {}
impl Validator for Commands {}

impl Completer for Commands {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let typed = line[..at].trim_start();
        let mut found = completions(typed);
        let leaving = LEAVING.iter().filter(|word| !typed.is_empty() && word.starts_with(typed));
        found.extend(leaving.map(|word| (*word).to_owned()));
        found.extend(local::completions(typed));
        found.extend(self.arguments.completions(typed).into_iter().map(|known| known.line));
        Ok((at - typed.len(), found))
    }
}

/// It is asked first and after every change, which tells what is in the line.
impl Hinter for Commands {
    type Hint = EnterHint;

    fn hint(&self, line: &str, _: usize, _: &Context<'_>) -> Option<EnterHint> {
        self.line.set(line);
        if !self.waits {
            rest::stop_waiting();
        }
        short_answers::hint(line, &self.offered).map(EnterHint)
    }
}

impl Highlighter for Commands {
    /// Text that was pasted, or comes from the history, may hold what a terminal obeys.
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        let obeyed = |c: char| c.is_control() && c != '\n' && c != '\t';
        if line.contains(obeyed) { Cow::Owned(line.replace(obeyed, "·")) } else { Cow::Borrowed(line) }
    }

    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        Cow::Owned(paint(hint, DIM))
    }
}
