//! Wrong tokens are counted by address. An address that presented too many has to wait.
//!
//! On a loopback address only wrong tokens have to wait: a local program that guesses, or the clients of a proxy, must not
//! lock out the owner. From other addresses the right token has to wait as well, or guessing would not be limited.

use std::collections::HashMap;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use governor::clock::{Clock, MonotonicClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

use super::request_rate::address_key;

#[derive(Debug)]
pub(super) struct TokenThrottle {
    wrong: Option<DefaultKeyedRateLimiter<IpAddr>>,
    /// Until when each address has to wait, also with the right token.
    blocked: Mutex<HashMap<IpAddr, Instant>>,
}

impl TokenThrottle {
    pub(super) fn new(per_minute: u32) -> Self {
        let wrong = NonZeroU32::new(per_minute).map(|rate| RateLimiter::dashmap(Quota::per_minute(rate)));
        Self { wrong, blocked: Mutex::default() }
    }

    /// Whether a token from this address is compared; an error is how long to wait.
    pub(super) fn check(&self, from: IpAddr) -> Result<(), Duration> {
        let wait =
            self.blocked().get(&address_key(from)).and_then(|until| until.checked_duration_since(Instant::now()));
        match wait {
            Some(wait) if !wait.is_zero() => Err(wait),
            Some(_) | None => Ok(()),
        }
    }

    /// Counts a wrong token; an error is how long to wait.
    pub(super) fn count(&self, from: IpAddr) -> Result<(), Duration> {
        let Some(wrong) = &self.wrong else { return Ok(()) };
        let from = address_key(from);
        wrong.check_key(&from).map_err(|until| {
            let wait = until.wait_time_from(MonotonicClock.now());
            if !from.is_loopback() {
                self.blocked().insert(from, Instant::now() + wait);
            }
            wait
        })
    }

    /// Forgets addresses with nothing left to count.
    pub(super) fn tidy(&self) {
        let now = Instant::now();
        self.blocked().retain(|_, until| *until > now);
        if let Some(wrong) = self.wrong.as_ref().filter(|wrong| wrong.len() > 1024) {
            wrong.retain_recent();
        }
    }

    fn blocked(&self) -> MutexGuard<'_, HashMap<IpAddr, Instant>> {
        self.blocked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn exhaust(throttle: &TokenThrottle, from: IpAddr) -> Duration {
        (0..100).find_map(|_| throttle.count(from).err()).expect("there is a limit")
    }

    #[test]
    fn another_address_waits_even_with_the_right_token() {
        let throttle = TokenThrottle::new(3);
        let wait = exhaust(&throttle, address("192.0.2.7"));
        assert!(wait > Duration::ZERO && wait <= Duration::from_secs(20), "{wait:?}");
        assert!(throttle.check(address("192.0.2.7")).is_err());
        assert!(throttle.check(address("::ffff:192.0.2.7")).is_err());
        assert!(throttle.check(address("192.0.2.8")).is_ok());
        throttle.tidy();
        assert!(throttle.check(address("192.0.2.7")).is_err());
    }

    #[test]
    fn a_local_guesser_does_not_lock_the_owner_out() {
        let throttle = TokenThrottle::new(3);
        for loopback in ["127.0.0.1", "::1"] {
            exhaust(&throttle, address(loopback));
            assert!(throttle.check(address(loopback)).is_ok());
        }
    }

    #[test]
    fn an_ipv6_prefix_is_one_address() {
        let throttle = TokenThrottle::new(3);
        exhaust(&throttle, address("2001:db8::1"));
        assert!(throttle.check(address("2001:db8::ffff:2")).is_err());
        assert!(throttle.check(address("2001:db8:0:1::1")).is_ok());
    }

    #[test]
    fn zero_is_no_limit() {
        let throttle = TokenThrottle::new(0);
        assert!((0..1000).all(|_| throttle.count(address("192.0.2.7")).is_ok()));
    }
}
