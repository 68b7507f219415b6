//! How often the model is called for a session without a person.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};
use planwright_core::session::SessionIdentity;
use planwright_core::turn::Purpose;

const WINDOW: SignedDuration = SignedDuration::from_secs(60);

/// The model calls of the last minute in turns that no person began, by session. It bounds every loop that calls the model,
/// whatever the rules of plans and runs count as progress.
#[derive(Debug, Default)]
pub(crate) struct CallRate {
    calls: Mutex<HashMap<SessionIdentity, VecDeque<Timestamp>>>,
}

impl CallRate {
    /// Counts a call, and says whether it may be made. `begun_for` is the purpose of the session's open turn.
    pub(crate) fn admit(&self, session: &SessionIdentity, begun_for: &Purpose, most: u32, now: Timestamp) -> bool {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        match begun_for {
            // A person is here: what was done without one is over.
            Purpose::Answer => {
                calls.remove(session);
                return true;
            }
            Purpose::Document { .. } | Purpose::Step { .. } | Purpose::Question { .. } | Purpose::Run(_) => {}
        }
        let is_old = |at: &Timestamp| now.duration_since(*at) >= WINDOW;
        // Sessions without a call in the last minute are forgotten.
        calls.retain(|_, times| times.back().is_some_and(|last| !is_old(last)));
        let times = calls.entry(session.clone()).or_default();
        while times.front().is_some_and(is_old) {
            times.pop_front();
        }
        if times.len() >= most as usize {
            return false;
        }
        times.push_back(now);
        true
    }
}

#[cfg(test)]
mod tests {
    use planwright_core::ids::PlanId;

    use super::*;

    #[test]
    fn calls_are_counted_by_session_within_a_minute_and_a_person_begins_anew() {
        let (rate, document) = (CallRate::default(), Purpose::Document { plan: PlanId::new("plan-1").unwrap() });
        let (one, other): (SessionIdentity, SessionIdentity) =
            ("web:k3yk3y8x".parse().unwrap(), "web:otherkey".parse().unwrap());
        let at = |second: i64| Timestamp::from_second(second).unwrap();
        assert!(rate.admit(&one, &document, 2, at(0)));
        assert!(rate.admit(&one, &document, 2, at(30)));
        assert!(!rate.admit(&one, &document, 2, at(59)), "the third call within a minute");
        assert!(rate.admit(&other, &document, 2, at(59)), "another session");
        assert!(rate.admit(&one, &document, 2, at(60)), "the first call is a minute old");
        assert!(!rate.admit(&one, &document, 2, at(61)));
        assert!(rate.admit(&one, &Purpose::Answer, 2, at(61)), "a person is never held up");
        assert!(rate.admit(&one, &document, 2, at(61)));
    }
}
