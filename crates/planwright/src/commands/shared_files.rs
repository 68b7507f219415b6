//! What `backup`, `restore` and `verify` do with files that servers share.

use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::{DamagedRow, LedgerResult, SessionStore};

use crate::context::{Context, PAGE};
use crate::failure::Failure;

/// Brings the folders of all sessions up to date.
pub(crate) async fn fetch_all(context: &Context) -> Result<(), Failure> {
    if context.sharing.is_none() {
        return Ok(());
    }
    let files = context.files();
    for session in sessions(context.ledger.as_ref()).await? {
        files.fetch(&session).await?;
    }
    Ok(())
}

/// Shares the folders of all sessions.
pub(crate) async fn publish_all(context: &Context) -> Result<(), Failure> {
    if context.sharing.is_none() {
        return Ok(());
    }
    let files = context.files();
    for session in sessions(context.ledger.as_ref()).await? {
        files.publish(&session).await?;
    }
    Ok(())
}

/// The shared files whose content is not there.
pub(crate) async fn check_all(context: &Context) -> LedgerResult<Vec<DamagedRow>> {
    let Some(sharing) = &context.sharing else { return Ok(Vec::new()) };
    let mut damaged = Vec::new();
    for session in sessions(context.ledger.as_ref()).await? {
        damaged.extend(sharing.check(&session).await?);
    }
    Ok(damaged)
}

/// Every session. Damaged ones are reported where they are read.
async fn sessions<T: SessionStore + ?Sized>(ledger: &T) -> LedgerResult<Vec<SessionIdentity>> {
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let page = ledger.walk_sessions(after, PAGE).await?;
        found.extend(page.items.into_iter().map(|stored| stored.session.identity));
        after = page.next;
        if after.is_none() {
            return Ok(found);
        }
    }
}
