//! How a person has to be recognised, by policy, channel and risk, and what processes prove.

use std::collections::BTreeSet;

use planwright_core::actor::{Actor, ActorKind};
use planwright_core::approval::{AgentSandbox, ApprovalCheck, ApprovalPolicy, ApprovalRule, Require, Risk};
use planwright_core::command::{Command, SessionCommand};
use planwright_core::plan::PlanStyle;
use planwright_core::presence::{AgentClient, Presence, ProcessId, Terminal, TerminalEvidence, TerminalHolder};
use planwright_core::refusal::RefusalCode;
use planwright_core::session::Channel;
use proptest::prelude::*;

use crate::world::*;

fn process(pid: u32, started: u64) -> ProcessId {
    ProcessId { pid, started }
}

/// Started at 400, in terminal 1.
fn client() -> AgentClient {
    AgentClient {
        machine: "here".to_owned(),
        name: "codex".to_owned(),
        processes: vec![process(41, 410), process(40, 400)],
        terminal: Some(1),
    }
}

/// A window of a terminal emulator that was started at 300.
fn window() -> TerminalEvidence {
    TerminalEvidence {
        machine: "here".to_owned(),
        ancestors: vec![process(51, 510), process(50, 500), process(30, 300), process(1, 1)],
        own_command: false,
        terminal: Some(Terminal { device: 2, holder: Some(TerminalHolder { started: 300, login: false }) }),
    }
}

fn checked(
    channel: Channel,
    clients: &[AgentClient],
    presence: Option<Presence>,
    require: Require,
) -> Result<(), String> {
    let policy = ApprovalPolicy::requiring(require);
    let risks = BTreeSet::from([Risk::ChangesFiles]);
    let (sandbox, presence) = (AgentSandbox::Restricted, presence.as_ref());
    let check = ApprovalCheck { policy: &policy, sandbox, channel, clients, risks: &risks, presence };
    match check.check() {
        Ok(required) => {
            assert_eq!(required, require);
            Ok(())
        }
        Err(refusal) => {
            assert_eq!(refusal.code, RefusalCode::PolicyDenied);
            Err(refusal.message)
        }
    }
}

#[test]
fn each_presence_under_each_policy() {
    let verified = Presence::Verified { approver: "ada".to_owned() };
    let terminal = Presence::terminal(Some(window()));
    // Under `separate`: in a session of Planwright's own agent, and in one of a client.
    for (presence, own, of_client, under_verified) in [
        (Some(verified), true, true, true),
        (Some(terminal), true, true, false),
        (Some(Presence::Token), true, false, false),
        (Some(Presence::Browser), true, true, false),
        (Some(Presence::Channel), true, true, false),
        (Some(Presence::Rule), true, true, false),
        (Some(Presence::terminal(None)), false, false, false),
        (None, false, false, false),
    ] {
        let is_enough =
            |channel, clients: &[AgentClient], require| checked(channel, clients, presence.clone(), require).is_ok();
        assert!(is_enough(Channel::Mcp, &[client()], Require::Any), "{presence:?}");
        for channel in [Channel::Web, Channel::Telegram, Channel::Cli] {
            assert_eq!(is_enough(channel, &[], Require::Separate), own, "{presence:?} in {channel}");
        }
        for channel in [Channel::Mcp, Channel::Acp] {
            assert_eq!(is_enough(channel, &[client()], Require::Separate), of_client, "{presence:?} in {channel}");
        }
        assert_eq!(is_enough(Channel::Web, &[], Require::Verified), under_verified, "{presence:?}");
    }
}

#[test]
fn the_token_is_not_enough_where_the_agent_can_read_it() {
    let policy = ApprovalPolicy::requiring(Require::Separate);
    let (presence, risks) = (Presence::Token, BTreeSet::new());
    let check = |sandbox, clients: &[AgentClient]| {
        let presence = Some(&presence);
        ApprovalCheck { policy: &policy, sandbox, channel: Channel::Web, clients, risks: &risks, presence }
            .check()
            .is_ok()
    };
    assert!(check(AgentSandbox::Restricted, &[]));
    assert!(!check(AgentSandbox::Open, &[]));
    assert!(!check(AgentSandbox::Restricted, &[client()]), "a client was in the session");
}

#[test]
fn what_a_terminal_proves() {
    let with = |change: fn(&mut TerminalEvidence)| {
        let mut evidence = window();
        change(&mut evidence);
        evidence
    };
    let holder = |evidence: &mut TerminalEvidence, started, login| {
        evidence.terminal = Some(Terminal { device: 2, holder: Some(TerminalHolder { started, login }) });
    };
    let cases: [(TerminalEvidence, Option<&str>); 9] = [
        (window(), None),
        (with(|seen| seen.ancestors.push(process(40, 400))), Some("started by `codex`")),
        (with(|seen| seen.ancestors.push(process(40, 999))), None),
        (with(|seen| seen.own_command = true), Some("a command of the agent")),
        (with(|seen| seen.terminal = None), Some("no terminal")),
        (with(|seen| seen.terminal = Some(Terminal { device: 2, holder: None })), Some("detached")),
        (
            with(|seen| {
                seen.terminal =
                    Some(Terminal { device: 1, holder: Some(TerminalHolder { started: 300, login: false }) });
            }),
            Some("the terminal in which `codex`"),
        ),
        (
            {
                let mut evidence = window();
                holder(&mut evidence, 400, false);
                evidence
            },
            Some("opened after `codex`"),
        ),
        (
            {
                let mut evidence = window();
                holder(&mut evidence, 700, true);
                evidence
            },
            None,
        ),
    ];
    for (evidence, refused) in cases {
        let presence = Presence::terminal(Some(evidence.clone()));
        let came = checked(Channel::Mcp, &[client()], Some(presence), Require::Separate);
        match (refused, came) {
            (None, came) => assert_eq!(came, Ok(()), "{evidence:?}"),
            (Some(words), came) => {
                let message = came.unwrap_err();
                assert!(message.contains(words) && message.contains("planwright approver add"), "{message}");
            }
        }
    }
}

#[test]
fn a_client_that_is_not_known_on_this_machine_proves_nothing() {
    let elsewhere = AgentClient { machine: "another start".to_owned(), ..client() };
    for clients in [vec![], vec![elsewhere]] {
        let presence = Presence::terminal(Some(window()));
        let refused = checked(Channel::Mcp, &clients, Some(presence), Require::Separate).unwrap_err();
        assert!(refused.contains("not known which program"), "{refused}");
    }
}

#[test]
fn rules_by_channel_and_risk() {
    let rule = |channel, risk, require| ApprovalRule { channel, risk, require, people: None };
    let policy = ApprovalPolicy {
        rules: vec![
            rule(None, Some(Risk::ReadsOnly), Require::Any),
            rule(Some(Channel::Mcp), None, Require::Verified),
            rule(None, Some(Risk::Commands), Require::Verified),
        ],
        ..ApprovalPolicy::default()
    };
    for (channel, risks, require) in [
        (Channel::Mcp, vec![Risk::ReadsOnly], Require::Any),
        (Channel::Mcp, vec![Risk::ChangesFiles], Require::Verified),
        (Channel::Web, vec![Risk::ChangesFiles], Require::Separate),
        (Channel::Web, vec![Risk::ChangesFiles, Risk::Commands], Require::Verified),
        (Channel::Web, vec![], Require::Any),
    ] {
        assert_eq!(policy.requirement(channel, &risks.iter().copied().collect()), require, "{channel} {risks:?}");
    }
}

#[test]
fn the_risks_of_a_plan() {
    let mut world = World::ready_document("# Look\n\n- [ ] read `cargo test`\n");
    assert_eq!(world.active().risks(), BTreeSet::from([Risk::ChangesFiles]));
    world = World::planning(PlanStyle::Collect);
    for (tool, risks) in [
        ("read_file", vec![Risk::ReadsOnly]),
        ("write_file", vec![Risk::ChangesFiles]),
        ("github__merge", vec![Risk::ChangesFiles, Risk::Upstream]),
        ("run_command", vec![Risk::ChangesFiles, Risk::Commands, Risk::Upstream]),
    ] {
        world.agent(record(tool, serde_json::json!({}))).unwrap();
        assert_eq!(world.active().risks(), risks.into_iter().collect(), "{tool}");
    }
}

fn require() -> impl Strategy<Value = Require> {
    prop::sample::select(Require::ALL.to_vec())
}

fn policy() -> impl Strategy<Value = ApprovalPolicy> {
    let channel = prop::option::of(prop::sample::select(Channel::ALL.to_vec()));
    let risk = prop::option::of(prop::sample::select(Risk::ALL.to_vec()));
    let rule = (channel, risk, require()).prop_map(|(channel, risk, require)| ApprovalRule {
        channel,
        risk,
        require,
        people: None,
    });
    let seconds = || prop::option::of(1..5_u64);
    (require(), prop::collection::vec(rule, 0..4), seconds(), seconds())
        .prop_map(|(require, rules, valid_for, remember)| ApprovalPolicy { require, rules, valid_for, remember })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// The policy in force never becomes weaker by a setting.
    #[test]
    fn the_stricter_of_two_policies_is_weaker_than_neither(one in policy(), other in policy()) {
        let both = one.stricter(&other);
        prop_assert!(!both.is_weaker_than(&one), "{both:?}");
        prop_assert!(!both.is_weaker_than(&other), "{both:?}");
        prop_assert_eq!(both.stricter(&one), both.clone());
    }

    /// Whatever an agent does, with its own words, with the token, or in a process of its own: nothing is approved and
    /// nothing runs.
    #[test]
    fn no_input_from_within_the_reach_of_the_agent_leads_to_an_execution(
        acts in prop::collection::vec(crate::properties::act(), 1..60),
        who in prop::collection::vec(0..4_usize, 60),
        require in prop::sample::select(vec![Require::Separate, Require::Verified]),
    ) {
        let mut world = World::unopened("mcp:k3yk3y8x");
        world.policy.standing_approval = planwright_core::policy::StandingApproval::Off;
        world.policy.approval = ApprovalPolicy::requiring(require);
        world.person(open()).unwrap();
        world.send(Actor::system("mcp"), Command::Session(SessionCommand::SeeClient(client()))).unwrap();
        let mut inside = window();
        inside.ancestors.push(process(40, 400));
        let disguises = [
            Actor::agent("coder", "mcp"),
            Actor::person("ada", "web").recognised(Presence::Token),
            Actor::person("ada", "cli").recognised(Presence::terminal(Some(inside))),
            Actor::new(ActorKind::Person, "ada", "cli"),
        ];
        for (act, who) in acts.iter().zip(who) {
            let (by, command) = act.on(&world);
            let by = if by.kind == ActorKind::Person { disguises[who].clone() } else { by };
            for event in world.send(by, command).iter().flatten() {
                let lets_work_happen = ["plan_approved", "execution_started", "permission_answered"];
                prop_assert!(!lets_work_happen.contains(&event.name()), "{event:?}");
            }
        }
    }
}
