//! Sessions in a list.

use jiff::Timestamp;
use planwright_core::plan::{Plan, PlanStatus};
use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::StoredSession;
use planwright_surfaces::wire::SessionView;
use serde_json::{Value, json};

use super::palette::{self, BOLD, DIM, PLAIN};
use super::screen::Screen;
use super::table::{Cell, table};
use super::text::{count, fit, shown_line};
use super::time;

/// A session, and the plan it works on.
#[derive(Debug)]
pub(crate) struct ListedSession {
    identity: SessionIdentity,
    view: SessionView,
    last_active: Timestamp,
    topic: Option<String>,
    active: Option<ActivePlan>,
}

#[derive(Debug)]
struct ActivePlan {
    number: u32,
    status: PlanStatus,
    title: String,
}

impl ListedSession {
    pub(crate) fn new(stored: &StoredSession, active: Option<&Plan>) -> Self {
        Self {
            identity: stored.session.identity.clone(),
            view: SessionView::from(&stored.session),
            last_active: stored.last_active,
            topic: stored.session.topic.clone(),
            active: active.map(|plan| ActivePlan {
                number: plan.number,
                status: plan.status,
                title: plan.display_title(),
            }),
        }
    }

    pub(crate) fn identity(&self) -> &SessionIdentity {
        &self.identity
    }

    pub(crate) fn view(&self) -> Value {
        let mut view = json!(self.view);
        view["lastActive"] = json!(self.last_active);
        view["topic"] = json!(self.topic);
        view["activePlan"] = self
            .active
            .as_ref()
            .map_or(Value::Null, |plan| json!({ "number": plan.number, "status": plan.status, "title": plan.title }));
        view
    }

    fn cells(&self) -> [Cell; 4] {
        let (status, style, plan) = match &self.active {
            Some(plan) => (
                plan.status.as_str(),
                palette::status(plan.status),
                format!("{}. {}", plan.number, shown_line(&plan.title)),
            ),
            None => ("-", DIM, format!("{}, none active", count(self.view.plans_made, "plan"))),
        };
        let topic = self.topic.as_deref().map(|topic| format!("“{}”", fit(&shown_line(topic), TOPIC)));
        let about = match (&self.active, topic) {
            (Some(_), Some(topic)) => format!("{plan} {topic}"),
            (None, Some(topic)) => format!("{topic} {plan}"),
            (Some(_) | None, None) => plan,
        };
        [
            Cell::new(self.identity.to_string(), BOLD),
            Cell::new(time::ago(self.last_active), DIM),
            Cell::new(status, style),
            Cell::new(about, PLAIN),
        ]
    }
}

const HEADINGS: [&str; 4] = ["SESSION", "ACTIVE", "STATUS", "ABOUT"];

/// A topic leaves room for the rest.
const TOPIC: usize = 32;

pub(crate) fn list(sessions: &[ListedSession], screen: &Screen) -> String {
    let rows: Vec<_> = sessions.iter().map(ListedSession::cells).collect();
    table(HEADINGS, &rows, 3, screen.width)
}

/// With numbers to choose by.
pub(crate) fn numbered(sessions: &[ListedSession], screen: &Screen) -> String {
    let rows: Vec<_> = sessions
        .iter()
        .zip(1..)
        .map(|(session, number)| {
            let [identity, active, status, about] = session.cells();
            [Cell::new(format!("{number}"), DIM), identity, active, status, about]
        })
        .collect();
    let [identity, active, status, about] = HEADINGS;
    table(["", identity, active, status, about], &rows, 4, screen.width)
}
