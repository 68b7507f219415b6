//! Plans of other programs that lie in a project as files: texts, and the tasks of Task Master. None is approved by being taken over:
//! it waits for a person, or it is over.

use jiff::Timestamp;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::fields::{Fields, Reason, kind};
use crate::command::ImportedPlan;
use crate::ids::PlanId;
use crate::plan::content::Document;
use crate::plan::{LegacyOrigin, PlanContent, PlanStatus, markdown};
use crate::refusal::Refusal;
use crate::wire::text_enum;

text_enum! {
    /// Whose files they are.
    pub enum ForeignPlans or "is not a program whose plans are taken over; programs are" {
        /// The Markdown files of Claude Code's plan mode.
        ClaudePlans = "claude-plans",
        /// `task_plan.md` of planning-with-files.
        PlanningFiles = "planning-files",
        /// `tasks.json` of Task Master.
        TaskMaster = "task-master",
    }
}

/// A file as it lies there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignFile {
    /// For people.
    pub name: String,
    pub text: String,
    pub changed_at: Timestamp,
}

/// What becomes of a plan in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignPlan {
    /// The file, and the list in it where it has several.
    pub name: String,
    pub plan: Result<Box<ImportedPlan>, Reason>,
    /// What was left out or changed, in words.
    pub notes: Vec<String>,
}

impl ForeignPlans {
    /// The plans in a file. The same text is always the same plan, so it is taken once.
    pub fn read(self, file: &ForeignFile) -> Vec<ForeignPlan> {
        match self {
            Self::ClaudePlans => vec![self.plan(file, file.name.clone(), file.text.trim(), Vec::new())],
            Self::PlanningFiles => {
                let (text, comments) = without_comments(&file.text);
                let notes = match comments {
                    0 => Vec::new(),
                    _ => vec!["its comments (`<!-- … -->`), which a person would not see, are left out".to_owned()],
                };
                vec![self.plan(file, file.name.clone(), text.trim(), notes)]
            }
            Self::TaskMaster => self.task_lists(file),
        }
    }

    fn plan(self, file: &ForeignFile, name: String, text: &str, mut notes: Vec<String>) -> ForeignPlan {
        if text.is_empty() {
            return ForeignPlan { name, plan: Err("it is empty".to_owned()), notes };
        }
        let content = PlanContent::Document(Document { markdown: format!("{text}\n") });
        let steps = content.steps();
        let is_over = !steps.is_empty() && steps.iter().all(|step| step.ticked);
        if is_over {
            notes.push("all of its steps are ticked, so it counts as done".to_owned());
        }
        let status = if is_over { PlanStatus::Completed } else { PlanStatus::Ready };
        let origin = LegacyOrigin { description: Some(format!("{} {name}", self.as_str())), ..LegacyOrigin::default() };
        let plan = self.id(text).map(|id| {
            Box::new(ImportedPlan {
                id,
                status,
                title: markdown::title(text),
                content,
                execution: None,
                origin,
                created_at: file.changed_at,
                updated_at: file.changed_at,
            })
        });
        ForeignPlan { name, plan, notes }
    }

    fn id(self, text: &str) -> Result<PlanId, Reason> {
        let hash = hex::encode(Sha256::digest(text));
        PlanId::new(format!("{}-{}", self.as_str(), &hash[..24])).map_err(|refusal| refusal.message)
    }

    /// One plan for each list: lists have had names (tags) since version 0.16.2.
    fn task_lists(self, file: &ForeignFile) -> Vec<ForeignPlan> {
        let failed =
            |reason: String| vec![ForeignPlan { name: file.name.clone(), plan: Err(reason), notes: Vec::new() }];
        let read: Value = match serde_json::from_str(file.text.trim_start_matches('\u{feff}')) {
            Ok(read) => read,
            Err(error) => return failed(format!("it is not JSON: {error}")),
        };
        let Some(lists) = read.as_object() else { return failed(format!("it is {}, not an object", kind(&read))) };
        if lists.get("tasks").is_some_and(Value::is_array) {
            return vec![self.task_list(file, "master", &read)];
        }
        let with_tasks = lists.iter().filter(|(_, list)| list.get("tasks").is_some());
        let found: Vec<_> = with_tasks.map(|(name, list)| self.task_list(file, name, list)).collect();
        if found.is_empty() { failed("it has no list of tasks".to_owned()) } else { found }
    }

    fn task_list(self, file: &ForeignFile, list: &str, value: &Value) -> ForeignPlan {
        let name = format!("{}, list `{list}`", file.name);
        let mut text = TaskText::default();
        let read =
            Fields::of(value, String::new()).and_then(|fields| text.push_all(fields.list("tasks")?, "/tasks", 0));
        match read {
            Err(reason) => ForeignPlan { name, plan: Err(reason), notes: Vec::new() },
            Ok(()) if text.tasks.is_empty() => {
                ForeignPlan { name, plan: Err("it has no tasks to do".to_owned()), notes: text.notes }
            }
            Ok(()) => {
                let whole = format!("# Tasks of `{list}`\n\n{}", text.tasks);
                self.plan(file, name, whole.trim(), text.notes)
            }
        }
    }
}

/// Tasks as the task list of a document.
#[derive(Default)]
struct TaskText {
    tasks: String,
    notes: Vec<String>,
}

impl TaskText {
    fn push_all(&mut self, tasks: &[Value], path: &str, depth: usize) -> Result<(), Reason> {
        for (index, task) in tasks.iter().enumerate() {
            let path = format!("{path}/{index}");
            self.push(&Fields::of(task, path.clone())?, &path, depth)?;
        }
        Ok(())
    }

    fn push(&mut self, task: &Fields<'_>, path: &str, depth: usize) -> Result<(), Reason> {
        let id =
            task.value("id").map(|id| id.as_str().map_or_else(|| id.to_string(), str::to_owned)).unwrap_or_default();
        let title = task.filled("title")?.ok_or_else(|| format!("{path}/title is missing"))?;
        let status = task.filled("status")?.unwrap_or("pending");
        let line = one_line(title);
        if status == "cancelled" {
            self.notes.push(format!("task {id}, {line}, was cancelled and is left out"));
            return Ok(());
        }
        let ticked = if matches!(status, "done" | "completed") { 'x' } else { ' ' };
        let state = match status {
            "done" | "completed" | "pending" => String::new(),
            other => format!(" ({})", one_line(other)),
        };
        let indent = "  ".repeat(depth);
        self.tasks.push_str(&format!("{indent}- [{ticked}] {id}. {line}{state}\n"));
        for name in ["description", "details", "testStrategy"] {
            let Some(text) = task.filled(name)? else { continue };
            let label = if name == "testStrategy" { "Test: " } else { "" };
            self.tasks.push('\n');
            for (number, line) in text.lines().enumerate() {
                let label = if number == 0 { label } else { "" };
                let line = format!("{indent}  {label}{line}");
                self.tasks.push_str(&format!("{}\n", line.trim_end()));
            }
        }
        if let Some(needs) = task.value("dependencies").and_then(Value::as_array).filter(|needs| !needs.is_empty()) {
            let names: Vec<_> = needs.iter().map(|need| need.to_string().replace('"', "")).collect();
            self.tasks.push_str(&format!("\n{indent}  After: {}\n", names.join(", ")));
        }
        let parts = task.list("subtasks")?;
        if !parts.is_empty() {
            self.tasks.push('\n');
            self.push_all(parts, &format!("{path}/subtasks"), depth + 1)?;
        }
        if depth == 0 {
            self.tasks.push('\n');
        }
        Ok(())
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text without HTML comments outside of code blocks, and how many there were.
fn without_comments(text: &str) -> (String, usize) {
    let (mut kept, mut count, mut in_code, mut in_comment) = (String::new(), 0, false, false);
    for line in text.split_inclusive('\n') {
        if !in_comment && line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        if in_code {
            kept.push_str(line);
            continue;
        }
        let mut rest = line;
        let mut left = String::new();
        while !rest.is_empty() {
            let mark = if in_comment { "-->" } else { "<!--" };
            let Some(at) = rest.find(mark) else {
                left.push_str(if in_comment { "" } else { rest });
                break;
            };
            if !in_comment {
                left.push_str(&rest[..at]);
                count += 1;
            }
            in_comment = !in_comment;
            rest = &rest[at + mark.len()..];
        }
        // A line that was nothing but a comment goes whole.
        if left.trim().is_empty() && left.len() < line.len() && !line.trim().is_empty() {
            continue;
        }
        kept.push_str(&left);
    }
    (kept, count)
}
