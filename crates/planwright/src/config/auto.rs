//! `[auto]`: what runs of the agent by itself may spend, and when they pause; `[[prices]]`: what models cost.

use planwright_core::auto::{AutoPolicy, Budget, ModelPrice};
use serde::Deserialize;

use super::setting::{Check, Checked, Positive, Seconds, section};

section! {
    pub(super) struct AutoSection, "auto" {
        "After how many turns a run pauses and asks."
        turns: Positive<u32> = AutoPolicy::default().run.turns.unwrap_or(u32::MAX),
        "After how many tokens a run pauses and asks."
        tokens: Positive<u64> = AutoPolicy::default().run.tokens.unwrap_or(u64::MAX),
        "After how long at work a run pauses and asks."
        seconds: Seconds = AutoPolicy::default().run.time.unwrap_or_default(),
        "After which cost a run pauses and asks. It needs `[[prices]]`."
        money: Checked<Money> => "no limit",
        "Turns of all runs of a session in one day, by UTC."
        day_turns: Positive<u32> = AutoPolicy::default().day.turns.unwrap_or(u32::MAX),
        "Tokens of all runs of a session in one day."
        day_tokens: Positive<u64> = AutoPolicy::default().day.tokens.unwrap_or(u64::MAX),
        "Time at work of all runs of a session in one day."
        day_seconds: Seconds = AutoPolicy::default().day.time.unwrap_or_default(),
        "Cost of all runs of a session in one day."
        day_money: Checked<Money> => "no limit",
        "After how many turns in a row without progress a run pauses and asks."
        idle_turns: Positive<u32> = AutoPolicy::default().idle_turns,
        "After how many failed turns in a row a run pauses and asks."
        failures: Positive<u32> = AutoPolicy::default().failures,
        "How many runs a session has at once."
        runs: Positive<usize> = AutoPolicy::default().runs,
    }
}

/// An amount of money, in millionths.
#[derive(Debug)]
pub(super) enum Money {}

impl Check for Money {
    type Value = u64;
    const KIND: &'static str = "an amount, such as `\"2.50\"`";

    fn check(text: &str) -> Result<u64, String> {
        let amount: f64 = text.trim().parse().map_err(|_| "write an amount such as 2.50".to_owned())?;
        if amount > 0.0 && amount <= 1_000_000_000.0 {
            Ok(micros(amount))
        } else {
            Err("write an amount above 0".to_owned())
        }
    }

    fn show(value: &u64) -> String {
        format!("`{}`", *value as f64 / 1_000_000.0)
    }
}

/// What a model costs for a million tokens.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PriceTable {
    model: String,
    input: f64,
    output: f64,
}

fn micros(amount: f64) -> u64 {
    (amount.max(0.0) * 1_000_000.0).round() as u64
}

impl AutoSection {
    pub(super) fn policy(mut self, prices: Vec<PriceTable>) -> AutoPolicy {
        let price = |table: PriceTable| ModelPrice {
            model: table.model,
            input: micros(table.input),
            output: micros(table.output),
        };
        AutoPolicy {
            run: Budget {
                turns: Some(self.turns()),
                tokens: Some(self.tokens()),
                time: Some(self.seconds()),
                micros: self.money(),
            },
            day: Budget {
                turns: Some(self.day_turns()),
                tokens: Some(self.day_tokens()),
                time: Some(self.day_seconds()),
                micros: self.day_money(),
            },
            idle_turns: self.idle_turns(),
            failures: self.failures(),
            runs: self.runs(),
            prices: prices.into_iter().map(price).collect(),
        }
    }
}
