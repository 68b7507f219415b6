//! The recovery code of an approver: a second secret that their key is sealed with, for a passphrase that was forgotten.

use std::fmt;

use planwright_core::actor::Actor;
use planwright_core::approval::record::{ApprovalEvent, ApprovalState};
use planwright_core::approval::{Approver, SealedKey};
use planwright_core::refusal::Refusal;

use super::key::{self, KeyError};
use super::{Approvals, UnlockedKey, check_name, check_passphrase, internal, unconfirmed};
use crate::ledger::LedgerResult;

/// Letters and digits that are not taken for each other.
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// The letters of a code, in groups of [`GROUP`].
const LETTERS: usize = 25;
const GROUP: usize = 5;

/// A recovery code. It is shown to the person once and kept nowhere.
#[derive(Clone)]
pub struct RecoveryCode(String);

impl fmt::Debug for RecoveryCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RecoveryCode")
    }
}

impl fmt::Display for RecoveryCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let groups: Vec<_> = self.0.as_bytes().chunks(GROUP).map(String::from_utf8_lossy).collect();
        f.write_str(&groups.join("-"))
    }
}

impl RecoveryCode {
    fn random() -> Result<Self, KeyError> {
        let letter = |byte: u8| char::from(ALPHABET[usize::from(byte) % ALPHABET.len()]);
        Ok(Self(key::random::<LETTERS>()?.map(letter).iter().collect()))
    }

    /// As a person typed it: in small letters, with or without dashes and spaces.
    fn typed(text: &str) -> Self {
        let letters = text.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_uppercase());
        let read = letters.map(|letter| match letter {
            'O' => '0',
            'I' | 'L' => '1',
            letter => letter,
        });
        Self(read.collect())
    }
}

/// The records after an enrolment or a new passphrase, and the code that was made with it.
#[derive(Debug)]
pub struct Enrolled {
    pub state: ApprovalState,
    pub code: RecoveryCode,
}

impl Approvals {
    /// Enrols an approver. Every approver but the first takes the key of one who is enrolled.
    pub async fn add(
        &self,
        by: &Actor,
        name: &str,
        passphrase: &str,
        key: Option<&UnlockedKey>,
    ) -> LedgerResult<Enrolled> {
        check_name(name)?;
        check_passphrase(passphrase)?;
        let approvers = self.state().await?.approvers;
        if approvers.is_taken(name) {
            return Err(Refusal::conflict(format!("`{name}` is an approver already.")).into());
        }
        if !approvers.is_empty() && key.is_none() {
            return Err(unconfirmed().into());
        }
        let (public, own) = key::create(name).map_err(internal)?;
        let (sealed, recovery, code) = seal(own, passphrase).await?;
        let approver = Approver {
            name: name.to_owned(),
            key: public,
            sealed,
            recovery: Some(recovery),
            enrolled_at: self.now(),
            passkeys: Vec::new(),
        };
        let state = self.append_signed(by, key, || ApprovalEvent::ApproverAdded { approver: approver.clone() }).await?;
        Ok(Enrolled { state, code })
    }

    /// Seals the approver's own key with another passphrase and another recovery code.
    pub async fn change(&self, by: &Actor, key: &UnlockedKey, passphrase: &str) -> LedgerResult<Enrolled> {
        check_passphrase(passphrase)?;
        let (sealed, recovery, code) = seal(key.clone(), passphrase).await?;
        let name = key.approver().to_owned();
        let changed = || ApprovalEvent::PassphraseChanged {
            name: name.clone(),
            sealed: sealed.clone(),
            recovery: Some(recovery.clone()),
        };
        let state = self.append_signed(by, Some(key), changed).await?;
        Ok(Enrolled { state, code })
    }

    /// Unlocks the key of an approver who forgot the passphrase. The caller has them choose another one.
    pub async fn recover(&self, by: &Actor, name: &str, code: &str) -> LedgerResult<UnlockedKey> {
        self.unlock_with_code(by, name, &RecoveryCode::typed(code).0).await
    }
}

/// The key sealed with the passphrase, and with a new code. It takes memory and time, so the threads of requests do not do it.
async fn seal(key: UnlockedKey, passphrase: &str) -> LedgerResult<(SealedKey, SealedKey, RecoveryCode)> {
    let passphrase = passphrase.to_owned();
    let work = move || -> Result<_, KeyError> {
        let code = RecoveryCode::random()?;
        Ok((key.seal(&passphrase)?, key.seal(&code.0)?, code))
    };
    tokio::task::spawn_blocking(work).await.map_err(internal)?.map_err(internal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_read_as_it_is_written_down() {
        let code = RecoveryCode::random().unwrap();
        let shown = code.to_string();
        assert_eq!(shown.split('-').map(str::len).collect::<Vec<_>>(), [5; 5]);
        for typed in
            [shown.clone(), shown.to_lowercase(), shown.replace('-', " "), shown.replace('0', "O").replace('1', "l")]
        {
            assert_eq!(RecoveryCode::typed(&typed).0, code.0, "{typed}");
        }
        assert_ne!(RecoveryCode::random().unwrap().0, code.0);
    }
}
