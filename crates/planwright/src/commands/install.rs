//! `planwright install` and `planwright uninstall`: Planwright in the configuration of a client.
//!
//! - `pack`: what each client is given, and where
//! - `edit`: one change of a file, made and undone, with everything else kept
//! - `json`, `yaml`: the same for a field of a JSON file and an entry of a YAML file
//! - `files`: all files of a client, written or not at all, and what was written

mod edit;
mod files;
mod json;
mod pack;
mod yaml;

use std::path::{Path, PathBuf};

use crate::cli::{ClientName, Global, InstallArgs, InstallScope};
use crate::config::Settings;
use crate::failure::{Exit, ExitResult, Failure};
use crate::terminal::screen::Screen;

use edit::{ConfigEdit, EditState};
use files::{Files, Record};

pub(crate) fn install(global: &Global, screen: &Screen, arguments: &InstallArgs) -> ExitResult {
    let edits = pack::edits(arguments.client, scope(arguments)?, &store_options(global))?;
    let data = data_folder(global)?;
    let (mut files, mut record) = (Files::default(), Record::read(&data));
    let mut is_changed = false;
    for edit in edits {
        match edit.state(files.text(edit.file())?)? {
            EditState::There | EditState::Adapted => screen.print(&format!("{}: exists already\n", edit.describe()))?,
            EditState::Missing | EditState::Outdated => {
                screen.print(&format!("{}\n{}", edit.describe(), edit.shown()))?;
                files.make(&edit, &mut record)?;
                is_changed = true;
            }
            EditState::Disabled => {
                return Err(refused(&edit, "it is there and turned off; turn it on in that file, or take it out"));
            }
            EditState::Foreign => {
                return Err(refused(&edit, "it is something else of yours; give that another name first"));
            }
        }
    }
    if !is_changed {
        screen.print(&format!("Planwright is in the configuration of {} already.\n", arguments.client.name()))?;
        return Ok(Exit::Done);
    }
    agree(screen, arguments, "Write this?")?;
    files.write()?;
    record.write(&data)?;
    let notes = pack::notes(arguments.client);
    screen.print(&format!("Written. `planwright uninstall {}` undoes it. {notes}\n", arguments.client.name()))?;
    Ok(Exit::Done)
}

pub(crate) fn uninstall(global: &Global, screen: &Screen, arguments: &InstallArgs) -> ExitResult {
    let edits = pack::edits(arguments.client, scope(arguments)?, &store_options(global))?;
    let data = data_folder(global)?;
    let (mut files, mut record) = (Files::default(), Record::read(&data));
    let mut there = Vec::new();
    for edit in &edits {
        let what = match edit.state(files.text(edit.file())?)? {
            EditState::There | EditState::Outdated => {
                there.push(edit);
                "is removed"
            }
            EditState::Adapted | EditState::Disabled if record.has_written(edit) => {
                there.push(edit);
                "is removed"
            }
            EditState::Adapted | EditState::Disabled | EditState::Foreign => "is not as it was written here, and stays",
            EditState::Missing => continue,
        };
        screen.print(&format!("{}: {what}\n", edit.describe()))?;
    }
    if there.is_empty() {
        return Err(Failure::not_found(format!(
            "Planwright is not in the configuration of {}.",
            arguments.client.name()
        )));
    }
    agree(screen, arguments, "Remove this?")?;
    let mut paths: Vec<&Path> = there.iter().map(|edit| edit.file()).collect();
    paths.dedup();
    let mut folders: Vec<PathBuf> = Vec::new();
    for path in paths {
        let edits: Vec<&ConfigEdit> = there.iter().copied().filter(|edit| edit.file() == path).collect();
        folders.extend(files.undo(path, &edits, &mut record)?);
    }
    files.write()?;
    files::remove_folders(&folders);
    record.write(&data)?;
    screen.print("Removed; everything else is as it was.\n")?;
    Ok(Exit::Done)
}

fn refused(edit: &ConfigEdit, why: &str) -> Failure {
    Failure::usage(format!("{}: {why}. Nothing was changed.", edit.describe()))
}

/// The options that name the store, for the server that a client starts from any folder.
fn store_options(global: &Global) -> Vec<String> {
    let whole = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone()).display().to_string();
    let data = global.data.as_ref().filter(|_| global.typed.data).map(whole);
    let config = global.config.as_ref().filter(|_| global.typed.config).map(whole);
    let database = global.database.clone().filter(|_| global.typed.database);
    let options = [("--data", data), ("--database", database), ("--config", config)];
    options.into_iter().filter_map(|(name, value)| Some([name.to_owned(), value?])).flatten().collect()
}

fn data_folder(global: &Global) -> Result<PathBuf, Failure> {
    Ok(Settings::read(global)?.data)
}

pub(crate) use pack::{SERVER_PROGRAM, session_start_command};

/// The clients whose configuration names Planwright, with what is wrong there.
pub(crate) fn found() -> Vec<(ClientName, InstallScope, Vec<String>)> {
    let mut found = Vec::new();
    for client in ClientName::ALL {
        for scope in [InstallScope::Project, InstallScope::User] {
            let Ok(edits) = pack::edits(client, scope, &[]) else { continue };
            let mut files = Files::default();
            let states: Vec<_> = edits
                .iter()
                .map(|edit| (edit.describe(), files.text(edit.file()).and_then(|text| edit.state(text))))
                .collect();
            if states.iter().all(|(_, state)| matches!(state, Ok(EditState::Missing) | Err(_))) {
                continue;
            }
            let wrong = states.into_iter().filter_map(|(name, state)| match state {
                Ok(EditState::There | EditState::Adapted) => None,
                Ok(EditState::Missing) => Some(format!("{name} is missing")),
                Ok(EditState::Outdated) => Some(format!("{name} is of another version of Planwright")),
                Ok(EditState::Disabled) => Some(format!("{name} is turned off")),
                Ok(EditState::Foreign) => Some(format!("{name} is something else")),
                Err(failure) => Some(format!("{name}: {}", failure.message())),
            });
            found.push((client, scope, wrong.chain(pack::obstacles(client)).collect()));
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
