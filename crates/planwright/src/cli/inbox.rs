//! The arguments of `planwright inbox`.

use clap::{Args, Subcommand};

pub(super) const INBOX: &str = "\
Something is named by its id, or by any unique piece of its id of six characters or more. Without a name the only thing that \
waits is meant; among several you are asked. The id of a step to look at ends in the position of the step, so that an answer is \
never for a later step.

With --wait the command ends with exit code 0 as soon as something waits, and with 3 if Ctrl+C ends it before.";

const ANSWER: &str = "\
The choices:
  plan        approve, revise -- WORDS, reject [-- WORDS]
  permission  once, plan, always, no [-- WORDS]
  question    the answer, or the number of a choice; several answers follow `--`
  step        next, revise -- WORDS, stop
  uncertain   retry, skip, stop
  run         resume, cancel [-- WORDS]

A plan and a call are shown before they are approved or permitted. Where there is no terminal to ask on, --digest names what \
was shown.";

#[derive(Debug, Args)]
pub(crate) struct InboxArgs {
    /// Only what waits in this session: its key, or channel:key [default: all sessions]
    #[arg(long, global = true, value_name = "KEY")]
    pub(crate) session: Option<String>,
    /// If nothing waits, wait until something does
    #[arg(long)]
    pub(crate) wait: bool,
    #[command(subcommand)]
    pub(crate) command: Option<InboxCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum InboxCommand {
    /// List what waits for you (the default)
    List {
        /// If nothing waits, wait until something does
        #[arg(long)]
        wait: bool,
    },
    /// Show everything about what is to be decided
    Show {
        /// Its id, or six or more characters of its id [default: the only thing that waits]
        #[arg(value_name = "ID")]
        id: Option<String>,
    },
    /// Open the page of the dashboard on which it is decided, or print its address
    Open {
        /// Its id, or six or more characters of its id
        #[arg(value_name = "ID")]
        id: String,
        /// Only print the address
        #[arg(long)]
        print: bool,
    },
    /// Decide
    #[command(after_help = ANSWER)]
    Answer(InboxAnswerArgs),
}

#[derive(Debug, Args)]
pub(crate) struct InboxAnswerArgs {
    /// Its id, or six or more characters of its id [default: the only thing that waits]
    #[arg(value_name = "ID")]
    pub(crate) id: Option<String>,
    /// What you decide [default: you are asked]
    #[arg(value_name = "CHOICE")]
    pub(crate) choice: Option<String>,
    /// Decide about exactly this, without being asked: the digest as `inbox show` shows it
    #[arg(long, value_name = "HEX")]
    pub(crate) digest: Option<String>,
    /// The approver who decides, where the policy asks for a passphrase
    #[arg(long, value_name = "NAME")]
    pub(crate) approver: Option<String>,
    /// What you say to the agent about it, or your answers
    #[arg(last = true, value_name = "WORDS")]
    pub(crate) words: Vec<String>,
}
