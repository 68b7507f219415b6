//! Wrong passphrases: few of them are tried, and they keep nobody out elsewhere.

use std::time::Duration;

use futures::future::join_all;
use jiff::{SignedDuration, Timestamp};
use planwright_core::actor::Actor;
use planwright_core::approval::{ApprovalPolicy, Require};
use planwright_core::presence::{AgentClient, Evidence, Presence};
use planwright_core::refusal::RefusalCode;
use planwright_engine::ledger::LedgerError;
use planwright_llm::scripted::ScriptedModel;
use planwright_test_support::clock::TestClock;

use crate::world::{World, person};

const PASSPHRASE: &str = "correct horse battery";

fn from(presence: Presence) -> Actor {
    Actor::person("ada", "web").recognised(presence)
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_wrong_passphrases_at_once_few_are_tried_and_other_sources_are_open() {
    // Waits end with time, and this test has none.
    let world = World::with(ScriptedModel::new([]), |setup| setup.clock = Some(TestClock::stopped())).await;
    let approvals = world.engine().approvals();
    for name in ["ada", "bob"] {
        let key = match name {
            "ada" => None,
            _ => Some(approvals.unlock(&person(), "ada", PASSPHRASE).await.unwrap()),
        };
        approvals.add(&person(), name, PASSPHRASE, key.as_ref()).await.unwrap();
    }
    let token = from(Presence::Token);
    let guesses = join_all((0..24).map(|guess| {
        let (approvals, token) = (approvals.clone(), token.clone());
        async move { approvals.unlock(&token, "ada", &format!("guess number {guess}")).await }
    }))
    .await;
    let (mut tried, mut refused) = (0, 0);
    for guess in guesses {
        match guess {
            Err(LedgerError::Refused(refusal)) if refusal.code == RefusalCode::Unauthenticated => tried += 1,
            Err(LedgerError::Refused(refusal)) if refusal.code == RefusalCode::LimitExceeded => refused += 1,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((tried, refused), (3, 21));
    assert!(approvals.unlock(&token, "ada", PASSPHRASE).await.is_err(), "this source waits");
    approvals.unlock(&token, "bob", PASSPHRASE).await.unwrap();
    for open in [Presence::Browser, Presence::terminal(None), Presence::channel()] {
        approvals
            .unlock(&from(open.clone()), "ada", PASSPHRASE)
            .await
            .unwrap_or_else(|error| panic!("{open:?}: {error}"));
    }
    assert!(approvals.unlock(&token, "ada", PASSPHRASE).await.is_err(), "right ones elsewhere end no wait");
}

/// On a system that does not say which processes a terminal belongs to, Planwright cannot tell the agent's terminal from the person's.
/// It enrols the first approver there while no agent runs, and does nothing else.
#[tokio::test(flavor = "multi_thread")]
async fn without_a_table_of_processes_the_first_approver_is_enrolled_while_no_agent_gives_a_sign_of_life() {
    let clock = TestClock::stopped();
    let world = World::with(ScriptedModel::new([]), |setup| {
        setup.clock = Some(clock.clone());
        setup.policy.approval = ApprovalPolicy::requiring(Require::Separate);
    })
    .await;
    let (engine, approvals) = (world.engine(), world.engine().approvals());
    let unseen = from(Presence::terminal(None));
    approvals.check_first_enrolment(&unseen).await.unwrap();
    let session = "mcp:an-agents-one".parse().unwrap();
    engine.sessions().open(&session, &Actor::system("mcp")).await.unwrap();
    let client = AgentClient {
        machine: String::new(),
        name: "codex".to_owned(),
        processes: Vec::new(),
        terminal: None,
        place: None,
        session: None,
        group: None,
        since: None,
        beats: true,
    };
    let heartbeat = client.heartbeat().unwrap();
    engine.sessions().see_client(&session, &Actor::system("mcp"), client).await.unwrap();
    let refused = approvals.check_first_enrolment(&unseen).await.unwrap_err().to_string();
    assert!(refused.contains("codex gave a sign of life within the last minute"), "{refused}");
    // Its session is silent, and its program is not. Signs of life are told by the clock of the store.
    clock.advance(Duration::from_secs(61));
    let sign_of_life = async |seconds_ago: i64| {
        let at = Timestamp::now() - SignedDuration::from_secs(seconds_ago);
        engine.ledger().heartbeat(&heartbeat, at).await.unwrap();
    };
    sign_of_life(10).await;
    assert!(approvals.check_first_enrolment(&unseen).await.is_err());
    sign_of_life(61).await;
    approvals.check_first_enrolment(&unseen).await.unwrap();
    assert!(approvals.check_separate(&unseen).await.is_err(), "it enrols and does nothing else");
    let without_terminal = from(Presence::NoTerminal { evidence: Evidence::default() });
    assert!(approvals.check_first_enrolment(&without_terminal).await.is_err());
}
