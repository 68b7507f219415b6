//! Which session is meant in a chat.

use async_trait::async_trait;
use planwright_core::refusal::Refusal;
use planwright_core::session::{SessionIdentity, TransportChat};
use planwright_engine::ledger::{ChatStore, LedgerResult};

use crate::backend::{Backend, SqlLedger};
use crate::outbox::IS_UNDELIVERED;
use crate::sessions::{count, identity};
use crate::sql::{Sql, sql};
use crate::{encode, transport};

#[async_trait]
impl<B: Backend> ChatStore for SqlLedger<B> {
    async fn active_session(&self, transport: &TransportChat) -> LedgerResult<Option<SessionIdentity>> {
        // Nothing was ever chosen on a transport that cannot be stored.
        if transport::check(transport).is_err() {
            return Ok(None);
        }
        // Two that were chosen at the very same moment have the same number.
        let statement = "SELECT session.channel || ':' || session.conversation
                         FROM pointer JOIN session ON session.id = pointer.session_id
                         WHERE pointer.transport = ?1 ORDER BY pointer.used DESC, pointer.session_id DESC LIMIT 1";
        let rows = self.0.lookup(sql!(statement, &transport.0)).await?;
        rows.first().map(|row| identity(row, 0)).transpose()
    }

    async fn point(&self, transport: &TransportChat, session: &SessionIdentity) -> LedgerResult<()> {
        transport::check(transport)?;
        // The session's row is locked, so that it is not deleted meanwhile.
        let statement = format!(
            "WITH held AS (SELECT id FROM session WHERE conversation = ?2 AND channel = ?3 {})
             INSERT INTO pointer (transport, session_id, used)
             SELECT ?1, id, 1 + coalesce((SELECT max(used) FROM pointer WHERE transport = ?1), 0) FROM held WHERE true
             ON CONFLICT (transport, session_id) DO UPDATE SET used = excluded.used
             RETURNING used",
            B::LOCK_ROW
        );
        let (conversation, channel) = (session.conversation.as_str(), session.channel.as_str());
        if self.0.write(sql!(statement, &transport.0, conversation, channel)).await?.is_empty() {
            return Err(Refusal::not_found(format!("There is no session {session}.")).into());
        }
        Ok(())
    }

    async fn count_undelivered(&self) -> LedgerResult<u64> {
        count(&self.0, sql!(format!("SELECT count(*) FROM outbox WHERE {IS_UNDELIVERED}"))).await
    }
}

/// Each transport counts for itself, so what was chosen on one of them stays in its order.
pub(crate) async fn all(sql: &impl Sql) -> LedgerResult<Vec<(TransportChat, SessionIdentity)>> {
    let statement = "SELECT pointer.transport, session.channel || ':' || session.conversation
                     FROM pointer JOIN session ON session.id = pointer.session_id
                     ORDER BY pointer.used, pointer.transport, pointer.session_id";
    let mut pointers = Vec::new();
    for row in sql.query(sql!(statement)).await? {
        // A session whose name cannot be read does not hide the others; lists of sessions name it.
        if let Ok(session) = encode::set_damage_aside(identity(&row, 1))? {
            pointers.push((TransportChat(row.get(0)?), session));
        }
    }
    Ok(pointers)
}
