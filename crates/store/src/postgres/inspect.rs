//! A database inspected without working in it.

use planwright_engine::ledger::LedgerResult;

use super::schema;
use super::target::Target;
use crate::inspect::{Inspection, Pooler};

pub(crate) async fn inspect(url: &str) -> LedgerResult<Inspection> {
    let target = Target::find(url).await?;
    let client = target.connect().await.map_err(|error| error.to_error())?;
    let (schema, known) = schema::versions(&client).await.map_err(|error| error.to_error())?;
    let pooler = match (target.is_pooled(), target.can_listen()) {
        (false, _) => Pooler::None,
        (true, true) => Pooler::WithDirectListen,
        (true, false) => Pooler::WithoutListen,
    };
    Ok(Inspection { schema, known, write_ahead: None, unencrypted_remote: target.is_remote(), pooler })
}
