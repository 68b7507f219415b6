//! The result of a command as the model reads it.

use std::time::Duration;

use planwright_sandbox::{CapturedOutput, CommandEnd, CommandResult, RepositoryReport};
use serde_json::{Value, json};

use crate::toolbox::ToolAnswer;
use crate::toolbox::files::CommandFolder;

/// A command that has ended. Without success it is a failure, which the model reads all the same.
pub(super) fn ended(number: u64, result: &CommandResult, timeout: Option<Duration>) -> ToolAnswer {
    let mut value = output(number, &result.output);
    value["exit_code"] = json!(result.end.exit_code());
    value["duration_ms"] = json!(u64::try_from(result.duration.as_millis()).unwrap_or(u64::MAX));
    value["ended"] = end_name(&result.end).into();
    let failure = with_repositories(&mut value, &result.repositories, failure(&result.end, timeout));
    if let Some(message) = &failure {
        value["message"] = message.clone().into();
    }
    ToolAnswer { failure, ..ToolAnswer::from(value) }
}

/// Tells what the command did to repositories. What was refused is a failure, whatever the command's own end.
fn with_repositories(value: &mut Value, report: &RepositoryReport, failure: Option<String>) -> Option<String> {
    let RepositoryReport { refused, replaced, made, more_made, incomplete } = report;
    if !refused.is_empty() {
        value["refused"] = json!(refused);
    }
    if !replaced.is_empty() {
        value["replaced_by_others"] = json!(replaced);
    }
    let shown = made.iter().map(|made| json!({"path": made.path, "config": made.config, "hooks": made.hooks}));
    let shown: Vec<_> = shown.collect();
    if !shown.is_empty() {
        value["repositories_made"] = shown.into();
    }
    if *more_made > 0 {
        value["more_repositories_made"] = json!(more_made);
    }
    if *incomplete {
        value["repositories_searched"] = "The workspace has too many files to look for every repository.".into();
    }
    if refused.is_empty() {
        return failure;
    }
    let put_back = format!(
        "Git would run or obey what the command wrote there, so it was put back: {}. Ask the person to do it.",
        refused.join(", ")
    );
    Some(failure.map_or_else(|| put_back.clone(), |failure| format!("{failure} {put_back}")))
}

/// What is known of the output, while the command runs or afterwards.
pub(super) fn output(number: u64, output: &CapturedOutput) -> Value {
    let truncated = output.omitted_bytes() > 0;
    let mut value = json!({ "output": output.text(), "truncated": truncated });
    if truncated {
        value["output_file"] = CommandFolder::shown_output(number).into();
        value["output_bytes"] = output.total_bytes.into();
    }
    if let Some(problem) = &output.file_problem {
        value["output_file_problem"] = problem.clone().into();
    }
    value
}

fn end_name(end: &CommandEnd) -> &'static str {
    match end {
        CommandEnd::Exited { .. } => "exited",
        CommandEnd::Signalled { .. } => "signalled",
        CommandEnd::TimedOut => "timed_out",
        CommandEnd::Stopped => "stopped",
        CommandEnd::Lost { .. } => "lost",
    }
}

fn failure(end: &CommandEnd, timeout: Option<Duration>) -> Option<String> {
    match end {
        CommandEnd::Exited { code: 0 } => None,
        CommandEnd::Exited { code } => Some(format!("The command ended with exit code {code}.")),
        CommandEnd::Signalled { signal } => Some(format!("The command was ended by signal {signal}.")),
        CommandEnd::TimedOut => {
            let after = timeout.map(|time| format!(" of {} seconds", time.as_secs())).unwrap_or_default();
            Some(format!("The command reached its time limit{after} and was ended with everything that it started."))
        }
        CommandEnd::Stopped => Some("The command was stopped.".to_owned()),
        CommandEnd::Lost { reason } => {
            Some(format!("The command's supervisor was lost, so its result is not known: {reason}."))
        }
    }
}
