//! Waiting for a person's decision, and asking for it in the client where that counts.
//!
//! An answer in the client is given through the same program that the agent runs in, so it counts as the access token at
//! most. The approval policy decides whether that is enough; where it is not, the person is not asked there, and a client
//! that can open pages is sent to the review page of the dashboard instead.

use std::collections::BTreeSet;
use std::time::Duration;

use planwright_agent::tools::ExternalTools;
use planwright_core::actor::Actor;
use planwright_core::approval::{AgentSandbox, AgentsSeen, ApprovalCheck, Risk};
use planwright_core::choices::{Choice, ChoiceKind, PlanChoice, choices};
use planwright_core::ids::PlanId;
use planwright_core::plan::approval::Selection;
use planwright_core::plan::{Plan, PlanStatus};
use planwright_core::presence::Presence;
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_core::visible::visible;
use planwright_engine::Engine;
use planwright_engine::ledger::LedgerError;
use rmcp::model::{
    ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema, ElicitationSchemaBuilder, EnumSchema,
    LegacyEnumSchema,
};
use rmcp::service::{Peer, RequestContext, RoleServer};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::session_changes::SessionChanges;
use super::{PersonCommands, THROUGH, progress};

/// Without a time-out in the call. Many clients give up a call after a minute.
const USUAL_WAIT: Duration = Duration::from_secs(50);
const MAX_WAIT: Duration = Duration::from_secs(3600);
/// The time between two signs of life for a client that asked for them.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(5);
/// The longest plan that is put into a form. A person does not approve in a form what it does not show whole.
const MAX_SHOWN: usize = 4_000;
/// The answer of a person who does not decide yet, and its label.
const LATER: (&str, &str) = ("later", "Decide later");

pub(super) struct DecisionWait<'a> {
    pub(super) engine: &'a Engine,
    pub(super) session: &'a SessionIdentity,
    pub(super) changes: &'a SessionChanges,
    pub(super) commands: &'a PersonCommands,
    pub(super) context: &'a RequestContext<RoleServer>,
    pub(super) seconds: Option<u64>,
}

impl DecisionWait<'_> {
    /// Returns when a person has decided, wherever they did it, or after the time-out.
    pub(super) async fn run(&self) -> Result<Value, Refusal> {
        let wait = self.seconds.map_or(USUAL_WAIT, Duration::from_secs).min(MAX_WAIT);
        let deadline = Instant::now() + wait;
        let mut entries = self.changes.entries();
        let mut signs = tokio::time::interval_at(Instant::now() + HEARTBEAT_INTERVAL, HEARTBEAT_INTERVAL);
        let mut count = 0_u32;
        let mut asking = std::pin::pin!(self.ask());
        let mut asked = false;
        // Another plan or round that becomes ready meanwhile is not the one that is waited for.
        let awaited = ExternalTools::new(self.engine).awaited(self.session).await.map_err(LedgerError::into_refusal)?;
        let awaited = awaited.map(|plan| plan.id.clone());
        loop {
            entries.borrow_and_update();
            let decision = self.decision(awaited.as_ref()).await?;
            if decision["decided"] == true || decision["status"] != PlanStatus::Ready.as_str() {
                return Ok(decision);
            }
            tokio::select! {
                answer = &mut asking, if !asked => {
                    asked = true;
                    if let Some(message) = answer {
                        let mut decision = self.decision(awaited.as_ref()).await?;
                        decision["in_client"] = json!(message);
                        if decision["decided"] == true {
                            return Ok(decision);
                        }
                    }
                }
                _ = entries.changed() => {}
                _ = signs.tick() => {
                    count += 1;
                    let message = "The plan waits for a person's decision.";
                    progress::send(self.context, f64::from(count), None, Some(message)).await;
                }
                () = tokio::time::sleep_until(deadline) => return self.decision(awaited.as_ref()).await,
                () = self.context.ct.cancelled() => return Err(Refusal::invalid("The call was cancelled.")),
            }
        }
    }

    async fn decision(&self, about: Option<&PlanId>) -> Result<Value, Refusal> {
        let tools = ExternalTools::new(self.engine);
        let decision = match about {
            Some(plan) => tools.decision_about(self.session, plan).await,
            None => tools.decision(self.session).await,
        };
        let mut decision = decision.map_err(LedgerError::into_refusal)?;
        if decision["decided"] == false && decision["status"] == PlanStatus::Ready.as_str() {
            // A round is not the active plan, which the command means without a number.
            let number = decision["round_number"].is_number().then(|| format!(" {}", decision["number"]));
            decision["message"] = json!(format!(
                "No person has decided yet, and that is not an approval. They decide with `{}{}`.",
                self.commands.plan("approve", self.session),
                number.unwrap_or_default()
            ));
        }
        Ok(decision)
    }

    /// Asks the person in the client. Returns the result in words, or `None` if they were not asked or did not answer.
    async fn ask(&self) -> Option<String> {
        let capabilities = self.context.peer.peer_info()?.capabilities.elicitation.clone()?;
        let plan = ExternalTools::new(self.engine).awaited(self.session).await.ok()??;
        if plan.status != PlanStatus::Ready {
            return None;
        }
        let has_form = capabilities.form.is_some() || capabilities.url.is_none();
        let fits = visible(&plan.markdown()).chars().count() <= MAX_SHOWN;
        if has_form && fits && answers_in_client_count(self.engine, self.session, &plan.risks()).await {
            return self.ask_form(&plan).await;
        }
        let dashboard = self.commands.dashboard.as_deref().filter(|_| capabilities.url.is_some())?;
        self.open_page(&plan, dashboard).await
    }

    async fn ask_form(&self, plan: &Plan) -> Option<String> {
        let text = plan.markdown();
        let message =
            format!("Plan {} waits for your decision (digest {}).\n\n{}", plan.number, plan.digest(), visible(&text));
        let offered = choices(plan, None).list;
        let form = ElicitationSchema::builder().optional_string("note");
        let (chosen, content) = choose(&self.context.peer, message, form, &offered, &[LATER]).await?;
        let note = content["note"].as_str().map(str::trim).filter(|note| !note.is_empty()).map(str::to_owned);
        let person = Actor::person("person", THROUGH).recognised(Presence::Token);
        let plans = self.engine.plans();
        let decided = match chosen {
            ChoiceKind::Plan(PlanChoice::Approve) => {
                plans.approve(self.session, &person, &plan.id, plan.digest(), Selection::All, note).await
            }
            ChoiceKind::Plan(PlanChoice::Reject) => plans.reject(self.session, &person, &plan.id, note).await,
            ChoiceKind::Plan(PlanChoice::Revise) => {
                plans.revise(self.session, &person, &plan.id, note.unwrap_or_default()).await
            }
            // Not offered while a plan waits for an approval.
            ChoiceKind::Plan(
                PlanChoice::Resume
                | PlanChoice::Next { .. }
                | PlanChoice::Settle(_)
                | PlanChoice::Cancel
                | PlanChoice::Watch
                | PlanChoice::Begin,
            )
            | ChoiceKind::Permit(_)
            | ChoiceKind::AcceptTools
            | ChoiceKind::Answer
            | ChoiceKind::ResumeRun
            | ChoiceKind::StopRun => return None,
        };
        Some(match decided {
            Ok(_) => "The person decided in the client.".to_owned(),
            Err(error) => format!("The person's answer in the client does not count: {}", error.into_refusal().message),
        })
    }

    async fn open_page(&self, plan: &Plan, dashboard: &str) -> Option<String> {
        let message = format!("Plan {} waits for your decision. Review it in the dashboard.", plan.number);
        let params = ElicitRequestParams::UrlElicitationParams {
            meta: None,
            message,
            url: format!("{dashboard}/p/{}", plan.id),
            elicitation_id: format!("{}-{}", plan.id, plan.version),
        };
        let answer = elicit(&self.context.peer, params).await?;
        match answer.action {
            ElicitationAction::Accept => Some("The person opens the review page.".to_owned()),
            // The enum may grow; every other answer opens nothing.
            _ => None,
        }
    }
}

/// Whether the approval policy takes an answer that is given in the client.
pub(super) async fn answers_in_client_count(
    engine: &Engine,
    session: &SessionIdentity,
    risks: &BTreeSet<Risk>,
) -> bool {
    let Ok(stored) = engine.sessions().get(session).await else { return false };
    let Ok(policy) = engine.approvals().policy().await else { return false };
    let policy = policy.in_session(Some(&stored));
    let check = ApprovalCheck {
        policy: &policy.approval,
        sandbox: AgentSandbox::Open,
        channel: session.channel,
        clients: &stored.clients,
        others: &[],
        silent: &BTreeSet::new(),
        agents_seen: AgentsSeen::Some,
        risks,
        presence: Some(&Presence::Token),
    };
    check.check().is_ok()
}

/// Has the person choose in a form of the client. `None` if they were not asked, or chose nothing or one of the `others`.
async fn choose(
    peer: &Peer<RoleServer>,
    message: String,
    form: ElicitationSchemaBuilder,
    offered: &[Choice],
    others: &[(&str, &str)],
) -> Option<(ChoiceKind, Value)> {
    let params = choice_form(message, form, offered, others)?;
    chosen(elicit(peer, params).await?, offered)
}

/// A form in which a person chooses.
pub(super) fn choice_form(
    message: String,
    form: ElicitationSchemaBuilder,
    offered: &[Choice],
    others: &[(&str, &str)],
) -> Option<ElicitRequestParams> {
    let choices = offered.iter().map(|choice| (choice.name(), choice.label.as_str()));
    let (names, labels) =
        choices.chain(others.iter().copied()).map(|(name, label)| (name.to_owned(), label.to_owned())).unzip();
    // Also clients that know no titles show such a field.
    let mut field = LegacyEnumSchema::new(names);
    field.enum_names = Some(labels);
    let requested_schema = form.required_enum_schema("decision", EnumSchema::Legacy(field)).build().ok()?;
    Some(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema })
}

/// What the person chose of it, with everything that they filled in.
pub(super) fn chosen(answer: ElicitResult, offered: &[Choice]) -> Option<(ChoiceKind, Value)> {
    let content = answer.content.filter(|_| answer.action == ElicitationAction::Accept)?;
    let chosen = offered.iter().find(|choice| content["decision"] == choice.name())?.kind;
    Some((chosen, content))
}

pub(super) async fn elicit(peer: &Peer<RoleServer>, params: ElicitRequestParams) -> Option<ElicitResult> {
    match peer.create_elicitation(params).await {
        Ok(answer) => Some(answer),
        Err(error) => {
            tracing::debug!(%error, "the person could not be asked in the client");
            None
        }
    }
}
