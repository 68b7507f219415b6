//! Which machine has the project folder of a session.

use async_trait::async_trait;
use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::LedgerResult;
use planwright_engine::project_places::{ProjectPlace, ProjectPlaceStore};

use crate::backend::{Backend, SqlLedger};
use crate::sessions::SESSION_ID;
use crate::sql::sql;

#[async_trait]
impl<B: Backend> ProjectPlaceStore for SqlLedger<B> {
    async fn project_place(&self, session: &SessionIdentity) -> LedgerResult<Option<ProjectPlace>> {
        let statement = format!("SELECT path, place FROM project_place WHERE session_id = {SESSION_ID}");
        let rows = self.0.lookup(sql!(statement, session.conversation.as_str(), session.channel.as_str())).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        Ok(Some(ProjectPlace { path: row.get(0)?, place: row.get(1)? }))
    }

    async fn set_project_place(&self, session: &SessionIdentity, place: Option<&ProjectPlace>) -> LedgerResult<()> {
        let (conversation, channel) = (session.conversation.as_str(), session.channel.as_str());
        let statement = match place {
            Some(ProjectPlace { path, place }) => {
                // The session's row is locked, so that a deletion is before this or takes the row along.
                let statement = format!(
                    "WITH held AS (SELECT id FROM session WHERE conversation = ?1 AND channel = ?2 {})
                     INSERT INTO project_place (session_id, path, place) SELECT id, ?3, ?4 FROM held WHERE true
                     ON CONFLICT (session_id) DO UPDATE SET path = excluded.path, place = excluded.place",
                    B::LOCK_ROW
                );
                sql!(statement, conversation, channel, path, place)
            }
            None => {
                let statement = format!("DELETE FROM project_place WHERE session_id = {SESSION_ID}");
                sql!(statement, conversation, channel)
            }
        };
        self.0.write(statement).await.map(drop)
    }
}
