//! The port for what people approved that belongs to no session.

use async_trait::async_trait;
use jiff::Timestamp;
use planwright_core::actor::Actor;
use planwright_core::approval::record::SealedRecord;
use planwright_core::plan::Digest;
use planwright_core::upstream::ServerName;

use super::LedgerResult;
use crate::upstream::{OfferedTools, PinnedServer};

/// The records about approvers and the approval policy, and which tools of upstream servers people accepted.
#[async_trait]
pub trait ApprovalStore: Send + Sync + std::fmt::Debug + 'static {
    /// Every record about approvers and the approval policy, in order, unchecked.
    async fn approval_records(&self) -> LedgerResult<Vec<SealedRecord>>;

    /// The hash of the last record about approvers. It covers every record before it, so it tells cheaply whether there are
    /// other records than the ones that were read.
    async fn approval_head(&self) -> LedgerResult<Option<[u8; 32]>>;

    /// Appends a record. Returns false if another record has its number: the caller reads again.
    async fn add_approval_record(&self, record: &SealedRecord) -> LedgerResult<bool>;

    /// Every known upstream server with its revision.
    async fn pin_revisions(&self) -> LedgerResult<Vec<(ServerName, u64)>>;

    async fn pinned_server(&self, server: &ServerName) -> LedgerResult<Option<PinnedServer>>;

    /// Keeps what a server offers, for a person to look at, and that it was reached by this command. The same again changes
    /// nothing.
    async fn record_offer(&self, server: &ServerName, command: Digest, offered: &OfferedTools) -> LedgerResult<()>;

    /// Keeps an offer and accepts it, if neither the name nor the command of the server was ever seen. Returns whether it was
    /// accepted; nothing is kept otherwise.
    async fn accept_first_offer(
        &self,
        server: &ServerName,
        command: Digest,
        offered: &OfferedTools,
        by: &Actor,
    ) -> LedgerResult<bool>;

    /// Accepts the last offer if it has this digest, as one of this command. Returns whether it has.
    async fn accept_offer(
        &self,
        server: &ServerName,
        command: Digest,
        digest: Digest,
        by: &Actor,
        at: Timestamp,
    ) -> LedgerResult<bool>;
}
