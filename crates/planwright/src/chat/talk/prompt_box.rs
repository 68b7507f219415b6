//! The prompt of the inline interface: the box is drawn, and each key is followed, until the person sends something.

use std::path::Path;
use std::time::{Duration, Instant};

use planwright_core::model::Usage;
use tokio::time::timeout;

use super::{BegunLine, Talk};
use crate::chat::conversation::ChatConversation;
use crate::chat::elsewhere::Elsewhere;
use crate::chat::inline::input_box::{Pressed, SentText};
use crate::chat::inline::status_line::StatusLine;
use crate::chat::known_arguments::KnownArguments;
use crate::chat::lines;
use crate::chat::typeahead::{Cards, Key};
use crate::external_editor;
use crate::failure::Failure;
use crate::signals::{Signal, WindowChange, WindowChanges};
use crate::terminal::{live, screen};

/// What the person did at the prompt.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Prompted {
    Text(Box<SentText>),
    /// Ctrl+C; `cleared` if something was typed.
    Interrupted {
        cleared: bool,
    },
    /// The person leaves, or the terminal is gone, or the program is to end.
    End,
}

/// What happens while the person types.
enum PromptEvent {
    Signal(Signal),
    Keys,
    /// A letter may count now, or decide.
    Due,
    Window(WindowChange),
    /// Something was decided elsewhere.
    Told(String),
}

impl Talk {
    pub(super) async fn read_box(&mut self, line: BegunLine, cards: &Cards) -> Result<Prompted, Failure> {
        let (status, project) = status_line(&self.conversation).await;
        let arguments = KnownArguments::read(self.conversation.agent(), self.conversation.session()).await;
        let is_returned = line.why.is_some();
        if is_returned {
            self.conversation.typing().wait_for_reader();
        }
        let notice = line.why.map(|why| why.explanation()).or(self.notice.take()).map(str::to_owned);
        if let Some(input) = self.conversation.typing().input() {
            input.know(arguments, project.as_deref(), status);
            input.begin_prompt(line.in_box(cards), notice, is_returned);
        }
        let (engine, session) = (self.conversation.agent().engine().clone(), self.conversation.session().clone());
        let mut elsewhere = Elsewhere::new(&engine, &self.feed, &session, &self.last);
        let mut changes = WindowChanges::new()?;
        let prompted = loop {
            self.draw_box(cards)?;
            let event = self.event(&mut elsewhere, &mut changes).await;
            if let Some(prompted) = self.handle(event).await? {
                break prompted;
            }
        };
        if let Some(input) = self.conversation.typing().input() {
            input.end_prompt();
        }
        Ok(prompted)
    }

    fn draw_box(&mut self, cards: &Cards) -> Result<(), Failure> {
        let typing = self.conversation.typing();
        let offered = typing.counts_from().is_none().then(|| cards.short_answers());
        if let Some(input) = typing.input() {
            input.offer(offered);
        }
        let drawn = typing.drawn(live::width(), screen::window().1);
        drawn.map_or(Ok(()), |drawn| self.view.input(drawn))
    }

    async fn event(&mut self, elsewhere: &mut Elsewhere, changes: &mut WindowChanges) -> PromptEvent {
        let (signals, typing) = self.conversation.signals_and_typing();
        let decides = typing.input().and_then(|input| input.decides_at());
        let due = decides.into_iter().chain(typing.counts_from()).min();
        let due = async {
            match due {
                Some(at) => tokio::time::sleep(at.saturating_duration_since(Instant::now())).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            signal = signals.next() => PromptEvent::Signal(signal),
            () = typing.wait() => PromptEvent::Keys,
            () = due => PromptEvent::Due,
            change = changes.next() => PromptEvent::Window(change),
            told = elsewhere.next() => PromptEvent::Told(told),
        }
    }

    async fn handle(&mut self, event: PromptEvent) -> Result<Option<Prompted>, Failure> {
        match event {
            PromptEvent::Signal(Signal::Interrupt) => {
                // What was typed before Ctrl+C is cleared with the rest.
                if let Some(prompted) = self.press_keys().await? {
                    return Ok(Some(prompted));
                }
                let cleared = self.conversation.typing().input().is_some_and(|input| input.clear());
                return Ok(Some(Prompted::Interrupted { cleared }));
            }
            PromptEvent::Signal(Signal::Terminate | Signal::Hangup) => return Ok(Some(Prompted::End)),
            PromptEvent::Keys if self.conversation.typing().is_gone() => return Ok(Some(Prompted::End)),
            PromptEvent::Keys => return self.press_keys().await,
            PromptEvent::Due => {
                // A key that is there already comes before the end of the delay.
                if let Some(prompted) = self.press_keys().await? {
                    return Ok(Some(prompted));
                }
                let decision = self.conversation.typing().input().and_then(|input| input.take_decision());
                return Ok(decision.map(|sent| Prompted::Text(Box::new(sent))));
            }
            PromptEvent::Window(WindowChange::Resized) => {}
            PromptEvent::Window(WindowChange::Continued) => {
                self.conversation.typing().listen_again();
                self.view.forget_rows();
            }
            PromptEvent::Told(text) => self.view.line(&lines::note("↻", &text, screen::width()))?,
        }
        Ok(None)
    }

    /// Follows the keys that were pressed. Those after the one that sends are typed ahead.
    async fn press_keys(&mut self) -> Result<Option<Prompted>, Failure> {
        let mut prompted = None;
        let typing = self.conversation.typing();
        for key in typing.keys() {
            match prompted {
                None => prompted = self.press(key).await?,
                Some(_) => self.conversation.typing().press(key),
            }
        }
        Ok(prompted)
    }

    async fn press(&mut self, key: Key) -> Result<Option<Prompted>, Failure> {
        let typing = self.conversation.typing();
        let pressing = typing.pressing(typing.start());
        let Some(input) = typing.input() else { return Ok(Some(Prompted::End)) };
        match input.press(key, &pressing) {
            Pressed::Taken => {}
            Pressed::Sent(sent) => {
                if !sent.text.trim().is_empty() {
                    input.remember(&sent.text);
                }
                input.end_prompt();
                return Ok(Some(Prompted::Text(sent)));
            }
            Pressed::Escape => {
                input.clear();
            }
            Pressed::End => return Ok(Some(Prompted::End)),
            Pressed::TakeBack => typing.take_back(),
            Pressed::OpenEditor => self.edit_box().await?,
            Pressed::ClearScreen => {
                let sent = SentText { text: "/clear".to_owned(), begun: pressing.start };
                return Ok(Some(Prompted::Text(Box::new(sent))));
            }
        }
        Ok(None)
    }

    /// What is in the box is edited in the person's editor, and is in the box again.
    async fn edit_box(&mut self) -> Result<(), Failure> {
        let text = self.conversation.typing().input().map(|input| input.text()).unwrap_or_default();
        self.view.leave()?;
        let edited = match self.edited(&text).await {
            Ok(edited) => edited,
            Err(failure) => return self.report(&failure),
        };
        let start = self.conversation.typing().start();
        if let Some(input) = self.conversation.typing().input() {
            input.replace(edited.trim_end(), start);
        }
        Ok(())
    }

    /// Opens the person's editor with a text, and gives what is in the file then.
    pub(super) async fn edited(&mut self, text: &str) -> Result<String, Failure> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("message.md");
        std::fs::write(&path, text)?;
        self.outside(|| external_editor::open(&path)).await?;
        Ok(std::fs::read_to_string(&path)?)
    }

    /// Leaves the terminal to another program until it ends.
    pub(super) async fn outside(&mut self, program: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
        let paused = self.conversation.typing().pause();
        let ended = program();
        self.conversation.typing().resume(paused);
        // Ctrl+C in the other program was for that one.
        while timeout(Duration::ZERO, self.conversation.signals().next()).await.is_ok() {}
        ended
    }
}

/// What stands below the box, and the folder of the project that the session works in.
async fn status_line(conversation: &ChatConversation) -> (StatusLine, Option<String>) {
    let (agent, session) = (conversation.agent(), conversation.session());
    let engine = agent.engine();
    // A store that cannot be reached is reported when an input needs it.
    let snapshot = engine.sessions().snapshot(session).await.ok();
    let usage = engine.history().session_usage(session).await.unwrap_or_default();
    let whole = usage.values().fold(Usage::default(), |sum, usage| sum + *usage);
    let project =
        snapshot.as_ref().and_then(|snapshot| snapshot.session.as_deref()?.workspace.project().map(str::to_owned));
    let status = StatusLine {
        place: project.as_deref().map_or_else(|| session.to_string(), below_home),
        model: agent.model().name().to_owned(),
        plan: snapshot.as_ref().and_then(|snapshot| snapshot.active()).map(|plan| (plan.number, plan.status)),
        context: agent.context_percent(session),
        tokens: whole.total(),
        cost: usage.iter().map(|(model, usage)| engine.policy().auto.cost(model, *usage)).sum(),
    };
    (status, project)
}

/// `~/shop`
fn below_home(path: &str) -> String {
    let home = dirs::home_dir();
    let below = home.as_deref().and_then(|home| Path::new(path).strip_prefix(home).ok()).and_then(Path::to_str);
    below.map_or_else(|| path.to_owned(), |below| format!("~/{below}"))
}
