//! What a person does whose act lacks a signature: they typed it in a message, pressed it in a chat, or sent it without a
//! passphrase. Every surface says it in these words.

use std::fmt;

use crate::approval::Approvers;
use crate::ask::Grant;
use crate::auto::NewSchedule;
use crate::choices::{PlanChoice, grant_label, plan_choice};
use crate::command::StuckChoice;
use crate::ids::{AskId, MemoryId};
use crate::plan::Plan;
use crate::plan::approval::Selection;
use crate::refusal::Refusal;
use crate::session::{Channel, SessionIdentity};
use crate::upstream::ServerName;
use crate::visible::visible;

/// An act that an approver signs, as a person finds it.
#[derive(Debug, Clone)]
pub enum ToSign<'a> {
    Approve {
        plan: &'a Plan,
        selection: &'a Selection,
        step_by_step: bool,
    },
    Resume {
        plan: &'a Plan,
        after_step: Option<usize>,
    },
    Settle {
        plan: &'a Plan,
        choice: StuckChoice,
    },
    Permit {
        ask: &'a AskId,
        grant: Grant,
    },
    /// The words that name what it works on, as `/auto on` takes them.
    StartRun {
        on: String,
    },
    ResumeRun {
        number: u32,
    },
    /// With the number of its goal.
    AddSchedule {
        new: &'a NewSchedule,
        goal: Option<u32>,
    },
    ResumeSchedule {
        number: u32,
    },
    Promote(&'a MemoryId),
    AcceptTools(&'a ServerName),
}

/// Where an act is signed.
struct Place {
    /// The page of the dashboard.
    page: String,
    button: String,
    /// The words after `planwright`, for a shell.
    command: String,
}

/// Refuses an act that an approver has to sign, and names at most two steps to sign it. The session is the one that the act belongs to.
pub fn how_to_sign(act: &ToSign<'_>, session: Option<&SessionIdentity>, approvers: &Approvers) -> Refusal {
    let Place { page, button, command } = act.place(session);
    let sign = format!(
        "in the dashboard at `{page}`, with “{button}”, or in a terminal with `planwright {command}`. Both ask for the passphrase; the \
         dashboard takes a passkey, too."
    );
    Refusal::policy_denied(match approvers.is_empty() {
        false => format!("To {act} takes an approver's signature, which no message carries. Sign it {sign}"),
        true => format!(
            "To {act} takes an approver's signature, and no approver is enrolled. First enrol yourself in a terminal: `planwright init`. Then \
             sign it {sign}"
        ),
    })
}

impl fmt::Display for ToSign<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Approve { plan, .. } => write!(f, "approve plan {}", plan.number),
            Self::Resume { plan, .. } => write!(f, "continue plan {}", plan.number),
            Self::Settle { plan, choice } => write!(f, "{} the step of plan {}", choice.as_str(), plan.number),
            Self::Permit { .. } => f.write_str("permit this call"),
            Self::StartRun { .. } => f.write_str("start a run"),
            Self::ResumeRun { number } => write!(f, "let run {number} continue"),
            Self::AddSchedule { .. } => f.write_str("add a schedule"),
            Self::ResumeSchedule { number } => write!(f, "let schedule {number} continue"),
            Self::Promote(_) => f.write_str("let every session read a memory"),
            Self::AcceptTools(server) => write!(f, "accept the tools of `{server}`"),
        }
    }
}

impl ToSign<'_> {
    fn place(&self, session: Option<&SessionIdentity>) -> Place {
        let of_session = |words: String| match session {
            Some(session) => format!("{words} --session {}", shell_word(&session.to_string())),
            None => words,
        };
        let room =
            |name: &str| session.map_or_else(|| "/".to_owned(), |session| format!("/s/{}/{name}", in_address(session)));
        let of_plan = |plan: &Plan, choice: PlanChoice, words: String| Place {
            page: format!("/p/{}", plan.id),
            button: plan_choice(plan, choice).label,
            command: of_session(format!("plan {words}")),
        };
        let in_room = |name: &str, button: &str, words: String| Place {
            page: room(name),
            button: button.to_owned(),
            command: of_session(words),
        };
        match self {
            Self::Approve { plan, selection, step_by_step } => {
                let pace = if *step_by_step { " --step-by-step" } else { "" };
                let words = format!("approve {}{}{pace}", plan.number, selected(selection));
                of_plan(plan, PlanChoice::Approve, words)
            }
            Self::Resume { plan, after_step } => {
                let choice = after_step.map_or(PlanChoice::Resume, |after_step| PlanChoice::Next { after_step });
                of_plan(plan, choice, format!("resume {}", plan.number))
            }
            Self::Settle { plan, choice } => {
                of_plan(plan, PlanChoice::Settle(*choice), format!("resume {} --{}", plan.number, choice.as_str()))
            }
            Self::Permit { ask, grant } => Place {
                page: format!("/?item={ask}"),
                button: grant_label(*grant).to_owned(),
                command: format!("inbox answer {ask} {}", grant.as_str()),
            },
            Self::StartRun { on } => {
                let on = if on.is_empty() { String::new() } else { format!(" {}", shell_word(on)) };
                in_room("runs", "Start a run", format!("auto on{on}"))
            }
            Self::ResumeRun { number } => in_room("runs", "Continue", format!("auto resume {number}")),
            Self::AddSchedule { new, goal } => in_room("runs", "New schedule", schedule_words(new, *goal)),
            Self::ResumeSchedule { number } => in_room("runs", "Resume", format!("schedule resume {number}")),
            Self::Promote(memory) => in_room("memory", "Let every session read it", format!("memory promote {memory}")),
            Self::AcceptTools(server) => Place {
                page: format!("/?item=mcp-server-{server}"),
                button: "Accept these tools".to_owned(),
                command: format!("mcp-server accept {server}"),
            },
        }
    }
}

/// The session as addresses of the dashboard name it.
fn in_address(session: &SessionIdentity) -> String {
    match session.channel {
        Channel::Web => session.conversation.to_string(),
        Channel::Telegram | Channel::Cli | Channel::Mcp | Channel::Acp | Channel::Legacy => session.to_string(),
    }
}

fn selected(selection: &Selection) -> String {
    let (option, positions) = match selection {
        Selection::All => return String::new(),
        Selection::Only(positions) => ("only", positions),
        Selection::Skip(positions) => ("skip", positions),
    };
    let positions: Vec<_> = positions.iter().map(ToString::to_string).collect();
    format!(" --{option} {}", positions.join(","))
}

fn schedule_words(new: &NewSchedule, goal: Option<u32>) -> String {
    let zone = new.zone.as_ref().map(|zone| format!("tz={zone}"));
    let most = new.max_executions.map(|most| format!("max={most}"));
    let goal = goal.map(|goal| format!("goal={goal}"));
    let words = [Some(new.expression.clone()), zone, most, goal, Some(new.title.clone())];
    let words: Vec<_> = words.into_iter().flatten().map(|word| shell_word(&word)).collect();
    format!("schedule add {}", words.join(" "))
}

/// One word for a shell.
fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,=@%+".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", visible(word).replace('\'', r"'\''")),
    }
}
