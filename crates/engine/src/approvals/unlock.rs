//! An approver's key, unlocked with their passphrase: one attempt at a time, and few wrong ones.

use planwright_core::actor::Actor;
use planwright_core::approval::record::{ApprovalEvent, ApprovalState};
use planwright_core::approval::{Approver, Require, SealedKey};
use planwright_core::presence::Presence;
use planwright_core::refusal::{Refusal, RefusalCode};
use tokio::sync::Semaphore;

use super::{Approvals, UnlockedKey, internal, key, no_approver};
use crate::ledger::{LedgerError, LedgerResult};

/// A process tries one passphrase at a time, so that guesses use the memory of one.
static ATTEMPT: Semaphore = Semaphore::const_new(1);

impl Approvals {
    /// Unlocks the key of an approver. What is tried is counted in the store before it is tried, for each approver and source:
    /// no number of processes tries more, and wrong passphrases of the agent do not keep the person out.
    pub async fn unlock(&self, by: &Actor, name: &str, passphrase: &str) -> LedgerResult<UnlockedKey> {
        let sealed = |approver: &Approver| Some(approver.sealed.clone());
        self.open(by, name, passphrase, sealed).await?.ok_or_else(|| wrong("This is not the passphrase."))
    }

    /// Unlocks the key of an approver with their recovery code. A wrong one counts as a wrong passphrase.
    pub(super) async fn unlock_with_code(&self, by: &Actor, name: &str, code: &str) -> LedgerResult<UnlockedKey> {
        if self.named(name).await?.recovery.is_none() {
            let message = format!("`{name}` has no recovery code; `planwright approver change` makes one.");
            return Err(Refusal::not_found(message).into());
        }
        let sealed = |approver: &Approver| approver.recovery.clone();
        self.open(by, name, code, sealed).await?.ok_or_else(|| wrong("This is not the recovery code."))
    }

    async fn open(
        &self,
        by: &Actor,
        name: &str,
        secret: &str,
        sealed: impl Fn(&Approver) -> Option<SealedKey>,
    ) -> LedgerResult<Option<UnlockedKey>> {
        let source = self.source(by).await?;
        self.check_attempt(&self.state().await?, name, source)?;
        let _one = ATTEMPT.acquire().await.map_err(|error| internal(error.to_string()))?;
        let tried = ApprovalEvent::PassphraseTried { name: name.to_owned(), source: source.to_owned() };
        let state = self
            .append(by, |state| {
                self.check_attempt(state, name, source)?;
                Ok(Some((tried.clone(), None)))
            })
            .await?;
        let approver = state.approvers.named(name).cloned().ok_or_else(|| no_approver(name))?;
        let Some(sealed) = sealed(&approver) else { return Ok(None) };
        let secret = secret.to_owned();
        let unlocked = tokio::task::spawn_blocking(move || key::unlock(&approver, &sealed, &secret)).await;
        let Some(key) = unlocked.map_err(|error| internal(error.to_string()))?.map_err(internal)? else {
            return Ok(None);
        };
        let accepted = ApprovalEvent::PassphraseAccepted { name: name.to_owned(), source: Some(source.to_owned()) };
        self.append_if(by, |_| Some(accepted.clone())).await?;
        Ok(Some(key))
    }

    fn check_attempt(&self, state: &ApprovalState, name: &str, source: &str) -> Result<(), Refusal> {
        if state.approvers.named(name).is_none() {
            return Err(no_approver(name));
        }
        let now = self.submitter.now();
        let Some(until) = state.locked_until(name, source).filter(|until| *until > now) else { return Ok(()) };
        let wait = until.duration_since(now).as_secs() + 1;
        let message = format!(
            "There were too many wrong passphrases from here; try again in {wait} seconds, or approve elsewhere, such as with a \
             passkey."
        );
        Err(Refusal::new(RefusalCode::LimitExceeded, message))
    }

    /// Where a passphrase comes from. A terminal that an agent may have opened is not the person's.
    async fn source(&self, by: &Actor) -> LedgerResult<&'static str> {
        let Some(presence) = &by.presence else { return Ok("unknown") };
        match presence {
            Presence::Terminal { .. } => match self.check_everywhere(by, Require::Separate).await {
                Ok(()) => Ok(presence.as_str()),
                Err(LedgerError::Refused(_)) => Ok("agent"),
                Err(error) => Err(error),
            },
            Presence::Verified { .. }
            | Presence::NoTerminal { .. }
            | Presence::Token
            | Presence::Browser
            | Presence::Channel { .. }
            | Presence::Rule => Ok(presence.as_str()),
        }
    }
}

fn wrong(message: &str) -> LedgerError {
    Refusal::new(RefusalCode::Unauthenticated, message).into()
}
