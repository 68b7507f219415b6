//! How long a turn may go on.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::agents::SpecialistOptions;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnLimits {
    pub model_calls: u32,
    pub tool_calls: u32,
    /// Tokens sent and received, over all calls of the turn.
    pub tokens: u64,
    pub time: Duration,
    /// How long one tool may take.
    pub tool_time: Duration,
    /// How often the very same calls may be made again, one time after another.
    pub repetitions: u32,
    /// How often a turn is resumed after a crash.
    pub resumptions: u32,
    /// How often the model is called for a session within one minute in turns that no person began.
    pub calls_per_minute: u32,
}

impl Default for TurnLimits {
    fn default() -> Self {
        Self {
            model_calls: 60,
            tool_calls: 200,
            tokens: 2_000_000,
            time: Duration::from_secs(30 * 60),
            tool_time: Duration::from_secs(60),
            repetitions: 3,
            resumptions: 3,
            calls_per_minute: 300,
        }
    }
}

impl TurnLimits {
    /// The limits of a turn of a specialist: its own where they are narrower.
    #[must_use]
    pub fn narrowed_by(self, own: &SpecialistOptions) -> Self {
        Self {
            model_calls: own.model_calls.map_or(self.model_calls, |own| own.min(self.model_calls)),
            tool_calls: own.tool_calls.map_or(self.tool_calls, |own| own.min(self.tool_calls)),
            tokens: own.tokens.map_or(self.tokens, |own| own.min(self.tokens)),
            time: own.time.map_or(self.time, |own| own.min(self.time)),
            ..self
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnLimit {
    ModelCalls,
    ToolCalls,
    Tokens,
    Time,
    CallsPerMinute,
}

impl TurnLimits {
    /// What is said when a limit is reached, with the setting that changes it.
    pub fn describe(&self, limit: TurnLimit) -> String {
        match limit {
            TurnLimit::ModelCalls => format!(
                "I stopped after {} calls of the model in one turn (`turn.model_calls`). Say `go on` to continue.",
                self.model_calls
            ),
            TurnLimit::ToolCalls => format!(
                "I stopped after {} tool calls in one turn (`turn.tool_calls`). Say `go on` to continue.",
                self.tool_calls
            ),
            TurnLimit::Tokens => format!(
                "I stopped because this turn used more than {} tokens (`turn.tokens`). Say `go on` to continue.",
                self.tokens
            ),
            TurnLimit::Time => format!(
                "I stopped because this turn took longer than {} seconds (`turn.seconds`). Say `go on` to continue.",
                self.time.as_secs()
            ),
            TurnLimit::CallsPerMinute => format!(
                "I stopped: the model was called {} times within a minute without a message from you \
                 (`turn.calls_per_minute`).",
                self.calls_per_minute
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_only_become_narrower() {
        let usual = TurnLimits::default();
        let own = SpecialistOptions {
            model_calls: Some(3),
            tool_calls: Some(1_000_000),
            time: Some(Duration::from_secs(5)),
            ..SpecialistOptions::default()
        };
        let limits = usual.clone().narrowed_by(&own);
        assert_eq!((limits.model_calls, limits.tool_calls), (3, usual.tool_calls));
        assert_eq!((limits.time, limits.tokens), (Duration::from_secs(5), usual.tokens));
    }
}
