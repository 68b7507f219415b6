//! How fast an approved plan of recorded calls is carried out when its tool takes no time. Calls that change things are
//! made one after another, a commit for each; those that only read go side by side.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use planwright_agent::session::input::{ChatLocation, Input, Request, Worker};
use planwright_agent::toolbox::files::{FileLimits, FileTools};
use planwright_agent::toolbox::{Tool, ToolAnswer, ToolContext, Toolbox};
use planwright_agent::tools::PlanTools;
use planwright_agent::{Agent, AgentOptions};
use planwright_core::actor::Actor;
use planwright_core::gate::ToolEffect;
use planwright_core::model::ToolSpec;
use planwright_core::plan::PlanStyle;
use planwright_core::plan::approval::Selection;
use planwright_core::refusal::Refusal;
use planwright_core::session::{Channel, ConversationKey, SessionIdentity, TransportChat};
use planwright_engine::core as planwright_core;
use planwright_engine::upstream::Arguments;
use planwright_store::Location;
use serde_json::json;
use tempfile::TempDir;

use crate::bare::{self, Rows};
use crate::figures::Kind::{Other, Rate};
use crate::figures::{self, Table};
use crate::ledger;
use crate::turns::AtOnce;

const TIME: Duration = Duration::from_secs(2);

pub(crate) async fn run(folder: &TempDir) -> anyhow::Result<()> {
    let bare = bare::group_commits(folder.path(), Rows::LikeTheLedger, 1, TIME).await?;
    figures::remark(&format!("bare commits with the same rows, one after another: {bare:.0}/s"));
    let table = Table::new("steps", "", &[("steps/s", Rate), ("steps / bare", Other)]);
    for (effect, word) in [(ToolEffect::Changes, "changes things"), (ToolEffect::ReadsOnly, "only reads")] {
        for steps in [10, 100, 400] {
            let rate = rate(folder, steps, effect).await?;
            table.row(format!("{steps} steps, the tool {word}"), [rate, rate / bare])?;
        }
    }
    Ok(())
}

async fn rate(folder: &TempDir, steps: usize, effect: ToolEffect) -> anyhow::Result<f64> {
    let engine = ledger::open(&Location::Sqlite(folder.path().join(format!("steps-{effect:?}-{steps}.db")))).await?;
    let files = FileTools::new(folder.path().join("users"), FileLimits::default());
    let tool: Arc<dyn Tool> = Arc::new(Nothing::new(effect));
    let options = AgentOptions::new("bench");
    let agent = Agent::new(engine.clone(), Arc::new(AtOnce), files, Toolbox::new([tool]), options);
    let session = SessionIdentity::new(Channel::Cli, ConversationKey::new("bench-steps")?);
    let person = Actor::person("bench", "bench");
    engine.sessions().open(&session, &person).await?;
    let (mut done, mut working) = (0, Duration::ZERO);
    while working < TIME {
        engine.sessions().enable_plan_mode(&session, &person, PlanStyle::Collect).await?;
        for n in 0..steps {
            let arguments = json!({ "n": n }).as_object().cloned().unwrap_or_default();
            PlanTools::new(&engine).call(&session, &ledger::agent(), Nothing::NAME, arguments).await?;
        }
        PlanTools::new(&engine).call(&session, &ledger::agent(), "plan_finalize", Arguments::new()).await?;
        let plan = engine.plans().active(&session).await?;
        engine.plans().approve(&session, &person, &plan.id, plan.digest(), Selection::All, None).await?;
        let begun = Instant::now();
        let place = ChatLocation::new(TransportChat("bench".to_owned()), session.clone());
        let request = Request::new(place, person.clone());
        let input =
            Input::ResumePlan { plan: plan.id.clone(), choice: None, after_step: None, worker: Worker::ThisProcess };
        agent.submit(input, request).outcome().await?;
        working += begun.elapsed();
        done += steps;
    }
    Ok(done as f64 / working.as_secs_f64())
}

/// A tool that takes no time.
#[derive(Debug)]
struct Nothing {
    spec: ToolSpec,
    effect: ToolEffect,
}

impl Nothing {
    const NAME: &str = "nothing";

    fn new(effect: ToolEffect) -> Self {
        let (name, description) = (Self::NAME.to_owned(), "Does nothing.".to_owned());
        Self { spec: ToolSpec { name, description, input_schema: json!({ "type": "object" }) }, effect }
    }
}

#[async_trait]
impl Tool for Nothing {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effect(&self) -> ToolEffect {
        self.effect
    }

    fn check(&self, _: &Arguments) -> Result<(), Refusal> {
        Ok(())
    }

    async fn call(&self, _: ToolContext<'_>, _: Arguments) -> Result<ToolAnswer, Refusal> {
        Ok(json!({}).into())
    }
}
