//! A database inspected without working in it.

use planwright_engine::ledger::LedgerResult;

use super::connect::Protection;
use super::schema;
use super::target::Target;
use crate::inspect::{Inspection, LinkSafety, Pooler};
use crate::location::PostgresAddress;

pub(crate) async fn inspect(address: &PostgresAddress) -> LedgerResult<Inspection> {
    let target = Target::find(address).await?;
    let client = target.connect().await.map_err(|error| error.to_error())?;
    let (schema, known) = schema::versions(&client).await.map_err(|error| error.to_error())?;
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
    Ok(Inspection { schema, known, write_ahead: None, link, pooler })
}
