//! Documents of the workbook: every version is an entry, and each is made from the one before it.

use futures::future::join_all;
use planwright_core::command::Command;
use planwright_core::refusal::RefusalCode;
use planwright_core::session::SessionIdentity;
use planwright_core::workbook::{DocumentKind, Documents, WorkbookCommand, WriteOrigin};
use planwright_engine::Engine;
use planwright_engine::ledger::LedgerError;
use planwright_engine::workbook::NewWorkbook;

use crate::commands::*;
use crate::stores::Store;
use crate::verification::{assert_no_gaps, assert_whole, verify};

async fn begun(engine: &Engine) -> SessionIdentity {
    let here = session("cli:k3yk3y8x");
    engine.sessions().open(&here, &person()).await.unwrap();
    engine.workbooks().init(&here, &person(), &beginning("Work")).await.unwrap();
    here
}

fn beginning(title: &str) -> NewWorkbook {
    NewWorkbook { title: title.to_owned(), force_new: false }
}

fn write(base_version: u32, content: &str) -> Command {
    let content = content.to_owned();
    Command::Workbook(WorkbookCommand::Write {
        which: DocumentKind::Findings,
        base_version,
        content,
        why: WriteOrigin::Tool,
    })
}

pub(crate) async fn every_character_of_a_document_comes_back(store: &Store) {
    let engine = store.engine().await;
    let here = begun(&engine).await;
    let odd = "\u{feff}# ä漢🦀\r\n\t\0\u{202e}\u{1}\\u0000 \"quotes\" 'and' $1\n".repeat(3_000);
    for (version, text) in [(1, odd.as_str()), (2, "x"), (3, &odd[3..])] {
        engine.submit(&here, &agent(), write(version, text)).await.unwrap();
        let elsewhere = store.engine().await;
        let document = elsewhere.workbooks().document(&here, DocumentKind::Findings).await.unwrap();
        assert_eq!((document.version, document.by), (version + 1, agent()));
        assert!(document.text == text, "version {version}");
    }
    assert_whole(&engine).await;
}

pub(crate) async fn of_many_people_who_write_from_one_version_one_is_the_first(store: &Store) {
    const PEOPLE: usize = 6;
    let here = begun(&store.engine().await).await;
    let engines = join_all((0..PEOPLE).map(|_| store.engine())).await;
    let written = join_all(engines.iter().enumerate().map(async |(one, engine)| {
        let text = format!("# Written by {one}\n");
        engine.workbooks().write(&here, &person(), DocumentKind::Findings, 1, text).await
    }))
    .await;
    let engine = store.engine().await;
    let document = engine.workbooks().document(&here, DocumentKind::Findings).await.unwrap();
    assert_eq!((document.version, document.by), (2, person()));
    for (one, outcome) in written.into_iter().enumerate() {
        match outcome {
            Ok(written) => {
                assert_eq!((written.version, written.changed), (2, true));
                assert_eq!(document.text, format!("# Written by {one}\n"));
            }
            Err(error) => assert_eq!(error.code(), RefusalCode::Conflict, "{error}"),
        }
    }
    assert_whole(&engine).await;
}

pub(crate) async fn of_many_concurrent_writers_none_loses_a_line(store: &Store) {
    const WRITERS: usize = 4;
    const EACH: usize = 8;
    let here = begun(&store.engine().await).await;
    let writers = join_all((0..WRITERS).map(|_| store.engine())).await;
    join_all(writers.iter().enumerate().map(async |(writer, engine)| {
        for line in 0..EACH {
            let add = |text: &str| Ok(format!("{text}\n- {writer}.{line};"));
            let by = agent();
            while let Err(error) =
                engine.workbooks().edit(&here, &by, DocumentKind::Progress, WriteOrigin::Middleware, add).await
            {
                // A writer that is overtaken too often may give up, and nothing was written.
                assert_eq!(error.code(), RefusalCode::Conflict, "{error}");
            }
        }
    }))
    .await;
    let engine = store.engine().await;
    let text = engine.workbooks().document(&here, DocumentKind::Progress).await.unwrap().text;
    for (writer, line) in (0..WRITERS).flat_map(|writer| (0..EACH).map(move |line| (writer, line))) {
        assert_eq!(text.matches(&format!("- {writer}.{line};")).count(), 1, "{writer}.{line}");
    }
    assert_eq!(assert_no_gaps(&engine, &here).await, 2 + (WRITERS * EACH) as u64);
    assert_whole(&engine).await;
}

pub(crate) async fn a_repeated_edit_is_made_once(store: &Store) {
    let engine = store.engine().await;
    let here = begun(&engine).await;
    let first = engine.ledger().submit(submission(&here, "edit", write(1, "two"))).await.unwrap();
    engine.submit(&here, &agent(), write(2, "three")).await.unwrap();
    let again = engine.ledger().submit(submission(&here, "edit", write(1, "two"))).await.unwrap();
    assert_eq!((again.events, again.seq), (first.events, first.seq));
    let late = engine.ledger().submit(submission(&here, "another", write(1, "late"))).await;
    refused(late, RefusalCode::Conflict);
    assert_eq!(engine.workbooks().document(&here, DocumentKind::Findings).await.unwrap().text, "three");
}

pub(crate) async fn one_of_many_begins_the_workbook(store: &Store) {
    let here = session("cli:k3yk3y8x");
    let engines = join_all((0..6).map(|_| store.engine())).await;
    engines[0].sessions().open(&here, &person()).await.unwrap();
    let begun = join_all(engines.iter().enumerate().map(async |(n, engine)| {
        engine.workbooks().init(&here, &person(), &beginning(&format!("By {n}"))).await.unwrap()
    }))
    .await;
    assert_eq!(begun.iter().filter(|begun| begun.is_new).count(), 1);
    assert!(begun.iter().all(|other| other.workbook == begun[0].workbook));
    assert_eq!(begun[0].workbook.versions(), Documents::each(|_| 1));
    assert_whole(&engines[0]).await;
}

pub(crate) async fn a_changed_document_is_found(store: &Store) {
    let engine = store.engine().await;
    let here = begun(&engine).await;
    engine.submit(&here, &agent(), write(1, "what was written")).await.unwrap();
    let tampered = store.tamper("UPDATE journal SET body = replace(body, 'was written', 'was forged!')").await;
    assert_eq!(tampered, 3, "the other entries are as they were");
    let read = engine.workbooks().document(&here, DocumentKind::Findings).await;
    assert!(matches!(read, Err(LedgerError::Damaged { .. })), "{read:?}");
    assert!(!verify(&engine).await.is_whole());
}
