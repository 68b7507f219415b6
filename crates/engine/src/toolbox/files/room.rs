//! Whether there is room for more in a session's folder.
//!
//! It is counted afresh, because a person may put files there and take them away. A write that makes nothing larger
//! needs no counting, so there is always a way back below the limit.

use std::ops::ControlFlow;

use cap_std::fs::Dir;
use planwright_core::refusal::Refusal;

use super::open::Kind;
use super::path::FilePath;
use super::tool::Workplace;
use super::trouble;
use super::walk::Walk;

/// What a write adds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Growth {
    pub(super) entries: usize,
    pub(super) bytes: u64,
}

/// `files` is `None` while the session has none.
pub(super) fn check_room(files: Option<&Dir>, growth: Growth, place: &Workplace) -> Result<(), Refusal> {
    let limits = &place.limits;
    let (mut entries, mut bytes) = (growth.entries, growth.bytes);
    if entries == 0 && bytes == 0 {
        return Ok(());
    }
    let mut uncounted = false;
    let fits = |entries: usize, bytes: u64| entries <= limits.session_entries && bytes <= limits.session_bytes;
    if let Some(files) = files {
        // One more than may be there is enough to know.
        let mut walk = Walk::new(&place.effort, limits.session_entries.saturating_add(1));
        let walked = walk.through(files, &FilePath::default(), &mut |met| {
            entries += 1;
            if let Kind::File { bytes: more } = met.kind {
                bytes = bytes.saturating_add(more);
            }
            if fits(entries, bytes) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        walked.map_err(|error| trouble::refusal(".", &error))?;
        if place.effort.is_over() {
            return Err(trouble::took_too_long());
        }
        entries = entries.saturating_add(walk.passed_by);
        uncounted = walk.stopped_early;
    }
    if fits(entries, bytes) && !uncounted {
        return Ok(());
    }
    Err(Refusal::limit(format!(
        "The session's folder is full: it holds at most {} files and folders and {} bytes. Nothing was stored.",
        limits.session_entries, limits.session_bytes
    )))
}
