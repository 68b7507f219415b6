//! From the choice of a model to the model.

use std::sync::Arc;

use planwright_engine::model::Model;

use crate::choose::{ChooseError, ModelChoice, ProviderSettings};
use crate::context_window::{ModelServer, context_tokens};
use crate::options::Options;
use crate::provider::ProviderModel;
use crate::rehearsal::RehearsalModel;

/// The chosen model. Keys and addresses come from the providers' own variables, such as `OPENAI_API_KEY`.
pub fn connect(
    choice: &ModelChoice,
    lookup: impl Fn(&str) -> Option<String>,
    options: Options,
) -> Result<Arc<dyn Model>, ChooseError> {
    match choice {
        ModelChoice::Rehearsal => Ok(Arc::new(
            options.context_tokens.map_or_else(RehearsalModel::default, RehearsalModel::with_context_tokens),
        )),
        ModelChoice::Provided { provider, name } => {
            let settings = ProviderSettings::read(*provider, &lookup)?;
            if settings.needs_a_key() {
                return Err(ChooseError::NoKey { choice: choice.clone(), variable: provider.key_variable() });
            }
            let server = if settings.is_the_providers() { ModelServer::Official } else { ModelServer::SelfHosted };
            let window = options.context_tokens.or(settings.context_tokens());
            let window = window.unwrap_or_else(|| context_tokens(*provider, name, server));
            let model = ProviderModel::new(choice, name, settings, window, options)
                .map_err(|reason| ChooseError::NotSetUp { choice: choice.clone(), reason })?;
            Ok(Arc::new(model))
        }
    }
}
