//! The process that carries a plan out: this very program, started again with a job in its environment.

use std::collections::BTreeMap;
use std::io::{BufRead as _, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use crate::talk::{Talk as _, Watcher};
use planwright_agent::session::input::ChatLocation;
use planwright_agent::session::outcome::Answer;
use planwright_agent::toolbox::files::{FileLimits, FileTools};
use planwright_agent::{Agent, AgentOptions};
use planwright_core::actor::Actor;
use planwright_core::policy::Policy;
use planwright_core::session::TransportChat;
use planwright_engine::Engine;
use planwright_store::Location;
use planwright_test_support::forwarding::Forwarding;
use serde::{Deserialize, Serialize};

use super::kill_points::{KillPoint, KillPoints};
use super::ledger::StoppingLedger;
use super::model::model;
use super::tools::toolbox;

const JOB: &str = "PLANWRIGHT_TEST_JOB";
const READY: &str = "ready to go";
const ANSWER: &str = "answer: ";
const STANDS: &str = "everything stands still";

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Job {
    pub(super) database: String,
    pub(super) folder: PathBuf,
    /// Where it works, and where it stands still in each.
    pub(super) sessions: BTreeMap<String, Option<KillPoint>>,
    pub(super) act: Act,
    pub(super) takes: Duration,
    pub(super) waiting: Waiting,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Act {
    /// Types this.
    Type(String),
    /// Does what a chat does when it is started.
    TakeUp,
}

/// How long a process that is gone is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Waiting {
    /// It is seen that it is gone.
    NotAtAll,
    /// As from another machine: until its lease has run out.
    ForTheLease,
}

const LEASE: Duration = Duration::from_millis(400);

impl Job {
    /// The process, which waits until it is told to go.
    pub(super) fn start(&self) -> Started {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["executions::child::carries_out_a_plan", "--exact", "--ignored", "--nocapture"]);
        command.env(JOB, serde_json::to_string(self).unwrap());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut output = std::io::BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while !line.contains(READY) {
            line.clear();
            assert!(output.read_line(&mut line).unwrap() > 0, "the process ended before it was ready: {child:?}");
        }
        Started { child, output }
    }

    /// Does it in a process of its own, which is killed when every session stands where it is to stand. Gives the
    /// sessions that came to their end before.
    pub(super) fn run_and_kill(&self) -> Vec<String> {
        let mut started = self.start();
        started.go();
        let mut lines = Vec::new();
        while lines.last().is_none_or(|line| line != STANDS) {
            let mut line = String::new();
            assert!(started.output.read_line(&mut line).unwrap() > 0, "the process ended by itself: {lines:#?}");
            lines.push(line.trim_end().to_owned());
        }
        started.kill();
        assert!(started.end().killed);
        let ended = |session: &&String| lines.iter().any(|line| line.starts_with(&format!("{ANSWER}{session}: ")));
        self.sessions.keys().filter(ended).cloned().collect()
    }

    /// Does it in this process, which is another one than those before it.
    pub(super) async fn run_here(&self) -> String {
        let (agent, _) = self.agent().await;
        let mut answers = Vec::new();
        for session in self.sessions.keys() {
            answers.push(self.carry_out(&agent, session).await);
        }
        answers.join("; ")
    }

    async fn carry_out(&self, agent: &Agent, session: &str) -> String {
        let (person, watcher) = (Actor::person("Ada", "cli"), Watcher::none());
        let place = ChatLocation::new(TransportChat("cli:tester".to_owned()), session.parse().unwrap());
        let answer = match &self.act {
            Act::Type(text) => agent.type_text(&place, &person, text, &watcher).await.map(Some),
            Act::TakeUp => match agent.resume(&place.session, &watcher).await.unwrap() {
                Some(outcome) => Ok(Some(Answer::from(outcome))),
                None => agent.resume_plan(&place, &person, &watcher).await,
            },
        };
        match answer {
            Ok(answer) => answer.map_or_else(|| "nothing".to_owned(), |answer| answer.reply.replace('\n', " ")),
            Err(error) => format!("failed: {error}"),
        }
    }

    async fn agent(&self) -> (Agent, Arc<KillPoints>) {
        let inner = planwright_store::open(&self.database.parse::<Location>().unwrap()).await.unwrap();
        let kill_points =
            self.sessions.iter().filter_map(|(session, kill_point)| Some((session.clone(), (*kill_point)?)));
        let kill_points = Arc::new(KillPoints::new(kill_points.collect()));
        let ledger = Arc::new(Forwarding(StoppingLedger { inner, kill_points: Arc::clone(&kill_points) }));
        let files = FileTools::new(self.folder.join("users"), FileLimits::default());
        let tools = toolbox(&self.folder, self.takes, &kill_points);
        let own = AgentOptions::of_this_process();
        let options = match self.waiting {
            Waiting::NotAtAll => own,
            Waiting::ForTheLease => AgentOptions { lease: LEASE, is_gone: |_| false, ..own },
        };
        let engine = Engine::new(ledger, Policy::default());
        (Agent::new(engine, Arc::new(model()), files, tools, options), kill_points)
    }
}

#[derive(Debug)]
pub(super) struct Started {
    child: Child,
    output: std::io::BufReader<std::process::ChildStdout>,
}

/// How a process ended, and what it was answered.
#[derive(Debug)]
pub(super) struct ChildOutcome {
    pub(super) killed: bool,
    pub(super) answer: String,
}

impl Started {
    pub(super) fn go(&mut self) {
        self.child.stdin.as_mut().unwrap().write_all(b"go\n").unwrap();
    }

    pub(super) fn process(&self) -> u32 {
        self.child.id()
    }

    pub(super) fn kill(&mut self) {
        self.child.kill().unwrap();
    }

    pub(super) fn end(self) -> ChildOutcome {
        let lines: Vec<_> = self.output.lines().map_while(Result::ok).collect();
        let ended = self.child.wait_with_output().unwrap();
        let killed = ended.status.code().is_none();
        assert!(killed || ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        let answers = lines.iter().filter_map(|line| line.strip_prefix(ANSWER));
        ChildOutcome { killed, answer: answers.collect::<Vec<_>>().join("\n") }
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "the process that the other tests start"]
async fn carries_out_a_plan() {
    let Ok(job) = std::env::var(JOB) else { return };
    let job: Job = serde_json::from_str(&job).unwrap();
    let (agent, kill_points) = job.agent().await;
    println!("\n{READY}");
    std::io::stdin().lock().read_line(&mut String::new()).unwrap();
    for session in job.sessions.keys() {
        let (agent, kill_points, job, session) =
            (agent.clone(), Arc::clone(&kill_points), job.clone(), session.clone());
        tokio::spawn(async move {
            println!("\n{ANSWER}{session}: {}", job.carry_out(&agent, &session).await);
            kill_points.one_more();
        });
    }
    kill_points.settled(job.sessions.len()).await;
    if job.sessions.values().any(Option::is_some) {
        println!("\n{STANDS}");
        std::future::pending::<()>().await;
    }
}
