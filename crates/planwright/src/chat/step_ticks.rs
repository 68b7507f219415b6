//! The steps of a plan as a list in which the person ticks those that they approve.

use planwright_core::plan::Plan;
use planwright_engine::plan_steps::plan_steps;

use super::typeahead::Key;
use super::view::DrawnInput;
use crate::terminal::call_line::call_line;
use crate::terminal::palette::{COMMAND, DIM, PLAIN};
use crate::terminal::text::{Span, cut, painted, shown_line};

#[derive(Debug)]
pub(super) struct StepTicks {
    plan: u32,
    steps: Vec<TickedStep>,
    selected: usize,
}

#[derive(Debug)]
struct TickedStep {
    description: String,
    is_ticked: bool,
}

/// What a key did.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Picked {
    Going,
    Left,
    /// The person approves what is ticked: this is the command.
    Approve(String),
}

impl StepTicks {
    /// Every step is ticked at first.
    pub(super) fn of(plan: &Plan) -> Self {
        let described = |step: planwright_engine::plan_steps::StepDetail| TickedStep {
            description: shown_line(&call_line(&step.description)),
            is_ticked: true,
        };
        Self { plan: plan.number, steps: plan_steps(plan).into_iter().map(described).collect(), selected: 0 }
    }

    pub(super) fn press(&mut self, key: &Key) -> Picked {
        let last = self.steps.len().saturating_sub(1);
        match key {
            Key::Up | Key::BackTab => self.selected = self.selected.checked_sub(1).unwrap_or(last),
            Key::Down | Key::Tab => self.selected = if self.selected < last { self.selected + 1 } else { 0 },
            Key::Home => self.selected = 0,
            Key::End => self.selected = last,
            Key::Text(text) => text.chars().for_each(|c| self.type_in(c)),
            Key::Enter => return self.approve(),
            Key::Escape | Key::EndOfInput => return Picked::Left,
            Key::Pasted(_)
            | Key::NewLine
            | Key::Backspace
            | Key::Delete
            | Key::DeleteWord
            | Key::DeleteLine
            | Key::DeleteToEnd
            | Key::Yank
            | Key::Left
            | Key::Right
            | Key::WordLeft
            | Key::WordRight
            | Key::Search
            | Key::OpenEditor
            | Key::ClearScreen => {}
        }
        Picked::Going
    }

    fn type_in(&mut self, c: char) {
        match c {
            ' ' => {
                if let Some(step) = self.steps.get_mut(self.selected) {
                    step.is_ticked = !step.is_ticked;
                }
            }
            'a' => {
                let ticks = self.steps.iter().any(|step| !step.is_ticked);
                self.steps.iter_mut().for_each(|step| step.is_ticked = ticks);
            }
            _ => {}
        }
    }

    /// Nothing is approved if nothing is ticked.
    fn approve(&self) -> Picked {
        let ticked: Vec<String> = (1..)
            .zip(&self.steps)
            .filter(|(_, step)| step.is_ticked)
            .map(|(position, _)| format!("{position}"))
            .collect();
        let plan = self.plan;
        match ticked.len() {
            0 => Picked::Going,
            count if count == self.steps.len() => Picked::Approve(format!("/plan approve {plan}")),
            _ => Picked::Approve(format!("/plan approve {plan} only {}", ticked.join(","))),
        }
    }

    /// The list in a window of this size, around the selected step.
    pub(super) fn draw(&self, width: usize, rows: usize) -> DrawnInput {
        let room = (rows / 2).clamp(1, self.steps.len().max(1));
        let first = self.selected.saturating_sub(room - 1);
        let shown = self.steps.iter().enumerate().skip(first).take(room);
        let mut lines: Vec<String> = shown.map(|(index, step)| self.line(index, step, width)).collect();
        let ticked = self.steps.iter().filter(|step| step.is_ticked).count();
        let hint = match ticked {
            0 => "  Space ticks, a ticks all; nothing is ticked, so nothing is approved; Esc leaves".to_owned(),
            ticked => {
                format!("  Space ticks, a all or none, Enter approves {ticked} of {}, Esc leaves", self.steps.len())
            }
        };
        lines.push(cut(&painted(&[Span::new(&hint, DIM)]), width));
        DrawnInput { lines, cursor: (self.selected - first, 0) }
    }

    fn line(&self, index: usize, step: &TickedStep, width: usize) -> String {
        let (mark, style) = if index == self.selected { ("▸ ", COMMAND) } else { ("  ", PLAIN) };
        let tick = if step.is_ticked { "☑" } else { "☐" };
        let text = format!("{tick} {}. {}", index + 1, step.description);
        cut(&painted(&[Span::new(mark, style), Span::new(&text, style)]), width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks() -> StepTicks {
        let step = |name: &str| TickedStep { description: name.to_owned(), is_ticked: true };
        StepTicks { plan: 2, steps: ["copy", "drop", "tell"].map(step).into(), selected: 0 }
    }

    fn rows(ticks: &StepTicks, width: usize, rows: usize) -> Vec<String> {
        let lines = ticks.draw(width, rows).lines;
        lines.iter().map(|line| anstream::adapter::strip_str(line).to_string()).collect()
    }

    #[test]
    fn only_what_is_ticked_is_approved() {
        let mut ticks = ticks();
        assert_eq!(ticks.press(&Key::Enter), Picked::Approve("/plan approve 2".to_owned()));
        ticks.press(&Key::Down);
        ticks.press(&Key::Text(" ".to_owned()));
        assert_eq!(
            rows(&ticks, 80, 20),
            [
                "  ☑ 1. copy",
                "▸ ☐ 2. drop",
                "  ☑ 3. tell",
                "  Space ticks, a all or none, Enter approves 2 of 3, Esc leaves",
            ]
        );
        assert_eq!(ticks.press(&Key::Enter), Picked::Approve("/plan approve 2 only 1,3".to_owned()));
        ticks.press(&Key::Text("aa".to_owned()));
        assert_eq!(ticks.press(&Key::Enter), Picked::Going, "nothing is ticked");
        assert_eq!(ticks.press(&Key::Escape), Picked::Left);
    }

    #[test]
    fn in_a_low_window_the_selected_step_is_shown() {
        let mut ticks = ticks();
        ticks.press(&Key::Up);
        assert_eq!(rows(&ticks, 60, 4)[..2], ["  ☑ 2. drop", "▸ ☑ 3. tell"]);
        assert_eq!(ticks.draw(60, 4).cursor, (1, 0));
        assert!(rows(&ticks, 8, 4).iter().all(|row| row.chars().count() <= 8));
    }
}
