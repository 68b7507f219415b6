//! What operators look at: probes and metrics.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use planwright_surfaces::http::HealthSource;
use serde_json::json;
use tokio::time::timeout;

use crate::client::Answer;
use crate::world::{TIMEOUT, World};

#[tokio::test]
async fn the_server_is_ready_while_the_store_answers() {
    let world = World::new().await;
    assert_eq!(world.send(world.ask("GET /healthz")).await.body, "up\n");
    assert_eq!(world.send(world.ask("GET /readyz")).await.body, "ready\n");
    world.control.refuse();
    let answer = world.until_ready_is(503).await;
    answer.assert_problem(503, "UNAVAILABLE");
    assert!(!answer.body.contains("plug"), "details are for the log");
    assert_eq!(world.send(world.ask("GET /healthz")).await.status, 200);
    world.control.answer();
    world.until_ready_is(200).await;
}

impl World {
    /// The answer is cached for a moment.
    async fn until_ready_is(&self, status: u16) -> Answer {
        let asking = async {
            loop {
                let answer = self.send(self.ask("GET /readyz")).await;
                if answer.status == status {
                    return answer;
                }
            }
        };
        timeout(TIMEOUT, asking).await.unwrap_or_else(|_| panic!("/readyz never answers {status}"))
    }
}

/// A part of the process that a test can break.
#[derive(Debug, Default)]
struct Log(AtomicBool);

impl HealthSource for Log {
    fn problems(&self) -> Vec<String> {
        let broken = self.0.load(Ordering::Relaxed);
        broken.then(|| "The log cannot be written.".to_owned()).into_iter().collect()
    }
}

#[tokio::test]
async fn readiness_says_everything_that_is_wrong() {
    let log = Arc::new(Log::default());
    let source = Arc::clone(&log);
    let world = World::with(|options| options.health = vec![source]).await;
    assert_eq!(world.send(world.ask("GET /readyz")).await.body, "ready\n");

    log.0.store(true, Ordering::Relaxed);
    let answer = world.send(world.ask("GET /readyz")).await;
    answer.assert_problem(503, "UNAVAILABLE");
    assert_eq!(answer.json()["reasons"], json!(["The log cannot be written."]));
    assert_eq!(answer.json()["detail"], "The log cannot be written.");

    world.control.fill_disk();
    let both = async {
        loop {
            let answer = world.send(world.ask("GET /readyz")).await.json();
            if answer["reasons"] == json!(["The store cannot be written.", "The log cannot be written."]) {
                return answer;
            }
        }
    };
    let answer = timeout(TIMEOUT, both).await.expect("the full disk is noticed");
    assert!(!answer.to_string().contains("block device"), "details are for the log: {answer}");

    world.control.answer();
    log.0.store(false, Ordering::Relaxed);
    world.until_ready_is(200).await;
    assert_eq!(world.send(world.ask("GET /healthz")).await.status, 200);
}

/// Anyone may ask: the store is asked at most once a second, however many requests come.
#[tokio::test]
async fn readiness_asks_the_store_rarely() {
    let world = World::new().await;
    let begun = std::time::Instant::now();
    for _ in 0..100 {
        assert_eq!(world.send(world.ask("GET /readyz")).await.status, 200);
    }
    let most = 1 + usize::try_from(begun.elapsed().as_secs()).unwrap();
    assert!((1..=most).contains(&world.control.checks()), "{} checks", world.control.checks());
}

#[tokio::test]
async fn metrics_are_rendered_for_clients_with_the_token() {
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
    world.control.refuse();
    let answer = world.send(world.allowed("GET /metrics")).await;
    assert!(answer.body.contains("store_up 0") && !answer.body.contains("plan_mode_active_sessions"), "{answer:?}");
}

/// A series that begins with its first event hides that event: nothing shows as an increase.
#[tokio::test]
async fn every_series_that_is_known_is_there_before_it_counts() {
    let world = World::new().await;
    let answer = world.send(world.allowed("GET /metrics")).await;
    let lines: Vec<_> = answer.body.lines().collect();
    for series in [
        "auto_run_completed_count{runKind=\"GOAL_RUN\",status=\"failed\"}",
        "auto_run_started_count{runKind=\"TASK_RUN\",channel=\"telegram\"}",
        "http_requests_total{method=\"GET\",route=\"/metrics\",status=\"200\"}",
        "memory_scope_cross_session_blocked_count",
        "memory_scope_goal_selected_count",
        "memory_scope_task_selected_count",
        "plan_mode_enabled_count",
        "routing_session_mismatch_blocked_count",
        "turns_total{end=\"answered\"}",
        "turns_total{end=\"plan_ready\"}",
    ] {
        let line = format!("{series} 0");
        assert!(lines.contains(&line.as_str()), "{line} is missing in\n{}", answer.body);
    }
}

#[tokio::test]
async fn a_panic_is_a_problem_and_ends_only_its_request() {
    let world = World::new().await;
    world.control.panic();
    let mut stream = world.connect().await;
    crate::client::write(&mut stream, &world.allowed("GET /metrics").bytes()).await;
    crate::client::next(&mut stream).await.assert_problem(500, "INTERNAL");
    world.control.answer();
    crate::client::write(&mut stream, &world.allowed("GET /nothing").bytes()).await;
    crate::client::next(&mut stream).await.assert_problem(404, "NOT_FOUND");
}
