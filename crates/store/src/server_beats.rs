//! The heartbeats of servers.

use async_trait::async_trait;
use planwright_engine::ledger::LedgerResult;
use planwright_engine::server_beats::{ServerBeat, ServerBeats};

use crate::backend::{Backend, SqlLedger};
use crate::sql::{Row, sql};

#[async_trait]
impl<B: Backend> ServerBeats for SqlLedger<B> {
    async fn beat(&self, owner: &str, fences: bool) -> LedgerResult<()> {
        // The first number is that of the time, so that a server that was forgotten counts on with other numbers.
        let statement = format!(
            "INSERT INTO server_beat (owner, beat, fences) VALUES (?1, {}, ?2)
             ON CONFLICT (owner) DO UPDATE SET beat = server_beat.beat + 1, fences = excluded.fences",
            B::NOW_MICROS
        );
        self.0.write_if_apart(None, sql!(statement, owner, u32::from(fences))).await.map(drop)
    }

    async fn beats(&self) -> LedgerResult<Vec<ServerBeat>> {
        let rows = self.0.query_apart(sql!("SELECT owner, beat, fences FROM server_beat ORDER BY owner")).await?;
        let beat =
            |row: &Row| Ok(ServerBeat { owner: row.get(0)?, beat: row.get(1)?, fences: row.get::<i64>(2)? != 0 });
        rows.iter().map(beat).collect()
    }

    async fn end_server(&self, last: &ServerBeat) -> LedgerResult<bool> {
        // The row is locked until the leases are ended. A beat comes before that, and then nothing is done, or behind it, and then
        // the server finds its leases ended.
        let condition = "DELETE FROM server_beat WHERE owner = ?1 AND beat = ?2 RETURNING owner";
        let statement = format!("UPDATE lease SET expires_at = {0} WHERE owner = ?1 AND expires_at > {0}", B::NOW);
        let condition = sql!(condition, &last.owner, last.beat);
        let ended = self.0.write_if_apart(Some(condition), sql!(statement, &last.owner)).await?;
        Ok(ended.is_some())
    }

    async fn forget_server(&self, owner: &str) -> LedgerResult<()> {
        let statement = sql!("DELETE FROM server_beat WHERE owner = ?1", owner);
        self.0.write_if_apart(None, statement).await.map(drop)
    }
}
