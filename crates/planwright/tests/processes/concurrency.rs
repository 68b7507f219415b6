//! Any mix of processes and library callers on one store: no acknowledged write is lost or applied twice.

use std::collections::BTreeSet;

use planwright_agent::tools::PlanTools;
use planwright_core::actor::Actor;
use planwright_core::session::SessionIdentity;
use planwright_engine::plan_steps::plan_steps;
use serde_json::{Value, json};

use crate::client::{McpClient, planwright};
use crate::stores::Store;

#[tokio::test(flavor = "multi_thread")]
async fn a_mix_on_one_session_on_sqlite() {
    a_mix_on_one_session(Store::sqlite()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mix_on_one_session_on_postgres() {
    a_mix_on_one_session(Store::postgres().await).await;
}

/// Two agents' servers and two library callers record steps while the command line looks on.
async fn a_mix_on_one_session(store: Store) {
    const EACH: usize = 60;
    let session: SessionIdentity = "mcp:shared-by-all".parse().unwrap();
    McpClient::start(&store.location(), "shared-by-all", "collect").close();

    let location = store.location();
    let servers = ["one", "two"].map(|name| {
        let location = location.clone();
        std::thread::spawn(move || {
            let mut client = McpClient::start(&location, "shared-by-all", "collect");
            for n in 0..EACH {
                client.call("touch", &json!({ "by": format!("{name}-{n}") }));
            }
            client.close();
        })
    });
    let mut callers = Vec::new();
    for name in ["three", "four"] {
        let (engine, session) = (store.engine().await, session.clone());
        callers.push(tokio::spawn(async move {
            for n in 0..EACH {
                let arguments = json!({ "by": format!("{name}-{n}") }).as_object().cloned().unwrap();
                PlanTools::new(&engine)
                    .call(&session, &Actor::agent(name, "library"), "touch", arguments)
                    .await
                    .unwrap();
            }
        }));
    }
    for _ in 0..5 {
        let arguments = ["--json", "plan", "status", "--session", "mcp:shared-by-all"];
        let output = planwright(&location).args(arguments).output().unwrap();
        assert!(output.status.success());
        serde_json::from_slice::<Value>(&output.stdout).expect("JSON while others write");
    }
    for caller in callers {
        caller.await.unwrap();
    }
    for server in servers {
        server.join().unwrap();
    }

    let engine = store.engine().await;
    let plan = engine.plans().active(&session).await.unwrap();
    let steps = plan_steps(&plan);
    let calls: BTreeSet<_> = steps.iter().map(|step| step.arguments.as_ref().unwrap()["by"].to_string()).collect();
    assert_eq!((steps.len(), calls.len()), (4 * EACH, 4 * EACH), "every step is stored, and each once");
    assert!(engine.verifier().verify_all(|_| {}).await.unwrap().is_whole());
}

/// Two processes, two hundred acknowledged creates each.
#[tokio::test(flavor = "multi_thread")]
async fn two_processes_keep_four_hundred_plans() {
    const EACH: u64 = 200;
    let store = Store::sqlite();
    let creators = ["creator-one", "creator-two"].map(|session| {
        let location = store.location();
        std::thread::spawn(move || {
            let mut client = McpClient::start(&location, session, "build");
            for n in 0..EACH {
                client.call("plan_create_draft", &json!({ "goal": format!("goal {n}") }));
            }
            client.close();
        })
    });
    for creator in creators {
        creator.join().unwrap();
    }
    let engine = store.engine().await;
    let mut numbers = 0;
    for session in ["mcp:creator-one", "mcp:creator-two"] {
        let page = engine.plans().list(&session.parse().unwrap(), None, 1_000).await.unwrap();
        let distinct: BTreeSet<_> = page.items.iter().map(|plan| plan.title.clone()).collect();
        assert_eq!(distinct.len() as u64, EACH);
        numbers += page.items.len() as u64;
    }
    assert_eq!(numbers, 2 * EACH);
}

/// Many servers started at the same moment on a store that does not exist yet.
#[test]
fn many_processes_make_the_store_together() {
    let store = Store::sqlite();
    let starters: Vec<_> = (0..6)
        .map(|n| {
            let location = store.location();
            std::thread::spawn(move || {
                let mut client = McpClient::start(&location, &format!("starter-{n}"), "document");
                client.call("plan_set_content", &json!({ "plan_markdown": "# Here" }));
                client.close();
            })
        })
        .collect();
    for starter in starters {
        starter.join().unwrap();
    }
}
