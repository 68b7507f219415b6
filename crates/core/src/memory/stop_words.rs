//! English words that say too little to be looked for, and irregular forms that a stemmer does not join.

/// Sorted, so that they can be searched.
const STOP_WORDS: &[&str] = &[
    "a", "about", "above", "after", "again", "against", "all", "am", "an", "and", "any", "are", "as", "at", "be",
    "because", "been", "before", "being", "below", "between", "both", "but", "by", "can", "cannot", "could", "did",
    "do", "does", "doing", "down", "during", "each", "few", "for", "from", "further", "had", "has", "have", "having",
    "he", "her", "here", "hers", "herself", "him", "himself", "his", "how", "i", "if", "in", "into", "is", "it",
    "its", "itself", "just", "me", "more", "most", "my", "myself", "no", "nor", "not", "now", "of", "off", "oh", "on",
    "once", "only", "or", "other", "our", "ours", "ourselves", "out", "over", "own", "same", "she", "should", "so",
    "some", "such", "than", "that", "the", "their", "theirs", "them", "themselves", "then", "there", "these", "they",
    "this", "those", "through", "to", "too", "under", "until", "up", "very", "was", "we", "were", "what", "when",
    "where", "which", "while", "who", "whom", "whose", "why", "will", "with", "would", "you", "your", "yours",
    "yourself", "yourselves",
];

/// Each irregular form with the word that it is a form of. Sorted by the form.
const IRREGULAR: &[(&str, &str)] = &[
    ("ate", "eat"), ("became", "become"), ("began", "begin"), ("begun", "begin"), ("bought", "buy"),
    ("broke", "break"), ("broken", "break"), ("brought", "bring"), ("built", "build"), ("came", "come"),
    ("caught", "catch"), ("children", "child"), ("chose", "choose"), ("chosen", "choose"), ("drank", "drink"),
    ("drawn", "draw"), ("drew", "draw"), ("driven", "drive"), ("drove", "drive"), ("eaten", "eat"),
    ("fallen", "fall"), ("feet", "foot"), ("fell", "fall"), ("felt", "feel"), ("flew", "fly"), ("flown", "fly"),
    ("forgot", "forget"), ("forgotten", "forget"), ("fought", "fight"), ("found", "find"), ("gave", "give"),
    ("given", "give"), ("gone", "go"), ("got", "get"), ("gotten", "get"), ("grew", "grow"), ("grown", "grow"),
    ("heard", "hear"), ("held", "hold"), ("hid", "hide"), ("kept", "keep"), ("knew", "know"), ("known", "know"),
    ("laid", "lay"), ("led", "lead"), ("left", "leave"), ("lent", "lend"), ("lost", "lose"), ("made", "make"),
    ("meant", "mean"), ("men", "man"), ("met", "meet"), ("mice", "mouse"), ("paid", "pay"), ("ran", "run"),
    ("rang", "ring"), ("ridden", "ride"), ("rode", "ride"), ("said", "say"), ("sang", "sing"), ("sat", "sit"),
    ("saw", "see"), ("seen", "see"), ("sent", "send"), ("shot", "shoot"), ("shown", "show"), ("slept", "sleep"),
    ("sold", "sell"), ("spent", "spend"), ("spoke", "speak"), ("spoken", "speak"), ("stolen", "steal"),
    ("stood", "stand"), ("sung", "sing"), ("swam", "swim"), ("taken", "take"), ("taught", "teach"),
    ("teeth", "tooth"), ("thought", "think"), ("threw", "throw"), ("thrown", "throw"), ("told", "tell"),
    ("took", "take"), ("understood", "understand"), ("went", "go"), ("woke", "wake"), ("women", "woman"),
    ("won", "win"), ("wore", "wear"), ("worn", "wear"), ("written", "write"), ("wrote", "write"),
];

pub(super) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// The word that an irregular form stands for, or the word itself.
pub(super) fn regular(word: &str) -> &str {
    IRREGULAR.binary_search_by_key(&word, |(form, _)| form).map_or(word, |index| IRREGULAR[index].1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted() {
        assert!(STOP_WORDS.is_sorted());
        assert!(IRREGULAR.is_sorted_by_key(|(form, _)| form));
        assert_eq!((regular("went"), regular("walk")), ("go", "walk"));
    }
}
