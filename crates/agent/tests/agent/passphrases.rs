//! Wrong passphrases: few of them are tried, and they keep nobody out elsewhere.

use futures::future::join_all;
use planwright_core::actor::Actor;
use planwright_core::presence::Presence;
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
