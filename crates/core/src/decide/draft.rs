//! What an agent may do to the active plan while it drafts.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::command::{DraftCommand, MetadataChange, NewStep, StepChange};
use crate::decide::Decider;
use crate::event::{Event, PlanEvent, SessionEvent};
use crate::gate::{self, Caller, GateContext, PlanTool};
use crate::identity::Channel;
use crate::ids::StepId;
use crate::mode::ModeEnd;
use crate::plan::content::{AgentStep, Built, CallRunner, Document, PlanContent, RecordedCall};
use crate::plan::lifecycle::{Action, Rule};
use crate::plan::{Plan, PlanNeeds, PlanStatus};
use crate::plan::{completeness, markdown};
use crate::policy::filled;
use crate::refusal::{Refusal, RefusalCode};
use crate::visible::quoted;

impl Decider<'_> {
    pub(super) fn draft(&self, command: &DraftCommand) -> Result<Vec<Event>, Refusal> {
        match command {
            DraftCommand::SetContent { markdown, title } => self.set_content(markdown, title.as_deref()),
            DraftCommand::RecordStep { tool, arguments } => self.record_step(tool, arguments),
            DraftCommand::Finalize { summary } => self.finalize(summary.as_deref()),
            DraftCommand::CreateDraft { goal, title } => self.create_draft(goal, title.as_deref()),
            DraftCommand::SetMetadata(change) => self.set_metadata(change),
            DraftCommand::AddStep(step) => self.add_step(step),
            DraftCommand::UpdateStep { step, change } => self.update_step(step, change),
            DraftCommand::RemoveStep { step } => self.remove_step(step),
            DraftCommand::Submit { summary } => self.submit(summary.as_deref()),
            DraftCommand::Answered { draft, answers } => self.with_answers(self.draft(draft)?, answers),
        }
    }

    /// The active plan, if the gate lets this tool through.
    pub(super) fn through_gate(&self, tool: PlanTool) -> Result<&Plan, Refusal> {
        let situation = GateContext::of(self.snapshot, self.policy, Caller::Conversation);
        gate::authorize_plan_tool(&situation, tool)?;
        self.active()
    }

    fn active(&self) -> Result<&Plan, Refusal> {
        self.snapshot.active().ok_or_else(|| Refusal::policy_denied("There is no active plan in this session."))
    }

    fn set_content(&self, markdown: &str, title: Option<&str>) -> Result<Vec<Event>, Refusal> {
        self.set_content_of(self.through_gate(PlanTool::SetContent)?, markdown, title)
    }

    /// The text and the title of a document, if they fit.
    pub(super) fn document_text(&self, markdown: &str, title: Option<&str>) -> Result<PlanEvent, Refusal> {
        filled("plan", markdown)?;
        self.policy.limits.check_plan(markdown.len())?;
        self.check_document_steps(markdown)?;
        PlanNeeds::of_document(markdown)?;
        Ok(PlanEvent::ContentSet { markdown: markdown.to_owned(), title: self.title(title)? })
    }

    pub(super) fn set_content_of(
        &self,
        plan: &Plan,
        markdown: &str,
        title: Option<&str>,
    ) -> Result<Vec<Event>, Refusal> {
        let rule = plan.permits(Action::SetContent)?;
        let content = self.document_text(markdown, title)?;
        let title = self.title(title)?;
        if plan.status == PlanStatus::Ready && plan.says(markdown, title.as_deref()) {
            return Ok(Vec::new());
        }
        let set = |plan| Event::Plan { id: plan, event: content };
        match rule {
            Rule::Supersedes => {
                let by = self.new_plan_id();
                Ok(vec![
                    self.succeed(plan, PlanContent::Document(Document::default()))?,
                    set(by.clone()),
                    Event::of_plan(&plan.id, PlanEvent::Superseded { by }),
                ])
            }
            Rule::Stays | Rule::Becomes(_) | Rule::Redrafts | Rule::Ends | Rule::No => Ok(vec![set(plan.id.clone())]),
        }
    }

    /// A document has at most as many steps as lines, so most need not be parsed for this.
    fn check_document_steps(&self, markdown: &str) -> Result<(), Refusal> {
        let limits = &self.policy.limits;
        if markdown.lines().count() <= limits.steps {
            return Ok(());
        }
        limits.check_steps(markdown::steps(markdown).len())
    }

    fn record_step(&self, tool: &str, arguments: &Value) -> Result<Vec<Event>, Refusal> {
        let situation = GateContext::of(self.snapshot, self.policy, Caller::Conversation);
        gate::authorize_recording(&situation, tool)?;
        let plan = self.active()?;
        let call = RecordedCall {
            id: plan.next_step_id(),
            tool: tool.to_owned(),
            arguments: arguments.clone(),
            description: None,
            runner: CallRunner::Planwright,
        };
        self.record_call(plan, call)
    }

    pub(super) fn record_call(&self, plan: &Plan, call: RecordedCall) -> Result<Vec<Event>, Refusal> {
        plan.permits(Action::RecordStep)?;
        self.check_call(&call)?;
        self.check_growth(plan, call.size(), 1)?;
        Ok(vec![Event::of_plan(&plan.id, PlanEvent::StepRecorded { step: call })])
    }

    pub(super) fn check_call(&self, call: &RecordedCall) -> Result<(), Refusal> {
        let RecordedCall { tool, arguments, .. } = call;
        if !arguments.is_object() {
            return Err(Refusal::invalid(format!("The arguments of {} are not a JSON object.", quoted(tool))));
        }
        self.policy.limits.check_depth(&format!("arguments of {}", quoted(tool)), arguments)?;
        self.policy.limits.check_plan(call.size())
    }

    /// A plan nothing was collected for is cancelled, and the mode ends with it.
    fn finalize(&self, summary: Option<&str>) -> Result<Vec<Event>, Refusal> {
        let plan = self.through_gate(PlanTool::Finalize)?;
        plan.permits(Action::Finalize)?;
        if plan.content.steps().is_empty() {
            // While plan work is off, nothing holds the agent of another program.
            if matches!(self.snapshot.identity.channel, Channel::Mcp | Channel::Acp) {
                return Err(Refusal::invalid(
                    "Nothing is recorded yet. Record the calls first; if there is nothing to do, say so to the person.",
                ));
            }
            let reason = Some("nothing was collected".to_owned());
            return Ok(vec![
                Event::of_plan(&plan.id, PlanEvent::Cancelled { reason }),
                Event::Session(SessionEvent::PlanModeDisabled { end: ModeEnd::NothingCollected }),
            ]);
        }
        Ok(vec![Event::of_plan(&plan.id, PlanEvent::Finalized { summary: self.summary(plan, summary)? })])
    }

    fn create_draft(&self, goal: &str, title: Option<&str>) -> Result<Vec<Event>, Refusal> {
        let situation = GateContext::of(self.snapshot, self.policy, Caller::Conversation);
        gate::authorize_plan_tool(&situation, PlanTool::CreateDraft)?;
        let goal = self.line("goal", goal)?;
        let change = MetadataChange { goal: Some(goal), title: self.title(title)?, ..MetadataChange::default() };
        let active = self.snapshot.active();
        if let Some(plan) = active.filter(|plan| plan.status == PlanStatus::Executing) {
            return Err(plan.wrong_status("no other draft can take its place"));
        }
        if let Some(plan) = active.filter(|plan| plan.status == PlanStatus::Collecting && plan.is_empty()) {
            return Ok(vec![Event::of_plan(&plan.id, PlanEvent::MetadataSet { change })]);
        }
        let style = self.snapshot.opened()?.plan_mode.style;
        let plan = self.new_plan_id();
        Ok(vec![
            self.create(style)?,
            Event::of_plan(&plan, PlanEvent::MetadataSet { change }),
            Event::Session(SessionEvent::PlanModeEnabled { style, plan }),
        ])
    }

    fn set_metadata(&self, change: &MetadataChange) -> Result<Vec<Event>, Refusal> {
        let (plan, built) = self.editable(PlanTool::SetMetadata)?;
        if *change == MetadataChange::default() {
            return Err(Refusal::invalid(
                "Nothing was given to set: goal, title, assumptions, risks, verification or files.",
            ));
        }
        let change = MetadataChange {
            goal: change.goal.as_deref().map(|goal| self.line("goal", goal)).transpose()?,
            title: self.title(change.title.as_deref())?,
            assumptions: self.list("assumptions", &change.assumptions)?,
            risks: self.list("risks", &change.risks)?,
            verification: self.list("verification", &change.verification)?,
            files: self.list("files", &change.files)?,
        };
        let goal =
            change.goal.as_deref().map(|goal| goal.len().saturating_sub(built.goal.as_ref().map_or(0, String::len)));
        let lists = [
            (&change.assumptions, &built.assumptions),
            (&change.risks, &built.risks),
            (&change.verification, &built.verification),
            (&change.files, &built.files),
        ];
        let bytes = |list: &[String]| list.iter().map(String::len).sum::<usize>();
        let grown = lists
            .into_iter()
            .filter_map(|(given, present)| Some(bytes(given.as_ref()?).saturating_sub(bytes(present))));
        self.check_growth(plan, grown.sum::<usize>() + goal.unwrap_or_default(), 0)?;
        Ok(vec![Event::of_plan(&plan.id, PlanEvent::MetadataSet { change })])
    }

    fn add_step(&self, new: &NewStep) -> Result<Vec<Event>, Refusal> {
        let (plan, built) = self.editable(PlanTool::AddStep)?;
        let last = built.steps.len() + 1;
        let position = new.position.unwrap_or(last);
        check_position(position, last)?;
        self.policy.agents.assignable(&new.agent)?;
        let step = AgentStep {
            id: plan.next_step_id(),
            description: self.line("description", &new.description)?,
            agent: new.agent.clone(),
            needs: once_each(&new.needs),
            verification: new.verification.as_deref().map(|text| self.line("verification", text)).transpose()?,
            commands: self.commands(&new.commands)?,
        };
        self.check_growth(plan, step.size(), 1)?;
        let index = position - 1;
        let mut steps = built.steps.clone();
        steps.insert(index, step.clone());
        check_needs(&steps)?;
        Ok(vec![Event::of_plan(&plan.id, PlanEvent::StepAdded { index, step })])
    }

    fn update_step(&self, id: &StepId, change: &StepChange) -> Result<Vec<Event>, Refusal> {
        let (plan, built) = self.editable(PlanTool::UpdateStep)?;
        if *change == StepChange::default() {
            return Err(Refusal::invalid(
                "Nothing was given to change: description, agent, position, needs, verification or commands.",
            ));
        }
        let before = built.steps.iter().position(|step| step.id == *id).ok_or_else(|| no_step(plan, id))?;
        let mut steps = built.steps.clone();
        let mut step = steps.remove(before);
        if let Some(description) = &change.description {
            step.description = self.line("description", description)?;
        }
        if let Some(agent) = &change.agent {
            self.policy.agents.assignable(agent)?;
            step.agent.clone_from(agent);
        }
        if let Some(needs) = &change.needs {
            step.needs = once_each(needs);
        }
        if let Some(verification) = &change.verification {
            step.verification = Some(self.line("verification", verification)?);
        }
        if let Some(commands) = &change.commands {
            step.commands = self.commands(commands)?;
        }
        let position = change.position.unwrap_or(before + 1);
        check_position(position, built.steps.len())?;
        let index = position - 1;
        steps.insert(index, step.clone());
        check_needs(&steps)?;
        self.check_growth(plan, step.size().saturating_sub(built.steps[before].size()), 0)?;
        Ok(vec![Event::of_plan(&plan.id, PlanEvent::StepUpdated { index, step })])
    }

    fn remove_step(&self, id: &StepId) -> Result<Vec<Event>, Refusal> {
        let (plan, built) = self.editable(PlanTool::RemoveStep)?;
        if !built.steps.iter().any(|step| step.id == *id) {
            return Err(no_step(plan, id));
        }
        if let Some(dependent) = built.steps.iter().find(|step| step.needs.contains(id)) {
            return Err(Refusal::invalid(format!("Step {} needs step {id}; change or remove it first.", dependent.id)));
        }
        Ok(vec![Event::of_plan(&plan.id, PlanEvent::StepRemoved { step: id.clone() })])
    }

    fn submit(&self, summary: Option<&str>) -> Result<Vec<Event>, Refusal> {
        let plan = self.through_gate(PlanTool::Submit)?;
        plan.permits(Action::Finalize)?;
        let problems = match &plan.content {
            PlanContent::Build(built) => completeness::missing(built, &self.policy.agents),
            PlanContent::Document(_) | PlanContent::Collect(_) => Vec::new(),
        };
        if problems.is_empty() {
            return Ok(vec![Event::of_plan(&plan.id, PlanEvent::Finalized { summary: self.summary(plan, summary)? })]);
        }
        let unknown_agent_only = problems.iter().all(|problem| problem.path.ends_with("/agent"));
        let code = if unknown_agent_only { RefusalCode::UnknownAgent } else { RefusalCode::InvalidArgument };
        let count = problems.len();
        let parts = if count == 1 { "1 part is".to_owned() } else { format!("{count} parts are") };
        let message = format!("Plan {} stays a draft: {parts} missing or wrong.", plan.number);
        Err(Refusal::new(code, message).with_problems(problems))
    }

    /// The active built plan, if this tool may edit it now.
    fn editable(&self, tool: PlanTool) -> Result<(&Plan, &Built), Refusal> {
        let plan = self.through_gate(tool)?;
        plan.permits(Action::EditDraft)?;
        match &plan.content {
            PlanContent::Build(built) => Ok((plan, built)),
            PlanContent::Document(_) | PlanContent::Collect(_) => Err(gate::other_style(tool, plan.style())),
        }
    }

    fn title(&self, title: Option<&str>) -> Result<Option<String>, Refusal> {
        title.map(|title| self.line("title", title)).transpose()
    }

    pub(super) fn summary(&self, plan: &Plan, summary: Option<&str>) -> Result<Option<String>, Refusal> {
        let Some(summary) = summary.filter(|summary| !summary.trim().is_empty()) else { return Ok(None) };
        self.check_growth(plan, summary.len(), 0)?;
        Ok(Some(self.line("summary", summary)?))
    }

    pub(super) fn line(&self, what: &str, text: &str) -> Result<String, Refusal> {
        self.policy.limits.check_line(what, text)?;
        filled(what, text).map(str::to_owned)
    }

    /// Each is shown for approval in one line and run as it was shown.
    fn commands(&self, commands: &[String]) -> Result<Vec<String>, Refusal> {
        self.policy.limits.check_list("commands", commands.len())?;
        let command = |command: &String| {
            let line = self.line("command", command)?;
            if line.contains(char::is_control) {
                return Err(Refusal::invalid(format!(
                    "The command {} is not one line of visible characters; give several lines as several commands.",
                    quoted(&line)
                )));
            }
            Ok(line)
        };
        commands.iter().map(command).collect()
    }

    fn list(&self, what: &str, list: &Option<Vec<String>>) -> Result<Option<Vec<String>>, Refusal> {
        let Some(list) = list else { return Ok(None) };
        self.policy.limits.check_list(what, list.len())?;
        let what = format!("item of {what}");
        list.iter().map(|item| self.line(&what, item)).collect::<Result<Vec<_>, _>>().map(Some)
    }

    fn check_growth(&self, plan: &Plan, bytes: usize, steps: usize) -> Result<(), Refusal> {
        self.policy.limits.check_plan(plan.content.size() + bytes)?;
        self.policy.limits.check_steps(plan.content.steps().len() + steps)
    }
}

fn check_position(position: usize, last: usize) -> Result<(), Refusal> {
    if (1..=last).contains(&position) {
        return Ok(());
    }
    Err(Refusal::invalid(format!("There is no position {position}; positions go from 1 to {last} here.")))
}

fn once_each(needs: &[StepId]) -> Vec<StepId> {
    let mut seen = BTreeSet::new();
    needs.iter().filter(|need| seen.insert(*need)).cloned().collect()
}

/// A step may only need steps that come before it, so there can be no cycle.
fn check_needs(steps: &[AgentStep]) -> Result<(), Refusal> {
    let positions: BTreeMap<_, _> = steps.iter().enumerate().map(|(index, step)| (&step.id, index)).collect();
    for (index, step) in steps.iter().enumerate() {
        for need in &step.needs {
            match positions.get(need) {
                Some(earlier) if *earlier < index => {}
                Some(_) => {
                    return Err(Refusal::invalid(format!(
                        "Step {} needs step {need}, which does not come before it.",
                        step.id
                    )));
                }
                None => {
                    return Err(Refusal::not_found(format!(
                        "Step {} needs step {need}, which does not exist.",
                        step.id
                    )));
                }
            }
        }
    }
    Ok(())
}

fn no_step(plan: &Plan, id: &StepId) -> Refusal {
    Refusal::not_found(format!("Plan {} has no step {id}.", plan.number))
}
