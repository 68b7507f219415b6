//! A pattern for paths, such as `notes/**/*.md`. Matching goes byte by byte, so `?` and `[…]` stand for one ASCII
//! character; everything else takes names in any language.

use globset::{GlobBuilder, GlobMatcher};
use planwright_core::refusal::Refusal;
use planwright_core::visible::quoted;
use serde::Deserialize;

const MAX_BYTES: usize = 1024;

#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Wildcard {
    matcher: GlobMatcher,
    /// Without a `/` only names are looked at, in whatever folder.
    names_only: bool,
}

impl Wildcard {
    pub(super) fn matches(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or_default();
        self.matcher.is_match(if self.names_only { name } else { path })
    }
}

impl TryFrom<String> for Wildcard {
    type Error = Refusal;

    fn try_from(text: String) -> Result<Self, Refusal> {
        let pattern = text.strip_prefix("./").unwrap_or(&text);
        if pattern.is_empty() || pattern.len() > MAX_BYTES {
            return Err(Refusal::invalid(format!("a pattern for paths has 1 to {MAX_BYTES} bytes")));
        }
        if pattern.starts_with('/') || pattern.split('/').any(|name| name == "..") {
            return Err(Refusal::invalid("patterns are relative to the workspace, without `..`"));
        }
        let glob = GlobBuilder::new(pattern)
            .literal_separator(true)
            .build()
            .map_err(|error| Refusal::invalid(format!("{} is not a pattern: {}", quoted(pattern), error.kind())))?;
        Ok(Self { matcher: glob.compile_matcher(), names_only: !pattern.contains('/') })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_paths() {
        for (pattern, path, expected) in [
            ("*.md", "a.md", true),
            ("*.md", "deep/down/a.md", true),
            ("./*.md", "deep/a.md", true),
            ("notes/*.md", "notes/a.md", true),
            ("notes/*.md", "notes/deep/a.md", false),
            ("notes/**/*.md", "notes/a.md", true),
            ("notes/**/*.md", "notes/deep/down/a.md", true),
            ("**/*.md", "a.md", true),
            ("*.{md,txt}", "a.txt", true),
            ("[ab].md", "c.md", false),
            ("ü*.md", "ü漢.md", true),
            ("{ü,漢}.md", "漢.md", true),
            ("*", ".hidden", true),
        ] {
            let wildcard = Wildcard::try_from(pattern.to_owned()).unwrap();
            assert_eq!(wildcard.matches(path), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        let long = "x".repeat(MAX_BYTES + 1);
        let nested = "{".repeat(MAX_BYTES);
        for pattern in ["", "/etc/*", "../*", "a/../*", "[a", "{a", &long, &nested] {
            assert!(Wildcard::try_from(pattern.to_owned()).is_err(), "{pattern:?}");
        }
    }
}
