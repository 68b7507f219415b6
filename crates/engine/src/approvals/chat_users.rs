//! Users of Telegram whose buttons count where a verified person is asked for.

use std::collections::BTreeMap;

use planwright_core::actor::Actor;
use planwright_core::approval::record::{ApprovalEvent, ApprovalState};
use planwright_core::refusal::Refusal;

use super::{Approvals, UnlockedKey};
use crate::ledger::LedgerResult;

impl Approvals {
    /// The bound users, with the approver who bound each of them.
    pub async fn bound_users(&self) -> LedgerResult<BTreeMap<i64, String>> {
        Ok(self.state().await?.bound_users)
    }

    /// Binds a user. The approver whose key this is signs the record and answers for the user.
    pub async fn bind_user(&self, by: &Actor, user: i64, key: &UnlockedKey) -> LedgerResult<ApprovalState> {
        let approver = key.approver().to_owned();
        let bound = || ApprovalEvent::ChatUserBound { user, approver: approver.clone() };
        self.append_signed(by, Some(key), bound).await
    }

    /// Takes a binding back. The caller has checked that a person asks for it.
    pub async fn unbind_user(&self, by: &Actor, user: i64) -> LedgerResult<ApprovalState> {
        if !self.bound_users().await?.contains_key(&user) {
            return Err(Refusal::not_found(format!("The user {user} is not bound.")).into());
        }
        let gone = ApprovalEvent::ChatUserUnbound { user };
        self.append_if(by, |state| state.bound_users.contains_key(&user).then(|| gone.clone())).await
    }
}
