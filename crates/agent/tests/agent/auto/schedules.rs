//! Due schedules, taken by exactly one of several processes and served fairly.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::future::join_all;
use planwright_agent::Agent;
use planwright_core::auto::{AutoCommand, NewSchedule, RunEnd, RunState, RunTrigger, ScheduleStatus};
use planwright_core::event::{AutoEvent, Event};
use planwright_llm::scripted::{Reply, ScriptedModel};
use planwright_test_support::clock::TestClock;
use planwright_test_support::talk::{Talk as _, Watcher};
use tokio_util::sync::CancellationToken;

use super::{diligent, state};
use crate::world::{World, events, person, session};

/// A server that starts due runs until it is dropped.
struct Server {
    agent: Agent,
    stop: CancellationToken,
}

impl Server {
    async fn start(world: &World, model: &ScriptedModel, owner: &str) -> Self {
        let agent = world.another(model, owner).await;
        let stop = CancellationToken::new();
        let (serving, stopping) = (agent.clone(), stop.clone());
        tokio::spawn(async move { serving.run_schedules(stopping).await });
        Self { agent, stop }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// A page that lists the runs looks for interrupted ones while others begin.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_was_just_started_is_not_interrupted_by_a_look_at_the_runs() {
    let world = World::with(ScriptedModel::answering(|_| Reply::text("Read.")), |setup| {
        setup.policy.auto.run.turns = Some(1);
    })
    .await;
    world.send("/task add read the news").await;
    for number in 0..40 {
        let looks = CancellationToken::new();
        let looking = tokio::spawn({
            let (agent, one, looks) = (world.agent.clone(), world.session.clone(), looks.clone());
            async move {
                while !looks.is_cancelled() {
                    agent.note_interrupted_runs(&one).await.unwrap();
                }
            }
        });
        world.send("/auto on").await;
        looks.cancel();
        looking.await.unwrap();
        let runs = state(world.engine(), &world.session).await.runs;
        let states: Vec<_> = runs.iter().map(|run| run.state.name()).collect();
        assert!(!states.contains(&"interrupted"), "run {number}: {states:?}");
        world.send("/auto off").await;
    }
}

#[tokio::test]
async fn a_due_schedule_starts_a_run_and_missed_windows_are_joined() {
    let clock = TestClock::stopped();
    let world = World::with(diligent(), |setup| setup.clock = Some(clock.clone())).await;
    world.send("/schedule add 0 * * * * max=2 Read the news").await;
    let _server = Server::start(&world, &world.model, "the server").await;
    // Five windows pass while no process looks.
    clock.advance(Duration::from_secs(5 * 3_600 + 60));
    let run = world.until_run(1, |run| !run.is_open()).await;
    assert!(matches!(run.trigger, RunTrigger::Schedule { .. }));
    assert!(matches!(run.state, RunState::Ended { end: RunEnd::Completed, .. }));
    let fired = world.events().await.iter().find_map(|event| match event {
        Event::Auto(AutoEvent::ScheduleFired { joined, .. }) => Some(*joined),
        _ => None,
    });
    assert_eq!(fired, Some(4));
    assert_eq!(world.auto().await.runs.len(), 1);
    clock.advance(Duration::from_secs(3_600));
    world.until_run(2, |run| !run.is_open()).await;
    let state = world.auto().await;
    assert_eq!((state.schedules[0].executions, state.schedules[0].status), (2, ScheduleStatus::Ended));
    world.is_sound().await;
}

#[tokio::test]
async fn several_servers_start_each_due_run_once_and_serve_all() {
    const SESSIONS: usize = 60;
    let clock = TestClock::stopped();
    let world = World::with(diligent(), |setup| setup.clock = Some(clock.clone())).await;
    let mut sessions = Vec::new();
    for number in 0..SESSIONS {
        let one = session(&format!("session-{number:04}"));
        world.engine().sessions().open(&one, &person()).await.unwrap();
        let mut place = world.place();
        place.session = one.clone();
        world
            .agent
            .type_text(&place, &person(), "/schedule add 0 * * * * max=1 Read the news", &Watcher::none())
            .await
            .unwrap();
        sessions.push(one);
    }
    let servers = [
        Server::start(&world, &world.model, "server one").await,
        Server::start(&world, &world.model, "server two").await,
        Server::start(&world, &world.model, "server three").await,
    ];
    // All of them are due in the same second.
    clock.advance(Duration::from_secs(3_660));
    let mut drivers = BTreeMap::<String, usize>::new();
    for one in &sessions {
        loop {
            let state = state(world.engine(), one).await;
            if let [run] = state.runs.as_slice()
                && !run.is_open()
            {
                *drivers.entry(run.driver.clone()).or_default() += 1;
                break;
            }
            assert!(state.runs.len() <= 1);
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let fired = events(world.engine(), one).await;
        assert_eq!(fired.iter().filter(|event| event.name() == "schedule_fired").count(), 1);
    }
    assert_eq!(drivers.values().sum::<usize>(), SESSIONS);
    assert!(servers.iter().all(|server| sessions.iter().all(|one| !server.agent.drives(one))));
    world.is_sound().await;
}

/// Every session is served, none twice, and the longest due first. With `PLANWRIGHT_MANY_SESSIONS=10000` there are ten thousand,
/// which takes minutes without optimisation.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_sessions_with_runs_due_in_the_same_second_are_served_fairly_and_none_twice() {
    let many = std::env::var("PLANWRIGHT_MANY_SESSIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(1_000);
    /// So many are made at once.
    const AT_ONCE: usize = 256;
    let clock = TestClock::stopped();
    let model = ScriptedModel::answering(|_| Reply::text("Read."));
    let world = World::with(model, |setup| {
        setup.clock = Some(clock.clone());
        setup.policy.auto.run.turns = Some(1);
    })
    .await;
    let sessions: Vec<_> = (0..many).map(|number| session(&format!("session-{number:05}"))).collect();
    // The last ones are due a minute earlier than the others.
    let early = |number: usize| number >= many - AT_ONCE;
    for (chunk, some) in sessions.chunks(AT_ONCE).enumerate() {
        let make = some.iter().enumerate().map(|(number, one)| {
            let minute = if early(chunk * AT_ONCE + number) { 59 } else { 0 };
            let engine = world.engine();
            async move {
                engine.sessions().open(one, &person()).await.unwrap();
                let new = NewSchedule {
                    expression: format!("{minute} * * * *"),
                    zone: None,
                    title: "Read the news".to_owned(),
                    goal: None,
                    max_executions: Some(1),
                };
                engine.auto().schedule(one, &person(), AutoCommand::AddSchedule(new)).await.unwrap();
            }
        });
        join_all(make).await;
    }
    clock.advance(Duration::from_secs(3_660));
    let server = Server::start(&world, &world.model, "the server").await;
    let asked = || world.model.requests().len();
    let served = tokio::time::timeout(Duration::from_secs(540), world.model.asked(many)).await;
    served.unwrap_or_else(|_| panic!("only {} were served", asked()));
    for one in &sessions {
        let run = async {
            loop {
                let state = state(world.engine(), one).await;
                assert!(state.runs.len() <= 1, "{one} has two runs");
                match state.runs.as_slice() {
                    [run] if !run.is_running() => return run.clone(),
                    _ => tokio::time::sleep(Duration::from_millis(5)).await,
                }
            }
        };
        let run = tokio::time::timeout(Duration::from_secs(60), run).await.unwrap_or_else(|_| panic!("{one} waits"));
        assert_eq!(run.spent.turns, 1, "{one}");
    }
    assert_eq!(asked(), many, "each is served once");
    assert!(sessions.iter().all(|one| !server.agent.drives(one)));
    let first: Vec<_> = fired_in_order(&world).into_iter().take(AT_ONCE).collect();
    let late = first.iter().filter(|name| !sessions[many - AT_ONCE..].iter().any(|one| one.to_string() == **name));
    let late = late.count();
    assert!(late < AT_ONCE / 2, "the longest due come first, and {late} others are among the first {AT_ONCE}");
}

/// The sessions in the order in which their schedules were fired.
fn fired_in_order(world: &World) -> Vec<String> {
    let store = planwright_test_support::stores::raw(&world.setup.database());
    let sql = "SELECT session.channel || ':' || session.conversation FROM journal
               JOIN session ON session.id = journal.session_id
               WHERE journal.body LIKE '%\"type\":\"schedule_fired\"%' ORDER BY journal.id";
    let mut statement = store.prepare(sql).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}
