//! `planwright install` and `planwright uninstall`: Planwright in the configuration of a client.
//!
//! - `pack`: what each client is given, and where
//! - `edit`: one change of a file, made and undone, with everything else kept
//! - `yaml`: the same for an entry of a YAML file

mod edit;
mod pack;
mod yaml;

use crate::cli::{ClientName, InstallArgs, InstallScope};
use crate::failure::{Exit, ExitResult, Failure};
use crate::terminal::screen::Screen;

use edit::{ConfigEdit, EditState};

pub(crate) fn install(screen: &Screen, arguments: &InstallArgs) -> ExitResult {
    let edits = pack::edits(arguments.client, scope(arguments)?)?;
    let mut wanted = Vec::new();
    for edit in edits {
        match edit.state()? {
            EditState::There => screen.print(&format!("{}: exists already\n", edit.describe()))?,
            EditState::Missing => {
                screen.print(&format!("{}\n{}", edit.describe(), edit.shown()))?;
                wanted.push(edit);
            }
        }
    }
    if wanted.is_empty() {
        screen.print(&format!("Planwright is in the configuration of {} already.\n", arguments.client.name()))?;
        return Ok(Exit::Done);
    }
    agree(screen, arguments, "Write this?")?;
    wanted.iter().try_for_each(ConfigEdit::make)?;
    let notes = pack::notes(arguments.client);
    screen.print(&format!("Written. `planwright uninstall {}` undoes it. {notes}\n", arguments.client.name()))?;
    Ok(Exit::Done)
}

pub(crate) fn uninstall(screen: &Screen, arguments: &InstallArgs) -> ExitResult {
    let edits = pack::edits(arguments.client, scope(arguments)?)?;
    let mut there = Vec::new();
    for edit in edits {
        if edit.state()? == EditState::There {
            screen.print(&format!("{}: is removed\n", edit.describe()))?;
            there.push(edit);
        }
    }
    if there.is_empty() {
        return Err(Failure::not_found(format!(
            "Planwright is not in the configuration of {}.",
            arguments.client.name()
        )));
    }
    agree(screen, arguments, "Remove this?")?;
    there.iter().rev().try_for_each(ConfigEdit::undo)?;
    screen.print("Removed; everything else is as it was.\n")?;
    Ok(Exit::Done)
}

pub(crate) use pack::{SERVER_PROGRAM, session_start_command};

/// The clients whose configuration names Planwright, with what is missing there.
pub(crate) fn found() -> Vec<(ClientName, InstallScope, Vec<String>)> {
    let mut found = Vec::new();
    for client in ClientName::ALL {
        for scope in [InstallScope::Project, InstallScope::User] {
            let Ok(edits) = pack::edits(client, scope) else { continue };
            let states: Vec<_> = edits.iter().map(|edit| (edit.describe(), edit.state())).collect();
            if !states.iter().any(|(_, state)| matches!(state, Ok(EditState::There))) {
                continue;
            }
            let missing = states.into_iter().filter_map(|(name, state)| match state {
                Ok(EditState::There) => None,
                Ok(EditState::Missing) => Some(format!("{name} is missing")),
                Err(failure) => Some(format!("{name}: {}", failure.message())),
            });
            found.push((client, scope, missing.collect()));
        }
    }
    found
}

fn scope(arguments: &InstallArgs) -> Result<InstallScope, Failure> {
    match (arguments.scope, pack::scopes(arguments.client)) {
        (None, scopes) => Ok(scopes[0]),
        (Some(scope), scopes) if scopes.contains(&scope) => Ok(scope),
        (Some(_), _) => Err(Failure::usage(format!("{} has no configuration of this scope", arguments.client.name()))),
    }
}

fn agree(screen: &Screen, arguments: &InstallArgs, question: &str) -> Result<(), Failure> {
    if arguments.yes {
        return Ok(());
    }
    if !screen.interactive {
        return Err(Failure::usage("nothing was changed: there is no terminal to ask on").hint("`--yes` does not ask"));
    }
    if screen.confirm(question)? { Ok(()) } else { Err(Failure::declined("Nothing was changed.")) }
}
