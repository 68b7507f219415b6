//! What is stored comes back as it was, byte for byte.

use futures::future::join_all;
use planwright_core::command::{Command, DraftCommand};
use planwright_core::plan::execution::StepStatus;
use planwright_core::plan::{PlanContent, PlanStatus, PlanStyle};
use planwright_core::refusal::RefusalCode;
use serde_json::{Value, json};

use crate::commands::*;
use crate::stores::Store;
use crate::verification::assert_whole;

fn markdown(content: &PlanContent) -> &str {
    match content {
        PlanContent::Document(document) => &document.markdown,
        PlanContent::Collect(_) | PlanContent::Build(_) => panic!("this is not a document"),
    }
}

pub(crate) async fn every_character_comes_back(store: &Store) {
    let engine = store.engine().await;
    let here = session("cli:k3yk3y8x");
    planning(&engine, &here, PlanStyle::Document).await;
    let every_control: String = (0..0xa0).filter_map(char::from_u32).collect();
    let texts = [
        every_control.as_str(),
        "# NUL \0 in the title",
        "żółć 漢字 🧑‍🚀 \u{202e}rtl\u{202c} \u{feff} \u{fffe}\u{ffff} \u{10ffff}",
        "line\r\nends\rof\neach\u{2028}kind\u{85}",
        "'; DROP TABLE plan; -- \\ \" $1 $$ %s {}",
        "\\u0000 and \\x00 written out",
    ];
    for text in texts {
        draft(&engine, &here, set(text)).await;
        let reader = store.engine().await;
        assert_eq!(markdown(&reader.plans().active(&here).await.unwrap().content), text);
        assert_eq!(reader.plans().list(&here, None, 10).await.unwrap().items.len(), 1);
    }
    let id = engine.plans().active(&here).await.unwrap().id.clone();
    let versions = engine.history().of_plan(&here, &id).await.unwrap().versions;
    assert_eq!(versions.iter().map(|version| markdown(&version.content)).collect::<Vec<_>>(), texts);

    planning(&engine, &here, PlanStyle::Collect).await;
    let arguments = json!({ "text": every_control, "\0": [1.5e300, -0.0, u64::MAX, null] });
    let record = DraftCommand::RecordStep { tool: "odd \0 tool\u{202e}".to_owned(), arguments: arguments.clone() };
    draft(&engine, &here, Command::Draft(record)).await;
    match &store.engine().await.plans().active(&here).await.unwrap().content {
        PlanContent::Collect(collected) => assert_eq!(collected.steps[0].arguments, arguments),
        PlanContent::Document(_) | PlanContent::Build(_) => panic!("this is another plan"),
    }
    assert_whole(&engine).await;
}

pub(crate) async fn a_plan_as_large_as_is_allowed_comes_back(store: &Store) {
    let engine = store.engine().await;
    let here = session("cli:k3yk3y8x");
    // Each of these characters takes six in JSON.
    for text in ["x".repeat(1024 * 1024), "\u{1}".repeat(1024 * 1024)] {
        planning(&engine, &here, PlanStyle::Document).await;
        draft(&engine, &here, set(&text)).await;
        assert!(markdown(&store.engine().await.plans().active(&here).await.unwrap().content) == text);
    }
    assert_whole(&engine).await;
}

pub(crate) async fn a_plan_that_is_too_large_is_refused_and_nothing_is_stored(store: &Store) {
    let engine = store.engine().await;
    let here = session("cli:k3yk3y8x");
    let plan = ready(&engine, &here, "# Small").await;
    let before = engine.ledger().session(&here).await.unwrap().unwrap().head;
    let large = "x".repeat(1024 * 1024 + 1);
    refused(engine.submit(&here, &agent(), set(&large)).await, RefusalCode::LimitExceeded);
    assert_eq!(engine.ledger().session(&here).await.unwrap().unwrap().head, before);
    assert_eq!(engine.plans().active(&here).await.unwrap(), plan);
}

pub(crate) async fn arguments_are_nested_as_deeply_as_can_be_read_again(store: &Store) {
    fn nested(levels: usize) -> Value {
        (1..levels).fold(json!({}), |inner, n| if n % 2 == 0 { json!({ "deeper": inner }) } else { json!([inner]) })
    }
    let engine = store.engine().await;
    let here = session("cli:k3yk3y8x");
    planning(&engine, &here, PlanStyle::Collect).await;
    let record = |levels: usize| {
        // The arguments themselves are the outermost level.
        let arguments = json!({ "n": nested(levels - 1) });
        Command::Draft(DraftCommand::RecordStep { tool: "write_file".to_owned(), arguments })
    };
    let before = engine.ledger().session(&here).await.unwrap().unwrap().head;
    for levels in [65, 100, 500] {
        refused(engine.submit(&here, &agent(), record(levels)).await, RefusalCode::InvalidArgument);
    }
    assert_eq!(engine.ledger().session(&here).await.unwrap().unwrap().head, before);
    draft(&engine, &here, record(64)).await;
    draft(&engine, &here, finalize()).await;
    let reader = store.engine().await;
    let plan = reader.plans().active(&here).await.unwrap();
    match &plan.content {
        PlanContent::Collect(collected) => assert_eq!(collected.steps[0].arguments["n"], nested(63)),
        PlanContent::Document(_) | PlanContent::Build(_) => panic!("this is another plan"),
    }
    assert_eq!(reader.history().of_plan(&here, &plan.id).await.unwrap().versions.len(), 1);
    reader.submit(&here, &person(), approve(&plan)).await.unwrap();
    assert_whole(&reader).await;
}

pub(crate) async fn a_document_has_no_more_steps_than_are_allowed(store: &Store) {
    let engine = store.engine().await;
    let here = session("cli:k3yk3y8x");
    planning(&engine, &here, PlanStyle::Document).await;
    let tasks = |count: usize| (1..=count).map(|n| format!("- [ ] task {n}\n")).collect::<String>();
    refused(engine.submit(&here, &agent(), set(&tasks(501))).await, RefusalCode::LimitExceeded);
    assert_eq!(engine.plans().active(&here).await.unwrap().version, 0);
    // It is steps that count, not lines.
    draft(&engine, &here, set(&format!("{}{}", "prose\n\n".repeat(600), tasks(500)))).await;
    assert_eq!(engine.plans().active(&here).await.unwrap().content.steps().len(), 500);
    assert_whole(&engine).await;
}

pub(crate) async fn large_plans_that_are_decided_about_at_once_are_all_stored(store: &Store) {
    let engine = store.engine().await;
    let callers = (0..24).map(|n| {
        let engine = engine.clone();
        tokio::spawn(async move {
            let here = nth_session(n);
            let plan = ready(&engine, &here, &format!("# {n}\n\n{}", "x".repeat(700 * 1024))).await;
            engine.submit(&here, &person(), approve(&plan)).await.unwrap();
            engine.submit(&here, &person(), resume(&plan.id)).await.unwrap();
            let ended = engine.submit(&here, &agent(), report(StepStatus::Completed)).await.unwrap();
            assert_eq!(active(&ended).status, PlanStatus::Completed);
        })
    });
    join_all(callers).await.into_iter().for_each(Result::unwrap);
    assert_eq!(assert_whole(&engine).await.chains.len(), 24);
}

pub(crate) async fn large_plans_of_many_callers_are_all_stored(store: &Store) {
    let engine = store.engine().await;
    let callers = (0..24).map(|n| {
        let engine = engine.clone();
        tokio::spawn(async move {
            let here = nth_session(n);
            let text = format!("# {n}\n\n{}", "x".repeat(700 * 1024));
            assert!(markdown(&ready(&engine, &here, &text).await.content) == text);
        })
    });
    join_all(callers).await.into_iter().for_each(Result::unwrap);
    assert_eq!(assert_whole(&engine).await.chains.len(), 24);
}
