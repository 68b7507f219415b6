//! Whatever an agent's processes do, in whatever order: they decide nothing, switch nothing and say nothing as the person.

use planwright_core::actor::Actor;
use planwright_core::approval::{AgentsSeen, ApprovalPolicy, Require};
use planwright_core::command::{Command, SessionCommand};
use planwright_core::door::Guard;
use planwright_core::event::Event;
use planwright_core::plan::PlanStyle;
use planwright_core::policy::{Policy, StandingApproval};
use planwright_core::presence::{AgentClient, Presence, ProcessPlace, Terminal};
use planwright_core::refusal::RefusalCode;
use proptest::prelude::*;

use crate::presence::{client, process, terminal_of};
use crate::properties::act;
use crate::world::*;

/// One act of an agent's process.
#[derive(Debug, Clone)]
enum Move {
    /// A random command that claims to be a person's, from a process of this kind.
    Claims(crate::properties::Act, usize),
    /// The same as the agent itself.
    Acts(crate::properties::Act),
    /// Another program begins to use the session: younger, older, of another machine or in namespaces of its own.
    Appears(AgentClient),
}

/// What can be seen of a process that the agent started, or of a request that it sent.
fn presences() -> Vec<Option<Presence>> {
    let agent = process(40, 400);
    vec![
        Some(terminal_of(300, false, |seen| seen.ancestors.push(agent))),
        Some(terminal_of(300, false, |seen| seen.terminal = None)),
        Some(terminal_of(300, false, |seen| seen.terminal = Some(Terminal { device: 1, holder: None }))),
        Some(terminal_of(700, false, |_| {})),
        Some(terminal_of(700, true, |seen| seen.place.numbers = 7)),
        Some(terminal_of(300, false, |seen| seen.place = elsewhere())),
        Some(terminal_of(300, false, |seen| seen.own_command = true)),
        Some(Presence::terminal(None)),
        Some(Presence::Token),
        None,
    ]
}

fn elsewhere() -> ProcessPlace {
    ProcessPlace { boot: "elsewhere".to_owned(), numbers: 9, users: 9, time: 9 }
}

fn other_client() -> impl Strategy<Value = AgentClient> {
    (0..4_u8, 1..900_u64, any::<bool>()).prop_map(|(kind, started, in_place)| {
        let place = ProcessPlace { numbers: u64::from(kind) + 1, ..client().place.unwrap() };
        AgentClient {
            machine: format!("machine-{kind}"),
            processes: vec![process(900, started)],
            place: in_place.then_some(place),
            ..client()
        }
    })
}

fn step() -> impl Strategy<Value = Move> {
    prop_oneof![
        6 => (act(), 0..presences().len()).prop_map(|(act, presence)| Move::Claims(act, presence)),
        4 => act().prop_map(Move::Acts),
        1 => other_client().prop_map(Move::Appears),
    ]
}

/// A session that an agent of another program uses. The person has turned plan work on and has seen the agent begin.
fn stage(style: PlanStyle, require: Require) -> World {
    let mut world = World::unopened("mcp:k3yk3y8x");
    world.policy = Policy { standing_approval: StandingApproval::Off, ..Policy::default() };
    world.person(open()).unwrap();
    world.person(on(style)).unwrap();
    world.send(Actor::system("mcp"), Command::Session(SessionCommand::SeeClient(client()))).unwrap();
    world.policy.approval = ApprovalPolicy::requiring(require);
    world.policy.agents_seen = AgentsSeen::Some;
    world
}

fn begins_work(event: &Event) -> bool {
    matches!(
        event.name(),
        "plan_approved" | "execution_started" | "execution_resumed" | "permission_answered" | "run_started"
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_sequence_of_an_agents_acts_decides_anything(
        style in prop::sample::select(PlanStyle::ALL.to_vec()),
        require in prop::sample::select(vec![Require::Separate, Require::Verified]),
        moves in prop::collection::vec(step(), 1..60),
    ) {
        let mut world = stage(style, require);
        for one in &moves {
            let known = world.snapshot.session.as_ref().unwrap().clients.clone();
            let mode = world.snapshot.session.as_ref().unwrap().plan_mode.clone();
            match one {
                Move::Appears(client) => {
                    let seen = Command::Session(SessionCommand::SeeClient(client.clone()));
                    let _ = world.send(Actor::system("mcp"), seen);
                }
                Move::Acts(act) => {
                    let (_, command) = act.on(&world);
                    let events = world.send(Actor::agent("coder", "mcp"), command).unwrap_or_default();
                    prop_assert!(!events.iter().any(begins_work), "{:?}", events);
                }
                Move::Claims(act, presence) => {
                    let (_, command) = act.on(&world);
                    let by = Actor { presence: presences().swap_remove(*presence), ..Actor::person("ada", "cli") };
                    let guard = command.guard();
                    let decided = world.send(by, command);
                    prop_assert!(!decided.iter().flatten().any(begins_work), "{:?}", decided);
                    if guard >= Guard::Person {
                        let refused = decided.err().map(|refusal| refusal.code);
                        prop_assert!(refused.is_some(), "it passed: {:?}", one);
                        // What a command could not do in any case may be refused for that.
                        prop_assert!(guard == Guard::Approval || refused == Some(RefusalCode::PolicyDenied), "{:?}", refused);
                        let now = &world.snapshot.session.as_ref().unwrap().plan_mode;
                        prop_assert_eq!(&now.enabled, &mode.enabled);
                    }
                }
            }
            let now = &world.snapshot.session.as_ref().unwrap().clients;
            prop_assert!(now.starts_with(&known), "a record was replaced");
        }
    }
}
