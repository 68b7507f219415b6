//! Sentences about the workbook: what is stored, and the files that the person sees.

use std::fs;
use std::path::PathBuf;

use cucumber::{then, when};
use planwright_core::event::{Event, WorkbookEvent};
use planwright_core::model::ModelMessage;
use planwright_core::workbook::{DocumentKind, Workbook, WriteOrigin};
use planwright_engine::Engine;

use crate::world::{World, agent, unescaped};

fn kind(name: &str) -> DocumentKind {
    DocumentKind::ALL.into_iter().find(|kind| kind.to_string() == name).expect("a document")
}

/// Beside the session's files.
fn folder(world: &World) -> PathBuf {
    world.talk.files().folder(&world.session()).with_file_name("plan")
}

fn file(world: &World, name: &str) -> String {
    fs::read_to_string(folder(world).join(kind(name).file_name())).expect("the file is there")
}

async fn workbook(world: &World) -> Option<Workbook> {
    world.engine.workbooks().current(&world.session()).await.expect("readable")
}

#[then("there is no workbook")]
async fn none(world: &mut World) {
    assert_eq!(workbook(world).await, None);
}

#[then("the session has no workbook files")]
fn no_files(world: &mut World) {
    assert!(!folder(world).exists());
}

#[then(expr = "the workbook is called {string}")]
async fn is_called(world: &mut World, title: String) {
    assert_eq!(workbook(world).await.expect("a workbook").title, title);
}

#[then(expr = "the file {string} of the workbook says {string}")]
fn says(world: &mut World, name: String, text: String) {
    let file = file(world, &name);
    assert!(file.contains(&unescaped(&text)), "{file}");
}

#[then(expr = "the file {string} of the workbook does not say {string}")]
fn does_not_say(world: &mut World, name: String, text: String) {
    let file = file(world, &name);
    assert!(!file.contains(&unescaped(&text)), "{file}");
}

#[then(expr = "the file {string} of the workbook reads {string}")]
fn reads(world: &mut World, name: String, text: String) {
    assert_eq!(file(world, &name), unescaped(&text));
}

#[then("the files of the workbook are what is stored")]
async fn agree(world: &mut World) {
    for kind in DocumentKind::ALL {
        let stored = world.engine.workbooks().document(&world.session(), kind).await.expect("a document").text;
        assert_eq!(file(world, &kind.to_string()), stored, "{kind}");
    }
}

#[then(expr = "a copy beside the {string} reads {string}")]
fn copy_reads(world: &mut World, name: String, text: String) {
    let own = kind(&name).file_name();
    let others = fs::read_dir(folder(world)).expect("a folder").map(|entry| entry.expect("readable").path());
    let copies: Vec<_> = others
        .filter(|path| path.is_file())
        .filter(|path| {
            let file = path.file_name().expect("a name").to_string_lossy();
            file != own && file.starts_with(&name)
        })
        .map(|path| fs::read_to_string(path).expect("readable"))
        .collect();
    assert_eq!(copies, [unescaped(&text)]);
}

#[then(expr = "the workbook's {string} once was {string}")]
async fn once_was(world: &mut World, name: String, text: String) {
    let (wanted, text) = (kind(&name), unescaped(&text));
    let written: Vec<_> = world
        .all_events()
        .await
        .into_iter()
        .filter_map(|event| match event {
            Event::Workbook(WorkbookEvent::Written { which, content, .. }) if which == wanted => Some(content),
            _ => None,
        })
        .collect();
    assert!(written.contains(&text), "{written:#?}");
}

#[then(expr = "{int} archive(s) say(s) {string}")]
fn archived(world: &mut World, count: usize, text: String) {
    let archive = folder(world).join("archive");
    let files = fs::read_dir(&archive).map(|files| files.map(|entry| entry.expect("readable").path()).collect());
    let files: Vec<PathBuf> = files.unwrap_or_default();
    let found = files.iter().filter(|path| fs::read_to_string(path).expect("readable").contains(&text)).count();
    assert_eq!((files.len(), found), (count, count), "{files:?}");
}

#[then(expr = "the model was never told in a result of {string} {string}")]
fn never_in_result(world: &mut World, tool: String, text: String) {
    let requests = world.talk.model.requests();
    let results: Vec<_> = requests
        .iter()
        .flat_map(|request| &request.messages)
        .filter_map(|message| match message {
            ModelMessage::ToolResult { name, text, .. } if *name == tool => Some(text),
            ModelMessage::ToolResult { .. } | ModelMessage::User { .. } | ModelMessage::Assistant { .. } => None,
        })
        .collect();
    assert!(!results.is_empty(), "{tool} was not called");
    assert!(!results.iter().any(|result| result.contains(&text)), "{results:#?}");
}

#[when(expr = "the person saves the file {string} of the workbook as {string}")]
fn saves(world: &mut World, name: String, text: String) {
    fs::write(folder(world).join(kind(&name).file_name()), unescaped(&text)).expect("saved");
}

#[when("the files of the workbook are deleted")]
fn deleted(world: &mut World) {
    fs::remove_dir_all(folder(world)).expect("deleted");
}

/// Such as on another machine with the same database.
#[when(expr = "where the files are not seen, an agent writes the {string} as {string}")]
async fn written_elsewhere(world: &mut World, name: String, text: String) {
    let engine = Engine::new(world.store.ledger().await, world.policy.clone()).without_workbook_folders();
    let edit = |_: &str| Ok(unescaped(&text));
    let (session, kind) = (world.session(), kind(&name));
    engine.workbooks().edit(&session, &agent(), kind, WriteOrigin::Tool, edit).await.expect("written");
}
