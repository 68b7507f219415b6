//! Dialogues in the layout of LoCoMo: sittings of turns, and questions with the turns that answer them.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context as _, ensure};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

#[derive(Debug)]
pub(super) struct Dialogue {
    pub(super) turns: Vec<DialogueTurn>,
    pub(super) questions: Vec<Question>,
}

#[derive(Debug)]
pub(super) struct DialogueTurn {
    /// `D3:7` is turn 7 of sitting 3.
    pub(super) id: String,
    pub(super) speaker: String,
    pub(super) text: String,
    pub(super) at: Timestamp,
}

#[derive(Debug)]
pub(super) struct Question {
    pub(super) text: String,
    pub(super) evidence: BTreeSet<String>,
    pub(super) category: u64,
}

pub(super) fn read(path: &Path) -> anyhow::Result<Vec<Dialogue>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))?;
    parse(&text).with_context(|| format!("{} is not in the layout of LoCoMo", path.display()))
}

pub(super) fn parse(text: &str) -> anyhow::Result<Vec<Dialogue>> {
    let samples: Vec<Value> = serde_json::from_str(text)?;
    samples.iter().map(dialogue).collect()
}

fn dialogue(sample: &Value) -> anyhow::Result<Dialogue> {
    let conversation = sample["conversation"].as_object().context("a sample has no conversation")?;
    let mut turns = Vec::new();
    for sitting in 1.. {
        let Some(date) = conversation.get(&format!("session_{sitting}_date_time")) else { break };
        let begun = time(date.as_str().unwrap_or_default())?;
        // A date without turns is left over in some samples.
        let spoken = conversation.get(&format!("session_{sitting}")).and_then(Value::as_array);
        for (index, turn) in spoken.into_iter().flatten().enumerate() {
            let field = |name: &str| turn[name].as_str().map(str::to_owned);
            let mut text = field("text").unwrap_or_default();
            if let Some(caption) = field("blip_caption") {
                text.push_str(&format!(" [shows a picture: {caption}]"));
            }
            turns.push(DialogueTurn {
                id: field("dia_id").context("a turn has no dia_id")?,
                speaker: field("speaker").context("a turn has no speaker")?,
                text,
                at: begun + SignedDuration::from_secs(30 * i64::try_from(index)?),
            });
        }
    }
    ensure!(!turns.is_empty(), "a sample has no turns");
    let known: BTreeSet<_> = turns.iter().map(|turn| turn.id.as_str()).collect();
    let mut questions = Vec::new();
    for asked in sample["qa"].as_array().into_iter().flatten() {
        // Some entries hold several ids in one text.
        let named = asked["evidence"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let ids = named.flat_map(|text| text.split([' ', ';', ','])).filter(|id| known.contains(id));
        let evidence: BTreeSet<_> = ids.map(str::to_owned).collect();
        if let (Some(text), false) = (asked["question"].as_str(), evidence.is_empty()) {
            let category = asked["category"].as_u64().unwrap_or(0);
            questions.push(Question { text: text.to_owned(), evidence, category });
        }
    }
    Ok(Dialogue { turns, questions })
}

/// `1:56 pm on 8 May, 2023`
fn time(text: &str) -> anyhow::Result<Timestamp> {
    let wrong = || format!("{text:?} is not a time such as `1:56 pm on 8 May, 2023`");
    let cleaned = text.replace(',', " ").to_lowercase();
    let words: Vec<_> = cleaned.split_whitespace().collect();
    let [clock, half, "on", day, month, year] = words.as_slice() else { anyhow::bail!(wrong()) };
    let (hour, minute) = clock.split_once(':').with_context(wrong)?;
    let hour: i8 = hour.parse::<i8>()? % 12 + if *half == "pm" { 12 } else { 0 };
    const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let month = MONTHS.iter().position(|name| month.starts_with(name)).with_context(wrong)?;
    let date = DateTime::new(year.parse()?, i8::try_from(month + 1)?, day.parse()?, hour, minute.parse()?, 0, 0)?;
    Ok(date.to_zoned(TimeZone::UTC)?.timestamp())
}
