//! What a person reads first: where they are, who answers, and how to find out more.

use planwright_core::session::Session;
use planwright_llm::Provider;

use super::wrapped;
use crate::chat::conversation::ChatConversation;
use crate::config::ChatInterface;
use crate::failure::Failure;
use crate::terminal::palette::{BOLD, COMMAND, DIM, WARNING};
use crate::terminal::text::{Span, shown_line};

/// The plan that the rehearsal carries out.
const SAMPLE: &str = "/plan mend the sample project";

/// Where one is, who answers, and how to find out more.
pub(super) async fn welcome(conversation: &ChatConversation, interface: ChatInterface) -> Result<String, Failure> {
    let session = conversation.agent().engine().sessions().get(conversation.session()).await?;
    let model = conversation.agent().model().name();
    let mut text = head(&session, model);
    if model == planwright_llm::rehearsal::NAME {
        let notice = "This is a rehearsal: the built-in model answers by rules, offline and without a key. For a real one: \
                     planwright setup, --model openai:NAME (or anthropic:, gemini:, ollama:), or PLANWRIGHT_MODEL.";
        text.push_str(&wrapped(&[Span::new(notice, WARNING)]));
        let sample = [Span::new("To see the whole way in a minute: ", DIM), Span::new(SAMPLE, COMMAND)];
        text.push_str(&wrapped(&sample));
        let has_key =
            |provider: &Provider| std::env::var(provider.key_variable()).is_ok_and(|key| !key.trim().is_empty());
        for provider in Provider::ALL.into_iter().filter(has_key) {
            let hint = format!(
                "{} is set: `/model {provider}:NAME` lets {} answer here; `planwright models` lists the names.",
                provider.key_variable(),
                provider.title()
            );
            text.push_str(&wrapped(&[Span::new(&hint, DIM)]));
        }
    }
    let keys = match interface {
        ChatInterface::Plain => {
            " leaves. Ctrl+C stops the agent, Tab completes, a backslash at the end continues the message in the next line."
        }
        ChatInterface::Inline => {
            " leaves. Esc stops the agent, Ctrl+J begins a new line, Ctrl+R searches what you sent, Ctrl+G opens your editor."
        }
    };
    let hint = [
        Span::new("/help", COMMAND),
        Span::new(" lists the commands, ", DIM),
        Span::new("/quit", COMMAND),
        Span::new(keys, DIM),
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
    if let Some(path) = session.workspace.project() {
        spans.extend([Span::new("  project ", DIM), Span::plain(&shown_line(path))]);
    }
    if let Some(topic) = &session.topic {
        spans.push(Span::new(&format!("  “{}”", shown_line(topic)), DIM));
    }
    wrapped(&spans)
}
