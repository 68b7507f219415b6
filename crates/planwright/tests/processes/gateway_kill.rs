//! The gateway's process is killed while it makes the calls of an approved plan. After a restart each call was made once, or its
//! result is unknown and waits for a person; none is made twice. The server that is called counts, outside the store.
//!
//! `PLANWRIGHT_GATEWAY_KILLS` says how often on each store; `make test-gateway` kills 50 times.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Output;

use planwright_core::plan::execution::StepStatus;
use planwright_core::plan::reference::PlanReference;
use planwright_core::plan::{Plan, PlanStatus};
use planwright_core::session::SessionIdentity;
use planwright_engine::Engine;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::client::{McpClient, planwright};
use crate::stores::Store;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../upstream/tests/servers/hostile.py");
/// In `make test`: each kind of moment twice.
const USUAL_KILLS: usize = 8;

#[tokio::test(flavor = "multi_thread")]
async fn an_approved_call_is_made_once_or_its_result_is_unknown_on_sqlite() {
    kills(Store::sqlite()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approved_call_is_made_once_or_its_result_is_unknown_on_postgres() {
    kills(Store::postgres().await).await;
}

/// When the process is killed.
#[derive(Debug, Clone, Copy)]
enum Moment {
    Approved,
    /// Once the server has got so many calls. The result may be on its way, stored, or the next call begun.
    Called(usize),
    /// The server has got the call and does not answer it.
    InCall,
}

impl Moment {
    const ALL: [Self; 4] = [Self::InCall, Self::Called(1), Self::Approved, Self::Called(2)];

    fn calls_before(self) -> usize {
        match self {
            Self::Approved => 0,
            Self::Called(calls) => calls,
            Self::InCall => 2,
        }
    }
}

async fn kills(store: Store) {
    let kills = std::env::var("PLANWRIGHT_GATEWAY_KILLS").ok();
    let kills = kills.map_or(USUAL_KILLS, |number| number.parse().expect("a number"));
    let folder = tempfile::tempdir().unwrap();
    let engine = store.engine().await;
    let mut unknown = 0;
    for (number, moment) in (1..=kills).zip(Moment::ALL.into_iter().cycle()) {
        let session = KilledSession::new(&store, &folder, number);
        session.kill_at(moment, &engine).await;
        unknown += usize::from(session.goes_on(moment, &engine).await);
    }
    assert!(unknown >= kills / 4, "{unknown} of {kills}: a call that was cut off has an unknown result");
    let report = engine.verifier().verify_all(|_| {}).await.unwrap();
    assert!(report.is_whole(), "{report:?}");
}

struct KilledSession<'a> {
    store: &'a Store,
    data: &'a Path,
    name: String,
    notes: PathBuf,
}

impl<'a> KilledSession<'a> {
    fn new(store: &'a Store, folder: &'a TempDir, number: usize) -> Self {
        let name = format!("gateway-kill-{number}");
        let notes = folder.path().join(&name);
        std::fs::create_dir(&notes).unwrap();
        let session = Self { store, data: folder.path(), name, notes };
        session.accept_server();
        session
    }

    /// The person names the server with the folder of this session, and accepts its tools.
    fn accept_server(&self) {
        self.run(&["mcp-server", "remove", "up"]);
        self.run(&["mcp-server", "add", "up", "--", "python3", SCRIPT, "plain", &self.notes.display().to_string()]);
        let shown: Value = serde_json::from_slice(&self.run(&["mcp-server", "show", "up", "--json"]).stdout).unwrap();
        let digest = shown["digest"].as_str().unwrap_or_else(|| panic!("nothing to accept: {shown}"));
        let accepted = self.run(&["mcp-server", "accept", "up", "--digest", digest]);
        assert!(accepted.status.success(), "{accepted:?}");
    }

    fn run(&self, arguments: &[&str]) -> Output {
        planwright(&self.store.location()).arg("--data").arg(self.data).args(arguments).output().unwrap()
    }

    fn start(&self) -> McpClient {
        McpClient::start_with_servers(&self.store.location(), &self.name, self.data)
    }

    async fn kill_at(&self, moment: Moment, engine: &Engine) {
        let mut client = self.start();
        client.call("up__note", &json!({ "text": "first" }));
        match moment {
            // It answers only when it is cancelled, and ends with its input.
            Moment::InCall => drop(client.call("up__slow", &json!({}))),
            Moment::Approved | Moment::Called(_) => drop(client.call("up__note", &json!({ "text": "second" }))),
        }
        client.call("up__note", &json!({ "text": "third" }));
        client.call("plan_finalize", &json!({}));
        let digest = self.plan(engine).await.digest().to_string();
        let approved = self.run(&["plan", "approve", "1", "--session", &self.name, "--digest", &digest]);
        assert!(approved.status.success(), "{approved:?}");
        while self.calls().len() < moment.calls_before() {
            std::thread::yield_now();
        }
        client.kill();
        // Until it is gone, it counts as at work.
        client.drain();
    }

    /// Starts the gateway again. Returns whether a result is unknown.
    async fn goes_on(&self, moment: Moment, engine: &Engine) -> bool {
        let mut client = self.start();
        let plan = loop {
            let plan = self.plan(engine).await;
            if plan.status == PlanStatus::Completed || uncertain(&plan).is_some() {
                break plan;
            }
            client.call("plan_get", &json!({}));
        };
        // Nothing more happens by itself.
        client.call("plan_get", &json!({}));
        client.close();
        let calls = self.calls();
        let mut times = BTreeMap::new();
        for call in &calls {
            *times.entry(call).or_insert(0) += 1;
        }
        let what = format!("{}, {moment:?}: {calls:?}, {plan:?}", self.name);
        assert!(times.values().all(|times| *times == 1), "a call was made twice; {what}");
        match uncertain(&plan) {
            None => assert_eq!(calls.len(), 3, "{what}"),
            // Those before it were made; of the one itself nobody knows, and none behind it was made.
            Some(step) => assert!((step..=step + 1).contains(&calls.len()), "{what}"),
        }
        if matches!(moment, Moment::InCall) {
            assert_eq!(uncertain(&plan), Some(1), "{what}");
        }
        uncertain(&plan).is_some()
    }

    async fn plan(&self, engine: &Engine) -> std::sync::Arc<Plan> {
        let session: SessionIdentity = format!("mcp:{}", self.name).parse().unwrap();
        engine.plans().find(&session, Some(&"1".parse::<PlanReference>().unwrap())).await.unwrap()
    }

    fn calls(&self) -> Vec<String> {
        let log = std::fs::read_to_string(self.notes.join("calls.log")).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }
}

/// The index of the step whose result is unknown.
fn uncertain(plan: &Plan) -> Option<usize> {
    let steps = &plan.execution.as_ref()?.steps;
    steps.iter().position(|step| step.status == StepStatus::Uncertain)
}
