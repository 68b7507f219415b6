//! A database inspected without working in it.

use std::time::Duration;

use planwright_engine::ledger::LedgerResult;
use tokio_postgres::Client;

use super::connect::Protection;
use super::schema;
use super::statement;
use super::target::Target;
use crate::inspect::{DatabaseFacts, Inspection, LinkSafety, Pooler};
use crate::location::PostgresAddress;

/// A role without rights sees no transactions of others.
const FACTS: &str = "
    SELECT CAST(current_setting('max_connections') AS bigint),
        (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),
        (SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'),
        (SELECT count(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')),
        current_setting('fsync') = 'on' AND current_setting('synchronous_commit') <> 'off',
        CAST(coalesce((SELECT max(extract(epoch FROM clock_timestamp() - xact_start)) FROM pg_stat_activity
            WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'), 0) AS bigint)";

pub(crate) async fn inspect(address: &PostgresAddress) -> LedgerResult<Inspection> {
    let target = Target::find(address).await?;
    let client = target.connect().await.map_err(|error| error.to_error())?;
    let (found, known) = schema::versions(&client).await.map_err(|error| error.to_error())?;
    let pooler = match (target.is_pooled(), target.can_listen()) {
        (false, _) => Pooler::None,
        (true, true) => Pooler::WithDirectListen,
        (true, false) => Pooler::WithoutListen,
    };
    let link = match target.protection() {
        Protection::None if target.is_remote() => LinkSafety::Unencrypted,
        Protection::Encrypted { is_verified: false } if target.is_remote() => LinkSafety::Unverified,
        Protection::Encrypted { is_verified: true } => LinkSafety::Verified,
        Protection::Socket | Protection::None | Protection::Encrypted { .. } => LinkSafety::OwnMachine,
    };
    let database = facts(&client).await;
    let (schema, is_too_new) = (found.version, found.is_too_new());
    Ok(Inspection { schema, known, is_too_new, write_ahead: None, link, pooler, database })
}

/// A server that does not have these views is one without facts.
async fn facts(client: &Client) -> Option<DatabaseFacts> {
    let rows = statement::query(client, FACTS, &[]).await.ok()?;
    let row = rows.first()?;
    let number = |column: usize| row.try_get::<_, i64>(column).ok().map(|number| u64::try_from(number).unwrap_or(0));
    Some(DatabaseFacts {
        max_connections: number(0)?,
        connections: number(1)?,
        standbys: number(2)?,
        synchronous_standbys: number(3)?,
        is_flushed: row.try_get(4).ok()?,
        oldest_transaction: Duration::from_secs(number(5)?),
    })
}
