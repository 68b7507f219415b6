//! A process that dies: an agent in a runtime of its own, which is shut down in the middle of its work.

use std::sync::Arc;
use std::time::Duration;

use crate::talk::{Talk as _, Watcher};
use planwright_agent::Agent;
use planwright_agent::session::input::Approving;
use planwright_core::actor::Actor;
use planwright_core::command::{Command, TurnCommand};
use planwright_core::ids::{PlanId, RequestId};
use planwright_core::plan::Plan;
use planwright_core::session::SessionIdentity;
use planwright_core::turn::TurnInput;
use planwright_engine::ledger::Submission;
use planwright_llm::scripted::ScriptedModel;
use planwright_test_support::forwarding::Forwarding;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

use crate::ledger::HangingLedger;
use crate::world::{World, person};

/// How long the session of a dead process stays held.
const LEASE: Duration = Duration::from_millis(200);

pub(crate) struct Process {
    runtime: Option<Runtime>,
    pub(crate) agent: Agent,
    ledger: Arc<Forwarding<HangingLedger>>,
}

impl Process {
    /// A process of its own on the world's store.
    pub(crate) async fn start(world: &World, model: &ScriptedModel) -> Self {
        Self::hanging(world, model, |_| false).await
    }

    /// One that falls asleep when it submits such a thing.
    pub(crate) async fn hanging(
        world: &World,
        model: &ScriptedModel,
        when: impl Fn(&Submission) -> bool + Send + Sync + 'static,
    ) -> Self {
        let ledger = HangingLedger::new(world.ledger().await, when);
        let mut setup = world.setup.clone().owned_by("the one that dies");
        setup.options.lease = LEASE;
        let agent = setup.agent(ledger.clone(), model.clone());
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        Self { runtime: Some(runtime), agent, ledger }
    }

    /// Gives it a message; the answer is dropped.
    pub(crate) fn send(&self, session: &SessionIdentity, text: &str) -> JoinHandle<()> {
        let (agent, session, text) = (self.agent.clone(), session.clone(), text.to_owned());
        self.runtime.as_ref().unwrap().spawn(async move {
            let _ = agent.send(&session, &person(), &text, &Watcher::none()).await;
        })
    }

    /// Sends a message as a request with an id.
    pub(crate) fn send_as(&self, request: RequestId, session: &SessionIdentity, text: &str) -> JoinHandle<()> {
        let (agent, session, text) = (self.agent.clone(), session.clone(), text.to_owned());
        self.runtime.as_ref().unwrap().spawn(async move {
            let _ = agent.send_as(Some(request), &session, &person(), &text, &Watcher::none()).await;
        })
    }

    /// Has it take up what another one left behind; the answer is dropped.
    pub(crate) fn resume(&self, session: &SessionIdentity) -> JoinHandle<()> {
        let (agent, session) = (self.agent.clone(), session.clone());
        self.runtime.as_ref().unwrap().spawn(async move {
            let _ = agent.resume(&session, &Watcher::none()).await;
        })
    }

    /// Has it carry out a plan; the answer is dropped.
    pub(crate) fn carry_out(&self, session: &SessionIdentity, plan: &PlanId) -> JoinHandle<()> {
        let (agent, session, plan) = (self.agent.clone(), session.clone(), plan.clone());
        self.runtime.as_ref().unwrap().spawn(async move {
            let _ = agent.carry_out(&session, &person(), &plan, &Watcher::none()).await;
        })
    }

    /// Has it approve a plan and carry it out; the answer is dropped.
    pub(crate) fn approve(&self, session: &SessionIdentity, plan: &Plan, approving: Approving) -> JoinHandle<()> {
        let (agent, session) = (self.agent.clone(), session.clone());
        let (plan, digest) = (plan.id.clone(), plan.digest());
        self.runtime.as_ref().unwrap().spawn(async move {
            let _ = agent.approve(&session, &person(), &plan, digest, approving, &Watcher::none()).await;
        })
    }

    /// Approves the plan as a person who signed it.
    pub(crate) fn approve_as(&self, by: &Actor, plan: &Plan, approving: Approving) -> JoinHandle<()> {
        let (agent, by, plan) = (self.agent.clone(), by.clone(), plan.clone());
        self.runtime.as_ref().unwrap().spawn(async move {
            let (session, digest) = (plan.session.clone(), plan.digest());
            let _ = agent.approve(&session, &by, &plan.id, digest, approving, &Watcher::none()).await;
        })
    }

    /// Waits until it is asleep.
    pub(crate) async fn hangs(&self) {
        self.ledger.0.hangs().await;
    }

    /// It continues where it waited for the store, as if no time had passed.
    pub(crate) fn wake(&self) {
        self.ledger.0.wake();
    }

    /// It is gone: whatever it was doing was cut off where it stood.
    pub(crate) async fn die(mut self) {
        let runtime = self.runtime.take().unwrap();
        tokio::task::spawn_blocking(move || runtime.shutdown_timeout(Duration::from_secs(10))).await.unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// The outcome of a tool is to be written down.
pub(crate) fn records_an_outcome(submission: &Submission) -> bool {
    let Command::Turn(TurnCommand::Record { inputs, .. }) = &submission.command else { return false };
    inputs.iter().any(|input| matches!(input, TurnInput::ToolEnded { .. }))
}
