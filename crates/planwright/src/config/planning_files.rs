//! The section `planning_files`: whether sessions have a workbook, and what is written into it along the way.

use std::str::FromStr;

use planwright_core::visible::quoted;
use planwright_core::workbook::PlanningFiles;
use serde::Deserialize;

use super::variables::variable;
use crate::failure::Failure;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlanningFilesSection {
    enabled: Option<bool>,
    auto_init: Option<bool>,
    min_words: Option<u32>,
    min_score: Option<u32>,
    findings_every: Option<u32>,
    findings_chars: Option<usize>,
    error_attempts: Option<u32>,
}

pub(super) fn planning_files(section: &PlanningFilesSection) -> Result<PlanningFiles, Failure> {
    let usual = PlanningFiles::default();
    Ok(PlanningFiles {
        enabled: yes_or_no("ENABLED")?.or(section.enabled).unwrap_or(usual.enabled),
        auto_init: yes_or_no("AUTO_INIT")?.or(section.auto_init).unwrap_or(usual.auto_init),
        min_words: count("MIN_WORDS")?.or(section.min_words).unwrap_or(usual.min_words),
        min_score: count("MIN_SCORE")?.or(section.min_score).unwrap_or(usual.min_score),
        findings_every: count("FINDINGS_EVERY")?.or(section.findings_every).unwrap_or(usual.findings_every),
        findings_chars: count("FINDINGS_CHARS")?.or(section.findings_chars).unwrap_or(usual.findings_chars),
        error_attempts: count("ERROR_ATTEMPTS")?.or(section.error_attempts).unwrap_or(usual.error_attempts),
    })
}

fn yes_or_no(key: &str) -> Result<Option<bool>, Failure> {
    variable(&name(key), |text| match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Ok(true),
        "false" | "no" | "off" | "0" => Ok(false),
        _ => Err(format!("{} is neither `true` nor `false`", quoted(text))),
    })
}

/// A number that may be zero, which turns off what it counts.
fn count<N: FromStr>(key: &str) -> Result<Option<N>, Failure> {
    variable(&name(key), |text| text.parse().map_err(|_| format!("{} is not a number from 0 up", quoted(text))))
}

fn name(key: &str) -> String {
    format!("PLANWRIGHT_PLANNING_FILES_{key}")
}
