//! Documents and photos that a person sends become files of the session.

use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::{LedgerError, LedgerResult};

use crate::api::ApiError;
use crate::context::BotContext;
use crate::update::Attachment;

/// The path of the file, or words for the person why it was not taken.
pub(crate) async fn receive(
    context: &BotContext,
    session: &SessionIdentity,
    attachment: &Attachment,
) -> LedgerResult<Result<String, String>> {
    let most = context.options.file_bytes;
    let too_large = || Ok(Err(format!("The file is too large; at most {most} bytes are taken.")));
    if attachment.size.is_some_and(|size| size > most) {
        return too_large();
    }
    let content = match context.api.download(&attachment.file, most).await {
        Ok(Some(content)) => content,
        Ok(None) => return too_large(),
        Err(error @ (ApiError::Unavailable(_) | ApiError::TooMany(_))) => {
            return Err(LedgerError::Unavailable(error.to_string()));
        }
        Err(error) => return Ok(Err(format!("The file could not be taken: {error}."))),
    };
    let name = attachment.name.as_deref().unwrap_or("photo.jpg");
    match context.agent.receive_file(session, name, content).await {
        Ok(path) => Ok(Ok(path)),
        Err(LedgerError::Refused(refusal)) => Ok(Err(refusal.message)),
        Err(error) => Err(error),
    }
}
