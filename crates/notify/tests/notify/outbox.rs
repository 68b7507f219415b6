//! A receiver that fails, and processes that die.

use std::collections::BTreeMap;

use planwright_engine::outbox::{TakeMessages, TakeOrder};
use planwright_notify::options::WebhookOptions;
use planwright_notify::{NotifyOptions, Target};

use crate::world::{World, quiet_model};

#[tokio::test]
async fn a_receiver_that_fails_is_tried_again() {
    let world = World::new(quiet_model()).await;
    let notifier = world.notifier(world.options("one"));
    let session = world.waiting("session-one").await;
    notifier.look(&session, world.now()).await.unwrap();
    world.advance(61);
    world.receiver.answer(&[500, 503, 429]);
    for _ in 0..4 {
        notifier.send_due(Target::Webhook).await.unwrap();
        // At once it is not tried again.
        assert_eq!(notifier.send_due(Target::Webhook).await.unwrap(), 0);
        world.advance(3_600);
    }
    assert_eq!(world.receiver.events().len(), 1);
    assert!(world.ledger.undelivered(10).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_receiver_that_refuses_or_redirects_is_given_up() {
    for status in [302, 307, 404, 410] {
        let world = World::new(quiet_model()).await;
        let notifier = world.notifier(world.options("one"));
        let session = world.waiting("session-one").await;
        notifier.look(&session, world.now()).await.unwrap();
        world.advance(61);
        world.receiver.answer(&[status]);
        notifier.send_due(Target::Webhook).await.unwrap();
        world.advance(36_000);
        assert_eq!(notifier.send_due(Target::Webhook).await.unwrap(), 0);
        let undelivered = world.ledger.undelivered(10).await.unwrap();
        assert!(undelivered.len() == 1 && undelivered[0].failed, "{status}: {undelivered:?}");
    }
}

#[tokio::test]
async fn a_private_address_is_not_called_unless_it_is_allowed() {
    let world = World::new(quiet_model()).await;
    let webhook = WebhookOptions { url: world.receiver.url.clone(), secret: None, allow_private: false };
    let notifier = world.notifier(NotifyOptions { webhook: Some(webhook), ..world.options("one") });
    let session = world.waiting("session-one").await;
    notifier.look(&session, world.now()).await.unwrap();
    world.advance(61);
    notifier.send_due(Target::Webhook).await.unwrap();
    assert!(world.receiver.received().is_empty());
    let undelivered = world.ledger.undelivered(10).await.unwrap().remove(0);
    assert!(undelivered.failed && undelivered.why.unwrap().contains("private network"));
}

/// Processes take messages and die before they send them, or after.
#[tokio::test]
async fn a_thousand_happenings_are_each_told_although_processes_die() {
    let world = World::new(quiet_model()).await;
    let notifier = world.notifier(world.options("one"));
    for number in 0..1_000 {
        let session = world.waiting(&format!("session-{number:04}")).await;
        notifier.look(&session, world.now()).await.unwrap();
    }
    world.advance(61);
    let mut round = 0;
    loop {
        round += 1;
        // A process that dies with what it took.
        if round % 3 == 0 {
            let now = world.now();
            let until = now + jiff::SignedDuration::from_secs(120);
            let take = TakeMessages {
                channel: "notify-webhook".to_owned(),
                owner: format!("dead {round}"),
                now,
                until,
                limit: 50,
                order: TakeOrder::Any,
            };
            world.ledger.take_messages(&take).await.unwrap();
        }
        // A server that starts anew knows nothing of the one before.
        let notifier = world.notifier(world.options(&format!("server {round}")));
        if notifier.send_due(Target::Webhook).await.unwrap() == 0 {
            if world.receiver.events().len() >= 1_000 {
                break;
            }
            world.advance(121);
        }
    }
    let mut told: BTreeMap<String, usize> = BTreeMap::new();
    for event in world.receiver.events() {
        *told.entry(event["session"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    assert_eq!(told.len(), 1_000);
    assert!(told.values().all(|count| *count == 1));
}
