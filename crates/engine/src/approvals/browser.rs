//! Links that sign a browser in, and the browsers that are signed in. A link is made where a person is recognised, so a
//! browser that used one counts as that person. The store keeps hashes only.

use std::collections::HashSet;

use jiff::{SignedDuration, Timestamp};
use planwright_core::actor::Actor;
use planwright_core::approval::record::ApprovalEvent;
use planwright_core::refusal::{Refusal, RefusalCode};
use sha2::{Digest as _, Sha256};

use super::{Approvals, internal, key};
use crate::ledger::LedgerResult;

/// A link is used at once or not at all.
const LINK_SECONDS: i64 = 120;

/// A browser is signed in for a working day.
const BROWSER_SECONDS: i64 = 12 * 60 * 60;

/// A link that signs one browser in, once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignInLink {
    pub secret: String,
    pub ends: Timestamp,
}

/// What a signed-in browser keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrowserSecret(pub String);

impl BrowserSecret {
    /// The hash that the store keeps of it.
    pub fn hashed(&self) -> String {
        hash(&self.0)
    }
}

impl Approvals {
    /// A new link. The caller has checked that a person asks for it.
    pub async fn make_link(&self, by: &Actor) -> LedgerResult<SignInLink> {
        let secret = key::secret().map_err(internal)?;
        let ends = self.after(LINK_SECONDS)?;
        let made = ApprovalEvent::SignInLinkMade { link: hash(&secret), ends };
        self.append_if(by, |_| Some(made.clone())).await?;
        Ok(SignInLink { secret, ends })
    }

    /// Signs a browser in. The link cannot be used again.
    pub async fn use_link(&self, by: &Actor, secret: &str) -> LedgerResult<BrowserSecret> {
        let browser = key::secret().map_err(internal)?;
        let link = hash(secret);
        let signed_in = ApprovalEvent::BrowserSignedIn {
            link: link.clone(),
            browser: hash(&browser),
            ends: self.after(BROWSER_SECONDS)?,
        };
        self.append(by, |state| {
            if !state.is_open_link(&link, self.submitter.now()) {
                let message = "This link was used already or has ended. `planwright dashboard` makes a new one.";
                return Err(Refusal::new(RefusalCode::Unauthenticated, message));
            }
            Ok(Some((signed_in.clone(), None)))
        })
        .await?;
        Ok(BrowserSecret(browser))
    }

    /// Whether a browser with this secret is signed in.
    pub async fn is_signed_in(&self, browser: &BrowserSecret) -> LedgerResult<bool> {
        Ok(self.state().await?.is_signed_in(&hash(&browser.0), self.submitter.now()))
    }

    /// Those of these browsers that are signed in, each by the hash of its secret.
    pub async fn signed_in(&self, browsers: Vec<String>) -> LedgerResult<HashSet<String>> {
        if browsers.is_empty() {
            return Ok(HashSet::new());
        }
        let (state, now) = (self.state().await?, self.submitter.now());
        Ok(browsers.into_iter().filter(|browser| state.is_signed_in(browser, now)).collect())
    }

    pub async fn sign_out(&self, by: &Actor, browser: &BrowserSecret) -> LedgerResult<()> {
        self.sign_out_hashed(by, &browser.hashed()).await
    }

    /// Signs out the browser with the secret of this hash.
    pub async fn sign_out_hashed(&self, by: &Actor, browser: &str) -> LedgerResult<()> {
        if !self.state().await?.is_signed_in(browser, self.submitter.now()) {
            return Ok(());
        }
        let signed_out = ApprovalEvent::BrowserSignedOut { browser: browser.to_owned() };
        self.append_if(by, |_| Some(signed_out.clone())).await.map(drop)
    }

    fn after(&self, seconds: i64) -> LedgerResult<Timestamp> {
        self.submitter.now().checked_add(SignedDuration::from_secs(seconds)).map_err(internal)
    }
}

fn hash(secret: &str) -> String {
    hex::encode(Sha256::digest(secret.as_bytes()))
}
