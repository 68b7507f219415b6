//! The file with passwords of libpq, `~/.pgpass`: lines `HOST:PORT:DATABASE:USER:PASSWORD`, the first that fits counts.

use std::path::Path;

/// What a password is looked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted<'a> {
    pub(crate) host: &'a str,
    pub(crate) port: u16,
    pub(crate) database: &'a str,
    pub(crate) user: &'a str,
}

/// What came of looking into the file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Looked {
    Found(String),
    NothingFits,
    /// The file is not used; the words say why and what to do.
    Unusable(String),
}

pub(crate) fn look(path: &Path, wanted: Wanted<'_>) -> Looked {
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(_) => return Looked::NothingFits,
    };
    if !metadata.is_file() {
        return Looked::Unusable(format!("the password file {} is no plain file", path.display()));
    }
    if others_may_read(&metadata) {
        return Looked::Unusable(format!(
            "the password file {0} is not used because others may read it; `chmod 600 {0}`",
            path.display()
        ));
    }
    match std::fs::read_to_string(path) {
        Ok(text) => find(&text, wanted).map_or(Looked::NothingFits, Looked::Found),
        Err(error) => Looked::Unusable(format!("the password file {} cannot be read: {error}", path.display())),
    }
}

#[cfg(unix)]
fn others_may_read(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    metadata.permissions().mode() & 0o077 != 0
}

#[cfg(not(unix))]
fn others_may_read(_: &std::fs::Metadata) -> bool {
    false
}

fn find(text: &str, wanted: Wanted<'_>) -> Option<String> {
    let port = wanted.port.to_string();
    let expected = [wanted.host, port.as_str(), wanted.database, wanted.user];
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let mut rest = line;
        for value in expected {
            let (field, tail) = split(rest)?;
            if field != "*" && unescape(field) != value {
                return None;
            }
            rest = tail;
        }
        Some(unescape(split(rest).map_or(rest, |(password, _)| password))).filter(|password| !password.is_empty())
    })
}

/// The text before the next colon that has no backslash before it, and the text after it.
fn split(text: &str) -> Option<(&str, &str)> {
    let mut is_escaped = false;
    for (at, letter) in text.char_indices() {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            ':' => return Some((&text[..at], &text[at + 1..])),
            _ => {}
        }
    }
    None
}

fn unescape(text: &str) -> String {
    let mut is_escaped = false;
    let kept = text.chars().filter(|letter| {
        is_escaped = *letter == '\\' && !is_escaped;
        !is_escaped
    });
    kept.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# a:b:c:d:e\n\
        db-a:5432:plans:ada:first\n\
        db-a:*:*:ada:second\n\
        \\:\\:1:5432:plans:ada:six\n\
        *:*:plans:eve:a\\:b\\\\c\n\
        /run/pg:5432:*:*:socket\n\
        db-b:5432:plans:ada:\n";

    #[test]
    fn the_first_line_that_fits_has_the_password() {
        for (host, port, database, user, password) in [
            ("db-a", 5432, "plans", "ada", Some("first")),
            ("db-a", 5433, "plans", "ada", Some("second")),
            ("::1", 5432, "plans", "ada", Some("six")),
            ("anywhere", 1, "plans", "eve", Some("a:b\\c")),
            ("/run/pg", 5432, "x", "y", Some("socket")),
            ("db-b", 5432, "plans", "ada", None),
            ("db-c", 5432, "plans", "ada", None),
        ] {
            let found = find(TEXT, Wanted { host, port, database, user });
            assert_eq!(found.as_deref(), password, "{host}:{port}:{database}:{user}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_may_read_is_not_used() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pgpass");
        std::fs::write(&path, "*:*:*:*:s3cret\n").unwrap();
        let wanted = Wanted { host: "a", port: 1, database: "b", user: "c" };
        for (mode, used) in [(0o644, false), (0o640, false), (0o600, true), (0o400, true)] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            match look(&path, wanted) {
                Looked::Found(password) => assert!(used && password == "s3cret"),
                Looked::Unusable(message) => assert!(!used && message.contains("chmod 600"), "{message}"),
                Looked::NothingFits => panic!("{mode:o}"),
            }
        }
        assert_eq!(look(&folder.path().join("none"), wanted), Looked::NothingFits);
        assert!(matches!(look(folder.path(), wanted), Looked::Unusable(_)));
    }
}
