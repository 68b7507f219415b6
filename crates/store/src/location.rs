//! Where the data is, as people write it.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use planwright_core::refusal::Refusal;

use crate::postgres::address;

#[derive(Clone, PartialEq, Eq)]
pub enum Location {
    /// One file, shared by any number of processes on this machine.
    Sqlite(PathBuf),
    /// A PostgreSQL database, shared by any number of machines.
    Postgres(PostgresAddress),
}

/// A PostgreSQL URL, and the command that prints the password for it, if there is one.
#[derive(Clone, PartialEq, Eq)]
pub struct PostgresAddress {
    url: String,
    password_command: Option<String>,
}

/// Never shows a password.
impl fmt::Debug for PostgresAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&address::shown(&self.url))
    }
}

impl PostgresAddress {
    /// It may have a password in it.
    pub fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn password_command(&self) -> Option<&str> {
        self.password_command.as_deref()
    }
}

impl From<&str> for PostgresAddress {
    fn from(url: &str) -> Self {
        Self { url: url.to_owned(), password_command: None }
    }
}

impl From<&String> for PostgresAddress {
    fn from(url: &String) -> Self {
        Self::from(url.as_str())
    }
}

impl From<String> for PostgresAddress {
    fn from(url: String) -> Self {
        Self { url, password_command: None }
    }
}

impl Location {
    /// With a command of the shell that prints the password of the database. A file needs none.
    #[must_use]
    pub fn with_password_command(self, command: Option<&str>) -> Self {
        match self {
            Self::Sqlite(path) => Self::Sqlite(path),
            Self::Postgres(address) => {
                Self::Postgres(PostgresAddress { password_command: command.map(str::to_owned), ..address })
            }
        }
    }
}

impl FromStr for Location {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        match text.split_once(':') {
            Some(("postgres" | "postgresql", _)) => Ok(Self::Postgres(text.into())),
            Some(("sqlite", path)) if !path.trim_start_matches("//").is_empty() => {
                Ok(Self::Sqlite(path.strip_prefix("//").unwrap_or(path).into()))
            }
            _ => Err(Refusal::invalid(
                "The database is given as `sqlite:FILE` or `postgres://USER@HOST/DATABASE`; this is neither.",
            )),
        }
    }
}

/// Never shows a password.
impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            Self::Postgres(address) => f.write_str(&address::shown(&address.url)),
        }
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_are_read_and_passwords_are_never_shown() {
        for (text, shown) in [
            ("sqlite:a/b.db", "sqlite:a/b.db"),
            ("sqlite:///var/p.db", "sqlite:/var/p.db"),
            ("postgres://me:secret@host/db?sslmode=disable", "postgres://host/db"),
            ("postgresql://host/db", "postgres://host/db"),
            ("postgres://me:12345/secret@host/db", "postgres://… (the URL cannot be read)"),
            ("postgres://me:secret@[::1]:5433,db-b/db", "postgres://[::1]:5433,db-b/db"),
            ("postgres:///db?host=/run/pg&user=me&password=secret@x", "postgres:///db"),
            ("postgres://me:se?cret@host/db?application_name=a@secret", "postgres://host/db"),
            ("postgres://?service=plans", "postgres:///?service=plans"),
            ("postgres://me:oh/secret@host/db", "postgres://… (the URL cannot be read)"),
        ] {
            let location: Location = text.parse().unwrap();
            assert_eq!(location.to_string(), shown);
            assert!(!format!("{location:?}").contains("secret"));
        }
        for wrong in ["", "plans.db", "mysql://x", "sqlite:"] {
            assert!(wrong.parse::<Location>().is_err(), "{wrong}");
        }
    }
}
