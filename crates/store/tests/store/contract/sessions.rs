//! The promises of `SessionStore`.
//!
//! - `submission`, `leased_submission`, `repeated_requests`, `concurrency`: commands that are carried out
//! - `queries`, `conversation`, `workbook`, `counts`: what is read again
//! - `changes`: what followers are told
//! - `deletion`, `restore`: a session that goes, and one that comes back
//! - `damage`, `missing_rows`, `derived_rows`, `columns`: damage is reported and kept
//! - `health`: whether the store can be read and written

pub(crate) mod changes;
pub(crate) mod columns;
pub(crate) mod concurrency;
pub(crate) mod conversation;
pub(crate) mod counts;
pub(crate) mod damage;
pub(crate) mod deletion;
pub(crate) mod derived_rows;
pub(crate) mod health;
pub(crate) mod leased_submission;
pub(crate) mod missing_rows;
pub(crate) mod queries;
pub(crate) mod repeated_requests;
pub(crate) mod restore;
pub(crate) mod submission;
pub(crate) mod workbook;
