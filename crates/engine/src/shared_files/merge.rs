//! What has to be done to a server's copy of a folder so that it is as the shared list says.

use std::collections::BTreeSet;

use super::{SharedItem, SharedItems};

/// Who changed the shared folder since this copy was brought up to date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangedBy {
    /// Work under the same lease, or a person beside it. What was changed here and is not shared yet stays.
    SameWork,
    /// A server that took the session over. What was changed here and not shared was never recorded as done, so it is put
    /// aside.
    OtherWork,
}

/// What is done to a copy, in this order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CopyChanges {
    /// Paths of files and links that are moved out of the copy and kept.
    pub aside: Vec<String>,
    /// Paths that are removed, the deepest first.
    pub removed: Vec<String>,
    /// Items that are made or replaced, a folder before what is in it.
    pub made: Vec<String>,
}

impl CopyChanges {
    pub fn is_empty(&self) -> bool {
        self.aside.is_empty() && self.removed.is_empty() && self.made.is_empty()
    }
}

/// `base` is the shared list that the copy was brought to before, `here` what it has now, `shared` the list of now.
pub fn changes(base: &SharedItems, here: &SharedItems, shared: &SharedItems, by: ChangedBy) -> CopyChanges {
    let mut found = CopyChanges::default();
    let paths: BTreeSet<&String> = base.keys().chain(here.keys()).chain(shared.keys()).collect();
    for path in paths {
        let [before, now, wanted] = [base, here, shared].map(|items| items.get(path));
        if now == wanted {
            continue;
        }
        let changed_here = now != before;
        // A folder that is needed on the way to something is no change of its own.
        if changed_here && by == ChangedBy::SameWork && wanted == before && !is_in_the_way(now, path, shared) {
            continue;
        }
        let is_kept = matches!(now, Some(SharedItem::File(_) | SharedItem::Link { .. }));
        if changed_here && is_kept {
            found.aside.push(path.clone());
        } else if now.is_some() && !is_same_kind(now, wanted) {
            found.removed.push(path.clone());
        }
        if wanted.is_some() {
            found.made.push(path.clone());
        }
    }
    found.removed.reverse();
    found
}

/// Whether a file or link stands where others need a folder.
fn is_in_the_way(now: Option<&SharedItem>, path: &str, shared: &SharedItems) -> bool {
    let is_folder = matches!(now, None | Some(SharedItem::Folder));
    let below = format!("{path}/");
    !is_folder && shared.range(below.clone()..).next().is_some_and(|(other, _)| other.starts_with(&below))
}

/// Whether the one is replaced by the other without being removed first.
fn is_same_kind(now: Option<&SharedItem>, wanted: Option<&SharedItem>) -> bool {
    matches!((now, wanted), (Some(SharedItem::File(_)), Some(SharedItem::File(_))))
}

#[cfg(test)]
mod tests {
    use planwright_core::workspace::ContentHash;

    use super::*;
    use crate::shared_files::SharedFile;

    /// `a=1 b/` is a file with the content `1`, and a folder.
    fn items(text: &str) -> SharedItems {
        let item = |word: &str| match word.split_once('=') {
            Some((path, content)) => {
                let hash = ContentHash::of(content.as_bytes());
                let file = SharedFile { hash, bytes: content.len() as u64, mode: None, pieces: Vec::new() };
                (path.to_owned(), SharedItem::File(file))
            }
            None => (word.trim_end_matches('/').to_owned(), SharedItem::Folder),
        };
        text.split_whitespace().map(item).collect()
    }

    #[track_caller]
    fn check(lists: [&str; 3], by: ChangedBy, expected: [&str; 3]) {
        let [base, here, shared] = lists.map(items);
        let found = changes(&base, &here, &shared, by);
        let texts = [&found.aside, &found.removed, &found.made].map(|paths| paths.join(" "));
        assert_eq!(texts, expected, "{lists:?} {by:?}");
    }

    #[test]
    fn an_untouched_copy_becomes_what_is_shared() {
        for by in [ChangedBy::SameWork, ChangedBy::OtherWork] {
            check(["a=1", "a=1", "a=1"], by, ["", "", ""]);
            check(["", "", "a=1 b/ b/c=2"], by, ["", "", "a b b/c"]);
            check(["a=1 b/ b/c=2", "a=1 b/ b/c=2", "a=2"], by, ["", "b/c b", "a"]);
            // A file where a folder was.
            check(["b/ b/c=2", "b/ b/c=2", "b=3"], by, ["", "b/c b", "b"]);
        }
    }

    #[test]
    fn what_was_not_shared_yet_stays_beside_the_changes_of_others() {
        check(["a=1", "a=2 n=1", "a=1 r=1"], ChangedBy::SameWork, ["", "", "r"]);
        check(["a=1 b=1", "b=1", "a=1 b=2"], ChangedBy::SameWork, ["", "", "b"]);
        // Both changed the same file: the shared one counts, and the other is kept.
        check(["a=1", "a=2", "a=3"], ChangedBy::SameWork, ["a", "", "a"]);
        check(["a=1", "a=2", "a=2"], ChangedBy::SameWork, ["", "", ""]);
        check(["", "d=1", "d/ d/e=1"], ChangedBy::SameWork, ["d", "", "d d/e"]);
    }

    #[test]
    fn what_another_server_did_not_see_is_put_aside() {
        check(["a=1", "a=2 n=1", "a=1"], ChangedBy::OtherWork, ["a n", "", "a"]);
        check(["a=1", "", "a=1"], ChangedBy::OtherWork, ["", "", "a"]);
        check(["", "d/ d/e=1", ""], ChangedBy::OtherWork, ["d/e", "d", ""]);
    }

    #[test]
    fn the_pieces_of_a_file_are_known() {
        let mut file = SharedFile { hash: ContentHash::of(b"x"), bytes: 1, mode: None, pieces: Vec::new() };
        assert_eq!(file.pieces(), [ContentHash::of(b"x")]);
        file.pieces = vec![ContentHash::of(b"y"), ContentHash::of(b"z")];
        assert_eq!(file.pieces(), [ContentHash::of(b"y"), ContentHash::of(b"z")]);
        file.bytes = 0;
        assert!(file.pieces().is_empty());
    }
}
