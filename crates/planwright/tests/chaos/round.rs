//! One round: servers and clients are started, the faults happen, everything settles, and the checker looks at it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::task::JoinSet;

use crate::checker::{self, Rule};
use crate::evidence::{self, Evidence, Journals};
use crate::faults::{Fault, FaultTarget, Schedule};
use crate::history::Recorder;
use crate::load::{self, Load};
use crate::provider::Provider;
use crate::server::{Addresses, NUDGES, SERVERS, Server, Settings, TIMEOUT};
use crate::stores::{Disk, FullDisk, Store, StoreKind};

const SESSIONS: usize = 8;
/// Cases that the report shows of each broken rule.
const SHOWN: usize = 6;
/// Longer than any timer in a server that could begin something.
const QUIET: Duration = Duration::from_secs(4);

#[derive(Debug, Clone, Copy)]
pub(crate) struct Round {
    pub(crate) store: StoreKind,
    pub(crate) seed: u64,
    pub(crate) lasts: Duration,
}

impl Round {
    /// The command that repeats it.
    pub(crate) fn command(&self) -> String {
        let seconds = self.lasts.as_secs();
        let Self { store, seed, .. } = self;
        format!("make chaos SEED={seed} CHAOS_STORE={store} CHAOS_ROUND={seconds} CHAOS_SECONDS={seconds}")
    }

    /// Says what was done, and in the second case what does not hold.
    pub(crate) async fn run(self) -> Result<String, String> {
        let schedule = Schedule::new(self.seed, self.store, self.lasts);
        let logs = tempfile::Builder::new().prefix("planwright-chaos-logs.").tempdir().unwrap();
        let disk = Disk::new();
        let provider = Provider::start(self.seed).await;
        let store = Store::start(self.store)?;
        let (addresses, recorder) = (Addresses::default(), Recorder::default());
        let settings = Settings {
            database: store.url(&disk.data()),
            data: disk.data(),
            shares_files: self.store == StoreKind::Postgres,
            logs: logs.path().to_owned(),
            provider: provider.clone(),
            limited_files: disk.full == FullDisk::FileSizeLimit,
        };
        let mut servers = Vec::new();
        for index in 0..SERVERS {
            let mut server = Server::new(index, settings.clone(), addresses.clone());
            server.start().await;
            servers.push(tokio::sync::Mutex::new(server));
        }
        let full_disk = disk.full;
        let target = Arc::new(FaultTarget {
            servers,
            store,
            disk,
            filling: tokio::sync::Mutex::default(),
            recorder: recorder.clone(),
            frozen: Mutex::default(),
        });

        let load = Load::new(addresses.clone(), recorder.clone());
        let sessions: Vec<_> = (0..SESSIONS).map(load::session).collect();
        let mut clients = load.start(self.seed, SESSIONS);
        let mut followers = JoinSet::new();
        for session in &sessions {
            followers.spawn(load.clone().follow(session.clone(), self.seed));
        }
        warm_up(&recorder).await;
        target.endure(&schedule).await;
        load.finish();
        let finished = async { while clients.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(TIMEOUT, finished).await;
        let settled = evidence::settle(&addresses, &sessions).await;
        let calls = provider.calls().len();
        tokio::time::sleep(QUIET).await;
        let late_model_calls = provider.calls().len() - calls;
        let journals = read_again(&addresses, settled).await;
        wait_for_followers(&recorder, &journals).await;
        load.give_up();
        followers.shutdown().await;
        clients.shutdown().await;

        for server in &target.servers {
            target.terminate(&mut *server.lock().await, "").await;
        }
        let evidence = Evidence {
            history: recorder.history(),
            journals,
            model_calls: provider.calls(),
            late_model_calls,
            files: evidence::files(&settings, &sessions).await,
            verified: evidence::verify(&settings).await,
            interruptions: schedule.0.iter().map(|planned| interruptions(planned.fault)).sum(),
            frozen: target.frozen.lock().unwrap().clone(),
            nudges: NUDGES,
        };
        let summary = summary(&self, &evidence, &schedule, full_disk);
        let violations = checker::check(&evidence);
        if violations.is_empty() {
            return Ok(summary);
        }
        let mut by_rule: BTreeMap<Rule, Vec<String>> = BTreeMap::new();
        for violation in violations {
            by_rule.entry(violation.rule).or_default().push(violation.what);
        }
        let mut report = format!("{summary}\nFaults:\n{schedule}\nBroken rules:\n");
        for (rule, cases) in by_rule {
            let _ = writeln!(report, "{rule:?}, {} times", cases.len());
            for case in cases.iter().take(SHOWN) {
                let _ = writeln!(report, "- {case}");
            }
        }
        // Kept for a look at what happened.
        let folder = logs.keep();
        let _ =
            std::fs::write(folder.join("journals.json"), serde_json::to_string(&evidence.journals).unwrap_or_default());
        let _ =
            std::fs::write(folder.join("history.txt"), format!("{:#?}\n{:#?}", evidence.history, evidence.model_calls));
        let _ = writeln!(report, "Logs, journals and history: {}", folder.display());
        let _ = writeln!(report, "Again: {}", self.command());
        Err(report)
    }
}

/// How many model calls a fault may cost each session: one for each process that it interrupts.
fn interruptions(fault: Fault) -> usize {
    match fault {
        Fault::Kill { .. } | Fault::Terminate { .. } | Fault::Freeze { .. } => 1,
        Fault::Log { .. } => 2,
        Fault::FullDisk | Fault::RestartStore | Fault::PromoteStandby => SERVERS,
    }
}

/// The first turn in a process takes longer than all others. Faults begin once the load runs.
async fn warm_up(recorder: &Recorder) {
    let begin = tokio::time::Instant::now();
    while recorder.acknowledged() < 2 * SESSIONS && begin.elapsed() < TIMEOUT {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn read_again(addresses: &Addresses, mut journals: Journals) -> Journals {
    for (session, known) in &mut journals {
        evidence::read_journal(addresses, session, known).await;
    }
    journals
}

async fn wait_for_followers(recorder: &Recorder, journals: &Journals) {
    let told = |session: &str, entries: &[serde_json::Value]| {
        recorder.last_frame(session) >= entries.last().and_then(|entry| entry["seq"].as_u64()).unwrap_or(0)
    };
    let waiting = async {
        while !journals.iter().all(|(session, entries)| told(session, entries)) {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let _ = tokio::time::timeout(TIMEOUT / 4, waiting).await;
}

fn summary(round: &Round, evidence: &Evidence, schedule: &Schedule, full_disk: FullDisk) -> String {
    let requests = &evidence.history.requests;
    let acknowledged = requests.iter().filter(|request| request.acknowledged().is_some()).count();
    let attempts: usize = requests.iter().map(|request| request.attempts.len()).sum();
    let entries: usize = evidence.journals.values().map(Vec::len).sum();
    let disk = match full_disk {
        FullDisk::FileSystem => "a small file system was filled",
        FullDisk::FileSizeLimit => "file size limit (no right to mount a file system)",
        FullDisk::Skipped => "SKIPPED (no right to mount a file system, and prlimit is not installed)",
    };
    format!(
        "{} with seed {}: {} faults, {acknowledged} of {} requests acknowledged in {attempts} attempts, {} model calls, \
         {entries} journal entries; full disk: {disk}",
        round.store,
        round.seed,
        schedule.0.len(),
        requests.len(),
        evidence.model_calls.len(),
    )
}
