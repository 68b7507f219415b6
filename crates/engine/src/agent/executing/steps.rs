//! The steps, one after another; calls that only read and stand next to each other are made side by side.

use std::sync::Arc;

use futures::future::join_all;
use planwright_core::command::{Outcome, RunCommand};
use planwright_core::gate::{Caller, Situation, ToolEffect, Verdict, judge_other_tool};
use planwright_core::plan::content::RecordedCall;
use planwright_core::plan::execution::{StepRun, StepStatus};
use planwright_core::policy::OnFailure;
use planwright_core::refusal::Refusal;
use planwright_core::visible::{quoted, visible};
use serde_json::Value;
use tokio::time::timeout;

use super::{Execution, Halt, calls_of, uncertain};
use crate::agent::guarding::guarded;
use crate::agent::progress::Progress;
use crate::toolbox::Tool;

/// How many calls are made side by side at the most.
const SIDE_BY_SIDE: usize = 4;
/// How much of an answer is kept with the step.
const KEPT: usize = 4_000;

/// A step that is to be done now.
struct Due {
    /// From 1.
    position: usize,
    run: StepRun,
    call: RecordedCall,
    tool: Arc<dyn Tool>,
}

impl Execution<'_> {
    /// Does what is to be done, until nothing is left, something fails, or nobody knows how a step ended.
    pub(super) async fn steps(&mut self) -> Result<(), Halt> {
        while let Some(due) = self.due()? {
            if self.running.stop.is_cancelled() {
                return Err(Halt::Stopped);
            }
            for due in &due {
                if !self.begin(due).await? {
                    return Ok(());
                }
            }
            let ended = self.make(&due).await;
            let failed = ended.iter().any(|(outcome, _)| outcome.status == StepStatus::Failed);
            let stopped = ended.iter().find_map(|(_, halt)| halt.as_ref().map(|halt| matches!(halt, Halt::Stopped)));
            for (due, (outcome, _)) in due.iter().zip(ended) {
                self.end(due, outcome).await?;
            }
            match stopped {
                Some(true) => return Err(Halt::Stopped),
                Some(false) => return Err(Halt::Elsewhere),
                None if failed && self.agent.engine().policy().on_failure == OnFailure::Stop => return Ok(()),
                None => {}
            }
        }
        Ok(())
    }

    /// The next step that is open, with those behind it that may be done beside it. `None` when nothing is to be done.
    fn due(&self) -> Result<Option<Vec<Due>>, Halt> {
        // What comes behind a step that nobody knows the end of waits with it.
        if uncertain(self.runs()).is_some() {
            return Ok(None);
        }
        let runs = self.runs().iter().enumerate();
        let open = runs.filter(|(_, run)| matches!(run.status, StepStatus::Pending | StepStatus::InProgress));
        let mut due: Vec<Due> = Vec::new();
        for (index, run) in open {
            let next = self.look_up(index + 1, run)?;
            let reads = next.tool.effect() == ToolEffect::ReadsOnly;
            let beside = reads && due.last().is_none_or(|last| last.position + 1 == next.position);
            if !due.is_empty() && !beside {
                break;
            }
            due.push(next);
            if !reads || due.len() == SIDE_BY_SIDE {
                break;
            }
        }
        Ok((!due.is_empty()).then_some(due))
    }

    fn look_up(&self, position: usize, run: &StepRun) -> Result<Due, Halt> {
        let gone = |what: &str| Halt::Ledger(Refusal::not_found(format!("Step {position}: {what}")).into());
        let calls = calls_of(&self.plan).map_err(|refusal| Halt::Ledger(refusal.into()))?;
        let call = calls.iter().find(|call| call.id == run.step).ok_or_else(|| gone("there is no such call."))?;
        let tool = self.agent.shared.toolbox.get(&call.tool).ok_or_else(|| gone("its tool is not here."))?;
        Ok(Due { position, run: run.clone(), call: call.clone(), tool: Arc::clone(tool) })
    }

    /// Writes the intent down. One that is there already is of a process that ended: `false` if nobody knows whether the
    /// call was made and it must not be made twice.
    async fn begin(&mut self, due: &Due) -> Result<bool, Halt> {
        if due.run.status == StepStatus::Pending {
            let (plan, execution, step) = (self.plan.id.clone(), self.id.clone(), due.run.step.clone());
            self.submit(RunCommand::BeginStep { plan, execution, step }).await?;
        } else if due.tool.effect() == ToolEffect::Changes {
            let note = "the program ended while this was being done; it is not known whether it was";
            self.end(due, outcome(StepStatus::Uncertain, note)).await?;
            return Ok(false);
        }
        let (position, total) = (due.position, self.runs().len());
        self.watcher.tell(Progress::StepStarted { position, total, about: visible(&due.run.description).into_owned() });
        Ok(true)
    }

    /// What each of them comes to. One that is cut off has an outcome too, and says why it was.
    async fn make(&self, due: &[Due]) -> Vec<(Outcome, Option<Halt>)> {
        join_all(due.iter().map(|due| self.call(due))).await
    }

    async fn call(&self, due: &Due) -> (Outcome, Option<Halt>) {
        let name = due.call.tool.as_str();
        let failed = |refusal: &Refusal| (outcome(StepStatus::Failed, &refusal.message), None);
        let policy = self.agent.engine().policy();
        let situation = Situation {
            style: Some(self.plan.style()),
            status: Some(self.plan.status),
            caller: Caller::Execution,
            document_tools: policy.document_tools,
        };
        match judge_other_tool(&situation, name, due.tool.effect()) {
            Verdict::Run => {}
            Verdict::Deny(refusal) => return failed(&refusal),
            Verdict::Record => return failed(&Refusal::policy_denied(format!("{} is not run here.", quoted(name)))),
        }
        let Value::Object(arguments) = due.call.arguments.clone() else {
            return failed(&Refusal::invalid("The arguments are not an object."));
        };
        if let Err(refusal) = due.tool.check(&arguments) {
            return failed(&refusal);
        }
        let limit = policy.turn.tool_time;
        tokio::select! {
            biased;
            ended = timeout(limit, guarded(name, due.tool.call(&self.session, arguments))) => match ended {
                Ok(Some(Ok(value))) => (outcome(StepStatus::Completed, &value.to_string()), None),
                Ok(Some(Err(refusal))) => failed(&refusal),
                Ok(None) => (outcome(StepStatus::Failed, "it broke down; the log says more"), None),
                Err(_) => {
                    let note = format!("it did not end within {} seconds and was given up", limit.as_secs_f32());
                    (outcome(given_up(due.tool.effect()), &note), None)
                }
            },
            halt = self.interrupted() => (outcome(cut_off(due.tool.effect()), "stopped in the middle"), Some(halt)),
        }
    }

    async fn end(&mut self, due: &Due, outcome: Outcome) -> Result<(), Halt> {
        let (position, total, status) = (due.position, self.runs().len(), outcome.status);
        let note = if status == StepStatus::Completed { None } else { outcome.note.clone() };
        self.end_step(&due.run, outcome).await?;
        let about = visible(&due.run.description).into_owned();
        self.watcher.tell(Progress::StepEnded { position, total, about, status, note });
        Ok(())
    }
}

/// A call that was given up may have had its effect, unless it has none.
const fn given_up(effect: ToolEffect) -> StepStatus {
    match effect {
        ToolEffect::ReadsOnly | ToolEffect::Repeatable => StepStatus::Failed,
        ToolEffect::Changes => StepStatus::Uncertain,
    }
}

/// A call that a person stopped is simply to be made again, unless it must not be made twice.
const fn cut_off(effect: ToolEffect) -> StepStatus {
    match effect {
        ToolEffect::ReadsOnly | ToolEffect::Repeatable => StepStatus::Pending,
        ToolEffect::Changes => StepStatus::Uncertain,
    }
}

fn outcome(status: StepStatus, note: &str) -> Outcome {
    let kept = &note[..note.floor_char_boundary(KEPT)];
    let note = if kept.len() < note.len() { format!("{kept}…") } else { kept.to_owned() };
    Outcome { status, note: Some(note), evidence: None }
}
