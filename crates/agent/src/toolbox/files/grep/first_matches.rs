//! The first matches in the order of paths, whatever order threads find them in.

use std::collections::BTreeMap;

use crate::toolbox::files::path::FilePath;

#[derive(Debug)]
pub(super) struct Match {
    pub(super) line: u64,
    pub(super) text: String,
}

/// Keeps no more than are wanted, so that files behind them need not be searched.
#[derive(Debug)]
pub(super) struct FirstMatches {
    wanted: usize,
    kept: usize,
    by_path: BTreeMap<FilePath, Vec<Match>>,
    /// There are more than are kept.
    pub(super) more: bool,
}

impl FirstMatches {
    pub(super) fn new(wanted: usize) -> Self {
        Self { wanted, kept: 0, by_path: BTreeMap::new(), more: false }
    }

    pub(super) fn add(&mut self, path: FilePath, found: Vec<Match>) {
        self.kept += found.len();
        self.by_path.insert(path, found);
        // The last file is dropped once the others have enough.
        while let Some(last) = self.by_path.last_entry() {
            if self.kept - last.get().len() < self.wanted {
                break;
            }
            self.kept -= last.remove().len();
            self.more = true;
        }
    }

    /// The path behind which nothing is wanted.
    pub(super) fn last_wanted(&self) -> Option<&FilePath> {
        if self.kept < self.wanted {
            return None;
        }
        self.by_path.last_key_value().map(|(path, _)| path)
    }

    pub(super) fn take(&mut self) -> BTreeMap<FilePath, Vec<Match>> {
        std::mem::take(&mut self.by_path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(matches: usize) -> Vec<Match> {
        (0..matches as u64).map(|line| Match { line, text: String::new() }).collect()
    }

    fn path(text: &str) -> FilePath {
        FilePath::parse(text).unwrap()
    }

    #[test]
    fn the_first_ones_stay_in_whatever_order_they_come() {
        for order in [["a", "b", "c/d"], ["c/d", "b", "a"], ["b", "c/d", "a"]] {
            let mut first = FirstMatches::new(3);
            for name in order {
                first.add(path(name), some(2));
            }
            assert_eq!(first.last_wanted(), Some(&path("b")));
            assert!(first.more);
            assert_eq!(first.take().keys().map(FilePath::as_str).collect::<Vec<_>>(), ["a", "b"]);
        }
        let mut few = FirstMatches::new(3);
        few.add(path("a"), some(2));
        assert_eq!((few.last_wanted(), few.more), (None, false));
    }
}
