//! A small plan from the words of a request, by rule.

use planwright_core::visible::visible;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Draft {
    pub(super) title: String,
    /// The request on one line, for quoting.
    pub(super) request: String,
    /// Three or four steps; the first looks, the last checks.
    pub(super) steps: Vec<Step>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) text: String,
    pub(super) kind: StepKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StepKind {
    Look,
    Work,
    Check,
}

/// A line of every document that the rehearsal drafts. It carries out no others.
pub(super) const DRAFTED_HERE: &str = "Drafted by the rehearsal model, by rule and without a language model.";

const TITLE_CHARACTERS: usize = 60;
const STEP_CHARACTERS: usize = 160;
const REQUEST_CHARACTERS: usize = 300;

impl Draft {
    pub(super) fn from_text(text: &str) -> Self {
        let text = visible(text);
        let mut parts = parts(&text);
        if parts.is_empty() {
            parts.push("Try out planning".to_owned());
        }
        let title = shortened(&parts[0], TITLE_CHARACTERS);
        if parts.len() > 2 {
            let rest = parts.split_off(1).join("; ");
            parts.push(rest);
        }
        let look = Step { text: format!("Look at what exists already for “{title}”"), kind: StepKind::Look };
        let work = parts.iter().map(|part| Step { text: shortened(part, STEP_CHARACTERS), kind: StepKind::Work });
        let check = Step { text: "Check the result against the request".to_owned(), kind: StepKind::Check };
        let steps = std::iter::once(look).chain(work).chain([check]).collect();
        Self { title, request: shortened(&one_line(&text), REQUEST_CHARACTERS), steps }
    }

    pub(super) fn markdown(&self) -> String {
        let mut text = format!("# {}\n\n", self.title);
        if !self.request.is_empty() {
            text += &format!("> {}\n\n", self.request);
        }
        text += &format!("{DRAFTED_HERE}\n\n");
        for step in &self.steps {
            text += &format!("- [ ] {}\n", step.text);
        }
        text
    }
}

/// The plan with the feedback taken up: a step more, before the last one, so the new text is never the old one.
pub(super) fn revised(markdown: &str, feedback: &str) -> String {
    let step = format!("- [ ] {}", change(feedback));
    let mut lines: Vec<&str> = markdown.trim_end().lines().collect();
    let last_step = lines.iter().rposition(|line| line.starts_with("- [ ] "));
    lines.insert(last_step.unwrap_or(lines.len()), &step);
    lines.join("\n") + "\n"
}

/// A step that takes the feedback up.
pub(super) fn change(feedback: &str) -> String {
    let text = one_line(&visible(feedback));
    format!("As asked: {}", shortened(&text, STEP_CHARACTERS))
}

/// The sentences, lines and clauses a request is made of, each begun with a capital and without the polite words.
fn parts(text: &str) -> Vec<String> {
    let mut text = text.to_owned();
    for mark in [". ", "! ", "? ", "; ", ", and then ", " and then ", ", then ", ", and "] {
        text = text.replace(mark, "\n");
    }
    text.lines().map(part).filter(|part| !part.is_empty()).collect()
}

fn part(line: &str) -> String {
    const POLITE: [&str; 8] = [
        "please ",
        "can you ",
        "could you ",
        "would you ",
        "i want you to ",
        "i would like to ",
        "i want to ",
        "let's ",
    ];
    let line = one_line(line);
    let mut rest = line.trim_matches(|c: char| c.is_whitespace() || "#>-*+.,;:!?[]".contains(c));
    while let Some(polite) = POLITE.iter().find(|polite| starts_with_ignoring_case(rest, polite)) {
        rest = rest[polite.len()..].trim_start();
    }
    let mut characters = rest.chars();
    characters.next().map(|first| first.to_uppercase().chain(characters).collect()).unwrap_or_default()
}

fn starts_with_ignoring_case(text: &str, beginning: &str) -> bool {
    text.get(..beginning.len()).is_some_and(|start| start.eq_ignore_ascii_case(beginning))
}

pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Cut between words where that is possible.
pub(super) fn shortened(text: &str, most: usize) -> String {
    let Some((cut, _)) = text.char_indices().nth(most) else { return text.to_owned() };
    let whole_words = text[..cut].rfind(' ').filter(|at| *at > cut / 2).unwrap_or(cut);
    format!("{}…", text[..whole_words].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titles(text: &str) -> (String, Vec<String>) {
        let draft = Draft::from_text(text);
        (draft.title, draft.steps.into_iter().map(|step| step.text).collect())
    }

    #[test]
    fn requests_become_titles_and_three_or_four_steps() {
        let (title, steps) = titles("please could you add a health endpoint, and then write tests for it.");
        assert_eq!(title, "Add a health endpoint");
        assert_eq!(
            steps,
            [
                "Look at what exists already for “Add a health endpoint”",
                "Add a health endpoint",
                "Write tests for it",
                "Check the result against the request"
            ]
        );
        for text in
            ["", "x", "one. two. three. four. five.", "- a\n- b\n- c", "\u{1b}[2J\u{202e}", &"long ".repeat(500)]
        {
            let (title, steps) = titles(text);
            assert!((3..=4).contains(&steps.len()), "{text:?}: {steps:?}");
            assert!(!title.is_empty() && title.chars().count() <= TITLE_CHARACTERS + 1, "{title:?}");
            assert!(steps.iter().all(|step| !step.contains(['\n', '\u{1b}', '\u{202e}'])), "{steps:?}");
        }
    }

    #[test]
    fn a_revision_always_differs() {
        let mut text = Draft::from_text("Bake bread").markdown();
        for _ in 0..3 {
            let new = revised(&text, "less\nsalt");
            assert_ne!(new, text);
            assert!(new.contains("- [ ] As asked: less salt\n"), "{new}");
            assert!(new.ends_with("- [ ] Check the result against the request\n"), "{new}");
            text = new;
        }
        assert_eq!(revised("Just prose.\n", "more"), "Just prose.\n- [ ] As asked: more\n");
    }
}
