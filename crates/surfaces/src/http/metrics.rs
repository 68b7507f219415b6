//! The metrics for Prometheus. Every server counts for itself, also where several run in one process.
//!
//! - `names`: every name, with its description

mod names;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use axum::extract::State;
use axum::http::{Method, StatusCode, header};
use axum::response::IntoResponse;
use metrics::{Key, KeyName, Label, Level, Metadata, Recorder};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusRecorder};
use metrics_util::MetricKindMask;
use planwright_core::auto::{AutoExecutionContext, RunEnd, RunKind};
use planwright_core::event::{AutoEvent, Event, SessionEvent, TurnEvent};
use planwright_core::session::{Channel, SessionIdentity};
use planwright_core::turn::TurnEnd;
use planwright_engine::ledger::{Committed, StoreCounts};
use planwright_engine::submitter::{MemoryRead, Observer};

use self::names::Name;
use super::app::App;

/// Series of a session that do not change for this long are removed.
const EXPIRY: Duration = Duration::from_secs(60 * 60);

/// How often measurements are aggregated; until then each one takes up memory.
const UPKEEP: Duration = Duration::from_secs(5);

/// How long the store may take to count. After that the answer comes without its numbers.
const STORE_TIMEOUT: Duration = Duration::from_secs(2);

/// Log lines that could not be written. The log belongs to the process, so all its servers tell the same number.
pub static LOG_LINES_LOST: AtomicU64 = AtomicU64::new(0);

const SECONDS: &[f64] =
    &[0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0];

/// A cheap handle; clones share everything.
#[derive(Debug, Clone)]
pub(crate) struct Metrics {
    parts: Arc<Parts>,
}

#[derive(Debug)]
struct Parts {
    permanent: PrometheusRecorder,
    /// Series of single sessions, which would otherwise grow without limit.
    expiring: PrometheusRecorder,
    websockets: AtomicI64,
}

impl Default for Metrics {
    fn default() -> Self {
        Self::expiring_after(EXPIRY)
    }
}

impl Metrics {
    fn expiring_after(expiry: Duration) -> Self {
        let seconds = Matcher::Full(names::HTTP_REQUEST_SECONDS.name.to_owned());
        let Ok(permanent) = PrometheusBuilder::new().set_buckets_for_metric(seconds, SECONDS) else {
            unreachable!("there are buckets")
        };
        let permanent = permanent.build_recorder();
        let expiring = PrometheusBuilder::new().idle_timeout(MetricKindMask::COUNTER, Some(expiry)).build_recorder();
        for name in names::COUNTERS {
            permanent.describe_counter(KeyName::from(name.name), None, name.help.into());
        }
        expiring.describe_counter(
            KeyName::from(names::PLAN_MODE_ENABLED.name),
            None,
            names::PLAN_MODE_ENABLED.help.into(),
        );
        let name = names::HTTP_REQUEST_SECONDS;
        permanent.describe_histogram(KeyName::from(name.name), None, name.help.into());
        let metrics = Self { parts: Arc::new(Parts { permanent, expiring, websockets: AtomicI64::new(0) }) };
        metrics.render_from_the_start();
        metrics
    }

    /// Registers every series that is known before it counts, with 0, so that a first event is an increase.
    fn render_from_the_start(&self) {
        for name in
            [names::MISMATCH_BLOCKED, names::MEMORY_GOAL_SELECTED, names::MEMORY_TASK_SELECTED, names::MEMORY_BLOCKED]
        {
            self.count(name, Vec::new(), 0);
        }
        for end in TurnEnd::NAMES {
            self.count(names::TURNS, vec![Label::from_static_parts("end", end)], 0);
        }
        for kind in RunKind::ALL {
            let kind = Label::from_static_parts("runKind", kind.as_str());
            for channel in Channel::ALL {
                let channel = Label::from_static_parts("channel", channel.as_str());
                self.count(names::AUTO_RUN_STARTED, vec![kind.clone(), channel], 0);
            }
            for end in RunEnd::ALL {
                let status = Label::from_static_parts("status", end.as_str());
                self.count(names::AUTO_RUN_COMPLETED, vec![kind.clone(), status], 0);
            }
        }
        let route = Label::from_static_parts("route", "/metrics");
        let (method, status) = (Label::from_static_parts("method", "GET"), Label::from_static_parts("status", "200"));
        self.count(names::HTTP_REQUESTS, vec![method, route.clone(), status], 0);
        let key = Key::from_parts(names::HTTP_REQUEST_SECONDS.name, vec![route]);
        drop(self.parts.permanent.register_histogram(&key, &METADATA));
    }

    /// Counts an answered request. `route` is the pattern, never the path.
    pub(super) fn answered(&self, method: &Method, route: &str, status: StatusCode, took: Duration) {
        let route = Label::new("route", route.to_owned());
        let status = Label::new("status", status.as_u16().to_string());
        let labels = vec![Label::from_static_parts("method", method_name(method)), route.clone(), status];
        self.count(names::HTTP_REQUESTS, labels, 1);
        let key = Key::from_parts(names::HTTP_REQUEST_SECONDS.name, vec![route]);
        self.parts.permanent.register_histogram(&key, &METADATA).record(took.as_secs_f64());
    }

    /// Counts a request for a plan under the name of another session.
    pub(crate) fn mismatch_blocked(&self) {
        self.count(names::MISMATCH_BLOCKED, Vec::new(), 1);
    }

    /// Counts an open WebSocket until the guard is dropped.
    pub(crate) fn websocket(&self) -> OpenWebSocket {
        self.parts.websockets.fetch_add(1, Ordering::Relaxed);
        OpenWebSocket(self.clone())
    }

    /// Aggregates measurements until it is aborted.
    pub(super) async fn run_upkeep(self) {
        let mut ticks = tokio::time::interval(UPKEEP);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            self.parts.permanent.handle().run_upkeep();
            self.parts.expiring.handle().run_upkeep();
        }
    }

    /// In the text format of Prometheus. Without counts, the numbers of the store are left out.
    fn render(&self, counts: Option<StoreCounts>) -> String {
        let mut text = self.parts.permanent.handle().render();
        let of_sessions = self.parts.expiring.handle().render();
        // Its series are those of sessions in which it happened.
        if !of_sessions.contains(names::PLAN_MODE_ENABLED.name) {
            counter(&mut text, names::PLAN_MODE_ENABLED, 0);
        }
        text.push_str(&of_sessions);
        let websockets = self.parts.websockets.load(Ordering::Relaxed);
        gauge(&mut text, names::WEBSOCKETS, websockets.max(0).unsigned_abs());
        counter(&mut text, names::LOG_LINES_LOST, LOG_LINES_LOST.load(Ordering::Relaxed));
        gauge(&mut text, names::STORE_UP, u64::from(counts.is_some()));
        if let Some(StoreCounts { sessions, planning, turns, plans_ready, plans_executing }) = counts {
            gauge(&mut text, names::PLAN_MODE_ACTIVE, planning);
            gauge(&mut text, names::SESSIONS, sessions);
            gauge(&mut text, names::OPEN_TURNS, turns);
            gauge(&mut text, names::PLANS_READY, plans_ready);
            gauge(&mut text, names::PLANS_EXECUTING, plans_executing);
        }
        text
    }

    fn count_run(&self, session: &SessionIdentity, event: &AutoEvent, committed: &Committed) {
        let kind = |run: &AutoExecutionContext| Label::from_static_parts("runKind", run.run_kind().as_str());
        match event {
            AutoEvent::RunStarted { context, .. } => {
                let channel = Label::from_static_parts("channel", session.channel.as_str());
                self.count(names::AUTO_RUN_STARTED, vec![kind(context), channel], 1);
            }
            AutoEvent::RunEnded { run, end, .. } => {
                let state = committed.snapshot.session.as_ref().and_then(|session| session.auto.as_deref());
                let Some(run) = state.and_then(|state| state.run(run)) else { return };
                let status = Label::from_static_parts("status", end.as_str());
                self.count(names::AUTO_RUN_COMPLETED, vec![kind(&run.context), status], 1);
            }
            _ => {}
        }
    }

    fn count(&self, name: Name, labels: Vec<Label>, by: u64) {
        self.parts.permanent.register_counter(&Key::from_parts(name.name, labels), &METADATA).increment(by);
    }
}

/// Counts what this process committed and read.
impl Observer for Metrics {
    fn memory_read(&self, _: &SessionIdentity, read: &MemoryRead) {
        let MemoryRead { goal_scope, task_scope, blocked } = *read;
        self.count(names::MEMORY_GOAL_SELECTED, Vec::new(), goal_scope.into());
        self.count(names::MEMORY_TASK_SELECTED, Vec::new(), task_scope.into());
        self.count(names::MEMORY_BLOCKED, Vec::new(), blocked);
    }

    fn committed(&self, session: &SessionIdentity, committed: &Committed) {
        // A request that is sent again is not counted again.
        let Some(plan_mode_before) = &committed.plan_mode_before else { return };
        for event in &committed.events {
            // The event also stands for another plan or style while plan mode is on.
            if matches!(event, Event::Session(SessionEvent::PlanModeEnabled { .. })) && !plan_mode_before.enabled {
                let channel = Label::from_static_parts("channel", session.channel.as_str());
                let session = Label::new("session", session.conversation.as_str().to_owned());
                let key = Key::from_parts(names::PLAN_MODE_ENABLED.name, vec![channel, session]);
                self.parts.expiring.register_counter(&key, &METADATA).increment(1);
            }
            if let Event::Turn { event: TurnEvent::Ended { ending, .. }, .. } = event {
                self.count(names::TURNS, vec![Label::from_static_parts("end", ending.end.name())], 1);
            }
            if let Event::Auto(event) = event {
                self.count_run(session, event, committed);
            }
        }
    }
}

/// A connected WebSocket.
#[derive(Debug)]
pub(crate) struct OpenWebSocket(Metrics);

impl Drop for OpenWebSocket {
    fn drop(&mut self) {
        self.0.parts.websockets.fetch_sub(1, Ordering::Relaxed);
    }
}

/// `/metrics`
pub(super) async fn show(State(app): State<App>) -> impl IntoResponse {
    let counts = match tokio::time::timeout(STORE_TIMEOUT, app.ledger().counts()).await {
        Ok(Ok(counts)) => Some(counts),
        Ok(Err(error)) => {
            tracing::warn!(event = "census_failed", %error);
            None
        }
        Err(_) => {
            tracing::warn!(event = "census_failed", "the store does not answer");
            None
        }
    };
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], app.metrics().render(counts))
}

static METADATA: Metadata<'static> = Metadata::new(module_path!(), Level::INFO, Some(module_path!()));

fn gauge(text: &mut String, name: Name, value: u64) {
    single_value(text, name, "gauge", value);
}

fn counter(text: &mut String, name: Name, value: u64) {
    single_value(text, name, "counter", value);
}

fn single_value(text: &mut String, name: Name, kind: &str, value: u64) {
    use std::fmt::Write as _;
    let Name { name, help } = name;
    let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}\n\n");
}

/// Clients can send any method name; a label for each would grow without limit.
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
    use planwright_core::snapshot::Snapshot;
    use planwright_engine::ledger::PlanModeBefore;

    use super::*;

    fn session() -> SessionIdentity {
        "web:k3yk3y8x".parse().unwrap()
    }

    fn enabled() -> Event {
        let plan = PlanId::new("plan-1").unwrap();
        Event::Session(SessionEvent::PlanModeEnabled { style: PlanStyle::Document, plan })
    }

    fn committed(events: Vec<Event>, plan_mode_was_on: Option<bool>) -> Committed {
        let plan_mode_before = plan_mode_was_on.map(|enabled| PlanModeBefore { enabled, active_plan: None });
        Committed { events, seq: 1, snapshot: Snapshot::new(session()), lease: None, plan_mode_before }
    }

    #[test]
    fn commits_are_counted_by_session_and_by_end() {
        let metrics = Metrics::default();
        let id = TurnId::new("turn-1").unwrap();
        let ended = Event::Turn { id, event: TurnEvent::Ended { ending: TurnEnd::Stopped.into() } };
        metrics.committed(
            &session(),
            &committed(vec![enabled(), Event::Session(SessionEvent::Opened), ended.clone()], Some(false)),
        );
        metrics.committed(&session(), &committed(vec![enabled()], Some(false)));
        metrics.committed(&session(), &committed(vec![enabled()], Some(true)));
        metrics.committed(&session(), &committed(vec![enabled(), ended], None));
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
        assert!(!text.contains("plan_mode_active_sessions"), "the store did not answer");
    }

    #[test]
    fn every_metric_of_the_process_is_there_before_anything_happened() {
        let metrics = Metrics::default();
        let text = metrics.render(Some(StoreCounts::default()));
        for line in [
            "plan_mode_enabled_count 0",
            "turns_total{end=\"interrupted\"} 0",
            "turns_total{end=\"answered\"} 0",
            "auto_run_started_count{runKind=\"GOAL_RUN\",channel=\"telegram\"} 0",
            "auto_run_completed_count{runKind=\"TASK_RUN\",status=\"failed\"} 0",
            "http_requests_total{method=\"GET\",route=\"/metrics\",status=\"200\"} 0",
            "http_request_seconds_count{route=\"/metrics\"} 0",
            "memory_scope_cross_session_blocked_count 0",
            "plan_mode_active_sessions 0",
        ] {
            assert!(text.lines().any(|rendered| rendered == line), "{line:?} is missing in\n{text}");
        }
        metrics.committed(&session(), &committed(vec![enabled()], Some(false)));
        let text = metrics.render(None);
        assert!(!text.contains("\nplan_mode_enabled_count 0"), "the series of the session is enough\n{text}");
        assert_eq!(text.matches("# TYPE plan_mode_enabled_count").count(), 1);
    }

    #[test]
    fn series_of_a_session_expire_and_the_others_stay() {
        let metrics = Metrics::expiring_after(Duration::from_millis(1));
        metrics.committed(&session(), &committed(vec![enabled()], Some(false)));
        assert!(metrics.render(None).contains("k3yk3y8x"));
        let begun = std::time::Instant::now();
        while metrics.render(None).contains("k3yk3y8x") {
            assert!(begun.elapsed() < Duration::from_secs(20), "it never expires");
        }
        assert!(metrics.render(None).contains("routing_session_mismatch_blocked_count 0"));
    }

    #[test]
    fn servers_in_one_process_count_separately() {
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
    fn the_counts_of_the_store_are_rendered() {
        let counts = StoreCounts { sessions: 5, planning: 4, turns: 3, plans_ready: 2, plans_executing: 1 };
        let text = Metrics::default().render(Some(counts));
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
