//! Wrong tokens are counted by address. Whoever has shown too many is sent away for a while.
//!
//! On an address of this machine only wrong tokens are sent away: a program that guesses, or everybody behind a proxy,
//! must not lock out the owner. From elsewhere the right token has to wait as well, or guessing would not be limited.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use governor::clock::{Clock, MonotonicClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

#[derive(Debug)]
pub(super) struct Guessing {
    wrong: Option<DefaultKeyedRateLimiter<IpAddr>>,
    /// Until when the right token does not help either.
    away: Mutex<HashMap<IpAddr, Instant>>,
}

impl Guessing {
    pub(super) fn new(per_minute: u32) -> Self {
        let wrong = NonZeroU32::new(per_minute).map(|rate| RateLimiter::dashmap(Quota::per_minute(rate)));
        Self { wrong, away: Mutex::default() }
    }

    /// Whether a token of this address is looked at; else how long it has to wait.
    pub(super) fn check(&self, from: IpAddr) -> Result<(), Duration> {
        let wait = self.away().get(&whose(from)).and_then(|until| until.checked_duration_since(Instant::now()));
        match wait {
            Some(wait) if !wait.is_zero() => Err(wait),
            Some(_) | None => Ok(()),
        }
    }

    /// One more wrong token; too many are told how long to wait.
    pub(super) fn count(&self, from: IpAddr) -> Result<(), Duration> {
        let Some(wrong) = &self.wrong else { return Ok(()) };
        let from = whose(from);
        wrong.check_key(&from).map_err(|until| {
            let wait = until.wait_time_from(MonotonicClock.now());
            if !from.is_loopback() {
                self.away().insert(from, Instant::now() + wait);
            }
            wait
        })
    }

    /// Forgets addresses of which nothing has to be remembered.
    pub(super) fn tidy(&self) {
        let now = Instant::now();
        self.away().retain(|_, until| *until > now);
        if let Some(wrong) = self.wrong.as_ref().filter(|wrong| wrong.len() > 1024) {
            wrong.retain_recent();
        }
    }

    fn away(&self) -> MutexGuard<'_, HashMap<IpAddr, Instant>> {
        self.away.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whoever has one address of version 6 usually has the 2^64 around it as well.
fn whose(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) if !address.is_loopback() => {
            IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)))
        }
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn exhaust(guessing: &Guessing, from: IpAddr) -> Duration {
        (0..100).find_map(|_| guessing.count(from).err()).expect("there is a limit")
    }

    #[test]
    fn a_guesser_elsewhere_waits_even_with_the_right_token() {
        let guessing = Guessing::new(3);
        let wait = exhaust(&guessing, address("192.0.2.7"));
        assert!(wait > Duration::ZERO && wait <= Duration::from_secs(20), "{wait:?}");
        assert!(guessing.check(address("192.0.2.7")).is_err());
        assert!(guessing.check(address("::ffff:192.0.2.7")).is_err());
        assert!(guessing.check(address("192.0.2.8")).is_ok());
        guessing.tidy();
        assert!(guessing.check(address("192.0.2.7")).is_err());
    }

    #[test]
    fn a_guesser_on_this_machine_does_not_lock_the_owner_out() {
        let guessing = Guessing::new(3);
        for loopback in ["127.0.0.1", "::1"] {
            exhaust(&guessing, address(loopback));
            assert!(guessing.check(address(loopback)).is_ok());
        }
    }

    #[test]
    fn neighbours_in_version_6_are_one() {
        let guessing = Guessing::new(3);
        exhaust(&guessing, address("2001:db8::1"));
        assert!(guessing.check(address("2001:db8::ffff:2")).is_err());
        assert!(guessing.check(address("2001:db8:0:1::1")).is_ok());
    }

    #[test]
    fn no_limit_is_no_limit() {
        let guessing = Guessing::new(0);
        assert!((0..1000).all(|_| guessing.count(address("192.0.2.7")).is_ok()));
    }
}
