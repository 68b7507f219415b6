//! Where the data is, as people write it.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use planwright_core::refusal::Refusal;

#[derive(Clone, PartialEq, Eq)]
pub enum Location {
    /// One file, shared by any number of processes on this machine.
    Sqlite(PathBuf),
    /// A PostgreSQL URL, shared by any number of machines.
    Postgres(String),
}

impl FromStr for Location {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        match text.split_once(':') {
            Some(("postgres" | "postgresql", _)) => Ok(Self::Postgres(text.to_owned())),
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
            Self::Postgres(url) => {
                let host = url.rsplit_once('@').map_or_else(|| after_scheme(url), |(_, host)| host);
                write!(f, "postgres://{}", host.split('?').next().unwrap_or(host))
            }
        }
    }
}

fn after_scheme(url: &str) -> &str {
    url.split_once("://").map_or(url, |(_, rest)| rest)
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
