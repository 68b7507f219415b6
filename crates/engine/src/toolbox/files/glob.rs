//! `glob_files`: files whose path fits a pattern.

use std::ops::ControlFlow;

use planwright_core::gate::ToolEffect;
use planwright_core::refusal::Refusal;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::FileLimits;
use super::io_error;
use super::open::Kind;
use super::path::FilePath;
use super::tool::{FileCall, FileCallContext};
use super::walk::Walk;
use super::wildcard::Wildcard;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GlobFiles {
    /// `*` within a name, `**` for any folders, `{md,txt}` for one of several, `?` and `[ab]` for one ASCII character.
    /// Without a `/` it is looked for in every folder: `*.md`; with one, from the session's folder on:
    /// `notes/**/*.md`.
    #[schemars(with = "String")]
    pattern: Wildcard,
    /// Only what comes after this path, for the next page: the `after` of the page before.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    after: Option<FilePath>,
}

impl FileCall for GlobFiles {
    const NAME: &'static str = "glob_files";
    const DESCRIPTION: &'static str = include_str!("descriptions/glob_files.md");
    const EFFECT: ToolEffect = ToolEffect::ReadsOnly;

    fn check(&self, _limits: &FileLimits) -> Result<(), Refusal> {
        Ok(())
    }

    fn carry_out(self, place: &FileCallContext) -> Result<Value, Refusal> {
        let Some(files) = place.folder.open()? else {
            return Ok(json!({"paths": []}));
        };
        let mut paths: Vec<String> = Vec::new();
        let mut room = place.limits.answer_bytes;
        let mut more = false;
        let mut walk = Walk::new(&place.deadline, place.limits.walked_entries);
        let walked = walk.through(&files, &FilePath::default(), &mut |met| {
            let seen = self.after.as_ref().is_some_and(|after| met.path <= *after);
            let fits = match met.kind {
                Kind::File { .. } => !seen && self.pattern.matches(&met.path),
                Kind::Folder | Kind::Link | Kind::Special => false,
            };
            if !fits {
                return ControlFlow::Continue(());
            }
            let path = met.path.as_str();
            if paths.len() == place.limits.listed || path.len() > room {
                more = true;
                return ControlFlow::Break(());
            }
            room -= path.len();
            paths.push(path.to_owned());
            ControlFlow::Continue(())
        });
        walked.map_err(|error| io_error::refusal(".", &error))?;
        let mut answer = json!({"paths": paths});
        if more {
            answer["truncated"] = true.into();
            answer["after"] = paths.last().map(String::as_str).into();
        } else if walk.stopped_early {
            answer["truncated"] = true.into();
            answer["why"] = "There are too many files to look at all of them; list_files shows one folder.".into();
        }
        Ok(answer)
    }
}
