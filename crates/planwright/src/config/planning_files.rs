//! The section `planning_files`: whether sessions have a workbook, and what is written into it.

use planwright_core::workbook::PlanningFiles;

use super::setting::{Switch, WholeNumber, section};

fn default() -> PlanningFiles {
    PlanningFiles::default()
}

section! {
    pub(super) struct PlanningFilesSection, "planning_files" {
        "Whether new sessions have a workbook. `/plan files` turns it on or off in a session."
        enabled: Switch = default().enabled,
        "Whether a message that describes a large task begins a workbook without being asked to."
        auto_init: Switch = default().auto_init,
        "A message with fewer words does not begin a workbook."
        min_words: WholeNumber<u32> = default().min_words,
        "The score that a message needs to begin a workbook."
        min_score: WholeNumber<u32> = default().min_score,
        "One in this many research calls is noted in the findings; 0 notes none."
        findings_every: WholeNumber<u32> = default().findings_every,
        "How many characters of a result are noted."
        findings_chars: WholeNumber<usize> = default().findings_chars,
        "After this many failures of the same call the model is told to try something else; 0 never tells it."
        error_attempts: WholeNumber<u32> = default().error_attempts,
    }
}

impl PlanningFilesSection {
    pub(super) fn planning_files(mut self) -> PlanningFiles {
        PlanningFiles {
            enabled: self.enabled(),
            auto_init: self.auto_init(),
            min_words: self.min_words(),
            min_score: self.min_score(),
            findings_every: self.findings_every(),
            findings_chars: self.findings_chars(),
            error_attempts: self.error_attempts(),
        }
    }
}
