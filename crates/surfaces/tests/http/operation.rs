//! What whoever runs the server looks at.

use crate::world::World;

#[tokio::test]
async fn it_is_up_and_it_is_ready_while_the_store_answers() {
    let world = World::new().await;
    assert_eq!(world.send(world.ask("GET /healthz")).await.body, "up\n");
    assert_eq!(world.send(world.ask("GET /readyz")).await.body, "ready\n");
    world.mood.refuse();
    let unready = async {
        loop {
            let answer = world.send(world.ask("GET /readyz")).await;
            if answer.status != 200 {
                return answer;
            }
        }
    };
    let answer = tokio::time::timeout(crate::world::PATIENCE, unready).await.expect("it is noticed");
    answer.assert_problem(503, "UNAVAILABLE");
    assert!(!answer.body.contains("plug"), "what is wrong inside is nobody's business here");
    assert_eq!(world.send(world.ask("GET /healthz")).await.status, 200);
    world.mood.answer();
    let ready = async { while world.send(world.ask("GET /readyz")).await.status != 200 {} };
    tokio::time::timeout(crate::world::PATIENCE, ready).await.expect("it is noticed");
}

#[tokio::test]
async fn what_is_counted_is_told_to_whoever_knows_the_token() {
    let world = World::new().await;
    world.send(world.allowed("GET /nothing/secret-words")).await;
    world.send(world.ask("GET /healthz")).await;
    world.send(world.ask("GET /healthz")).await;
    world.send(world.allowed("STRANGE /healthz")).await;
    let answer = world.send(world.allowed("GET /metrics")).await;
    assert_eq!(answer.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    for line in [
        "# HELP http_requests_total ",
        "# TYPE http_requests_total counter",
        "http_requests_total{method=\"GET\",route=\"/healthz\",status=\"200\"} 2",
        "http_requests_total{method=\"GET\",route=\"none\",status=\"404\"} 1",
        "http_requests_total{method=\"OTHER\",route=\"/healthz\",status=\"405\"} 1",
        "# TYPE http_request_seconds histogram",
        "http_request_seconds_count{route=\"/healthz\"} 3",
        "http_request_seconds_bucket{route=\"/healthz\",le=\"+Inf\"} 3",
        "routing_session_mismatch_blocked_count 0",
        "plan_mode_active_sessions 4",
        "websocket_connections 0",
        "sessions 5",
        "open_turns 3",
        "plans_ready 2",
        "plans_executing 1",
        "store_up 1",
    ] {
        assert!(answer.body.contains(line), "{line} is missing in\n{}", answer.body);
    }
    assert!(!answer.body.contains("secret-words"), "{}", answer.body);
    world.mood.refuse();
    let answer = world.send(world.allowed("GET /metrics")).await;
    assert!(answer.body.contains("store_up 0") && !answer.body.contains("plan_mode_active_sessions"), "{answer:?}");
}

#[tokio::test]
async fn what_panics_is_a_problem_and_harms_nobody_else() {
    let world = World::new().await;
    world.mood.panic();
    let mut stream = world.connect().await;
    crate::asking::write(&mut stream, &world.allowed("GET /metrics").bytes()).await;
    crate::asking::next(&mut stream).await.assert_problem(500, "INTERNAL");
    world.mood.answer();
    crate::asking::write(&mut stream, &world.allowed("GET /nothing").bytes()).await;
    crate::asking::next(&mut stream).await.assert_problem(404, "NOT_FOUND");
}
