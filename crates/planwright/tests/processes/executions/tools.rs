//! Tools that write down outside the store that they were called: one only reads, one may be repeated, one changes
//! things. The record outlives the process.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use planwright_agent::toolbox::{Tool, ToolAnswer, ToolContext, Toolbox};
use planwright_core::gate::ToolEffect;
use planwright_core::model::ToolSpec;
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_engine::upstream::Arguments;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::kill_points::{KillPoint, KillPoints};

pub(super) const TOOLS: [(&str, ToolEffect); 3] =
    [("look", ToolEffect::ReadsOnly), ("put", ToolEffect::Repeatable), ("ring", ToolEffect::Changes)];

/// One line of the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Noted {
    pub(super) tool: String,
    /// Tells one call of a plan from every other.
    pub(super) number: u64,
    pub(super) moment: Moment,
    pub(super) process: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Moment {
    Begun,
    Ended,
}

/// Everything that was written down so far.
pub(super) fn record(file: &Path) -> Vec<Noted> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    // A line that is being written has no end yet.
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    whole.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Every session has a file of its own in the folder.
pub(super) fn toolbox(folder: &Path, takes: Duration, kill_points: &Arc<KillPoints>) -> Toolbox {
    Toolbox::new(TOOLS.map(|(name, effect)| -> Arc<dyn Tool> {
        let number = json!({ "type": "integer" });
        let spec = ToolSpec {
            name: name.to_owned(),
            description: "Writes down that it was called.".to_owned(),
            input_schema: json!({ "type": "object", "properties": { "number": number }, "required": ["number"] }),
        };
        Arc::new(Recorder { effect, spec, folder: folder.to_owned(), takes, kill_points: Arc::clone(kill_points) })
    }))
}

#[derive(Debug)]
struct Recorder {
    effect: ToolEffect,
    spec: ToolSpec,
    folder: PathBuf,
    /// How long its work lasts.
    takes: Duration,
    kill_points: Arc<KillPoints>,
}

impl Recorder {
    fn note(&self, session: &SessionIdentity, number: u64, moment: Moment) {
        let noted = Noted { tool: self.spec.name.clone(), number, moment, process: std::process::id() };
        let line = format!("{}\n", serde_json::to_string(&noted).unwrap());
        // One write at the end of the file is one line, also while other processes write.
        let file = self.folder.join(session.to_string());
        let mut file = OpenOptions::new().append(true).create(true).open(file).unwrap();
        file.write_all(line.as_bytes()).unwrap();
    }
}

#[async_trait]
impl Tool for Recorder {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effect(&self) -> ToolEffect {
        self.effect
    }

    fn check(&self, arguments: &Arguments) -> Result<(), Refusal> {
        let fits = arguments.get("number").is_some_and(Value::is_u64);
        if fits { Ok(()) } else { Err(Refusal::invalid("A number is needed.")) }
    }

    async fn call(&self, context: ToolContext<'_>, arguments: Arguments) -> Result<ToolAnswer, Refusal> {
        let session = context.session;
        let call = self.kill_points.call(session);
        let number = arguments["number"].as_u64().unwrap();
        self.note(session, number, Moment::Begun);
        self.kill_points.meets(session, KillPoint::InCall(call)).await;
        tokio::time::sleep(self.takes).await;
        self.note(session, number, Moment::Ended);
        self.kill_points.meets(session, KillPoint::BehindCall(call)).await;
        Ok(json!({ "noted": number }).into())
    }
}
