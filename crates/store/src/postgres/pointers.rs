//! Which session is meant on a transport.

use planwright_core::refusal::Refusal;
use planwright_core::session::{SessionIdentity, TransportChat};
use planwright_engine::ledger::LedgerResult;

use super::readers::{Readers, get, sound};
use super::rows;
use crate::{encode, transport};

pub(super) async fn point(readers: &Readers, transport: &TransportChat, session: &SessionIdentity) -> LedgerResult<()> {
    transport::check(transport)?;
    let (conversation, channel) = (session.conversation.as_str(), session.channel.as_str());
    let updated = readers.write(include_str!("sql/point.sql"), &[&transport.0, &conversation, &channel]).await?;
    if updated.is_empty() {
        return Err(Refusal::not_found(format!("There is no session {session}.")).into());
    }
    Ok(())
}

pub(super) async fn active_session(
    readers: &Readers,
    transport: &TransportChat,
) -> LedgerResult<Option<SessionIdentity>> {
    // Nothing was ever chosen on a transport that cannot be stored.
    if transport::check(transport).is_err() {
        return Ok(None);
    }
    // Two that were chosen at the very same moment have the same number.
    let sql = "SELECT session.channel, session.conversation
               FROM pointer JOIN session ON session.id = pointer.session_id
               WHERE pointer.transport = $1 ORDER BY pointer.used DESC, pointer.session_id DESC LIMIT 1";
    let found = readers.query(sql, &[&transport.0]).await?;
    found.first().map(|row| sound(rows::identity(row))).transpose()
}

/// Each transport counts for itself, so what was chosen on one of them stays in its order.
pub(super) async fn all(readers: &Readers) -> LedgerResult<Vec<(TransportChat, SessionIdentity)>> {
    let sql = "SELECT pointer.transport, session.channel, session.conversation
               FROM pointer JOIN session ON session.id = pointer.session_id
               ORDER BY pointer.used, pointer.transport, pointer.session_id";
    let found = readers.query(sql, &[]).await?;
    let mut pointers = Vec::new();
    for row in &found {
        // A session whose name cannot be read does not hide the others; lists of sessions name it.
        if let Ok(session) = encode::set_damage_aside(sound(rows::identity(row)))? {
            pointers.push((TransportChat(get(row, 0)?), session));
        }
    }
    Ok(pointers)
}
