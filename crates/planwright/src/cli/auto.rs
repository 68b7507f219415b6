//! The arguments of `planwright auto`, `goal`, `task`, `schedule` and `diary`. What follows is what follows the slash command of
//! the same name.

use clap::Args;

pub(super) const AUTO: &str = "\
`planwright auto on` works until the run pauses or ends, and shows it; Ctrl+C ends the run. A server (`planwright serve`) keeps runs \
going by itself, and starts those of schedules.";

#[derive(Debug, Args)]
pub(crate) struct AutoArgs {
    #[command(flatten)]
    pub(crate) of: SessionArg,
    /// The approver who starts it, where the policy asks for a passphrase
    #[arg(long, value_name = "NAME")]
    pub(crate) approver: Option<String>,
    /// `on [GOAL | task TASK]`, `off [RUN]`, `resume [RUN]` or `status`
    #[arg(value_name = "WORDS")]
    pub(crate) words: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct GoalArgs {
    #[command(flatten)]
    pub(crate) of: SessionArg,
    /// `add TITLE`, `list`, or `show`, `pause`, `resume`, `done`, `cancel` and a goal
    #[arg(value_name = "WORDS")]
    pub(crate) words: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct TaskArgs {
    #[command(flatten)]
    pub(crate) of: SessionArg,
    /// `add [#GOAL] TITLE`, `list`, or `done`, `fail`, `skip`, `open` and a task
    #[arg(value_name = "WORDS")]
    pub(crate) words: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ScheduleArgs {
    #[command(flatten)]
    pub(crate) of: SessionArg,
    /// The approver who starts it, where the policy asks for a passphrase
    #[arg(long, value_name = "NAME")]
    pub(crate) approver: Option<String>,
    /// `add 'CRON' [tz=ZONE] [max=N] [goal=N] WHAT`, `list`, or `pause`, `resume`, `delete` and a schedule
    #[arg(value_name = "WORDS")]
    pub(crate) words: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct DiaryArgs {
    #[command(flatten)]
    pub(crate) of: SessionArg,
    /// `add TEXT`; without it the diary is shown
    #[arg(value_name = "WORDS")]
    pub(crate) words: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct SessionArg {
    /// The session: its key, or channel:key [default: the only one; asked for if there are several]
    #[arg(long, value_name = "KEY", env = "PLANWRIGHT_SESSION")]
    pub(crate) session: Option<String>,
    /// Who answers in a run [default: the setting `model`, else rehearsal]
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
}
