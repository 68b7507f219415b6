//! The commands that the terminal chat carries out by itself.

use planwright_core::model::Usage;
use planwright_core::plan::reference::PlanReference;
use planwright_core::visible::{quoted, visible};
use planwright_engine::history::SessionUsage;
use planwright_llm::{OfferedModels, Provider, offered_models};

use super::{ExchangeStart, Next, Talk};
use crate::chat::local::LocalCommand;
use crate::chat::shell::ShellEnd;
use crate::chat::typeahead::Cards;
use crate::chat::waiting::LastRead;
use crate::failure::Failure;
use crate::terminal::theme::Theme;
use crate::terminal::{file_diff, live, screen};

/// How many models of a provider are listed.
const MAX_MODELS: usize = 8;
/// Clears the window, and leaves what was scrolled out of it.
const CLEAR: &str = "\u{1b}[H\u{1b}[2J";

impl Talk {
    pub(super) async fn carry_out(&mut self, command: Result<LocalCommand, String>) -> Result<Next, Failure> {
        let told = match command {
            Ok(LocalCommand::Context) => return self.exchange(ExchangeStart::Text("/status")).await,
            Ok(LocalCommand::Clear) => {
                live::put(CLEAR, "")?;
                // What waits is drawn again below.
                self.conversation.forget_what_is_seen();
                (self.read, self.last) = (LastRead::Nothing, Cards::default());
                return Ok(Next::GoOn);
            }
            Ok(LocalCommand::SendComments) => return self.send_comments().await,
            Ok(LocalCommand::Run(line)) => return self.shell(&line).await,
            Ok(LocalCommand::Edit) => self.edit().await,
            Ok(LocalCommand::EditPlan(plan)) => self.edit_plan(&plan).await,
            Ok(LocalCommand::Pick(plan)) => self.pick(plan.as_ref()).await,
            Ok(LocalCommand::Page(plan)) => self.page(plan.as_ref()).await,
            Ok(LocalCommand::Comment { step, text }) => self.comment(step, &text).await,
            Ok(LocalCommand::Theme(None)) => Ok(themes()),
            Ok(LocalCommand::Theme(Some(name))) => self.choose_theme(&name),
            Ok(LocalCommand::Preview(plan)) => self.preview(plan.as_ref()).await,
            Ok(LocalCommand::Cost) => self.cost().await,
            Ok(LocalCommand::Model(None)) => Ok(self.models().await),
            Ok(LocalCommand::Model(Some(name))) => self.switch_model(&name),
            Err(mistake) => Ok(LocalReply::Markdown(mistake)),
        };
        match told {
            Ok(LocalReply::Markdown(text)) => self.view.message(&text)?,
            Ok(LocalReply::Drawn(text)) => self.view.drawn(&text)?,
            Ok(LocalReply::Send(text)) => {
                self.view.sent(&text)?;
                return self.exchange(ExchangeStart::Text(&text)).await;
            }
            Err(failure) => self.report(&failure)?,
        }
        self.view.give_up()?;
        Ok(Next::GoOn)
    }

    /// What the person writes in the editor is sent next, as if they had typed it while this was on the screen.
    async fn edit(&mut self) -> Result<LocalReply, Failure> {
        let text = self.edited("").await?;
        if text.trim().is_empty() {
            return Ok(LocalReply::Markdown("Nothing was written, and nothing is sent.".to_owned()));
        }
        self.conversation.typing().queue().push(text.trim_end().to_owned(), &self.last);
        Ok(LocalReply::Drawn(String::new()))
    }

    async fn preview(&self, plan: Option<&PlanReference>) -> Result<LocalReply, Failure> {
        let (agent, session) = (self.conversation.agent(), self.conversation.session());
        let plan = agent.engine().plans().find(session, plan).await?;
        let previews = agent.workspace_files().preview(&plan).await?;
        Ok(LocalReply::Drawn(file_diff::render_preview(plan.number, &previews, screen::width())))
    }

    async fn cost(&self) -> Result<LocalReply, Failure> {
        let (engine, session) = (self.conversation.agent().engine(), self.conversation.session());
        let usage = engine.history().session_usage(session).await?;
        let price = |model: &str, usage: Usage| engine.policy().auto.cost(model, usage);
        Ok(LocalReply::Markdown(describe_cost(&usage, price)))
    }

    /// Which model answers, and which the providers offer whose keys are set.
    async fn models(&self) -> LocalReply {
        let model = visible(self.conversation.agent().model().name()).into_owned();
        let mut text = format!("`{model}` answers. `/model PROVIDER:NAME` switches for this session.");
        for provider in Provider::ALL {
            let offered = offered_models(provider, |name| std::env::var(name).ok()).await;
            let OfferedModels::Names(names) = offered else { continue };
            let shown: Vec<_> = names
                .iter()
                .take(MAX_MODELS)
                .map(|name| format!("`{}`", visible(&format!("{provider}:{name}"))))
                .collect();
            let more = names.len().saturating_sub(MAX_MODELS);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            text.push_str(&format!("\n- {}: {}{more}", provider.title(), shown.join(", ")));
        }
        LocalReply::Markdown(text)
    }

    fn choose_theme(&self, name: &str) -> Result<LocalReply, Failure> {
        let Some(theme) = Theme::named(name) else { return Ok(themes()) };
        self.theme.remember(theme)?;
        Ok(LocalReply::Markdown(format!("From now on colours are drawn as in the theme `{}`.", theme.name())))
    }

    async fn shell(&mut self, line: &str) -> Result<Next, Failure> {
        let end = self.conversation.run_shell(line, self.view.as_mut()).await?;
        self.view.give_up()?;
        Ok(match end {
            ShellEnd::Ended => Next::GoOn,
            ShellEnd::Left => Next::Leave,
        })
    }

    /// Another model answers in this session from now on, also in the next chat.
    fn switch_model(&mut self, name: &str) -> Result<LocalReply, Failure> {
        let session = self.conversation.session().clone();
        if self.conversation.agent().drives(&session) {
            let text = "The agent works here by itself with the model that it began with. `/auto off` ends that first.";
            return Ok(LocalReply::Markdown(text.to_owned()));
        }
        let agent = (self.make_agent)(name)?;
        self.conversation.change_agent(agent);
        self.models.remember(&session, name)?;
        Ok(LocalReply::Markdown(format!("{} answers in this session from now on.", quoted(name))))
    }

    /// In another session the model answers that was chosen for it.
    pub(super) fn take_model_of_session(&mut self) -> Result<(), Failure> {
        let session = self.conversation.session().clone();
        let Some(name) = self.models.of(&session) else { return Ok(()) };
        if name == self.conversation.agent().model().name() || self.conversation.agent().drives(&session) {
            return Ok(());
        }
        match (self.make_agent)(&name) {
            Ok(agent) => self.conversation.change_agent(agent),
            Err(failure) => self.report(&failure)?,
        }
        Ok(())
    }
}

/// What a person reads after a command.
pub(super) enum LocalReply {
    Markdown(String),
    /// As it is written to the terminal.
    Drawn(String),
    /// This is sent, as if they had typed it.
    Send(String),
}

fn themes() -> LocalReply {
    let chosen = Theme::chosen();
    let line = |(name, theme, about): (&str, Theme, &str)| {
        let mark = if theme == chosen { " (chosen)" } else { "" };
        format!("- `/theme {name}`: {about}{mark}")
    };
    LocalReply::Markdown(Theme::ALL.into_iter().map(line).collect::<Vec<_>>().join("\n"))
}

/// A line for each model, and the sum if there are several.
fn describe_cost(usage: &SessionUsage, price: impl Fn(&str, Usage) -> Option<u64>) -> String {
    if usage.is_empty() {
        return "No model was called in this session yet.".to_owned();
    }
    let spent = |micros: Option<u64>| micros.map_or_else(String::new, |micros| format!(", {}", money(micros)));
    let tokens = |usage: Usage| format!("{} tokens read, {} written", usage.input_tokens, usage.output_tokens);
    let line = |(model, usage): (&String, &Usage)| {
        format!("- `{}`: {}{}", visible(model), tokens(*usage), spent(price(model, *usage)))
    };
    let mut lines: Vec<_> = usage.iter().map(line).collect();
    if usage.len() > 1 {
        let whole = usage.values().fold(Usage::default(), |sum, usage| sum + *usage);
        let costs: Option<u64> = usage.iter().map(|(model, usage)| price(model, *usage)).sum();
        lines.push(format!("- together: {}{}", tokens(whole), spent(costs)));
    }
    if usage.iter().any(|(model, usage)| price(model, *usage).is_none()) {
        lines.push("\nWhat a model costs is said by `[[prices]]` in the configuration.".to_owned());
    }
    lines.join("\n")
}

/// `0.0123` of whatever currency the prices are in.
fn money(micros: u64) -> String {
    format!("{}.{:04}", micros / 1_000_000, micros % 1_000_000 / 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_of_a_session_is_told_for_each_model() {
        let none = |_: &str, _: Usage| None;
        assert_eq!(describe_cost(&SessionUsage::new(), none), "No model was called in this session yet.");
        let usage: SessionUsage = [
            ("big".to_owned(), Usage { input_tokens: 1_000, output_tokens: 50 }),
            ("small".to_owned(), Usage { input_tokens: 10, output_tokens: 5 }),
        ]
        .into();
        let price = |model: &str, _: Usage| (model == "big").then_some(1_234_567);
        assert_eq!(
            describe_cost(&usage, price),
            "- `big`: 1000 tokens read, 50 written, 1.2345\n- `small`: 10 tokens read, 5 written\n- together: 1010 tokens read, \
             55 written\n\nWhat a model costs is said by `[[prices]]` in the configuration."
        );
        assert!(describe_cost(&usage, |_, _| Some(500_000)).contains("together: 1010 tokens read, 55 written, 1.0000"));
    }
}
