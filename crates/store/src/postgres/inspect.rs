//! A database looked at without working in it.

use planwright_engine::ledger::LedgerResult;

use super::schema;
use super::target::Target;
use crate::inspect::Inspection;

pub(crate) async fn inspect(url: &str) -> LedgerResult<Inspection> {
    let target = Target::parse(url)?;
    let client = target.connect().await.map_err(|failure| failure.to_error())?;
    let (schema, known) = schema::versions(&client).await.map_err(|failure| failure.to_error())?;
    Ok(Inspection { schema, known, write_ahead: None, unencrypted_remote: target.is_elsewhere() })
}
