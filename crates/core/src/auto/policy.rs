//! What a run may spend, and when it is paused.

use std::time::Duration;

use crate::model::Usage;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AutoPolicy {
    /// The budget of one run, counted again from the moment a person lets it continue.
    pub run: Budget,
    /// The budget of all runs of a session in one day, by UTC.
    pub day: Budget,
    /// After so many turns in a row without progress a run pauses.
    pub idle_turns: u32,
    /// After so many failed turns in a row a run pauses.
    pub failures: u32,
    /// How many runs a session has at once.
    pub runs: usize,
    /// What models cost.
    pub prices: Vec<ModelPrice>,
}

impl Default for AutoPolicy {
    fn default() -> Self {
        Self {
            run: Budget {
                turns: Some(50),
                tokens: Some(2_000_000),
                time: Some(Duration::from_secs(2 * 60 * 60)),
                micros: None,
            },
            day: Budget {
                turns: Some(300),
                tokens: Some(10_000_000),
                time: Some(Duration::from_secs(12 * 60 * 60)),
                micros: None,
            },
            idle_turns: 3,
            failures: 3,
            runs: 4,
            prices: Vec::new(),
        }
    }
}

/// The most that may be spent; `None` is no limit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Budget {
    pub turns: Option<u32>,
    pub tokens: Option<u64>,
    /// The time in which turns were at work. Waiting for a person does not count.
    pub time: Option<Duration>,
    /// Millionths of the currency in which prices are given.
    pub micros: Option<u64>,
}

/// The most turns that a run begins before a person lets it continue, whatever the settings say.
const MAX_RUN_TURNS: u32 = 1_000;

impl Budget {
    /// The budget of a run, which always ends.
    pub(crate) fn with_most_turns(&self) -> Self {
        Self { turns: Some(self.turns.unwrap_or(MAX_RUN_TURNS).min(MAX_RUN_TURNS)), ..self.clone() }
    }
}

/// The price of one model, in millionths of a currency for a million tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelPrice {
    /// The name of the model as it is configured, such as `openai:gpt-5`.
    pub model: String,
    pub input: u64,
    pub output: u64,
}

impl AutoPolicy {
    /// What a model's usage costs, in millionths. `None` without a price for the model.
    pub fn cost(&self, model: &str, usage: Usage) -> Option<u64> {
        let is_it = |price: &&ModelPrice| {
            price.model == model || price.model.split_once(':').is_some_and(|(_, name)| name == model)
        };
        let price = self.prices.iter().find(is_it)?;
        let part = |tokens: u64, price: u64| u128::from(tokens) * u128::from(price);
        let sum = part(usage.input_tokens, price.input) + part(usage.output_tokens, price.output);
        Some(u64::try_from(sum / 1_000_000).unwrap_or(u64::MAX))
    }
}
