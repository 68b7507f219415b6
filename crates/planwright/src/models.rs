//! The models that answer: those that specialists name, each connected once, and one that is tried out.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use planwright_core::model::{ModelMessage, ModelRequest};
use planwright_core::policy::Policy;
use planwright_engine::model::{EmbeddingModel, Model, ModelCatalog, Silent};
use planwright_llm::{ChooseError, MissingEmbeddings, ModelChoice, Options, connect, connect_embeddings};

use crate::config::ModelSettings;
use crate::failure::Failure;

#[derive(Debug)]
pub(crate) struct ConfiguredModels {
    options: Options,
    connected: Mutex<HashMap<String, Arc<dyn Model>>>,
}

impl ConfiguredModels {
    /// A specialist of the configuration whose model cannot be reached, such as one without a key, is a wrong setting.
    pub(crate) fn connect(settings: &ModelSettings, policy: &Policy) -> Result<Self, Failure> {
        let models = Self { options: options(settings), connected: Mutex::default() };
        for specialist in policy.agents.specialists() {
            if let Some(name) = &specialist.options.model {
                let wrong = |error: ChooseError| {
                    Failure::usage(format!("the model of the specialist {}: {error}", specialist.name))
                };
                models.connected(name).map_err(wrong)?;
            }
        }
        Ok(models)
    }

    fn connected(&self, name: &str) -> Result<Arc<dyn Model>, ChooseError> {
        let choice: ModelChoice = name.parse()?;
        let mut connected = self.connected.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(model) = connected.get(name) {
            return Ok(Arc::clone(model));
        }
        let model = connect(&choice, |name| std::env::var(name).ok(), self.options.clone())?;
        connected.insert(name.to_owned(), Arc::clone(&model));
        Ok(model)
    }
}

impl ModelCatalog for ConfiguredModels {
    fn model(&self, name: &str) -> Result<Arc<dyn Model>, String> {
        self.connected(name).map_err(|error| error.to_string())
    }
}

/// Asks a model for one word. The error says why it does not answer.
pub(crate) async fn try_out(choice: &ModelChoice, settings: &ModelSettings) -> Result<(), String> {
    let model =
        connect(choice, |name| std::env::var(name).ok(), options(settings)).map_err(|error| error.to_string())?;
    let request = ModelRequest {
        system: String::new(),
        messages: vec![ModelMessage::User { text: "Answer with one word: ready".to_owned() }],
        tools: Arc::default(),
        // Some models think before they answer.
        max_output_tokens: Some(64),
    };
    model.reply(&request, &Silent).await.map(drop).map_err(|error| error.message)
}

/// How every model of this process is called.
pub(crate) fn options(settings: &ModelSettings) -> Options {
    Options { context_tokens: settings.context_tokens, limits: settings.limits.clone(), ..Options::default() }
}

/// The embedding model. Searches say why they do without one that cannot be set up.
pub(crate) fn embeddings(choice: &ModelChoice) -> Arc<dyn EmbeddingModel> {
    let lookup = |name: &str| std::env::var(name).ok();
    connect_embeddings(choice, lookup)
        .unwrap_or_else(|error| Arc::new(MissingEmbeddings { choice: choice.to_string(), reason: error.to_string() }))
}
