//! What recorded calls would do to files, against the files as they are now. Nothing is changed.

use std::collections::BTreeMap;
use std::io::Read as _;

use cap_std::fs::Dir;
use planwright_core::ids::StepId;
use planwright_core::plan::content::{CallRunner, RecordedCall};
use planwright_core::refusal::Refusal;
use planwright_core::visible::quoted;
use serde_json::Value;

use super::browse::is_denied;
use super::change::{changeable, is_there};
use super::delete::DeleteFile;
use super::diff;
use super::edit::EditFile;
use super::io_error;
use super::move_file::MoveFile;
use super::open::open_named;
use super::path::FilePath;
use super::text::{Encoding, encoding_of};
use super::tool::{FileCall, FileCallContext};
use super::write::WriteFile;
use super::{FileLimits, FileTools};
use crate::tool_schema;
use crate::toolbox::ToolContext;

/// The longest text that is shown.
const TEXT_BYTES: usize = 256 * 1024;
/// The texts of all steps together.
const MAX_TOTAL_BYTES: usize = 4 * 1024 * 1024;

/// What one recorded call would do to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepPreview {
    pub step: StepId,
    /// From 1.
    pub position: usize,
    pub tool: String,
    pub path: String,
    /// The path that the file is moved to.
    pub to: Option<String>,
    /// The file before the call: as it is now, or as an earlier step of the plan leaves it.
    pub before: PreviewedText,
    pub after: PreviewedText,
    /// Why the call would fail, or why a text is not shown.
    pub problem: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PreviewedText {
    /// There is no file.
    Absent,
    Text(String),
    /// There is a file. It is not text, or it is too long.
    NotShown,
}

impl StepPreview {
    /// What the call would change, in the form of `git diff`. `None` where a text is not shown.
    pub fn difference(&self) -> Option<String> {
        if [&self.before, &self.after].contains(&&PreviewedText::NotShown) {
            return None;
        }
        let after = self.to.as_deref().unwrap_or(&self.path);
        Some(diff::of_texts(self.before.named(&self.path), self.after.named(after)))
    }
}

impl PreviewedText {
    /// The text with its path, if there is one to show.
    fn named<'t>(&'t self, path: &'t str) -> Option<(&'t str, &'t str)> {
        match self {
            Self::Text(text) => Some((path, text)),
            Self::Absent | Self::NotShown => None,
        }
    }
}

impl FileTools {
    /// The calls to `write_file`, `edit_file`, `delete_file` and `move_file` among these, one after another.
    pub(crate) async fn preview(
        &self,
        context: ToolContext<'_>,
        calls: Vec<RecordedCall>,
    ) -> Result<Vec<StepPreview>, Refusal> {
        self.shared.fetch(context.session).await?;
        let (opening, _cancel_on_drop) = FileCallContext::opening(&self.shared, context, None);
        let work = move || {
            let place = opening.open()?;
            let mut future = FutureFiles { files: place.workspace.files()?, place: &place, changed: BTreeMap::new() };
            let (mut previews, mut room) = (Vec::new(), MAX_TOTAL_BYTES);
            for (call, position) in calls.iter().zip(1..).filter(|(call, _)| call.runner == CallRunner::Planwright) {
                if place.deadline.is_over() {
                    return Err(io_error::took_too_long());
                }
                if let Some(effect) = future.effect_of(call) {
                    previews.push(effect.shown(call, position, &mut room));
                }
            }
            Ok(previews)
        };
        self.shared.blocking("Previewing the plan", work).await
    }
}

/// The files as they would be after the calls so far.
struct FutureFiles<'a> {
    files: Option<Dir>,
    place: &'a FileCallContext,
    changed: BTreeMap<FilePath, FutureFile>,
}

#[derive(Debug, Clone)]
enum FutureFile {
    Absent,
    Text(String),
    /// Why its text is not known.
    Opaque(String),
}

/// What a call does to one file.
#[derive(Debug)]
struct FileEffect {
    path: String,
    to: Option<String>,
    before: FutureFile,
    after: FutureFile,
    problem: Option<String>,
}

impl FutureFiles<'_> {
    /// `None` for a call of another tool.
    fn effect_of(&mut self, call: &RecordedCall) -> Option<FileEffect> {
        let limits = &self.place.limits;
        let arguments = &call.arguments;
        let effect = match call.tool.as_str() {
            WriteFile::NAME => parse::<WriteFile>(arguments, limits).map(|call| self.write(call)),
            EditFile::NAME => parse::<EditFile>(arguments, limits).map(|call| self.edit(&call)),
            DeleteFile::NAME => parse::<DeleteFile>(arguments, limits).map(|call| self.delete(&call)),
            MoveFile::NAME => parse::<MoveFile>(arguments, limits).map(|call| self.rename(&call)),
            _ => return None,
        };
        Some(effect.unwrap_or_else(|refusal| {
            let path = arguments.get("path").and_then(Value::as_str).unwrap_or_default().to_owned();
            let unknown = || FutureFile::Opaque(refusal.message.clone());
            FileEffect { path, to: None, before: unknown(), after: unknown(), problem: Some(refusal.message.clone()) }
        }))
    }

    fn write(&mut self, call: WriteFile) -> FileEffect {
        let before = match self.look(&call.path) {
            Ok(before) => before,
            Err(refusal) => {
                return FileEffect::failing(&call.path, FutureFile::Opaque(refusal.message.clone()), refusal);
            }
        };
        let after = FutureFile::Text(call.content);
        self.changed.insert(call.path.clone(), after.clone());
        FileEffect { path: call.path.to_string(), to: None, before, after, problem: None }
    }

    fn edit(&mut self, call: &EditFile) -> FileEffect {
        self.replace(&call.path, |before| match before {
            FutureFile::Absent => Err(missing(&call.path)),
            FutureFile::Text(text) => call.edited(text).map(FutureFile::Text),
            FutureFile::Opaque(why) => Ok(FutureFile::Opaque(why.clone())),
        })
    }

    fn delete(&mut self, call: &DeleteFile) -> FileEffect {
        self.replace(&call.path, |before| match before {
            FutureFile::Absent => Err(missing(&call.path)),
            FutureFile::Text(_) | FutureFile::Opaque(_) => Ok(FutureFile::Absent),
        })
    }

    fn rename(&mut self, call: &MoveFile) -> FileEffect {
        let target = self.look(&call.to);
        let effect = self.replace(&call.path, |before| match (before, target) {
            (FutureFile::Absent, _) => Err(missing(&call.path)),
            (_, Err(refusal)) => Err(refusal),
            (_, Ok(FutureFile::Text(_) | FutureFile::Opaque(_))) => Err(is_there(&call.to)),
            (FutureFile::Text(_) | FutureFile::Opaque(_), Ok(FutureFile::Absent)) => Ok(FutureFile::Absent),
        });
        let to = Some(call.to.to_string());
        if effect.problem.is_some() {
            return FileEffect { to, ..effect };
        }
        // The file stays the same; only its path is another one.
        let after = effect.before.clone();
        self.changed.insert(call.to.clone(), after.clone());
        FileEffect { to, after, ..effect }
    }

    fn replace(
        &mut self,
        path: &FilePath,
        change: impl FnOnce(&FutureFile) -> Result<FutureFile, Refusal>,
    ) -> FileEffect {
        let before = match self.look(path) {
            Ok(before) => before,
            Err(refusal) => return FileEffect::failing(path, FutureFile::Opaque(refusal.message.clone()), refusal),
        };
        match change(&before) {
            Ok(after) => {
                self.changed.insert(path.clone(), after.clone());
                FileEffect { path: path.to_string(), to: None, before, after, problem: None }
            }
            Err(refusal) => FileEffect::failing(path, before, refusal),
        }
    }

    /// The file as it is before the next call.
    fn look(&self, path: &FilePath) -> Result<FutureFile, Refusal> {
        if let Some(changed) = self.changed.get(path) {
            return Ok(changed.clone());
        }
        let Some(files) = &self.files else { return Ok(FutureFile::Absent) };
        let shown = quoted(path.as_str());
        if is_denied(files, path, &self.place.denied) {
            return Err(Refusal::policy_denied(format!("A rule denies reading {shown}.")));
        }
        let Some(metadata) = changeable(files, path)? else { return Ok(FutureFile::Absent) };
        if metadata.len() > TEXT_BYTES as u64 {
            return Ok(FutureFile::Opaque(too_long(&shown, metadata.len())));
        }
        let mut content = Vec::new();
        let read = open_named(files, path)?.file.take(TEXT_BYTES as u64 + 1).read_to_end(&mut content);
        read.map_err(|error| io_error::refusal(path.as_str(), &error))?;
        Ok(match encoding_of(&content) {
            Encoding::Utf8(text) => FutureFile::Text(text.to_owned()),
            other @ (Encoding::Utf16 | Encoding::Binary | Encoding::NotUtf8 { .. }) => {
                FutureFile::Opaque(format!("{shown} {}", other.why()))
            }
        })
    }
}

impl FileEffect {
    /// A call that would fail leaves the file as it is.
    fn failing(path: &FilePath, before: FutureFile, refusal: Refusal) -> Self {
        let (path, after) = (path.to_string(), before.clone());
        Self { path, to: None, before, after, problem: Some(refusal.message) }
    }

    /// As a person sees it, with the texts that there is room for.
    fn shown(self, call: &RecordedCall, position: usize, room: &mut usize) -> StepPreview {
        let Self { path, to, before, after, mut problem } = self;
        let mut show = |file: FutureFile| match file {
            FutureFile::Absent => PreviewedText::Absent,
            FutureFile::Text(text) if text.len() > TEXT_BYTES => {
                problem.get_or_insert_with(|| too_long(&quoted(&path), text.len() as u64));
                PreviewedText::NotShown
            }
            FutureFile::Text(text) => match room.checked_sub(text.len()) {
                Some(left) => {
                    *room = left;
                    PreviewedText::Text(text)
                }
                None => {
                    let message = "The texts of the steps before it leave no room to show this one.";
                    problem.get_or_insert_with(|| message.to_owned());
                    PreviewedText::NotShown
                }
            },
            FutureFile::Opaque(why) => {
                problem.get_or_insert(why);
                PreviewedText::NotShown
            }
        };
        let (before, after) = (show(before), show(after));
        StepPreview { step: call.id.clone(), position, tool: call.tool.clone(), path, to, before, after, problem }
    }
}

fn parse<C: FileCall>(arguments: &Value, limits: &FileLimits) -> Result<C, Refusal> {
    let Value::Object(arguments) = arguments else {
        return Err(Refusal::invalid(format!("The arguments of {} are not an object.", C::NAME)));
    };
    let call: C = tool_schema::parse(C::NAME, arguments.clone())?;
    call.check(limits)?;
    Ok(call)
}

fn missing(path: &FilePath) -> Refusal {
    Refusal::not_found(format!("There is no {}.", quoted(path.as_str())))
}

fn too_long(shown: &str, bytes: u64) -> String {
    format!("{shown} has {bytes} bytes; texts of at most {TEXT_BYTES} are shown.")
}
