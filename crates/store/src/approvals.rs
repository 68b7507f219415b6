//! The records about approvers and the approval policy, and upstream servers with what people accepted of them. Their tools
//! are JSON text.

use async_trait::async_trait;
use jiff::Timestamp;
use planwright_core::actor::Actor;
use planwright_core::approval::record::SealedRecord;
use planwright_core::plan::Digest;
use planwright_core::upstream::{ServerName, UpstreamTool};
use planwright_engine::ledger::{ApprovalStore, LedgerError, LedgerResult};
use planwright_engine::upstream::{AcceptedTools, OfferedTools, PinnedServer};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::backend::{Backend, SqlLedger};
use crate::encode;
use crate::sql::{Row, Value, sql};

#[async_trait]
impl<B: Backend> ApprovalStore for SqlLedger<B> {
    async fn approval_records(&self) -> LedgerResult<Vec<SealedRecord>> {
        let rows = self.0.lookup(sql!("SELECT seq, hash, body FROM approval_record ORDER BY seq")).await?;
        let record = |row: &Row| {
            let (seq, hash) = numbered_hash(row)?;
            let body = row.raw_text(2, || what(seq))?.unwrap_or_default();
            Ok(SealedRecord { seq, body, hash })
        };
        rows.iter().map(record).collect()
    }

    async fn approval_head(&self) -> LedgerResult<Option<[u8; 32]>> {
        let rows = self.0.lookup(sql!("SELECT seq, hash FROM approval_record ORDER BY seq DESC LIMIT 1")).await?;
        Ok(rows.first().map(numbered_hash).transpose()?.map(|(_, hash)| hash))
    }

    async fn add_approval_record(&self, record: &SealedRecord) -> LedgerResult<bool> {
        // The number is taken if another process was faster. A record that was written before the connection broke is known
        // again by its hash.
        let statement = "INSERT INTO approval_record (seq, body, hash) VALUES (?1, ?2, ?3)
                         ON CONFLICT (seq) DO UPDATE SET seq = approval_record.seq WHERE approval_record.hash = ?3
                         RETURNING seq";
        let body = Value::raw_text(&record.body);
        Ok(!self.0.write(sql!(statement, record.seq, body, record.hash.to_vec())).await?.is_empty())
    }

    async fn pin_revisions(&self) -> LedgerResult<Vec<(ServerName, u64)>> {
        let rows = self.0.lookup(sql!("SELECT name, revision FROM upstream_server")).await?;
        // A row whose name is none is damaged and is reported by its own query.
        let revision = |row: &Row| Some((row.get::<&str>(0).ok()?.parse().ok()?, row.get(1).ok()?));
        Ok(rows.iter().filter_map(revision).collect())
    }

    async fn pinned_server(&self, server: &ServerName) -> LedgerResult<Option<PinnedServer>> {
        let statement =
            "SELECT revision, offered_tools, offered_at, accepted_tools, accepted_by, accepted_at, commands,
                             offered_digest
                         FROM upstream_server WHERE name = ?1";
        let rows = self.0.query(sql!(statement, server.as_str())).await?;
        rows.first().map(|row| pinned(row, server)).transpose()
    }

    async fn record_offer(&self, server: &ServerName, command: Digest, offered: &OfferedTools) -> LedgerResult<()> {
        let (digest, tools) = (offered.digest().to_string(), text(&offered.tools)?);
        let known = B::contains("known.commands", "excluded.commands");
        let statement = format!(
            "INSERT INTO upstream_server AS known
                 (name, revision, offered_tools, offered_digest, offered_at, commands)
             VALUES (?1, 1, ?2, ?3, ?4, ?5)
             ON CONFLICT (name) DO UPDATE SET revision = known.revision + 1,
                 offered_tools = excluded.offered_tools, offered_digest = excluded.offered_digest,
                 offered_at = CASE WHEN known.offered_digest IS NOT DISTINCT FROM excluded.offered_digest
                                   THEN known.offered_at ELSE excluded.offered_at END,
                 commands = CASE WHEN {known} THEN known.commands
                                 ELSE trim(known.commands || ' ' || excluded.commands) END
             WHERE known.offered_digest IS DISTINCT FROM excluded.offered_digest OR NOT {known}"
        );
        let (at, command) = (offered.at.as_microsecond(), command.to_string());
        self.0.write(sql!(statement, server.as_str(), tools, digest, at, command)).await.map(drop)
    }

    async fn accept_first_offer(
        &self,
        server: &ServerName,
        command: Digest,
        offered: &OfferedTools,
        by: &Actor,
    ) -> LedgerResult<bool> {
        let (digest, tools, by) = (offered.digest().to_string(), text(&offered.tools)?, text(by)?);
        let statement = format!(
            "INSERT INTO upstream_server (name, revision, offered_tools, offered_digest, offered_at, commands,
                 accepted_tools, accepted_by, accepted_at)
             SELECT CAST(?1 AS text), 1, CAST(?2 AS text), CAST(?3 AS text), CAST(?4 AS bigint), CAST(?5 AS text), ?2,
                 CAST(?6 AS text), ?4
             WHERE NOT EXISTS (SELECT 1 FROM upstream_server WHERE name = ?1 OR {})
             ON CONFLICT (name) DO NOTHING RETURNING revision",
            B::contains("commands", "?5")
        );
        let (at, command) = (offered.at.as_microsecond(), command.to_string());
        Ok(!self.0.write(sql!(statement, server.as_str(), tools, digest, at, command, by)).await?.is_empty())
    }

    async fn accept_offer(
        &self,
        server: &ServerName,
        command: Digest,
        digest: Digest,
        by: &Actor,
        at: Timestamp,
    ) -> LedgerResult<bool> {
        // The accepted command is the first of those that are known.
        let statement = "UPDATE upstream_server SET revision = revision + 1, accepted_tools = offered_tools,
                             accepted_by = ?3, accepted_at = ?4,
                             commands = trim(CAST(?5 AS text) || ' ' || trim(replace(commands, CAST(?5 AS text), '')))
                         WHERE name = ?1 AND offered_digest = ?2 RETURNING revision";
        let (digest, by, at, command) = (digest.to_string(), text(by)?, at.as_microsecond(), command.to_string());
        Ok(!self.0.write(sql!(statement, server.as_str(), digest, by, at, command)).await?.is_empty())
    }
}

fn numbered_hash(row: &Row) -> LedgerResult<(u64, [u8; 32])> {
    let seq = row.read(0, || "the number of a record of the approvers".to_owned())?;
    let hash = row.get::<&[u8]>(1)?.try_into();
    Ok((seq, hash.map_err(|_| LedgerError::damaged(what(seq), "its hash is not one"))?))
}

fn what(seq: u64) -> String {
    format!("record {seq} of the approvers")
}

fn pinned(row: &Row, server: &ServerName) -> LedgerResult<PinnedServer> {
    let what = || format!("the MCP server {server}");
    let tools = |column| -> LedgerResult<Option<Vec<UpstreamTool>>> {
        row.get::<Option<&str>>(column)?.map(|text| parse(what, text)).transpose()
    };
    let offered = match (tools(1)?, row.get(2)?) {
        (Some(tools), Some(at)) => Some(OfferedTools { tools, at: encode::timestamp(what, at)? }),
        (_, _) => None,
    };
    let accepted = match (tools(3)?, row.get(4)?, row.get(5)?) {
        (Some(tools), Some(by), Some(at)) => {
            Some(AcceptedTools { tools, by: parse(what, by)?, at: encode::timestamp(what, at)? })
        }
        (_, _, _) => None,
    };
    let accepted_command = match (&accepted, row.get::<&str>(6)?.split_whitespace().next()) {
        (Some(_), Some(first)) => Some(
            first
                .parse::<Digest>()
                .map_err(|_| LedgerError::damaged(what(), "the digest of its command is not one"))?,
        ),
        (_, _) => None,
    };
    let offered_digest = row.get::<Option<&str>>(7)?.map(str::to_owned);
    let (server, revision) = (server.clone(), row.read(0, what)?);
    Ok(PinnedServer { server, revision, accepted, accepted_command, offered, offered_digest })
}

fn text<T: Serialize>(value: &T) -> LedgerResult<String> {
    serde_json::to_string(value).map_err(|error| LedgerError::Internal(format!("tools cannot be written: {error}")))
}

fn parse<T: DeserializeOwned>(what: impl FnOnce() -> String, text: &str) -> LedgerResult<T> {
    serde_json::from_str(text).map_err(|error| LedgerError::damaged(what(), error))
}
