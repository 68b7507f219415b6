//! What commands do to a workbook: every rule, and what replaying the journal gives back.

use planwright_core::actor::Actor;
use planwright_core::command::Command;
use planwright_core::event::{Event, WorkbookEvent};
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::workbook::{
    AssessmentRecord, DocumentKind, Documents, TextDigest, Workbook, WorkbookCommand, WriteOrigin,
};

use crate::journal::replay;
use crate::world::World;

fn begin(title: &str, replaces: Option<Documents<u32>>) -> Command {
    let documents = Documents::each(|which| format!("# {title}: {which}\n"));
    Command::Workbook(WorkbookCommand::Begin { title: title.to_owned(), documents, replaces, taken: Vec::new() })
}

fn write(which: DocumentKind, base_version: u32, content: &str) -> Command {
    let content = content.to_owned();
    Command::Workbook(WorkbookCommand::Write { which, base_version, content, why: WriteOrigin::Tool })
}

fn switch(on: bool) -> Command {
    Command::Workbook(WorkbookCommand::Switch { on })
}

fn clear(base_versions: Documents<u32>) -> Command {
    Command::Workbook(WorkbookCommand::Clear { base_versions })
}

fn begun() -> World {
    let mut world = World::new();
    world.agent(begin("One", None)).unwrap();
    world
}

impl World {
    fn workbook(&self) -> &Workbook {
        self.snapshot.session.as_ref().unwrap().current_workbook().unwrap()
    }
}

fn code(decided: Result<Vec<Event>, Refusal>) -> RefusalCode {
    decided.unwrap_err().code
}

#[test]
fn a_write_is_made_from_the_newest_version_or_not_at_all() {
    let mut world = begun();
    let events = world.agent(write(DocumentKind::Findings, 1, "two")).unwrap();
    assert!(matches!(
        &events[..],
        [Event::Workbook(WorkbookEvent::Written { which: DocumentKind::Findings, version: 2, .. })]
    ));
    for base in [0, 1, 3] {
        assert_eq!(code(world.agent(write(DocumentKind::Findings, base, "three"))), RefusalCode::Conflict, "{base}");
    }
    world.agent(write(DocumentKind::Findings, 2, "three")).unwrap();
    assert_eq!(world.workbook().versions(), Documents { task_plan: 1, findings: 3, progress: 1 });
}

#[test]
fn the_state_names_the_entry_that_has_the_text_and_every_version_names_the_one_before() {
    let mut world = begun();
    let began = world.head.seq;
    assert_eq!(world.workbook().documents.map(|document| document.seq), Documents::each(|_| began));
    let events = world.agent(write(DocumentKind::Progress, 1, "two")).unwrap();
    let state = *world.workbook().document(DocumentKind::Progress);
    assert_eq!((state.seq, state.digest), (world.head.seq, TextDigest::of("two")));
    assert!(matches!(&events[..], [Event::Workbook(WorkbookEvent::Written { follows, .. })] if *follows == began));
    assert_eq!(world.workbook().document(DocumentKind::Findings).seq, began);
}

#[test]
fn numbers_go_on_so_that_no_version_is_mistaken_for_another() {
    let mut world = begun();
    world.agent(write(DocumentKind::TaskPlan, 1, "two")).unwrap();
    let looked_at = world.workbook().versions();
    world.agent(begin("Two", Some(looked_at))).unwrap();
    assert_eq!(world.workbook().versions(), Documents { task_plan: 3, findings: 2, progress: 2 });
    assert_eq!(code(world.agent(write(DocumentKind::TaskPlan, 2, "late"))), RefusalCode::Conflict);
    world.agent(clear(world.workbook().versions())).unwrap();
    world.agent(begin("Three", None)).unwrap();
    assert_eq!(world.workbook().versions(), Documents { task_plan: 4, findings: 3, progress: 3 });
}

#[test]
fn what_is_replaced_or_cleared_is_what_was_looked_at() {
    let mut world = begun();
    let looked_at = world.workbook().versions();
    world.agent(write(DocumentKind::Progress, 1, "meanwhile")).unwrap();
    for command in [begin("Two", Some(looked_at)), begin("Two", None), clear(looked_at)] {
        assert_eq!(code(world.agent(command)), RefusalCode::Conflict);
    }
    assert_eq!(world.workbook().title, "One");
    let mut empty = World::new();
    empty.person(switch(true)).unwrap();
    assert_eq!(code(empty.agent(begin("Two", Some(looked_at)))), RefusalCode::Conflict);
    assert_eq!(code(empty.agent(write(DocumentKind::Progress, 1, "x"))), RefusalCode::NotFound);
    assert_eq!(code(empty.person(clear(looked_at))), RefusalCode::NotFound);
}

#[test]
fn every_archive_has_a_name_of_its_own() {
    let mut world = begun();
    let mut names = Vec::new();
    for _ in 0..3 {
        let replaces = Some(world.workbook().versions());
        let documents = Documents::each(|_| "# x".to_owned());
        let taken = vec!["plan-19700101-0000-3.md".to_owned()];
        let command = WorkbookCommand::Begin { title: "Next".to_owned(), documents, replaces, taken };
        let events = world.agent(Command::Workbook(command)).unwrap();
        let Event::Workbook(WorkbookEvent::Archived { name }) = &events[0] else { panic!("{events:?}") };
        names.push(name.clone());
    }
    assert_eq!(names, ["plan-19700101-0000.md", "plan-19700101-0000-2.md", "plan-19700101-0000-4.md"]);
    let state = world.snapshot.session.as_ref().unwrap().workbook.as_ref().unwrap();
    assert_eq!(
        state.archives.iter().map(|archive| &archive.name).collect::<Vec<_>>(),
        names.iter().collect::<Vec<_>>()
    );
}

#[test]
fn limits_and_blanks() {
    let mut world = begun();
    let most = world.policy.limits.document_bytes;
    assert_eq!(code(world.agent(write(DocumentKind::Findings, 1, " \n\t"))), RefusalCode::InvalidArgument);
    assert_eq!(code(world.agent(write(DocumentKind::Findings, 1, &"x".repeat(most + 1)))), RefusalCode::LimitExceeded);
    world.agent(write(DocumentKind::Findings, 1, &"x".repeat(most))).unwrap();
    let versions = Some(world.workbook().versions());
    assert_eq!(code(world.agent(begin("  ", versions))), RefusalCode::InvalidArgument);
    assert_eq!(code(world.agent(begin(&"x".repeat(20_000), versions))), RefusalCode::LimitExceeded);
}

#[test]
fn what_a_person_switched_off_stays_off_for_everybody_else() {
    let mut world = World::new();
    assert!(!world.person(switch(false)).unwrap().is_empty());
    assert!(world.person(switch(false)).unwrap().is_empty(), "nothing to change");
    for by in [Actor::agent("coder", "mcp"), Actor::policy("planning_files.auto_init", "cli")] {
        assert_eq!(code(world.send(by, begin("One", None))), RefusalCode::PolicyDenied);
    }
    world.person(begin("One", None)).unwrap();
    let settings = &world.policy.planning_files;
    assert!(world.snapshot.session.as_ref().unwrap().has_planning_files(settings), "it is on with the person's own");
    world.person(switch(false)).unwrap();
    assert_eq!(code(world.agent(write(DocumentKind::Findings, 1, "x"))), RefusalCode::PolicyDenied);
    assert_eq!(code(world.agent(clear(world.workbook().versions()))), RefusalCode::PolicyDenied);
    world.person(clear(world.workbook().versions())).unwrap();
}

#[test]
fn the_setting_counts_until_a_person_changes_it() {
    let mut world = World::new();
    world.policy.planning_files.enabled = true;
    let is_on = |world: &World| {
        let session = world.snapshot.session.as_ref().unwrap();
        (session.has_planning_files(&world.policy.planning_files), session.refuses_planning_files())
    };
    assert_eq!(is_on(&world), (true, false));
    let judged = AssessmentRecord { begin: false, score: 1, reasons: vec!["short".to_owned()] };
    world.agent(Command::Workbook(WorkbookCommand::RecordAssessment(judged))).unwrap();
    assert_eq!(is_on(&world), (true, false), "an assessment switches nothing");
    world.person(switch(false)).unwrap();
    assert_eq!(is_on(&world), (false, true));
}

#[test]
fn the_journal_gives_everything_back() {
    let mut world = begun();
    world.agent(write(DocumentKind::Findings, 1, "two")).unwrap();
    world.agent(begin("Two", Some(world.workbook().versions()))).unwrap();
    world.person(switch(false)).unwrap();
    let (snapshot, _) = replay(&world.snapshot.identity, &world.journal).unwrap();
    assert_eq!(snapshot, world.snapshot);
    let written = serde_json::to_string(snapshot.session.as_ref().unwrap()).unwrap();
    let read: planwright_core::session::Session = serde_json::from_str(&written).unwrap();
    assert_eq!(Some(&read), world.snapshot.session.as_deref());
}

#[test]
fn a_session_without_a_workbook_is_stored_as_before() {
    let world = World::new();
    let written = serde_json::to_string(world.snapshot.session.as_ref().unwrap()).unwrap();
    assert!(!written.contains("workbook"), "{written}");
}
