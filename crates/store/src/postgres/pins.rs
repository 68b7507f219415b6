//! Upstream servers, and what people accepted of them.

use async_trait::async_trait;
use jiff::Timestamp;
use planwright_core::actor::Actor;
use planwright_core::plan::Digest;
use planwright_core::upstream::ServerName;
use planwright_engine::ledger::LedgerResult;
use planwright_engine::upstream::{OfferedTools, PinnedServer, ToolPins};

use super::PostgresLedger;
use super::readers::get;
use crate::pins::{self, COLUMNS, PinRow};

#[async_trait]
impl ToolPins for PostgresLedger {
    async fn pin_revisions(&self) -> LedgerResult<Vec<(ServerName, u64)>> {
        let rows = self.readers.query("SELECT name, revision FROM upstream_server", &[]).await?;
        let mut found = Vec::new();
        for row in &rows {
            found.extend(pins::revision(get(row, 0)?, get(row, 1)?));
        }
        Ok(found)
    }

    async fn pinned_server(&self, server: &ServerName) -> LedgerResult<Option<PinnedServer>> {
        let sql = format!("SELECT {COLUMNS} FROM upstream_server WHERE name = $1");
        let rows = self.readers.query(&sql, &[&server.as_str()]).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let row = PinRow {
            revision: get(row, 0)?,
            offered_tools: get(row, 1)?,
            offered_at: get(row, 2)?,
            accepted_tools: get(row, 3)?,
            accepted_by: get(row, 4)?,
            accepted_at: get(row, 5)?,
        };
        row.server(server).map(Some)
    }

    async fn record_offer(&self, server: &ServerName, offered: &OfferedTools) -> LedgerResult<()> {
        let (digest, tools) = (offered.digest().to_string(), pins::text(&offered.tools)?);
        let sql = "INSERT INTO upstream_server (name, revision, offered_tools, offered_digest, offered_at)
                   VALUES ($1, 1, $2, $3, $4)
                   ON CONFLICT (name) DO UPDATE SET revision = upstream_server.revision + 1,
                       offered_tools = excluded.offered_tools, offered_digest = excluded.offered_digest,
                       offered_at = excluded.offered_at
                   WHERE upstream_server.offered_digest IS DISTINCT FROM excluded.offered_digest";
        self.readers.write(sql, &[&server.as_str(), &tools, &digest, &offered.at.as_microsecond()]).await?;
        Ok(())
    }

    async fn accept_offer(&self, server: &ServerName, digest: Digest, by: &Actor, at: Timestamp) -> LedgerResult<bool> {
        let (digest, by) = (digest.to_string(), pins::text(by)?);
        let sql = "UPDATE upstream_server SET revision = revision + 1, accepted_tools = offered_tools,
                       accepted_by = $3, accepted_at = $4
                   WHERE name = $1 AND offered_digest = $2 RETURNING revision";
        let rows = self.readers.write(sql, &[&server.as_str(), &digest, &by, &at.as_microsecond()]).await?;
        Ok(!rows.is_empty())
    }

    async fn forget_server(&self, server: &ServerName) -> LedgerResult<()> {
        self.readers.write("DELETE FROM upstream_server WHERE name = $1", &[&server.as_str()]).await?;
        Ok(())
    }
}
