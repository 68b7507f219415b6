//! The promises of the port, for any store.

pub(crate) mod auto;
pub(crate) mod changes;
pub(crate) mod claims;
pub(crate) mod concurrency;
pub(crate) mod content;
pub(crate) mod conversation;
pub(crate) mod damage;
pub(crate) mod deletion;
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
