//! Attacks on the promise that only a person approves: an agent on the same machine, as the same user, with a shell, tries to
//! approve its own plan. Every attack runs on the real program under each policy, as the user of the tests and, if that is root, as an
//! ordinary user; `docs/approval.md` has the results.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that meets the unexpected should stop")]

mod acts;
mod browser;
mod decisions;
mod denials;
mod door;
mod gateway;
mod here;
mod hidden;
mod kernel;
mod logins;
mod obedient;
mod openssh;
mod ordinary_user;
mod own_agent;
mod page;
mod people;
mod place;
mod processes;
mod proofs;
mod records;
mod releases;
mod rest;
mod results;
mod screen;
mod servers;
mod settings;
mod shell;
mod small_acts;
mod stage;
mod store;
mod surfaces;
mod telegram;
mod weakened;
