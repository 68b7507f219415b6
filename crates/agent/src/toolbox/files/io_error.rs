//! Errors of the file system as refusals.

use std::io::{self, ErrorKind};

use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::visible::quoted;

pub(super) fn refusal(path: &str, error: &io::Error) -> Refusal {
    let shown = quoted(path);
    match error.kind() {
        ErrorKind::NotFound => Refusal::not_found(format!("There is no {shown}.")),
        // Without a number from the operating system it is the capability that refuses.
        ErrorKind::PermissionDenied if error.raw_os_error().is_none() => leads_out(path),
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            Refusal::policy_denied(format!("The operating system does not allow this with {shown}."))
        }
        ErrorKind::NotADirectory => Refusal::invalid(format!("A part of {shown} is not a folder.")),
        ErrorKind::IsADirectory => is_folder(path),
        ErrorKind::InvalidFilename | ErrorKind::InvalidInput => {
            Refusal::invalid(format!("The file system does not take the name {shown}."))
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            Refusal::new(RefusalCode::Unavailable, "There is no room left on the disk.")
        }
        _ if goes_round(error) => Refusal::policy_denied(format!("The links at {shown} form a loop.")),
        _ => Refusal::new(RefusalCode::Unavailable, format!("{shown} cannot be used: {error}.")),
    }
}

pub(super) fn leads_out(path: &str) -> Refusal {
    Refusal::policy_denied(format!("{} is a link that leads out of the workspace.", quoted(path)))
}

pub(super) fn is_folder(path: &str) -> Refusal {
    Refusal::invalid(format!("{} is a folder; list_files shows what is in it.", quoted(path)))
}

/// Pipes, sockets and devices do things when they are opened and may never answer.
pub(super) fn not_ordinary(path: &str) -> Refusal {
    Refusal::policy_denied(format!("{} is not an ordinary file.", quoted(path)))
}

pub(super) fn took_too_long() -> Refusal {
    Refusal::limit("It took too long and was stopped; nothing was changed.")
}

fn goes_round(error: &io::Error) -> bool {
    rustix::io::Errno::from_io_error(error) == Some(rustix::io::Errno::LOOP)
}
