//! What both stores say about all sessions together.

use planwright_core::plan::PlanStatus;

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
