//! What belongs to the store and not to a session: the policy, the approvers, the guarded settings, what is permitted, the browsers.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use planwright_core::actor::Actor;
use planwright_core::approval::record::{ApprovalEvent, ApprovalState, SealedRecord};
use planwright_core::approval::{AgentSandbox, ApprovalCheck, ApprovalPolicy, Require};
use planwright_core::presence::{AgentClient, Presence};
use planwright_core::session::Channel;
use planwright_core::standing_rule::{PermittedCalls, RulePlace, StandingRule};
use proptest::prelude::*;

use super::{other_client, presences};
use crate::approvers::approver;
use crate::presence::client;

/// One act on the store.
#[derive(Debug, Clone)]
enum Move {
    /// From a process or a request of the agent of this kind. It passes the same check as the act of a person.
    Claims(ApprovalEvent, usize),
    /// A record that Planwright writes by itself about what an agent does.
    Records(ApprovalEvent),
    /// Another program is seen.
    Appears(AgentClient),
}

/// The records of a store, and the programs of agents that its sessions know.
struct Store {
    records: Vec<SealedRecord>,
    state: ApprovalState,
    clients: Vec<AgentClient>,
}

impl Store {
    /// The person has chosen a policy, and may have enrolled. Then an agent came.
    fn of_person(require: Require, enrolled: bool) -> Self {
        let mut store = Self { records: Vec::new(), state: ApprovalState::default(), clients: vec![client()] };
        let settings = BTreeMap::from([("sandbox.level".to_owned(), "workspace".to_owned())]);
        store.append(ApprovalEvent::PolicySet { policy: ApprovalPolicy::requiring(require), with_defaults: true });
        store.append(ApprovalEvent::SettingsSet { settings });
        if enrolled {
            store.append(ApprovalEvent::ApproverAdded { approver: approver("ada", 1) });
        }
        store.append(ApprovalEvent::AgentSeen { name: client().name });
        store
    }

    /// Nothing that an agent has is signed by an approver.
    fn append(&mut self, event: ApprovalEvent) {
        if let Ok(sealed) = self.state.seal(Timestamp::UNIX_EPOCH, Actor::person("ada", "cli"), event, None) {
            self.records.push(sealed);
            self.state = ApprovalState::replay(&self.records).unwrap();
        }
    }

    /// As the engine checks what concerns the whole store.
    fn takes(&self, presence: Option<&Presence>) -> bool {
        let policy = self.state.policy.clone().unwrap_or_default();
        let kept = self.state.kept_clients.values().flatten().cloned();
        let clients: Vec<_> = self.clients.iter().cloned().chain(kept).collect();
        let check = ApprovalCheck {
            policy: &ApprovalPolicy::requiring(policy.strictest().min(Require::Separate)),
            sandbox: AgentSandbox::Restricted,
            channel: Channel::Cli,
            clients: &clients,
            others: &[],
            silent: &BTreeSet::new(),
            agents_seen: self.state.agents_seen,
            risks: &BTreeSet::new(),
            presence,
        };
        check.check().is_ok()
    }

    /// The records that decide who may approve, and which calls run without a question.
    fn who_decides(&self) -> String {
        let state = &self.state;
        let browser = state.is_signed_in("a browser", Timestamp::UNIX_EPOCH);
        format!(
            "{:?}",
            (&state.policy, &state.approvers, &state.bound_users, &state.settings, &state.permissions, browser)
        )
    }
}

/// What an agent would like to have in the records.
fn wanted() -> impl Strategy<Value = ApprovalEvent> {
    let rule = StandingRule {
        permits: PermittedCalls::Command { line: "rm -r bin".to_owned() },
        place: RulePlace::Everywhere,
    };
    let settings = BTreeMap::from([("sandbox.level".to_owned(), "open".to_owned())]);
    let ends = Timestamp::UNIX_EPOCH + SignedDuration::from_hours(12);
    let (link, browser) = ("a link".to_owned(), "a browser".to_owned());
    let policies = Require::ALL.into_iter().flat_map(|require| {
        let policy = ApprovalPolicy::requiring(require);
        [true, false].map(|with_defaults| ApprovalEvent::PolicySet { policy: policy.clone(), with_defaults })
    });
    let mut wanted: Vec<_> = policies.collect();
    wanted.extend([
        ApprovalEvent::ApproverAdded { approver: approver("mallory", 2) },
        ApprovalEvent::ApproverAdded { approver: approver("ada", 2) },
        ApprovalEvent::ApproverRemoved { name: "ada".to_owned() },
        ApprovalEvent::PassphraseChanged { name: "ada".to_owned(), sealed: approver("ada", 2).sealed, recovery: None },
        ApprovalEvent::ChatUserBound { user: 7, approver: "ada".to_owned() },
        ApprovalEvent::SettingsSet { settings },
        ApprovalEvent::PermissionGiven { rule, session: None },
        ApprovalEvent::PermissionRemoved { number: 1 },
        ApprovalEvent::SignInLinkMade { link: link.clone(), ends },
        ApprovalEvent::BrowserSignedIn { link, browser, ends },
    ]);
    prop::sample::select(wanted)
}

/// Anyone can try a passphrase, begin and delete sessions, and follow a link.
fn recorded() -> impl Strategy<Value = ApprovalEvent> {
    let ends = Timestamp::UNIX_EPOCH + SignedDuration::from_hours(12);
    prop::sample::select(vec![
        ApprovalEvent::PassphraseTried { name: "ada".to_owned(), source: "token".to_owned() },
        ApprovalEvent::AgentSeen { name: "goose".to_owned() },
        ApprovalEvent::ClientsKept { session: "mcp:k3yk3y8x".parse().unwrap(), clients: vec![client()] },
        ApprovalEvent::BrowserSignedIn { link: "a link".to_owned(), browser: "a browser".to_owned(), ends },
    ])
}

fn step() -> impl Strategy<Value = Move> {
    prop_oneof![
        // A terminal of a machine without an agent is a person's.
        6 => (wanted(), 0..presences().len() - 1).prop_map(|(event, presence)| Move::Claims(event, presence)),
        2 => recorded().prop_map(Move::Records),
        1 => other_client().prop_map(Move::Appears),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_sequence_of_an_agents_acts_changes_who_may_decide(
        require in prop::sample::select(vec![Require::Separate, Require::Verified]),
        enrolled in any::<bool>(),
        moves in prop::collection::vec(step(), 1..40),
    ) {
        let mut store = Store::of_person(require, enrolled);
        let before = store.who_decides();
        for one in moves {
            match one.clone() {
                Move::Claims(event, presence) => {
                    if store.takes(presences()[presence].as_ref()) {
                        store.append(event);
                    }
                }
                Move::Records(event) => store.append(event),
                Move::Appears(client) => store.clients.push(client),
            }
            prop_assert_eq!(&store.who_decides(), &before, "after {:?}", one);
        }
    }
}
