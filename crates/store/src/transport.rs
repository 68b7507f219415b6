//! What a transport may be called. The name is opaque; it only has to fit into every database.

use planwright_core::refusal::Refusal;
use planwright_core::session::TransportChat;

const MAX_BYTES: usize = 200;

/// Refuses a name that cannot be stored.
pub(crate) fn check(transport: &TransportChat) -> Result<(), Refusal> {
    let TransportChat(name) = transport;
    if name.len() > MAX_BYTES {
        return Err(Refusal::limit(format!(
            "The transport's name has {} bytes; at most {MAX_BYTES} are taken.",
            name.len()
        )));
    }
    // PostgreSQL takes each character but one.
    if name.contains('\0') {
        return Err(Refusal::invalid("A transport's name cannot have a NUL character in it."));
    }
    Ok(())
}
