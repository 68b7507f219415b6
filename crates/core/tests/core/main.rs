//! The rules of the domain, each as a table of small cases, and the promises that hold over all of them.

#![allow(clippy::unwrap_used, reason = "a test that meets what it does not expect has failed")]

mod random_conversation;
mod world;

mod agent_walk;
mod agents;
mod approval;
mod approval_model;
mod approval_people;
mod approvers;
mod asks;
mod auto;
mod auto_runs;
mod call_text;
mod changes_of_records;
mod choices;
mod commands;
mod compaction;
mod conversation;
mod diff;
mod drafts;
mod execution;
mod external;
mod file_circles;
mod folder_names;
mod fuzz;
mod gate;
mod gateway;
mod glossary;
mod how_to_sign;
mod import;
mod journal;
mod layers;
mod lifecycle;
mod maps;
mod memory;
mod mode;
mod model_check;
mod needs;
mod passkeys;
mod permission;
mod presence;
mod prompt;
mod properties;
mod reference;
mod restored;
mod reviews;
mod rounds;
mod signed_acts;
mod slash;
mod stored_entries;
mod turns;
mod verified_default;
mod workbook;
mod workspace;
