//! What is counted, under which names. Every server counts for itself, also where several run in one process.
//!
//! - `names`: every name, with its words

mod names;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use axum::extract::State;
use axum::http::{Method, StatusCode, header};
use axum::response::IntoResponse;
use metrics::{Key, KeyName, Label, Level, Metadata, Recorder};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusRecorder};
use metrics_util::MetricKindMask;
use planwright_core::event::{Event, SessionEvent, TurnEvent};
use planwright_core::session::SessionIdentity;
use planwright_engine::engine::Observer;
use planwright_engine::server_ledger::StoreCounts;

use self::names::Name;
use super::app::App;

/// Series of a session of which nothing is counted for this long are not told any more.
const FADE: Duration = Duration::from_secs(60 * 60);

/// How often what was measured is taken together; until then every measurement takes up memory.
const TIDY: Duration = Duration::from_secs(5);

/// How long the store may take to count, before the rest is told without.
const PATIENCE: Duration = Duration::from_secs(2);

const SECONDS: &[f64] =
    &[0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0];

/// A cheap handle; clones share everything.
#[derive(Debug, Clone)]
pub(crate) struct Metrics {
    parts: Arc<Parts>,
}

#[derive(Debug)]
struct Parts {
    lasting: PrometheusRecorder,
    /// What is counted by session would be told for ever, and there is no end of sessions.
    fading: PrometheusRecorder,
    websockets: AtomicI64,
}

impl Default for Metrics {
    fn default() -> Self {
        Self::fading_after(FADE)
    }
}

impl Metrics {
    fn fading_after(fade: Duration) -> Self {
        let seconds = Matcher::Full(names::HTTP_REQUEST_SECONDS.name.to_owned());
        let Ok(lasting) = PrometheusBuilder::new().set_buckets_for_metric(seconds, SECONDS) else {
            unreachable!("there are buckets")
        };
        let lasting = lasting.build_recorder();
        let fading = PrometheusBuilder::new().idle_timeout(MetricKindMask::COUNTER, Some(fade)).build_recorder();
        for name in names::COUNTERS {
            lasting.describe_counter(KeyName::from(name.name), None, name.words.into());
        }
        fading.describe_counter(
            KeyName::from(names::PLAN_MODE_ENABLED.name),
            None,
            names::PLAN_MODE_ENABLED.words.into(),
        );
        let name = names::HTTP_REQUEST_SECONDS;
        lasting.describe_histogram(KeyName::from(name.name), None, name.words.into());
        let metrics = Self { parts: Arc::new(Parts { lasting, fading, websockets: AtomicI64::new(0) }) };
        // It is told from the beginning, so that one sees that it never happened.
        metrics.count(names::MISMATCH_BLOCKED, Vec::new(), 0);
        metrics
    }

    /// A request was answered. `route` is the pattern, never what was typed.
    pub(super) fn answered(&self, method: &Method, route: &str, status: StatusCode, took: Duration) {
        let route = Label::new("route", route.to_owned());
        let status = Label::new("status", status.as_u16().to_string());
        let labels = vec![Label::from_static_parts("method", method_name(method)), route.clone(), status];
        self.count(names::HTTP_REQUESTS, labels, 1);
        let key = Key::from_parts(names::HTTP_REQUEST_SECONDS.name, vec![route]);
        self.parts.lasting.register_histogram(&key, &METADATA).record(took.as_secs_f64());
    }

    /// Something of one session was asked for under the name of another.
    pub(crate) fn mismatch_blocked(&self) {
        self.count(names::MISMATCH_BLOCKED, Vec::new(), 1);
    }

    /// Counted as open until what is given back is dropped.
    pub(crate) fn websocket(&self) -> OpenWebSocket {
        self.parts.websockets.fetch_add(1, Ordering::Relaxed);
        OpenWebSocket(self.clone())
    }

    /// Takes together what was measured, until it is aborted.
    pub(super) async fn tidy(self) {
        let mut ticks = tokio::time::interval(TIDY);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            self.parts.lasting.handle().run_upkeep();
            self.parts.fading.handle().run_upkeep();
        }
    }

    /// In the text format of Prometheus. What the store counts is left out when it does not answer.
    fn render(&self, census: Option<StoreCounts>) -> String {
        let mut text = self.parts.lasting.handle().render();
        text.push_str(&self.parts.fading.handle().render());
        let websockets = self.parts.websockets.load(Ordering::Relaxed);
        gauge(&mut text, names::WEBSOCKETS, websockets.max(0).unsigned_abs());
        gauge(&mut text, names::STORE_UP, u64::from(census.is_some()));
        if let Some(StoreCounts { sessions, planning, turns, plans_ready, plans_executing }) = census {
            gauge(&mut text, names::PLAN_MODE_ACTIVE, planning);
            gauge(&mut text, names::SESSIONS, sessions);
            gauge(&mut text, names::OPEN_TURNS, turns);
            gauge(&mut text, names::PLANS_READY, plans_ready);
            gauge(&mut text, names::PLANS_EXECUTING, plans_executing);
        }
        text
    }

    fn count(&self, name: Name, labels: Vec<Label>, by: u64) {
        self.parts.lasting.register_counter(&Key::from_parts(name.name, labels), &METADATA).increment(by);
    }
}

/// What this process committed.
impl Observer for Metrics {
    fn committed(&self, session: &SessionIdentity, events: &[Event]) {
        for event in events {
            if let Event::Session(SessionEvent::PlanModeEnabled { .. }) = event {
                let channel = Label::from_static_parts("channel", session.channel.as_str());
                let session = Label::new("session", session.conversation.as_str().to_owned());
                let key = Key::from_parts(names::PLAN_MODE_ENABLED.name, vec![channel, session]);
                self.parts.fading.register_counter(&key, &METADATA).increment(1);
            }
            if let Event::Turn { event: TurnEvent::Ended { ending, .. }, .. } = event {
                self.count(names::TURNS, vec![Label::from_static_parts("end", ending.end.name())], 1);
            }
        }
    }
}

/// A client that is connected.
#[derive(Debug)]
pub(crate) struct OpenWebSocket(Metrics);

impl Drop for OpenWebSocket {
    fn drop(&mut self) {
        self.0.parts.websockets.fetch_sub(1, Ordering::Relaxed);
    }
}

/// `/metrics`
pub(super) async fn show(State(app): State<App>) -> impl IntoResponse {
    let census = match tokio::time::timeout(PATIENCE, app.ledger().counts()).await {
        Ok(Ok(census)) => Some(census),
        Ok(Err(error)) => {
            tracing::warn!(event = "census_failed", %error);
            None
        }
        Err(_) => {
            tracing::warn!(event = "census_failed", "the store does not answer");
            None
        }
    };
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], app.metrics().render(census))
}

static METADATA: Metadata<'static> = Metadata::new(module_path!(), Level::INFO, Some(module_path!()));

fn gauge(text: &mut String, name: Name, value: u64) {
    use std::fmt::Write as _;
    let Name { name, words } = name;
    let _ = write!(text, "# HELP {name} {words}\n# TYPE {name} gauge\n{name} {value}\n\n");
}

/// Anybody can make up methods.
fn method_name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "OTHER",
    }
}

#[cfg(test)]
mod tests {
    use planwright_core::ids::{PlanId, TurnId};
    use planwright_core::plan::PlanStyle;
    use planwright_core::turn::TurnEnd;

    use super::*;

    #[test]
    fn what_is_committed_is_counted_by_session_and_by_end() {
        let metrics = Metrics::default();
        let session = "web:k3yk3y8x".parse().unwrap();
        let on = Event::Session(SessionEvent::PlanModeEnabled {
            style: PlanStyle::Document,
            plan: PlanId::new("plan-1").unwrap(),
        });
        let ended = Event::Turn {
            id: TurnId::new("turn-1").unwrap(),
            event: TurnEvent::Ended { ending: TurnEnd::Stopped.into() },
        };
        metrics.committed(&session, &[on.clone(), Event::Session(SessionEvent::Opened), ended]);
        metrics.committed(&session, &[on]);
        let text = metrics.render(None);
        for line in [
            "# HELP plan_mode_enabled_count ",
            "# TYPE plan_mode_enabled_count counter",
            "plan_mode_enabled_count{channel=\"web\",session=\"k3yk3y8x\"} 2",
            "turns_total{end=\"stopped\"} 1",
            "routing_session_mismatch_blocked_count 0",
            "store_up 0",
        ] {
            assert!(text.contains(line), "{line:?} is missing in\n{text}");
        }
        assert!(!text.contains("plan_mode_active_sessions"), "nothing is known of it");
    }

    #[test]
    fn what_is_counted_by_session_fades_and_the_rest_stays() {
        let metrics = Metrics::fading_after(Duration::from_millis(1));
        let session = "web:k3yk3y8x".parse().unwrap();
        let on = Event::Session(SessionEvent::PlanModeEnabled {
            style: PlanStyle::Document,
            plan: PlanId::new("plan-1").unwrap(),
        });
        metrics.committed(&session, &[on]);
        assert!(metrics.render(None).contains("k3yk3y8x"));
        let begun = std::time::Instant::now();
        while metrics.render(None).contains("k3yk3y8x") {
            assert!(begun.elapsed() < Duration::from_secs(20), "it never fades");
        }
        assert!(metrics.render(None).contains("routing_session_mismatch_blocked_count 0"));
    }

    #[test]
    fn servers_in_one_process_count_apart() {
        let (one, other) = (Metrics::default(), Metrics::default());
        one.mismatch_blocked();
        let open = one.websocket();
        assert!(one.render(None).contains("routing_session_mismatch_blocked_count 1"));
        assert!(one.render(None).contains("websocket_connections 1"));
        assert!(other.render(None).contains("routing_session_mismatch_blocked_count 0"));
        assert!(other.render(None).contains("websocket_connections 0"));
        drop(open);
        assert!(one.render(None).contains("websocket_connections 0"));
    }

    #[test]
    fn the_census_is_told() {
        let census = StoreCounts { sessions: 5, planning: 4, turns: 3, plans_ready: 2, plans_executing: 1 };
        let text = Metrics::default().render(Some(census));
        for line in [
            "\nplan_mode_active_sessions 4\n",
            "\nsessions 5\n",
            "\nopen_turns 3\n",
            "\nplans_ready 2\n",
            "\nplans_executing 1\n",
            "\nstore_up 1\n",
        ] {
            assert!(text.contains(line), "{line:?} is missing in\n{text}");
        }
    }
}
