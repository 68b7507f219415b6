//! The models that a person chose for sessions with `/model`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use planwright_agent::Agent;
use planwright_core::session::SessionIdentity;

use crate::failure::Failure;

const FILE: &str = "chat_models.json";

/// Makes an agent in which the named model answers.
pub(crate) type MakeAgent = Box<dyn Fn(&str) -> Result<Agent, Failure>>;

/// Which model a person chose for which session.
#[derive(Debug, Clone)]
pub(crate) struct SessionModels {
    path: PathBuf,
}

impl SessionModels {
    pub(crate) fn new(data: &Path) -> Self {
        Self { path: data.join(FILE) }
    }

    pub(crate) fn of(&self, session: &SessionIdentity) -> Option<String> {
        self.read().remove(&session.to_string())
    }

    pub(super) fn remember(&self, session: &SessionIdentity, model: &str) -> Result<(), Failure> {
        let mut models = self.read();
        models.insert(session.to_string(), model.to_owned());
        let text = serde_json::to_string_pretty(&models).unwrap_or_default();
        let unfinished = self.path.with_extension(format!("json.{}", std::process::id()));
        let write = || fs::write(&unfinished, text + "\n").and_then(|()| fs::rename(&unfinished, &self.path));
        write().map_err(|error| Failure::unavailable(format!("{} cannot be written: {error}", self.path.display())))
    }

    /// A file that cannot be read counts as empty.
    fn read(&self) -> BTreeMap<String, String> {
        serde_json::from_str(&fs::read_to_string(&self.path).unwrap_or_default()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_session_has_a_model_of_its_own() {
        let data = tempfile::tempdir().unwrap();
        let models = SessionModels::new(data.path());
        let [one, two]: [SessionIdentity; 2] = ["cli:first-one", "cli:second-one"].map(|name| name.parse().unwrap());
        models.remember(&one, "openai:gpt-5").unwrap();
        models.remember(&one, "ollama:qwen3").unwrap();
        assert_eq!(models.of(&one).as_deref(), Some("ollama:qwen3"));
        assert_eq!(models.of(&two), None);
        fs::write(data.path().join(FILE), "not json").unwrap();
        assert_eq!(models.of(&one), None);
    }
}
