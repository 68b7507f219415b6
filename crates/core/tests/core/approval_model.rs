//! Every order of approvals, refusals, texts and time, under each policy, decided by the real rules: what begins was approved
//! by enough people, whose approvals have not ended, and is the text that they saw.
//!
//! The check keeps its own record of who approved what and when. It has teeth: where two people are promised and the rules
//! are told to ask for one, it finds the history that goes wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::sync::Mutex;

use jiff::{SignedDuration, Timestamp};
use planwright_core::actor::Actor;
use planwright_core::approval::{ApprovalPolicy, ApprovalRule, Approvers, Require};
use planwright_core::command::{Command, Decision, ExecutionCommand};
use planwright_core::decide;
use planwright_core::ids::RequestId;
use planwright_core::plan::approval::Selection;
use planwright_core::plan::execution::StepStatus;
use planwright_core::plan::{ApprovalSignature, Digest, Plan, PlanStatus};
use planwright_core::policy::Policy;
use planwright_core::presence::Presence;
use planwright_core::snapshot::{CommandContext, Snapshot};
use stateright::{Checker, HasDiscoveries, Model, Property};

use crate::approvers::{approver, signature, verified};
use crate::world::{World, approve, report, resume, set};

/// How long an approval is valid, in ticks of the clock. It runs to the number after it.
const VALID: u64 = 1;
const LAST_TICK: i64 = 2;
const TEXTS: [&str; 1] = ["1. one"];

/// What is promised, and how many people the rules are told to ask for.
#[derive(Debug, Clone, Copy)]
struct Checked {
    require: Require,
    people: u8,
    expires: bool,
    asked: u8,
}

const fn checked(require: Require, people: u8, expires: bool) -> Checked {
    Checked { require, people, expires, asked: people }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Who {
    /// A person at the surface that the policy `any` accepts.
    Token,
    Channel,
    Ada,
    Bob,
    /// Signs with a key that is not enrolled.
    Mallory,
    /// Calls itself a person with a tool.
    Agent,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Act {
    Tick,
    Write,
    Approve(Who),
    /// The system begins the work.
    Start,
    /// The agent says that it works on it.
    Report,
    /// A person, or the agent, asks for it to continue.
    Resume(Who),
}

#[derive(Debug, Clone, PartialEq)]
struct State {
    snapshot: Snapshot,
    now: i64,
    written: usize,
    requests: u32,
    /// Who approved which text, and when. The rules do not see it.
    approved: BTreeSet<(Digest, Who, i64)>,
    began: Began,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Began {
    No,
    /// With enough approvals of exactly this text.
    Rightly,
    Wrongly,
}

impl Hash for State {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        (self.now, self.written, &self.approved, self.began).hash(hasher);
        for plan in self.snapshot.plans.values() {
            (plan.status, plan.version, plan.incomplete_approval.is_some(), plan.approval.is_some()).hash(hasher);
        }
    }
}

impl Checked {
    fn policy(self) -> Policy {
        let rule = ApprovalRule { channel: None, risk: None, require: self.require, people: Some(self.asked) };
        let valid_for = Some(VALID).filter(|_| self.expires);
        let approval = ApprovalPolicy { rules: vec![rule], valid_for, ..ApprovalPolicy::requiring(self.require) };
        let approvers = Approvers(vec![approver("ada", 1), approver("bob", 2)]);
        Policy { approval, approvers, ..Policy::default() }
    }

    /// Whether the check's own record permits this text to be worked on.
    fn permits(self, state: &State, digest: &Digest) -> bool {
        let valid = |at: i64| !self.expires || state.now <= at + VALID as i64;
        let enough = |who: Who| match (self.require, who) {
            (_, Who::Agent | Who::Mallory) => false,
            (Require::Any, _) | (_, Who::Ada | Who::Bob) => true,
            (Require::Separate, Who::Token | Who::Channel) => true,
            (Require::Verified, Who::Token | Who::Channel) => false,
        };
        let of_text = state.approved.iter().filter(|(of, who, at)| of == digest && enough(*who) && valid(*at));
        let people: BTreeSet<_> = of_text.map(|(_, who, _)| *who).collect();
        let signed = people.iter().filter(|who| matches!(who, Who::Ada | Who::Bob)).count();
        if self.people > 1 { signed >= usize::from(self.people) } else { !people.is_empty() }
    }
}

fn time(tick: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_secs(100 + tick)
}

fn actor(who: Who) -> Actor {
    match who {
        Who::Token => Actor::person("person", "web").recognised(Presence::Token),
        Who::Channel => Actor::person("eve", "telegram").recognised(Presence::channel()),
        Who::Ada => verified("ada"),
        Who::Bob => verified("bob"),
        Who::Mallory => verified("mallory"),
        Who::Agent => Actor::agent("coder", "mcp"),
    }
}

/// Signing takes long, and every order of events needs the same signatures.
fn signed_once(plan: &Plan, name: &str, n: u8, until: Option<Timestamp>) -> ApprovalSignature {
    type Made = BTreeMap<(Digest, String, Option<Timestamp>), ApprovalSignature>;
    static MADE: Mutex<Made> = Mutex::new(BTreeMap::new());
    let key = (plan.digest(), name.to_owned(), until);
    MADE.lock().unwrap().entry(key).or_insert_with(|| signature(plan, name, n, until)).clone()
}

impl State {
    fn command(&self, model: &Checked, act: &Act) -> Option<(Actor, Command)> {
        let plan = self.snapshot.active()?;
        let system = || Actor::system("executor");
        Some(match act {
            Act::Tick => return None,
            Act::Write => (Actor::agent("coder", "mcp"), set(TEXTS.get(self.written)?)),
            Act::Start => (system(), Command::Execution(ExecutionCommand::Start { plan: plan.id.clone() })),
            Act::Report => (Actor::agent("coder", "mcp"), report(Some(1), StepStatus::InProgress)),
            Act::Resume(who) => (actor(*who), resume(&plan.id)),
            Act::Approve(who) => {
                let Command::Decide(decision) = approve(plan, Selection::All) else { return None };
                let until = model.expires.then(|| time(self.now) + SignedDuration::from_secs(VALID as i64));
                let key = match who {
                    Who::Ada => Some(("ada", 1)),
                    Who::Bob => Some(("bob", 2)),
                    Who::Mallory => Some(("mallory", 9)),
                    Who::Token | Who::Channel | Who::Agent => None,
                };
                let decision = match key {
                    Some((name, n)) => {
                        let signature = signed_once(plan, name, n, until);
                        Decision::Signed { decision: Box::new(decision), signature }
                    }
                    None => decision,
                };
                (actor(*who), Command::Decide(decision))
            }
        })
    }

    fn after(&self, model: &Checked, act: &Act) -> Option<Self> {
        let mut next = self.clone();
        if *act == Act::Tick {
            next.now += 1;
            return Some(next);
        }
        let (by, command) = self.command(model, act)?;
        next.requests += 1;
        let request = RequestId::new(format!("request-{}", next.requests)).unwrap();
        let context = CommandContext { at: time(self.now), by, request };
        let events = decide(&self.snapshot, &command, &context, &model.policy()).ok()?;
        if events.is_empty() {
            return None;
        }
        let digest = self.snapshot.active()?.digest();
        let was = self.snapshot.active()?.status;
        for event in &events {
            next.snapshot.apply(event, &context, 1);
        }
        if let Act::Approve(who) = act {
            next.approved.insert((digest, *who, self.now));
        }
        next.written += usize::from(*act == Act::Write);
        let status = next.snapshot.active()?.status;
        if was != PlanStatus::Executing && status == PlanStatus::Executing {
            next.began = if model.permits(self, &digest) { Began::Rightly } else { Began::Wrongly };
        }
        Some(next)
    }
}

impl Model for Checked {
    type State = State;
    type Action = Act;

    fn init_states(&self) -> Vec<State> {
        let (snapshot, approved) = (World::ready_document("1. zero").snapshot, BTreeSet::new());
        vec![State { snapshot, now: 0, written: 0, requests: 0, approved, began: Began::No }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Act>) {
        if state.began != Began::No {
            return;
        }
        use Who::{Ada, Agent, Bob, Channel, Mallory, Token};
        actions.extend((state.now < LAST_TICK).then_some(Act::Tick));
        actions.extend([Act::Write, Act::Start, Act::Report, Act::Resume(Agent), Act::Resume(Ada)]);
        // What is decided already is not signed again.
        let ready = state.snapshot.active().is_some_and(|plan| plan.status == PlanStatus::Ready);
        actions.extend([Ada, Bob].map(Act::Approve).into_iter().filter(|_| ready));
        // Time changes nothing for those whose approval does not count.
        actions
            .extend([Token, Channel, Mallory, Agent].map(Act::Approve).into_iter().filter(|_| ready && state.now == 0));
    }

    fn next_state(&self, last: &State, act: Act) -> Option<State> {
        last.after(self, &act)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::<Self>::always(APPROVED, |_, state| state.began != Began::Wrongly),
            Property::<Self>::sometimes("a plan is carried out", |_, state| state.began == Began::Rightly),
            Property::<Self>::sometimes("an approval ends before the work begins", |model, state| {
                let plan = state.snapshot.active().filter(|plan| plan.status == PlanStatus::Approved);
                !model.expires || plan.is_some_and(|plan| !model.permits(state, &plan.digest()))
            }),
            Property::<Self>::sometimes("one of two people approved", |model, state| {
                let waits = |plan: &Plan| plan.incomplete_approval.is_some();
                model.people < 2 || state.snapshot.active().is_some_and(waits)
            }),
        ]
    }
}

const APPROVED: &str = "what is carried out was approved by enough people, in time, as it is";

#[test]
fn under_every_policy_only_what_people_approved_begins() {
    for model in [
        checked(Require::Any, 1, true),
        checked(Require::Separate, 1, true),
        checked(Require::Verified, 1, true),
        checked(Require::Verified, 2, false),
        checked(Require::Verified, 2, true),
    ] {
        let checker = model.checker().threads(2).spawn_bfs().join();
        checker.assert_properties();
        assert!(checker.unique_state_count() > 20, "{model:?}: {} states", checker.unique_state_count());
    }
}

/// Looks until the promise is found broken.
#[test]
fn with_one_person_where_two_are_needed_the_promise_breaks() {
    let model = Checked { asked: 1, ..checked(Require::Verified, 2, true) };
    let wanted = HasDiscoveries::AllOf([APPROVED].into());
    model.checker().finish_when(wanted).spawn_bfs().join().assert_any_discovery(APPROVED);
}
