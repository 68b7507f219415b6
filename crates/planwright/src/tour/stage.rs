//! Runs the tour: the person's commands are parsed and run as if they were typed, the agent's calls go to the engine.

use planwright_agent::tools::PlanTools;
use planwright_core::actor::Actor;
use planwright_core::session::SessionIdentity;
use planwright_engine::Engine;
use serde_json::Value;

use crate::cli::{Cli, CliCommand, Global};
use crate::commands;
use crate::failure::{Exit, Failure};
use crate::terminal::markdown;
use crate::terminal::palette::{BOLD, COMMAND, DIM, GOOD, WARNING};
use crate::terminal::screen::Screen;
use crate::terminal::text::{Span, paint, painted, shown, wrap};

pub(super) struct Stage {
    store: Global,
    screen: Screen,
    engine: Engine,
    pauses: bool,
}

/// Why the tour ended early.
pub(super) enum Stopped {
    ByThePerson,
    By(Failure),
}

impl<E: Into<Failure>> From<E> for Stopped {
    fn from(error: E) -> Self {
        Self::By(error.into())
    }
}

impl Stage {
    pub(super) fn new(store: Global, screen: Screen, engine: Engine, pauses: bool) -> Self {
        Self { store, screen, engine, pauses: pauses && screen.interactive }
    }

    /// Begins a chapter after the person pressed Enter.
    pub(super) fn chapter(&mut self, text: &str) -> Result<(), Stopped> {
        if self.pauses {
            let question = paint("Enter continues, q ends the tour ", DIM);
            match self.screen.ask(&format!("\n{question}"))?.as_deref() {
                None | Some("q" | "Q" | "quit") => return Err(Stopped::ByThePerson),
                Some(_) => {}
            }
        }
        self.say(text)
    }

    pub(super) fn say(&self, text: &str) -> Result<(), Stopped> {
        Ok(self.screen.print(&format!("{}\n", markdown::render(text, self.screen.width)))?)
    }

    /// A command that succeeds.
    pub(super) async fn person(&self, line: &str) -> Result<(), Stopped> {
        match self.type_in(line).await? {
            Ok(_) => Ok(self.screen.print("\n")?),
            Err(failure) => Err(Stopped::By(failure)),
        }
    }

    /// A command that fails with this exit code.
    pub(super) async fn person_is_refused(&self, line: &str, expected: Exit) -> Result<(), Stopped> {
        match self.type_in(line).await? {
            Err(failure) if failure.exit == expected => {
                let code = paint(&format!("(exit code {})", expected as u8), DIM);
                Ok(self.screen.print(&format!("{}{code}\n\n", failure.render()))?)
            }
            Err(failure) => Err(Stopped::By(failure)),
            Ok(_) => Err(Stopped::By(Failure::unexpected(format!("`planwright {line}` was not refused")))),
        }
    }

    async fn type_in(&self, line: &str) -> Result<crate::failure::ExitResult, Stopped> {
        self.screen.print(&format!("{} {}\n", paint("$", DIM), paint(&format!("planwright {line}"), COMMAND)))?;
        let words = std::iter::once("planwright").chain(line.split_whitespace());
        let mut cli = Cli::read(words).map_err(|error| Failure::usage(error.to_string()))?;
        cli.global = self.store.clone();
        // The person's own variables name sessions of another store.
        if let CliCommand::Plan(arguments) = &mut cli.command {
            arguments.session = None;
        }
        Ok(Box::pin(commands::run(cli)).await)
    }

    pub(super) async fn agent(&self, session: &SessionIdentity, tool: &str, arguments: Value) -> Result<(), Stopped> {
        let answer = self.call(session, tool, arguments).await?.map_err(Failure::from)?;
        Ok(self.screen.print(&format!("{}\n", self.answered(&answer, &paint("→", GOOD))))?)
    }

    pub(super) async fn agent_is_refused(
        &self,
        session: &SessionIdentity,
        tool: &str,
        arguments: Value,
    ) -> Result<(), Stopped> {
        match self.call(session, tool, arguments).await? {
            Ok(_) => Err(Stopped::By(Failure::unexpected(format!("{tool} was not refused")))),
            Err(refusal) => {
                let answer = serde_json::to_value(&refusal).unwrap_or_default();
                Ok(self.screen.print(&format!("{}\n", self.answered(&answer, &paint("✘", WARNING))))?)
            }
        }
    }

    async fn call(
        &self,
        session: &SessionIdentity,
        tool: &str,
        arguments: Value,
    ) -> Result<Result<Value, planwright_core::refusal::Refusal>, Stopped> {
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        let mut text = format!("{} {}\n", paint("the agent calls", DIM), paint(tool, BOLD));
        for (name, value) in &arguments {
            text.push_str(&self.field(name, value));
        }
        self.screen.print(&text)?;
        let agent = Actor::agent("tour-agent", "mcp");
        Ok(PlanTools::new(&self.engine).call(session, &agent, tool, arguments).await)
    }

    /// Text with line breaks is shown with them.
    fn field(&self, name: &str, value: &Value) -> String {
        match value.as_str() {
            Some(text) if text.contains('\n') => {
                let lines: String = text.lines().map(|line| format!("    {}\n", paint(&shown(line), DIM))).collect();
                format!("  {}\n{lines}", paint(&format!("{name}:"), DIM))
            }
            Some(text) => self.indented(&format!("{name}: {text}")),
            None => self.indented(&format!("{name}: {value}")),
        }
    }

    fn answered(&self, answer: &Value, mark: &str) -> String {
        let fields = answer.as_object().into_iter().flatten();
        let text: String = fields.map(|(name, value)| self.field(name, value)).collect();
        format!("{mark} {}", text.trim_start())
    }

    fn indented(&self, text: &str) -> String {
        wrap(&[Span::new(text, DIM)], self.screen.width.saturating_sub(2))
            .iter()
            .map(|line| format!("  {}\n", painted(line)))
            .collect()
    }

    pub(super) async fn find_session(&self) -> Result<SessionIdentity, Stopped> {
        let page = self.engine.sessions().list(None, 1).await?;
        let first = page.items.into_iter().next();
        Ok(first
            .map(|stored| stored.session.identity)
            .ok_or_else(|| Failure::unexpected("the session did not begin"))?)
    }

    pub(super) async fn digest_of_active(&self, session: &SessionIdentity) -> Result<String, Stopped> {
        Ok(self.engine.plans().active(session).await?.digest().to_string())
    }

    pub(super) fn first_specialist(&self) -> String {
        self.engine.policy().agents.specialists().first().map(|first| first.name.clone()).unwrap_or_default()
    }
}
