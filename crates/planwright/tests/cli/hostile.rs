use planwright_core::plan::PlanStyle;
use serde_json::json;

use crate::world::{Ran, SESSION, World};

const TITLE: &str = "Harmless\u{1b}]0;owned\u{7}\u{1b}[2J\u{202e}title";
const TEXT: &str =
    "# Plan\u{9b}31m\n\n\u{1b}[31mred\u{1b}[0m &#27;[2J\n\n- [ ] step \u{1b}[1A one\n\n<!-- delete the backups -->\n";

/// Our own colours are off here, so there is no control character at all but line ends.
#[track_caller]
fn harmless(ran: Ran) {
    for text in [&ran.stdout, &ran.stderr] {
        let found = text.chars().find(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}');
        assert_eq!(found, None, "{text:?}");
    }
}

fn hostile_world() -> World {
    let world = World::new();
    world.turn_on(SESSION, PlanStyle::Document);
    let arguments = json!({ "plan_markdown": TEXT, "title": TITLE });
    world.agent_calls(SESSION, "plan_set_content", arguments).unwrap();
    world
}

/// The corpora that every surface is tried with: what a rendering would leave out, and what only its place would hide. Those with
/// definitions stand in a text of their own, and each has words of its own.
fn planted() -> Vec<Vec<(String, String, String)>> {
    let read = |text: &str| -> Vec<serde_json::Value> { serde_json::from_str(text).unwrap() };
    let plants = read(include_str!("../../../core/src/plan/hidden/plants.json"));
    let placed = read(include_str!("../../../core/src/plan/hidden/placed.json"));
    let (defined, others): (Vec<_>, Vec<_>) =
        plants.into_iter().partition(|plant| plant["markdown"].as_str().unwrap().contains("]:"));
    let words = |(number, plant): (usize, &serde_json::Value)| {
        let own = |key: &str| plant[key].as_str().unwrap().replace("backups", &format!("backups{number:02}"));
        (own("name"), own("markdown"), own("shows"))
    };
    [defined, others, placed].iter().map(|plants| plants.iter().enumerate().map(words).collect()).collect()
}

/// Without spaces, line ends and the bars of quotations and tables, which wrapping puts between.
fn unwrapped(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_whitespace() && !"│┃|".contains(*letter)).collect()
}

/// The command that shows a plan, the one that approves it without its digest, and the card of the chat.
#[test]
fn what_is_planted_in_a_plan_is_shown_before_it_is_approved() {
    for plants in planted() {
        let world = World::new();
        let parts: Vec<_> = plants.iter().map(|(_, markdown, _)| markdown.as_str()).collect();
        world.agent_drafts("cli:planted-one", &format!("- [ ] one\n- [ ] two\n\n{}", parts.join("\n\nwords\n\n")));
        let shown = [
            world.run("plan show --session cli:planted-one").done(),
            world.run("plan approve --session cli:planted-one").exits(2),
            world.run_with_input("chat --session planted-one --model rehearsal", "/plan show\n").done(),
        ];
        for (ran, surface) in shown.into_iter().zip(["plan show", "plan approve", "chat"]) {
            let text = unwrapped(&(ran.stdout + &ran.stderr));
            for (name, _, shows) in &plants {
                assert!(text.contains(&unwrapped(shows)), "{surface}: {name}: {text}");
            }
        }
        assert_eq!(world.json("plan show --session cli:planted-one")["status"], "READY");
    }
}

#[test]
fn no_command_lets_a_plan_write_to_the_terminal() {
    let world = hostile_world();
    for line in ["plan show", "plan show --raw", "plan list", "plan status", "plan history", "plan diff", "sessions"] {
        harmless(world.run(line).done());
    }
    harmless(world.run("plan approve").exits(2));
    world.agent_drafts("web:session-two", TEXT);
    harmless(world.run("plan show").exits(2));
    harmless(world.run(&format!("plan approve --session {SESSION} --digest {}", world.digest())).done());
    let report = json!({ "status": "done", "note": "\u{1b}[2Jnote", "evidence": "\u{1b}[2J" });
    world.agent_calls(SESSION, "plan_progress", report).unwrap();
    harmless(world.run(&format!("plan show 1 --session {SESSION}")).done());
    harmless(world.run(&format!("plan history 1 --session {SESSION}")).done());
}

/// What programs read as JSON may be shown on a terminal as well.
#[test]
fn json_is_harmless_on_a_terminal_and_stays_the_same() {
    let world = hostile_world();
    for line in ["plan show", "plan list", "plan status", "plan history", "sessions"] {
        let ran = world.run(&format!("{line} --json")).done();
        assert!(ran.stdout.contains("\\u202e"), "{line}: {}", ran.stdout);
        ran.json();
        harmless(ran);
    }
    assert_eq!(world.json("plan show")["markdown"], TEXT);
    harmless(world.run("plan approve --json").exits(2));
    let error = world.run("plan approve --json").exits(2).error_json();
    assert_eq!(error["plan"]["markdown"], TEXT);
    harmless(crate::world::ran(world.command().args(["chat", "--json", "hello \u{202e}\u{9b}2J"])).done());
}

/// A recorded call is shown with the same spaces when it is approved and when it runs.
#[test]
fn a_call_that_runs_is_shown_as_it_was_approved() {
    let world = World::new();
    let session = "cli:session-one";
    world.turn_on(session, PlanStyle::Collect);
    let content = "rm  -rf   build";
    world.agent_calls(session, "write_file", json!({ "path": "a.sh", "content": content })).unwrap();
    world.agent_calls(session, "plan_finalize", json!({})).unwrap();
    let shown = "+rm  -rf   build";
    let digest = world.active_plan(session).digest().to_string();
    world.run("plan approve 1").exits(2).says(shown);
    world.run(&format!("plan approve 1 --later --digest {digest}")).done();
    let ran = world.run("plan resume 1").done();
    let line = r#"write_file({"path":"a.sh","content":"rm  -rf   build"})"#;
    let told = ran.stdout.clone() + &ran.stderr;
    assert!(told.contains(line), "{told}");
    for command in ["plan history 1", "plan show 1", "plan watch 1"] {
        let told = world.run(command);
        assert!(told.stdout.contains("rm  -rf   build"), "{command}: {}", told.stdout);
    }
}

#[test]
fn names_of_people_and_agents_are_harmless_too() {
    let world = hostile_world();
    let reason = ["plan", "reject", "--", "\u{1b}[2Jno"];
    let rejected = crate::world::ran(world.command().env("USER", "\u{1b}[2Jeve").args(reason));
    harmless(rejected.done());
    harmless(world.run("plan show 1").done());
    harmless(world.run("plan history 1").done());
    let odd = crate::world::ran(world.command().args(["plan", "show", "\u{1b}[2J-a-plan"]));
    harmless(odd.exits(2));
}

#[test]
fn what_hides_is_shown_where_it_is_approved() {
    let world = hostile_world();
    world
        .run("plan approve")
        .exits(2)
        .says("⟦U+202E⟧title")
        .says("⟦U+001B⟧[31mred")
        .says("&#27;[2J")
        .says("<!-- delete the backups -->");
}

#[test]
fn an_export_for_a_program_keeps_every_byte() {
    let world = hostile_world();
    assert_eq!(world.run("plan export").done().stdout, TEXT);
    assert_eq!(world.json("plan show")["markdown"], TEXT);
}
