//! Which step of one version is which step of the other.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

use similar::{Algorithm, DiffOp, TextDiff, capture_diff_slices};

/// Steps that belong together, by index, in the order of the newer version. What is in no pair was removed or added.
#[derive(Debug, Default)]
pub(super) struct Pairing {
    pairs: Vec<Pair>,
    from_count: usize,
    to_count: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) from: usize,
    pub(super) to: usize,
    /// Whether it changed its place among the steps that are in both versions.
    pub(super) moved: bool,
}

/// Text less alike than this is another text, not the same one in new words.
const MIN_SIMILARITY: f32 = 0.4;

/// How many texts a reworded one is looked for among, as long as there are few enough for that to be quick.
const MAX_CANDIDATES: usize = 16;
const MAX_EXHAUSTIVE: usize = 200;

impl Pairing {
    /// Each key pairs what the ones before it left over: the k-th with a value goes with the k-th on the other side.
    pub(super) fn by_keys<T>(from: &[T], to: &[T], keys: &[&dyn Fn(&T) -> String]) -> Self {
        let mut pairing = Self::over(from.len(), to.len());
        for key in keys {
            pairing.pair_equal(from, to, *key);
        }
        pairing.finish()
    }

    /// Texts have no ids. Those that stayed in place come first, then those that moved, and what is left between
    /// the same neighbours is the same text reworded if it is alike.
    pub(super) fn by_text<'a>(from: &[&'a str], to: &[&'a str]) -> Self {
        let mut pairing = Self::over(from.len(), to.len());
        let ops = capture_diff_slices(Algorithm::Myers, from, to);
        for op in &ops {
            if let DiffOp::Equal { old_index, new_index, len } = *op {
                pairing.pairs.extend((0..len).map(|n| Pair { from: old_index + n, to: new_index + n, moved: false }));
            }
        }
        pairing.pair_equal(from, to, |text: &&str| *text);
        let (from_paired, to_paired) = pairing.paired();
        for op in &ops {
            let mut left: VecDeque<usize> = op.new_range().filter(|index| !to_paired[*index]).collect();
            let looked_at = if left.len() <= MAX_EXHAUSTIVE { MAX_CANDIDATES } else { 1 };
            for index in op.old_range().filter(|index| !from_paired[*index]) {
                let alike =
                    |candidate: &usize| TextDiff::from_words(from[index], to[*candidate]).ratio() >= MIN_SIMILARITY;
                if let Some(found) = left.iter().take(looked_at).position(alike) {
                    pairing.pairs.push(Pair { from: index, to: left[found], moved: false });
                    left.drain(..=found);
                }
            }
        }
        pairing.finish()
    }

    /// In the order of the newer version.
    pub(super) fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    pub(super) fn removed(&self) -> impl Iterator<Item = usize> {
        let (paired, _) = self.paired();
        (0..self.from_count).filter(move |index| !paired[*index])
    }

    fn over(from_count: usize, to_count: usize) -> Self {
        Self { pairs: Vec::new(), from_count, to_count }
    }

    fn paired(&self) -> (Vec<bool>, Vec<bool>) {
        let mut from = vec![false; self.from_count];
        let mut to = vec![false; self.to_count];
        for pair in &self.pairs {
            from[pair.from] = true;
            to[pair.to] = true;
        }
        (from, to)
    }

    fn pair_equal<'t, T, K: Eq + Hash>(&mut self, from: &'t [T], to: &'t [T], key: impl Fn(&'t T) -> K) {
        let (from_paired, to_paired) = self.paired();
        let mut open: HashMap<K, VecDeque<usize>> = HashMap::new();
        for (index, step) in from.iter().enumerate().filter(|(index, _)| !from_paired[*index]) {
            open.entry(key(step)).or_default().push_back(index);
        }
        for (index, step) in to.iter().enumerate().filter(|(index, _)| !to_paired[*index]) {
            if let Some(partner) = open.get_mut(&key(step)).and_then(VecDeque::pop_front) {
                self.pairs.push(Pair { from: partner, to: index, moved: false });
            }
        }
    }

    /// A pair moved if it is not in the longest run of pairs whose order is the same in both versions.
    fn finish(mut self) -> Self {
        self.pairs.sort_unstable_by_key(|pair| pair.to);
        let kept = longest_rising(&self.pairs.iter().map(|pair| pair.from).collect::<Vec<_>>());
        for (index, pair) in self.pairs.iter_mut().enumerate() {
            pair.moved = kept.binary_search(&index).is_err();
        }
        self
    }
}

/// The indices of a longest rising subsequence of distinct numbers.
fn longest_rising(numbers: &[usize]) -> Vec<usize> {
    // `ends[n]` is the index of the smallest number that a rising run of length n + 1 can end with.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = vec![None; numbers.len()];
    for (index, number) in numbers.iter().enumerate() {
        let length = ends.partition_point(|end| numbers[*end] < *number);
        before[index] = length.checked_sub(1).map(|shorter| ends[shorter]);
        if length == ends.len() {
            ends.push(index);
        } else {
            ends[length] = index;
        }
    }
    let mut run: Vec<usize> = std::iter::successors(ends.last().copied(), |index| before[*index]).collect();
    run.reverse();
    run
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_rising_run_is_found() {
        for (numbers, expected) in [
            (vec![], vec![]),
            (vec![5], vec![0]),
            (vec![0, 1, 2], vec![0, 1, 2]),
            (vec![2, 0, 1], vec![1, 2]),
            (vec![1, 2, 0], vec![0, 1]),
            (vec![2, 1, 0], vec![2]),
        ] {
            assert_eq!(longest_rising(&numbers), expected, "{numbers:?}");
        }
    }
}
