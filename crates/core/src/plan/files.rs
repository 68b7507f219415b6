//! Files that a plan names.

use crate::plan::PlanContent;

impl PlanContent {
    /// The paths that the plan names: its list of files, or the words of a document that look like one. What a recorded call
    /// changes is in the call.
    pub fn files(&self) -> Vec<String> {
        match self {
            Self::Document(document) => of_document(&document.markdown),
            Self::Collect(_) => Vec::new(),
            Self::Build(built) => built.files.clone(),
        }
    }
}

fn of_document(markdown: &str) -> Vec<String> {
    let around = |letter: char| "`'\"*_()[]<>,;:!?".contains(letter);
    let words = markdown
        .split(|letter: char| letter.is_whitespace() || letter == '`')
        .map(|word| word.trim_start_matches(around).trim_end_matches(|letter| letter == '.' || around(letter)));
    let mut files: Vec<_> =
        words.filter(|word| word.contains(['/', '.']) && !word.contains("://")).map(str::to_owned).collect();
    files.sort_unstable();
    files.dedup();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_names_paths_as_people_write_them() {
        let text = "1. Change `AGENTS.md`, *src/a.rs* and (.vscode/). See https://x.y/z. Then write docs/b.md.";
        assert_eq!(of_document(text), [".vscode/", "AGENTS.md", "docs/b.md", "src/a.rs"]);
    }
}
