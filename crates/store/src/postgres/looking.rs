//! A database looked at without working in it.

use planwright_engine::ledger::LedgerResult;

use super::connect::Target;
use super::schema;
use crate::looking::Looked;

pub(crate) async fn look(url: &str) -> LedgerResult<Looked> {
    let target = Target::parse(url)?;
    let client = target.connect().await.map_err(|failure| failure.to_error())?;
    let (schema, known) = schema::versions(&client).await.map_err(|failure| failure.to_error())?;
    Ok(Looked { schema, known, write_ahead: None, open_road: target.is_elsewhere() })
}
