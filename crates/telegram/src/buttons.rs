//! What a button does. Its code is opaque and cannot be guessed: it is made with the token as the key. What it stands for
//! is in the ledger.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use planwright_core::ask::Grant;
use planwright_core::command::StuckChoice;
use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::{Ledger, LedgerResult};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use crate::message::Button;
use crate::records;

/// The bytes of a code.
const CODE: usize = 18;

/// A button as the ledger knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoredButton {
    /// The person who may press it.
    pub(crate) user: i64,
    pub(crate) chat: i64,
    pub(crate) action: ButtonAction,
    /// The update with which it was pressed. It works once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) used_by: Option<i64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub(crate) enum ButtonAction {
    Approve {
        plan: ButtonPlan,
        #[serde(default)]
        skip: Vec<usize>,
    },
    /// Shows the steps, to leave some out.
    ChooseSteps {
        plan: ButtonPlan,
        #[serde(default)]
        skip: Vec<usize>,
    },
    Changes {
        plan: ButtonPlan,
    },
    Reject {
        plan: ButtonPlan,
    },
    Answer {
        session: SessionIdentity,
        ask: String,
        digest: String,
        answer: PressedAnswer,
    },
    /// Continues a plan that waits; `choice` settles the step that it stopped at.
    Resume {
        plan: ButtonPlan,
        #[serde(default)]
        choice: Option<StuckChoice>,
        #[serde(default)]
        after_step: Option<usize>,
    },
    Cancel {
        plan: ButtonPlan,
    },
    Switch {
        key: String,
    },
    New,
}

/// A plan and the digest that was shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ButtonPlan {
    pub(crate) session: SessionIdentity,
    pub(crate) id: String,
    pub(crate) number: u32,
    pub(crate) digest: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum PressedAnswer {
    Permission(Grant),
    /// The answer to the only question.
    Choice {
        choice: String,
    },
}

/// Makes buttons of one message.
#[derive(Debug)]
pub(crate) struct ButtonMaker<'a> {
    token: &'a SecretString,
    /// The id of the message in the outbox: the same message always has the same codes.
    message: &'a str,
    user: i64,
    chat: i64,
    made: Vec<(String, StoredButton)>,
}

impl<'a> ButtonMaker<'a> {
    pub(crate) fn new(token: &'a SecretString, message: &'a str, user: i64, chat: i64) -> Self {
        Self { token, message, user, chat, made: Vec::new() }
    }

    pub(crate) fn button(&mut self, text: impl Into<String>, action: ButtonAction) -> Button {
        let code = code(self.token, &format!("{}#{}", self.message, self.made.len()));
        let button = StoredButton { user: self.user, chat: self.chat, action, used_by: None };
        self.made.push((code.clone(), button));
        Button { text: text.into(), code: Some(code), url: None }
    }

    /// Stores what the buttons do. It is done before the message is.
    pub(crate) async fn store(self, ledger: &dyn Ledger) -> LedgerResult<()> {
        for (code, button) in &self.made {
            // A code that is known belongs to the same message.
            records::write(ledger, &key(code), 0, button).await?;
        }
        Ok(())
    }
}

pub(crate) fn key(code: &str) -> String {
    format!("button/{code}")
}

/// A short text that only this bot can make.
pub(crate) fn code(token: &SecretString, of: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(token.expose_secret().as_bytes())
        .unwrap_or_else(|_| unreachable!("a key may have any length"));
    mac.update(of.as_bytes());
    URL_SAFE_NO_PAD.encode(&mac.finalize().into_bytes()[..CODE])
}

/// Whether a text can be a code at all.
pub(crate) fn is_code(text: &str) -> bool {
    text.len() == CODE / 3 * 4 && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}
