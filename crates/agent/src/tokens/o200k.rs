//! How many tokens of OpenAI's vocabulary `o200k_base` a text has. The vocabulary is a part of the program's file and is searched
//! there, so that the first count costs as much as the next one, and no process holds the vocabulary in memory of its own.

use std::sync::LazyLock;

use fst::Map;
use regex::Regex;

static VOCABULARY: LazyLock<Map<&[u8]>> = LazyLock::new(|| {
    let made_by_the_build = include_bytes!(concat!(env!("OUT_DIR"), "/o200k_base.fst"));
    Map::new(made_by_the_build.as_slice()).expect("the build wrote the vocabulary")
});

/// No token reaches over the border of two pieces. The vocabulary's own pattern has `\s+(?!\S)` before its last part; `piece_end`
/// does what that says.
static PIECES: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"|\p{N}{1,3}",
        r"| ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"|\s*[\r\n]+",
        r"|\s+",
    ))
    .expect("the pattern is valid")
});

/// A longer piece is counted in parts, because the time to merge its bytes grows with the square of its length.
const MAX_PIECE: usize = 512;

pub(super) fn count(text: &str) -> usize {
    let mut tokens = 0;
    let mut begin = 0;
    while let Some(found) = PIECES.find_at(text, begin) {
        let end = piece_end(text, found.start(), found.end());
        tokens += text.as_bytes()[found.start()..end].chunks(MAX_PIECE).map(count_piece).sum::<usize>();
        begin = end;
    }
    tokens
}

/// Of several spaces before a word, the last one belongs to the word.
fn piece_end(text: &str, begin: usize, end: usize) -> usize {
    let piece = &text[begin..end];
    let last = piece.chars().next_back().expect("a piece has a character");
    let spaces = !matches!(last, '\r' | '\n') && piece.chars().all(char::is_whitespace);
    let before_a_word = end < text.len() && piece.len() > last.len_utf8();
    if spaces && before_a_word { end - last.len_utf8() } else { end }
}

fn rank(bytes: &[u8]) -> u64 {
    VOCABULARY.get(bytes).unwrap_or(u64::MAX)
}

/// Merges the neighbours that are the most frequent token together, until no two neighbours are a token.
fn count_piece(piece: &[u8]) -> usize {
    if piece.len() < 2 || rank(piece) != u64::MAX {
        return 1;
    }
    // Where each part begins, and the rank of it and its right neighbour together.
    let mut parts: Vec<(usize, u64)> = (0..piece.len()).map(|at| (at, u64::MAX)).collect();
    let pair = |parts: &[(usize, u64)], index: usize| {
        let begin = parts[index].0;
        match parts.get(index + 1) {
            Some(_) => rank(&piece[begin..parts.get(index + 2).map_or(piece.len(), |after| after.0)]),
            None => u64::MAX,
        }
    };
    for index in 0..parts.len() {
        parts[index].1 = pair(&parts, index);
    }
    while let Some((index, _)) =
        parts.iter().enumerate().filter(|(_, part)| part.1 != u64::MAX).min_by_key(|(_, part)| part.1)
    {
        parts.remove(index + 1);
        parts[index].1 = pair(&parts, index);
        if index > 0 {
            parts[index - 1].1 = pair(&parts, index - 1);
        }
    }
    parts.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn is_exact(text: &str) {
        let counted = tiktoken_rs::o200k_base_singleton().count_ordinary(text);
        assert_eq!(count(text), counted, "{text:?}");
    }

    #[test]
    fn counts_as_the_vocabularys_own_tokenizer_does() {
        for text in [
            "",
            " ",
            "   ",
            "  \n \n  x",
            "\r\n\r\nfn main() {\r\n    println!(\"{}\", 1234567);\r\n}\r\n",
            "I'll say it's THEIR'S, we've don't'D",
            "Ищет текст во всех счетах и возвращает не более двадцати совпадений с датой и суммой.",
            "在所有发票中搜索文本,最多返回二十个包含日期和金额的匹配项。",
            "👩‍👩‍👧‍👦 e\u{301}\u{301} \u{a0}\u{a0}word \u{3000} end ",
            "---------------------------------------------------------------- / // ///\n\n",
            include_str!("o200k.rs"),
            include_str!("../tokens.rs"),
        ] {
            is_exact(text);
        }
    }

    #[test]
    fn a_long_piece_is_counted_in_parts() {
        let (long, own) = ("ab".repeat(8 * MAX_PIECE), tiktoken_rs::o200k_base_singleton());
        let (counted, exact) = (count(&long), own.count_ordinary(&long));
        assert!(counted.abs_diff(exact) * 20 <= exact, "{counted} instead of {exact}");
    }

    proptest! {
        #[test]
        fn counts_any_text_exactly(text in "[ \t\r\na-dA-D0-9'./é漢👍\u{301}]{0,60}|\\PC{0,40}") {
            is_exact(&text);
        }
    }
}
