//! Many sessions at once: nothing of one is ever seen in another.

use std::collections::BTreeSet;
use std::path::Path;

use crate::talk::{Talk as _, Watcher};
use planwright_agent::Agent;
use planwright_agent::session::input::ChatLocation;
use planwright_core::model::ModelRequest;
use planwright_core::session::{SessionIdentity, TransportChat};
use planwright_llm::scripted::{Reply, ScriptedModel};
use planwright_test_support::clock::TestClock;
use serde_json::json;

use crate::world::{World, events, newest_message, person, session};

const SESSIONS: usize = 40;
const STEPS: usize = 7;

/// Random numbers that are the same in every run (SplitMix64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % sides as u64) as usize
    }
}

fn marker(session: usize) -> String {
    format!("secret-of-{session:02}")
}

/// The sessions whose secrets are in a text.
fn secrets(text: &str) -> BTreeSet<usize> {
    text.match_indices("secret-of-")
        .filter_map(|(at, found)| text.get(at + found.len()..)?.get(..2)?.parse().ok())
        .collect()
}

/// Does something with the secret it was told, in another way every time.
fn tell_tales(request: &ModelRequest) -> Reply {
    if request.tools.is_empty() {
        return Reply::text("Something was said.");
    }
    let output = newest_message(request);
    let secret = output.split_whitespace().find(|word| word.starts_with("secret-of-")).unwrap_or("nothing").to_owned();
    let mut dice = Dice(output.len() as u64 * 31 + request.messages.len() as u64 * 7 + secret.len() as u64);
    let markdown = format!("# {secret}\n\n- [ ] {secret}\n- [ ] more");
    let called =
        request.messages.iter().rev().take_while(|message| !format!("{message:?}").starts_with("User")).count();
    if called > 6 {
        return Reply::text(format!("You told me {secret}."));
    }
    match dice.roll(11) {
        0 => Reply::call("write_file", json!({"path": format!("{}.txt", dice.roll(3)), "content": secret})),
        1 => Reply::call("read_file", json!({"path": format!("{}.txt", dice.roll(3))})),
        2 => Reply::call("grep_files", json!({"pattern": "secret-of"})).and_call("list_files", json!({})),
        3 => Reply::call("plan_set_content", json!({"plan_markdown": markdown})),
        4 => Reply::call("plan_get", json!({})).with_text(format!("I keep {secret}.")),
        5 => Reply::call("plan_finalize", json!({"summary": secret})),
        6 => Reply::call("plan_create_draft", json!({"goal": secret})),
        7 => Reply::call("plan_add_step", json!({"description": secret, "agent": "coder"})),
        8 => Reply::call("memory_save", json!({"content": format!("The secret is {secret}."), "tags": [secret]})),
        9 => Reply::call("memory_search", json!({"query": "which secret was I told"})),
        _ => Reply::text(format!("You told me {secret}.")),
    }
}

/// What one person does in one session, with everything they read.
async fn live(agents: [Agent; 2], number: usize) -> (SessionIdentity, String) {
    let mut dice = Dice(number as u64);
    let session = session(&format!("session-{number:04}"));
    let place = ChatLocation::new(TransportChat(format!("cli:person-{number}")), session.clone());
    agents[0].engine().sessions().open(&session, &person()).await.unwrap();
    let mut read = String::new();
    for step in 0..STEPS {
        let secret = marker(number);
        let output = match dice.roll(16) {
            0 => "/plan on".to_owned(),
            1 => "/plan on collect".to_owned(),
            2 => "/plan on build".to_owned(),
            3 => "/plan off".to_owned(),
            4 => "/plan show".to_owned(),
            5 => "/plan approve".to_owned(),
            6 => format!("/plan revise put {secret} into it, {step}"),
            7 => "/plans".to_owned(),
            8 => "/status".to_owned(),
            9 => "/plan export".to_owned(),
            10 => format!("/plan something about {secret} {step}"),
            11 => "/compact".to_owned(),
            12 if dice.roll(3) == 0 => "/reset".to_owned(),
            _ => format!("Remember {secret} in step {step}"),
        };
        // Most of the time one process serves a session, sometimes the other.
        let agent = &agents[usize::from(dice.roll(6) == 0)];
        let answer = agent.type_text(&place, &person(), &output, &Watcher::none()).await.unwrap();
        assert_eq!(answer.session, session);
        read.push_str(&format!("{answer:?}\n"));
    }
    (session, read)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_session_sees_anything_of_another() {
    let model = ScriptedModel::answering(tell_tales);
    // All of them begin at the same moment, so that nothing but their names tells them apart.
    let world = World::with(model, |setup| setup.clock = Some(TestClock::stopped())).await;
    let other = world.another(&world.model, "the other").await;
    let lives: Vec<_> = (0..SESSIONS)
        .map(|number| (number, tokio::spawn(live([world.agent.clone(), other.clone()], number))))
        .collect();
    let mut told = 0;
    for (number, life) in lives {
        let (session, read) = life.await.unwrap();
        let only_own = |what: &str, text: &str| {
            let found = secrets(text);
            assert!(found.iter().all(|other| *other == number), "{what} of session {number} tells {found:?}: {text}");
            found.len()
        };
        told += only_own("what was read", &read);
        let stored = events(world.engine(), &session).await;
        told += only_own("the journal", &serde_json::to_string(&stored).unwrap());
        let (plans, damaged) = world.engine().ledger().stored_plans(&session).await.unwrap();
        assert!(damaged.is_empty());
        only_own("the plans", &format!("{plans:?}"));
        told += only_own("the files", &contents(&world.folder.path().join("users").join(session.folder_name())));
    }
    assert!(told > SESSIONS, "hardly a secret was told, so nothing is shown: {told}");
    for request in world.model.requests() {
        let found = secrets(&format!("{request:?}"));
        assert!(found.len() <= 1, "one request has the secrets of {found:?}");
    }
    assert!(world.model.requests().len() > SESSIONS);
    world.is_sound().await;
}

/// Everything that is written in a folder, names and texts.
fn contents(folder: &Path) -> String {
    let Ok(entries) = std::fs::read_dir(folder) else { return String::new() };
    entries
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let inside = if path.is_dir() { contents(&path) } else { std::fs::read_to_string(&path).unwrap() };
            format!("{}\n{inside}\n", path.display())
        })
        .collect()
}
