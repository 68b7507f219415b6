//! An actor as people read it.

use planwright_core::actor::{Actor, ActorKind};

/// `ada through cli`. A standing policy is named as one first, so that it is not mistaken for a person.
pub fn who(actor: &Actor) -> String {
    match actor.kind {
        ActorKind::Policy => {
            format!("a standing policy, not a person ({} through {})", actor.name, actor.through)
        }
        ActorKind::Person | ActorKind::Agent | ActorKind::System => actor.to_string(),
    }
}

/// How the person behind a decision was recognised, in words.
pub fn recognition(actor: &Actor) -> String {
    match &actor.presence {
        Some(presence) => presence.to_string(),
        None => "not recorded".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_is_never_taken_for_a_person() {
        for (kind, expected) in [
            (ActorKind::Person, "ada through cli"),
            (ActorKind::Agent, "ada (agent) through cli"),
            (ActorKind::Policy, "a standing policy, not a person (ada through cli)"),
            (ActorKind::System, "ada (system) through cli"),
        ] {
            assert_eq!(who(&Actor::new(kind, "ada", "cli")), expected);
        }
    }
}
