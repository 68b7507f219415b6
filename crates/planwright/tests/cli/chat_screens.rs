//! The screens of the inline chat, each compared with a file in `screens/`. `UPDATE_SCREENS=1` writes the files anew; then read
//! what has changed.
#![cfg(target_os = "linux")]

use std::path::Path;

use serde_json::json;

use crate::provider::{Provider, Reply};
use crate::screen_model::InlineChat;
use crate::world::World;

const SPINNER: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
/// A digest and the code of a question are longer than a word that has only hex digits in it.
const MIN_HEX: usize = 8;

/// The screen without what is different each time: digests, times, tokens, and where the spinner is.
fn normal(screen: &str) -> String {
    let rows: Vec<_> = screen.lines().map(normal_row).collect();
    format!("{}\n", rows.join("\n").trim_end())
}

fn normal_row(row: &str) -> String {
    if row.contains(SPINNER) {
        return "(working)".to_owned();
    }
    let without_time = match row.rsplit_once("  ") {
        Some((kept, time)) if time.strip_suffix('s').is_some_and(|time| time.parse::<f64>().is_ok()) => kept,
        _ => row,
    };
    let counts = |part: &&str| !part.ends_with("tokens") && !part.starts_with("context ");
    let parts: Vec<_> = without_time.split(" · ").filter(counts).collect();
    without_hex(&parts.join(" · ")).trim_end().to_owned()
}

/// Longer runs of hex digits as `#`.
fn without_hex(row: &str) -> String {
    let (mut text, mut run) = (String::new(), String::new());
    for c in row.chars().chain(['\n']) {
        if c.is_ascii_digit() || ('a'..='f').contains(&c) {
            run.push(c);
            continue;
        }
        let shown = if run.len() >= MIN_HEX { "#".repeat(run.len()) } else { run.clone() };
        text.push_str(&shown);
        run.clear();
        text.push(c);
    }
    text
}

#[track_caller]
fn compare(chat: &mut InlineChat, name: &str, columns: u16) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/cli/screens/{name}-{columns}.txt"));
    let seen = normal(&chat.drawn_screen());
    if std::env::var_os("UPDATE_SCREENS").is_some() {
        std::fs::write(&path, &seen).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(seen, expected, "{}:\n{seen}", path.display());
}

fn drafts() -> Reply {
    let plan =
        "# A greeting\n\n- [ ] say hello\n- [ ] say it again, in a sentence that is longer than a narrow window\n";
    Reply::Call { preface: "", tool: "plan_set_content", arguments: json!({ "plan_markdown": plan }) }
}

fn done() -> Reply {
    Reply::Call { preface: "", tool: "plan_progress", arguments: json!({ "status": "done" }) }
}

fn says(text: &str) -> Reply {
    Reply::Text(text.to_owned())
}

fn story(columns: u16) {
    let world = World::new();
    world.write("planwright.toml", "[[permissions]]\ntool = \"write_file\"\ndecide = \"ask\"\n");
    let write = json!({ "path": "a.txt", "content": "mine\n" });
    let write = Reply::Call { preface: "", tool: "write_file", arguments: write };
    let held = Reply::Held(Box::new(done()));
    let provider =
        Provider::start(&[drafts(), says("Ready."), done(), held, says("Hello was said."), write, says("Written.")]);
    let mut chat = InlineChat::start(&world, columns, "--session session-one", &provider.variables());
    chat.prompt();
    compare(&mut chat, "idle", columns);
    chat.type_in("/plan ");
    chat.sees("▸");
    compare(&mut chat, "candidates", columns);
    chat.type_in("\u{3}");
    chat.prompt();
    chat.type_in("/plan on\r");
    chat.sees("plan 1 COLLECTING");
    chat.prompt();
    chat.type_in("add a greeting\r");
    chat.sees("a approve");
    compare(&mut chat, "review", columns);
    chat.type_in("a");
    chat.sees("1 of 2 done");
    chat.sees("thinking");
    chat.type_in("and then the docs\r");
    chat.sees("queued: and");
    compare(&mut chat, "checklist", columns);
    chat.type_in("\u{1b}[A");
    chat.sees("› and then");
    chat.type_in("\u{15}");
    chat.loses("› and then");
    provider.release();
    chat.sees("Hello was said.");
    chat.prompt();
    chat.type_in("write it\r");
    chat.sees("y yes, once");
    compare(&mut chat, "question", columns);
    chat.type_in("y");
    chat.sees("Written.");
    chat.prompt();
    chat.quit();
}

/// Recorded calls, and the steps that are ticked.
fn recorded(columns: u16) {
    let world = World::new();
    let write = |path: &str, content: &str| Reply::Call {
        preface: "",
        tool: "write_file",
        arguments: json!({ "path": path, "content": content }),
    };
    let finalize = Reply::Call { preface: "", tool: "plan_finalize", arguments: json!({}) };
    let long = "a line that is longer than a narrow window, so that it goes on in the next row\n";
    let provider =
        Provider::start(&[write("a.txt", "mine\n"), write("notes/b.txt", long), finalize, says("Recorded.")]);
    let mut chat = InlineChat::start(&world, columns, "--session session-one", &provider.variables());
    chat.prompt();
    chat.type_in("/plan on collect\r");
    chat.sees("plan 1 COLLECTING");
    chat.prompt();
    chat.type_in("write both\r");
    chat.sees("s step by step");
    compare(&mut chat, "recorded", columns);
    chat.type_in("t");
    chat.sees("▸ ☑ 1.");
    chat.type_in(" ");
    chat.sees("▸ ☐ 1.");
    compare(&mut chat, "ticks", columns);
    chat.type_in("\u{1b}");
    chat.sees("Nothing was approved.");
    chat.sees("s step by step");
    chat.quit();
}

#[test]
fn every_state_in_a_narrow_window() {
    story(60);
    recorded(60);
}

#[test]
fn every_state_in_a_window_of_100_columns() {
    story(100);
    recorded(100);
}

#[test]
fn every_state_in_a_wide_window() {
    story(200);
    recorded(200);
}

#[test]
fn in_40_columns_nothing_is_too_wide() {
    let world = World::new();
    let provider = Provider::start(&[drafts(), says("Ready.")]);
    let mut chat = InlineChat::start(&world, 40, "--session session-one", &provider.variables());
    chat.prompt();
    chat.type_in("/plan on\r");
    chat.sees("plan 1 COLLECTING");
    chat.prompt();
    chat.type_in("add a greeting\r");
    chat.sees("r reject");
    let screen = chat.drawn_screen();
    // A row that were too wide would go on in the next one.
    let rules = screen.lines().filter(|row| row.chars().all(|c| c == '─') && !row.is_empty()).count();
    assert_eq!(rules, screen.lines().filter(|row| row.contains('─')).count(), "{screen}");
    assert!(screen.ends_with("plan 1 READY"), "{screen}");
    chat.quit();
}
