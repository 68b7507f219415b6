//! The data folder, the files of the sessions, the token, the clock.

use std::io::ErrorKind;
use std::path::Path;

use jiff::Timestamp;
use planwright_surfaces::http::Token;

use super::Check;
use crate::config::Settings;
use crate::invocation::Invocation;
use crate::token;

/// Nothing here was written before this day.
const SURELY_PAST: i64 = 1_767_225_600;

pub(super) fn data(settings: &Settings) -> Check {
    folder("data folder", &settings.data, "it does not exist yet; the first command that needs it makes it")
}

pub(super) fn files(settings: &Settings) -> Check {
    folder("session files", &settings.data.join("users"), "no session has files yet")
}

fn folder(name: &'static str, path: &Path, absent: &str) -> Check {
    let shown = path.display();
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return Check::fine(name, format!("{shown}: {absent}")),
        Err(error) => return Check::wrong(name, format!("{shown} cannot be inspected: {error}")),
    };
    if !metadata.is_dir() {
        return Check::wrong(name, format!("{shown} is not a folder"));
    }
    if !writable(path) {
        return Check::wrong(name, format!("{shown} cannot be written by this user"));
    }
    if others_may_look(&metadata) {
        let hint = format!("`chmod 700 {shown}`");
        return Check::notice(name, format!("{shown} can be read by other users of this machine")).hint(hint);
    }
    Check::fine(name, format!("{shown} exists, is writable and private"))
}

#[cfg(unix)]
fn writable(path: &Path) -> bool {
    use rustix::fs::{Access, access};
    access(path, Access::WRITE_OK | Access::EXEC_OK).is_ok()
}

#[cfg(not(unix))]
fn writable(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| !metadata.permissions().readonly())
}

#[cfg(unix)]
pub(super) fn others_may_look(metadata: &std::fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::mode(metadata) & 0o077 != 0
}

#[cfg(not(unix))]
pub(super) fn others_may_look(_: &std::fs::Metadata) -> bool {
    false
}

pub(super) fn token(settings: &Settings, invocation: &Invocation) -> Check {
    const NAME: &str = "token";
    let token = token::of(settings);
    let path = match &token {
        Token::Given(_) => return Check::fine(NAME, "it is given by PLANWRIGHT_TOKEN"),
        Token::File(path) => path,
    };
    let shown = path.display();
    match token.read() {
        Err(error) => Check::wrong(NAME, error.to_string()).hint(invocation.command(["token", "rotate"])),
        Ok(None) => Check::fine(NAME, format!("{shown} does not exist yet; the first start of the server makes it")),
        Ok(Some(_)) if std::fs::metadata(path).is_ok_and(|metadata| others_may_look(&metadata)) => {
            let hint = format!("`chmod 600 {shown}`, then `{}`", invocation.command(["token", "rotate"]));
            Check::wrong(NAME, format!("{shown} can be read by other users of this machine")).hint(hint)
        }
        Ok(Some(_)) => Check::fine(NAME, format!("{shown} exists, and only you can read it")),
    }
}

/// Journals and leases live by the time of day.
pub(super) fn clock() -> Check {
    let now = Timestamp::now();
    if now.as_second() < SURELY_PAST {
        return Check::wrong("clock", format!("this machine thinks it is {now:.0}")).hint("set the clock");
    }
    Check::fine("clock", format!("it is {now:.0}"))
}
