//! A summary of a conversation, for when its beginning is to make room.

use planwright_core::model::ModelMessage;

use crate::rehearsal::draft::shortened;
use crate::rehearsal::turn_view::TurnView;

const LINES: usize = 12;
const LINE_CHARACTERS: usize = 120;

/// A request without tools that speaks of a summary is one for a summary.
pub(super) fn if_asked_for(turn: &TurnView<'_>) -> Option<String> {
    let speaks_of_it = |text: &str| {
        let text = text.to_lowercase();
        text.contains("summar") || text.contains("compact")
    };
    let asked = turn.request.tools.is_empty() && (speaks_of_it(&turn.request.system) || speaks_of_it(turn.text));
    asked.then(|| summary(turn))
}

fn summary(turn: &TurnView<'_>) -> String {
    let mut lines: Vec<String> = turn.request.messages.iter().flat_map(lines).collect();
    let left_out = lines.len().saturating_sub(LINES);
    lines.drain(..left_out);
    let mut text = "Summary by the rehearsal model, which only lists what was said:\n".to_owned();
    if left_out > 0 {
        text += &format!("- … {left_out} earlier lines\n");
    }
    for line in lines {
        text += &format!("- {line}\n");
    }
    text
}

fn lines(message: &ModelMessage) -> Vec<String> {
    let short = |who: &str, text: &str| {
        let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
        Some(format!("{who}: {}", shortened(line, LINE_CHARACTERS)))
    };
    match message {
        ModelMessage::User { text } => short("person", text).into_iter().collect(),
        ModelMessage::Assistant { text, calls } => {
            let called = calls.iter().map(|sent| format!("called {}", sent.call.name));
            short("model", text).into_iter().chain(called).collect()
        }
        ModelMessage::ToolResult { name, failed: true, .. } => vec![format!("{name} failed")],
        ModelMessage::ToolResult { failed: false, .. } => Vec::new(),
    }
}
