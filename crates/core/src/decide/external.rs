//! What the agent of another program does to the active plan through MCP. It has its own tools and carries the plan out
//! itself, so it reports on plans of every style.

use serde_json::Value;

use crate::ask::{GatewayAsk, GatewayCallRecord, GatewayReason};
use crate::command::{ExternalCommand, ProgressReport};
use crate::decide::Decider;
use crate::decide::execution::{PendingChanges, check_needs_done, permissions_counted, reported_step};
use crate::event::{Event, PlanEvent, SessionEvent};
use crate::gate::{self, Caller, GateContext, PlanTool};
use crate::ids::{PlanId, StepId};
use crate::plan::content::{CallRunner, PlanContent, RecordedCall};
use crate::plan::execution::{PermissionCounts, StepStatus};
use crate::plan::lifecycle::Action;
use crate::plan::{Digest, Plan, PlanStatus, PlanStyle};
use crate::refusal::{Refusal, RefusalCode};

/// The longest arguments of a call that was made or refused, in bytes of JSON.
const MAX_ARGUMENTS: usize = 64 * 1024;

impl Decider<'_> {
    pub(super) fn external(&self, command: &ExternalCommand) -> Result<Vec<Event>, Refusal> {
        match command {
            ExternalCommand::SetContent { markdown, title, expected } => {
                self.set_external_content(markdown, title.as_deref(), expected.as_ref())
            }
            ExternalCommand::AddCall { tool, arguments, description, runner } => {
                self.add_call(tool, arguments, description.as_deref(), *runner)
            }
            ExternalCommand::RecordInRound { tool, arguments } => self.record_in_round(tool, arguments),
            ExternalCommand::FinalizeRound { summary } => self.finalize_round(summary.as_deref()),
            ExternalCommand::Report(report) => self.external_report(report),
            ExternalCommand::RecordAsk { tool, arguments, state } => {
                let (id, description, runner) = (StepId::nth(1), None, CallRunner::Planwright);
                let call = RecordedCall { id, tool: tool.clone(), arguments: arguments.clone(), description, runner };
                self.check_call(&call)?;
                let RecordedCall { tool, arguments, .. } = call;
                let (state, plan) = (*state, self.worked_on()?);
                let asked = Event::Session(SessionEvent::GatewayAsked { tool, arguments, state, plan });
                let counted = match state {
                    GatewayAsk::Asked => self.count(PermissionCounts::ASKED),
                    // The question is counted, whatever the answer is; a refusal is recorded by itself.
                    GatewayAsk::Permitted | GatewayAsk::NotPermitted | GatewayAsk::NotAsked => None,
                };
                Ok(std::iter::once(asked).chain(counted).collect())
            }
            ExternalCommand::RecordCall(record) => {
                if let (GatewayReason::DuringPlan, Some(plan)) = (record.why, self.snapshot.active()) {
                    self.snapshot.opened()?.check_approval_counts(plan)?;
                }
                let record = GatewayCallRecord { arguments: kept(&record.arguments), ..record.clone() };
                let counted = match record.why {
                    GatewayReason::DuringPlan => self.count(PermissionCounts::COVERED),
                    GatewayReason::Reads | GatewayReason::Rule | GatewayReason::Permitted | GatewayReason::Free => None,
                };
                let called = Event::Session(SessionEvent::GatewayCalled { record, plan: self.worked_on()? });
                Ok(std::iter::once(called).chain(counted).collect())
            }
            ExternalCommand::RecordCallEnd { call, tool, outcome } => {
                let (call, tool, outcome, plan) = (call.clone(), tool.clone(), outcome.clone(), self.worked_on()?);
                Ok(vec![Event::Session(SessionEvent::GatewayCallEnded { call, tool, outcome, plan })])
            }
            ExternalCommand::RecordQuestions { tool, questions, answers } => {
                let (questions, answers) = (kept(questions), answers.as_ref().map(kept));
                let (tool, plan) = (tool.clone(), self.worked_on()?);
                Ok(vec![Event::Session(SessionEvent::GatewayQuestioned { tool, questions, answers, plan })])
            }
            ExternalCommand::RecordRefused { tool, arguments, refusal } => {
                let (tool, arguments, refusal, plan) =
                    (tool.clone(), kept(arguments), refusal.clone(), self.worked_on()?);
                let refused = SessionEvent::GatewayRefused { tool, arguments, refusal, plan };
                Ok(std::iter::once(Event::Session(refused)).chain(self.count(PermissionCounts::REFUSED)).collect())
            }
            ExternalCommand::Answered { command, answers } => self.with_answers(self.external(command)?, answers),
            ExternalCommand::AskClientCall(asked) => self.ask_client_call(asked),
            ExternalCommand::TakeClientCall { ask } => self.take_client_call(ask),
            ExternalCommand::CountCall { permissions } => {
                let executing = |plan: &&Plan| plan.status == PlanStatus::Executing;
                let counted = |plan: &Plan| permissions_counted(plan, plan.execution.as_ref()?, None, *permissions);
                Ok(self.snapshot.active().filter(executing).and_then(counted).into_iter().collect())
            }
        }
    }

    fn external_situation(&self) -> GateContext {
        GateContext::of(self.snapshot, self.policy, Caller::ExternalAgent)
    }

    fn set_external_content(
        &self,
        markdown: &str,
        title: Option<&str>,
        expected: Option<&Digest>,
    ) -> Result<Vec<Event>, Refusal> {
        gate::authorize_plan_tool(&self.external_situation(), PlanTool::SetContent)?;
        let active = self.snapshot.active();
        if let (Some(plan), Some(expected)) = (active, expected)
            && plan.digest() != *expected
        {
            return Err(changed_since(plan, expected));
        }
        match active.filter(|plan| !plan.status.is_final()) {
            Some(plan) => self.set_content_of(plan, markdown, title),
            None => self.next_plan(PlanStyle::Document, self.document_text(markdown, title)?),
        }
    }

    fn add_call(
        &self,
        tool: &str,
        arguments: &Value,
        description: Option<&str>,
        runner: CallRunner,
    ) -> Result<Vec<Event>, Refusal> {
        let situation = self.external_situation();
        gate::authorize_plan_tool(&situation, PlanTool::AddCall)?;
        gate::authorize_recording(&situation, tool)?;
        let active = self.snapshot.active().filter(|plan| !plan.status.is_final());
        let description = description.filter(|text| !text.trim().is_empty());
        let call = RecordedCall {
            id: active.map_or_else(|| StepId::nth(1), Plan::next_step_id),
            tool: tool.to_owned(),
            arguments: arguments.clone(),
            description: description.map(|text| self.line("description", text)).transpose()?,
            runner,
        };
        match active {
            Some(plan) => self.record_call(plan, call),
            None => {
                self.check_call(&call)?;
                self.next_plan(PlanStyle::Collect, PlanEvent::StepRecorded { step: call })
            }
        }
    }

    /// A call for the round beside the active plan. The first one begins it.
    fn record_in_round(&self, tool: &str, arguments: &Value) -> Result<Vec<Event>, Refusal> {
        let active = self.rounds_of()?;
        gate::check_recorded_tool(tool)?;
        let under_way = self.snapshot.round().filter(|round| match round.status {
            PlanStatus::Collecting | PlanStatus::Ready | PlanStatus::Approved | PlanStatus::Executing => true,
            PlanStatus::PartiallyCompleted
            | PlanStatus::Completed
            | PlanStatus::Rejected
            | PlanStatus::Cancelled
            | PlanStatus::Superseded => false,
        });
        let call = RecordedCall {
            id: under_way.map_or_else(|| StepId::nth(1), Plan::next_step_id),
            tool: tool.to_owned(),
            arguments: arguments.clone(),
            description: None,
            runner: CallRunner::Planwright,
        };
        match under_way {
            Some(round) => self.record_call(round, call),
            None => {
                self.check_call(&call)?;
                let first = PlanEvent::StepRecorded { step: call };
                Ok(vec![self.create_round(active)?, Event::of_plan(&self.new_plan_id(), first)])
            }
        }
    }

    fn finalize_round(&self, summary: Option<&str>) -> Result<Vec<Event>, Refusal> {
        self.rounds_of()?;
        let Some(round) = self.snapshot.round() else {
            return Err(Refusal::wrong_status(
                "No call is recorded. Calls that change things are recorded when you make them; plan_finalize then has a \
                 person decide about them.",
            ));
        };
        round.permits(Action::Finalize)?;
        if round.content.steps().is_empty() {
            return Err(Refusal::invalid("Nothing is recorded yet. Make the calls first; they are recorded."));
        }
        Ok(vec![Event::of_plan(&round.id, PlanEvent::Finalized { summary: self.summary(round, summary)? })])
    }

    /// The active plan, if calls are recorded in rounds beside it.
    fn rounds_of(&self) -> Result<&Plan, Refusal> {
        let situation = self.external_situation();
        let situation = GateContext { has_rounds: true, ..situation };
        gate::authorize_plan_tool(&situation, PlanTool::Finalize)?;
        let active = self.snapshot.active().filter(|plan| plan.style() != PlanStyle::Collect);
        active.ok_or_else(|| Refusal::policy_denied("There is no plan beside which calls could be recorded."))
    }

    /// The plan before is over; this is the first content of the one that follows it.
    fn next_plan(&self, style: PlanStyle, first: PlanEvent) -> Result<Vec<Event>, Refusal> {
        let plan = self.new_plan_id();
        Ok(vec![
            self.create(style)?,
            Event::of_plan(&plan, first),
            Event::Session(SessionEvent::PlanModeEnabled { style, plan }),
        ])
    }

    /// The plan that calls are listed with.
    fn worked_on(&self) -> Result<Option<PlanId>, Refusal> {
        let mode = &self.snapshot.opened()?.plan_mode;
        Ok(mode.active_plan.clone().filter(|_| mode.enabled))
    }

    /// Without an execution there is nothing to count it for.
    fn count(&self, counts: PermissionCounts) -> Option<Event> {
        let executing = |plan: &&Plan| plan.status == PlanStatus::Executing;
        let plan = self.snapshot.active().filter(executing).or_else(|| self.snapshot.round().filter(executing))?;
        permissions_counted(plan, plan.execution.as_ref()?, None, counts)
    }

    fn external_report(&self, report: &ProgressReport) -> Result<Vec<Event>, Refusal> {
        let situation = self.external_situation();
        gate::authorize_plan_tool(&situation, PlanTool::Progress)?;
        let plan = self.snapshot.active().ok_or_else(|| gate::not_reported_on(None))?;
        if !matches!(plan.status, PlanStatus::Approved | PlanStatus::Executing) {
            return Err(gate::not_reported_on(Some(plan.status)));
        }
        self.snapshot.opened()?.check_approval_counts(plan)?;
        self.check_reported_step(plan, report)?;
        self.report_on(plan, report)
    }

    /// Refuses a report on a call that Planwright makes, and on a step before those that it needs.
    fn check_reported_step(&self, plan: &Plan, report: &ProgressReport) -> Result<(), Refusal> {
        let execution = match (&plan.execution, plan.status) {
            (Some(execution), PlanStatus::Executing) => execution.clone(),
            _ => self.execution_of(plan),
        };
        match &plan.content {
            PlanContent::Document(_) => Ok(()),
            PlanContent::Collect(collected) => {
                let step = &execution.steps[reported_step(&execution, report.step)?].step;
                let call = collected.steps.iter().find(|call| call.id == *step);
                match call.map(|call| call.runner) {
                    Some(CallRunner::Planwright) => Err(Refusal::policy_denied(format!(
                        "Planwright makes the call of step {step} itself and records its result; plan_get shows it."
                    ))),
                    Some(CallRunner::Client) | None => Ok(()),
                }
            }
            PlanContent::Build(_) => {
                let step = &execution.steps[reported_step(&execution, report.step)?].step;
                match report.outcome.status {
                    StepStatus::InProgress | StepStatus::Completed => {
                        check_needs_done(plan, &PendingChanges::of(&execution), step)
                    }
                    StepStatus::Failed | StepStatus::Skipped | StepStatus::Pending | StepStatus::Uncertain => Ok(()),
                }
            }
        }
    }
}

/// The arguments as the journal keeps them. Very long ones are shortened text.
fn kept(arguments: &Value) -> Value {
    let text = arguments.to_string();
    if text.len() <= MAX_ARGUMENTS {
        return arguments.clone();
    }
    Value::String(format!("{}…", &text[..text.floor_char_boundary(MAX_ARGUMENTS)]))
}

fn changed_since(plan: &Plan, expected: &Digest) -> Refusal {
    Refusal::new(
        RefusalCode::Conflict,
        format!(
            "Plan {} is not the version that you read: you expected {}, and it is {} now. Nothing was stored. Read it with \
             plan_get, and write your change into what it says now.",
            plan.number,
            expected.short(),
            plan.digest()
        ),
    )
}
