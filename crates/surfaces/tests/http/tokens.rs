//! What is accepted as the token, and what is not.

use planwright_surfaces::http::Token;

use crate::world::World;

#[tokio::test]
async fn the_token_authenticates() {
    let world = World::new().await;
    for scheme in ["Bearer", "bearer", "BEARER"] {
        let ask = world.ask("GET /metrics").header("Authorization", &format!("{scheme} {}", world.token));
        assert_eq!(world.send(ask).await.status, 200, "{scheme}");
    }
}

#[tokio::test]
async fn nothing_else_is_accepted_as_the_token() {
    let world = World::limited(|limits| limits.wrong_tokens_per_minute = 0).await;
    let token = &world.token;
    let (first, last) = (&token[..token.len() - 1], &token[1..]);
    for value in [
        String::new(),
        "Bearer".to_owned(),
        "Bearer ".to_owned(),
        token.clone(),
        format!("Bearer {first}"),
        format!("Bearer {last}"),
        format!("Bearer {token}0"),
        format!("Bearer 0{token}"),
        format!("Bearer  {token}"),
        format!("Bearer {token} {token}"),
        format!("Bearer {token},"),
        format!("Bearer \"{token}\""),
        format!("Bearer {}", token.to_uppercase()),
        format!("Bearer={token}"),
        format!("Bearer:{token}"),
        format!("BearerX {token}"),
        format!("Token {token}"),
        format!("Basic {token}"),
        "Basic OnRva2Vu".to_owned(),
        format!("Bearer {}", "0".repeat(token.len())),
        "Bearer null".to_owned(),
        "Bearer undefined".to_owned(),
    ] {
        let answer = world.send(world.ask("GET /metrics").header("Authorization", &value)).await;
        assert_eq!(answer.status, 401, "{value:?}: {answer:?}");
        answer.assert_problem(401, "UNAUTHENTICATED");
    }
    for value in [b"Bearer \xff\xfe".as_slice(), "Bearer t\u{f6}ken".as_bytes(), b"\xff"] {
        world
            .send(world.ask("GET /metrics").header_bytes("Authorization", value))
            .await
            .assert_problem(401, "UNAUTHENTICATED");
    }
}

#[tokio::test]
async fn the_token_is_sent_once_and_in_its_header() {
    let world = World::limited(|limits| limits.wrong_tokens_per_minute = 0).await;
    let token = &world.token;
    let asks = [
        world.allowed("GET /metrics").bearer(token),
        world.allowed("GET /metrics").bearer("wrong"),
        world.ask("GET /metrics").bearer("wrong").bearer(token),
        world.ask(&format!("GET /metrics?token={token}")),
        world.ask(&format!("GET /metrics?access_token={token}")),
        world.ask("GET /metrics").header("X-Api-Key", token),
        world.ask("GET /metrics").header("Proxy-Authorization", &format!("Bearer {token}")),
        world.ask("GET /metrics").cookie(&format!("planwright={token}")),
        world.ask("GET /metrics").cookie(&format!("token={token}")),
    ];
    for ask in asks {
        let told = format!("{ask:?}");
        let answer = world.send(ask).await;
        assert_eq!(answer.status, 401, "{told}: {answer:?}");
    }
}

/// With the token these paths or methods do not exist. Without it a client does not even learn that.
#[tokio::test]
async fn paths_that_do_not_exist_need_the_token_too() {
    let world = World::new().await;
    for (what, status, code) in [
        ("GET /nothing", 404, "NOT_FOUND"),
        ("GET /api/nothing", 404, "NOT_FOUND"),
        ("GET /api/login", 405, "INVALID_ARGUMENT"),
        ("POST /healthz", 405, "INVALID_ARGUMENT"),
        ("DELETE /", 405, "INVALID_ARGUMENT"),
        ("POST /start.js", 405, "INVALID_ARGUMENT"),
        ("GET /healthz/", 404, "NOT_FOUND"),
        ("GET /s", 404, "NOT_FOUND"),
        ("GET /s/", 404, "NOT_FOUND"),
        ("POST /s/k3yk3y8x", 405, "INVALID_ARGUMENT"),
        ("GET /settings/", 404, "NOT_FOUND"),
        ("GET //healthz", 404, "NOT_FOUND"),
        ("GET /HEALTHZ", 404, "NOT_FOUND"),
        ("GET /healthz/../metrics", 404, "NOT_FOUND"),
        ("GET /%68ealthz", 404, "NOT_FOUND"),
        ("GET /metrics;/healthz", 404, "NOT_FOUND"),
        ("BREW /metrics", 405, "INVALID_ARGUMENT"),
        ("OPTIONS *", 404, "NOT_FOUND"),
    ] {
        world.send(world.ask(what)).await.assert_problem(401, "UNAUTHENTICATED");
        let answer = world.send(world.allowed(what)).await;
        assert_eq!(answer.status, status, "{what}: {answer:?}");
        answer.assert_problem(status, code);
    }
    let with_query = world.send(world.ask("GET /metrics?/healthz")).await;
    with_query.assert_problem(401, "UNAUTHENTICATED");
}

/// Every call of the description, so that a new one is tried as well.
#[tokio::test]
async fn no_call_is_answered_without_the_token() {
    let world = World::new().await;
    let document: serde_json::Value = serde_json::from_str(planwright_surfaces::http::description()).unwrap();
    let mut tried = Vec::new();
    for (path, calls) in document["paths"].as_object().unwrap() {
        let filled: Vec<_> = path.split('/').map(|part| if part.starts_with('{') { "x1" } else { part }).collect();
        for method in calls.as_object().unwrap().keys() {
            let what = format!("{} {}", method.to_uppercase(), filled.join("/"));
            world.send(world.ask(&what)).await.assert_problem(401, "UNAUTHENTICATED");
            let forged = world.ask(&what).cookie(&format!("planwright_{}=2.99999999999.00.00", world.address.port()));
            world.send(forged).await.assert_problem(401, "UNAUTHENTICATED");
            tried.push(what);
        }
    }
    for what in [
        "GET /api/sessions/x1/state",
        "PUT /api/workbook/x1",
        "GET /api/sessions/x1/files",
        "POST /api/sessions/x1/files",
        "GET /api/sessions/x1/files/content",
        "GET /api/plans/x1/preview",
        "GET /api/clients",
        "DELETE /api/clients/x1",
    ] {
        assert!(tried.contains(&what.to_owned()), "{what} is not among {tried:?}");
    }
}

#[tokio::test]
async fn these_endpoints_are_open() {
    let world = World::new().await;
    for path in [
        "/",
        "/settings",
        "/s/k3yk3y8x",
        "/p/1",
        "/start",
        "/start.js",
        "/start.css",
        "/icon.svg",
        "/healthz",
        "/readyz",
    ] {
        assert_eq!(world.send(world.ask(&format!("GET {path}"))).await.status, 200, "{path}");
        assert_eq!(world.send(world.ask(&format!("HEAD {path}"))).await.status, 200, "{path}");
    }
    for path in ["/metrics", "/ws", "/api/sessions", "/api/plans", "/api/inbox", "/api/openapi.json"] {
        world.send(world.ask(&format!("GET {path}"))).await.assert_problem(401, "UNAUTHENTICATED");
    }
    world.send(world.ask("POST /api/logout")).await.assert_problem(401, "UNAUTHENTICATED");
}

#[tokio::test]
async fn guessing_is_limited_and_the_owner_is_not_locked_out() {
    let world = World::limited(|limits| limits.wrong_tokens_per_minute = 5).await;
    let wrong = || world.ask("GET /metrics").bearer("wrong");
    for _ in 0..5 {
        world.send(wrong()).await.assert_problem(401, "UNAUTHENTICATED");
    }
    let answer = world.send(wrong()).await;
    answer.assert_problem(429, "LIMIT_EXCEEDED");
    let wait: u64 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=13).contains(&wait), "{wait}");
    // The same guesses are counted at the login.
    let guess = world.ask("POST /api/login").json(r#"{"token":"wrong"}"#);
    world.send(guess).await.assert_problem(429, "LIMIT_EXCEEDED");
    assert_eq!(world.send(world.allowed("GET /metrics")).await.status, 200);
    world.cookie().await;
}

#[tokio::test]
async fn a_request_without_a_token_is_not_a_guess() {
    let world = World::limited(|limits| limits.wrong_tokens_per_minute = 2).await;
    for _ in 0..5 {
        world.send(world.ask("GET /metrics")).await.assert_problem(401, "UNAUTHENTICATED");
        world.send(world.ask("GET /metrics").cookie("planwright=1.2.3")).await.assert_problem(401, "UNAUTHENTICATED");
    }
    world.send(world.ask("GET /metrics").bearer("wrong")).await.assert_problem(401, "UNAUTHENTICATED");
}

#[tokio::test]
async fn a_given_token_is_accepted() {
    let world = World::with(|options| options.token = Token::Given("s3cret-s".into())).await;
    assert_eq!(world.token, "s3cret-s");
    assert_eq!(world.send(world.allowed("GET /metrics")).await.status, 200);
    assert!(!world.token_file().exists());
}
