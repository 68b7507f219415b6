//! The example of the README: an agent inside a program with a user interface of its own.

use std::path::Path;
use std::sync::Arc;

use planwright_agent::{Actor, AgentBuilder, SessionHandle};
use planwright_core::plan::PlanStatus;
use planwright_core::refusal::RefusalCode;
use planwright_engine::ledger::LedgerError;
use planwright_llm::scripted::{Reply, ScriptedModel};
use planwright_store::Location;
use serde_json::json;

/// The example's file, as it stands.
#[expect(dead_code, reason = "`main` asks a person at a terminal")]
mod example {
    include!("../../examples/embedded.rs");

    pub(super) async fn run(folder: &Path, says_yes: bool) -> (String, String) {
        let shown = std::cell::RefCell::new(String::new());
        let ask_user = |plan: &PlanCard| {
            shown.replace(plan.markdown.clone());
            Ok(says_yes)
        };
        let reply = plan_and_do(folder, "rehearsal", ask_user).await.unwrap();
        (shown.take(), reply)
    }
}

/// The status of the only plan in the example's store.
async fn status(folder: &Path) -> PlanStatus {
    let ledger = planwright_store::open(&Location::Sqlite(folder.join("planwright.db"))).await.unwrap();
    let engine = planwright_engine::Engine::new(ledger, planwright_agent::Policy::default());
    let session = "web:ada-and-her-blog".parse().unwrap();
    engine.plans().find(&session, Some(&"1".parse().unwrap())).await.unwrap().status
}

#[tokio::test]
async fn the_example_carries_out_what_its_user_approved_and_nothing_else() {
    for (says_yes, expected) in [(true, PlanStatus::Completed), (false, PlanStatus::Rejected)] {
        let folder = tempfile::tempdir().unwrap();
        let (shown, reply) = example::run(folder.path(), says_yes).await;
        assert!(shown.contains("- [ ] "), "{shown}");
        assert!(!reply.is_empty());
        assert_eq!(status(folder.path()).await, expected, "{reply}");
    }
}

#[test]
fn the_readme_has_the_example_as_it_is() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let example = include_str!("../../examples/embedded.rs");
    assert!(
        readme.contains(&format!("```rust\n{example}```\n")),
        "README.md has another text than crates/agent/examples/embedded.rs"
    );
}

#[tokio::test]
async fn a_plan_that_changed_after_it_was_shown_is_not_approved() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = planwright_store::open(&Location::Sqlite(folder.path().join("planwright.db"))).await.unwrap();
    let draft = |markdown: &str| Reply::call("plan_set_content", json!({ "plan_markdown": markdown }));
    let replies = [
        draft("# Move\n\n- [ ] copy\n"),
        Reply::text("Drafted."),
        draft("# Move\n\n- [ ] delete\n"),
        Reply::text("Changed."),
    ];
    let agent = AgentBuilder::new(ledger, Arc::new(ScriptedModel::new(replies)), folder.path()).build();
    let session = SessionHandle::open(&agent, "web:session-one", Actor::person("ada", "a test")).await.unwrap();
    session.send("/plan on").await.unwrap();
    let first = session.send("move the tables").await.unwrap().plan.unwrap();
    let second = session.revise(&first, "without the copy").await.unwrap().plan.unwrap();
    assert_ne!(first.digest, second.digest);
    match session.approve(&first).await {
        Err(LedgerError::Refused(refusal)) => assert_eq!(refusal.code, RefusalCode::StaleApproval),
        other => panic!("{other:?}"),
    }
    session.reject(&second, Some("not today")).await.unwrap();
    let plan = agent.engine().plans().get(session.identity(), &second.plan_id).await.unwrap();
    assert_eq!(plan.status, PlanStatus::Rejected);
}
