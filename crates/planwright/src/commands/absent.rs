//! `planwright verify --absent`: where a text stands, in the store and in the files of the data folder.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use planwright_core::visible::quoted;
use serde_json::json;

use crate::context::{Context, read_stdin};
use crate::failure::{Exit, ExitResult, Failure};
use crate::terminal::palette::{GOOD, WARNING};
use crate::terminal::text::{count, paint, shown_line};

/// Fewer characters stand everywhere.
const MIN_LENGTH: usize = 4;
const BUFFER: usize = 1024 * 1024;

pub(crate) async fn run(context: &Context, text: &str) -> ExitResult {
    let text = match text {
        "-" => read_stdin()?.trim_end_matches(['\r', '\n']).to_owned(),
        text => text.to_owned(),
    };
    if text.chars().count() < MIN_LENGTH {
        return Err(Failure::usage(format!("a text of {MIN_LENGTH} characters or more can be looked for")));
    }
    let tables = context.search.tables_with(&text).await?;
    let (folder, wanted) = (context.data.clone(), text.clone().into_bytes());
    let looking = tokio::task::spawn_blocking(move || files_with(&folder, &wanted));
    let files = looking.await.map_err(|error| Failure::unavailable(format!("the files were not read: {error}")))?;
    let files =
        files.map_err(|error| Failure::unavailable(format!("a file of the data folder cannot be read: {error}")))?;
    let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    let is_absent = tables.is_empty() && files.is_empty();
    context.screen.answer(
        || json!({ "absent": is_absent, "tables": tables, "files": files }),
        || {
            if is_absent {
                let message = format!("{} stands in no table and in no file of the data folder.", quoted(&text));
                return format!("{}\n", paint(&message, GOOD));
            }
            let mut shown = format!("{}\n", paint(&format!("{} stands in", quoted(&text)), WARNING));
            for (table, rows) in &tables {
                shown.push_str(&format!("  table {table}: {}\n", count(*rows, "row")));
            }
            for file in &files {
                shown.push_str(&format!("  {}\n", shown_line(file)));
            }
            shown
        },
    )?;
    Ok(if is_absent { Exit::Done } else { Exit::NotFound })
}

/// The files below the folder that have these bytes. Links are not followed.
fn files_with(folder: &Path, wanted: &[u8]) -> io::Result<Vec<PathBuf>> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() && has_bytes(&entry.path(), wanted)? {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}

fn has_bytes(path: &Path, wanted: &[u8]) -> io::Result<bool> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        // It went away while it was looked at.
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    let (mut buffer, mut kept) = (vec![0; BUFFER + wanted.len()], 0);
    loop {
        let read = file.read(&mut buffer[kept..])?;
        if read == 0 {
            return Ok(false);
        }
        let end = kept + read;
        if buffer[..end].windows(wanted.len()).any(|found| found == wanted) {
            return Ok(true);
        }
        // What may be the beginning of it is looked at again with what follows.
        kept = end.min(wanted.len() - 1);
        buffer.copy_within(end - kept..end, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_found_wherever_it_stands_in_a_file() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("below")).unwrap();
        let at = |name: &str| folder.path().join(name);
        for (name, before) in [("first", 0), ("below/across", BUFFER + 3), ("below/last", 3 * BUFFER)] {
            std::fs::write(at(name), [vec![b'.'; before], b"zebra-crossing".to_vec()].concat()).unwrap();
        }
        std::fs::write(at("other"), b"zebra_crossing").unwrap();
        let found = files_with(folder.path(), b"zebra-crossing").unwrap();
        assert_eq!(found, [at("below/across"), at("below/last"), at("first")]);
    }
}
