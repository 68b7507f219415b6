//! One run: people and fate act, processes come and go, and in the end the dust settles.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use crate::talk::{Talk as _, Watcher};
use planwright_agent::session::input::{ChatLocation, Input, Request};
use planwright_agent::toolbox::files::{FileLimits, FileTools};
use planwright_agent::{Agent, AgentOptions};
use planwright_core::actor::Actor;
use planwright_core::command::Command;
use planwright_core::session::{SessionIdentity, TransportChat};
use planwright_engine::Engine;
use planwright_engine::ledger::LedgerError;
use planwright_test_support::clock::NumberedIds;
use planwright_test_support::forwarding::Forwarding;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::acts::{self, Act};
use crate::answers::Asked;
use crate::checks;
use crate::files;
use crate::ledger::ProcessLedger;
use crate::model::RandomModel;
use crate::process::{self, Process};
use crate::random::Dice;
use crate::sabotage::Sabotage;
use crate::store::Store;
use crate::tools::toolbox;
use crate::world::{FILES, Occurrence, World, mark, session};

/// Everything a run depends on.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    pub(crate) seed: u64,
    /// The numbers of the acts that are done.
    pub(crate) acts: Vec<u64>,
    pub(crate) sabotage: Option<Sabotage>,
}

#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) wrong: Vec<String>,
    pub(crate) tally: checks::Tally,
    /// Everything that happened and everything that was written, line by line.
    pub(crate) trace: Vec<String>,
}

/// Longer than anything may take.
const FOR_EVER: Duration = Duration::from_secs(4 * 60 * 60);

pub(crate) fn run(script: &Script) -> Report {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    process::clear_dead_processes();
    runtime.block_on(async {
        let mut stage = Stage::new(script).await;
        stage.play(&script.acts).await;
        stage.settle().await;
        stage.report().await
    })
}

struct Stage {
    world: Arc<World>,
    store: Arc<Store>,
    slots: Vec<Slot>,
    waiting: Vec<JoinHandle<()>>,
    /// Where the sessions' files are.
    users: Arc<Users>,
}

/// A place where one process runs after another.
struct Slot {
    number: usize,
    started: u32,
    running: Option<(Arc<Process>, Agent)>,
    users: Arc<Users>,
}

impl Stage {
    async fn new(script: &Script) -> Self {
        let world = World::new(Dice::new(script.seed), script.sabotage);
        let store = Store::new(&world);
        let count = usize::try_from(world.conditions.processes).unwrap();
        let users = Arc::new(Users::empty());
        let slot = |number| Slot { number, started: 0, running: None, users: Arc::clone(&users) };
        let slots = (1..=count).map(slot).collect();
        let mut first = slot(0);
        let (_, agent) = first.process(&world, &store);
        for number in (0..world.conditions.sessions).chain([FILES]) {
            agent.engine().sessions().open(&session(number), &person()).await.unwrap();
        }
        world.calm.store(false, Relaxed);
        Self { world, store, slots, waiting: Vec::new(), users }
    }

    async fn play(&mut self, acts: &[u64]) {
        for number in acts {
            let mut random = self.world.dice.on(format_args!("act {number}"));
            let max_pause = u64::try_from(self.world.conditions.max_pause.as_millis()).unwrap();
            sleep(random.millis(0, max_pause)).await;
            if !self.world.all_wrong().is_empty() {
                return;
            }
            let slot = usize::try_from(random.below(self.slots.len() as u64)).unwrap();
            let act = acts::choose(&self.world, &self.store, &mut random);
            self.world.happened(Occurrence::Act(format!("{number} at {}: {act:?}", slot + 1)));
            self.perform(slot, act);
        }
    }

    fn perform(&mut self, slot: usize, act: Act) {
        let (process, agent) = self.slots[slot].process(&self.world, &self.store);
        match act {
            Act::Type { session, text, leaves, gives_up_after } => {
                let from = self.store.lock().kept(&session).unwrap().head.seq;
                let asked = Asked { session, text, leaves, from };
                let store = Arc::clone(&self.store);
                self.wait_for(&process, async move {
                    let place = place(&asked.session);
                    let (watcher, mut heard) = Watcher::new();
                    let person = person();
                    let typing = agent.type_text(&place, &person, &asked.text, &watcher);
                    let Ok(answer) = timeout(gives_up_after.unwrap_or(FOR_EVER), typing).await else {
                        return asked.was_given_up(&store, gives_up_after);
                    };
                    let told: Vec<_> = std::iter::from_fn(|| heard.try_recv().ok()).collect();
                    asked.check(&store, &answer, &told);
                });
            }
            Act::Settle { session, decision } => self.wait_for(&process, async move {
                let _ = agent.engine().submit(&session, &person(), Command::Decide(decision)).await;
            }),
            Act::GoOn { session } => {
                let world = Arc::clone(&self.world);
                self.wait_for(&process, async move { go_on(&world, &agent, &session).await });
            }
            Act::Delete { session } => {
                let store = Arc::clone(&self.store);
                self.wait_for(&process, async move {
                    let deleted = agent.delete(&session, &person()).await;
                    let state = store.lock();
                    let left =
                        state.kept(&session).is_ok() || state.pointers.values().flatten().any(|to| *to == session);
                    match deleted {
                        Ok(()) if left => store.world.wrong(format!("{session} is deleted, and still there")),
                        Ok(()) => drop(store.world.happened(Occurrence::Deleted { session })),
                        Err(_) => {}
                    }
                });
            }
            Act::StopHere { session } => self.wait_for(&process, async move { agent.stop_here(&session).await }),
            Act::Fire { session } => self.wait_for(&process, async move {
                let request = Request::new(place(&session), Actor::system("cli"));
                let _ = agent.submit(Input::FireSchedules, request).outcome().await;
            }),
            Act::Kill => process.kill(),
            Act::FallAsleep(time) => process.fall_asleep(time),
            Act::Jump { millis } => self.world.clock.jump(millis),
        }
    }

    fn wait_for(&mut self, process: &Process, work: impl Future<Output = ()> + Send + 'static) {
        let task = tokio::spawn(work);
        process.is_waited_for(task.abort_handle());
        self.waiting.push(task);
    }

    /// Every client gets an answer or its process is dead; then one more process continues what was left.
    async fn settle(&mut self) {
        for task in std::mem::take(&mut self.waiting) {
            match timeout(FOR_EVER, task).await {
                Err(_) => self.world.wrong("a client waits for ever"),
                Ok(Err(broken)) if broken.is_panic() => self.world.wrong(format!("a check broke: {broken}")),
                Ok(_) => {}
            }
        }
        self.world.calm.store(true, Relaxed);
        // Work that no client waits for ends, or is broken off as well.
        if self.world.dice.on(format_args!("the end")).coin() {
            sleep(FOR_EVER).await;
        }
        self.slots.iter().filter_map(|slot| slot.running.as_ref()).for_each(|(process, _)| process.kill());
        let mut last = Slot { number: 9, started: 0, running: None, users: Arc::clone(&self.users) };
        let (_, agent) = last.process(&self.world, &self.store);
        for number in (0..self.world.conditions.sessions).chain([FILES]) {
            let (world, session) = (Arc::clone(&self.world), session(number));
            if timeout(FOR_EVER, go_on(&world, &agent, &session)).await.is_err() {
                self.world.wrong(format!("the work left in {session} never ends"));
            }
        }
        self.slots.push(last);
    }

    async fn report(mut self) -> Report {
        let mut last = self.slots.pop().unwrap();
        let (_, agent) = last.process(&self.world, &self.store);
        let verified = agent.engine().verifier().verify_all(|_| {}).await;
        if !verified.as_ref().is_ok_and(|report| report.is_whole()) {
            self.world.wrong(format!("the journal is not whole: {verified:?}"));
        }
        let mut tally = checks::check(&self.world, &self.store);
        files::check(&self.store, &self.users.0, &mut tally);
        let mut trace = vec![format!("{:?}", self.world.conditions)];
        let state = self.store.lock();
        for (at, occurrence) in self.world.record() {
            let names = match &occurrence {
                Occurrence::Wrote { session, first, last, .. } => {
                    let entries = &state.ever_kept(session).unwrap().entries;
                    let written = (*first..=*last).filter_map(|seq| entries.get(seq as usize - 1));
                    written.map(|entry| entry.event.name()).collect::<Vec<_>>().join(" ")
                }
                _ => String::new(),
            };
            trace.push(format!("{at:>8} {occurrence:?} {names}"));
        }
        for kept in state.sessions.values() {
            trace.extend(kept.sealed.iter().map(|entry| entry.body.clone()));
        }
        drop(state);
        Report { wrong: self.world.all_wrong(), tally, trace }
    }
}

/// The folder of all sessions' files, with a name that two runs of one seed have in common.
struct Users(PathBuf);

impl Users {
    fn empty() -> Self {
        let name = format!("planwright-simulation-{}-{:?}", std::process::id(), std::thread::current().id());
        let users = Self(std::env::temp_dir().join(name));
        let _ = std::fs::remove_dir_all(&users.0);
        users
    }
}

impl Drop for Users {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Slot {
    /// The process that runs here; a dead one is started again.
    fn process(&mut self, world: &Arc<World>, store: &Arc<Store>) -> (Arc<Process>, Agent) {
        if let Some((process, agent)) = self.running.as_ref().filter(|(process, _)| !process.is_dead()) {
            return (Arc::clone(process), agent.clone());
        }
        self.started += 1;
        let process = Process::start(format!("p{}.{}", self.number, self.started), world);
        let agent = agent(&process, store, &self.users.0);
        self.running = Some((Arc::clone(&process), agent.clone()));
        (process, agent)
    }
}

fn agent(process: &Arc<Process>, store: &Arc<Store>, users: &Path) -> Agent {
    let conditions = &process.world.conditions;
    let ledger = Arc::new(Forwarding(ProcessLedger::new(process, store)));
    let engine = Engine::new(ledger, conditions.policy.clone())
        .with_clock(process.world.clock.clone(), NumberedIds::of(&process.owner))
        .without_workbook_folders();
    // Threads of their own could not be ordered by a seed.
    let files = FileTools::on_one_thread(users.to_owned(), FileLimits::default());
    let is_gone: fn(&str) -> bool = if conditions.deaths_are_seen { process::is_gone } else { |_| false };
    let options = AgentOptions { lease: conditions.lease, is_gone, ..AgentOptions::new(process.owner.clone()) };
    Agent::new(engine, Arc::new(RandomModel::new(process)), files, toolbox(process), options)
}

/// What a surface does when it opens a session: it continues an interrupted turn, and an interrupted execution.
async fn go_on(world: &World, agent: &Agent, session: &SessionIdentity) {
    // No more plans than this are carried out in one session.
    for _ in 0..50 {
        let turn = agent.resume(session, &Watcher::none()).await.map(|outcome| outcome.is_some());
        let plan = agent.resume_plan(&place(session), &person(), &Watcher::none()).await;
        match (turn, plan.map(|answer| answer.is_some())) {
            (Ok(false), Ok(false)) => return,
            (Ok(_), Ok(_)) => {}
            (turn, plan) => {
                let unexpected = |outcome: &Result<bool, LedgerError>| match outcome {
                    Ok(_) => false,
                    // Others may come in between, or the store may be away, but not once everything is calm.
                    Err(LedgerError::Refused(_) | LedgerError::Unavailable(_)) => world.is_calm(),
                    Err(_) => true,
                };
                if unexpected(&turn) || unexpected(&plan) {
                    world.wrong(format!("{session} could not be gone on with: {turn:?}, {plan:?}"));
                }
                return;
            }
        }
    }
    world.wrong(format!("{session} is gone on with again and again"));
}

fn place(session: &SessionIdentity) -> ChatLocation {
    ChatLocation::new(TransportChat(format!("simulation:{}", mark(session))), session.clone())
}

fn person() -> Actor {
    Actor::person("Ada", "cli")
}
