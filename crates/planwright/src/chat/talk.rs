//! A person at a terminal: a prompt, an answer, a prompt.
//!
//! - `own_commands`: what the chat carries out by itself
//! - `prompt_box`: the prompt of the inline interface
//! - `reviewing`: what a person does with a plan before they decide
//! - `welcome`: what is read first

mod own_commands;
mod prompt_box;
mod reviewing;
mod welcome;

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use planwright_core::refusal::RefusalCode;
use planwright_engine::feed::Feed;

use super::chosen_theme::ChosenTheme;
use super::conversation::{ChatConversation, ExchangeResult, ExchangeStart};
use super::editor::{LineEditor, Prompt, Typed};
use super::elsewhere::Elsewhere;
use super::inline::input_box::{InputBox, SentText};
use super::known_arguments::KnownArguments;
use super::local;
use super::session_models::{MakeAgent, SessionModels};
use super::short_answers::{self, Meaning};
use super::switching::{self, SwitchLine};
use super::typeahead::{self, Cards, ReturnReason, SendDecision, TypingStart, rule};
use super::view::{self, LiveView, View};
use super::waiting::LastRead;
use super::{alert, lines, wants_to_leave};
use crate::config::{ChatAlert, ChatInterface};
use crate::failure::{Exit, ExitResult, Failure};
use crate::logging;
use crate::terminal::palette::{self, COMMAND, DIM};
use crate::terminal::screen::{self, Screen};
use crate::terminal::text::{Span, fit, paint, painted, shown, wrap};
use prompt_box::Prompted;
use welcome::welcome;

/// A person who waited so long may look elsewhere.
const ALERT_AFTER: Duration = Duration::from_secs(10);
const LEAVE_HINT: &str = "Ctrl+C again leaves.";

/// Where the log of the program is written during the chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogPlace {
    /// On this terminal, between an answer and the next prompt.
    Screen,
    Elsewhere,
}

/// The terminal of a chat, and what belongs to it.
pub(crate) struct ChatTerminal {
    pub(crate) screen: Screen,
    /// The file with what was typed.
    pub(crate) history: PathBuf,
    pub(crate) log: LogPlace,
    pub(crate) alert: ChatAlert,
    pub(crate) interface: ChatInterface,
    pub(crate) models: SessionModels,
    pub(crate) theme: ChosenTheme,
    pub(crate) make_agent: MakeAgent,
}

/// Where the person types.
enum Surface {
    /// One line after another.
    Lines(Box<LineEditor>),
    /// A box that stays on the screen. [`super::typing`] has it.
    Inline,
}

pub(crate) async fn run(mut conversation: ChatConversation, terminal: ChatTerminal) -> ExitResult {
    let ChatTerminal { screen, history, log, alert, interface, models, theme, make_agent } = terminal;
    theme.apply();
    if log == LogPlace::Screen {
        logging::hold();
    }
    conversation.watch_what_is_seen();
    screen.print(&welcome(&conversation, interface).await?)?;
    let (surface, view): (Surface, Box<dyn View>) = match interface {
        ChatInterface::Plain => (Surface::Lines(Box::new(LineEditor::new(history)?)), view::fitting(screen.json)),
        ChatInterface::Inline => {
            conversation.typing().use_box(InputBox::new(history));
            (Surface::Inline, Box::new(LiveView::with_input()))
        }
    };
    let feed = Feed::start(Arc::clone(conversation.agent().engine().ledger()));
    let (read, last) = (LastRead::Nothing, Cards::default());
    Talk {
        conversation,
        surface,
        view,
        screen,
        feed,
        returned: None,
        begun: None,
        notice: None,
        read,
        last,
        log,
        alert,
        models,
        theme,
        make_agent,
    }
    .run()
    .await
}

struct Talk {
    conversation: ChatConversation,
    surface: Surface,
    view: Box<dyn View>,
    screen: Screen,
    feed: Feed,
    /// What was not sent and stands in the next line.
    returned: Option<(String, ReturnReason)>,
    /// How the next line begins, and what was on the screen when the person chose that.
    begun: Option<(String, Cards)>,
    /// What the person reads above the next line.
    notice: Option<&'static str>,
    read: LastRead,
    /// What was on the screen at the last prompt.
    last: Cards,
    log: LogPlace,
    alert: ChatAlert,
    models: SessionModels,
    theme: ChosenTheme,
    make_agent: MakeAgent,
}

/// What stands in the line before the person types anything.
#[derive(Debug, Default)]
struct BegunLine {
    text: String,
    /// Why it stands there, if it was whole already.
    why: Option<ReturnReason>,
    /// What was on the screen when the person began it, if they have not finished it.
    begun_under: Option<Cards>,
}

impl BegunLine {
    fn returned(text: String, why: ReturnReason) -> Self {
        Self { text, why: Some(why), begun_under: None }
    }

    /// As it stands in the box of the inline interface, below these cards.
    fn in_box(self, prompt: &Cards) -> Option<SentText> {
        let begun = match (self.why, self.begun_under) {
            (Some(_), _) => TypingStart::AtPrompt(prompt.clone()),
            (None, Some(then)) => TypingStart::Earlier(then),
            (None, None) => return None,
        };
        Some(SentText { text: self.text, begun })
    }

    /// When the person began what they sent at a prompt below these cards.
    fn begun(self, sent: &str, prompt: Cards) -> TypingStart {
        match self.begun_under {
            Some(then) if sent.starts_with(&self.text) => TypingStart::Earlier(then),
            Some(_) | None => TypingStart::AtPrompt(prompt),
        }
    }
}

impl Talk {
    async fn run(mut self) -> ExitResult {
        self.conversation.typing().listen();
        if let Next::Leave = self.exchange(ExchangeStart::Resume).await? {
            return self.leave();
        }
        self.read = LastRead::Nothing;
        let mut asked_once = false;
        loop {
            self.write_log()?;
            let cards = self.conversation.show_waiting(self.read, &self.last, self.view.as_mut()).await?;
            self.last.clone_from(&cards);
            self.read = LastRead::Answer;
            let line = match self.next_line(&cards) {
                typeahead::Next::Nothing => BegunLine::default(),
                typeahead::Next::Return { text, why } => BegunLine::returned(text, why),
                typeahead::Next::Continue { text, begun_under } => {
                    BegunLine { text, why: None, begun_under: Some(begun_under) }
                }
                typeahead::Next::Send(text) => match self.send_queued(text).await? {
                    Next::GoOn => continue,
                    Next::Leave => return self.leave(),
                },
            };
            let SentText { text, begun } = match self.prompted(line, &cards).await? {
                Prompted::Text(sent) => *sent,
                Prompted::Interrupted { cleared: false } if asked_once => return self.leave(),
                Prompted::Interrupted { cleared } => {
                    asked_once = !cleared;
                    self.notice = asked_once.then_some(LEAVE_HINT);
                    continue;
                }
                Prompted::End => return self.leave(),
            };
            asked_once = false;
            if text.trim().is_empty() {
                continue;
            }
            // Another surface may have changed what the person decides about.
            let now = self.conversation.waiting().await;
            match rule(&text, &begun, &now) {
                SendDecision::Return(why) => {
                    self.returned = Some((text, why));
                    self.read = if why == ReturnReason::Changed { LastRead::Nothing } else { self.read };
                }
                SendDecision::Send => {
                    let text = match now.meaning(&text) {
                        Some(Meaning::Begin(text)) => {
                            self.begun = Some((text, now));
                            continue;
                        }
                        Some(Meaning::Command(command)) => command,
                        None => text,
                    };
                    if let Surface::Inline = self.surface {
                        self.view.sent(&text)?;
                    }
                    if let Next::Leave = self.send(text).await? {
                        return self.leave();
                    }
                }
            }
        }
    }

    fn report(&mut self, failure: &Failure) -> Result<(), Failure> {
        match self.surface {
            Surface::Lines(_) => Ok(writeln!(anstream::stderr().lock(), "{}", failure.render())?),
            Surface::Inline => self.view.line(&format!("{}\n", failure.render().trim_end())),
        }
    }

    fn leave(&mut self) -> ExitResult {
        self.view.leave()?;
        Ok(Exit::Done)
    }

    /// Writes the lines of the log that were held back.
    fn write_log(&mut self) -> Result<(), Failure> {
        if self.log == LogPlace::Screen {
            self.view.leave()?;
            logging::write_held();
        }
        Ok(())
    }

    /// Reads what the person sends next.
    async fn prompted(&mut self, line: BegunLine, cards: &Cards) -> Result<Prompted, Failure> {
        if let Surface::Inline = self.surface {
            return self.read_box(line, cards).await;
        }
        if let Some(notice) = self.notice.take() {
            self.screen.print(&format!("{}\n", paint(notice, DIM)))?;
        }
        Ok(match self.read_line(&line).await? {
            Typed::Text(text) => Prompted::Text(Box::new(SentText { begun: line.begun(&text, cards.clone()), text })),
            Typed::Interrupted { cleared } => Prompted::Interrupted { cleared },
            Typed::End => Prompted::End,
        })
    }

    fn next_line(&mut self, cards: &Cards) -> typeahead::Next {
        match (self.returned.take(), self.begun.take()) {
            (Some((text, why)), _) => {
                // What was typed since stays behind it.
                self.conversation.typing().see(cards);
                typeahead::Next::Return { text, why }
            }
            (None, Some((text, begun_under))) => {
                self.conversation.typing().see(cards);
                typeahead::Next::Continue { text, begun_under }
            }
            (None, None) => self.conversation.typing().next(cards),
        }
    }

    /// Sends what waited, and shows it as if it had been typed at the prompt.
    async fn send_queued(&mut self, text: String) -> Result<Next, Failure> {
        let prompt = prompt(&self.conversation).await;
        match &mut self.surface {
            Surface::Lines(editor) => {
                self.screen.print(&format!("{}{}\n", prompt.styled, shown(&text)))?;
                editor.remember(&text);
            }
            Surface::Inline => self.view.sent(&text)?,
        }
        self.send(text).await
    }

    /// Reads a line, and what was typed at once after it.
    async fn read_line(&mut self, line: &BegunLine) -> Result<Typed, Failure> {
        let Surface::Lines(editor) = &mut self.surface else { return Ok(Typed::End) };
        let prefilled = editor.can_prefill();
        if let Some(why) = line.why {
            let again = if prefilled { String::new() } else { format!(" Type it again: {}", line.text) };
            self.screen.print(&lines::note("↩", &format!("{}{again}", why.explanation()), screen::width()))?;
        }
        for waiting in self.conversation.typing().queue().shown() {
            self.screen.print(&format!("{}\n", paint(&fit(&waiting, screen::width()), DIM)))?;
        }
        self.screen.print(&legend(&self.last))?;
        if !prefilled && let (None, false) = (line.why, line.text.is_empty()) {
            self.screen.print(&format!("{}\n", paint(&format!("Type it whole: {}…", line.text), DIM)))?;
        }
        let arguments = KnownArguments::read(self.conversation.agent(), self.conversation.session()).await;
        editor.offer(self.last.short_answers(), arguments);
        let prompt = prompt(&self.conversation).await;
        let _ = self.conversation.typing().pause();
        let begun = if prefilled { line.text.as_str() } else { "" };
        let (engine, session) = (self.conversation.agent().engine(), self.conversation.session());
        let mut elsewhere = Elsewhere::new(engine, &self.feed, session, &self.last);
        let typed = editor.read(&prompt, begun, self.conversation.signals(), &mut elsewhere).await?;
        self.conversation.typing().listen();
        self.conversation.typing().push(editor.take_rest());
        Ok(typed)
    }

    async fn send(&mut self, text: String) -> Result<Next, Failure> {
        if wants_to_leave(&text) {
            return Ok(Next::Leave);
        }
        if let Some(command) = local::parse(&text) {
            return self.carry_out(command).await;
        }
        let switch = switching::whole(self.conversation.agent(), self.conversation.session(), &text).await;
        // A store that cannot be reached is reported by the command itself.
        match switch.unwrap_or(SwitchLine::AsTyped) {
            SwitchLine::AsTyped => {
                let next = self.exchange(ExchangeStart::Text(&text)).await?;
                if text.trim().eq_ignore_ascii_case("/help") {
                    self.view.message(&local::help())?;
                    self.view.give_up()?;
                }
                Ok(next)
            }
            SwitchLine::Whole(text) => self.exchange(ExchangeStart::Text(&text)).await,
            SwitchLine::Several(list) => {
                self.view.message(&list)?;
                self.view.give_up()?;
                Ok(Next::GoOn)
            }
        }
    }

    async fn exchange(&mut self, asked: ExchangeStart<'_>) -> Result<Next, Failure> {
        let (session, begun) = (self.conversation.session().clone(), Instant::now());
        let exchanged = self.conversation.exchange(asked, self.view.as_mut()).await;
        if exchanged.is_ok() {
            self.conversation.watch_runs(self.view.as_mut()).await?;
        }
        if begun.elapsed() >= ALERT_AFTER {
            alert::tell(self.alert)?;
        }
        match exchanged? {
            ExchangeResult::Answer(answer) => {
                if answer.session != session {
                    self.read = LastRead::Nothing;
                    self.take_model_of_session()?;
                }
                // It was asked in the moment in which the text was sent.
                if let (ExchangeStart::Text(text), Some(RefusalCode::StaleApproval), Some(_)) =
                    (asked, answer.refusal, &answer.ask)
                {
                    self.returned = Some((text.to_owned(), ReturnReason::Changed));
                }
                Ok(Next::GoOn)
            }
            ExchangeResult::Nothing => Ok(Next::GoOn),
            ExchangeResult::Failed(failure) => {
                self.report(&failure)?;
                Ok(Next::GoOn)
            }
            ExchangeResult::Left => Ok(Next::Leave),
        }
    }
}

enum Next {
    GoOn,
    Leave,
}

/// The letters that stand for something while these cards are on the screen.
fn legend(cards: &Cards) -> String {
    let answers = short_answers::legend(cards.short_answers());
    if answers.is_empty() {
        return String::new();
    }
    let mut spans = Vec::new();
    for (letter, label) in &answers {
        let gap = if spans.is_empty() { "" } else { " · " };
        spans.extend([Span::new(gap, DIM), Span::new(letter, COMMAND), Span::new(&format!(" {label}"), DIM)]);
    }
    spans.push(Span::new(" · then Enter", DIM));
    wrapped(&spans)
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

fn wrapped(spans: &[Span]) -> String {
    wrap(spans, screen::width()).iter().map(|line| format!("{}\n", painted(line))).collect()
}
