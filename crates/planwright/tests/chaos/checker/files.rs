//! The disk says what the journal says.

use std::collections::{BTreeMap, BTreeSet};

use super::{Rule, Violations, journal};
use crate::evidence::Evidence;

pub(super) fn check(evidence: &Evidence, violations: &mut Violations) {
    for (session, entries) in &evidence.journals {
        for (path, expected) in expected(entries) {
            let found = evidence.files.get(&(session.clone(), path.clone())).map(String::as_str);
            if !expected.contains(&found.map(str::to_owned)) {
                let what = format!("{session}/{path} has {found:?}, and the journal says {expected:?}");
                violations.add(Rule::Files, what);
            }
        }
    }
}

/// What each file may contain; `None` if it may be missing. It is more than one thing only after a write whose outcome is
/// not known.
fn expected(entries: &[serde_json::Value]) -> BTreeMap<String, BTreeSet<Option<String>>> {
    let mut files: BTreeMap<String, BTreeSet<Option<String>>> = BTreeMap::new();
    for turn in journal::turns(entries) {
        for (number, (name, arguments)) in (1..).zip(&turn.calls) {
            if name != "write_file" {
                continue;
            }
            let path = arguments["path"].as_str().unwrap_or_default().to_owned();
            let content = arguments["content"].as_str().map(str::to_owned);
            let contents = files.entry(path).or_insert_with(|| BTreeSet::from([None]));
            let status = turn.outcomes.get(&number).and_then(|outcomes| outcomes.last()).map(String::as_str);
            match status {
                Some("done") => *contents = BTreeSet::from([content]),
                Some("refused" | "failed" | "planned") => {}
                // Timed out, uncertain, or the turn ended before the outcome was recorded.
                _ => drop(contents.insert(content)),
            }
        }
    }
    files
}
