//! For a terminal: what is finished is written once and stays; below it, what is still being said and what is waited
//! for is drawn anew as it changes. In the inline interface the box in which the person types is below that.

use std::time::Instant;

use jiff::Timestamp;
use planwright_agent::session::outcome::Answer;
use planwright_agent::session::progress::Progress;
use planwright_core::ids::PlanId;
use planwright_core::plan::Plan;

use super::region::Region;
use super::steps::PlanSteps;
use super::{DrawnInput, View};
use crate::chat::lines;
use crate::chat::output::OutputLines;
use crate::chat::stream::Stream;
use crate::failure::Failure;
use crate::terminal::chat_card::CardForm;
use crate::terminal::live::{self, put, width};
use crate::terminal::markdown::{self, Headings};
use crate::terminal::palette::{BOLD, COMMAND, DIM};
use crate::terminal::screen;
use crate::terminal::text::{Span, count, cut, fit, paint, painted, shown, wrap};

/// A block that is longer is shown by its end, without being read as Markdown ten times a second.
const MAX_RENDERED_BYTES: usize = 8 * 1024;

/// A longer message is shown by its beginning once it is sent.
const MAX_SENT_ROWS: usize = 10;

#[derive(Debug, Default)]
pub(in crate::chat) struct LiveView {
    stream: Stream,
    /// What the model said in this reply, as far as it counts.
    streamed: String,
    doing: Option<Activity>,
    /// What the command under way has written.
    output: OutputLines,
    /// What the call under way is about.
    about: String,
    /// The rows that are drawn anew.
    region: Region,
    /// The box in which the person types, if there is one.
    input: Option<DrawnInput>,
    above: LineAbove,
    ticks: usize,
    /// What the person typed meanwhile and waits.
    queued: Vec<String>,
    steps: PlanSteps,
    /// Something was answered, and the turn that asked has not gone on yet.
    was_answered: bool,
    /// The plan that keys decide about.
    has_keys: Option<PlanId>,
}

/// What is waited for.
#[derive(Debug)]
struct Activity {
    what: String,
    about: String,
    since: Instant,
}

/// What stands above, which says whether a blank line belongs between.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum LineAbove {
    /// Nothing of ours yet.
    #[default]
    Nothing,
    Prompt,
    Line,
    Block,
}

impl View for LiveView {
    fn show(&mut self, progress: &Progress) -> Result<(), Failure> {
        let width = width();
        match progress {
            Progress::WaitingForOthers => self.wait_for("waiting for another process", "Ctrl+C stops waiting"),
            Progress::Accepted(_) | Progress::Resumed(_) | Progress::Finished(_) => self.begin()?,
            Progress::ModelCalled => {
                self.streamed.clear();
                self.wait_for("thinking", "");
            }
            Progress::Text(piece) => {
                if self.streamed.is_empty() {
                    self.wait_for("answering", "");
                }
                self.streamed.push_str(piece);
                self.stream.push(piece);
                // The next tick draws it.
                return Ok(());
            }
            Progress::Again { .. } => {
                self.forget()?;
                self.wait_for("waiting to try again", "");
            }
            Progress::Replied { .. } => {
                self.flush()?;
                self.doing = None;
            }
            Progress::ToolStarted { name, detail } => {
                self.about.clone_from(detail);
                self.output.clear();
                self.wait_for(name, detail);
            }
            Progress::ToolOutput { text, .. } => {
                self.output.push(text);
                // The next tick draws it.
                return Ok(());
            }
            Progress::StepStarted { about, .. } => self.wait_for("carrying out", about),
            Progress::ToolEnded { .. } | Progress::StepEnded { .. } => {
                self.doing = None;
                self.keep_output(width)?;
            }
            Progress::Said(_) | Progress::Compacted { .. } => self.doing = None,
            Progress::Compacting => self.wait_for("summarising the earlier conversation", ""),
        }
        // The turn waited for an answer, which the person has given.
        let was_answered = matches!(progress, Progress::Resumed(_)) && std::mem::take(&mut self.was_answered);
        if !was_answered
            && !self.steps.tells(progress)
            && let Some(line) = lines::line(progress, &self.about, width)
        {
            self.write(&line, LineAbove::Line)?;
        }
        self.draw()
    }

    fn plan(&mut self, plan: &Plan, at: Timestamp) -> Result<(), Failure> {
        let ended = self.steps.take(plan, at, width());
        self.write(&ended, LineAbove::Line)?;
        self.draw()
    }

    fn tick(&mut self) -> Result<(), Failure> {
        self.ticks += 1;
        if let Some(finished) = self.stream.take_finished() {
            self.block(&finished)?;
        }
        self.draw()
    }

    fn stopping(&mut self) -> Result<(), Failure> {
        self.wait_for("stopping", "Ctrl+C again leaves at once");
        self.draw()
    }

    fn queued(&mut self, lines: Vec<String>) -> Result<(), Failure> {
        // The next tick draws it.
        self.queued = lines;
        Ok(())
    }

    fn input(&mut self, input: DrawnInput) -> Result<(), Failure> {
        self.input = Some(input);
        self.draw()
    }

    fn sent(&mut self, text: &str) -> Result<(), Failure> {
        self.input = None;
        let room = width().saturating_sub(2);
        let text = shown(text);
        let mut rows: Vec<String> = Vec::new();
        for line in text.lines() {
            rows.extend(wrap(&[Span::new(line, BOLD)], room).iter().map(|row| painted(row)));
        }
        // The whole text is in the conversation.
        let more = rows.len().saturating_sub(MAX_SENT_ROWS);
        rows.truncate(MAX_SENT_ROWS);
        rows.extend((more > 0).then(|| paint(&format!("… and {}", count(more, "more row")), DIM)));
        let mark = paint("›", COMMAND);
        let marks = std::iter::once(mark.as_str()).chain(std::iter::repeat(" "));
        let lines: String = rows.iter().zip(marks).map(|(row, mark)| format!("{mark} {row}\n")).collect();
        self.write(&lines, LineAbove::Block)?;
        self.above = LineAbove::Prompt;
        self.region.clear("")
    }

    fn drawn(&mut self, text: &str) -> Result<(), Failure> {
        if self.region.has_cursor() {
            return self.write(text, LineAbove::Block);
        }
        put("", text)
    }

    fn line(&mut self, text: &str) -> Result<(), Failure> {
        self.write(text, LineAbove::Line)
    }

    fn offer_keys(&mut self, plan: Option<PlanId>) {
        self.has_keys = plan;
    }

    fn leave(&mut self) -> Result<(), Failure> {
        self.input = None;
        self.region.clear("")
    }

    fn forget_rows(&mut self) {
        self.region.forget();
    }

    fn message(&mut self, markdown: &str) -> Result<(), Failure> {
        self.doing = None;
        self.was_answered = true;
        self.flush()?;
        self.block(markdown)?;
        self.draw()
    }

    fn answer(&mut self, answer: &Answer) -> Result<(), Failure> {
        self.doing = None;
        self.keep_output(width())?;
        self.flush()?;
        let streamed = std::mem::take(&mut self.streamed);
        let text = super::answer_text(answer, &streamed, self.form(answer), width());
        self.write(&text, LineAbove::Block)?;
        self.give_up()
    }

    fn give_up(&mut self) -> Result<(), Failure> {
        self.was_answered = false;
        self.keep_output(width())?;
        self.begin()?;
        self.doing = None;
        self.steps.hide();
        if self.region.has_cursor() {
            self.input = None;
            return self.region.clear("");
        }
        let gap = match self.above {
            LineAbove::Nothing | LineAbove::Prompt => "",
            LineAbove::Line | LineAbove::Block => "\n",
        };
        self.region.clear(gap)?;
        self.above = LineAbove::Prompt;
        Ok(())
    }
}

impl LiveView {
    /// With a box in which the person types.
    pub(in crate::chat) fn with_input() -> Self {
        Self { region: Region::with_cursor(), ..Self::default() }
    }

    fn form(&self, answer: &Answer) -> CardForm {
        let has_keys = || answer.plan.as_ref().is_some_and(|card| self.has_keys.as_ref() == Some(&card.plan_id));
        match self.region.has_cursor() {
            false => CardForm::Whole,
            true if has_keys() => CardForm::WithKeys,
            true => CardForm::Short,
        }
    }

    fn rendered(&self, text: &str, width: usize) -> String {
        let headings = if self.region.has_cursor() { live::headings() } else { Headings::Marked };
        markdown::render_with(text.trim_matches('\n'), width, headings)
    }

    /// A turn begins; what came before is complete.
    fn begin(&mut self) -> Result<(), Failure> {
        self.flush()?;
        self.streamed.clear();
        self.wait_for("waiting", "");
        Ok(())
    }

    fn wait_for(&mut self, what: &str, about: &str) {
        let (what, about) = (lines::one_line(what), lines::one_line(about));
        self.doing = Some(Activity { what, about, since: Instant::now() });
    }

    /// What was said in this reply does not count. What of it stays on the screen has to say so.
    fn forget(&mut self) -> Result<(), Failure> {
        let unfinished = self.stream.take_rest();
        let written = self.streamed.trim().len() > unfinished.trim().len();
        self.streamed.clear();
        if written {
            let line = lines::note("↻", "The answer above broke off and does not count.", width());
            self.write(&line, LineAbove::Line)?;
        }
        Ok(())
    }

    /// Everything that was said so far, for good.
    fn flush(&mut self) -> Result<(), Failure> {
        let rest = self.stream.take_rest();
        self.block(&rest)
    }

    fn block(&mut self, text: &str) -> Result<(), Failure> {
        if !text.trim().is_empty()
            && let Some(speaker) = self.steps.next_speaker()
        {
            self.write(&format!("{}\n", paint(&lines::one_line(&speaker), DIM)), LineAbove::Block)?;
            // The words stand right below.
            self.above = LineAbove::Nothing;
        }
        self.write(&self.rendered(text, width()), LineAbove::Block)
    }

    /// Whole lines that stay.
    fn write(&mut self, text: &str, kind: LineAbove) -> Result<(), Failure> {
        if text.trim().is_empty() {
            return Ok(());
        }
        let gap = if self.gap_before(kind) { "\n" } else { "" };
        self.above = kind;
        self.region.write(&format!("{gap}{text}"))
    }

    /// The end of what the command has written stays.
    fn keep_output(&mut self, width: usize) -> Result<(), Failure> {
        let lines: String = self.output.newest(width).iter().map(|line| format!("{line}\n")).collect();
        self.output.clear();
        self.write(&lines, LineAbove::Line)
    }

    fn gap_before(&self, kind: LineAbove) -> bool {
        match self.above {
            LineAbove::Nothing => false,
            LineAbove::Line => kind != LineAbove::Line,
            LineAbove::Prompt | LineAbove::Block => true,
        }
    }

    fn draw(&mut self) -> Result<(), Failure> {
        let (_, rows) = screen::window();
        let width = width();
        let mut lines = self.unfinished_lines(width);
        let kind = if lines.is_empty() { LineAbove::Line } else { LineAbove::Block };
        let steps = self.steps.lines(rows, width);
        let below = self.input.as_ref().map_or(0, |input| input.lines.len());
        let most = rows.saturating_sub(4 + self.queued.len() + steps.len() + below).max(1);
        lines.extend(self.output.newest(width));
        lines.drain(..lines.len().saturating_sub(most));
        lines.extend(steps);
        lines.extend(self.status(width));
        lines.extend(self.queued.iter().map(|line| paint(&fit(line, width), DIM)));
        let mut cursor = None;
        if let Some(input) = &self.input {
            if !lines.is_empty() {
                lines.push(String::new());
            }
            cursor = Some((lines.len() + input.cursor.0, input.cursor.1));
            lines.extend(input.lines.iter().cloned());
        }
        if !lines.is_empty() && (self.gap_before(kind) || (cursor.is_some() && self.above == LineAbove::Line)) {
            lines.insert(0, String::new());
            cursor = cursor.map(|(row, column)| (row + 1, column));
        }
        // In a low window the end is shown.
        let above = lines.len().saturating_sub(rows.saturating_sub(1).max(1));
        lines.drain(..above);
        self.region.draw(lines, cursor.map(|(row, column)| (row.saturating_sub(above), column)))
    }

    /// The block that is still being said.
    fn unfinished_lines(&self, width: usize) -> Vec<String> {
        let text = self.stream.unfinished();
        let rendered = match text.len() {
            0..MAX_RENDERED_BYTES => self.rendered(text, width),
            length => crate::terminal::card::lines(&text[text.ceil_char_boundary(length - MAX_RENDERED_BYTES)..]),
        };
        rendered.lines().map(|line| cut(line, width)).collect()
    }

    /// `⠋ read_file notes.md  3s`
    fn status(&self, width: usize) -> Option<String> {
        let Activity { what, about, since } = self.doing.as_ref()?;
        let time = format!("{}s", since.elapsed().as_secs());
        let spinner = live::spinner(self.ticks);
        let room = width.saturating_sub(time.len() + 5);
        let what = fit(what, room);
        let about = fit(about, room.saturating_sub(what.chars().count() + 1));
        let mut spans = vec![Span::new(spinner, DIM), Span::plain(" "), Span::new(&what, BOLD)];
        if about.chars().count() > 1 {
            spans.extend([Span::plain(" "), Span::new(&about, DIM)]);
        }
        spans.extend([Span::plain("  "), Span::new(&time, DIM)]);
        Some(cut(&painted(&spans), width))
    }
}
