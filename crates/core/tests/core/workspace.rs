//! Who chooses a workspace, and what of it stands in the journal.

use planwright_core::actor::Actor;
use planwright_core::command::{Command, SessionCommand};
use planwright_core::plan::PlanStyle;
use planwright_core::refusal::RefusalCode;
use planwright_core::session::Session;
use planwright_core::workspace::{ContentHash, FileChange, FileVersion, Workspace};
use serde_json::json;

use crate::random_conversation::say;
use crate::world::*;

fn choose(path: Option<&str>) -> Command {
    Command::Session(SessionCommand::ChooseWorkspace(Workspace::at(path.map(str::to_owned))))
}

fn workspace(world: &World) -> Workspace {
    world.snapshot.session.as_ref().unwrap().workspace.clone()
}

#[test]
fn a_person_chooses_a_project_and_goes_back() {
    let mut world = World::new();
    assert_eq!(workspace(&world), Workspace::Own);
    assert_eq!(world.person(choose(None)).unwrap(), [], "it is the own folder already");
    assert_eq!(names(&world.person(choose(Some("/home/ada/till"))).unwrap()), ["workspace_chosen"]);
    assert_eq!(workspace(&world).project(), Some("/home/ada/till"));
    assert_eq!(world.person(choose(Some("/home/ada/till"))).unwrap(), []);
    assert_eq!(names(&world.person(reset()).unwrap()).last(), Some(&"conversation_reset"));
    assert_eq!(workspace(&world).project(), Some("/home/ada/till"), "a new conversation works in the same folder");
    assert_eq!(names(&world.person(choose(None)).unwrap()), ["workspace_chosen"]);
    assert!(workspace(&world).is_own());
}

#[test]
fn nothing_but_a_person_chooses() {
    for by in [Actor::agent("coder", "mcp"), policy_actor(), Actor::system("engine")] {
        let mut world = World::new();
        // A new session is begun in the folder that a person configured; later the system does not choose, either.
        world.person(on(PlanStyle::Document)).unwrap();
        refused(world.send(by, choose(Some("/home/ada"))), RefusalCode::PolicyDenied, "Only a person chooses");
        assert!(workspace(&world).is_own());
    }
}

#[test]
fn an_open_turn_keeps_its_workspace() {
    let mut world = World::new();
    world.person(say("hello")).unwrap();
    refused(world.person(choose(Some("/home/ada"))), RefusalCode::WrongStatus, "A turn is open");
    assert_eq!(world.person(choose(None)).unwrap(), []);
}

#[test]
fn what_is_no_path_is_not_recorded() {
    let long = format!("/{}", "x".repeat(4096));
    for (path, code) in [
        ("", RefusalCode::InvalidArgument),
        (" ", RefusalCode::InvalidArgument),
        ("/a\n/b", RefusalCode::InvalidArgument),
        (long.as_str(), RefusalCode::LimitExceeded),
    ] {
        refused(World::new().person(choose(Some(path))), code, "");
    }
    refused(World::unopened(SESSION).person(choose(None)), RefusalCode::NotFound, "There is no session");
}

#[test]
fn sessions_of_earlier_versions_have_their_own_folder() {
    let world = World::new();
    let written = serde_json::to_value(world.snapshot.session.as_ref().unwrap()).unwrap();
    assert_eq!(written.get("workspace"), None);
    let read: Session = serde_json::from_value(written.clone()).unwrap();
    assert_eq!(read.workspace, Workspace::Own);
    let mut project = written;
    project["workspace"] = json!({"kind": "project", "path": "/home/ada"});
    let read: Session = serde_json::from_value(project).unwrap();
    assert_eq!(read.workspace.project(), Some("/home/ada"));
}

#[test]
fn a_change_is_written_shortly_and_read_again() {
    let hash = ContentHash::of(b"text");
    let version = FileVersion { hash, bytes: 4, mode: Some(0o644) };
    let change = FileChange { workspace: Workspace::Own, path: "a.md".to_owned(), before: None, after: Some(version) };
    let written = serde_json::to_value(&change).unwrap();
    assert_eq!(written, json!({"path": "a.md", "after": {"hash": hash.to_string(), "bytes": 4, "mode": 0o644}}));
    assert_eq!(serde_json::from_value::<FileChange>(written).unwrap(), change);
    assert!("not a hash".parse::<ContentHash>().is_err());
}
