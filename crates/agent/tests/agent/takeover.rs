//! What a process that ended left undone is taken up by one that stays.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::talk::{Talk as _, Watcher};
use async_trait::async_trait;
use planwright_agent::Agent;
use planwright_agent::session::input::{Approving, ChatLocation, Input, Request};
use planwright_agent::session::progress::Progress;
use planwright_core::event::{Event, PlanEvent, TurnEvent};
use planwright_core::gate::ToolEffect;
use planwright_core::plan::PlanStatus;
use planwright_core::session::{SessionIdentity, TransportChat};
use planwright_engine::feed::{Feed, FeedItem};
use planwright_engine::ledger::{Ledger, LedgerError, LedgerResult};
use planwright_engine::server_beats::{ServerBeat, ServerBeats};
use planwright_llm::scripted::{Reply, ScriptedModel};
use planwright_store::{Location, open_store};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::ledger::SteppedClock;
use crate::process::Process;
use crate::test_tools::{Act, Prop};
use crate::world::{World, person, session, turns};

/// A process that stays, and takes up what it finds until it is stopped.
pub(crate) struct Keeper {
    feed: Feed,
    pub(crate) agent: Agent,
    stop: CancellationToken,
    keeping: tokio::task::JoinHandle<()>,
}

impl Keeper {
    pub(crate) async fn start(world: &World, model: &ScriptedModel) -> Self {
        Self::start_on(world, world.ledger().await, model).await
    }

    /// One that reaches the store in this way.
    async fn start_on(world: &World, store: Arc<dyn Ledger>, model: &ScriptedModel) -> Self {
        let ledger = world.ledger().await;
        let agent = world.setup.clone().owned_by("the keeper").agent(store, model.clone());
        let stop = CancellationToken::new();
        let (keeper, stopping) = (agent.clone(), stop.clone());
        let keeping = tokio::spawn(async move { keeper.take_over(stopping).await });
        Self { feed: Feed::start(ledger), agent, stop, keeping }
    }

    /// Waits until something like this is in the journal.
    pub(crate) async fn sees(&self, session: &SessionIdentity, wanted: impl Fn(&Event) -> bool) {
        let mut follower = self.feed.follow(session, 0).await.unwrap();
        loop {
            match follower.next().await.unwrap() {
                FeedItem::Entry(entry) if wanted(&entry.event) => return,
                FeedItem::Entry(_) => {}
                FeedItem::Gone => panic!("the session is gone"),
            }
        }
    }

    pub(crate) async fn end(self) {
        self.stop.cancel();
        self.keeping.await.unwrap();
    }
}

#[tokio::test]
async fn a_turn_that_was_left_is_finished_without_a_request() {
    let world = World::new([]).await;
    let model = ScriptedModel::new([Reply::hang()]);
    let process = Process::start(&world, &model).await;
    process.send(&world.session, "Hello");
    model.asked(1).await;
    process.die().await;
    let model = ScriptedModel::new([Reply::text("Here I am.")]);
    let keeper = Keeper::start(&world, &model).await;
    keeper.sees(&world.session, |event| matches!(event, Event::Turn { event: TurnEvent::Ended { .. }, .. })).await;
    keeper.end().await;
    assert_eq!(turns(&world.events().await).len(), 1);
    assert_eq!(model.requests().len(), 1);
    world.is_sound().await;
}

/// On the same machine a process is known to be gone: its work does not wait until its lease runs out.
#[tokio::test]
async fn the_work_of_a_process_of_this_machine_that_ended_is_taken_over_at_once() {
    let world = World::with(ScriptedModel::new([]), |setup| {
        setup.options.lease = Duration::from_secs(3_600);
        setup.options.is_gone = |owner| owner == "gone";
    })
    .await;
    let hanging = ScriptedModel::new([Reply::hang()]);
    let gone = world.another(&hanging, "gone").await;
    let begun = gone.submit(Input::typed("Hello"), Request::new(world.place(), person()));
    let model = ScriptedModel::new([Reply::text("Here I am.")]);
    hanging.asked(1).await;
    let keeper = Keeper::start(&world, &model).await;
    keeper.sees(&world.session, |event| matches!(event, Event::Turn { event: TurnEvent::Ended { .. }, .. })).await;
    keeper.end().await;
    drop((begun, gone));
}

/// The heartbeats of a server that may be cut off from the store.
#[derive(Debug)]
struct CutOffBeats {
    inner: Arc<dyn ServerBeats>,
    is_cut_off: AtomicBool,
}

impl CutOffBeats {
    fn check(&self) -> LedgerResult<()> {
        match self.is_cut_off.load(Ordering::Relaxed) {
            true => Err(LedgerError::Unavailable("the server is cut off".to_owned())),
            false => Ok(()),
        }
    }
}

#[async_trait]
impl ServerBeats for CutOffBeats {
    async fn beat(&self, owner: &str, fences: bool) -> LedgerResult<()> {
        self.check()?;
        self.inner.beat(owner, fences).await
    }

    async fn beats(&self) -> LedgerResult<Vec<ServerBeat>> {
        self.check()?;
        self.inner.beats().await
    }

    async fn end_server(&self, last: &ServerBeat) -> LedgerResult<bool> {
        self.check()?;
        self.inner.end_server(last).await
    }

    async fn forget_server(&self, owner: &str) -> LedgerResult<()> {
        self.check()?;
        self.inner.forget_server(owner).await
    }
}

/// A server on another machine stops counting. It ends its own work, and the other one continues it long before the lease runs
/// out.
#[tokio::test]
async fn the_work_of_a_server_that_stops_counting_is_taken_over_before_its_lease_runs_out() {
    let lease = Duration::from_secs(3_600);
    let mut world = World::with(ScriptedModel::new([]), |setup| setup.options.lease = lease).await;
    let store = open_store(&Location::Sqlite(world.setup.database())).await.unwrap();
    world.setup.options.beats = Some(store.beats.clone());
    let model = ScriptedModel::new([Reply::text("Here I am.")]);
    let keeper = Keeper::start(&world, &model).await;
    let beats = Arc::new(CutOffBeats { inner: store.beats.clone(), is_cut_off: AtomicBool::new(false) });
    let mut setup = world.setup.clone().owned_by("elsewhere");
    setup.options.beats = Some(beats.clone());
    let hanging = ScriptedModel::new([Reply::hang()]);
    let elsewhere = setup.agent(world.ledger().await, hanging.clone());
    let (stop, counting) = (CancellationToken::new(), elsewhere.clone());
    let stopping = stop.clone();
    let counting = tokio::spawn(async move { counting.take_over(stopping).await });
    let know_of_each_other = async {
        while store.beats.beats().await.unwrap().iter().filter(|server| server.fences).count() < 2 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), know_of_each_other).await.expect("they count");

    let begun = elsewhere.submit(Input::typed("Hello"), Request::new(world.place(), person()));
    hanging.asked(1).await;
    beats.is_cut_off.store(true, Ordering::Relaxed);
    keeper.sees(&world.session, |event| matches!(event, Event::Turn { event: TurnEvent::Ended { .. }, .. })).await;
    assert_eq!(turns(&world.events().await).len(), 1);
    assert_eq!(model.requests().len(), 1);
    let servers: Vec<_> = store.beats.beats().await.unwrap().into_iter().map(|server| server.owner).collect();
    assert_eq!(servers, ["the keeper"]);
    // The person who asked there is told how the turn ended elsewhere.
    begun.outcome().await.unwrap();
    stop.cancel();
    counting.await.unwrap();
    keeper.end().await;
    assert!(store.beats.beats().await.unwrap().is_empty(), "a server that stops is forgotten");
}

/// Neither does what takes the session without a turn.
#[tokio::test]
async fn an_undo_does_not_wait_for_a_process_of_this_machine_that_ended() {
    let world = World::with(ScriptedModel::new([]), |setup| {
        setup.options.is_gone = |owner| owner == "gone";
    })
    .await;
    world.engine().sessions().open(&world.session, &person()).await.unwrap();
    let ledger = world.ledger().await;
    ledger.acquire_lease(&world.session, "gone", Duration::from_secs(3_600)).await.unwrap().expect("the lease");
    let answer = world.send("/undo chat").await;
    assert!(answer.reply.contains("There is nothing to undo"), "{}", answer.reply);
}

/// No process renews its leases so rarely that one would last for an hour.
#[tokio::test]
async fn a_lease_of_before_the_clock_was_set_back_does_not_last_for_hours() {
    let world = World::new([]).await;
    let ledger = world.ledger().await;
    // What is left of the lease of a process on another machine is an hour by the clock of this one.
    let mut setup = world.setup.clone().owned_by("on another machine");
    setup.options.lease = Duration::from_secs(3_600);
    let hanging = ScriptedModel::new([Reply::hang()]);
    let elsewhere = setup.agent(world.ledger().await, hanging.clone());
    let begun = elsewhere.submit(Input::typed("Hello"), Request::new(world.place(), person()));
    hanging.asked(1).await;
    let lasts_long = async || {
        let owners = ledger.lease_owners(None, Duration::from_secs(600)).await.unwrap();
        owners.iter().any(|owner| owner.is_too_long)
    };
    assert!(lasts_long().await);
    let keeper = Keeper::start(&world, &ScriptedModel::new([])).await;
    let shortened = async {
        while lasts_long().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), shortened).await.expect("the lease is shortened");
    keeper.end().await;
    drop((begun, elsewhere));
}

/// A clock that is set forward makes live leases run out until their processes renew them.
#[tokio::test]
async fn a_clock_that_is_set_forward_ends_no_live_work() {
    let world = World::with(ScriptedModel::new([]), |setup| {
        setup.options.lease = Duration::from_secs(3_600);
        setup.options.is_gone = |owner| owner == "gone";
    })
    .await;
    let hanging = ScriptedModel::new([Reply::hang(), Reply::hang()]);
    let alive = world.another(&hanging, "alive").await;
    let begun = alive.submit(Input::typed("Hello"), Request::new(world.place(), person()));
    let other = session("session-two");
    world.engine().sessions().open(&other, &person()).await.unwrap();
    let gone = world.another(&hanging, "gone").await;
    hanging.asked(1).await;
    let store = SteppedClock::new(world.ledger().await);
    let model = ScriptedModel::new([Reply::text("Here I am.")]);
    let keeper = Keeper::start_on(&world, store.clone(), &model).await;
    store.0.is_read(1).await;
    store.0.set_forward("alive").await;
    // A session that was seen twice is taken over.
    store.0.is_read(4).await;
    let events = world.event_names().await;
    assert!(!events.contains(&"turn_resumed"), "{events:?}");
    // What a process left that is known to have ended does not wait.
    let place = ChatLocation::new(TransportChat("cli:other".to_owned()), other.clone());
    let left = gone.submit(Input::typed("Hello"), Request::new(place, person()));
    hanging.asked(2).await;
    keeper.sees(&other, |event| matches!(event, Event::Turn { event: TurnEvent::Ended { .. }, .. })).await;
    keeper.end().await;
    assert_eq!(model.requests().len(), 1);
    drop((begun, left, alive, gone));
}

/// Neither does an input in another process.
#[tokio::test]
async fn an_input_waits_for_a_lease_that_ran_out_when_the_clock_was_set_forward() {
    let world = World::new([]).await;
    let store = SteppedClock::new(world.ledger().await);
    let agent = world.setup.clone().owned_by("another").agent(store.clone(), ScriptedModel::new([]));
    let (watcher, mut told) = Watcher::new();
    agent.type_text(&world.place(), &person(), "/undo chat", &watcher).await.unwrap();
    let lease = Duration::from_secs(3_600);
    let held = world.engine().ledger().acquire_lease(&world.session, "alive", lease).await.unwrap().unwrap();
    store.0.set_forward("alive").await;
    let place = world.place();
    let answer = tokio::spawn(async move { agent.type_text(&place, &person(), "/undo chat", &watcher).await });
    while told.recv().await.expect("it waits for the process that holds the session") != Progress::WaitingForOthers {}
    assert!(world.engine().ledger().renew_lease(&held, lease).await.unwrap(), "it was not taken");
    world.engine().ledger().release_lease(&held).await.unwrap();
    let answer = answer.await.unwrap().unwrap();
    assert!(answer.reply.contains("There is nothing to undo"), "{}", answer.reply);
}

#[tokio::test]
async fn an_execution_that_was_left_goes_on_and_nothing_is_done_twice() {
    let (first, second) = (Prop::new("first", ToolEffect::ReadsOnly, Act::HangOnce), Prop::changing("second"));
    let reply = Reply::call("second", json!({})).and_call("first", json!({})).and_call("second", json!({"n": 2}));
    let world = World::with(ScriptedModel::new([reply, Reply::call("plan_finalize", json!({}))]), |setup| {
        setup.tool(&first);
        setup.tool(&second);
    })
    .await;
    world.send("/plan on collect").await;
    world.say("Plan it").await;
    let process = Process::start(&world, &ScriptedModel::new([])).await;
    process.approve(&world.session, &world.plan(1).await, Approving::default());
    first.called(1).await;
    process.die().await;
    let keeper = Keeper::start(&world, &ScriptedModel::new([])).await;
    keeper
        .sees(&world.session, |event| matches!(event, Event::Plan { event: PlanEvent::ExecutionFinished { .. }, .. }))
        .await;
    keeper.end().await;
    assert_eq!(world.plan(1).await.status, PlanStatus::Completed);
    assert_eq!((first.calls().len(), second.calls().len()), (2, 2));
    world.is_sound().await;
}

#[tokio::test]
async fn running_work_is_left_alone_and_so_is_work_that_waits_for_a_person() {
    let prop = Prop::new("prop", ToolEffect::Changes, Act::HangOnce);
    let reply = Reply::call("prop", json!({}));
    let world = World::with(ScriptedModel::new([reply, Reply::call("plan_finalize", json!({}))]), |setup| {
        setup.tool(&prop);
    })
    .await;
    world.send("/plan on collect").await;
    world.say("Plan it").await;
    let process = Process::start(&world, &ScriptedModel::new([])).await;
    process.approve(&world.session, &world.plan(1).await, Approving::default());
    prop.called(1).await;
    process.die().await;
    // It is unknown whether this call was made: a person has to decide.
    let keeper = Keeper::start(&world, &ScriptedModel::new([])).await;
    let uncertain = |event: &Event| matches!(event, Event::Plan { event: PlanEvent::StepEnded { .. }, .. });
    keeper.sees(&world.session, uncertain).await;

    let busy = session("session-busy");
    keeper.agent.engine().sessions().open(&busy, &person()).await.unwrap();
    let model = ScriptedModel::new([Reply::text("Slow.").after(Duration::from_millis(2_500))]);
    let slow = world.another(&model, "the slow one").await;
    let outcome = slow.send(&busy, &person(), "Hello", &Watcher::none()).await.unwrap();
    assert_eq!(outcome.reply, "Slow.");
    keeper.end().await;
    let events = crate::world::events(world.engine(), &busy).await;
    assert!(!events.iter().any(|event| matches!(event, Event::Turn { event: TurnEvent::Resumed, .. })), "{events:?}");
    assert_eq!((world.plan(1).await.status, prop.calls().len()), (PlanStatus::Executing, 1));
}

#[tokio::test]
async fn a_rehearsal_does_not_pretend_to_do_what_a_model_was_asked_elsewhere() {
    let world = World::new([]).await;
    let model = ScriptedModel::new([Reply::hang()]);
    let process = Process::start(&world, &model).await;
    process.send(&world.session, "Hello");
    model.asked(1).await;
    process.die().await;
    let rehearsal = Keeper::start(&world, &ScriptedModel::new([]).named("rehearsal")).await;
    let model = ScriptedModel::new([Reply::text("Here I am.")]);
    let keeper = Keeper::start(&world, &model).await;
    keeper.sees(&world.session, |event| matches!(event, Event::Turn { event: TurnEvent::Ended { .. }, .. })).await;
    keeper.end().await;
    rehearsal.end().await;
    world.is_sound().await;
}
