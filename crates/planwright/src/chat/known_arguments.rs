//! What may follow a command that names a session or a plan, for the completion of the line.

use planwright_agent::Agent;
use planwright_core::session::{Session, SessionIdentity};
use planwright_engine::ledger::PlanSummary;

use crate::terminal::text::shown_line;

/// How many of the newest sessions and plans are known.
const MAX_KNOWN: u32 = 32;

/// The commands that name a plan, each with what stands before its number.
const WITH_PLAN: [&str; 13] = [
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
    "/pick ",
    "/page ",
    "/edit ",
];
const WITH_SESSION: &str = "/switch ";

/// The sessions and plans that a line can name now.
#[derive(Debug, Clone, Default)]
pub(super) struct KnownArguments {
    sessions: Vec<KnownName>,
    plans: Vec<KnownName>,
}

/// A key or a number, and what it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
struct KnownName {
    name: String,
    about: String,
}

/// A whole line to put in place of what is typed, and what it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KnownLine {
    pub(super) line: String,
    pub(super) about: String,
}

impl KnownArguments {
    /// Those of the newest. What cannot be read is not offered.
    pub(super) async fn read(agent: &Agent, session: &SessionIdentity) -> Self {
        let engine = agent.engine();
        let sessions = engine.sessions().list(None, MAX_KNOWN).await.map(|page| page.items).unwrap_or_default();
        let is_other = |other: &SessionIdentity| other.channel == session.channel && other != session;
        let sessions = sessions.into_iter().map(|stored| stored.session).filter(|other| is_other(&other.identity));
        let plans = engine.plans().list(session, None, MAX_KNOWN).await.map(|page| page.items).unwrap_or_default();
        let of_session = |session: Session| KnownName {
            name: session.identity.conversation.to_string(),
            about: session.title.or(session.topic).unwrap_or_default(),
        };
        let of_plan = |plan: &PlanSummary| KnownName {
            name: plan.number.to_string(),
            about: format!("{} {}", plan.status, plan.title),
        };
        Self { sessions: sessions.map(of_session).collect(), plans: plans.iter().map(of_plan).collect() }
    }

    pub(super) fn completions(&self, typed: &str) -> Vec<KnownLine> {
        let of_plans = WITH_PLAN.iter().map(|command| (*command, &self.plans));
        let commands = std::iter::once((WITH_SESSION, &self.sessions)).chain(of_plans);
        let begun = commands.filter(|(command, _)| typed.starts_with(*command));
        let line = |command: &str, known: &KnownName| KnownLine {
            line: format!("{command}{}", known.name),
            about: shown_line(&known.about),
        };
        let lines = begun.flat_map(|(command, known)| known.iter().map(move |known| line(command, known)));
        lines.filter(|known| known.line.starts_with(typed) && known.line != typed).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_continues_with_what_it_can_name() {
        let named = |name: &str| KnownName { name: name.to_owned(), about: format!("about {name}") };
        let known = KnownArguments {
            sessions: vec![named("first-session"), named("second-session")],
            plans: vec![named("12"), named("1")],
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
            let lines: Vec<_> = known.completions(typed).into_iter().map(|known| known.line).collect();
            assert_eq!(lines, expected, "{typed}");
        }
    }
}
