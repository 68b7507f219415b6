//! `[memory]`: how memories are found.

use planwright_llm::{ModelChoice, Provider};

use super::setting::{Check, Checked, section};

section! {
    pub(super) struct MemorySection, "memory" {
        "An embedding model by whose vectors memories are also found, such as `openai:text-embedding-3-small`. It is asked at the \
         address in `OPENAI_BASE_URL`. Memories are found by their words without it, and when it fails."
        embeddings: Checked<EmbeddingChoice> => "none",
    }
}

/// A model that makes embeddings.
#[derive(Debug)]
pub(super) enum EmbeddingChoice {}

impl Check for EmbeddingChoice {
    type Value = ModelChoice;
    const KIND: &'static str = "`openai:MODEL`";

    fn check(text: &str) -> Result<ModelChoice, String> {
        match text.parse::<ModelChoice>() {
            Ok(choice @ ModelChoice::Provided { provider: Provider::OpenAi, .. }) => Ok(choice),
            Ok(_) | Err(_) => Err("write `openai:` and the name of an embedding model".to_owned()),
        }
    }

    fn show(value: &ModelChoice) -> String {
        format!("`{value}`")
    }
}
