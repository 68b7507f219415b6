//! The context window of each family of models, question and answer together.

use crate::choose::Provider;

/// The beginning of a name and its window; the first match counts.
const FAMILIES: [(Provider, &str, u32); 18] = [
    (Provider::OpenAi, "gpt-5", 272_000),
    (Provider::OpenAi, "gpt-4.1", 1_047_576),
    (Provider::OpenAi, "gpt-4o", 128_000),
    (Provider::OpenAi, "gpt-4-turbo", 128_000),
    (Provider::OpenAi, "gpt-4", 8_192),
    (Provider::OpenAi, "gpt-3.5", 16_385),
    (Provider::OpenAi, "gpt-oss", 131_072),
    (Provider::OpenAi, "chatgpt-4o", 128_000),
    (Provider::OpenAi, "o1", 200_000),
    (Provider::OpenAi, "o3", 200_000),
    (Provider::OpenAi, "o4", 200_000),
    (Provider::OpenAi, "claude", 200_000),
    (Provider::OpenAi, "gemini", 1_048_576),
    (Provider::Anthropic, "claude", 200_000),
    (Provider::Gemini, "gemini-1.5-pro", 2_097_152),
    (Provider::Gemini, "gemini", 1_048_576),
    (Provider::Gemini, "gemma", 131_072),
    // Whatever the model could take, the server gives it this window or a smaller one unless it is configured, and drops
    // the beginning of a longer request silently.
    (Provider::Ollama, "", OLLAMA),
];

const OLLAMA: u32 = 8_192;
const DEFAULT: u32 = 128_000;

/// The window that is assumed for a self-hosted server.
const OWN_SERVER: u32 = 32_768;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ModelServer {
    Official,
    SelfHosted,
}

pub(crate) fn context_tokens(provider: Provider, model: &str, server: ModelServer) -> u32 {
    // Routers put the maker before the name: `openai/gpt-4o`.
    let name = model.rsplit('/').next().unwrap_or(model).to_lowercase();
    let known = FAMILIES.iter().find(|(whose, beginning, _)| *whose == provider && name.starts_with(beginning));
    known.map_or(
        match server {
            ModelServer::Official => DEFAULT,
            ModelServer::SelfHosted => OWN_SERVER,
        },
        |(_, _, tokens)| *tokens,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_known_by_their_names() {
        use Provider::{Anthropic, Gemini, Ollama, OpenAi};
        for (provider, name, tokens) in [
            (OpenAi, "gpt-5-mini", 272_000),
            (OpenAi, "openai/GPT-4o", 128_000),
            (OpenAi, "gpt-4-0613", 8_192),
            (OpenAi, "something-new", DEFAULT),
            (Anthropic, "claude-sonnet-4-5", 200_000),
            (Gemini, "gemini-2.5-flash", 1_048_576),
            (Ollama, "qwen3:8b", OLLAMA),
        ] {
            assert_eq!(context_tokens(provider, name, ModelServer::Official), tokens, "{name}");
        }
        assert_eq!(context_tokens(OpenAi, "local", ModelServer::SelfHosted), OWN_SERVER);
    }
}
