//! Colours and marks, each with one meaning. The marks carry it too, for those who see no colours.

use anstyle::{AnsiColor, Color, Style};
use planwright_core::plan::PlanStatus;
use planwright_core::plan::execution::StepStatus;

const fn colored(color: AnsiColor) -> Style {
    Style::new().fg_color(Some(Color::Ansi(color)))
}

pub(crate) const PLAIN: Style = Style::new();
pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const ERROR: Style = colored(AnsiColor::Red).bold();
pub(crate) const WARNING: Style = colored(AnsiColor::Yellow).bold();
pub(crate) const GOOD: Style = colored(AnsiColor::Green);
pub(crate) const ADDED: Style = colored(AnsiColor::Green);
pub(crate) const REMOVED: Style = colored(AnsiColor::Red);
pub(crate) const CHANGED: Style = colored(AnsiColor::Yellow);
pub(crate) const CODE: Style = colored(AnsiColor::Cyan);
pub(crate) const COMMENT: Style = DIM;
pub(crate) const STRING: Style = colored(AnsiColor::Green);
pub(crate) const NUMBER: Style = colored(AnsiColor::Yellow);
pub(crate) const KEYWORD: Style = colored(AnsiColor::Magenta);
pub(crate) const LINK: Style = colored(AnsiColor::Blue).underline();
pub(crate) const COMMAND: Style = colored(AnsiColor::Cyan).bold();

pub(crate) const fn status(status: PlanStatus) -> Style {
    match status {
        PlanStatus::Collecting => colored(AnsiColor::Cyan),
        // The one that waits for the person.
        PlanStatus::Ready => colored(AnsiColor::Yellow).bold(),
        PlanStatus::Approved => colored(AnsiColor::Green).bold(),
        PlanStatus::Executing => colored(AnsiColor::Blue).bold(),
        PlanStatus::Completed => colored(AnsiColor::Green),
        PlanStatus::PartiallyCompleted => colored(AnsiColor::Magenta).bold(),
        PlanStatus::Rejected => colored(AnsiColor::Red),
        PlanStatus::Cancelled | PlanStatus::Superseded => DIM,
    }
}

pub(crate) const fn step(status: StepStatus) -> (&'static str, Style) {
    match status {
        StepStatus::Pending => ("○", DIM),
        StepStatus::InProgress => ("◐", colored(AnsiColor::Blue).bold()),
        StepStatus::Completed => ("✔", colored(AnsiColor::Green)),
        StepStatus::Failed => ("✘", colored(AnsiColor::Red)),
        StepStatus::Skipped => ("–", DIM),
        StepStatus::Uncertain => ("?", colored(AnsiColor::Yellow).bold()),
    }
}
