//! What sessions' folders have, and the pieces of their files, in the database.

use std::time::Duration;

use async_trait::async_trait;
use planwright_core::session::SessionIdentity;
use planwright_core::workspace::ContentHash;
use planwright_engine::ledger::{LedgerError, LedgerResult};
use planwright_engine::shared_files::{BlobStore, FolderIndex, FolderVersion, SharedFolder, StoredBlob};

use crate::backend::{Backend, SqlLedger};
use crate::encode::micros;
use crate::sessions::{SESSION_ID, identity};
use crate::sql::{Row, sql};

#[async_trait]
impl<B: Backend> FolderIndex for SqlLedger<B> {
    async fn folder_version(&self, session: &SessionIdentity) -> LedgerResult<Option<FolderVersion>> {
        let statement = format!("SELECT folder, number, lease FROM session_folder WHERE session_id = {SESSION_ID}");
        let rows = self.0.lookup(sql!(statement, session.conversation.as_str(), session.channel.as_str())).await?;
        rows.first().map(version).transpose()
    }

    async fn shared_folder(&self, session: &SessionIdentity) -> LedgerResult<Option<SharedFolder>> {
        let statement =
            format!("SELECT folder, number, lease, items FROM session_folder WHERE session_id = {SESSION_ID}");
        let rows = self.0.lookup(sql!(statement, session.conversation.as_str(), session.channel.as_str())).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let items = serde_json::from_str(row.get(3)?)
            .map_err(|error| LedgerError::damaged(format!("the list of the files of {session}"), error))?;
        Ok(Some(SharedFolder { version: version(row)?, items }))
    }

    async fn store_folder(
        &self,
        session: &SessionIdentity,
        before: &FolderVersion,
        after: &SharedFolder,
    ) -> LedgerResult<bool> {
        let items = serde_json::to_string(&after.items)
            .map_err(|error| LedgerError::Internal(format!("a list of files cannot be written: {error}")))?;
        let (conversation, channel) = (session.conversation.as_str(), session.channel.as_str());
        let FolderVersion { folder, number, lease } = &after.version;
        let statement = if before.number == 0 {
            // The session's row is locked, so that a deletion is before this or takes the list along.
            let statement = format!(
                "WITH held AS (SELECT id FROM session WHERE conversation = ?1 AND channel = ?2 {})
                 INSERT INTO session_folder (session_id, folder, number, lease, items)
                 SELECT id, ?3, ?4, ?5, ?6 FROM held WHERE true
                 ON CONFLICT (session_id) DO NOTHING RETURNING number",
                B::LOCK_ROW
            );
            sql!(statement, conversation, channel, folder, *number, lease, items)
        } else {
            let statement = format!(
                "UPDATE session_folder SET number = ?4, lease = ?5, items = ?6
                 WHERE session_id = {SESSION_ID} AND folder = ?3 AND number = ?7 AND lease = ?8 RETURNING number"
            );
            let FolderVersion { folder, number: from, lease: under } = before;
            sql!(statement, conversation, channel, folder, *number, lease, items, *from, under)
        };
        Ok(!self.0.write(statement).await?.is_empty())
    }
}

fn version(row: &Row) -> LedgerResult<FolderVersion> {
    Ok(FolderVersion { folder: row.get(0)?, number: row.get(1)?, lease: row.get(2)? })
}

#[async_trait]
impl<B: Backend> BlobStore for SqlLedger<B> {
    fn place(&self) -> String {
        "the database".to_owned()
    }

    async fn put(&self, session: &SessionIdentity, hash: &ContentHash, content: Vec<u8>) -> LedgerResult<()> {
        let statement = format!(
            "INSERT INTO file_piece (session_id, hash, stored_at, content)
             SELECT id, ?3, {}, ?4 FROM session WHERE conversation = ?1 AND channel = ?2
             ON CONFLICT (session_id, hash) DO UPDATE SET stored_at = excluded.stored_at, content = excluded.content",
            B::NOW_MICROS
        );
        let (conversation, channel) = (session.conversation.as_str(), session.channel.as_str());
        self.0.write(sql!(statement, conversation, channel, hash.to_string(), content)).await.map(drop)
    }

    async fn get(&self, session: &SessionIdentity, hash: &ContentHash) -> LedgerResult<Option<Vec<u8>>> {
        let statement = format!("SELECT content FROM file_piece WHERE session_id = {SESSION_ID} AND hash = ?3");
        let (conversation, channel) = (session.conversation.as_str(), session.channel.as_str());
        let rows = self.0.lookup(sql!(statement, conversation, channel, hash.to_string())).await?;
        rows.first().map(|row| row.get::<&[u8]>(0).map(<[u8]>::to_vec)).transpose()
    }

    async fn list(&self, session: &SessionIdentity) -> LedgerResult<Vec<StoredBlob>> {
        let statement = format!(
            "SELECT hash, CAST(octet_length(content) AS bigint), {} - stored_at FROM file_piece
             WHERE session_id = {SESSION_ID} ORDER BY hash",
            B::NOW_MICROS
        );
        let rows = self.0.query(sql!(statement, session.conversation.as_str(), session.channel.as_str())).await?;
        let blob = |row: &Row| -> LedgerResult<Option<StoredBlob>> {
            // A name that is no hash was put there by something else, and is left alone.
            let Ok(hash) = row.get::<String>(0)?.parse() else { return Ok(None) };
            let age = Duration::from_micros(u64::try_from(row.get::<i64>(2)?).unwrap_or(0));
            Ok(Some(StoredBlob { hash, bytes: row.get(1)?, age }))
        };
        rows.iter().filter_map(|row| blob(row).transpose()).collect()
    }

    async fn remove(
        &self,
        session: &SessionIdentity,
        pieces: &[ContentHash],
        older_than: Duration,
    ) -> LedgerResult<()> {
        if pieces.is_empty() {
            return Ok(());
        }
        let statement = format!(
            "DELETE FROM file_piece WHERE session_id = {SESSION_ID} AND hash {} AND stored_at <= {} - ?4",
            B::any("?3"),
            B::NOW_MICROS
        );
        let names: Vec<String> = pieces.iter().map(ToString::to_string).collect();
        let (conversation, channel) = (session.conversation.as_str(), session.channel.as_str());
        self.0.write(sql!(statement, conversation, channel, names, micros(older_than))).await.map(drop)
    }

    async fn sessions(&self) -> LedgerResult<Vec<SessionIdentity>> {
        let statement = "SELECT channel || ':' || conversation FROM session
                         WHERE id IN (SELECT session_id FROM file_piece) ORDER BY id";
        let rows = self.0.query(sql!(statement)).await?;
        // The verification tells of a session whose name cannot be read.
        Ok(rows.iter().filter_map(|row| identity(row, 0).ok()).collect())
    }

    async fn remove_orphans(&self) -> LedgerResult<u64> {
        let statement = "DELETE FROM file_piece WHERE session_id NOT IN (SELECT id FROM session) RETURNING hash";
        Ok(self.0.write(sql!(statement)).await?.len() as u64)
    }
}
