//! Every interleaving of three clients on one session, decided by the real rules.
//!
//! The ledger is modelled as it is: a commit takes the session's lock, looks for the request in the journal, loads,
//! decides and appends. An acknowledgement may be lost after the commit, and the client then sends the same request
//! again. The check has teeth: with either safeguard taken away it finds the history that goes wrong.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use jiff::Timestamp;
use planwright_core::actor::Actor;
use planwright_core::command::{AfterApproval, Command, Decision, ExecutionCommand};
use planwright_core::decide;
use planwright_core::event::Event;
use planwright_core::ids::{ExecutionId, PlanId, RequestId};
use planwright_core::plan::approval::Selection;
use planwright_core::plan::{Digest, PlanContent, PlanStatus, PlanStyle};
use planwright_core::policy::Policy;
use planwright_core::refusal::RefusalCode;
use planwright_core::snapshot::{CommandContext, Snapshot};
use stateright::{Checker, HasDiscoveries, Model, Property};

use crate::world::{World, set};

/// Which of the ledger's safeguards are in place.
#[derive(Debug, Clone, Copy)]
struct Ledger {
    recognises_requests: bool,
    holds_the_lock: bool,
}

const AS_IT_IS: Ledger = Ledger { recognises_requests: true, holds_the_lock: true };

/// The agent writes two texts; a person looks and approves what was shown; another one cancels, revises or executes.
const AGENT: usize = 0;
const APPROVER: usize = 1;

/// How many requests each of them sends at most.
const REQUESTS: [u8; 3] = [2, 2, 2];

#[derive(Debug, Clone, PartialEq, Hash)]
struct State {
    snapshot: Loaded,
    /// How often each event of each request was appended to the journal.
    appended: BTreeMap<(RequestId, &'static str), u8>,
    clients: [Client; 3],
    a_final_status_was_left: bool,
}

#[derive(Debug, Clone, PartialEq)]
struct Loaded(Snapshot);

#[derive(Debug, Clone, PartialEq, Default, Hash)]
struct Client {
    /// How many requests it has begun.
    begun: u8,
    phase: Phase,
    an_answer_was_lost: bool,
    /// Requests it was told were carried out, with what they put into the journal.
    acknowledged: Vec<(RequestId, Vec<&'static str>)>,
    /// The texts it was shown, each with its plan.
    saw: Vec<(PlanId, Digest)>,
    was_stale: bool,
}

#[derive(Debug, Clone, PartialEq, Default, Hash)]
enum Phase {
    #[default]
    Idle,
    Sending(Intent),
    /// Only without the lock: what was loaded may be old by the time it is decided on.
    Deciding(Intent, Box<Loaded>),
    Answered(Intent, Answer),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Answer {
    Done(Vec<&'static str>),
    Refused(RefusalCode),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Intent {
    Write(&'static str),
    Approve(PlanId, Digest),
    Cancel(PlanId),
    Revise(PlanId),
    Start(PlanId),
    Finish(PlanId, ExecutionId),
}

#[derive(Debug, Clone, PartialEq)]
enum Move {
    Begin(usize, Intent),
    Load(usize),
    Commit(usize),
    Deliver(usize),
    Lose(usize),
}

/// What two snapshots are told apart by. The rest follows from it, since every request always comes at the same time.
impl Hash for Loaded {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let mode = self.0.session.as_ref().map(|session| &session.plan_mode);
        mode.map(|mode| (mode.enabled, &mode.active_plan)).hash(hasher);
        for plan in self.0.plans.values() {
            (&plan.id, plan.status, plan.version, &plan.superseded_by, plan.feedback.is_some()).hash(hasher);
            if let PlanContent::Document(document) = &plan.content {
                document.markdown.hash(hasher);
            }
            plan.approval.as_ref().map(|approval| approval.digest).hash(hasher);
            plan.execution.as_ref().map(|execution| (&execution.id, execution.finished_at)).hash(hasher);
        }
    }
}

impl Intent {
    fn command(&self) -> Command {
        match self.clone() {
            Self::Write(text) => set(text),
            Self::Approve(plan, digest) => Command::Decide(Decision::Approve {
                plan,
                digest,
                selection: Selection::All,
                note: None,
                step_by_step: false,
                then: AfterApproval::Wait,
            }),
            Self::Cancel(plan) => Command::Decide(Decision::Cancel { plan, reason: None }),
            Self::Revise(plan) => Command::Decide(Decision::Revise { plan, feedback: "shorter".to_owned() }),
            Self::Start(plan) => Command::Execution(ExecutionCommand::Start { plan }),
            Self::Finish(plan, execution) => {
                Command::Execution(ExecutionCommand::Finish { plan, execution, ended: Vec::new() })
            }
        }
    }

    fn by(&self) -> Actor {
        match self {
            Self::Write(_) => Actor::agent("coder", "mcp"),
            Self::Approve(..) | Self::Cancel(_) | Self::Revise(_) => Actor::person("ada", "cli"),
            Self::Start(_) | Self::Finish(..) => Actor::system("executor"),
        }
    }
}

impl State {
    /// The request a client is busy with; sending it again does not change its id.
    fn request(&self, client: usize) -> RequestId {
        RequestId::new(format!("client-{client}-{}", self.clients[client].begun)).unwrap()
    }

    /// What the client may want next, from what it can see now.
    fn wishes(&self, client: usize) -> Vec<Intent> {
        let Some(plan) = self.snapshot.0.active() else { return Vec::new() };
        match client {
            AGENT => vec![Intent::Write(["1. one", "1. two"][usize::from(self.clients[AGENT].begun)])],
            APPROVER if plan.status == PlanStatus::Ready => vec![Intent::Approve(plan.id.clone(), plan.digest())],
            APPROVER => Vec::new(),
            _ => {
                let running = plan.execution.as_ref().filter(|_| plan.status == PlanStatus::Executing);
                match running {
                    Some(execution) => {
                        vec![Intent::Finish(plan.id.clone(), execution.id.clone()), Intent::Cancel(plan.id.clone())]
                    }
                    None => [Intent::Cancel, Intent::Revise, Intent::Start].map(|make| make(plan.id.clone())).to_vec(),
                }
            }
        }
    }

    /// One transaction of the ledger. `loaded` is the state it decides on.
    fn commit(&mut self, client: usize, intent: &Intent, loaded: &Loaded, ledger: Ledger) -> Answer {
        let request = self.request(client);
        let known: Vec<_> = self.appended.keys().filter(|(id, _)| *id == request).map(|(_, name)| *name).collect();
        if ledger.recognises_requests && !known.is_empty() {
            return Answer::Done(known);
        }
        let stamp = CommandContext { at: Timestamp::UNIX_EPOCH, by: intent.by(), request: request.clone() };
        match decide(&loaded.0, &intent.command(), &stamp, &Policy::default()) {
            Err(refusal) => Answer::Refused(refusal.code),
            Ok(events) => {
                for event in &events {
                    self.append(&request, event, &stamp);
                }
                let mut names: Vec<_> = events.iter().map(Event::name).collect();
                names.sort_unstable();
                Answer::Done(names)
            }
        }
    }

    fn append(&mut self, request: &RequestId, event: &Event, stamp: &CommandContext) {
        let ended: Vec<_> = self.snapshot.0.plans.values().filter(|plan| plan.status.is_final()).cloned().collect();
        self.snapshot.0.apply(event, stamp, 1);
        *self.appended.entry((request.clone(), event.name())).or_default() += 1;
        self.a_final_status_was_left |= ended.iter().any(|was| self.snapshot.0.plans[&was.id].status != was.status);
    }
}

impl Model for Ledger {
    type State = State;
    type Action = Move;

    fn init_states(&self) -> Vec<State> {
        let snapshot = World::planning(PlanStyle::Document).snapshot;
        vec![State {
            snapshot: Loaded(snapshot),
            appended: BTreeMap::new(),
            clients: Default::default(),
            a_final_status_was_left: false,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Move>) {
        for (index, client) in state.clients.iter().enumerate() {
            match &client.phase {
                Phase::Idle if client.begun < REQUESTS[index] => {
                    actions.extend(state.wishes(index).into_iter().map(|intent| Move::Begin(index, intent)));
                }
                Phase::Idle => {}
                Phase::Sending(_) if self.holds_the_lock => actions.push(Move::Commit(index)),
                Phase::Sending(_) => actions.push(Move::Load(index)),
                Phase::Deciding(..) => actions.push(Move::Commit(index)),
                Phase::Answered(..) => {
                    actions.push(Move::Deliver(index));
                    if !client.an_answer_was_lost {
                        actions.push(Move::Lose(index));
                    }
                }
            }
        }
    }

    fn next_state(&self, last: &State, action: Move) -> Option<State> {
        let mut state = last.clone();
        match action {
            Move::Begin(index, intent) => {
                let client = &mut state.clients[index];
                client.begun += 1;
                if let Intent::Approve(plan, digest) = &intent {
                    client.saw.push((plan.clone(), *digest));
                }
                client.phase = Phase::Sending(intent);
            }
            Move::Load(index) => {
                let Phase::Sending(intent) = state.clients[index].phase.clone() else { return None };
                state.clients[index].phase = Phase::Deciding(intent, Box::new(state.snapshot.clone()));
            }
            Move::Commit(index) => {
                let (intent, loaded) = match state.clients[index].phase.clone() {
                    Phase::Sending(intent) => (intent, state.snapshot.clone()),
                    Phase::Deciding(intent, loaded) => (intent, *loaded),
                    Phase::Idle | Phase::Answered(..) => return None,
                };
                let answer = state.commit(index, &intent, &loaded, *self);
                state.clients[index].phase = Phase::Answered(intent, answer);
            }
            Move::Deliver(index) => {
                let request = state.request(index);
                let client = &mut state.clients[index];
                let Phase::Answered(_, answer) = std::mem::take(&mut client.phase) else { return None };
                match answer {
                    Answer::Done(events) => client.acknowledged.push((request, events)),
                    Answer::Refused(code) => client.was_stale |= code == RefusalCode::StaleApproval,
                }
            }
            Move::Lose(index) => {
                let client = &mut state.clients[index];
                let Phase::Answered(intent, _) = std::mem::take(&mut client.phase) else { return None };
                client.an_answer_was_lost = true;
                client.phase = Phase::Sending(intent);
            }
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        fn reached(state: &State, status: PlanStatus) -> bool {
            state.snapshot.0.plans.values().any(|plan| plan.status == status)
        }
        vec![
            Property::<Self>::always(MATCHES, |_, state| {
                state.snapshot.0.plans.values().all(|plan| {
                    let seen = &state.clients[APPROVER].saw;
                    plan.approval.as_ref().is_none_or(|approval| {
                        approval.digest == plan.digest() && seen.contains(&(plan.id.clone(), approval.digest))
                    })
                })
            }),
            Property::<Self>::always("no final status is left", |_, state| !state.a_final_status_was_left),
            Property::<Self>::always(ONCE, |_, state| state.appended.values().all(|times| *times == 1)),
            Property::<Self>::always("nothing acknowledged is missing", |_, state| {
                let acknowledged = state.clients.iter().flat_map(|client| &client.acknowledged);
                acknowledged
                    .flat_map(|(request, events)| events.iter().map(|name| (request.clone(), *name)))
                    .all(|event| state.appended.contains_key(&event))
            }),
            Property::<Self>::always("at most one plan is active, and it exists", |_, state| {
                let mode = &state.snapshot.0.session.as_ref().unwrap().plan_mode;
                let alive =
                    |plan: &PlanId| state.snapshot.0.plan(plan).is_some_and(|plan| plan.superseded_by.is_none());
                mode.enabled == mode.active_plan.is_some() && mode.active_plan.as_ref().is_none_or(alive)
            }),
            Property::<Self>::always("an execution is open exactly while its plan is EXECUTING", |_, state| {
                state.snapshot.0.plans.values().all(|plan| {
                    let runs = plan.execution.as_ref().is_some_and(|execution| execution.finished_at.is_none());
                    runs == (plan.status == PlanStatus::Executing)
                })
            }),
            Property::<Self>::sometimes("a plan is approved", |_, state| reached(state, PlanStatus::Approved)),
            Property::<Self>::sometimes("a plan is executed", |_, state| reached(state, PlanStatus::Executing)),
            Property::<Self>::sometimes("an execution ends", |_, state| reached(state, PlanStatus::PartiallyCompleted)),
            Property::<Self>::sometimes("a plan is superseded", |_, state| reached(state, PlanStatus::Superseded)),
            Property::<Self>::sometimes("a plan is cancelled", |_, state| reached(state, PlanStatus::Cancelled)),
            Property::<Self>::sometimes("an approval is stale", |_, state| state.clients[APPROVER].was_stale),
            Property::<Self>::sometimes("everybody is told twice and has finished", |_, state| {
                state.clients.iter().all(|client| client.an_answer_was_lost && client.phase == Phase::Idle)
            }),
        ]
    }
}

const MATCHES: &str = "an approval matches what the person saw";
const ONCE: &str = "nothing is applied twice";

#[test]
fn every_interleaving_keeps_every_promise() {
    let checker = AS_IT_IS.checker().threads(2).spawn_bfs().join();
    checker.assert_properties();
    assert!(checker.unique_state_count() > 10_000, "only {} states were looked at", checker.unique_state_count());
}

/// Looks until this promise is found broken.
#[track_caller]
fn breaks(ledger: Ledger, promise: &'static str) {
    let wanted = HasDiscoveries::AllOf([promise].into());
    ledger.checker().finish_when(wanted).spawn_bfs().join().assert_any_discovery(promise);
}

#[test]
fn without_recognising_a_request_something_is_applied_twice() {
    let ledger = Ledger { recognises_requests: false, ..AS_IT_IS };
    breaks(ledger, ONCE);
}

#[test]
fn without_the_lock_an_unseen_text_is_approved() {
    let ledger = Ledger { holds_the_lock: false, ..AS_IT_IS };
    breaks(ledger, MATCHES);
}
