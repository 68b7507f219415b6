//! The browsers that get pushes (Web Push), and the key that pushes of this store are signed with.
//!
//! Both are in the store, so that every server sends them. Whoever may read the store could push to these browsers, and to no
//! other one.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use p256::{PublicKey, SecretKey};
use planwright_core::refusal::Refusal;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::ledger::{Ledger, LedgerError, LedgerResult};

const KEY: &str = "push/key";
const PREFIX: &str = "push/subscription/";
/// More browsers than a person switches pushes on in.
const MAX_SUBSCRIPTIONS: u32 = 64;
const MAX_ENDPOINT: usize = 2_048;
const ID_DIGITS: usize = 24;
/// The secret that a browser and this store share.
const AUTH_BYTES: usize = 16;

/// What a browser gives for pushes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPushSubscription {
    /// The address of the push service, which names the browser.
    pub endpoint: String,
    /// The browser's public key and the secret that goes with it, in base64url.
    pub p256dh: String,
    pub auth: String,
    /// The id of the signed-in browser.
    pub client: String,
    /// What a person recognises it by: `Firefox on Linux`.
    pub name: String,
    /// Where it opened the dashboard: `https://plans.example.org`.
    pub origin: String,
}

/// A browser that gets pushes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PushSubscription {
    pub id: String,
    pub endpoint: String,
    pub p256dh: String,
    pub auth: String,
    pub client: String,
    pub name: String,
    pub origin: String,
    pub since: Timestamp,
}

/// The key pair that identifies this store to push services (VAPID, RFC 8292), in base64url.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PushKey {
    pub secret: String,
    pub public: String,
}

impl std::fmt::Debug for PushKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PushKey").field("public", &self.public).finish_non_exhaustive()
    }
}

#[derive(Debug, Clone)]
pub struct PushSubscriptions {
    ledger: Arc<dyn Ledger>,
}

impl PushSubscriptions {
    pub(crate) fn new(ledger: Arc<dyn Ledger>) -> Self {
        Self { ledger }
    }

    /// The key of this store. It is made when it is asked for the first time.
    pub async fn key(&self) -> LedgerResult<PushKey> {
        loop {
            if let Some(record) = self.ledger.keyed_record(KEY).await? {
                return read(KEY, &record.body);
            }
            // Of two servers that make one at the same time, the first counts.
            self.ledger.put_keyed_record(KEY, 0, &text(&new_key()?)?).await?;
        }
    }

    /// Those that get pushes. One that cannot be read gets none.
    pub async fn list(&self) -> LedgerResult<Vec<PushSubscription>> {
        let records = self.ledger.keyed_records(PREFIX, MAX_SUBSCRIPTIONS).await?;
        Ok(records.into_iter().filter_map(|(_, record)| serde_json::from_str(&record.body).ok()).collect())
    }

    pub async fn get(&self, id: &str) -> LedgerResult<Option<PushSubscription>> {
        let key = format!("{PREFIX}{id}");
        self.ledger.keyed_record(&key).await?.map(|record| read(&key, &record.body)).transpose()
    }

    /// Whether any browser gets pushes.
    pub async fn is_any(&self) -> LedgerResult<bool> {
        Ok(!self.ledger.keyed_records(PREFIX, 1).await?.is_empty())
    }

    /// Adds a browser. The caller has checked that a person asks for it in that browser. A browser has one subscription: the
    /// one that it had before ends.
    pub async fn add(&self, new: NewPushSubscription, now: Timestamp) -> LedgerResult<PushSubscription> {
        check(&new)?;
        let id = id_of(&new.endpoint);
        let known = self.list().await?;
        for before in known.iter().filter(|one| one.client == new.client && one.id != id) {
            self.remove(&before.id).await?;
        }
        let others = known.iter().filter(|one| one.client != new.client && one.id != id).count();
        if others >= MAX_SUBSCRIPTIONS as usize {
            let message = format!("{MAX_SUBSCRIPTIONS} browsers get pushes already. Switch them off in one of them.");
            return Err(Refusal::limit(message).into());
        }
        let before = known.into_iter().find(|one| one.id == id);
        let since = before.map_or(now, |before| before.since);
        let NewPushSubscription { endpoint, p256dh, auth, client, name, origin } = new;
        let added = PushSubscription { id, endpoint, p256dh, auth, client, name, origin, since };
        let (key, body) = (format!("{PREFIX}{}", added.id), text(&added)?);
        loop {
            let revision = self.ledger.keyed_record(&key).await?.map_or(0, |record| record.revision);
            if self.ledger.put_keyed_record(&key, revision, &body).await? {
                return Ok(added);
            }
        }
    }

    pub async fn remove(&self, id: &str) -> LedgerResult<()> {
        self.ledger.remove_keyed_record(&format!("{PREFIX}{id}")).await
    }

    /// A browser that is signed out gets no pushes.
    pub async fn remove_client(&self, client: &str) -> LedgerResult<()> {
        for one in self.list().await?.iter().filter(|one| one.client == client) {
            self.remove(&one.id).await?;
        }
        Ok(())
    }
}

fn check(new: &NewPushSubscription) -> Result<(), Refusal> {
    let wrong = |what: &str| Err(Refusal::invalid(format!("This is no subscription of a browser: {what}.")));
    let is_address = new.endpoint.starts_with("https://") || new.endpoint.starts_with("http://");
    if !is_address || new.endpoint.len() > MAX_ENDPOINT || new.endpoint.chars().any(|letter| !letter.is_ascii_graphic())
    {
        return wrong("`endpoint` is not the address of a push service");
    }
    let point = URL_SAFE_NO_PAD.decode(&new.p256dh).unwrap_or_default();
    if PublicKey::from_sec1_bytes(&point).is_err() {
        return wrong("`keys.p256dh` is not a public key");
    }
    if URL_SAFE_NO_PAD.decode(&new.auth).is_ok_and(|auth| auth.len() == AUTH_BYTES) {
        return Ok(());
    }
    wrong("`keys.auth` does not have 16 bytes")
}

fn id_of(endpoint: &str) -> String {
    let mut id = hex::encode(Sha256::digest(endpoint.as_bytes()));
    id.truncate(ID_DIGITS);
    id
}

fn new_key() -> LedgerResult<PushKey> {
    let mut bytes = [0; 32];
    loop {
        getrandom::fill(&mut bytes)
            .map_err(|error| LedgerError::Internal(format!("the system gives no random bytes: {error}")))?;
        // Nearly every number is a key.
        if let Ok(secret) = SecretKey::from_slice(&bytes) {
            let public = URL_SAFE_NO_PAD.encode(secret.public_key().to_sec1_bytes());
            return Ok(PushKey { secret: URL_SAFE_NO_PAD.encode(bytes), public });
        }
    }
}

fn text<T: Serialize>(value: &T) -> LedgerResult<String> {
    serde_json::to_string(value).map_err(|error| LedgerError::Internal(error.to_string()))
}

fn read<T: for<'de> Deserialize<'de>>(key: &str, body: &str) -> LedgerResult<T> {
    serde_json::from_str(body).map_err(|error| LedgerError::damaged(format!("record {key}"), error))
}
