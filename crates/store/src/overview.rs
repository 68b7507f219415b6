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

/// The plans of the index on statuses, in its words: a database uses the index for those who ask in the same words.
macro_rules! listed {
    () => {
        "plan.status <> 'COLLECTING'"
    };
}
pub(crate) use listed;

/// The sessions with a turn or an execution that goes on, some of them twice. A process that ended leaves them so.
pub(crate) const BUSY_SESSIONS: &str = "SELECT id FROM session WHERE turn_open AND NOT asks_person
    UNION ALL SELECT plan.session_id FROM execution CROSS JOIN plan
        WHERE execution.working AND plan.id = execution.plan_id AND plan.status = 'EXECUTING'";

/// Whether the row of a plan says when the plan changed last. The row of its execution does while that changes it.
pub(crate) fn is_dated_by_its_row(status: PlanStatus) -> bool {
    match status {
        PlanStatus::Ready
        | PlanStatus::Approved
        | PlanStatus::Completed
        | PlanStatus::PartiallyCompleted
        | PlanStatus::Rejected
        | PlanStatus::Cancelled
        | PlanStatus::Superseded => true,
        // A draft is in no index, because it is written often.
        PlanStatus::Collecting | PlanStatus::Executing => false,
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
    fn plans_are_asked_for_in_the_words_of_their_index() {
        for migration in [include_str!("sqlite/migrations/017.sql"), include_str!("postgres/migrations/017.sql")] {
            assert!(migration.contains(listed!().trim_start_matches("plan.")));
        }
    }
}
