//! Waiting for descriptors.

#![allow(unsafe_code, reason = "poll has no safe wrapper in the standard library")]

use std::os::fd::{AsRawFd as _, BorrowedFd};
use std::time::Duration;

/// Waits until one of the descriptors is readable or closed. All are false when the time has passed.
#[cfg(target_os = "linux")]
pub(crate) fn readable<const N: usize>(descriptors: [BorrowedFd<'_>; N], time: Option<Duration>) -> [bool; N] {
    readable_of(descriptors.map(Some), time)
}

/// Waits until one of the descriptors is readable; `None` is not waited for.
pub(crate) fn readable_of<const N: usize>(
    descriptors: [Option<BorrowedFd<'_>>; N],
    time: Option<Duration>,
) -> [bool; N] {
    let mut polled = descriptors.map(|descriptor| libc::pollfd {
        // The kernel passes over negative numbers.
        fd: descriptor.map_or(-1, |descriptor| descriptor.as_raw_fd()),
        events: libc::POLLIN,
        revents: 0,
    });
    // Rounded up, so that a wait for less than a millisecond is no busy loop.
    let milliseconds = time.map_or(-1, |time| i32::try_from(time.as_micros().div_ceil(1000)).unwrap_or(i32::MAX));
    // SAFETY: the array is valid for its length.
    let count = unsafe { libc::poll(polled.as_mut_ptr(), N as libc::nfds_t, milliseconds) };
    polled.map(|entry| count > 0 && entry.revents != 0)
}
