//! Which session is meant on a transport.

use planwright_core::refusal::Refusal;
use planwright_core::session::{SessionIdentity, TransportChat};
use planwright_engine::ledger::LedgerError;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::TransactionError;
use super::rows::{session_id, text};

pub(super) fn point(
    connection: &Connection,
    chat: &TransportChat,
    session: &SessionIdentity,
) -> Result<(), TransactionError> {
    let id = session_id(connection, session)?
        .ok_or_else(|| Refusal::not_found(format!("There is no session {session}.")))?;
    let sql = "INSERT INTO pointer (transport, session_id, used)
               VALUES (?1, ?2, 1 + coalesce((SELECT max(used) FROM pointer WHERE transport = ?1), 0))
               ON CONFLICT (transport, session_id) DO UPDATE SET used = excluded.used";
    connection.prepare_cached(sql)?.execute(params![chat.0, id])?;
    Ok(())
}

pub(super) fn active_session(
    connection: &Connection,
    chat: &TransportChat,
) -> Result<Option<SessionIdentity>, TransactionError> {
    let sql = "SELECT s.channel || ':' || s.conversation FROM pointer p JOIN session s ON s.id = p.session_id
               WHERE p.transport = ?1 ORDER BY p.used DESC LIMIT 1";
    let found: Option<String> = connection.prepare_cached(sql)?.query_row([&chat.0], |row| row.get(0)).optional()?;
    Ok(found.map(|name| name.parse()).transpose().map_err(LedgerError::from)?)
}

/// Each transport counts for itself, so what was chosen on one of them stays in its order.
pub(super) fn all(connection: &Connection) -> Result<Vec<(TransportChat, SessionIdentity)>, TransactionError> {
    let sql = "SELECT p.transport, s.channel || ':' || s.conversation
               FROM pointer p JOIN session s ON s.id = p.session_id ORDER BY p.used, p.transport, s.id";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        // A session whose name cannot be read does not hide the others; lists of sessions name it.
        let [transport, name] = [text(row, 0, String::new).ok(), text(row, 1, String::new).ok()];
        let session = name.and_then(|name| name.parse().ok());
        found.extend(transport.map(TransportChat).zip(session));
    }
    Ok(found)
}
