//! A plan as a file of a project: Markdown with front matter, written from the ledger.

use std::fmt::Write as _;
use std::str::FromStr;

use sha2::{Digest as _, Sha256};

use crate::front_matter::FrontMatter;
use crate::ids::PlanId;
use crate::plan::Plan;
use crate::plan::execution::StepStatus;
use crate::refusal::Refusal;
use crate::visible::{quoted, visible};

/// Between the text of the plan and what Planwright adds.
const MARKER: &str = "<!-- The text above is the plan. Planwright writes what follows. -->";
/// Characters of a title in the name of a file.
const SLUG_CHARACTERS: usize = 60;
const PLACEHOLDERS: [&str; 4] = ["{date}", "{slug}", "{number}", "{id}"];

/// Where plans are written, relative to the project, such as `docs/plans/{date}-{slug}.md`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportPath {
    folder: String,
    name: String,
}

impl ExportPath {
    /// The folder of all plans; empty for the project folder itself.
    pub fn folder(&self) -> &str {
        &self.folder
    }

    /// The name of the plan's file without `.md`.
    pub fn file_stem(&self, plan: &Plan) -> String {
        let date = plan.created_at.strftime("%Y-%m-%d").to_string();
        let (slug, number) = (slug(&plan.display_title()), plan.number.to_string());
        let values = [date.as_str(), slug.as_str(), number.as_str(), plan.id.as_str()];
        PLACEHOLDERS
            .iter()
            .zip(values)
            .fold(self.name.clone(), |name, (placeholder, value)| name.replace(placeholder, value))
    }
}

impl FromStr for ExportPath {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let wrong = |why: &str| Refusal::invalid(format!("{} {why}", quoted(text)));
        let Some(path) = text.trim().strip_suffix(".md") else { return Err(wrong("does not end in `.md`")) };
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let parts = || path.split('/');
        if path.starts_with('/') || path.contains('\\') || parts().any(|part| matches!(part, "" | "." | "..")) {
            return Err(wrong("is not a path relative to the project"));
        }
        if folder.contains(['{', '}']) {
            return Err(wrong("has a placeholder in a folder; placeholders belong into the name of the file"));
        }
        let rest = PLACEHOLDERS.iter().fold(name.to_owned(), |rest, placeholder| rest.replace(placeholder, ""));
        if rest.contains(['{', '}']) {
            return Err(wrong("has an unknown placeholder; `{date}`, `{slug}`, `{number}` and `{id}` are known"));
        }
        if !["{slug}", "{number}", "{id}"].iter().any(|placeholder| name.contains(placeholder)) {
            return Err(wrong("has the same name for every plan; add `{slug}`, `{number}` or `{id}`"));
        }
        if visible(text) != text {
            return Err(wrong("has characters that cannot be seen"));
        }
        Ok(Self { folder: folder.to_owned(), name: name.to_owned() })
    }
}

impl std::fmt::Display for ExportPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let slash = if self.folder.is_empty() { "" } else { "/" };
        write!(f, "{}{slash}{}.md", self.folder, self.name)
    }
}

/// Letters and digits in lower case, with `-` for everything else.
fn slug(title: &str) -> String {
    let title_words = title.to_lowercase();
    let title_words = title_words.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut slug = String::new();
    for word in title_words {
        if slug.chars().count() + word.chars().count() > SLUG_CHARACTERS {
            break;
        }
        if !slug.is_empty() {
            slug.push('-');
        }
        slug.push_str(word);
    }
    if slug.is_empty() { "plan".to_owned() } else { slug }
}

/// The file of a plan, as the journal has it after entry `seq`.
pub fn render(plan: &Plan, seq: u64) -> String {
    let markdown = plan.markdown();
    let body = markdown.trim_end();
    let mut text = String::from("---\n");
    let mut field = |key: &str, value: &str| {
        let _ = writeln!(text, "{key}: {}", visible(value).replace(['\n', '\t', '"'], " "));
    };
    field("plan", &plan.number.to_string());
    field("id", plan.id.as_str());
    field("session", &plan.session.to_string());
    field("title", &plan.display_title());
    field("status", plan.status.as_str());
    field("version", &plan.version.to_string());
    field("digest", &plan.digest().to_string());
    if let Some(approval) = &plan.approval {
        field("approved_by", &approval.by.to_string());
        field("approved_at", &approval.at.to_string());
        field("approved_digest", &approval.digest.to_string());
    }
    field("journal", &seq.to_string());
    field("checksum", &checksum(body));
    let _ = write!(text, "---\n{body}\n");
    if let Some(outcome) = outcome(plan) {
        let _ = write!(text, "\n{MARKER}\n\n{outcome}");
    }
    text
}

/// What the execution did, step by step.
fn outcome(plan: &Plan) -> Option<String> {
    let execution = plan.execution.as_ref()?;
    let mut text = String::from("## Outcome\n\n");
    for (run, n) in execution.steps.iter().zip(1..) {
        let mark = if run.status == StepStatus::Completed { 'x' } else { ' ' };
        let line = visible(&run.description).replace(['\n', '\t'], " ");
        let _ = write!(text, "- [{mark}] {n}. {line}: {}", run.status.as_str());
        if let Some(note) = &run.note {
            let _ = write!(text, " ({})", visible(note).replace(['\n', '\t'], " "));
        }
        text.push('\n');
    }
    Some(text)
}

fn checksum(body: &str) -> String {
    hex::encode(&Sha256::digest(body.trim_end())[..8])
}

/// The file of a plan, as it is on disk.
#[derive(Debug, PartialEq, Eq)]
pub struct ExportedPlan {
    pub plan: PlanId,
    /// The entry of the journal after which it was written.
    pub seq: u64,
    /// The text of the plan, without front matter and outcome.
    pub markdown: String,
    /// The text is not as it was written.
    pub edited: bool,
}

impl ExportedPlan {
    /// `None` for a text that is not the file of a plan.
    pub fn parse(text: &str) -> Option<Self> {
        let FrontMatter { fields, body } = FrontMatter::parse(text).ok()?;
        let field = |key: &str| match &fields.iter().find(|(name, _)| name == key)?.1[..] {
            [value] => Some(value.as_str()),
            _ => None,
        };
        let markdown = body.split_once(MARKER).map_or(body.as_str(), |(before, _)| before).trim_end();
        Some(Self {
            plan: PlanId::new(field("id")?).ok()?,
            seq: field("journal")?.parse().ok()?,
            edited: field("checksum")? != checksum(markdown),
            markdown: markdown.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_relative_and_tells_plans_apart() {
        for good in ["docs/plans/{date}-{slug}.md", "{id}.md", "plans/plan {number}.md"] {
            assert_eq!(good.parse::<ExportPath>().unwrap().to_string(), good);
        }
        for (bad, why) in [
            ("plans/{slug}", "end in `.md`"),
            ("/plans/{slug}.md", "relative"),
            ("../{slug}.md", "relative"),
            ("a//{slug}.md", "relative"),
            ("a\\{slug}.md", "relative"),
            ("plans/{date}.md", "the same name"),
            ("{date}/{slug}.md", "in a folder"),
            ("{name}-{slug}.md", "unknown placeholder"),
            ("{slug}\u{202e}.md", "cannot be seen"),
        ] {
            let refusal = bad.parse::<ExportPath>().unwrap_err();
            assert!(refusal.message.contains(why), "{bad}: {}", refusal.message);
        }
    }

    #[test]
    fn a_slug_has_letters_digits_and_dashes() {
        for (title, expected) in [
            ("Add a CHANGELOG.md!", "add-a-changelog-md"),
            ("  Übergröße  ", "übergröße"),
            ("../../etc/passwd", "etc-passwd"),
            ("!!!", "plan"),
        ] {
            assert_eq!(slug(title), expected);
        }
        assert!(slug(&"word ".repeat(100)).chars().count() <= SLUG_CHARACTERS + 12);
    }
}
