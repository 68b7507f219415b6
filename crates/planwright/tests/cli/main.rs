//! The program as its users meet it: the real binary, on real stores in temporary folders.

#![allow(clippy::unwrap_used, reason = "a test that meets the unexpected should stop")]

mod approval;
mod approval_boundary;
mod approval_terminal;
mod auto;
mod backup;
mod chat;
mod chat_models;
mod chat_sessions;
mod chat_terminal;
mod clients;
mod commands;
mod decisions;
mod deployment;
mod doctor;
mod executions;
mod gateway;
mod gateway_injections;
mod gateway_resources;
mod gateway_start;
mod hostile;
mod import;
mod inbox;
mod mcp;
mod mcp_servers;
mod memory;
mod paused;
mod plan_queries;
mod projects;
mod provider;
mod sdk;
mod service_user;
mod sessions;
mod settings;
mod sign_in;
mod specialists;
mod telegram;
mod terminal;
mod token;
mod tour;
mod troubleshooting;
mod verification;
mod watch;
mod workbook;
mod world;
