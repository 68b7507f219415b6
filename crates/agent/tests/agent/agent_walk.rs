//! The random walk of `core/tests/core/agent_walk.rs` over the engine and a real store: whatever the agent's processes ask for, in whatever
//! order, no plan is approved, nothing is said as the person, and who may decide stays as it is.

use planwright_agent::tools::PlanTools;
use planwright_core::actor::Actor;
use planwright_core::approval::{ApprovalPolicy, Require};
use planwright_core::memory::NewMemory;
use planwright_core::plan::PlanStyle;
use planwright_core::plan::approval::Selection;
use planwright_core::presence::{
    AgentClient, Presence, ProcessId, ProcessPlace, RunningProcess, Terminal, TerminalEvidence, TerminalHolder,
};
use planwright_core::session::SessionIdentity;
use planwright_engine::Engine;
use planwright_test_support::stores::Store;
use proptest::prelude::*;
use serde_json::json;

/// What a process of the agent asks for, as the person.
#[derive(Debug, Clone, Copy)]
enum Wish {
    Approve,
    Resume,
    Revise,
    TurnPlanWorkOff,
    EndPlanWork,
    SaveMemory,
    /// What concerns the session as a whole, such as to delete it.
    Session,
    /// What concerns the whole store: the policy, the approvers, the settings, a link for a browser.
    Store,
    /// To accept the tools of an MCP server.
    Tools,
}

const WISHES: [Wish; 9] = [
    Wish::Approve,
    Wish::Resume,
    Wish::Revise,
    Wish::TurnPlanWorkOff,
    Wish::EndPlanWork,
    Wish::SaveMemory,
    Wish::Session,
    Wish::Store,
    Wish::Tools,
];

#[derive(Debug, Clone)]
enum Move {
    Wishes(Wish, usize),
    /// The agent writes the plan anew.
    Drafts(u8),
    /// Another program opens the session, or one of its own.
    Appears {
        started: u64,
        numbers: u64,
        in_session: bool,
    },
}

fn process(pid: u32, started: u64) -> ProcessId {
    ProcessId { pid, started }
}

fn client(pid: u32, started: u64, numbers: u64) -> AgentClient {
    AgentClient {
        machine: format!("here/pid:[{numbers}]"),
        name: "codex".to_owned(),
        processes: vec![process(pid, started)],
        terminal: Some(1),
        place: Some(ProcessPlace { boot: "here".to_owned(), numbers, users: 1, time: 1 }),
        session: Some(pid),
        group: None,
        since: None,
        beats: false,
    }
}

/// A terminal of an emulator that started at `opened`. The agent's program is process 40 and started at 400.
fn terminal(opened: u64, change: impl FnOnce(&mut TerminalEvidence)) -> Presence {
    let running = |pid, started, parent| {
        let id = process(pid, started);
        RunningProcess { id, parent, session: pid, terminal: None, group: None, adopts: pid == 1 }
    };
    let mut evidence = TerminalEvidence {
        place: ProcessPlace { boot: "here".to_owned(), numbers: 1, users: 1, time: 1 },
        ancestors: vec![process(51, 910), process(50, 900), process(30, opened), process(1, 1)],
        own_command: false,
        terminal: Some(Terminal { device: 2, holder: Some(TerminalHolder { started: opened, login: false }) }),
        running: vec![running(1, 1, 0), running(30, opened, 1), running(40, 400, 1), running(50, 900, 30)],
    };
    change(&mut evidence);
    Presence::terminal(Some(evidence))
}

/// What is seen of a process that the agent started, or of a request that it sent.
fn presences() -> [Option<Presence>; 6] {
    [
        Some(terminal(300, |seen| seen.ancestors.push(process(40, 400)))),
        Some(terminal(300, |seen| seen.terminal = None)),
        Some(terminal(300, |seen| seen.terminal = Some(Terminal { device: 2, holder: None }))),
        Some(terminal(700, |_| {})),
        Some(Presence::Token),
        None,
    ]
}

fn one_move() -> impl Strategy<Value = Move> {
    let wish = (prop::sample::select(WISHES.to_vec()), 0..presences().len());
    prop_oneof![
        6 => wish.prop_map(|(wish, presence)| Move::Wishes(wish, presence)),
        1 => any::<u8>().prop_map(Move::Drafts),
        1 => (1..900_u64, 1..3_u64, any::<bool>())
            .prop_map(|(started, numbers, in_session)| Move::Appears { started, numbers, in_session }),
    ]
}

fn person() -> Actor {
    Actor::person("ada", "cli")
}

fn system() -> Actor {
    Actor::system("mcp")
}

/// A session beside it, with a plan that is approved and waits to be continued.
const APPROVED: &str = "mcp:approved1";

async fn approved_elsewhere(engine: &Engine) {
    let session: SessionIdentity = APPROVED.parse().unwrap();
    engine.sessions().open(&session, &person()).await.unwrap();
    engine.sessions().enable_plan_mode(&session, &person(), PlanStyle::Document).await.unwrap();
    draft(engine, &session, 0).await;
    let plan = engine.plans().active(&session).await.unwrap();
    let (by, all) = (person().recognised(terminal(300, |_| {})), Selection::All);
    engine.plans().approve(&session, &by, &plan.id, plan.digest(), all, None).await.unwrap();
}

/// A session with a plan that waits, in which the program of an agent was seen.
async fn session_of_agent(store: &Store, require: Require, program: AgentClient) -> (Engine, SessionIdentity) {
    let engine = store.engine().await;
    let session: SessionIdentity = "mcp:k3yk3y8x".parse().unwrap();
    engine.sessions().open(&session, &person()).await.unwrap();
    engine.sessions().enable_plan_mode(&session, &person(), PlanStyle::Document).await.unwrap();
    approved_elsewhere(&engine).await;
    let approved: SessionIdentity = APPROVED.parse().unwrap();
    engine.sessions().see_client(&approved, &system(), program.clone()).await.unwrap();
    engine.sessions().see_client(&session, &system(), program).await.unwrap();
    engine.approvals().set_policy(&person(), &ApprovalPolicy::requiring(require), None).await.unwrap();
    // An act that is no approval takes a policy that was read within the last second.
    engine.approvals().policy().await.unwrap();
    draft(&engine, &session, 0).await;
    (engine, session)
}

async fn draft(engine: &Engine, session: &SessionIdentity, n: u8) {
    let arguments = json!({ "plan_markdown": format!("- [ ] step {n}\n") }).as_object().cloned().unwrap();
    let agent = Actor::agent("coder", "mcp");
    PlanTools::new(engine).call(session, &agent, "plan_set_content", arguments).await.unwrap();
}

/// Whether the engine does it.
async fn is_done(engine: &Engine, session: &SessionIdentity, wish: Wish, by: &Actor) -> bool {
    let plan = engine.plans().active(session).await.unwrap();
    match wish {
        Wish::Approve => {
            let approved = engine.plans().approve(session, by, &plan.id, plan.digest(), Selection::All, None).await;
            approved.is_ok()
        }
        // Planwright does not continue a plan that is not approved, whoever asks.
        Wish::Resume => {
            let session: SessionIdentity = APPROVED.parse().unwrap();
            let plan = engine.plans().active(&session).await.unwrap();
            engine.plans().resume(&session, by, &plan.id).await.is_ok()
        }
        Wish::Revise => engine.plans().revise(session, by, &plan.id, "shorter".to_owned()).await.is_ok(),
        Wish::TurnPlanWorkOff => engine.sessions().disable_plan_mode(session, by).await.is_ok(),
        Wish::EndPlanWork => engine.sessions().finish_plan_work(session, by).await.is_ok(),
        Wish::SaveMemory => engine.memories().save(session, by, NewMemory::by_person("words")).await.is_ok(),
        Wish::Session => engine.approvals().check_separate_in(by, session).await.is_ok(),
        Wish::Store => engine.approvals().check_separate(by).await.is_ok(),
        Wish::Tools => {
            let server = "tracker".parse().unwrap();
            engine.approvals().check_acceptance(by, &server, plan.digest()).await.is_ok()
        }
    }
}

/// The first move that got what it wanted, if there is one.
async fn walk(require: Require, moves: &[Move]) -> Option<Move> {
    let store = Store::sqlite();
    let (engine, session) = session_of_agent(&store, require, client(40, 400, 1)).await;
    let before = engine.approvals().state().await.unwrap();
    for (one, number) in moves.iter().zip(0_u32..) {
        match one {
            Move::Wishes(wish, presence) => {
                let by = Actor { presence: presences()[*presence].clone(), ..person() };
                if is_done(&engine, &session, *wish, &by).await {
                    return Some(one.clone());
                }
            }
            Move::Drafts(n) => draft(&engine, &session, *n).await,
            Move::Appears { started, numbers, in_session } => {
                let own: SessionIdentity = format!("mcp:other-{number:04}").parse().unwrap();
                let session = if *in_session { &session } else { &own };
                engine.sessions().open(session, &system()).await.unwrap();
                let program = client(1000 + number, *started, *numbers);
                engine.sessions().see_client(session, &system(), program).await.unwrap();
            }
        }
    }
    let after = engine.approvals().state().await.unwrap();
    assert_eq!((after.policy, after.approvers, after.settings), (before.policy, before.approvers, before.settings));
    None
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_sequence_of_an_agents_acts_gets_what_a_person_gets(
        require in prop::sample::select(vec![Require::Separate, Require::Verified]),
        moves in prop::collection::vec(one_move(), 1..30),
    ) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let passed = runtime.block_on(walk(require, &moves));
        prop_assert!(passed.is_none(), "{passed:?}");
    }
}

/// The same asked from a terminal that is older than the agent: there a person gets it.
#[tokio::test(flavor = "multi_thread")]
async fn a_person_gets_it() {
    let store = Store::sqlite();
    let (engine, session) = session_of_agent(&store, Require::Separate, client(40, 400, 1)).await;
    let at_terminal = person().recognised(terminal(300, |_| {}));
    for wish in [Wish::Store, Wish::Session, Wish::Tools, Wish::SaveMemory, Wish::Revise] {
        assert!(is_done(&engine, &session, wish, &at_terminal).await, "{wish:?}");
    }
    draft(&engine, &session, 1).await;
    for wish in [Wish::Approve, Wish::Resume, Wish::TurnPlanWorkOff] {
        assert!(is_done(&engine, &session, wish, &at_terminal).await, "{wish:?}");
    }
}

/// An agent whose programs are not known, such as one of another user, reads the token like any other.
#[tokio::test(flavor = "multi_thread")]
async fn the_token_is_no_person_where_only_an_unknown_agent_was_seen() {
    let store = Store::sqlite();
    let unknown = AgentClient { processes: Vec::new(), place: None, session: None, ..client(40, 400, 1) };
    let (engine, session) = session_of_agent(&store, Require::Separate, unknown).await;
    let with_token = person().recognised(Presence::Token);
    for wish in [Wish::Store, Wish::Tools, Wish::Approve] {
        assert!(!is_done(&engine, &session, wish, &with_token).await, "{wish:?}");
    }
}
