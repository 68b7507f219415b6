//! A receiver that fails, hangs, redirects, or is at a private address.

use std::time::Duration;

use planwright_notify::options::WebhookOptions;
use planwright_notify::{Notifier, NotifyOptions, NotifyTarget};
use sha2::{Digest as _, Sha256};

use crate::world::{HANGS, LONG, Receiver, World, quiet_model};

#[tokio::test]
async fn a_receiver_that_fails_is_tried_again() {
    let world = World::new(quiet_model()).await;
    let notifier = world.notifier(world.options("one"));
    let session = world.waiting("session-one").await;
    notifier.look(&session, world.now()).await.unwrap();
    world.advance(61);
    world.receiver.answer(&[500, 503, 429]);
    for _ in 0..4 {
        notifier.send_due(NotifyTarget::Webhook).await.unwrap();
        // At once it is not tried again.
        assert_eq!(notifier.send_due(NotifyTarget::Webhook).await.unwrap(), 0);
        world.advance(3_600);
    }
    assert_eq!(world.receiver.events().len(), 1);
    assert!(world.ledger.undelivered(10).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_receiver_that_refuses_or_redirects_is_given_up_and_a_redirect_is_not_followed() {
    for status in [301, 302, 307, 308, 404, 410] {
        let world = World::new(quiet_model()).await;
        // It would take the call, and is on this machine.
        let private = Receiver::start().await;
        world.receiver.redirect_to(&private.url);
        let notifier = waiting(&world, world.options("one")).await;
        world.receiver.answer(&[status]);
        notifier.send_due(NotifyTarget::Webhook).await.unwrap();
        world.advance(36_000);
        assert_eq!(notifier.send_due(NotifyTarget::Webhook).await.unwrap(), 0);
        assert_eq!((world.receiver.calls(), private.calls()), (1, 0), "{status}");
        let undelivered = world.ledger.undelivered(10).await.unwrap();
        assert!(undelivered.len() == 1 && undelivered[0].failed, "{status}: {undelivered:?}");
    }
}

/// A notifier, and a plan that is to be told.
async fn waiting(world: &World, options: NotifyOptions) -> Notifier {
    let notifier = world.notifier(options);
    let session = world.waiting("session-one").await;
    notifier.look(&session, world.now()).await.unwrap();
    world.advance(61);
    notifier
}

#[tokio::test]
async fn a_receiver_that_hangs_is_given_its_time_and_tried_again() {
    let world = World::new(quiet_model()).await;
    let webhook = WebhookOptions { answer_time: Duration::from_millis(200), ..world.webhook(&world.receiver.url) };
    let options = NotifyOptions { webhook: Some(webhook), ..world.options("one") };
    let notifier = waiting(&world, options).await;
    world.receiver.answer(&[HANGS, HANGS]);
    for attempt in 1..=2 {
        let sent = tokio::time::timeout(LONG, notifier.send_due(NotifyTarget::Webhook)).await;
        assert_eq!(sent.expect("the call ends by itself").unwrap(), 1);
        let undelivered = world.ledger.undelivered(10).await.unwrap().remove(0);
        assert_eq!(
            (undelivered.failed, undelivered.attempts, undelivered.why.as_deref()),
            (false, attempt, Some("the webhook does not answer"))
        );
        world.advance(3_600);
    }
    assert_eq!(notifier.send_due(NotifyTarget::Webhook).await.unwrap(), 1);
    assert_eq!((world.receiver.calls(), world.receiver.events().len()), (3, 1));
}

/// An address in the setting, and a name that leads to one.
#[tokio::test]
async fn a_private_address_is_not_called_unless_it_is_allowed() {
    let named = |url: &str| url.replace("127.0.0.1", "localhost");
    for url in [|url: &str| url.to_owned(), named] {
        let world = World::new(quiet_model()).await;
        let url = url(&world.receiver.url);
        let refused = WebhookOptions { allow_private: false, ..world.webhook(&url) };
        let notifier = waiting(&world, NotifyOptions { webhook: Some(refused), ..world.options("one") }).await;
        notifier.send_due(NotifyTarget::Webhook).await.unwrap();
        assert_eq!(world.receiver.calls(), 0, "{url}");
        let undelivered = world.ledger.undelivered(10).await.unwrap().remove(0);
        assert!(undelivered.failed && undelivered.why.unwrap().contains("private network"));
        // The same address works where it is allowed.
        let allowed = NotifyOptions { webhook: Some(world.webhook(&url)), ..world.options("two") };
        let session = world.waiting("session-two").await;
        let notifier = world.notifier(allowed);
        notifier.look(&session, world.now()).await.unwrap();
        world.advance(61);
        notifier.send_due(NotifyTarget::Webhook).await.unwrap();
        assert_eq!(world.receiver.events().len(), 1, "{url}");
    }
}

/// HMAC-SHA256 by its definition in RFC 2104.
fn hmac(key: &[u8], message: &[u8]) -> String {
    assert!(key.len() <= 64);
    let pad = |with: u8| (0..64).map(|index| key.get(index).copied().unwrap_or(0) ^ with).collect::<Vec<u8>>();
    let inner = Sha256::new().chain_update(pad(0x36)).chain_update(message).finalize();
    hex::encode(Sha256::new().chain_update(pad(0x5c)).chain_update(inner).finalize())
}

#[tokio::test]
async fn the_signature_is_the_hmac_of_the_time_and_the_body() {
    // The second test case of RFC 4231.
    let expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
    assert_eq!(hmac(b"Jefe", b"what do ya want for nothing?"), expected);
    let world = World::new(quiet_model()).await;
    let notifier = waiting(&world, world.options("one")).await;
    notifier.send_due(NotifyTarget::Webhook).await.unwrap();
    let (headers, body) = world.receiver.bodies().remove(0);
    let header = |name: &str| headers[name].to_str().unwrap().to_owned();
    let signed = format!("{}.{body}", header("X-Planwright-Timestamp"));
    assert_eq!(header("X-Planwright-Signature"), format!("sha256={}", hmac(b"a key", signed.as_bytes())));
    let sent: serde_json::Value = serde_json::from_str(&body).unwrap();
    assert_eq!(sent["id"], header("Idempotency-Key"));
    // Without a key there is no signature.
    let unsigned = WebhookOptions { secret: None, ..world.webhook(&world.receiver.url) };
    let session = world.waiting("session-two").await;
    let notifier = world.notifier(NotifyOptions { webhook: Some(unsigned), ..world.options("two") });
    notifier.look(&session, world.now()).await.unwrap();
    world.advance(61);
    notifier.send_due(NotifyTarget::Webhook).await.unwrap();
    assert!(world.receiver.bodies()[1].0.get("X-Planwright-Signature").is_none());
}
