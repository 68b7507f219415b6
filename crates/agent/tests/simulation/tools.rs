//! Tools that leave their mark on the world: one only reads, one may be repeated, one changes things.

use std::sync::Arc;

use async_trait::async_trait;
use planwright_agent::toolbox::{Tool, ToolAnswer, ToolContext, Toolbox};
use planwright_core::gate::ToolEffect;
use planwright_core::model::ToolSpec;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_engine::upstream::Arguments;
use serde_json::{Value, json};

use crate::process::Process;
use crate::sabotage::Sabotage;
use crate::world::{Occurrence, mark};

/// Every tool, and what it really does.
pub(crate) const TOOLS: [(&str, ToolEffect); 3] =
    [("look", ToolEffect::ReadsOnly), ("put", ToolEffect::Repeatable), ("charge", ToolEffect::Changes)];

/// What a tool really does, whatever it says about itself.
pub(crate) fn effect_of(tool: &str) -> Option<ToolEffect> {
    TOOLS.iter().find(|(name, _)| *name == tool).map(|(_, effect)| *effect)
}

/// The number that tells one call from every other.
pub(crate) fn number_in(arguments: &Value) -> Option<u64> {
    arguments.get("number")?.as_u64()
}

pub(crate) fn toolbox(process: &Arc<Process>) -> Toolbox {
    Toolbox::new(TOOLS.map(|(name, effect)| -> Arc<dyn Tool> {
        let spec = ToolSpec {
            name: name.to_owned(),
            description: "Does something to the world.".to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": { "number": { "type": "integer" }, "mark": { "type": "string" } },
                "required": ["number", "mark"],
            }),
        };
        Arc::new(Instrument { name, effect, spec, process: Arc::clone(process) })
    }))
}

#[derive(Debug)]
struct Instrument {
    name: &'static str,
    effect: ToolEffect,
    spec: ToolSpec,
    process: Arc<Process>,
}

#[async_trait]
impl Tool for Instrument {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effect(&self) -> ToolEffect {
        match (self.effect, self.process.world.sabotage) {
            (ToolEffect::Changes, Some(Sabotage::ChangesAreRepeated)) => ToolEffect::Repeatable,
            (ToolEffect::Changes, Some(Sabotage::ChangesPassForReading)) => ToolEffect::ReadsOnly,
            (effect, _) => effect,
        }
    }

    fn check(&self, arguments: &Arguments) -> Result<(), Refusal> {
        let fits = arguments.get("number").is_some_and(Value::is_u64)
            && arguments.get("mark").is_some_and(Value::is_string)
            && arguments.len() == 2;
        if fits { Ok(()) } else { Err(Refusal::invalid("A number and a mark are needed, and nothing else.")) }
    }

    async fn call(&self, context: ToolContext<'_>, arguments: Arguments) -> Result<ToolAnswer, Refusal> {
        let session = context.session;
        let (process, world) = (&self.process, &self.process.world);
        process.breathe().await;
        let arguments = Value::Object(arguments);
        let number = number_in(&arguments).unwrap_or_default();
        let mut random = world.chance(format_args!("{} in {session}", self.name));
        world.belongs(session, "a tool call", &arguments.to_string());
        let (owner, session, tool) = (process.owner.clone(), session.clone(), self.name);
        let answer = json!({ "done": number, "mark": mark(&session) });
        let begun = world.happened(Occurrence::ToolBegun { owner, session, tool, arguments });
        if process.is_to_die(&mut random) {
            process.die().await;
        }
        let failed = || Refusal::new(RefusalCode::Unavailable, "The world does not want to.");
        if world.strikes(&mut random, 60) {
            return Err(failed());
        }
        let quick = random.millis(1, 400);
        let slow = random.millis(400, 20_000);
        process.spend(if world.strikes(&mut random, 150) { slow } else { quick }).await;
        world.happened(Occurrence::ToolHadEffect { begun });
        if process.is_to_die(&mut random) {
            process.die().await;
        }
        if world.strikes(&mut random, 20) {
            return Err(failed());
        }
        process.spend(random.millis(1, 200)).await;
        Ok(answer.into())
    }
}
