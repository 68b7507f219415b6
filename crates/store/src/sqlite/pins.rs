//! Upstream servers, and what people accepted of them.

use async_trait::async_trait;
use jiff::Timestamp;
use planwright_core::actor::Actor;
use planwright_core::plan::Digest;
use planwright_core::upstream::ServerName;
use planwright_engine::ledger::LedgerResult;
use planwright_engine::upstream::{OfferedTools, PinnedServer, ToolPins};
use rusqlite::{OptionalExtension as _, params};

use super::SqliteLedger;
use crate::pins::{self, COLUMNS, PinRow};

#[async_trait]
impl ToolPins for SqliteLedger {
    async fn pin_revisions(&self) -> LedgerResult<Vec<(ServerName, u64)>> {
        let query = |connection: &rusqlite::Connection| {
            let mut statement = connection.prepare_cached("SELECT name, revision FROM upstream_server")?;
            let rows = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?)))?;
            let rows = rows.collect::<Result<Vec<_>, _>>()?;
            Ok(rows.iter().filter_map(|(name, revision)| pins::revision(name, *revision)).collect())
        };
        self.readers.read_inline(query).await
    }

    async fn pinned_server(&self, server: &ServerName) -> LedgerResult<Option<PinnedServer>> {
        let server = server.clone();
        let query = move |connection: &rusqlite::Connection| {
            let sql = format!("SELECT {COLUMNS} FROM upstream_server WHERE name = ?1");
            let row = connection.prepare_cached(&sql)?.query_row([server.as_str()], |row| {
                Ok(PinRow {
                    revision: row.get(0)?,
                    offered_tools: row.get(1)?,
                    offered_at: row.get(2)?,
                    accepted_tools: row.get(3)?,
                    accepted_by: row.get(4)?,
                    accepted_at: row.get(5)?,
                })
            });
            Ok(row.optional()?.map(|row| row.server(&server)).transpose()?)
        };
        self.readers.read(query).await
    }

    async fn record_offer(&self, server: &ServerName, command: Digest, offered: &OfferedTools) -> LedgerResult<()> {
        let (server, digest, tools) = (server.clone(), offered.digest().to_string(), pins::text(&offered.tools)?);
        let (at, command) = (offered.at.as_microsecond(), command.to_string());
        let write = move |state: &mut super::writer::WriterState| {
            let sql =
                "INSERT INTO upstream_server (name, revision, offered_tools, offered_digest, offered_at, commands)
                       VALUES (?1, 1, ?2, ?3, ?4, ?5)
                       ON CONFLICT (name) DO UPDATE SET revision = revision + 1, offered_tools = excluded.offered_tools,
                           offered_digest = excluded.offered_digest,
                           offered_at = CASE WHEN offered_digest IS excluded.offered_digest THEN offered_at
                                             ELSE excluded.offered_at END,
                           commands = CASE WHEN instr(commands, excluded.commands) > 0 THEN commands
                                           ELSE trim(commands || ' ' || excluded.commands) END
                       WHERE offered_digest IS NOT excluded.offered_digest OR instr(commands, excluded.commands) = 0";
            state.connection.prepare_cached(sql)?.execute(params![server.as_str(), tools, digest, at, command])?;
            Ok(())
        };
        self.writer.ask(write).await
    }

    async fn accept_first_offer(
        &self,
        server: &ServerName,
        command: Digest,
        offered: &OfferedTools,
        by: &Actor,
    ) -> LedgerResult<bool> {
        let (server, digest, tools) = (server.clone(), offered.digest().to_string(), pins::text(&offered.tools)?);
        let (at, command, by) = (offered.at.as_microsecond(), command.to_string(), pins::text(by)?);
        let write = move |state: &mut super::writer::WriterState| {
            let sql =
                "INSERT INTO upstream_server (name, revision, offered_tools, offered_digest, offered_at, commands,
                           accepted_tools, accepted_by, accepted_at)
                       SELECT ?1, 1, ?2, ?3, ?4, ?5, ?2, ?6, ?4
                       WHERE NOT EXISTS (SELECT 1 FROM upstream_server WHERE name = ?1 OR instr(commands, ?5) > 0)";
            let values = params![server.as_str(), tools, digest, at, command, by];
            Ok(state.connection.prepare_cached(sql)?.execute(values)? == 1)
        };
        self.writer.ask(write).await
    }

    async fn accept_offer(&self, server: &ServerName, digest: Digest, by: &Actor, at: Timestamp) -> LedgerResult<bool> {
        let (server, digest, by) = (server.clone(), digest.to_string(), pins::text(by)?);
        let write = move |state: &mut super::writer::WriterState| {
            let sql = "UPDATE upstream_server SET revision = revision + 1, accepted_tools = offered_tools,
                           accepted_by = ?3, accepted_at = ?4
                       WHERE name = ?1 AND offered_digest = ?2";
            let values = params![server.as_str(), digest, by, at.as_microsecond()];
            Ok(state.connection.prepare_cached(sql)?.execute(values)? == 1)
        };
        self.writer.ask(write).await
    }
}
