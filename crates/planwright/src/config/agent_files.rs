//! Specialists as files: `agents/NAME.md` in the data folder, with front matter.

use std::io::ErrorKind;
use std::path::Path;

use planwright_core::visible::quoted;

use super::agents::AgentTable;
use super::front_matter::{FrontMatter, split};
use super::setting::{Positive, SettingValue as _};
use crate::failure::Failure;

/// The names and descriptions in the folder, by name. A missing folder has none.
pub(super) fn read(folder: &Path) -> Result<Vec<(String, AgentTable)>, Failure> {
    let unreadable = |error: std::io::Error| {
        Failure::usage(format!("the specialists in {} cannot be read: {error}", folder.display()))
    };
    let entries = match std::fs::read_dir(folder) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(Vec::new()),
        entries => entries.map_err(unreadable)?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let wrong = |words: String| Failure::usage(format!("{}: {words}", path.display()));
        let name =
            path.file_stem().and_then(|name| name.to_str()).ok_or_else(|| wrong("its name is not UTF-8".to_owned()))?;
        let text = std::fs::read_to_string(&path).map_err(|error| wrong(format!("it cannot be read: {error}")))?;
        found.push((name.to_owned(), table(name, &text).map_err(wrong)?));
    }
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(found)
}

fn table(name: &str, text: &str) -> Result<AgentTable, String> {
    let FrontMatter { fields, body } = FrontMatter::parse(text)?;
    let mut table = AgentTable::default();
    for (key, values) in fields {
        let one = || match values.as_slice() {
            [value] => Ok(value.clone()),
            _ => Err(format!("{} has one value", quoted(&key))),
        };
        let number = || Positive::<u32>::parse(&one()?).map_err(|words| format!("{}: {words}", quoted(&key)));
        match key.as_str() {
            "name" if one()? == name => {}
            "name" => return Err(format!("the name in it is {}; it has to be that of the file", quoted(&one()?))),
            "description" | "about" => table.about = Some(one()?),
            "tools" => {
                table.tools = Some(match values.as_slice() {
                    [list] => split(list),
                    several => several.to_vec(),
                });
            }
            "sandbox" => table.sandbox = Some(one()?),
            "model_calls" => table.model_calls = Some(number()?),
            "tool_calls" => table.tool_calls = Some(number()?),
            "seconds" => table.seconds = Some(number()?),
            "tokens" => {
                let tokens = Positive::<u64>::parse(&one()?).map_err(|words| format!("{}: {words}", quoted(&key)))?;
                table.tokens = Some(tokens);
            }
            _ => {
                return Err(format!(
                    "{} is not a key of a specialist; the keys are name, description, tools, sandbox, model_calls, \
                     tool_calls, tokens and seconds",
                    quoted(&key)
                ));
            }
        }
    }
    if !body.trim().is_empty() {
        table.instructions = Some(body);
    }
    Ok(table)
}
