//! How many requests are answered: with the token over all clients, without it by address. Neither counts for the other.

use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::{Clock, MonotonicClock};
use governor::{DefaultDirectRateLimiter, DefaultKeyedRateLimiter, Quota, RateLimiter};

use crate::http::ServerLimits;

/// After a quiet time an address may be refused this many times the rate at once.
const REFUSED_BURST: u32 = 4;

#[derive(Debug)]
pub(super) struct RequestRate {
    authenticated: Option<DefaultDirectRateLimiter>,
    refused: Option<DefaultKeyedRateLimiter<IpAddr>>,
}

impl RequestRate {
    pub(super) fn new(limits: &ServerLimits) -> Self {
        let authenticated = NonZeroU32::new(limits.requests_per_second).map(|rate| {
            let burst = NonZeroU32::new(limits.burst).unwrap_or(rate);
            RateLimiter::direct(Quota::per_second(rate).allow_burst(burst))
        });
        let refused = NonZeroU32::new(limits.refused_per_second).map(|rate| {
            let burst = rate.saturating_mul(NonZeroU32::MIN.saturating_add(REFUSED_BURST - 1));
            RateLimiter::dashmap(Quota::per_second(rate).allow_burst(burst))
        });
        Self { authenticated, refused }
    }

    /// Counts a request with the token; an error is how long to wait.
    pub(super) fn check_authenticated(&self) -> Result<(), Duration> {
        let Some(limiter) = &self.authenticated else { return Ok(()) };
        limiter.check().map_err(|until| until.wait_time_from(MonotonicClock.now()))
    }

    /// Counts a request that is refused for lack of a valid token; an error is how long to wait.
    pub(super) fn count_refused(&self, from: IpAddr) -> Result<(), Duration> {
        let Some(limiter) = &self.refused else { return Ok(()) };
        limiter.check_key(&address_key(from)).map_err(|until| until.wait_time_from(MonotonicClock.now()))
    }

    /// Forgets addresses with nothing left to count.
    pub(super) fn tidy(&self) {
        if let Some(limiter) = self.refused.as_ref().filter(|limiter| limiter.len() > 1024) {
            limiter.retain_recent();
        }
    }
}

/// The key by which an address is counted: one host usually has all 2^64 addresses of an IPv6 prefix.
pub(super) fn address_key(address: IpAddr) -> IpAddr {
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

    #[test]
    fn refused_requests_never_count_for_the_token() {
        let limits =
            ServerLimits { requests_per_second: 1, burst: 3, refused_per_second: 1, ..ServerLimits::default() };
        let rate = RequestRate::new(&limits);
        let (one, other) = ("192.0.2.1".parse().unwrap(), "192.0.2.2".parse().unwrap());
        let refused = (0..1000).filter(|_| rate.count_refused(one).is_err()).count();
        assert!(refused >= 990, "{refused}");
        assert!(rate.count_refused(other).is_ok());
        assert_eq!((0..3).filter(|_| rate.check_authenticated().is_ok()).count(), 3);
        assert!(rate.check_authenticated().is_err());
    }

    #[test]
    fn zero_is_no_limit() {
        let limits = ServerLimits { requests_per_second: 0, refused_per_second: 0, ..ServerLimits::default() };
        let rate = RequestRate::new(&limits);
        let one = "192.0.2.1".parse().unwrap();
        assert!((0..10_000).all(|_| rate.count_refused(one).is_ok() && rate.check_authenticated().is_ok()));
    }
}
