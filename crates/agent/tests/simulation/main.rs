//! The whole agent, simulated from a seed: many sessions, several processes on one store, people who type whatever comes
//! to their mind, tools and models that fail, and processes that die at any moment. Time is virtual, everything is on one
//! thread, and a seed that fails once fails always.
//!
//! - [`run`]: one run, from its script to its report
//! - [`acts`]: what people and fate do; `acts/typing.rs` is the table of what can be typed
//! - [`process`], [`ledger`], [`model`], [`tools`]: a process, and everything through which it reaches the world
//! - [`store`]: what outlives the processes
//! - [`world`]: what is known outside of all of it: the time, and a record of what happened
//! - [`answers`], [`checks`], [`files`]: what must always hold
//! - [`sabotage`]: faults on purpose, each of which has to be found
//! - [`hunt`]: many seeds, and a failing one cut short

#![allow(clippy::unwrap_used, reason = "a test that meets what it does not expect has failed")]

mod acts;
mod answers;
mod checks;
mod conditions;
mod files;
mod hunt;
mod ledger;
mod model;
mod process;
mod random;
mod run;
mod sabotage;
mod store;
mod tools;
mod world;

use hunt::{ACTS, find, hunt};
use planwright_test_support::talk;
use run::{Script, run};
use sabotage::Sabotage;

#[test]
fn what_must_hold_holds_for_every_seed() {
    hunt();
}

#[test]
fn a_seed_always_comes_to_the_same() {
    for seed in 1..=6 {
        let script = Script { seed, acts: (0..ACTS).collect(), sabotage: None };
        let (one, other) = (run(&script), run(&script));
        let differs = one.trace.iter().zip(&other.trace).find(|(one, other)| one != other);
        assert_eq!(differs, None, "seed {seed}");
        assert_eq!(one.trace.len(), other.trace.len(), "seed {seed}");
    }
}

#[test]
fn every_sabotage_is_found() {
    for sabotage in Sabotage::ALL {
        let found = find([sabotage.seed()].into_iter().chain(1..=300), sabotage);
        let found = found.unwrap_or_else(|| panic!("{sabotage:?} is not found"));
        println!("{sabotage:?}: seed {}: {}", found.script.seed, found.wrong[0]);
    }
}
