//! `/switch` with a piece of a key, a title or a topic: it becomes the command with the whole key.

use planwright_agent::Agent;
use planwright_core::session::{Session, SessionIdentity};
use planwright_core::visible::{quoted, visible};

use crate::failure::Failure;

/// How many sessions are listed when several fit.
const MAX_LISTED: usize = 8;
const PAGE: u32 = 64;

/// What becomes of a line that a person typed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SwitchLine {
    /// It is sent as it is.
    AsTyped,
    /// This is sent instead.
    Whole(String),
    /// Several sessions fit: this is shown, in Markdown, and nothing is sent.
    Several(String),
}

/// What a line that begins with `/switch` means in a chat that is in this session.
pub(super) async fn whole(agent: &Agent, here: &SessionIdentity, line: &str) -> Result<SwitchLine, Failure> {
    let Some(piece) = piece(line) else { return Ok(SwitchLine::AsTyped) };
    let found = agent.engine().sessions().search(piece, None, PAGE).await?;
    let fits = |session: &&Session| session.identity.channel == here.channel;
    let found: Vec<Session> = found.items.into_iter().map(|stored| stored.session).collect();
    let found: Vec<&Session> = found.iter().filter(fits).collect();
    let begins = |session: &&&Session| key(session).starts_with(piece);
    let beginning: Vec<_> = found.iter().filter(begins).collect();
    Ok(match (found.as_slice(), beginning.as_slice()) {
        _ if found.iter().any(|session| key(session) == piece) => SwitchLine::AsTyped,
        ([only], _) => SwitchLine::Whole(format!("/switch {}", key(only))),
        (_, [only]) => SwitchLine::Whole(format!("/switch {}", key(only))),
        ([], _) => SwitchLine::AsTyped,
        (several, _) => SwitchLine::Several(list(piece, several)),
    })
}

fn key(session: &Session) -> String {
    session.identity.conversation.to_string()
}

fn piece(line: &str) -> Option<&str> {
    let (command, rest) = line.trim().split_once(char::is_whitespace)?;
    let piece = rest.trim();
    (command.eq_ignore_ascii_case("/switch") && !piece.is_empty()).then_some(piece)
}

fn list(piece: &str, sessions: &[&Session]) -> String {
    let line = |session: &&Session| {
        let about = session.title.as_deref().or(session.topic.as_deref());
        let about = about.map_or_else(String::new, |about| format!(" “{}”", visible(about)));
        format!("- `/switch {}`{about}", session.identity.conversation)
    };
    let lines: Vec<_> = sessions.iter().take(MAX_LISTED).map(line).collect();
    let more = sessions.len().saturating_sub(MAX_LISTED);
    let more = if more > 0 { format!("\n- and {more} more") } else { String::new() };
    format!("{} sessions fit {}:\n{}{more}", sessions.len(), quoted(piece), lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_switch_with_words_names_a_session() {
        for (line, expected) in [
            ("/switch work", Some("work")),
            (" /SWITCH the blog ", Some("the blog")),
            ("/switch", None),
            ("/switch ", None),
            ("switch work", None),
            ("/switching work", None),
        ] {
            assert_eq!(piece(line), expected, "{line:?}");
        }
    }
}
