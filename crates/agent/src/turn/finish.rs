//! The end of a turn, in words for the person.

use planwright_core::ask::Ask;
use planwright_core::choices::WaitingAsk;
use planwright_core::conversation::{CountTokens as _, ItemContent};
use planwright_core::gate::PlanTool;
use planwright_core::ids::PlanId;
use planwright_core::plan::content::PlanContent;
use planwright_core::plan::{Plan, PlanStatus};
use planwright_core::turn::{INTERRUPTED_RUN, ShownPlan, ToolStatus, TurnEnd, TurnEnding, TurnInput};
use planwright_core::visible::visible;
use planwright_engine::ledger::LedgerResult;
use planwright_engine::plan_status::short_status;
use planwright_engine::server_beats::BEAT_INTERVAL;
use tokio::time::sleep;

use super::replay::{self, RecordedEnd};
use super::runner::{AnswerDelivery, PlanState, TurnRunner};
use crate::leases::is_over_or_taken;
use crate::session::outcome::{PlanCard, TurnOutcome};

impl TurnRunner<'_> {
    /// Records the last inputs and the end, and returns the outcome.
    pub(super) async fn end(&mut self, end: TurnEnd, inputs: Vec<TurnInput>) -> LedgerResult<TurnOutcome> {
        let plan = self.plan_to_show();
        let own_text = self.own_text(&end);
        self.finish(end, own_text, plan, inputs).await
    }

    pub(super) async fn stopped(
        &mut self,
        received: String,
        under_way: Option<TurnInput>,
    ) -> LedgerResult<TurnOutcome> {
        let inputs = Vec::from_iter(under_way);
        let outcome = self.finish(TurnEnd::Stopped, received, None, inputs).await;
        self.or_ended_elsewhere(outcome).await
    }

    /// Ends the turn, unless another process ended it or took it over meanwhile.
    pub(super) async fn end_unless_over(&mut self, end: TurnEnd) -> LedgerResult<TurnOutcome> {
        let outcome = self.end(end, Vec::new()).await;
        self.or_ended_elsewhere(outcome).await
    }

    async fn or_ended_elsewhere(&mut self, outcome: LedgerResult<TurnOutcome>) -> LedgerResult<TurnOutcome> {
        match outcome {
            Err(error) if is_over_or_taken(&error) => self.ended_elsewhere().await,
            outcome => outcome,
        }
    }

    /// The outcome of a turn that another process ended, reset or took over.
    pub(super) async fn ended_elsewhere(&mut self) -> LedgerResult<TurnOutcome> {
        if let Some(held) = self.held.take().filter(|_| !self.turn.purpose.is_part()) {
            self.turns.leases.release(&held).await;
        }
        let open = self.turns.open_turn(&self.session).await?.filter(|open| open.named(&self.turn.id).is_some());
        let Some(open) = open else { return self.ended_by_others().await };
        // A step and a question end with the work that they are a part of. A person who stopped it waits for nothing.
        if self.turn.purpose.is_part() || self.context.work.stop.is_cancelled() {
            let message = "Another process works on this session now and continues this turn.";
            return Ok(self.outcome(TurnEnd::Interrupted, message.to_owned(), None));
        }
        // Others may count this server as dead and continue the turn. It does not begin anew what they are about to begin.
        while !self.agent.beats.is_valid() && !self.context.work.stop.is_cancelled() {
            let open = self.turns.open_turn(&self.session).await?;
            if open.is_none_or(|open| open.named(&self.turn.id).is_none()) {
                return self.ended_by_others().await;
            }
            sleep(BEAT_INTERVAL).await;
        }
        // The person gets the answer of the process that took the turn over, or of this one if that process ended as well.
        match Box::pin(self.turns.finish_open(&open, self.delivery, self.context)).await? {
            Some(outcome) => Ok(outcome),
            None => self.ended_by_others().await,
        }
    }

    /// The end of the turn, from the journal, or what the turn asks a person now.
    async fn ended_by_others(&self) -> LedgerResult<TurnOutcome> {
        let mut found =
            RecordedEnd { text: self.turn.last_reply().map(|reply| reply.text.clone()), ..RecordedEnd::default() };
        let id = &self.turn.id;
        self.turns
            .conversations
            .read(&self.session, self.seq + 1, u64::MAX, &mut |_, event| found.apply(id, event))
            .await?;
        let engine = self.agent.engine();
        if let Some((end, reply)) = found.reply().filter(|(end, _)| *end != TurnEnd::Stopped) {
            let plan = found.shown_plan(engine, &self.session).await;
            return Ok(self.outcome(end, reply, plan));
        }
        match replay::waiting_ask(engine, &self.session, id).await? {
            Some(ask) => Ok(self.asks(&found.text.unwrap_or_default(), ask)),
            None => Ok(self.outcome(TurnEnd::Stopped, "Stopped.".to_owned(), None)),
        }
    }

    async fn finish(
        &mut self,
        end: TurnEnd,
        own_text: String,
        plan: Option<PlanCard>,
        inputs: Vec<TurnInput>,
    ) -> LedgerResult<TurnOutcome> {
        let delivered = plan.as_ref().filter(|_| self.delivery == AnswerDelivery::Answer);
        let shown = delivered.map(|card| ShownPlan { plan: card.plan_id.clone(), digest: card.digest });
        let tokens = self.agent.tokens.count(&own_text);
        let ending = TurnEnding { end: end.clone(), text: own_text.clone(), tokens, shown };
        self.record(inputs, Some(ending)).await?;
        let reply = self.reply(&end, own_text);
        let planner = self.planner_answer(&end, &reply).await?;
        let outcome = TurnOutcome { planner, ..self.outcome(end, reply, plan) };
        self.cache_conversation();
        Ok(outcome)
    }

    /// The turn stays open until a person has answered.
    pub(super) fn waits(&mut self, ask: Ask) -> TurnOutcome {
        let plan = self.snapshot.session.as_ref().and_then(|session| session.worked_on()).cloned();
        let waiting = WaitingAsk { session: self.session.clone(), ask, plan };
        let outcome = self.asks(self.turn.last_reply().map_or("", |reply| &reply.text), waiting);
        self.cache_conversation();
        outcome
    }

    fn asks(&self, text: &str, ask: WaitingAsk) -> TurnOutcome {
        // The end that is given here is not one.
        let outcome = self.outcome(TurnEnd::Interrupted, replay::asking_text(text, &ask), None);
        TurnOutcome { end: None, ask: Some(ask), ..outcome }
    }

    fn outcome(&self, end: TurnEnd, reply: String, plan: Option<PlanCard>) -> TurnOutcome {
        TurnOutcome {
            session: self.session.clone(),
            turn: self.turn.id.clone(),
            end: Some(end),
            ask: None,
            reply,
            plan,
            planner: None,
            usage: self.turn.usage(),
            model_calls: self.turn.model_calls(),
            tool_calls: self.turn.calls_ended(),
        }
    }

    /// The text for the person: the model's last words and Planwright's.
    fn reply(&self, end: &TurnEnd, own_text: String) -> String {
        let last = self.turn.last_reply();
        let replied = last.map(|reply| self.readable_reply(reply.text.trim())).unwrap_or_default();
        let cut_off = last
            .is_some_and(|reply| reply.cut_off)
            .then_some("*(The answer was cut off: the model reached its limit.)*");
        let stopped = matches!(end, TurnEnd::Stopped).then_some("*Stopped.*");
        let replied = match end {
            TurnEnd::Answered | TurnEnd::PlanReady { .. } | TurnEnd::NothingPlanned { .. } => replied.trim(),
            // Text beside calls was streamed to the person already.
            TurnEnd::Stopped
            | TurnEnd::LimitReached { .. }
            | TurnEnd::Looping
            | TurnEnd::NoAnswer
            | TurnEnd::ModelFailed { .. }
            | TurnEnd::Interrupted => "",
        };
        let parts = [Some(replied), cut_off, Some(own_text.trim()), stopped];
        parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
    }

    /// Planwright's own text about the end.
    fn own_text(&self, end: &TurnEnd) -> String {
        let limits = &self.limits;
        match end {
            TurnEnd::Answered if self.turn.purpose.is_part() => String::new(),
            TurnEnd::Answered => self.moved().unwrap_or_default(),
            TurnEnd::Stopped => String::new(),
            TurnEnd::PlanReady { .. } => self.summary_of_the_plan(),
            TurnEnd::NothingPlanned { .. } => {
                "No step was proposed, so the plan was cancelled and plan work is off. `/plan on` begins a new one."
                    .to_owned()
            }
            TurnEnd::LimitReached { limit } => limits.describe(*limit),
            TurnEnd::Looping => format!(
                "I stopped: the model asked for the same thing {} times in a row. Say it differently, or `go on`.",
                limits.repetitions + 2
            ),
            TurnEnd::NoAnswer => "The model answered with nothing, twice. Try again, or say it differently.".to_owned(),
            TurnEnd::ModelFailed { message } => format!("The model could not answer. {message}"),
            TurnEnd::Interrupted if self.turn.purpose.is_part() => self.what_is_uncertain(),
            TurnEnd::Interrupted if self.turn.purpose.run().is_some() => INTERRUPTED_RUN.to_owned(),
            TurnEnd::Interrupted => format!(
                "This turn was interrupted {} times before it could end, so it was given up. What it did is in the \
                 journal. Say `go on` to try again.",
                limits.resumptions + 1
            ),
        }
    }

    /// The last call whose result is unknown.
    fn what_is_uncertain(&self) -> String {
        let Some(call) = self.turn.last_doubtful() else { return "It was interrupted too often.".to_owned() };
        format!("The call: {}({})", visible(&call.name), visible(&call.arguments))
    }

    /// The summary the model gave with the plan, unless it said something beside the call.
    fn summary_of_the_plan(&self) -> String {
        let has_replied = self.turn.last_reply().is_some_and(|reply| !reply.text.trim().is_empty());
        let plan = self.settled.as_ref().and_then(|id| self.snapshot.plan(id)).filter(|_| !has_replied);
        let summary = plan.and_then(|plan| match &plan.content {
            PlanContent::Document(_) => None,
            PlanContent::Collect(collected) => collected.summary.clone(),
            PlanContent::Build(built) => built.summary.clone(),
        });
        summary.unwrap_or_default()
    }

    /// The end of a turn in which a plan tool ended the planning.
    pub(super) async fn planned_end(&mut self) -> LedgerResult<TurnEnd> {
        // A specialist's report ends its turn; the step has its outcome already.
        if self.turn.purpose.is_part() {
            return Ok(TurnEnd::Answered);
        }
        // After a crash right behind the plan tool the plan is found in the conversation.
        let Some(id) = self.settled.clone().or_else(|| self.settled_before()) else { return Ok(TurnEnd::Answered) };
        let plan = self.agent.engine().plans().get(&self.session, &id).await?;
        let end = match plan.status {
            PlanStatus::Ready => TurnEnd::PlanReady { plan: id.clone() },
            PlanStatus::Cancelled => TurnEnd::NothingPlanned { plan: id.clone() },
            // A person decided about it in the meantime, so the turn does not wait for one.
            PlanStatus::Collecting
            | PlanStatus::Approved
            | PlanStatus::Executing
            | PlanStatus::PartiallyCompleted
            | PlanStatus::Completed
            | PlanStatus::Rejected
            | PlanStatus::Superseded => TurnEnd::Answered,
        };
        self.snapshot.plans.insert(id.clone(), plan);
        self.settled = Some(id);
        Ok(end)
    }

    /// The plan that the journal says was settled.
    fn settled_before(&self) -> Option<PlanId> {
        let outcome = self.conversation.items.iter().rev().find_map(|item| match &item.content {
            ItemContent::Result { outcome } if outcome.status == ToolStatus::Settled => Some(outcome),
            ItemContent::Result { .. }
            | ItemContent::Person { .. }
            | ItemContent::Model { .. }
            | ItemContent::Note { .. }
            | ItemContent::Reminder { .. }
            | ItemContent::RunResult { .. } => None,
        })?;
        let answer: serde_json::Value = serde_json::from_str(&outcome.text).ok()?;
        PlanId::new(answer.get("plan_id")?.as_str()?).ok()
    }

    /// A plan that waits for the person and whose current version was not shown to them.
    fn plan_to_show(&self) -> Option<PlanCard> {
        if self.turn.purpose.is_part() {
            return None;
        }
        let settled = self.settled.as_ref().and_then(|id| self.snapshot.plan(id));
        let plan = settled.or_else(|| self.snapshot.active())?;
        let shown = self.snapshot.session.as_ref().and_then(|session| session.shown.as_ref());
        let seen = shown.is_some_and(|shown| shown.plan == plan.id && shown.digest == plan.digest());
        (plan.status == PlanStatus::Ready && !seen).then(|| PlanCard::of(plan, None))
    }

    /// The status of the plan, if this turn changed it or could not end its planning.
    fn moved(&self) -> Option<String> {
        let plan = self.snapshot.active().filter(|plan| plan.status != PlanStatus::Ready)?;
        let now = PlanState::of(plan);
        let is_told = self.before.as_ref() != Some(&now) || self.is_left_a_draft(plan);
        (is_told && !plan.is_empty()).then(|| short_status(plan))
    }

    /// Whether the last call that was to end the planning failed: only a message of the person continues the draft.
    fn is_left_a_draft(&self, plan: &Plan) -> bool {
        let ends_planning = |name: &str| [PlanTool::Finalize, PlanTool::Submit].iter().any(|tool| tool.name() == name);
        let last = self.turn.last_status(ends_planning);
        plan.status == PlanStatus::Collecting && last.is_some_and(ToolStatus::is_failure)
    }
}
