//! A plan of the client's own plan mode: it becomes a version of the session's document and waits for a person, and the client
//! gets the decision as the answer to its own question.
//!
//! This is not the gate. If the client goes on without the answer, its calls are still denied before they change anything.

use std::sync::Arc;
use std::time::Duration;

use planwright_agent::tools::ExternalTools;
use planwright_core::actor::Actor;
use planwright_core::gate::PlanTool;
use planwright_core::ids::PlanId;
use planwright_core::plan::{Plan, PlanContent, PlanStatus};
use planwright_core::session::{Channel, SessionIdentity};
use planwright_core::snapshot::Snapshot;
use planwright_engine::engine::Engine;
use planwright_engine::feed::Feed;
use planwright_engine::ledger::Ledger;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::native_text::{NativeText, native_text};
use super::server_entries::ServerEntry;
use super::wire::{HookDecision, HookInput, HookPlace, PlanAnswer};
use super::{Lookup, check_approved, described, not_found, servers_of, session_of};
use crate::cli::{ClientName, Global};
use crate::config::Settings;
use crate::failure::Failure;
use crate::processes;

/// The surface that the journal names.
const THROUGH: &str = "hook";

/// Takes the plan in and waits for the decision, `wait` at most.
pub(super) async fn answer(global: &Global, client: ClientName, input: &HookInput, wait: Duration) -> PlanAnswer {
    let deadline = Instant::now() + wait;
    let text = match native_text(client, input) {
        NativeText::None => return PlanAnswer::Pass,
        NativeText::Found(text) => text,
        NativeText::Unreadable(reason) => {
            return PlanAnswer::Undecided(format!(
                "Planwright cannot read the plan: {reason}. Store it with plan_set_content of Planwright instead."
            ));
        }
    };
    let found = match session(global, client, &input.place).await {
        Ok(Some(found)) => found,
        Ok(None) => return PlanAnswer::Pass,
        Err(failure) => return cannot(failure.message()),
    };
    let is_sent_back = input.details.get("stop_hook_active") == Some(&Value::Bool(true));
    match found.decide(client, &text, deadline).await {
        // A client that sends the reason to its model would do so without end.
        Ok((PlanAnswer::Back(reason), Origin::Known)) if is_sent_back => PlanAnswer::Undecided(reason),
        Ok((answer, _)) => answer,
        Err(failure) => cannot(failure.message()),
    }
}

fn cannot(reason: &str) -> PlanAnswer {
    PlanAnswer::Undecided(format!("Planwright cannot tell whether the plan is approved: {reason}"))
}

/// Whether the text was stored just now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    Stored,
    /// It is in the store already, or was refused.
    Known,
}

/// The session that takes the plan in.
struct PlanSession {
    snapshot: Snapshot,
    ledger: Arc<dyn Ledger>,
    engine: Engine,
    /// What a person types, if it is not the session of the folder.
    option: String,
}

/// The first session of the client's servers in which plan work is on.
async fn session(global: &Global, client: ClientName, place: &HookPlace) -> Result<Option<PlanSession>, Failure> {
    // What the hook's own command names comes first.
    for server in servers_of(global, client, place).iter().rev().filter(|server| !server.is_own_again) {
        if let Some(found) = session_of_server(server, place).await? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

async fn session_of_server(server: &ServerEntry, place: &HookPlace) -> Result<Option<PlanSession>, Failure> {
    let target = match &server.target {
        Ok(target) => target,
        Err(reason) => {
            let entry = described(server);
            return Err(Failure::usage(format!("{entry} does not tell where the plans are: {reason}")));
        }
    };
    let (snapshot, ledger) = match session_of(target, &place.project).await? {
        Lookup::Found(snapshot, ledger) => (*snapshot, ledger),
        missing => {
            return match not_found(server, target, &missing)? {
                HookDecision::Deny(reason) => Err(Failure::unavailable(reason)),
                HookDecision::Pass | HookDecision::Allow(_) | HookDecision::Ask(_) => Ok(None),
            };
        }
    };
    if !snapshot.session.as_ref().is_some_and(|session| session.plan_mode.enabled) {
        return Ok(None);
    }
    let engine = Engine::new(Arc::clone(&ledger), Settings::read(&target.global)?.policy);
    let option = target.named_session().map(|_| format!(" --session {}", snapshot.identity)).unwrap_or_default();
    Ok(Some(PlanSession { snapshot, ledger, engine, option }))
}

/// How the session's plan stands to a text.
#[derive(Debug, PartialEq)]
enum Standing {
    /// It becomes the next version, or the next plan.
    New,
    Waits,
    Approved,
    Back(String),
}

impl PlanSession {
    fn identity(&self) -> &SessionIdentity {
        &self.snapshot.identity
    }

    async fn decide(&self, client: ClientName, text: &str, deadline: Instant) -> Result<(PlanAnswer, Origin), Failure> {
        let known = self.snapshot.active().map(|plan| (standing(plan, text), &plan.id));
        let (plan, origin) = match known {
            Some((Standing::Back(reason), _)) => return Ok((PlanAnswer::Back(reason), Origin::Known)),
            Some((Standing::Waits | Standing::Approved, plan)) => (plan.clone(), Origin::Known),
            Some((Standing::New, _)) | None => match self.store(client, text).await? {
                Ok(plan) => (plan, Origin::Stored),
                Err(reason) => return Ok((PlanAnswer::Back(reason), Origin::Known)),
            },
        };
        Ok((self.wait(&plan, text, deadline).await?, origin))
    }

    /// Stores the text as the agent would with `plan_set_content`. The inner error is a refusal for the agent.
    async fn store(&self, client: ClientName, text: &str) -> Result<Result<PlanId, String>, Failure> {
        self.see_client().await?;
        let by = Actor::agent(client.name(), THROUGH);
        let arguments = json!({ "plan_markdown": text }).as_object().cloned().unwrap_or_default();
        let tools = ExternalTools::new(&self.engine);
        let answer = tools.call(self.identity(), &by, PlanTool::SetContent.name(), arguments, &|_| false).await;
        Ok(match (answer.outcome, answer.shown) {
            (Ok(_), Some(plan)) => Ok(plan.id.clone()),
            (Ok(_), None) => return Err(Failure::unexpected("the plan that was stored is not known")),
            (Err(refusal), _) => {
                let code = refusal.code.as_str();
                Err(format!(
                    "Planwright does not take this plan in ({code}): {} Change it and propose it again.",
                    refusal.message
                ))
            }
        })
    }

    /// The program that the agent runs in cannot approve. Its server has told so before, unless it is not running.
    async fn see_client(&self) -> Result<(), Failure> {
        let client = processes::client();
        let clients = self.snapshot.session.as_ref().map(|session| session.clients.as_slice()).unwrap_or_default();
        let outermost = client.processes.last();
        if clients.iter().any(|known| outermost.is_some_and(|process| known.processes.contains(process))) {
            return Ok(());
        }
        let by = Actor::system(Channel::Mcp.as_str());
        self.engine.sessions().see_client(self.identity(), &by, client).await.map_err(Failure::from)?;
        Ok(())
    }

    /// Waits until a person has decided, wherever they do it.
    async fn wait(&self, plan: &PlanId, text: &str, deadline: Instant) -> Result<PlanAnswer, Failure> {
        let feed = Feed::start(Arc::clone(&self.ledger));
        let mut written = feed.watch(self.identity());
        loop {
            let snapshot = self.ledger.snapshot(self.identity(), Some(plan)).await.map_err(Failure::from)?;
            let Some(plan) = snapshot.plan(plan) else {
                return Ok(PlanAnswer::Back("The plan is not there any more. Propose it again.".to_owned()));
            };
            if standing(plan, text) != Standing::Waits {
                return self.decided(plan, text).await;
            }
            tokio::select! {
                () = written.changed() => {}
                () = tokio::time::sleep_until(deadline) => return Ok(PlanAnswer::Undecided(self.not_decided(plan))),
            }
        }
    }

    /// What the decision is for the client.
    async fn decided(&self, plan: &Plan, text: &str) -> Result<PlanAnswer, Failure> {
        Ok(match standing(plan, text) {
            Standing::Approved => match check_approved(&self.engine, self.snapshot.session.as_deref(), plan).await? {
                Ok(()) => PlanAnswer::Approved(approved(plan)),
                Err(refusal) => PlanAnswer::Back(refusal.message),
            },
            Standing::Back(reason) => PlanAnswer::Back(reason),
            Standing::Waits => PlanAnswer::Undecided(self.not_decided(plan)),
            Standing::New => PlanAnswer::Back(other_text(plan)),
        })
    }

    fn not_decided(&self, plan: &Plan) -> String {
        let (number, version, option) = (plan.number, plan.version, &self.option);
        format!(
            "Plan {number} (version {version}) waits for a person. They read and decide it with `planwright plan show{option}` and \
             `planwright plan approve{option}`, in the dashboard or on the phone. No person has decided yet, and that is not an \
             approval. Tell the person and end your turn, or propose the same text again to wait on."
        )
    }
}

fn standing(plan: &Plan, text: &str) -> Standing {
    let is_same = is_same_text(plan, text);
    match (plan.status, &plan.feedback) {
        (PlanStatus::Collecting | PlanStatus::Ready, Some(feedback)) if is_same => Standing::Back(format!(
            "A person asked for changes to plan {}:\n\n{}\n\nChange the plan accordingly and propose it again in plan mode; it \
             becomes the next version, and the person sees what changed.",
            plan.number, feedback.text
        )),
        (status, _) => standing_of_status(plan, status, is_same),
    }
}

fn standing_of_status(plan: &Plan, status: PlanStatus, is_same: bool) -> Standing {
    match status {
        PlanStatus::Ready if is_same => Standing::Waits,
        PlanStatus::Approved | PlanStatus::Executing if is_same && is_approved_text(plan) => Standing::Approved,
        PlanStatus::Rejected if is_same => {
            let reason = plan.ending.as_ref().and_then(|ending| ending.reason.as_deref());
            let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
            Standing::Back(format!(
                "A person rejected plan {} with exactly this text{reason}. Ask them what they want, and propose another plan.",
                plan.number
            ))
        }
        PlanStatus::Collecting
        | PlanStatus::Ready
        | PlanStatus::Approved
        | PlanStatus::Executing
        | PlanStatus::PartiallyCompleted
        | PlanStatus::Completed
        | PlanStatus::Rejected
        | PlanStatus::Cancelled
        | PlanStatus::Superseded => Standing::New,
    }
}

/// Clients write the text into a file, with or without a line break at its end.
fn is_same_text(plan: &Plan, text: &str) -> bool {
    matches!(&plan.content, PlanContent::Document(document) if document.markdown.trim() == text.trim())
}

/// Whether the approval is of the text that the plan has.
fn is_approved_text(plan: &Plan) -> bool {
    plan.approval.as_ref().is_some_and(|approval| approval.digest == plan.digest())
}

fn approved(plan: &Plan) -> String {
    let note = plan.approval.as_ref().and_then(|approval| approval.note.as_deref());
    let note = note.map_or_else(String::new, |note| format!(" Their note: {note}"));
    format!(
        "A person approved plan {} (digest {}).{note} Carry it out and report each step with plan_progress of Planwright.",
        plan.number,
        plan.digest().short()
    )
}

/// The plan that was waited for has another text or end now.
fn other_text(plan: &Plan) -> String {
    match plan.status {
        PlanStatus::Approved | PlanStatus::Executing => {
            let text = plan.markdown();
            format!(
                "A person changed plan {} before they approved it. Write exactly this text into your plan and propose it again; it \
                 then passes:\n\n{text}",
                plan.number
            )
        }
        PlanStatus::Rejected | PlanStatus::Cancelled => {
            format!("A person does not want plan {}. Ask them what they want, and propose another plan.", plan.number)
        }
        PlanStatus::Collecting
        | PlanStatus::Ready
        | PlanStatus::PartiallyCompleted
        | PlanStatus::Completed
        | PlanStatus::Superseded => {
            format!(
                "Plan {} is not the one to work by any more. plan_get of Planwright tells how it stands.",
                plan.number
            )
        }
    }
}
