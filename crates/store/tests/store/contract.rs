//! The promises of the ports, for any store: `sessions`, `plans`, `memories`, `leases`, `chats` and `approvals` for one port
//! each; `shared_files` for what servers share beside it. Stores of earlier versions: `upgrade`, `earlier_versions`.

pub(crate) mod approvals;
mod chats;
pub(crate) mod earlier_versions;
pub(crate) mod leases;
pub(crate) mod memories;
mod plans;
mod sessions;
pub(crate) mod shared_files;
pub(crate) mod upgrade;

pub(crate) use approvals::pins;
pub(crate) use chats::{outbox, pointers};
pub(crate) use leases::{auto, claims, lease_renewal, unfinished};
pub(crate) use plans::{content, plan_lifecycle, plan_queries, plans_anywhere, runs};
pub(crate) use sessions::{
    changes, columns, concurrency, conversation, counts, damage, deletion, derived_rows, health, leased_submission,
    missing_rows, queries, repeated_requests, restore, submission, workbook,
};
