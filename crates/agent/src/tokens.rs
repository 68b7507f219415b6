//! Counting tokens. For models with another vocabulary the count is an estimate; the difference is a few per cent, and the
//! room that is left for the answer covers it.

mod o200k;

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Mutex, PoisonError};

use planwright_core::conversation::CountTokens;

#[derive(Debug, Default)]
pub struct Tokens {
    /// Recent counts: the prompt is the same in almost every request.
    known: Mutex<HashMap<u64, u32>>,
}

/// Of a longer text, only this part is counted.
const COUNTED: usize = 32 * 1024;
const MAX_KNOWN: usize = 1024;

impl Tokens {
    /// Counts a text that comes again and again.
    pub fn count_known(&self, text: &str) -> u32 {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let key = hasher.finish();
        let lock = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tokens) = lock().get(&key) {
            return *tokens;
        }
        let tokens = self.count(text);
        let mut known = lock();
        if known.len() >= MAX_KNOWN {
            known.clear();
        }
        known.insert(key, tokens);
        tokens
    }
}

impl CountTokens for Tokens {
    fn count(&self, text: &str) -> u32 {
        match text.len() {
            0 => 0,
            length if length <= COUNTED => count(text),
            length => {
                let head = &text[..text.floor_char_boundary(COUNTED)];
                let share = length as f64 / head.len() as f64;
                (f64::from(count(head)) * share).ceil() as u32
            }
        }
    }
}

fn count(text: &str) -> u32 {
    u32::try_from(o200k::count(text)).unwrap_or(u32::MAX)
}
