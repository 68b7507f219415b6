//! Files that a person sends to a session. They are put below `received`, and never replace another file.

use std::io::{self, ErrorKind, Write as _};

use cap_std::fs::{Dir, OpenOptions};
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_engine::temp_file::{make_folder, sync};

use super::FileLimits;
use super::folder::SessionFolder;

const FOLDER: &str = "received";
/// How many files of one name are told apart.
const SAME_NAME: usize = 1_000;
/// The files that are received may take up this part of the room of a session.
const QUOTA_SHARE: u64 = 4;

/// The path of the new file.
pub(super) fn receive(
    folder: &SessionFolder,
    limits: &FileLimits,
    name: &str,
    content: &[u8],
) -> Result<String, Refusal> {
    let failed = |error: io::Error| {
        Refusal::new(RefusalCode::Unavailable, format!("The file could not be stored: {}.", error.kind()))
    };
    let (files, _) = folder.make()?;
    let received = make_folder(&files, FOLDER).map_err(failed)?;
    check_room(&received, limits, content.len() as u64).map_err(failed)??;
    let name = file_name(name);
    let (stem, extension) =
        name.rsplit_once('.').map_or((name.as_str(), String::new()), |(stem, end)| (stem, format!(".{end}")));
    for number in 1..=SAME_NAME {
        let name = if number == 1 { name.clone() } else { format!("{stem}-{number}{extension}") };
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        match received.open_with(&name, &options) {
            Ok(mut file) => {
                let write = || -> io::Result<()> {
                    file.write_all(content)?;
                    file.sync_all()?;
                    sync(&received)
                };
                let mut write = write;
                write().map_err(failed)?;
                return Ok(format!("{FOLDER}/{name}"));
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                // The same file again, after a restart, is one file.
                if received.read(&name).is_ok_and(|found| found == content) {
                    return Ok(format!("{FOLDER}/{name}"));
                }
            }
            Err(error) => return Err(failed(error)),
        }
    }
    Err(Refusal::limit(format!("There are {SAME_NAME} files of this name already.")))
}

fn check_room(received: &Dir, limits: &FileLimits, added: u64) -> io::Result<Result<(), Refusal>> {
    let (mut entries, mut bytes) = (0_usize, added);
    for entry in received.entries()? {
        (entries, bytes) = (entries + 1, bytes.saturating_add(entry?.metadata()?.len()));
    }
    let room = limits.session_bytes / QUOTA_SHARE;
    if bytes > room || entries >= limits.session_entries / QUOTA_SHARE as usize {
        let message = format!("The files that were sent to this session have no room left: at most {room} bytes.");
        return Ok(Err(Refusal::limit(message)));
    }
    Ok(Ok(()))
}

/// A name that is one on every system and leads nowhere.
fn file_name(name: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "-_.".contains(letter);
    let name: String = name.chars().map(|letter| if plain(letter) { letter } else { '_' }).take(100).collect();
    match name.trim_matches('.') {
        "" => "file".to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn a_name_leads_nowhere() {
        for (name, expected) in [
            ("notes.md", "notes.md"),
            ("../../etc/passwd", "_.._etc_passwd"),
            ("..", "file"),
            ("", "file"),
            ("a b\u{202e}c.txt", "a_b_c.txt"),
        ] {
            assert_eq!(file_name(name), expected, "{name}");
        }
    }
}
