//! The promises of the ports, for any store.
//!
//! - `SessionStore`: `submission`, `leased_submission`, `repeated_requests`, `concurrency`, `conversation`, `workbook`, `deletion`,
//!   `damage`, `missing_rows`, `derived_rows`, `queries`
//! - `PlanStore`: `plan_lifecycle`, `runs`, `content`, `queries`
//! - `MemoryStore`: `memory`
//! - `LeaseStore`: `leases`, `lease_renewal`; signs of life in `auto`
//! - `ChatStore`, `Outbox`, `ChatUpdates`: `pointers`, `outbox`
//! - `ApprovalStore`, `ToolPins`: `approvals`, `pins`
//! - `ServerLedger`: `changes`, `overview`, `auto`, `claims`, `restore`, `health`
//! - stores of earlier versions: `upgrade`, `earlier_versions`

pub(crate) mod approvals;
pub(crate) mod auto;
pub(crate) mod changes;
pub(crate) mod claims;
pub(crate) mod concurrency;
pub(crate) mod content;
pub(crate) mod conversation;
pub(crate) mod damage;
pub(crate) mod deletion;
pub(crate) mod derived_rows;
pub(crate) mod earlier_versions;
pub(crate) mod health;
pub(crate) mod lease_renewal;
pub(crate) mod leased_submission;
pub(crate) mod leases;
pub(crate) mod memory;
pub(crate) mod missing_rows;
pub(crate) mod outbox;
pub(crate) mod overview;
pub(crate) mod pins;
pub(crate) mod plan_lifecycle;
pub(crate) mod pointers;
pub(crate) mod queries;
pub(crate) mod repeated_requests;
pub(crate) mod restore;
pub(crate) mod runs;
pub(crate) mod submission;
pub(crate) mod upgrade;
pub(crate) mod workbook;
