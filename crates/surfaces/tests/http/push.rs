//! Which browsers get pushes, and who may say so.

use serde_json::{Value, json};

use crate::client::Ask;
use crate::clients::ask_for_a_person;
use crate::world::World;

const FIREFOX: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0";

/// What a browser gives. `place` tells browsers apart.
pub(crate) fn subscription(place: &str) -> String {
    let keys = json!({
        "p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
        "auth": "BTBZMqHH6r4Tts7J_aSIgg",
    });
    json!({ "endpoint": format!("https://push.example.org/send/{place}"), "keys": keys }).to_string()
}

impl World {
    /// A request of our own page in a browser.
    fn page_request(&self, what: &str, cookie: &str) -> Ask {
        let origin = format!("http://{}", self.address);
        self.ask(what).header("User-Agent", FIREFOX).header("Origin", &origin).cookie(cookie)
    }

    async fn pushed(&self) -> Vec<Value> {
        let answer = self.send(self.allowed("GET /api/push")).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let answer = answer.json();
        assert_eq!(answer["publicKey"].as_str().unwrap().len(), 87, "a point of the curve: {answer}");
        answer["subscriptions"].as_array().unwrap().clone()
    }
}

#[tokio::test]
async fn a_signed_in_browser_gets_pushes_until_it_signs_out() {
    let world = World::new().await;
    let cookie = world.cookie().await;
    for _ in 0..2 {
        let added = world.send(world.page_request("POST /api/push", &cookie).json(&subscription("1"))).await;
        assert_eq!(added.status, 200, "{added:?}");
        let added = added.json();
        assert_eq!((&added["name"], &added["current"]), (&"Firefox on Linux".into(), &true.into()));
        assert!(!added.to_string().contains("push.example.org"), "the address stays here: {added}");
    }
    assert_eq!(world.pushed().await.len(), 1);
    let out = world.send(world.page_request("POST /api/logout", &cookie).json("{}")).await;
    assert_eq!(out.status, 200, "{out:?}");
    assert!(world.pushed().await.is_empty());
}

#[tokio::test]
async fn a_browser_that_is_signed_out_elsewhere_gets_no_more_pushes() {
    let world = World::new().await;
    let cookie = world.cookie().await;
    world.send(world.page_request("POST /api/push", &cookie).json(&subscription("1"))).await;
    let clients = world.send(world.page_request("GET /api/clients", &cookie)).await.json();
    let id = clients["clients"][0]["id"].as_str().unwrap();
    assert_eq!(world.send(world.allowed(&format!("DELETE /api/clients/{id}"))).await.status, 204);
    assert!(world.pushed().await.is_empty());
}

#[tokio::test]
async fn a_program_with_the_token_subscribes_nothing() {
    let world = World::new().await;
    world.send(world.allowed("POST /api/push").json(&subscription("1"))).await.assert_problem(403, "POLICY_DENIED");
    world.send(world.ask("GET /api/push")).await.assert_problem(401, "UNAUTHENTICATED");
    assert!(world.pushed().await.is_empty());
    for wrong in [r#"{}"#, r#"{"endpoint":"https://x","keys":{"p256dh":"AAAA","auth":"AAAA"}}"#] {
        let cookie = world.cookie().await;
        let refused = world.send(world.page_request("POST /api/push", &cookie).json(wrong)).await;
        refused.assert_problem(400, "INVALID_ARGUMENT");
    }
}

/// It may be the agent's: it could send the titles of everything elsewhere, or end the pushes of the person.
#[tokio::test]
async fn a_browser_that_may_be_the_agents_neither_gets_pushes_nor_ends_those_of_others() {
    let mut engine = None;
    let world = World::with(|options| engine = Some(options.agent.engine().clone())).await;
    let engine = engine.unwrap();
    let (person, other) = (world.cookie().await, world.cookie().await);
    let added = world.send(world.page_request("POST /api/push", &person).json(&subscription("1"))).await.json();
    let id = added["id"].as_str().unwrap();
    ask_for_a_person(&engine).await;
    let asked = world.page_request("POST /api/push", &other).json(&subscription("2"));
    world.send(asked).await.assert_problem(403, "POLICY_DENIED");
    let ended = world.page_request(&format!("DELETE /api/push/{id}"), &other);
    world.send(ended).await.assert_problem(403, "POLICY_DENIED");
    assert_eq!(world.pushed().await.len(), 1);
    // Its own pushes every browser may end.
    let own = world.page_request(&format!("DELETE /api/push/{id}"), &person);
    assert_eq!(world.send(own).await.status, 204);
    assert!(world.pushed().await.is_empty());
}
