//! How a person has to be recognised, by policy, channel and risk, and what processes prove.

use std::collections::BTreeSet;

use planwright_core::actor::{Actor, ActorKind};
use planwright_core::approval::{AgentSandbox, AgentsSeen, ApprovalCheck, ApprovalPolicy, ApprovalRule, Require, Risk};
use planwright_core::command::{Command, SessionCommand};
use planwright_core::plan::PlanStyle;
use planwright_core::presence::{
    AgentClient, Presence, ProcessId, ProcessPlace, RunningProcess, Terminal, TerminalEvidence, TerminalHolder,
};
use planwright_core::refusal::RefusalCode;
use planwright_core::session::Channel;
use proptest::prelude::*;

use crate::world::*;

pub(crate) fn process(pid: u32, started: u64) -> ProcessId {
    ProcessId { pid, started }
}

/// Started at 400, in terminal 1.
pub(crate) fn client() -> AgentClient {
    AgentClient {
        machine: "here/pid:[1]".to_owned(),
        name: "codex".to_owned(),
        processes: vec![process(41, 410), process(40, 400)],
        terminal: Some(1),
        place: Some(here()),
        session: Some(35),
        group: Some("/agents".to_owned()),
        since: None,
        beats: false,
    }
}

fn here() -> ProcessPlace {
    ProcessPlace { boot: "here".to_owned(), numbers: 1, users: 1, time: 1 }
}

fn running(pid: u32, started: u64, parent: u32) -> RunningProcess {
    let (session, terminal, group) = (pid, None, Some("/user".to_owned()));
    RunningProcess { id: process(pid, started), parent, session, terminal, group, adopts: pid == 1 }
}

/// A window of a terminal emulator that was started at 300.
fn window() -> TerminalEvidence {
    TerminalEvidence {
        place: here(),
        ancestors: vec![process(51, 510), process(50, 500), process(30, 300), process(1, 1)],
        own_command: false,
        terminal: Some(Terminal { device: 2, holder: Some(TerminalHolder { started: 300, login: false }) }),
        running: vec![running(1, 1, 0), running(30, 300, 1), running(40, 400, 30), running(50, 500, 30)],
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
    let check = ApprovalCheck {
        policy: &policy,
        sandbox,
        channel,
        clients,
        others: &[],
        silent: &BTreeSet::new(),
        agents_seen: AgentsSeen::Some,
        risks: &risks,
        presence,
    };
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
    let verified = Presence::verified("ada");
    let terminal = Presence::terminal(Some(window()));
    // Under `separate`: in a session of Planwright's own agent, and in one of a client.
    for (presence, own, of_client, under_verified) in [
        (Some(verified), true, true, true),
        (Some(terminal), true, true, false),
        (Some(Presence::Token), true, false, false),
        (Some(Presence::Browser), true, true, false),
        (Some(Presence::channel()), true, true, false),
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
        ApprovalCheck {
            policy: &policy,
            sandbox,
            channel: Channel::Web,
            clients,
            others: &[],
            silent: &BTreeSet::new(),
            agents_seen: AgentsSeen::Some,
            risks: &risks,
            presence,
        }
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
            (Some(text), came) => {
                let message = came.unwrap_err();
                assert!(message.contains(text) && message.contains("planwright approver add"), "{message}");
            }
        }
    }
}

#[test]
fn a_client_that_is_not_known_on_this_machine_proves_nothing() {
    let place = ProcessPlace { boot: "another start".to_owned(), ..here() };
    let elsewhere = AgentClient { place: Some(place), ..client() };
    for clients in [vec![], vec![elsewhere]] {
        let presence = Presence::terminal(Some(window()));
        let refused = checked(Channel::Mcp, &clients, Some(presence), Require::Separate).unwrap_err();
        assert!(refused.contains("not known which program"), "{refused}");
    }
}

#[test]
fn a_program_of_another_machine_counts_until_it_gives_no_sign_of_life() {
    let place = ProcessPlace { boot: "another machine".to_owned(), ..here() };
    let elsewhere = AgentClient { place: Some(place), machine: "there".to_owned(), beats: true, ..client() };
    let stopped = BTreeSet::from([elsewhere.heartbeat().unwrap()]);
    let at_terminal = |clients: &[AgentClient], silent: &BTreeSet<String>, channel| {
        let (policy, risks) = (ApprovalPolicy::requiring(Require::Separate), BTreeSet::new());
        let presence = terminal_of(300, false, |_| {});
        let check = ApprovalCheck {
            policy: &policy,
            sandbox: AgentSandbox::Restricted,
            channel,
            clients,
            others: &[],
            silent,
            agents_seen: AgentsSeen::Some,
            risks: &risks,
            presence: Some(&presence),
        };
        check.check().map(drop).map_err(|refusal| refusal.message)
    };
    let (alive, of_client) = (BTreeSet::new(), Channel::Mcp);
    for clients in [vec![elsewhere.clone()], vec![client(), elsewhere.clone()]] {
        let refused = at_terminal(&clients, &alive, of_client).unwrap_err();
        assert!(refused.contains("on another machine within the last minute"), "{refused}");
        assert_eq!(at_terminal(&clients, &stopped, of_client), Ok(()), "it has ended, or the machine was restarted");
        let joined = at_terminal(&clients, &alive, Channel::Cli).unwrap_err();
        assert!(joined.contains("on another machine within the last minute"), "it came into this session: {joined}");
    }
    assert_eq!(at_terminal(&[], &alive, Channel::Cli), Ok(()), "the session has no agent but Planwright's own");
    let never = AgentClient { beats: false, ..elsewhere.clone() };
    assert!(at_terminal(&[never], &stopped, of_client).unwrap_err().contains("not known which program"));
    assert_eq!(client().heartbeat(), None);
    assert!(elsewhere.ran_elsewhere(&terminal_of(300, false, |_| {})));
    assert!(!client().ran_elsewhere(&terminal_of(300, false, |_| {})));
}

/// Planwright with process 45, which started at 350 and ran the first command of its agent without a sandbox after 400.
fn own_program() -> AgentClient {
    let (processes, group) = (vec![process(45, 350)], Some("/agents".to_owned()));
    AgentClient { processes, terminal: None, session: None, group, since: Some(400), ..client() }
}

#[test]
fn planwright_itself_counts_from_its_agents_first_command_until_its_end() {
    let clients = [own_program()];
    let check = |presence| checked(Channel::Cli, &clients, Some(presence), Require::Separate);
    let runs = |seen: &mut TerminalEvidence| {
        seen.running.retain(|process| process.id.pid != 40);
        seen.running.push(running(45, 350, 30));
    };
    assert!(check(terminal_of(700, false, runs)).unwrap_err().contains("opened after"), "a command may have opened it");
    assert_eq!(check(terminal_of(380, false, runs)), Ok(()), "opened between its start and its agent's first command");
    let within = |seen: &mut TerminalEvidence| seen.ancestors.push(process(45, 350));
    assert!(check(terminal_of(300, false, within)).unwrap_err().contains("started by"), "a command of its agent");
    let chat = |seen: &mut TerminalEvidence| seen.ancestors[0] = process(45, 350);
    assert_eq!(check(terminal_of(300, false, chat)), Ok(()), "a person in its own chat");
    let ended = |seen: &mut TerminalEvidence| seen.running.retain(|process| process.id.pid != 40);
    assert_eq!(check(terminal_of(700, false, ended)), Ok(()));
    let left = |seen: &mut TerminalEvidence| {
        let group = Some("/agents".to_owned());
        seen.running.retain(|process| process.id.pid != 40);
        seen.running.push(RunningProcess { group, ..running(60, 450, 1) });
    };
    assert!(check(terminal_of(700, false, left)).unwrap_err().contains("opened after"), "a command outlived it");
}

/// A terminal that is opened at `started`, in whatever place.
pub(crate) fn terminal_of(started: u64, login: bool, change: impl FnOnce(&mut TerminalEvidence)) -> Presence {
    let mut evidence = window();
    evidence.terminal = Some(Terminal { device: 2, holder: Some(TerminalHolder { started, login }) });
    change(&mut evidence);
    Presence::terminal(Some(evidence))
}

fn in_session_of_client(presence: Presence) -> Result<(), String> {
    checked(Channel::Mcp, &[client()], Some(presence), Require::Separate)
}

#[test]
fn a_namespace_of_its_own_hides_no_agent() {
    // Process numbers of another space say nothing, and start times still do.
    assert_eq!(in_session_of_client(terminal_of(300, false, |seen| seen.place.numbers = 2)), Ok(()));
    let young = in_session_of_client(terminal_of(700, false, |seen| seen.place.numbers = 2));
    assert!(young.unwrap_err().contains("opened after `codex`"));
    // In a user namespace every process can be called `sshd` and belong to root.
    let false_login = in_session_of_client(terminal_of(700, true, |seen| seen.place.users = 2));
    assert!(false_login.unwrap_err().contains("opened after `codex`"));
    // In a time namespace every process can look old.
    let other_time = in_session_of_client(terminal_of(300, false, |seen| seen.place.time = 2));
    assert!(other_time.unwrap_err().contains("time namespace"));
}

#[test]
fn a_program_that_ended_stops_counting_once_nothing_of_it_is_left() {
    let young = |change: fn(&mut TerminalEvidence)| in_session_of_client(terminal_of(700, false, change));
    assert!(young(|_| {}).is_err(), "it runs");
    assert_eq!(young(|seen| seen.running.retain(|process| process.id.pid != 40)), Ok(()), "it has ended");
    let left = |change: fn(&mut RunningProcess)| {
        in_session_of_client(terminal_of(700, false, |seen| {
            seen.running.retain(|process| process.id.pid != 40);
            let mut orphan = running(60, 450, 1);
            change(&mut orphan);
            seen.running.push(orphan);
        }))
    };
    assert!(left(|orphan| orphan.session = 35).is_err(), "an orphan has its kernel session");
    // A terminal belongs to one kernel session; the number of one that has ended is used again.
    assert_eq!(left(|window| window.terminal = Some(1)), Ok(()));
    assert!(left(|orphan| orphan.group = Some("/agents".to_owned())).is_err(), "an orphan has its control group");
    assert_eq!(left(|_| {}), Ok(()), "a process that has nothing of it");
    // What the person does in the terminal after the agent's end hangs on their shell, which is older.
    assert_eq!(left(|job| (job.terminal, job.session, job.parent) = (Some(1), 35, 30)), Ok(()));
    assert!(
        young(|seen| {
            seen.running.retain(|process| process.id.pid != 40);
            seen.place.numbers = 2;
        })
        .is_err(),
        "in another space of process numbers it is not known whether it ended"
    );
}

#[test]
fn a_terminal_number_that_is_used_again_is_another_terminal() {
    let again = |ended: bool| {
        in_session_of_client(terminal_of(700, false, |seen| {
            seen.terminal = Some(Terminal { device: 1, holder: Some(TerminalHolder { started: 700, login: false }) });
            seen.running.retain(|process| !ended || process.id.pid != 40);
        }))
    };
    assert_eq!(again(true), Ok(()));
    assert!(again(false).unwrap_err().contains("the terminal in which `codex`"));
}

#[test]
fn a_program_whose_processes_are_not_known_proves_nothing_in_its_session() {
    let unknown = AgentClient { processes: Vec::new(), terminal: None, session: None, group: None, ..client() };
    let nowhere = AgentClient { place: None, machine: String::new(), ..unknown.clone() };
    for client in [unknown, nowhere] {
        let refused = checked(
            Channel::Mcp,
            std::slice::from_ref(&client),
            Some(terminal_of(300, false, |_| {})),
            Require::Separate,
        );
        assert!(refused.unwrap_err().contains("not known which program"));
        let token = checked(Channel::Cli, &[client], Some(Presence::Token), Require::Separate);
        assert!(token.is_err(), "an agent was in the session");
    }
}

/// In a user namespace of its own, an agent can open a terminal with the number of the person's.
#[test]
fn the_number_of_a_terminal_means_another_one_among_other_users() {
    let place = ProcessPlace { users: 2, ..here() };
    let elsewhere = AgentClient { terminal: Some(2), place: Some(place), ..client() };
    let came = checked(Channel::Mcp, &[elsewhere], Some(terminal_of(300, false, |_| {})), Require::Separate);
    assert_eq!(came, Ok(()));
}

#[test]
fn an_agent_of_another_session_decides_nothing_here() {
    let other = AgentClient { name: "goose".to_owned(), processes: vec![process(45, 600)], terminal: None, ..client() };
    let check = |presence: Presence| {
        let (policy, risks) = (ApprovalPolicy::requiring(Require::Separate), BTreeSet::new());
        let (clients, others) = ([client()], [other.clone()]);
        let check = ApprovalCheck {
            policy: &policy,
            sandbox: AgentSandbox::Restricted,
            channel: Channel::Mcp,
            clients: &clients,
            others: &others,
            silent: &BTreeSet::new(),
            agents_seen: AgentsSeen::Some,
            risks: &risks,
            presence: Some(&presence),
        };
        check.check().map(drop).map_err(|refusal| refusal.message)
    };
    assert_eq!(check(terminal_of(300, false, |_| {})), Ok(()));
    let within = check(terminal_of(300, false, |seen| seen.ancestors.push(process(45, 600))));
    assert!(within.unwrap_err().contains("started by `goose`"));
}

#[test]
fn a_store_without_an_agent_takes_a_process_without_a_terminal() {
    let script = || Presence::terminal(Some(TerminalEvidence { terminal: None, ..window() }));
    assert_eq!(script().as_str(), "none");
    let check = |channel, agents_seen, clients: &[AgentClient], presence: Presence| {
        let (policy, risks) = (ApprovalPolicy::requiring(Require::Separate), BTreeSet::new());
        let (sandbox, presence) = (AgentSandbox::Restricted, Some(&presence));
        let check = ApprovalCheck {
            policy: &policy,
            sandbox,
            channel,
            clients,
            others: &[],
            silent: &BTreeSet::new(),
            agents_seen,
            risks: &risks,
            presence,
        };
        check.check_separate().is_ok()
    };
    assert!(check(Channel::Cli, AgentsSeen::None, &[], script()));
    assert!(check(Channel::Cli, AgentsSeen::None, &[], Presence::terminal(None)), "a system that does not tell");
    assert!(!check(Channel::Cli, AgentsSeen::Some, &[], script()));
    assert!(!check(Channel::Cli, AgentsSeen::None, &[client()], script()));
    assert!(!check(Channel::Mcp, AgentsSeen::None, &[], script()), "the agent of the session is not known");
    let own = Presence::terminal(Some(TerminalEvidence { own_command: true, terminal: None, ..window() }));
    assert!(!check(Channel::Cli, AgentsSeen::None, &[], own), "a command of Planwright's own agent");
}

#[test]
fn what_only_stops_is_open_to_every_terminal_and_to_no_process_of_the_agent() {
    let check = |presence: Presence| {
        let (policy, risks) = (ApprovalPolicy::requiring(Require::Verified), BTreeSet::new());
        let clients = [client()];
        let check = ApprovalCheck {
            policy: &policy,
            sandbox: AgentSandbox::Restricted,
            channel: Channel::Mcp,
            clients: &clients,
            others: &[],
            silent: &BTreeSet::new(),
            agents_seen: AgentsSeen::Some,
            risks: &risks,
            presence: Some(&presence),
        };
        check.check_not_agent().is_ok()
    };
    assert!(check(terminal_of(700, false, |_| {})), "a terminal that is younger than the agent");
    assert!(check(Presence::Token));
    assert!(!check(terminal_of(300, false, |seen| seen.ancestors.push(process(40, 400)))), "the agent's shell");
    assert!(!check(terminal_of(300, false, |seen| seen.terminal = None)), "no terminal");
    assert!(!check(terminal_of(300, false, |seen| seen.own_command = true)));
}

/// Two variables once switched approval off: the cells were stricter, and the top level, which was read alone, was `any`.
#[test]
fn the_strictest_of_a_policy_is_read_from_all_of_it() {
    let rule = |channel, risk, require| ApprovalRule { channel, risk, require, people: None };
    let trick = ApprovalPolicy {
        require: Require::Any,
        rules: vec![
            rule(Some(Channel::Acp), Some(Risk::Network), Require::Verified),
            rule(None, None, Require::Separate),
        ],
        ..ApprovalPolicy::default()
    };
    assert_eq!(trick.strictest(), Require::Verified);
    assert_eq!(trick.strictest_in(Channel::Cli), Require::Separate);
    assert!(trick.is_weaker_than(&ApprovalPolicy::requiring(Require::Separate)), "its top level is weaker");
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
