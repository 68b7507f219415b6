//! What may follow a command that names a session or a plan, for the completion of the line.

use planwright_agent::Agent;
use planwright_core::session::SessionIdentity;

/// How many of the newest sessions and plans are known.
const MAX_KNOWN: u32 = 32;

/// The commands that name a plan, each with what stands before its number.
const WITH_PLAN: [&str; 10] = [
    "/plan show ",
    "/plan approve ",
    "/plan reject #",
    "/plan revise #",
    "/plan cancel ",
    "/plan resume ",
    "/plan diff ",
    "/plan export ",
    "/changes ",
    "/preview ",
];
const WITH_SESSION: &str = "/switch ";

/// The sessions and plans that a line can name now.
#[derive(Debug, Clone, Default)]
pub(super) struct KnownArguments {
    sessions: Vec<String>,
    plans: Vec<String>,
}

impl KnownArguments {
    /// Those of the newest. What cannot be read is not offered.
    pub(super) async fn read(agent: &Agent, session: &SessionIdentity) -> Self {
        let engine = agent.engine();
        let sessions = engine.sessions().list(None, MAX_KNOWN).await.map(|page| page.items).unwrap_or_default();
        let is_other = |other: &SessionIdentity| other.channel == session.channel && other != session;
        let sessions = sessions.into_iter().map(|stored| stored.session.identity).filter(is_other);
        let plans = engine.plans().list(session, None, MAX_KNOWN).await.map(|page| page.items).unwrap_or_default();
        Self {
            sessions: sessions.map(|session| session.conversation.to_string()).collect(),
            plans: plans.iter().map(|plan| plan.number.to_string()).collect(),
        }
    }

    /// Whole lines to put in place of what is typed.
    pub(super) fn completions(&self, typed: &str) -> Vec<String> {
        let of_plans = WITH_PLAN.iter().map(|command| (*command, &self.plans));
        let commands = std::iter::once((WITH_SESSION, &self.sessions)).chain(of_plans);
        let begun = commands.filter(|(command, _)| typed.starts_with(*command));
        let lines = begun.flat_map(|(command, known)| known.iter().map(move |name| format!("{command}{name}")));
        lines.filter(|line| line.starts_with(typed) && line != typed).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_continues_with_what_it_can_name() {
        let known = KnownArguments {
            sessions: vec!["first-session".to_owned(), "second-session".to_owned()],
            plans: vec!["12".to_owned(), "1".to_owned()],
        };
        for (typed, expected) in [
            ("/switch ", vec!["/switch first-session", "/switch second-session"]),
            ("/switch fi", vec!["/switch first-session"]),
            ("/plan approve 1", vec!["/plan approve 12"]),
            ("/plan reject #", vec!["/plan reject #12", "/plan reject #1"]),
            ("/plan re", vec![]),
            ("/switch", vec![]),
            ("switch ", vec![]),
        ] {
            assert_eq!(known.completions(typed), expected, "{typed}");
        }
    }
}
