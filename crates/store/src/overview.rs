//! What both stores say about all sessions together.

use jiff::Timestamp;
use planwright_core::plan::PlanStatus;
use planwright_engine::ledger::LedgerResult;

use crate::paging;

/// The moment at which a plan changed, as lists sort it, in microseconds; 0 for one that cannot be read.
pub(crate) fn key_of(changed: &str) -> u64 {
    let at: Option<Timestamp> = format!("{changed}Z").parse().ok();
    at.and_then(|at| u64::try_from(at.as_microsecond()).ok()).unwrap_or(0)
}

/// The moment as lists sort it: every earlier one is before it, and none in the same microsecond is.
pub(crate) fn below(after: Option<u64>) -> LedgerResult<String> {
    let at = Timestamp::from_microsecond(paging::below(after)?).ok();
    // Behind every moment.
    let Some(at) = at else { return Ok("~".to_owned()) };
    let text = format!("{at:.6}");
    let text = text.trim_end_matches('Z');
    Ok(text.trim_end_matches('0').trim_end_matches('.').to_owned())
}

/// The plans that wait for a person or a process, in the words of the index on them: a database uses the index for
/// those who ask in the same words.
macro_rules! in_hand {
    () => {
        "plan.status IN ('READY', 'APPROVED', 'EXECUTING', 'PARTIALLY_COMPLETED')"
    };
}
pub(crate) use in_hand;

/// An execution that does not wait for a person, as its row says it.
macro_rules! not_paused {
    () => {
        "coalesce(execution.pause, '') NOT LIKE '{\"state\":\"paused\"%'"
    };
}
pub(crate) use not_paused;

/// What is asked of a plan that is to be in one of these statuses; `None` if there are none.
pub(crate) fn in_one_of(statuses: &[PlanStatus]) -> Option<String> {
    let first = statuses.first()?;
    let mut wanted = format!("plan.status IN ('{first}'");
    for status in &statuses[1..] {
        wanted.push_str(&format!(", '{status}'"));
    }
    wanted.push(')');
    if statuses.iter().copied().all(is_in_hand) {
        wanted.push_str(concat!(" AND ", in_hand!()));
    }
    Some(wanted)
}

fn is_in_hand(status: PlanStatus) -> bool {
    match status {
        PlanStatus::Ready | PlanStatus::Approved | PlanStatus::Executing | PlanStatus::PartiallyCompleted => true,
        PlanStatus::Collecting
        | PlanStatus::Completed
        | PlanStatus::Rejected
        | PlanStatus::Cancelled
        | PlanStatus::Superseded => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_of_plans_begins_below_a_whole_microsecond() {
        for (moment, same, earlier) in [
            ("2026-03-01T12:00:00.123456789", "2026-03-01T12:00:00.123456", "2026-03-01T12:00:00.123455999"),
            ("2026-03-01T12:00:00.12", "2026-03-01T12:00:00.120000", "2026-03-01T12:00:00.119999999"),
            ("2026-03-01T12:00:00", "2026-03-01T12:00:00.000000", "2026-03-01T11:59:59.999999999"),
            ("2026-03-01T12:00:10", "2026-03-01T12:00:10.000000999", "2026-03-01T12:00:09.999999"),
        ] {
            assert_eq!(key_of(moment), key_of(same), "{moment}");
            let below = below(Some(key_of(moment))).unwrap();
            let is_below = |text: &str| text < below.as_str();
            assert!(!is_below(moment) && !is_below(same) && is_below(earlier) && is_below(""), "{moment}: {below}");
        }
        assert_eq!((key_of(""), below(None).unwrap().as_str()), (0, "~"));
    }

    #[test]
    fn plans_in_hand_are_asked_for_in_the_words_of_their_index() {
        assert_eq!(in_one_of(&[]), None);
        let asked = in_one_of(&[PlanStatus::Ready, PlanStatus::PartiallyCompleted]).unwrap();
        assert!(asked.starts_with("plan.status IN ('READY', 'PARTIALLY_COMPLETED') AND "), "{asked}");
        for migration in [include_str!("sqlite/migrations/004.sql"), include_str!("postgres/migrations/004.sql")] {
            assert!(migration.contains(in_hand!().trim_start_matches("plan.")));
        }
        let asked = in_one_of(&[PlanStatus::Ready, PlanStatus::Completed]).unwrap();
        assert_eq!(asked, "plan.status IN ('READY', 'COMPLETED')");
    }
}
