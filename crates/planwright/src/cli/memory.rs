//! The arguments of `planwright memory`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct MemoryArgs {
    /// The session: its key, or channel:key [default: the only one; asked for if there are several]
    #[arg(long, value_name = "KEY", env = "PLANWRIGHT_SESSION", global = true)]
    pub(crate) session: Option<String>,
    #[command(subcommand)]
    pub(crate) command: MemoryAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum MemoryAction {
    /// List what the session remembers, the newest first
    List {
        /// Where the next page begins; the page before names it
        #[arg(long, value_name = "NEXT")]
        before: Option<u64>,
    },
    /// Find what is remembered about something, the best first
    Search {
        /// Say how each score is made up
        #[arg(long)]
        explain: bool,
        /// How many items at most
        #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u8).range(1..=64))]
        limit: u8,
        /// A question or a few words
        #[arg(value_name = "WORDS", required = true)]
        words: Vec<String>,
    },
    /// Remember something in this session
    Save {
        #[arg(value_name = "TEXT", required = true)]
        text: Vec<String>,
    },
    /// Remember what a file has: a JSON object for each memory, one a line, or a list of them
    ///
    /// Each has `content`, and may have `author` (who said it), `at` (when), `context`, `kind` and `tags`. What was imported
    /// before is not saved again.
    Import {
        /// The file; `-` reads standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Forget a memory; `memory undo` brings it back
    Forget {
        /// Its id, or the end of it
        #[arg(value_name = "ID")]
        memory: String,
    },
    /// Let every session read a memory, after asking
    Promote {
        /// Its id, or the end of it
        #[arg(value_name = "ID")]
        memory: String,
        /// Promote without asking
        #[arg(long, short)]
        yes: bool,
        /// The approver who promotes it, where the policy asks for a passphrase
        #[arg(long, value_name = "NAME")]
        approver: Option<String>,
    },
    /// Undo the last change to the session's memory
    Undo,
    /// List what finished plans, the workbook and the diary offer to be remembered
    Offers,
    /// Remember what was offered
    Accept {
        /// The id of the offer, or the end of it
        #[arg(value_name = "ID")]
        offer: String,
    },
    /// Do not offer it again
    Decline {
        /// The id of the offer, or the end of it
        #[arg(value_name = "ID")]
        offer: String,
    },
}
