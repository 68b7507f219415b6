//! The clients whose configuration names Planwright: whether it is whole.

use super::Check;
use crate::cli::InstallScope;
use crate::commands::install;

const NAME: &str = "client";

pub(super) fn look() -> Vec<Check> {
    let check = |(client, scope, missing): (crate::cli::ClientName, InstallScope, Vec<String>)| {
        let name = client.name();
        let (place, flag) = match scope {
            InstallScope::Project => ("this project", "project"),
            InstallScope::User => ("the user", "user"),
        };
        match missing.as_slice() {
            [] => Check::fine(NAME, format!("{name} has Planwright in the configuration of {place}")),
            missing => Check::notice(NAME, format!("{name}, in the configuration of {place}: {}", missing.join("; ")))
                .hint(format!("`planwright install {name} --scope {flag}` adds what is missing")),
        }
    };
    install::found().into_iter().map(check).collect()
}
