//! What is done to the servers, their disk and their store: a schedule that follows from the seed, and its execution.

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::task::JoinSet;

use crate::history::{Attempt, Recorder};
use crate::http;
use crate::seed::Random;
use crate::server::{LEASE, Log, SERVERS, Server};
use crate::stores::{Disk, FullDisk, Store, StoreKind};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// SIGKILL, and a start after a while.
    Kill {
        server: usize,
    },
    /// SIGTERM, and a start after a while.
    Terminate {
        server: usize,
    },
    /// SIGSTOP, and SIGCONT when the lease has run out.
    Freeze {
        server: usize,
    },
    /// The server runs with a log that cannot be written.
    Log {
        server: usize,
        log: Log,
    },
    FullDisk,
    /// SIGQUIT for PostgreSQL, and a start after a while.
    RestartStore,
    /// PostgreSQL is killed, and its standby takes over. The second time there is none, and it is started again.
    PromoteStandby,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Planned {
    at: Duration,
    lasts: Duration,
    pub(crate) fault: Fault,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Schedule(pub(crate) Vec<Planned>);

impl Schedule {
    /// Each kind of fault once, in any order, and then any of them until the time is over.
    pub(crate) fn new(seed: u64, store: StoreKind, lasts: Duration) -> Self {
        let mut random = Random::new(seed, ("faults", store));
        let mut kinds = vec![0, 1, 2, 3, 4];
        if store == StoreKind::Postgres {
            kinds.extend([5, 6]);
        }
        random.shuffle(&mut kinds);
        // In longer rounds faults come often enough to meet each other.
        let gap = (lasts.as_millis() as u64 / (kinds.len() as u64 + 1)).min(2500);
        let mut at = gap / 2;
        let mut planned = Vec::new();
        let mut next = kinds.clone().into_iter();
        while at < lasts.as_millis() as u64 {
            let kind = next.next().unwrap_or_else(|| *random.pick(&kinds));
            let fault = fault(kind, &mut random);
            let lasts = match fault {
                Fault::Freeze { .. } => LEASE.as_millis() as u64 + random.between(500, 1500),
                Fault::Log { .. } | Fault::FullDisk => random.between(800, 1600),
                Fault::Kill { .. } | Fault::Terminate { .. } | Fault::RestartStore | Fault::PromoteStandby => {
                    random.between(50, 800)
                }
            };
            planned.push(Planned { at: Duration::from_millis(at), lasts: Duration::from_millis(lasts), fault });
            at += random.between(gap * 3 / 4, gap * 5 / 4);
        }
        Self(planned)
    }
}

fn fault(kind: u32, random: &mut Random) -> Fault {
    let server = random.below(SERVERS as u64) as usize;
    match kind {
        0 => Fault::Kill { server },
        1 => Fault::Terminate { server },
        2 => Fault::Freeze { server },
        3 => Fault::Log { server, log: *random.pick(&[Log::Closed, Log::Full, Log::Stalled]) },
        4 => Fault::FullDisk,
        5 => Fault::RestartStore,
        _ => Fault::PromoteStandby,
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for planned in &self.0 {
            let (at, lasts) = (planned.at.as_secs_f32(), planned.lasts.as_secs_f32());
            writeln!(f, "  at {at:5.1} s for {lasts:3.1} s: {:?}", planned.fault)?;
        }
        Ok(())
    }
}

/// Everything that faults act on. A server that a fault acts on is locked, so that the next one waits.
#[derive(Debug)]
pub(crate) struct FaultTarget {
    pub(crate) servers: Vec<tokio::sync::Mutex<Server>>,
    pub(crate) store: Store,
    pub(crate) disk: Disk,
    pub(crate) filling: tokio::sync::Mutex<()>,
    pub(crate) recorder: Recorder,
    /// The processes that were frozen at some time.
    pub(crate) frozen: Mutex<Vec<String>>,
}

impl FaultTarget {
    /// Carries the schedule out. Everything is in order again at the end.
    pub(crate) async fn endure(self: &Arc<Self>, schedule: &Schedule) {
        let begin = tokio::time::Instant::now();
        let mut under_way = JoinSet::new();
        for planned in schedule.0.iter().copied() {
            tokio::time::sleep_until(begin + planned.at).await;
            let target = Arc::clone(self);
            under_way.spawn(async move { target.inflict(planned).await });
        }
        while let Some(ended) = under_way.join_next().await {
            ended.unwrap();
        }
    }

    async fn inflict(&self, planned: Planned) {
        let wait = tokio::time::sleep(planned.lasts);
        match planned.fault {
            Fault::Kill { server } => {
                let mut server = self.servers[server].lock().await;
                server.kill().await;
                wait.await;
                server.start().await;
            }
            Fault::Terminate { server } => {
                let mut server = self.servers[server].lock().await;
                self.terminate(&mut server, "").await;
                wait.await;
                server.start().await;
            }
            Fault::Freeze { server } => {
                let server = self.servers[server].lock().await;
                self.frozen.lock().unwrap().push(server.process_name());
                server.signal("STOP").await;
                tokio::time::sleep(planned.lasts).await;
                server.signal("CONT").await;
            }
            Fault::Log { server, log } => {
                let mut server = self.servers[server].lock().await;
                self.terminate(&mut server, "").await;
                self.run_without_log(&mut server, log, planned.lasts).await;
                server.start().await;
            }
            Fault::FullDisk => self.fill_disk(planned.lasts).await,
            Fault::RestartStore => {
                let Store::Postgres(postgres) = &self.store else { return };
                let postgres = postgres.lock().await;
                tokio::task::block_in_place(|| postgres.kill());
                wait.await;
                tokio::task::block_in_place(|| postgres.start_again());
            }
            Fault::PromoteStandby => {
                let Store::Postgres(postgres) = &self.store else { return };
                let mut postgres = postgres.lock().await;
                tokio::task::block_in_place(|| postgres.kill());
                wait.await;
                tokio::task::block_in_place(|| postgres.promote_or_start_again());
            }
        }
    }

    /// Stops a server in an orderly way, which it always manages.
    pub(crate) async fn terminate(&self, server: &mut Server, condition: &str) {
        let code = server.terminate().await;
        let what = format!("server {}{condition} ends with exit code 0 on SIGTERM (it was {code:?})", server.index());
        self.recorder.probe(what, code == Some(0));
    }

    async fn run_without_log(&self, server: &mut Server, log: Log, lasts: Duration) {
        let condition = format!(" with a log that is {log:?}");
        let begin = tokio::time::Instant::now();
        let mut started = server.try_start(log).await;
        while started.is_err() && begin.elapsed() < Duration::from_secs(20) {
            // The store may be away, or the disk full.
            tokio::time::sleep(Duration::from_millis(500)).await;
            started = server.try_start(log).await;
        }
        self.recorder.probe(format!("server {}{condition} starts ({started:?})", server.index()), started.is_ok());
        let Some(address) = server.address() else { return };
        tokio::time::sleep(lasts).await;
        let mut answer = http::get(address, "/api/sessions").await;
        if matches!(answer, Attempt::Answered { status: 503, .. }) {
            // The store may be away at this moment.
            tokio::time::sleep(Duration::from_secs(3)).await;
            answer = http::get(address, "/api/sessions").await;
        }
        let passed = matches!(answer, Attempt::Answered { status: 200 | 503, .. });
        let seen = match &answer {
            Attempt::Answered { status, .. } => format!("{status}"),
            Attempt::Unanswered => "none".to_owned(),
        };
        self.recorder.probe(format!("server {}{condition} answers (the answer was {seen})", server.index()), passed);
        self.terminate(server, &condition).await;
    }

    async fn fill_disk(&self, lasts: Duration) {
        let _filling = self.filling.lock().await;
        match self.disk.full {
            FullDisk::FileSystem => {
                self.disk.fill();
                tokio::time::sleep(lasts).await;
                self.disk.free();
            }
            FullDisk::FileSizeLimit => {
                for server in &self.servers {
                    server.lock().await.limit_files("1000:unlimited").await;
                }
                tokio::time::sleep(lasts).await;
                for server in &self.servers {
                    server.lock().await.limit_files("unlimited").await;
                }
            }
            FullDisk::Skipped => {}
        }
    }
}
