//! What the agent writes is shown on the person's terminal, which obeys sequences of control characters: it writes the clipboard, or answers
//! as if the person typed.

use serde_json::json;

use crate::shell::until;
use crate::stage::{PROGRAM, SESSION, attack, result_if};

const PLAN: &str =
    "# Empty \u{1b}]52;c;ZXZpbA==\u{7} the \u{1b}[6n bin\n\n- [ ] \u{1b}]0;done\u{7}empty \u{9b}2J everything\n";

/// What would do something. Colours are Planwright's own.
const SEQUENCES: [&str; 4] = ["\u{1b}]", "\u{1b}[6n", "\u{7}", "\u{9b}"];

#[test]
fn escape_sequences() {
    attack("escape_sequences", |stage| {
        stage.agent_calls(SESSION, "plan_set_content", &json!({ "plan_markdown": PLAN }));
        for command in
            ["inbox list", &*format!("plan list --session {SESSION}"), &*format!("plan show 1 --session {SESSION}")]
        {
            stage.person.run(&format!("{PROGRAM} {command} > /dev/tty 2>&1"));
        }
        let seen =
            until(|| Some(stage.person.seen()).filter(|seen| seen.contains(" everything"))).expect("it was not shown");
        result_if(SEQUENCES.iter().any(|sequence| seen.contains(sequence)))
    });
}
