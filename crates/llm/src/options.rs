//! How much fits, how long to wait, how often to try again.

use std::time::Duration;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// Instead of what is known about the model.
    pub context_tokens: Option<u32>,
    pub patience: Patience,
    pub retries: Retries,
}

/// How long silence is borne.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patience {
    pub connect: Duration,
    /// From sending the request to the first sign of an answer. Models that think before they speak are silent for long.
    pub first_piece: Duration,
    pub between_pieces: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_piece: Duration::from_secs(120),
            between_pieces: Duration::from_secs(60),
        }
    }
}

/// What is done about trouble that passes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retries {
    /// The first one included.
    pub most_attempts: u32,
    /// Doubled with every attempt.
    pub first_wait: Duration,
    pub longest_wait: Duration,
    /// All waits of one request together; a provider that wants a longer one is given up at once.
    pub total_wait: Duration,
}

impl Default for Retries {
    fn default() -> Self {
        Self {
            most_attempts: 5,
            first_wait: Duration::from_secs(1),
            longest_wait: Duration::from_secs(30),
            total_wait: Duration::from_secs(120),
        }
    }
}
