//! How far Planwright is from the limit. Each figure stands beside the limit measured in the same run, as a ratio,
//! because absolute times say more about the machine than about the program.
//!
//! `planwright-bench commits [FOLDER]`   durable commits on SQLite, and on PostgreSQL if `PLANWRIGHT_TEST_POSTGRES` is set
//! `planwright-bench size [FOLDER]`      the same with 10 and with 100,000 plans in the store
//! `planwright-bench turns [FOLDER]`     turns beside the model: sessions, history, bytes and memory
//! `planwright-bench steps [FOLDER]`     approved calls carried out
//! `planwright-bench search [FOLDER]`    a search through 100,000 files, beside `rg`
//! `planwright-bench sandbox [FOLDER]`   a command that does nothing, bare and in the sandbox
//! `planwright-bench memory PATH [FOLDER]`  how much of the evidence in dialogues of LoCoMo's layout is found again
//! `planwright-bench memory-latency [FOLDER [SIZE…]]`  a search with 1,000 visible memories among 100,000 and 1,000,000
//! `planwright-bench telegram [FOLDER]` updates taken in a second beside a bare loop that stores them, and the time to an answer
//! `planwright-bench mcp PLANWRIGHT`     round trips over MCP stdio of the program PLANWRIGHT
//! `planwright-bench gateway PLANWRIGHT [FOLDER]`  a call through the gateway, beside the bare upstream server
//! `planwright-bench hook PLANWRIGHT [FOLDER]`     the hook of a client before a call, with 1 and with 100,000 sessions, beside `true`
//! `planwright-bench cold-start PLANWRIGHT [FOLDER]`  from the start of `planwright mcp` to its list of tools
//! `planwright-bench chat PLANWRIGHT [FOLDER]`  from the start of the chat to its prompt, and from a key to the screen, beside `true`
//! `planwright-bench serve PLANWRIGHT [FOLDER]`  the server: requests a second, and a thousand followers
//! `planwright-bench load SESSIONS FOLDER|postgres://…`  a store with so many sessions; one that has some of them gets the others
//! `planwright-bench scale PLANWRIGHT FOLDER|postgres://… SESSIONS…`  what a store of each size costs the server that has it
//! `planwright-bench compare BEFORE AFTER [--rounds N] [--only MEASUREMENT] [--folder FOLDER]`  everything that `make bench` prints,
//! of two builds of this program in turn
//! `planwright-bench side-by-side OLD NEW MEASUREMENT [ROUNDS [FOLDER]]`  commits, turns or steps of two builds at once
//!
//! `--json` before the measurement prints a line of JSON for each figure, and nothing else.

mod bare;
mod chat;
mod client;
mod commits;
mod compare;
mod figures;
mod ledger;
mod load;
mod mcp;
mod memory;
mod sandbox;
mod scale;
mod search;
mod serve;
mod side_by_side;
mod size;
mod steps;
mod telegram;
mod times;
mod turns;
mod upstream;

use std::path::PathBuf;

use anyhow::Context as _;

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mut command = arguments.next().unwrap_or_default();
    if command == "--json" {
        figures::print_json();
        command = arguments.next().unwrap_or_default();
    }
    if command == "compare" {
        let options = compare::Options::parse(arguments)?;
        let is_good = compare::run(&options, &scratch(options.folder.clone())?)?;
        return if is_good { Ok(()) } else { anyhow::bail!("a rate fell below 0.95 of what it was") };
    }
    let folder = arguments.next();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    match command.as_str() {
        "commits" => runtime.block_on(commits::run(&scratch(folder)?)),
        "size" => runtime.block_on(size::run(&scratch(folder)?)),
        "turns" => runtime.block_on(turns::run(&scratch(folder)?)),
        "steps" => runtime.block_on(steps::run(&scratch(folder)?)),
        "search" => runtime.block_on(search::run(&scratch(folder)?)),
        "sandbox" => runtime.block_on(sandbox::run(&scratch(folder)?)),
        "telegram" => runtime.block_on(telegram::run(&scratch(folder)?)),
        "upstream" => runtime.block_on(upstream::run(&scratch(folder)?)),
        "memory" => {
            let path = folder.context("say where the dialogues are: memory PATH [FOLDER]")?;
            runtime.block_on(memory::run(&PathBuf::from(path), &scratch(arguments.next())?))
        }
        "memory-latency" => {
            let sizes = arguments.map(|size| size.parse()).collect::<Result<Vec<usize>, _>>();
            let sizes = sizes.context("sizes are numbers of memories: memory-latency FOLDER SIZE…")?;
            runtime.block_on(memory::run_latency(&scratch(folder)?, &sizes))
        }
        "mcp" => mcp::run(&PathBuf::from(folder.unwrap_or_else(|| "planwright".to_owned()))),
        "gateway" | "hook" | "cold-start" | "chat" => {
            let program = PathBuf::from(folder.unwrap_or_else(|| "planwright".to_owned()));
            let scratch = scratch(arguments.next())?;
            match command.as_str() {
                "gateway" => client::run_gateway(&program, &scratch),
                "hook" => runtime.block_on(client::run_hook(&program, &scratch)),
                "chat" => runtime.block_on(chat::run(&program, &scratch)),
                _ => client::run_cold_start(&program, &scratch),
            }
        }
        "serve" => {
            let program = PathBuf::from(folder.unwrap_or_else(|| "planwright".to_owned()));
            runtime.block_on(serve::run(&program, &scratch(arguments.next())?))
        }
        "load" => {
            const USAGE: &str = "say how many sessions and where: load SESSIONS FOLDER|postgres://…";
            let sessions = folder.context(USAGE)?.parse().context(USAGE)?;
            let place = scale::Place::new(&arguments.next().context(USAGE)?)?;
            runtime.block_on(load::run(&place.location()?, sessions))
        }
        "scale" => {
            const USAGE: &str = "say what, where and how many: scale PLANWRIGHT FOLDER|postgres://… SESSIONS…";
            let (program, place) = (folder.context(USAGE)?, scale::Place::new(&arguments.next().context(USAGE)?)?);
            let sizes = arguments.map(|size| size.parse()).collect::<Result<Vec<usize>, _>>().context(USAGE)?;
            runtime.block_on(scale::run(&PathBuf::from(program), &place, &sizes))
        }
        "side-by-side" => {
            const USAGE: &str = "say which builds: side-by-side OLD NEW commits|turns|steps [ROUNDS [FOLDER]]";
            let (old, new) = (folder.context(USAGE)?, arguments.next().context(USAGE)?);
            let measurement = arguments.next().context(USAGE)?;
            let rounds = arguments.next().map_or(Ok(3), |rounds| rounds.parse()).context(USAGE)?;
            let (old, new) = (PathBuf::from(old), PathBuf::from(new));
            runtime.block_on(side_by_side::run(&old, &new, &measurement, rounds, &scratch(arguments.next())?))
        }
        _ => anyhow::bail!(
            "say what to measure: commits [FOLDER], size [FOLDER], turns [FOLDER], steps [FOLDER], search [FOLDER], \
             sandbox [FOLDER], upstream [FOLDER], telegram [FOLDER], memory PATH [FOLDER], memory-latency [FOLDER [SIZE…]], \
             mcp PLANWRIGHT, gateway PLANWRIGHT [FOLDER], hook PLANWRIGHT [FOLDER], cold-start PLANWRIGHT [FOLDER], \
             chat PLANWRIGHT [FOLDER], \
             serve PLANWRIGHT [FOLDER], load SESSIONS WHERE, scale PLANWRIGHT WHERE SESSIONS…, {} or side-by-side OLD NEW MEASUREMENT [ROUNDS [FOLDER]]",
            compare::USAGE
        ),
    }
}

/// A folder on the disk that is to be measured; the system's temporary folder may be in memory.
fn scratch(folder: Option<String>) -> anyhow::Result<tempfile::TempDir> {
    Ok(tempfile::tempdir_in(folder.unwrap_or_else(|| ".".to_owned()))?)
}
