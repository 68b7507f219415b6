//! What was probably meant: names one or two slips of the finger away.

use super::table::CommandSpec;

/// Below this, an abbreviation fits too much.
const MIN_ABBREVIATION: usize = 3;
const LONG_NAME: usize = 7;

/// The commands nearest to an unknown word, all of them if several are equally near. A command of `/plan` is also
/// found by its second word alone.
pub(super) fn nearest(word: &str, entries: impl Iterator<Item = &'static CommandSpec>) -> Vec<&'static CommandSpec> {
    let mut found: Vec<_> = entries
        .filter_map(|entry| {
            let by_name = distance_if_near(word, entry.name);
            let by_word = distance_if_near(word, entry.last_word());
            by_name.into_iter().chain(by_word).min().map(|distance| (distance, entry))
        })
        .collect();
    let least = found.iter().map(|(distance, _)| *distance).min();
    found.retain(|(distance, _)| Some(*distance) == least);
    found.into_iter().map(|(_, entry)| entry).collect()
}

/// One slip for short names, two for long ones. With two slips the first letter has to be right: `improve` is as near
/// to `approve` as a misspelling of it, and another word.
pub(super) fn is_misspelling(word: &str, name: &str) -> bool {
    let most = if name.chars().count() >= LONG_NAME { 2 } else { 1 };
    match distance(word, name, most) {
        Some(0 | 1) => true,
        Some(_) => word.chars().next() == name.chars().next(),
        None => false,
    }
}

pub(super) fn is_abbreviation(word: &str, name: &str) -> bool {
    word.chars().count() >= MIN_ABBREVIATION && name.starts_with(word)
}

fn distance_if_near(word: &str, name: &str) -> Option<usize> {
    const ABBREVIATED: usize = 3;
    match distance(word, name, ABBREVIATED) {
        Some(distance) if is_misspelling(word, name) => Some(distance),
        Some(_) | None => is_abbreviation(word, name).then_some(ABBREVIATED),
    }
}

/// How many letters were left out, added, replaced or swapped with their neighbour, if there are at most `most`.
fn distance(left: &str, right: &str, most: usize) -> Option<usize> {
    // A long word is not compared at all: a line of any length can be typed.
    let apart = left.chars().count().abs_diff(right.chars().count());
    (apart <= most).then(|| strsim::osa_distance(left, right)).filter(|distance| *distance <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_counted() {
        for (left, right, expected) in [
            ("plan", "plan", Some(0)),
            ("pln", "plan", Some(1)),
            ("plna", "plan", Some(1)),
            ("plaan", "plan", Some(1)),
            ("plom", "plan", Some(2)),
            ("apporve", "approve", Some(1)),
            ("improve", "approve", Some(2)),
            ("żółw", "żołw", Some(1)),
            ("", "on", Some(2)),
            ("", "off", None),
            ("kitten", "sitting", None),
        ] {
            assert_eq!(distance(left, right, 2), expected, "{left} {right}");
            assert_eq!(distance(right, left, 2), expected, "{right} {left}");
        }
    }
}
