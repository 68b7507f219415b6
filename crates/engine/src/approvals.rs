//! Approvers, their signatures, and the approval policy that is in force in the store.
//!
//! - `audit`: every signature in the store, checked
//! - `key`: an approver's key, sealed with a passphrase

mod audit;
mod key;

use std::sync::Arc;

use planwright_core::actor::Actor;
use planwright_core::approval::record::{ApprovalEvent, ApprovalState, RecordDamage, RecordSignature, SealedRecord};
use planwright_core::approval::{ApprovalPolicy, Approver};
use planwright_core::plan::approval::{ApprovalSignature, SignedApproval};
use planwright_core::plan::{Digest, Plan};
use planwright_core::policy::Policy;
use planwright_core::refusal::{Refusal, RefusalCode};

use crate::ledger::{Ledger, LedgerError, LedgerResult};
use crate::session::input::Approving;
use crate::submitter::Submitter;

pub use audit::ExportedKey;
pub use key::UnlockedKey;

/// How often a record is sealed anew because another process was faster.
const ATTEMPTS: u32 = 20;

/// The characters of a passphrase.
const SHORTEST_PASSPHRASE: usize = 8;

#[derive(Debug, Clone)]
pub struct Approvals {
    submitter: Submitter,
}

impl Approvals {
    pub(crate) fn new(submitter: Submitter) -> Self {
        Self { submitter }
    }

    /// What the records say, checked.
    pub async fn state(&self) -> LedgerResult<ApprovalState> {
        state(self.ledger()).await
    }

    /// The records as they are stored, unchecked.
    pub async fn records(&self) -> LedgerResult<Vec<SealedRecord>> {
        self.ledger().approval_records().await
    }

    /// The policy that decisions are checked with now, and the approvers whose signatures count.
    pub async fn policy(&self) -> LedgerResult<Arc<Policy>> {
        self.submitter.policy_in_force().await
    }

    /// Records the configured policy in a new store. Later a stricter one is recorded, and a weaker one has no effect:
    /// an agent can edit the configuration, too.
    pub async fn record_configured(&self, by: &Actor) -> LedgerResult<()> {
        let configured = &self.submitter.policy().approval;
        let state = self.state().await?;
        let next = match &state.policy {
            None => configured.clone(),
            Some(in_force) if !in_force.is_weaker_than(configured) => return Ok(()),
            Some(in_force) => in_force.stricter(configured),
        };
        self.append(by, |_| Ok((ApprovalEvent::PolicySet { policy: next.clone() }, None))).await.map(drop)
    }

    /// Puts another policy in force. A weaker one takes an approver's key once one is enrolled.
    pub async fn set_policy(
        &self,
        by: &Actor,
        policy: &ApprovalPolicy,
        key: Option<&UnlockedKey>,
    ) -> LedgerResult<ApprovalState> {
        self.append_signed(by, key, || ApprovalEvent::PolicySet { policy: policy.clone() }).await
    }

    /// Enrols an approver. Every approver but the first takes the key of one who is enrolled.
    pub async fn add(
        &self,
        by: &Actor,
        name: &str,
        passphrase: &str,
        key: Option<&UnlockedKey>,
    ) -> LedgerResult<ApprovalState> {
        check_name(name)?;
        check_passphrase(passphrase)?;
        if self.state().await?.approvers.named(name).is_some() {
            return Err(Refusal::conflict(format!("`{name}` is an approver already.")).into());
        }
        let (public, sealed) = key::create(passphrase).map_err(internal)?;
        let approver = Approver { name: name.to_owned(), key: public, sealed, enrolled_at: self.submitter.now() };
        self.append_signed(by, key, || ApprovalEvent::ApproverAdded { approver: approver.clone() }).await
    }

    pub async fn remove(&self, by: &Actor, name: &str, key: &UnlockedKey) -> LedgerResult<ApprovalState> {
        self.named(name).await?;
        self.append_signed(by, Some(key), || ApprovalEvent::ApproverRemoved { name: name.to_owned() }).await
    }

    /// Seals the approver's own key with another passphrase.
    pub async fn change(&self, by: &Actor, key: &UnlockedKey, passphrase: &str) -> LedgerResult<ApprovalState> {
        check_passphrase(passphrase)?;
        let sealed = key.seal(passphrase).map_err(internal)?;
        let name = key.approver().to_owned();
        let changed = || ApprovalEvent::PassphraseChanged { name: name.clone(), sealed: sealed.clone() };
        self.append_signed(by, Some(key), changed).await
    }

    /// Unlocks the key of an approver. Wrong passphrases are counted in the store, so that every process waits.
    pub async fn unlock(&self, by: &Actor, name: &str, passphrase: &str) -> LedgerResult<UnlockedKey> {
        let state = self.state().await?;
        if let Some(until) = state.locked_until().filter(|until| *until > self.submitter.now()) {
            let wait = until.duration_since(self.submitter.now()).as_secs() + 1;
            let message = format!("There were too many wrong passphrases; try again in {wait} seconds.");
            return Err(Refusal::new(RefusalCode::LimitExceeded, message).into());
        }
        let approver = state.approvers.named(name).cloned().ok_or_else(|| no_approver(name))?;
        let passphrase = passphrase.to_owned();
        let unlocked = tokio::task::spawn_blocking(move || key::unlock(&approver, &passphrase)).await;
        let unlocked = unlocked.map_err(|error| internal(error.to_string()))?.map_err(internal)?;
        let Some(key) = unlocked else {
            let failed = ApprovalEvent::PassphraseFailed { name: name.to_owned() };
            self.append(by, |_| Ok((failed.clone(), None))).await?;
            return Err(Refusal::new(RefusalCode::Unauthenticated, "This is not the passphrase.").into());
        };
        if state.failures > 0 {
            let accepted = ApprovalEvent::PassphraseAccepted { name: name.to_owned() };
            self.append(by, |_| Ok((accepted.clone(), None))).await?;
        }
        Ok(key)
    }

    /// The approver's signature on exactly this approval of this plan.
    pub async fn sign(
        &self,
        key: &UnlockedKey,
        plan: &Plan,
        digest: Digest,
        approving: &Approving,
    ) -> LedgerResult<ApprovalSignature> {
        let stored = crate::lookup::stored_session(self.ledger(), &plan.session).await?;
        let policy = self.policy().await?;
        let approved = approving.selection.over(&plan.content.steps())?.approved;
        let note = approving.note_of(plan);
        let now = self.submitter.now();
        let valid_until = policy
            .approval
            .valid_for
            .and_then(|seconds| now.checked_add(jiff::SignedDuration::from_secs(i64::try_from(seconds).ok()?)).ok());
        let nonce = key::nonce().map_err(internal)?;
        let signed = SignedApproval {
            session: &plan.session,
            plan: &plan.id,
            digest: &digest,
            approved: &approved,
            note: note.as_deref(),
            step_by_step: approving.step_by_step,
            approver: key.approver(),
            seq: stored.head.seq,
            valid_until,
            nonce: &nonce,
        };
        let signature = key.sign(&signed.message());
        Ok(ApprovalSignature {
            approver: key.approver().to_owned(),
            seq: stored.head.seq,
            valid_until,
            nonce,
            signature,
        })
    }

    async fn named(&self, name: &str) -> LedgerResult<Approver> {
        Ok(self.state().await?.approvers.named(name).cloned().ok_or_else(|| no_approver(name))?)
    }

    async fn append_signed(
        &self,
        by: &Actor,
        key: Option<&UnlockedKey>,
        event: impl Fn() -> ApprovalEvent,
    ) -> LedgerResult<ApprovalState> {
        self.append(by, |state| {
            let event = event();
            let needs_key = state.needs_signature(&event);
            let signed = match key {
                Some(key) => Some(RecordSignature {
                    approver: key.approver().to_owned(),
                    signature: key.sign(&state.message(&event)),
                }),
                None if needs_key => {
                    return Err(Refusal::policy_denied(
                        "An enrolled approver has to confirm this with their passphrase.",
                    ));
                }
                None => None,
            };
            Ok((event, signed))
        })
        .await
    }

    /// Appends one record after those of all other processes.
    async fn append(
        &self,
        by: &Actor,
        next: impl Fn(&ApprovalState) -> Result<(ApprovalEvent, Option<RecordSignature>), Refusal>,
    ) -> LedgerResult<ApprovalState> {
        for _ in 0..ATTEMPTS {
            let state = self.state().await?;
            let (event, signed) = next(&state)?;
            let sealed = state.seal(self.submitter.now(), by.clone(), event, signed).map_err(refused)?;
            if self.ledger().add_approval_record(&sealed).await? {
                return self.state().await;
            }
        }
        Err(LedgerError::Unavailable("other processes change the approvers all the time".to_owned()))
    }

    fn ledger(&self) -> &dyn Ledger {
        self.submitter.ledger().as_ref()
    }
}

/// What the records of a store say, checked.
pub(crate) async fn state(ledger: &dyn Ledger) -> LedgerResult<ApprovalState> {
    replay(&ledger.approval_records().await?)
}

pub(crate) fn replay(records: &[SealedRecord]) -> LedgerResult<ApprovalState> {
    ApprovalState::replay(records).map_err(|damage| LedgerError::damaged("the list of approvers", damage))
}

fn check_name(name: &str) -> Result<(), Refusal> {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    if (1..=64).contains(&name.len()) && name.chars().all(fits) {
        return Ok(());
    }
    Err(Refusal::invalid("The name of an approver has 1 to 64 letters, digits, '-', '_' or '.'."))
}

fn check_passphrase(passphrase: &str) -> Result<(), Refusal> {
    if passphrase.chars().count() >= SHORTEST_PASSPHRASE {
        return Ok(());
    }
    Err(Refusal::invalid(format!("The passphrase has at least {SHORTEST_PASSPHRASE} characters.")))
}

fn no_approver(name: &str) -> Refusal {
    Refusal::not_found(format!("There is no approver `{name}`; `planwright approver list` shows them."))
}

fn refused(damage: RecordDamage) -> LedgerError {
    match damage {
        RecordDamage::Unsigned { .. } => {
            Refusal::policy_denied("This key does not belong to an enrolled approver any more.").into()
        }
        damage => LedgerError::Internal(damage.to_string()),
    }
}

fn internal(error: impl ToString) -> LedgerError {
    LedgerError::Internal(error.to_string())
}
