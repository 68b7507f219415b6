//! `planwright install` and `planwright uninstall`: Planwright in the configuration of a client.
//!
//! - `pack`: what each client is given, and where
//! - `setup`: the program with its options, as a server and in hooks
//! - `program`: the place of the program, and a copy where it would not stay
//! - `obstacles`: what turns the server or its hooks off
//! - `edit`: one change of a file, made and undone, with everything else kept
//! - `json`, `yaml`: the same for a field of a JSON file and an entry of a YAML file
//! - `files`: all files of a client, written or not at all, and what was written

mod edit;
mod files;
mod json;
mod obstacles;
mod pack;
mod program;
mod setup;
mod yaml;

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::cli::{ClientName, Global, InstallArgs, InstallScope};
use crate::config::Settings;
use crate::failure::{Exit, ExitResult, Failure};
use crate::terminal::screen::Screen;

use edit::{ConfigEdit, EditState};
use files::{Files, Record};
use program::Program;
use setup::Setup;

pub(crate) use edit::is_off;
pub(crate) use pack::has_compaction_hook;
pub(crate) use yaml::to_json;

pub(crate) fn install(global: &Global, screen: &Screen, arguments: &InstallArgs) -> ExitResult {
    let data = data_folder(global)?;
    let program = Program::settled(&data)?;
    let client = arguments.client;
    if arguments.native_plans && !pack::has_native_plans(client) {
        return Err(Failure::usage(format!("{} has no plan mode whose plans can be taken in", client.name())));
    }
    let setup = Setup { native_plans: !arguments.no_native_plans, ..setup(global, &data, &program) };
    let edits = pack::edits(client, scope(arguments)?, &setup)?;
    if arguments.no_native_plans {
        check_native_plans_out(arguments, &setup)?;
    }
    let (mut files, mut record) = (Files::default(), Record::read(&data));
    let mut is_changed = false;
    if let Some(source) = program.missing_copy() {
        let (copy, source) = (program.path.display(), source.display());
        screen.print(&format!("{copy}\n  + a copy of {source}, which does not stay there\n"))?;
        is_changed = true;
    }
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
    if setup.native_plans && pack::has_native_plans(client) {
        let name = client.name();
        screen.print(&format!(
            "Plans of {name}'s own plan mode then wait for you as every plan does; `--no-native-plans` leaves that mode as it is.\n"
        ))?;
    }
    agree(screen, arguments, "Write this?")?;
    program.copy()?;
    files.write()?;
    record.write(&data)?;
    let notes = pack::notes(arguments.client);
    screen.print(&format!("Written. `planwright uninstall {}` undoes it. {notes}\n", arguments.client.name()))?;
    Ok(Exit::Done)
}

pub(crate) fn uninstall(global: &Global, screen: &Screen, arguments: &InstallArgs) -> ExitResult {
    let data = data_folder(global)?;
    let edits = pack::edits(arguments.client, scope(arguments)?, &setup(global, &data, &Program::settled(&data)?))?;
    let (mut files, mut record) = (Files::default(), Record::read(&data));
    let mut there = Vec::new();
    for edit in &edits {
        let state = edit.state(files.text(edit.file())?)?;
        let is_persons = edit.is_default() && (state != EditState::There || !record.has_written(edit));
        let what = match state {
            EditState::There | EditState::Adapted if is_persons => continue,
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
    let paths: BTreeSet<&Path> = there.iter().map(|edit| edit.file()).collect();
    let mut folders: Vec<PathBuf> = Vec::new();
    for path in paths {
        let edits: Vec<&ConfigEdit> = there.iter().copied().filter(|edit| edit.file() == path).collect();
        folders.extend(files.undo(path, &edits, &mut record)?);
    }
    files.write()?;
    folders.sort_by_key(|folder| Reverse(folder.components().count()));
    files::remove_folders(&folders);
    record.write(&data)?;
    if record.is_empty() {
        program::remove_copy(&data);
    }
    screen.print("Removed; everything else is as it was.\n")?;
    Ok(Exit::Done)
}

/// Nothing is left half taken out: what takes plans in goes with everything else.
fn check_native_plans_out(arguments: &InstallArgs, setup: &Setup) -> Result<(), Failure> {
    let with = Setup { program: setup.program.clone(), options: setup.options.clone(), native_plans: true };
    let mut files = Files::default();
    for edit in pack::edits(arguments.client, scope(arguments)?, &with)? {
        if edit.takes_plans_in() && edit.state(files.text(edit.file())?)? != EditState::Missing {
            let name = arguments.client.name();
            return Err(refused(
                &edit,
                &format!("it takes plans in; `planwright uninstall {name}` takes it out first"),
            ));
        }
    }
    Ok(())
}

fn refused(edit: &ConfigEdit, why: &str) -> Failure {
    Failure::usage(format!("{}: {why}. Nothing was changed.", edit.describe()))
}

/// The program and the store, for what a client starts from any folder.
fn setup(global: &Global, data: &Path, program: &Program) -> Setup {
    let whole = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).display().to_string();
    let config = global.config.as_deref().filter(|_| global.typed.config).map(whole);
    let database = global.database.clone().filter(|_| global.typed.database);
    let options = [("--data", Some(whole(data))), ("--database", database), ("--config", config)];
    let options = options.into_iter().filter_map(|(name, value)| Some([name.to_owned(), value?])).flatten().collect();
    Setup { program: program.path.display().to_string(), options, native_plans: true }
}

fn data_folder(global: &Global) -> Result<PathBuf, Failure> {
    Ok(Settings::read(global)?.data)
}

/// The configuration of a client that names Planwright.
pub(crate) struct Installed {
    pub(crate) client: ClientName,
    pub(crate) scope: InstallScope,
    /// The program that it starts.
    pub(crate) program: Option<PathBuf>,
    pub(crate) wrong: Vec<String>,
}

/// The clients whose configuration names Planwright, with what is wrong there.
pub(crate) fn found(global: &Global) -> Vec<Installed> {
    let Ok(data) = data_folder(global) else { return Vec::new() };
    let Ok(program) = Program::settled(&data) else { return Vec::new() };
    let setup = setup(global, &data, &program);
    let mut found = Vec::new();
    for client in ClientName::ALL {
        for scope in [InstallScope::Project, InstallScope::User] {
            let Ok((edits, states)) = states(client, scope, &setup) else { continue };
            let mut files = Files::default();
            let of_ours = edits.iter().zip(&states).filter(|(edit, _)| !edit.is_default());
            if of_ours.map(|(_, (_, state))| state).all(|state| matches!(state, Ok(EditState::Missing) | Err(_))) {
                continue;
            }
            let program = edits.iter().find_map(|edit| edit.program(files.text(edit.file()).ok()?));
            let gone = program.as_ref().filter(|path| path.is_absolute() && !path.exists());
            let gone = gone.map(|path| format!("the program {} that it starts is not there", path.display()));
            let wrong = states.into_iter().filter_map(|(name, state)| match state {
                Ok(EditState::There | EditState::Adapted) => None,
                Ok(EditState::Missing) => Some(format!("{name} is missing")),
                Ok(EditState::Outdated) => {
                    Some(format!("{name} is of another version of Planwright, or of one at another place"))
                }
                Ok(EditState::Disabled) => Some(format!("{name} is turned off")),
                Ok(EditState::Foreign) => Some(format!("{name} is something else")),
                Err(failure) => Some(format!("{name}: {}", failure.message())),
            });
            let wrong = gone.into_iter().chain(wrong).chain(obstacles::obstacles(client)).collect();
            found.push(Installed { client, scope, program, wrong });
        }
    }
    found
}

/// The changes for a client and how each stands: with or without what takes plans in, as the person installed it.
fn states(
    client: ClientName,
    scope: InstallScope,
    setup: &Setup,
) -> Result<(Vec<ConfigEdit>, Vec<EditStanding>), Failure> {
    let look = |native_plans: bool| -> Result<(Vec<ConfigEdit>, Vec<EditStanding>), Failure> {
        let setup = Setup { program: setup.program.clone(), options: setup.options.clone(), native_plans };
        let edits = pack::edits(client, scope, &setup)?;
        let mut files = Files::default();
        let state = |edit: &ConfigEdit| (edit.describe(), files.text(edit.file()).and_then(|text| edit.state(text)));
        let states: Vec<EditStanding> = edits.iter().map(state).collect();
        Ok((edits, states))
    };
    let is_whole = |states: &[EditStanding]| {
        states.iter().all(|(_, state)| matches!(state, Ok(EditState::There | EditState::Adapted)))
    };
    let (edits, found) = look(true)?;
    if is_whole(&found) {
        return Ok((edits, found));
    }
    let (without, states) = look(false)?;
    Ok(if is_whole(&states) { (without, states) } else { (edits, found) })
}

/// A change by its name, and how it stands.
type EditStanding = (String, Result<EditState, Failure>);

/// Where Codex keeps its configuration.
pub(crate) fn codex_folder(home: PathBuf) -> PathBuf {
    std::env::var_os("CODEX_HOME").map_or_else(|| home.join(".codex"), PathBuf::from)
}

/// The configuration of goose.
pub(crate) fn goose_file(home: &Path) -> PathBuf {
    pack::config_folder(home).join("goose/config.yaml")
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
