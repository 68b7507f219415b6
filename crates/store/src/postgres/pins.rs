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

    async fn record_offer(&self, server: &ServerName, command: Digest, offered: &OfferedTools) -> LedgerResult<()> {
        let (digest, tools) = (offered.digest().to_string(), pins::text(&offered.tools)?);
        let (at, command) = (offered.at.as_microsecond(), command.to_string());
        let sql = "INSERT INTO upstream_server AS known
                       (name, revision, offered_tools, offered_digest, offered_at, commands)
                   VALUES ($1, 1, $2, $3, $4, $5)
                   ON CONFLICT (name) DO UPDATE SET revision = known.revision + 1,
                       offered_tools = excluded.offered_tools, offered_digest = excluded.offered_digest,
                       offered_at = CASE WHEN known.offered_digest IS NOT DISTINCT FROM excluded.offered_digest
                                         THEN known.offered_at ELSE excluded.offered_at END,
                       commands = CASE WHEN strpos(known.commands, excluded.commands) > 0 THEN known.commands
                                       ELSE trim(known.commands || ' ' || excluded.commands) END
                   WHERE known.offered_digest IS DISTINCT FROM excluded.offered_digest
                      OR strpos(known.commands, excluded.commands) = 0";
        self.readers.write(sql, &[&server.as_str(), &tools, &digest, &at, &command]).await?;
        Ok(())
    }

    async fn accept_first_offer(
        &self,
        server: &ServerName,
        command: Digest,
        offered: &OfferedTools,
        by: &Actor,
    ) -> LedgerResult<bool> {
        let (digest, tools, by) = (offered.digest().to_string(), pins::text(&offered.tools)?, pins::text(by)?);
        let (at, command) = (offered.at.as_microsecond(), command.to_string());
        let sql = "INSERT INTO upstream_server (name, revision, offered_tools, offered_digest, offered_at, commands,
                       accepted_tools, accepted_by, accepted_at)
                   SELECT $1::text, 1, $2::text, $3::text, $4::bigint, $5::text, $2, $6::text, $4
                   WHERE NOT EXISTS (SELECT 1 FROM upstream_server WHERE name = $1 OR strpos(commands, $5) > 0)
                   ON CONFLICT (name) DO NOTHING RETURNING revision";
        let rows = self.readers.write(sql, &[&server.as_str(), &tools, &digest, &at, &command, &by]).await?;
        Ok(!rows.is_empty())
    }

    async fn accept_offer(&self, server: &ServerName, digest: Digest, by: &Actor, at: Timestamp) -> LedgerResult<bool> {
        let (digest, by) = (digest.to_string(), pins::text(by)?);
        let sql = "UPDATE upstream_server SET revision = revision + 1, accepted_tools = offered_tools,
                       accepted_by = $3, accepted_at = $4
                   WHERE name = $1 AND offered_digest = $2 RETURNING revision";
        let rows = self.readers.write(sql, &[&server.as_str(), &digest, &by, &at.as_microsecond()]).await?;
        Ok(!rows.is_empty())
    }
}
