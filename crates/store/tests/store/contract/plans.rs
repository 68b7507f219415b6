//! The promises of `PlanStore`.
//!
//! - `plan_lifecycle`, `content`: plans that change, with everything in them
//! - `runs`: how the steps of a plan went
//! - `plan_queries`, `plans_anywhere`: plans of a session and over all sessions, found and listed

pub(crate) mod content;
pub(crate) mod plan_lifecycle;
pub(crate) mod plan_queries;
pub(crate) mod plans_anywhere;
pub(crate) mod runs;
