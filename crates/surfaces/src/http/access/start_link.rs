//! The link that the server shows when it starts. It signs one browser in, once, with what the token gives; it is known to this
//! process only, and ends with the token.

use std::sync::Mutex;

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use tokio_util::sync::CancellationToken;

#[derive(Debug, Default)]
pub(super) struct StartLink(Mutex<Option<OpenLink>>);

#[derive(Debug)]
struct OpenLink {
    hash: [u8; 32],
    /// Cancelled when the token is replaced.
    ended: CancellationToken,
}

impl StartLink {
    /// A new secret; the one before ends. `None` without randomness.
    pub(super) fn make(&self, ended: CancellationToken) -> Option<String> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).ok()?;
        let secret = hex::encode(bytes);
        *self.open() = Some(OpenLink { hash: Sha256::digest(&secret).into(), ended });
        Some(secret)
    }

    /// Whether this is the secret. It is not from then on.
    pub(super) fn take(&self, secret: &str) -> bool {
        let presented: [u8; 32] = Sha256::digest(secret).into();
        let mut open = self.open();
        let is_it = open.as_ref().is_some_and(|link| bool::from(link.hash.ct_eq(&presented)));
        is_it && open.take().is_some_and(|link| !link.ended.is_cancelled())
    }

    fn open(&self) -> std::sync::MutexGuard<'_, Option<OpenLink>> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_taken_once() {
        let link = StartLink::default();
        let first = link.make(CancellationToken::new()).unwrap();
        assert!(!link.take("another"));
        assert!(link.take(&first) && !link.take(&first));
    }

    #[test]
    fn a_link_ends_with_the_next_one_and_with_the_token() {
        let (link, ended) = (StartLink::default(), CancellationToken::new());
        let first = link.make(ended.clone()).unwrap();
        let second = link.make(ended.clone()).unwrap();
        assert!(!link.take(&first));
        ended.cancel();
        assert!(!link.take(&second));
    }
}
