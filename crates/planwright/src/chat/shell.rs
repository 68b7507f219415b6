//! A command of the shell that a person runs from the chat: `!cargo test`.

use std::time::{Duration, Instant};

use planwright_agent::CommandReport;
use planwright_agent::session::progress::Progress;
use planwright_core::permission::RUN_COMMAND;
use planwright_core::turn::ToolStatus;
use tokio::time::{MissedTickBehavior, interval};

use super::conversation::{ChatConversation, REFRESH_INTERVAL};
use super::view::View;
use crate::failure::Failure;
use crate::terminal::palette::DIM;
use crate::terminal::text::{paint, shown};

/// How a command ended.
#[derive(Debug)]
pub(super) enum ShellEnd {
    Ended,
    /// The person or the system does not want to wait.
    Left,
}

impl ChatConversation {
    /// Runs the line in the session's folder, in the sandbox, and shows what it wrote. Ctrl+C and Esc end it.
    pub(super) async fn run_shell(&mut self, line: &str, view: &mut dyn View) -> Result<ShellEnd, Failure> {
        let (agent, session, begun) = (self.agent().clone(), self.session().clone(), Instant::now());
        view.show(&Progress::ToolStarted { name: RUN_COMMAND.to_owned(), detail: line.to_owned() })?;
        let mut ticks = interval(REFRESH_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let running = agent.run_command(&session, line);
        tokio::pin!(running);
        let report = loop {
            let signal = tokio::select! {
                biased;
                signal = self.signals().next() => Some(signal),
                report = &mut running => break report,
                _ = ticks.tick() => {
                    let stop = self.read_keys(view)?;
                    view.tick()?;
                    stop
                }
            };
            match signal {
                Some(crate::signals::Signal::Interrupt) => {
                    tell_end(view, ToolStatus::Failed, "you stopped it", begun.elapsed())?;
                    return Ok(ShellEnd::Ended);
                }
                Some(crate::signals::Signal::Terminate | crate::signals::Signal::Hangup) => return Ok(ShellEnd::Left),
                None => {}
            }
        };
        match report {
            Ok(report) => tell(view, &report, begun.elapsed())?,
            Err(error) => tell_end(view, ToolStatus::Refused, Failure::from(error).message(), begun.elapsed())?,
        }
        Ok(ShellEnd::Ended)
    }
}

fn tell(view: &mut dyn View, report: &CommandReport, took: Duration) -> Result<(), Failure> {
    let lines: String = shown(&report.output).lines().map(|line| format!("  {line}\n")).collect();
    view.line(&lines)?;
    if report.is_cut {
        view.line(&format!("{}\n", paint("  The middle of the output is left out.", DIM)))?;
    }
    match &report.failure {
        Some(failure) => tell_end(view, ToolStatus::Failed, failure, took),
        None => tell_end(view, ToolStatus::Done, "", took),
    }
}

fn tell_end(view: &mut dyn View, status: ToolStatus, detail: &str, took: Duration) -> Result<(), Failure> {
    view.show(&Progress::ToolEnded { name: RUN_COMMAND.to_owned(), status, detail: detail.to_owned(), took })
}
