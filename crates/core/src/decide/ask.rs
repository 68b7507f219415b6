//! What a turn asks a person, and the person's answer.

use crate::actor::ActorKind;
use crate::ask::{Ask, AskAnswer, AskSubject, CallToPermit, Grant};
use crate::client_ask::{self, ClientAsk, MAX_CLIENT_ASKS};
use crate::command::AnswerCommand;
use crate::decide::Decider;
use crate::decide::execution::permissions_counted;
use crate::door::ToSign;
use crate::event::{Event, SessionEvent, TurnEvent};
use crate::ids::{AskId, ExecutionId, TurnId};
use crate::plan::execution::PermissionCounts;
use crate::plan::risk::tool_risks;
use crate::plan::{Digest, Plan, PlanStatus};
use crate::policy::filled;
use crate::refusal::{Refusal, RefusalCode};
use crate::turn::OpenTurn;

/// How many questions an agent asks at once.
const QUESTIONS: usize = 10;
/// How many choices a question has.
const CHOICES: usize = 20;

impl Decider<'_> {
    pub(super) fn ask(&self, turn: &TurnId, call: u32, subject: &AskSubject) -> Result<Vec<Event>, Refusal> {
        let open = self.open_turn(turn)?;
        if call != open.ended + 1 || call > open.calls || open.ask.is_some() {
            return Err(Refusal::conflict(format!("Call {call} is not the one that is to be carried out.")));
        }
        self.check_subject(subject)?;
        let ask = AskId::from(&self.context.request);
        let digest = subject.digest(turn, call);
        let asks_permission = matches!(subject, AskSubject::Permission(_));
        let event = match subject.clone() {
            AskSubject::Permission(asked) => TurnEvent::PermissionAsked { ask, call, digest, asked },
            AskSubject::Questions { questions } => TurnEvent::QuestionsAsked { ask, call, digest, questions },
        };
        let counted = asks_permission.then(|| self.counted(open, PermissionCounts::ASKED)).flatten();
        Ok(std::iter::once(Event::of_turn(turn, event)).chain(counted).collect())
    }

    fn check_subject(&self, subject: &AskSubject) -> Result<(), Refusal> {
        let AskSubject::Questions { questions } = subject else { return Ok(()) };
        if questions.is_empty() || questions.len() > QUESTIONS {
            return Err(Refusal::invalid(format!("Ask 1 to {QUESTIONS} questions at once.")));
        }
        for question in questions {
            filled("question", &question.text)?;
            self.policy.limits.check_line("question", &question.text)?;
            if question.choices.len() > CHOICES {
                return Err(Refusal::invalid(format!("A question has at most {CHOICES} choices.")));
            }
            for choice in &question.choices {
                filled("choice", choice)?;
                self.policy.limits.check_line("choice", choice)?;
            }
        }
        Ok(())
    }

    /// The first valid answer of a person counts.
    pub(super) fn answer(&self, command: &AnswerCommand) -> Result<Vec<Event>, Refusal> {
        let AnswerCommand { ask: id, digest, answer } = command;
        if let Some(asked) = self.snapshot.opened()?.client_asks.iter().find(|asked| asked.ask.id == *id) {
            return self.answer_client_call(asked, *digest, answer);
        }
        let open = self.asking_turn(id)?;
        let Some(ask) = &open.ask else { return Err(not_asked(id)) };
        self.check_answered_ask(ask, *digest, answer)?;
        let event = match answer.clone() {
            AskAnswer::Permission { grant, note, arguments } => {
                if let (true, AskSubject::Permission(call)) = (grant.permits(), &ask.subject) {
                    self.check_signed(&tool_risks(&call.tool), || ToSign::Permit { ask: id, grant })?;
                }
                if let Some(note) = &note {
                    self.policy.limits.check_line("answer", note)?;
                }
                if let Some(arguments) = &arguments {
                    self.policy.limits.check_message(&arguments.to_string())?;
                }
                let execution = match grant {
                    Grant::Plan => Some(self.executing_plan(open)?),
                    Grant::Once | Grant::Always | Grant::No => None,
                };
                TurnEvent::PermissionAnswered { ask: id.clone(), grant, note, arguments, execution }
            }
            AskAnswer::Questions { answers } => {
                for answer in &answers {
                    self.policy.limits.check_line("answer", answer)?;
                }
                TurnEvent::QuestionsAnswered { ask: id.clone(), answers }
            }
        };
        Ok(vec![Event::of_turn(&open.id, event)])
    }

    fn check_answered_ask(&self, ask: &Ask, digest: Digest, answer: &AskAnswer) -> Result<(), Refusal> {
        if self.context.by.kind != ActorKind::Person {
            return Err(Refusal::policy_denied("Only a person answers what the agent asks."));
        }
        if !ask.is_waiting() {
            return Err(Refusal::conflict("It was answered already."));
        }
        if ask.digest != digest {
            return Err(Refusal::new(
                RefusalCode::StaleApproval,
                "The agent asks something else now. Look at it again before you answer.",
            ));
        }
        ask.subject.check_answer(answer)
    }

    /// A person is asked about a call of a client's own tool, beside the approved plan.
    pub(super) fn ask_client_call(&self, asked: &CallToPermit) -> Result<Vec<Event>, Refusal> {
        let session = self.snapshot.opened()?;
        let plan = self.approved_plan()?;
        if session.client_asks.iter().any(|known| known.plan == plan.id && known.is_about(asked)) {
            return Ok(Vec::new());
        }
        if session.client_asks.len() >= MAX_CLIENT_ASKS {
            return Err(Refusal::new(
                RefusalCode::LimitExceeded,
                format!("A person was asked about {MAX_CLIENT_ASKS} calls beside this plan, which is the most."),
            ));
        }
        self.policy.limits.check_line("tool", &asked.tool)?;
        self.policy.limits.check_message(&asked.arguments.to_string())?;
        let asked = CallToPermit { always: None, ..asked.clone() };
        let ask = AskId::from(&self.context.request);
        let digest = client_ask::digest(&ask, &plan.id, &asked);
        let execution = plan.execution.as_ref().filter(|_| plan.status == PlanStatus::Executing);
        let counted =
            execution.and_then(|execution| permissions_counted(plan, execution, None, PermissionCounts::ASKED));
        let event = SessionEvent::ClientCallAsked { ask, plan: plan.id.clone(), digest, asked };
        Ok(std::iter::once(Event::Session(event)).chain(counted).collect())
    }

    /// The agent makes a call that was permitted once; the next one like it is asked about again.
    pub(super) fn take_client_call(&self, ask: &AskId) -> Result<Vec<Event>, Refusal> {
        let plan = self.approved_plan()?;
        let session = self.snapshot.opened()?;
        let is_permitted = |asked: &&ClientAsk| {
            let grant = match asked.answer() {
                Some(AskAnswer::Permission { grant, .. }) => Some(*grant),
                Some(AskAnswer::Questions { .. }) | None => None,
            };
            asked.ask.id == *ask && asked.plan == plan.id && grant == Some(Grant::Once)
        };
        let asked = session.client_asks.iter().find(is_permitted).ok_or_else(|| not_asked(ask))?;
        Ok(vec![Event::Session(SessionEvent::ClientCallTaken { ask: asked.ask.id.clone(), plan: plan.id.clone() })])
    }

    fn answer_client_call(&self, asked: &ClientAsk, digest: Digest, answer: &AskAnswer) -> Result<Vec<Event>, Refusal> {
        self.check_answered_ask(&asked.ask, digest, answer)?;
        let AskAnswer::Permission { grant, note, arguments } = answer else {
            return Err(Refusal::invalid("The agent asks for permission: answer `once`, `plan` or `no`."));
        };
        if arguments.is_some() {
            return Err(Refusal::invalid(
                "The client makes this call itself, so its arguments cannot be changed: answer `no` with words instead.",
            ));
        }
        if self.approved_plan().map(|plan| &plan.id).ok() != Some(&asked.plan) {
            return Err(Refusal::wrong_status("The plan beside which it was asked is over, so nothing is permitted."));
        }
        if let (true, AskSubject::Permission(call)) = (grant.permits(), &asked.ask.subject) {
            self.approval_check(&tool_risks(&call.tool)).check()?;
        }
        if let Some(note) = note {
            self.policy.limits.check_line("answer", note)?;
        }
        let (ask, plan) = (asked.ask.id.clone(), asked.plan.clone());
        let answered = SessionEvent::ClientCallAnswered { ask, plan, grant: *grant, note: note.clone() };
        Ok(vec![Event::Session(answered)])
    }

    /// The active plan, if a person has approved it and it is not over.
    fn approved_plan(&self) -> Result<&Plan, Refusal> {
        let is_on = self.snapshot.opened()?.plan_mode.enabled;
        let approved = |plan: &&Plan| matches!(plan.status, PlanStatus::Approved | PlanStatus::Executing);
        let plan = self.snapshot.active().filter(|_| is_on).filter(approved);
        plan.ok_or_else(|| Refusal::wrong_status("No approved plan is being worked on."))
    }

    /// The open turn, or the question to a specialist that it waits for, whichever asks this.
    fn asking_turn(&self, ask: &AskId) -> Result<&OpenTurn, Refusal> {
        let open = self.snapshot.opened()?.turn.as_ref();
        let asks = |open: &&OpenTurn| open.ask.as_ref().is_some_and(|asked: &Ask| asked.id == *ask);
        let turns = open.into_iter().flat_map(|open| [Some(open), open.question.as_deref()]).flatten();
        turns.into_iter().find(asks).ok_or_else(|| not_asked(ask))
    }

    /// The execution that the turn works for.
    fn executing_plan(&self, open: &OpenTurn) -> Result<ExecutionId, Refusal> {
        let outer = self.snapshot.opened()?.turn.as_ref();
        let worked_on = open.purpose.plan().or_else(|| outer.and_then(|outer| outer.purpose.plan()));
        let plan = match worked_on {
            Some(plan) => Some(self.snapshot.named(plan)?),
            None => self.snapshot.active(),
        };
        let plan = plan.filter(|plan| plan.status == PlanStatus::Executing);
        let execution = plan.and_then(|plan| plan.execution.as_ref()).map(|execution| execution.id.clone());
        execution.ok_or_else(|| {
            Refusal::wrong_status("No plan is being carried out: answer `once`, `always` or `no` instead of `plan`.")
        })
    }
}

fn not_asked(ask: &AskId) -> Refusal {
    Refusal::not_found(format!("The agent does not ask {ask} any more."))
}
