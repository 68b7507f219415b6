//! What clients may be told while things break.

use super::{Rule, Violations};
use crate::evidence::Evidence;
use crate::history::Attempt;

pub(super) fn check(evidence: &Evidence, violations: &mut Violations) {
    for request in &evidence.history.requests {
        for attempt in &request.attempts {
            match attempt {
                // Carried out, or not available now.
                Attempt::Answered { status: 200 | 201 | 429 | 503, .. } | Attempt::Unanswered => {}
                Attempt::Answered { status, body } => {
                    let what = format!("{}: {:?} was answered with {status}: {body}", request.session, request.act);
                    violations.add(Rule::Answers, what);
                }
            }
        }
    }
    for probe in evidence.history.probes.iter().filter(|probe| !probe.passed) {
        violations.add(Rule::Answers, format!("not so: {}", probe.what));
    }
    for (session, frames) in &evidence.history.frames {
        let entries = evidence.journals.get(session).map(Vec::as_slice).unwrap_or_default();
        let stored =
            entries.iter().map(|entry| (entry["seq"].as_u64().unwrap_or(0), entry["type"].as_str().unwrap_or("")));
        let told = frames.iter().map(|(seq, kind)| (*seq, kind.as_str()));
        if let Some((told, stored)) = told.clone().zip(stored).find(|(told, stored)| told != stored) {
            let what = format!("{session}: the client was told {told:?} where the journal has {stored:?}");
            violations.add(Rule::Frames, what);
        }
        if frames.len() != entries.len() {
            let what = format!("{session}: the client was told {} entries of {}", frames.len(), entries.len());
            violations.add(Rule::Frames, what);
        }
    }
}
