//! Approvers, their signatures, and the approval policy that is in force in the store.
//!
//! - `acts`: acts that are no approval of a plan, signed one by one
//! - `audit`: every signature in the store, checked
//! - `browser`: links that sign a browser in, and the browsers that are signed in
//! - `changes`: what was changed about who may decide since a person looked last
//! - `chat_users`: users of Telegram whom approvers bound
//! - `key`: an approver's key, sealed with a passphrase
//! - `passkeys`: passkeys of approvers, and approvals that they sign
//! - `permissions`: what persons permitted from now on by answering `always`
//! - `recovery`: the recovery code of an approver, made with the enrolment and with each new passphrase
//! - `reach`: whether a person is out of reach of every agent
//! - `unlock`: an approver's key, unlocked with their passphrase

mod acts;
mod audit;
mod browser;
mod changes;
mod chat_users;
mod key;
mod passkeys;
mod permissions;
mod reach;
mod recovery;
mod unlock;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use planwright_core::actor::Actor;
use planwright_core::approval::record::{ApprovalEvent, ApprovalState, RecordSignature, SealedRecord};
use planwright_core::approval::{ApprovalPolicy, Approver};
use planwright_core::plan::approval::{ApprovalSignature, SignedApproval};
use planwright_core::plan::{Digest, Plan};
use planwright_core::policy::Policy;
use planwright_core::presence::ActSigner as _;
use planwright_core::refusal::Refusal;
use planwright_core::session::{Channel, SessionIdentity};

use crate::approval_records;
use crate::ledger::{Ledger, LedgerError, LedgerResult};
use crate::lookup;
use crate::plans::Approving;
use crate::submitter::Submitter;

pub use crate::approval_records::record_acceptance;
pub use acts::ActChallenge;
pub use audit::ExportedKey;
pub use browser::{BrowserSecret, SignInLink};
pub use key::UnlockedKey;
pub use passkeys::{NewPasskey, PasskeyChallenge, SignedByPasskey};
pub use recovery::{Enrolled, RecoveryCode};

/// The characters of a passphrase.
const MIN_PASSPHRASE: usize = 8;

/// What a process opens a store for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenedFor {
    Command,
    /// The first server gives a store of an earlier version its guarded settings.
    Server,
}

/// What a store says about approval when it is opened.
#[derive(Debug)]
pub struct OpenedApprovals {
    pub state: ApprovalState,
    /// Whether this version asks for more than the one that used the store before.
    pub is_raised: bool,
}

#[derive(Debug, Clone)]
pub struct Approvals {
    submitter: Submitter,
}

impl Approvals {
    pub(crate) fn new(submitter: Submitter) -> Self {
        Self { submitter }
    }

    pub fn now(&self) -> Timestamp {
        self.submitter.now()
    }

    /// What the records say, checked.
    pub async fn state(&self) -> LedgerResult<ApprovalState> {
        approval_records::state(self.ledger()).await
    }

    /// The records as they are stored, unchecked.
    pub async fn records(&self) -> LedgerResult<Vec<SealedRecord>> {
        self.ledger().approval_records().await
    }

    /// The policy that decisions are checked with now, and the approvers whose signatures count.
    pub async fn policy(&self) -> LedgerResult<Arc<Policy>> {
        self.submitter.policy_in_force().await
    }

    /// The policy that decisions in this session are checked with now.
    pub async fn policy_in(&self, session: &SessionIdentity) -> LedgerResult<Arc<Policy>> {
        let policy = self.policy().await?;
        if matches!(session.channel, Channel::Mcp | Channel::Acp) {
            return Ok(policy);
        }
        let stored = self.ledger().session(session).await?.map(|stored| stored.session);
        let stricter = match policy.in_session(stored.as_ref()) {
            Cow::Owned(policy) => Some(Arc::new(policy)),
            Cow::Borrowed(_) => None,
        };
        Ok(stricter.unwrap_or(policy))
    }

    /// Records the configured policy and the guarded settings in a new store, and answers what the store says. Afterwards
    /// nothing that a process brings is recorded: an agent can edit the configuration and set variables, too. A store of an
    /// earlier version keeps its policy, which counts with the defaults of this version from now on, and takes the settings from
    /// its first server.
    pub async fn record_configured(
        &self,
        by: &Actor,
        settings: &BTreeMap<String, String>,
        opened: OpenedFor,
    ) -> LedgerResult<OpenedApprovals> {
        let mut state = self.state().await?;
        let is_raised = state.is_raised_by_defaults();
        if !state.with_defaults && state.policy.is_some() {
            let kept = |state: &ApprovalState| {
                let policy = state.policy.clone().filter(|_| !state.with_defaults)?;
                Some(ApprovalEvent::PolicySet { policy, with_defaults: true })
            };
            state = self.append_if(by, kept).await?;
        }
        if state.policy.is_none() {
            let policy = self.submitter.policy().approval.clone();
            let set = ApprovalEvent::PolicySet { policy, with_defaults: true };
            state = self.append_if(by, |state| state.policy.is_none().then(|| set.clone())).await?;
            state = self.record_settings(by, settings, state).await?;
        } else if state.settings.is_none() && opened == OpenedFor::Server {
            if !lookup::agents_of_sessions(self.ledger()).await?.is_empty() {
                self.see_agent(by, "an agent of an earlier version").await?;
            }
            state = self.record_settings(by, settings, state).await?;
        }
        Ok(OpenedApprovals { state, is_raised })
    }

    async fn record_settings(
        &self,
        by: &Actor,
        settings: &BTreeMap<String, String>,
        state: ApprovalState,
    ) -> LedgerResult<ApprovalState> {
        if state.settings.is_some() {
            return Ok(state);
        }
        let set = ApprovalEvent::SettingsSet { settings: settings.clone() };
        self.append_if(by, |state| state.settings.is_none().then(|| set.clone())).await
    }

    /// Changes one guarded setting; `None` gives it its default. Once an approver is enrolled it takes their key. The caller
    /// has checked that a person asks for it.
    pub async fn set_setting(
        &self,
        by: &Actor,
        key: &str,
        value: Option<&str>,
        approver: Option<&UnlockedKey>,
    ) -> LedgerResult<ApprovalState> {
        let mut settings = self.state().await?.settings.unwrap_or_default();
        match value {
            Some(value) => drop(settings.insert(key.to_owned(), value.to_owned())),
            None => drop(settings.remove(key)),
        }
        self.append_signed(by, approver, || ApprovalEvent::SettingsSet { settings: settings.clone() }).await
    }

    /// Puts another policy in force. A weaker one takes an approver's key once one is enrolled.
    pub async fn set_policy(
        &self,
        by: &Actor,
        policy: &ApprovalPolicy,
        key: Option<&UnlockedKey>,
    ) -> LedgerResult<ApprovalState> {
        self.append_signed(by, key, || ApprovalEvent::PolicySet { policy: policy.clone(), with_defaults: true }).await
    }

    pub async fn remove(&self, by: &Actor, name: &str, key: &UnlockedKey) -> LedgerResult<ApprovalState> {
        self.named(name).await?;
        self.append_signed(by, Some(key), || ApprovalEvent::ApproverRemoved { name: name.to_owned() }).await
    }

    /// The approver's signature on exactly this approval of this plan.
    pub async fn sign(
        &self,
        key: &UnlockedKey,
        plan: &Plan,
        digest: Digest,
        approving: &Approving,
    ) -> LedgerResult<ApprovalSignature> {
        let (unsigned, message) = self.to_sign(key.approver(), plan, digest, approving).await?;
        Ok(ApprovalSignature { signature: key.sign(&message), ..unsigned })
    }

    /// An approval that is not signed yet, and the message to sign.
    async fn to_sign(
        &self,
        approver: &str,
        plan: &Plan,
        digest: Digest,
        approving: &Approving,
    ) -> LedgerResult<(ApprovalSignature, Vec<u8>)> {
        let stored = lookup::stored_session(self.ledger(), &plan.session).await?;
        let now = self.submitter.now();
        let valid_for = self.policy().await?.approval.valid_for;
        let valid_until = valid_for
            .and_then(|seconds| now.checked_add(jiff::SignedDuration::from_secs(i64::try_from(seconds).ok()?)).ok());
        let unsigned = ApprovalSignature {
            approver: approver.to_owned(),
            seq: stored.head.seq,
            valid_until,
            nonce: key::nonce().map_err(internal)?,
            signature: String::new(),
            passkey: None,
        };
        let message = self.message(&unsigned, plan, digest, approving)?;
        Ok((unsigned, message))
    }

    /// What the approver of this signature signs.
    fn message(
        &self,
        signature: &ApprovalSignature,
        plan: &Plan,
        digest: Digest,
        approving: &Approving,
    ) -> Result<Vec<u8>, Refusal> {
        let Approving { selection, step_by_step, .. } = approving;
        let terms = plan.approval_terms(selection, approving.note_of(plan), *step_by_step, self.submitter.now())?;
        let signed = SignedApproval {
            session: &plan.session,
            plan: &plan.id,
            digest: &digest,
            approved: &terms.approved,
            note: terms.note.as_deref(),
            step_by_step: terms.step_by_step,
            approver: &signature.approver,
            seq: signature.seq,
            valid_until: signature.valid_until,
            nonce: &signature.nonce,
        };
        Ok(signed.message())
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
                None if needs_key => return Err(unconfirmed()),
                None => None,
            };
            Ok(Some((event, signed)))
        })
        .await
    }

    /// Appends one record that needs no signature, unless another process made it unnecessary.
    async fn append_if(
        &self,
        by: &Actor,
        event: impl Fn(&ApprovalState) -> Option<ApprovalEvent>,
    ) -> LedgerResult<ApprovalState> {
        self.append(by, |state| Ok(event(state).map(|event| (event, None)))).await
    }

    /// Appends the record that `next` returns, after those of all other processes.
    async fn append(
        &self,
        by: &Actor,
        next: impl Fn(&ApprovalState) -> Result<Option<(ApprovalEvent, Option<RecordSignature>)>, Refusal>,
    ) -> LedgerResult<ApprovalState> {
        approval_records::append(self.ledger(), by, || self.submitter.now(), next).await
    }

    fn ledger(&self) -> &dyn Ledger {
        self.submitter.ledger().as_ref()
    }
}

fn unconfirmed() -> Refusal {
    Refusal::policy_denied("An enrolled approver has to confirm this with their passphrase.")
}

fn check_name(name: &str) -> Result<(), Refusal> {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    if (1..=64).contains(&name.len()) && name.chars().all(fits) {
        return Ok(());
    }
    Err(Refusal::invalid("The name of an approver has 1 to 64 letters, digits, '-', '_' or '.'."))
}

fn check_passphrase(passphrase: &str) -> Result<(), Refusal> {
    if passphrase.chars().count() >= MIN_PASSPHRASE {
        return Ok(());
    }
    Err(Refusal::invalid(format!("The passphrase has at least {MIN_PASSPHRASE} characters.")))
}

fn no_approver(name: &str) -> Refusal {
    Refusal::not_found(format!("There is no approver `{name}`; `planwright approver list` shows them."))
}

fn internal(error: impl ToString) -> LedgerError {
    LedgerError::Internal(error.to_string())
}
