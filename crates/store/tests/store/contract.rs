//! The promises of the port, for any store.

pub(crate) mod changes;
pub(crate) mod checking;
pub(crate) mod claims;
pub(crate) mod concurrency;
pub(crate) mod content;
pub(crate) mod conversation;
pub(crate) mod damage;
pub(crate) mod deleting;
pub(crate) mod leases;
pub(crate) mod leasing;
pub(crate) mod loss;
pub(crate) mod overview;
pub(crate) mod plan_work;
pub(crate) mod pointers;
pub(crate) mod reading;
pub(crate) mod renewing;
pub(crate) mod repeating;
pub(crate) mod restoring;
pub(crate) mod runs;
pub(crate) mod submitting;
pub(crate) mod upgrading;
pub(crate) mod workbook;
