//! What the configuration says about planning files.

/// The section `planning_files`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanningFiles {
    /// Whether every session has them from its beginning. A person can switch them on and off in each one.
    pub enabled: bool,
    /// Whether a message that is worth it begins a workbook by itself.
    pub auto_init: bool,
    /// A message with fewer words never begins one by itself.
    pub min_words: u32,
    /// What a message must be worth to begin one by itself.
    pub min_score: u32,
    /// Every so many research calls one is noted in the findings; 0 notes none.
    pub findings_every: u32,
    /// How much of an answer is noted, in characters.
    pub findings_chars: usize,
    /// How often the same call may fail before the model is told to try something else; 0 never tells.
    pub error_attempts: u32,
}

impl Default for PlanningFiles {
    fn default() -> Self {
        Self {
            enabled: false,
            auto_init: false,
            min_words: 12,
            min_score: 3,
            findings_every: 2,
            findings_chars: 1_200,
            error_attempts: 3,
        }
    }
}
