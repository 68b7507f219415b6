//! A long text in several messages, cut where a reader pauses.

use super::{Entity, FormattedText, MAX_ENTITIES, units};

/// The parts, each of at most `limit` UTF-16 units. Joined they are the text.
pub(super) fn split(whole: FormattedText, limit: usize) -> Vec<FormattedText> {
    // A character has at most two units.
    let limit = limit.max(2);
    let (mut parts, mut rest, mut at) = (Vec::new(), whole.text.as_str(), 0);
    while !rest.is_empty() {
        let end = cut(rest, limit);
        let text = &rest[..end];
        let length = units(text);
        parts.push(FormattedText { text: text.to_owned(), entities: within(&whole.entities, at, length) });
        (rest, at) = (&rest[end..], at + length);
    }
    parts
}

/// Where the first part ends, in bytes: behind a paragraph, a line, a word, or wherever the limit is.
fn cut(text: &str, limit: usize) -> usize {
    let (mut used, mut end) = (0, text.len());
    for (index, letter) in text.char_indices() {
        used += letter.len_utf16();
        if used > limit {
            end = index;
            break;
        }
    }
    if end == text.len() {
        return end;
    }
    let head = &text[..end];
    // A part that is too short is worse than one that ends at a lesser place.
    let good = |separator: &str| {
        let found = head.rfind(separator).map(|index| index + separator.len());
        found.filter(|index| *index > end / 2)
    };
    good("\n\n").or_else(|| good("\n")).or_else(|| good(" ")).unwrap_or(end)
}

/// The entities of a part, as far as they are in it.
fn within(entities: &[Entity], from: usize, length: usize) -> Vec<Entity> {
    let to = from + length;
    let clipped = entities.iter().filter_map(|entity| {
        let (begin, end) = (entity.offset.max(from), (entity.offset + entity.length).min(to));
        (begin < end).then(|| Entity { offset: begin - from, length: end - begin, look: entity.look.clone() })
    });
    clipped.take(MAX_ENTITIES).collect()
}
