//! How things stand at the end.

use super::{Rule, Violations, journal};
use crate::evidence::Evidence;
use crate::history::Act;

pub(super) fn check(evidence: &Evidence, violations: &mut Violations) {
    for request in &evidence.history.requests {
        if request.acknowledged().is_none() {
            let last = request.attempts.last();
            let what =
                format!("{}: {:?} was never acknowledged; the last attempt: {last:?}", request.session, request.act);
            violations.add(Rule::Settled, what);
        }
    }
    for (session, entries) in &evidence.journals {
        for turn in journal::turns(entries).iter().filter(|turn| turn.end.is_none()) {
            violations.add(Rule::Settled, format!("{session}: the turn for {:?} has not ended", turn.text));
        }
        for plan in journal::carried_out(entries) {
            violations.add(Rule::Settled, format!("{session}: plan {plan} is neither paused nor ended"));
        }
    }
    if evidence.late_model_calls > 0 {
        let what = format!("{} model calls came after everything was settled", evidence.late_model_calls);
        violations.add(Rule::Settled, what);
    }
    check_verified(evidence, violations);
}

fn check_verified(evidence: &Evidence, violations: &mut Violations) {
    let verified = &evidence.verified;
    if verified.exit != Some(0) {
        violations.add(Rule::Verified, format!("it ends with {:?}: {}", verified.exit, verified.expected));
    }
    for request in evidence.history.requests.iter().filter(|request| request.act == Act::OpenSession) {
        if request.acknowledged().is_some() && !verified.sessions.contains(&request.session) {
            violations.add(Rule::Verified, format!("it did not look at {}", request.session));
        }
    }
}
