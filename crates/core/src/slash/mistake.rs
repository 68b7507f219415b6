//! What is said to a person whose command is none.

use std::fmt;

use crate::refusal::Refusal;
use crate::visible::quoted;

/// Its text is for the person and is Markdown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mistake {
    NoSuchCommand {
        /// With its slash.
        written: String,
        /// Whole lines that would be commands, or the beginnings of some.
        suggestions: Vec<String>,
    },
    /// `/plan` and a word that is nearly one of its commands. It is not taken for a text to plan.
    NearlyPlanCommand { written: String, suggestions: Vec<String> },
    WrongArguments {
        problem: String,
        usage: String,
        /// It may have been a text to plan that only begins like a command.
        reads_like_text: bool,
    },
    /// A bare number before a text: it may name a plan or begin the text, so it is asked which.
    PlanOrText {
        number: String,
        /// The line with the number as a plan, and with the number as a word of the text.
        suggestions: [String; 2],
    },
}

const HOW_TO_PLAN_A_TEXT: &str = "To have the text itself planned, begin with `/plan --`.";

impl Mistake {
    pub(super) fn no_such_command(name: &str, suggestions: &[String]) -> Self {
        Self::NoSuchCommand { written: format!("/{name}"), suggestions: suggestions.to_vec() }
    }

    pub(super) fn wrong_arguments(problem: String, usage: String) -> Self {
        Self::WrongArguments { problem, usage, reads_like_text: false }
    }

    /// Notes that what follows `/plan` is long enough to be a text of its own.
    pub(super) fn with_text(self, text: &str) -> Self {
        match self {
            Self::WrongArguments { problem, usage, .. } => {
                let reads_like_text = text.split_whitespace().count() > 2;
                Self::WrongArguments { problem, usage, reads_like_text }
            }
            Self::NoSuchCommand { .. } | Self::NearlyPlanCommand { .. } | Self::PlanOrText { .. } => self,
        }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchCommand { written, suggestions } => {
                write!(f, "There is no command {}. ", quoted(written))?;
                if suggestions.is_empty() {
                    f.write_str("`/help` lists what there is; to send this as a message, begin with `//`.")
                } else {
                    f.write_str(&did_you_mean(suggestions))
                }
            }
            Self::NearlyPlanCommand { written, suggestions } => {
                let question = did_you_mean(suggestions);
                write!(f, "There is no command {}. {question} {HOW_TO_PLAN_A_TEXT}", quoted(written))
            }
            Self::WrongArguments { problem, usage, reads_like_text } => {
                write!(f, "{problem} Usage: `{usage}`.")?;
                if *reads_like_text { write!(f, " {HOW_TO_PLAN_A_TEXT}") } else { Ok(()) }
            }
            Self::PlanOrText { number, suggestions: [plan, text] } => write!(
                f,
                "It is not clear whether {number} is plan {number} or the first word of your text. Write {} for the plan, or {} \
                 for the text.",
                quoted(plan),
                quoted(text),
            ),
        }
    }
}

pub(super) fn did_you_mean(suggestions: &[String]) -> String {
    let lines: Vec<_> = suggestions.iter().map(|line| quoted(line)).collect();
    format!("Did you mean {}?", lines.join(" or "))
}

impl std::error::Error for Mistake {}

impl From<Mistake> for Refusal {
    fn from(mistake: Mistake) -> Self {
        Self::invalid(mistake.to_string())
    }
}
