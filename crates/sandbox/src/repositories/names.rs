//! What git itself writes into its folders in ordinary work, and neither runs nor obeys.

use std::ffi::OsStr;

const WHOLE: [&str; 27] = [
    "HEAD",
    "index",
    "objects",
    "refs",
    "logs",
    "reftable",
    "packed-refs",
    "packed-refs.new",
    "shallow",
    "COMMIT_EDITMSG",
    "MERGE_MSG",
    "MERGE_MODE",
    "MERGE_RR",
    "MERGE_AUTOSTASH",
    "SQUASH_MSG",
    "TAG_EDITMSG",
    "NOTES_EDITMSG",
    "EDIT_DESCRIPTION",
    "AUTO_MERGE",
    "rr-cache",
    // Steps that run a program are taken out of them.
    "rebase-merge",
    "rebase-apply",
    "sequencer",
    "gc.log",
    "gc.pid",
    "lost-found",
    "lfs",
];

const BEGINNINGS: [&str; 7] =
    ["BISECT_", "NOTES_MERGE_", "sharedindex.", "next-index-", "index.stash.", "fsmonitor--daemon", "refs_"];

pub(super) fn is_gits_own(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    let name = name.strip_suffix(".lock").unwrap_or(name);
    let is_reference = name.ends_with("_HEAD") && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    WHOLE.contains(&name) || is_reference || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
}

/// Whether a step of a rebase runs a program.
pub(super) fn is_run(step: &str) -> bool {
    matches!(step.split_whitespace().next(), Some("exec" | "x"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_writes_is_its_own_and_what_it_obeys_is_not() {
        for own in ["HEAD", "index.lock", "ORIG_HEAD", "FETCH_HEAD", "packed-refs", "BISECT_LOG", "next-index-7.lock"] {
            assert!(is_gits_own(OsStr::new(own)), "{own}");
        }
        for obeyed in [
            "config",
            "config.lock",
            "config.worktree",
            "commondir",
            "hooks",
            "gitdir",
            "description",
            "branches",
            "remotes",
            "CONFIG",
            "Hooks",
            "attributes",
            "exclude",
            "x_HEAD",
        ] {
            assert!(!is_gits_own(OsStr::new(obeyed)), "{obeyed}");
        }
        assert!(is_run("exec make") && is_run("  x make") && !is_run("pick 1 exec"));
    }
}
