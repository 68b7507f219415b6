//! Who gets a WebSocket at all.

use serde_json::json;

use crate::client::{Client, Hello};
use crate::world::{SESSION, World};

impl World {
    #[track_caller]
    fn turned_away(&self, hello: Hello, status: u16, code: &'static str) -> impl Future<Output = ()> {
        let address = self.address;
        async move {
            let away = Client::connect(address, &hello).await.err().unwrap_or_else(|| panic!("{hello:?} came in"));
            assert_eq!((away.status, &away.problem["code"]), (status, &json!(code)), "{hello:?}: {away:?}");
        }
    }

    async fn let_in(&self, hello: Hello) {
        let mut client =
            Client::connect(self.address, &hello).await.unwrap_or_else(|away| panic!("{hello:?}: {away:?}"));
        client.subscribe(SESSION, None).await;
    }
}

#[tokio::test]
async fn without_the_token_every_connection_is_refused() {
    let world = World::new().await;
    let token = world.token.clone();
    world.turned_away(Hello::new(), 401, "UNAUTHENTICATED").await;
    world.turned_away(Hello::new().bearer("not-the-token"), 401, "UNAUTHENTICATED").await;
    world.turned_away(Hello::new().bearer(""), 401, "UNAUTHENTICATED").await;
    world.turned_away(Hello::new().bearer(&token).bearer(&token), 401, "UNAUTHENTICATED").await;
    world.turned_away(Hello::new().with("cookie", "planwright=guessed"), 401, "UNAUTHENTICATED").await;
    world.turned_away(Hello::new().with("sec-websocket-protocol", &token), 401, "UNAUTHENTICATED").await;
    world.let_in(Hello::new().bearer(&token)).await;
}

#[tokio::test]
async fn pages_of_others_are_not_let_in_with_anything() {
    let world = World::new().await;
    let (token, cookie) = (world.token.clone(), world.cookie().await);
    let port = world.address.port();
    let foreign = [
        "https://evil.example.org".to_owned(),
        "null".to_owned(),
        format!("http://evil.example.org:{port}"),
        format!("http://127.0.0.1.evil.example.org:{port}"),
        format!("https://127.0.0.1:{}", port ^ 1),
    ];
    for origin in &foreign {
        world.turned_away(Hello::new().bearer(&token).with("origin", origin), 403, "POLICY_DENIED").await;
        world.turned_away(Hello::new().with("cookie", &cookie).with("origin", origin), 403, "POLICY_DENIED").await;
    }
}

#[tokio::test]
async fn the_cookie_counts_only_from_our_own_page() {
    let world = World::new().await;
    let cookie = world.cookie().await;
    world.turned_away(Hello::new().with("cookie", &cookie), 403, "POLICY_DENIED").await;
    for origin in [format!("http://{}", world.address), "https://dash.example.org".to_owned()] {
        world.let_in(Hello::new().with("cookie", &cookie).with("origin", &origin)).await;
    }
}

#[tokio::test]
async fn a_request_under_a_foreign_name_is_not_let_in() {
    let world = World::new().await;
    for name in ["evil.example.org", "127.0.0.1.evil.example.org", "dash.example.org"] {
        let away = Client::connect(world.address, &Hello::new().bearer(&world.token).with("host", name)).await;
        let away = away.err().unwrap_or_else(|| panic!("{name} is let in"));
        assert!(matches!(away.status, 400 | 403 | 421), "{away:?}");
    }
}
