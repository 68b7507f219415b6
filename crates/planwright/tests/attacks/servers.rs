//! A second server on the same store, which the agent starts with settings of its own.

use std::path::PathBuf;

use planwright_agent::tools::ExternalTools;
use planwright_core::actor::Actor;
use planwright_core::plan::PlanStyle;
use planwright_core::presence::Presence;
use planwright_core::session::SessionIdentity;
use serde_json::{Value, json};

use crate::decisions::with_engine;
use crate::shell::until;
use crate::stage::{PLAN, PROGRAM, Stage, attack_with, done, result_of};
use crate::surfaces::{Server, post};

/// Ends with this value.
pub(crate) struct AgentServer {
    files: PathBuf,
    pub(crate) address: String,
    pub(crate) token: String,
}

impl AgentServer {
    /// `None` if the server refuses these settings.
    pub(crate) fn start(stage: &mut Stage, variables: &[(&str, &str)]) -> Option<Self> {
        let variables: String = variables.iter().map(|(name, value)| format!("{name}='{value}' ")).collect();
        let command = format!("env {variables} {PROGRAM} serve --listen 127.0.0.1:0 --json");
        done(&stage.agent.run(&format!("{command} > served.out 2> served.log < /dev/null & echo $! > served.pid")));
        let files = stage.path("served");
        let running = || {
            let pid = std::fs::read_to_string(files.with_extension("pid")).unwrap();
            std::path::Path::new(&format!("/proc/{}/exe", pid.trim())).exists()
        };
        let line = until(|| {
            let text = std::fs::read_to_string(files.with_extension("out")).unwrap_or_default();
            if text.ends_with('\n') { Some(Some(text)) } else { (!running()).then_some(None) }
        });
        let ready: Value = serde_json::from_str(&line.expect("the server never answered")?).unwrap();
        let address = ready["address"].as_str().unwrap().trim_start_matches("http://").to_owned();
        let token = std::fs::read_to_string(stage.path("token")).unwrap().trim().to_owned();
        Some(Self { files, address, token })
    }

    pub(crate) fn authorization(&self) -> String {
        format!("authorization: Bearer {}\r\n", self.token)
    }
}

impl Drop for AgentServer {
    fn drop(&mut self) {
        let pid = std::fs::read_to_string(self.files.with_extension("pid")).unwrap();
        let _ = std::process::Command::new("kill").arg(pid.trim()).status();
    }
}

pub(crate) const OWN_SESSION: &str = "web:own-agent";

/// Planwright's own agent has drafted a plan, which waits for a decision.
pub(crate) fn draft_by_own_agent(stage: &Stage, session: &str) {
    with_engine(stage, async |engine, _| {
        let session: SessionIdentity = session.parse().unwrap();
        let (person, agent) =
            (Actor::person("ada", "web").recognised(Presence::Browser), Actor::agent("rehearsal", "web"));
        engine.sessions().open(&session, &person).await.unwrap();
        engine.sessions().enable_plan_mode(&session, &person, PlanStyle::Document).await.unwrap();
        let Value::Object(arguments) = json!({ "plan_markdown": PLAN }) else { unreachable!("it is an object") };
        let answer =
            ExternalTools::new(&engine).call(&session, &agent, "plan_set_content", arguments, &|_| false).await;
        answer.outcome.unwrap();
    });
}

/// The commands of Planwright's own agent are not in the sandbox, and can read the token. A server that is told otherwise takes it.
#[test]
fn own_server_with_sandbox() {
    attack_with("[sandbox]\nlevel = \"open\"\n", "own_server_with_sandbox", |stage| {
        // The first server of the store is the person's.
        drop(Server::start(stage));
        draft_by_own_agent(stage, OWN_SESSION);
        let plan = stage.plan_of(OWN_SESSION, 1);
        let variables = [("PLANWRIGHT_SANDBOX_LEVEL", "workspace")];
        if let Some(server) = AgentServer::start(stage, &variables) {
            let path = format!("/api/plans/{}/approve", plan["id"].as_str().unwrap());
            let body = json!({ "digest": plan["digest"], "later": true });
            post(&server.address, &path, &server.authorization(), &body);
        }
        result_of(&stage.plan_of(OWN_SESSION, 1))
    });
}
