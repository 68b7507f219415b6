//! Approved plans in a store, processes that carry them out, and looks at what came of it.

use std::collections::BTreeMap;
use std::time::Duration;

use planwright_agent::tools::PlanTools;
use planwright_core::actor::Actor;
use planwright_core::command::{AfterApproval, Command, Decision};
use planwright_core::event::{Event, PlanEvent, TurnEvent};
use planwright_core::ids::PlanId;
use planwright_core::journal::Entry;
use planwright_core::plan::approval::Selection;
use planwright_core::plan::execution::StepStatus;
use planwright_core::plan::{Plan, PlanStatus, PlanStyle};
use planwright_core::session::SessionIdentity;
use planwright_core::workspace::Workspace;
use planwright_engine::Engine;
use planwright_store::Location;
use serde_json::{Value, json};

use super::child::{Act, Job, Waiting};
use super::kill_points::KillPoint;
use super::model::call;
use super::tools::{Moment, Noted, record};
use crate::stores::Store;

/// A store with any number of sessions, each with one plan.
pub(super) struct Stage {
    store: Store,
    folder: tempfile::TempDir,
}

/// A plan that is approved and not begun.
pub(super) struct Approved<'a> {
    stage: &'a Stage,
    session: SessionIdentity,
    plan: PlanId,
}

/// How a plan stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) status: PlanStatus,
    pub(super) steps: Vec<(String, StepStatus)>,
    /// The step that a person looks at before the next one begins.
    pub(super) look_at: Option<usize>,
}

impl Stage {
    pub(super) fn new(store: Store) -> Self {
        Self { store, folder: tempfile::tempdir().unwrap() }
    }

    pub(super) async fn approved(&self, style: PlanStyle, name: &str) -> Approved<'_> {
        self.approved_at_pace(style, name, false).await
    }

    /// One that pauses after each step for a look.
    pub(super) async fn approved_step_by_step(&self, style: PlanStyle, name: &str) -> Approved<'_> {
        self.approved_at_pace(style, name, true).await
    }

    async fn approved_at_pace(&self, style: PlanStyle, name: &str, step_by_step: bool) -> Approved<'_> {
        let session: SessionIdentity = format!("cli:{}-{name}", style.as_str()).parse().unwrap();
        let engine = self.store.engine().await;
        let person = Actor::person("Ada", "cli");
        engine.sessions().open(&session, &person).await.unwrap();
        engine.sessions().enable_plan_mode(&session, &person, style).await.unwrap();
        for (tool, arguments) in drafting(style) {
            let arguments = arguments.as_object().cloned().unwrap();
            PlanTools::new(&engine).call(&session, &Actor::agent("drafter", "cli"), tool, arguments).await.unwrap();
        }
        let plan = engine.plans().active(&session).await.unwrap();
        let approve = Decision::Approve {
            plan: plan.id.clone(),
            digest: plan.digest(),
            selection: Selection::All,
            note: None,
            step_by_step,
            then: AfterApproval::Wait,
        };
        engine.submit(&session, &person, Command::Decide(approve)).await.unwrap();
        Approved { stage: self, session, plan: plan.id.clone() }
    }

    /// A recorded plan of these calls in a project folder.
    pub(super) async fn approved_calls(
        &self,
        name: &str,
        project: &std::path::Path,
        calls: &[(&'static str, Value)],
    ) -> Approved<'_> {
        let session: SessionIdentity = format!("cli:{}-{name}", PlanStyle::Collect.as_str()).parse().unwrap();
        let engine = self.store.engine().await;
        let (person, agent) = (Actor::person("Ada", "cli"), Actor::agent("drafter", "cli"));
        engine.sessions().open(&session, &person).await.unwrap();
        let workspace = Workspace::at(Some(project.canonicalize().unwrap().to_str().unwrap().to_owned()));
        engine.sessions().choose_workspace(&session, &person, workspace).await.unwrap();
        engine.sessions().enable_plan_mode(&session, &person, PlanStyle::Collect).await.unwrap();
        for (tool, arguments) in calls.iter().cloned().chain([("plan_finalize", json!({}))]) {
            PlanTools::new(&engine)
                .call(&session, &agent, tool, arguments.as_object().cloned().unwrap())
                .await
                .unwrap();
        }
        let plan = engine.plans().active(&session).await.unwrap();
        engine.plans().approve(&session, &person, &plan.id, plan.digest(), Selection::All, None).await.unwrap();
        Approved { stage: self, session, plan: plan.id.clone() }
    }

    /// A job in any number of sessions, each with a point where it stands still, or none.
    pub(super) fn job<'a>(
        &self,
        act: Act,
        plans: impl IntoIterator<Item = (&'a Approved<'a>, Option<KillPoint>)>,
    ) -> Job {
        let database = match self.store.location() {
            Location::Sqlite(path) => format!("sqlite:{}", path.display()),
            Location::Postgres(address) => address.url().to_owned(),
        };
        Job {
            database,
            folder: self.folder.path().to_owned(),
            sessions: plans.into_iter().map(|(plan, kill_point)| (plan.name(), kill_point)).collect(),
            act,
            takes: Duration::ZERO,
            waiting: Waiting::NotAtAll,
        }
    }

    /// Nothing is ever taken back from a journal, so whatever broke one is still there at the end.
    pub(super) async fn is_whole(&self) {
        let report = self.store.engine().await.verifier().verify_all(|_| {}).await.unwrap();
        assert!(report.is_whole(), "{report:?}");
    }
}

/// What an agent calls to draft the plan. Every call in it has a number of its own.
fn drafting(style: PlanStyle) -> Vec<(&'static str, Value)> {
    match style {
        PlanStyle::Collect => {
            let calls = ["look 1", "look 2", "put 3", "ring 4", "ring 5", "put 6", "look 7"].map(call);
            calls.into_iter().chain([("plan_finalize", json!({}))]).collect()
        }
        PlanStyle::Build => {
            let step = |description: &str, agent: &str, needs: &[&str]| {
                ("plan_add_step", json!({ "description": description, "agent": agent, "needs": needs }))
            };
            vec![
                ("plan_create_draft", json!({ "goal": "Ring the bells" })),
                step("put 1", "coder", &[]),
                step("ring 2, put 3", "tester", &["s1"]),
                step("ring 4", "writer", &["s1"]),
                (
                    "plan_set_metadata",
                    json!({ "assumptions": ["a"], "risks": ["r"], "verification": ["v"], "files": ["f"] }),
                ),
                ("plan_submit", json!({})),
            ]
        }
        PlanStyle::Document => {
            vec![("plan_set_content", json!({ "plan_markdown": "# Bells\n\n- [ ] put 1\n- [ ] ring 2\n" }))]
        }
    }
}

/// The calls that carry the plan out, by their numbers.
pub(super) fn calls(style: PlanStyle) -> BTreeMap<u64, &'static str> {
    let (look, put, ring) = ("look", "put", "ring");
    match style {
        PlanStyle::Collect => vec![(1, look), (2, look), (3, put), (4, ring), (5, ring), (6, put), (7, look)],
        PlanStyle::Build => vec![(1, put), (2, ring), (3, put), (4, ring)],
        PlanStyle::Document => vec![(1, put), (2, ring)],
    }
    .into_iter()
    .collect()
}

impl Approved<'_> {
    pub(super) fn job(&self, act: Act) -> Job {
        self.stage.job(act, [(self, None)])
    }

    pub(super) fn name(&self) -> String {
        self.session.to_string()
    }

    /// What the tools wrote down.
    pub(super) fn record(&self) -> Vec<Noted> {
        record(&self.stage.folder.path().join(self.session.to_string()))
    }

    /// How often each call was begun.
    pub(super) fn begun(&self) -> BTreeMap<u64, usize> {
        let mut begun = BTreeMap::new();
        for noted in self.record().iter().filter(|noted| noted.moment == Moment::Begun) {
            *begun.entry(noted.number).or_default() += 1;
        }
        begun
    }

    pub(super) async fn standing(&self) -> Standing {
        let plan = self.engine().await.plans().get(&self.session, &self.plan).await.unwrap();
        Standing::of(&plan)
    }

    /// The numbers of the calls whose outcome is in the journal.
    pub(super) async fn outcomes(&self) -> Vec<u64> {
        let entries = self.engine().await.ledger().journal(&self.session, 0, 100_000).await.unwrap();
        let number = |text: &str| serde_json::from_str::<Value>(text).ok()?.get("noted")?.as_u64();
        let outcome = |event: Event| match event {
            Event::Turn { event: TurnEvent::ToolEnded { outcome, .. }, .. } => number(&outcome.text),
            Event::Plan { event: PlanEvent::StepEnded { outcome, .. }, .. } => number(outcome.note.as_deref()?),
            _ => None,
        };
        entries
            .iter()
            .filter_map(|sealed| outcome(serde_json::from_str::<Entry>(&sealed.body).unwrap().event))
            .collect()
    }

    async fn engine(&self) -> Engine {
        self.stage.store.engine().await
    }
}

impl Standing {
    fn of(plan: &Plan) -> Self {
        let steps = plan.execution.iter().flat_map(|execution| &execution.steps);
        let steps = steps.map(|run| (run.description.clone(), run.status)).collect();
        let look_at = plan.execution.as_ref().and_then(|execution| execution.step_pause()).map(|pause| pause.step);
        Self { status: plan.status, steps, look_at }
    }

    /// How many steps something happened to.
    pub(super) fn touched(&self) -> usize {
        self.steps.iter().filter(|(_, status)| *status != StepStatus::Pending).count()
    }

    /// The only step with an unknown result.
    #[track_caller]
    pub(super) fn uncertain(&self) -> Option<&str> {
        let mut found = self.steps.iter().filter(|(_, status)| *status == StepStatus::Uncertain);
        let first = found.next();
        assert!(found.next().is_none(), "{self:?}");
        first.map(|(step, _)| step.as_str())
    }
}

/// Begins a plan, or continues it.
pub(super) fn resume() -> Act {
    typed("/plan resume 1")
}

pub(super) fn typed(text: &str) -> Act {
    Act::Type(text.to_owned())
}
