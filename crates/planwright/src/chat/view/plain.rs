//! For pipes and for terminals that only write: the answers on stdout, and what happens meanwhile on stderr.

use std::io::Write as _;

use planwright_agent::session::outcome::Answer;
use planwright_agent::session::progress::Progress;

use super::View;
use crate::chat::lines;
use crate::chat::output::{self, OutputLines};
use crate::failure::Failure;
use crate::terminal::chat_card::CardForm;
use crate::terminal::{markdown, screen};

#[derive(Debug, Default)]
pub(in crate::chat) struct PlainView {
    /// What the model says beside its calls.
    streamed: String,
    /// What the call under way is about.
    about: String,
    /// What the command under way has written.
    output: OutputLines,
    answered: bool,
    /// What waits, as it was shown last.
    queued: Vec<String>,
}

impl View for PlainView {
    fn show(&mut self, progress: &Progress) -> Result<(), Failure> {
        let width = screen::width();
        match progress {
            Progress::ModelCalled | Progress::Again { .. } => self.streamed.clear(),
            Progress::Text(piece) => self.streamed.push_str(piece),
            // The last words are the answer; these would be lost.
            Progress::Replied { calls: 1.. } => {
                let streamed = std::mem::take(&mut self.streamed);
                write(&markdown::render(streamed.trim(), width))?;
            }
            Progress::ToolStarted { detail, .. } => self.about.clone_from(detail),
            Progress::ToolOutput { text, .. } => write_lines(self.output.push(text), width)?,
            Progress::ToolEnded { .. } | Progress::StepEnded { .. } => {
                write_lines(self.output.finish(), width)?;
            }
            Progress::Replied { calls: 0 }
            | Progress::WaitingForOthers
            | Progress::Accepted(_)
            | Progress::Resumed(_)
            | Progress::Finished(_)
            | Progress::StepStarted { .. }
            | Progress::Said(_)
            | Progress::Compacting
            | Progress::Compacted { .. } => {}
        }
        match lines::line(progress, &self.about, width) {
            Some(line) => write(&line),
            None => Ok(()),
        }
    }

    fn stopping(&mut self) -> Result<(), Failure> {
        write(&lines::note("…", "Stopping; Ctrl+C again leaves at once.", screen::width()))
    }

    fn queued(&mut self, lines: Vec<String>) -> Result<(), Failure> {
        for line in lines.iter().filter(|line| !self.queued.contains(line)) {
            write(&format!("{line}\n"))?;
        }
        self.queued = lines;
        Ok(())
    }

    fn message(&mut self, markdown: &str) -> Result<(), Failure> {
        self.print(&markdown::render(markdown, screen::width()))
    }

    fn answer(&mut self, answer: &Answer) -> Result<(), Failure> {
        self.streamed.clear();
        self.print(&super::answer_text(answer, "", CardForm::Whole, screen::width()))
    }
}

impl PlainView {
    fn print(&mut self, text: &str) -> Result<(), Failure> {
        let gap = if std::mem::replace(&mut self.answered, true) { "\n" } else { "" };
        let mut stdout = anstream::stdout().lock();
        write!(stdout, "{gap}{text}")?;
        Ok(stdout.flush()?)
    }
}

fn write_lines(lines: impl IntoIterator<Item = String>, width: usize) -> Result<(), Failure> {
    lines.into_iter().try_for_each(|line| write(&format!("{}\n", output::indented(&line, width))))
}

fn write(text: &str) -> Result<(), Failure> {
    Ok(anstream::stderr().lock().write_all(text.as_bytes())?)
}
