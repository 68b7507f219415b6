//! The section `files`: where the files of sessions are, for servers that share no disk.

use std::path::PathBuf;

use planwright_core::visible::quoted;

use super::setting::{Check, Checked, section};

/// Where the files of sessions are shared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FilePlace {
    /// They are not: each server has its own.
    Local,
    Database,
    Folder(PathBuf),
    S3(String),
}

section! {
    pub(super) struct FilesSection, "files" {
        "Where the servers on one database share the files of sessions ([several-machines.md](several-machines.md#files)): `local` shares nothing, each server has its own in its data folder; `database` keeps them in the database; `folder:/PATH` in a folder that every server reaches; `s3://BUCKET/PREFIX` in an S3-compatible storage. It is the same on all servers."
        store: Checked<PlaceOfFiles> = FilePlace::Local,
    }
}

#[derive(Debug)]
pub(super) enum PlaceOfFiles {}

impl Check for PlaceOfFiles {
    type Value = FilePlace;
    const KIND: &'static str = "`local`, `database`, `folder:/PATH` or `s3://BUCKET/PREFIX`";

    fn check(text: &str) -> Result<FilePlace, String> {
        let wrong = || format!("{} is not {}", quoted(text), Self::KIND);
        match text.split_once(':') {
            None if text == "local" => Ok(FilePlace::Local),
            None if text == "database" => Ok(FilePlace::Database),
            Some(("folder", path)) if PathBuf::from(path).is_absolute() => Ok(FilePlace::Folder(path.into())),
            Some(("s3", rest)) if rest.strip_prefix("//").is_some_and(|bucket| !bucket.is_empty()) => {
                Ok(FilePlace::S3(text.to_owned()))
            }
            None | Some(_) => Err(wrong()),
        }
    }

    fn show(value: &FilePlace) -> String {
        match value {
            FilePlace::Local => "`local`".to_owned(),
            FilePlace::Database => "`database`".to_owned(),
            FilePlace::Folder(path) => format!("`folder:{}`", path.display()),
            FilePlace::S3(url) => format!("`{url}`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_of_files_is_read() {
        for (text, place) in [
            ("local", FilePlace::Local),
            ("database", FilePlace::Database),
            ("folder:/srv/files", FilePlace::Folder("/srv/files".into())),
            ("s3://bucket/a/b", FilePlace::S3("s3://bucket/a/b".to_owned())),
        ] {
            assert_eq!(PlaceOfFiles::check(text), Ok(place.clone()), "{text}");
            assert_eq!(PlaceOfFiles::show(&place), format!("`{text}`"));
        }
        for text in ["", "locally", "folder:files", "folder:", "s3:bucket", "s3://", "https://host/bucket"] {
            assert!(PlaceOfFiles::check(text).unwrap_err().contains("is not `local`"), "{text}");
        }
    }
}
