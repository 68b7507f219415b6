//! What a program reaches: its own folders, the paths that its command names, and what a person allowed beside that.

use std::path::{Component, Path, PathBuf};

use planwright_core::upstream::{AddressReach, ProgramReach, ServerReach};
use planwright_sandbox::{ProgramAccess, Sandbox, SandboxLevel, may_be_shared};

use crate::options::{AskedAccess, Reach, UpstreamServerOptions};

/// Files that mark the folder of a package: a program needs the modules beside it.
const PACKAGE_FILES: [&str; 3] = ["package.json", "pyproject.toml", "pyvenv.cfg"];
/// How far above a program's file the folder of its package may be.
const MAX_PACKAGE_DEPTH: usize = 4;

/// The folders of the data folder that are Planwright's own.
const KEPT_FOLDERS: [&str; 7] = ["agents", "bin", "hooks", "mcp", "sessions", "templates", "users"];

/// What a program has, as the sandbox takes it.
pub(crate) struct Given {
    pub(crate) level: SandboxLevel,
    /// The folder that it starts in.
    pub(crate) folder: PathBuf,
    pub(crate) access: ProgramAccess,
}

pub(crate) fn of_program(reach: &Reach, sandbox: &Sandbox) -> Option<Given> {
    let Reach::Program { command, arguments, folder, home, access, .. } = reach else { return None };
    let AskedAccess { level, network, readable, writable, starts_in, .. } = access.in_force();
    let is_kept = |path: &Path| is_kept(path, home);
    let folder = starts_in.filter(|folder| level == SandboxLevel::Open || !is_kept(folder)).unwrap_or(folder.clone());
    let mut given = ProgramAccess { readable, writable, network, home: Some(home.clone()), passages: Vec::new() };
    name_paths(&mut given, command, arguments, sandbox.home());
    // The folder that it starts in is known already. A link could have been made by a program, to lead it elsewhere.
    let is_itself = |path: &Path| path.canonicalize().is_ok_and(|found| found == path);
    given.writable.retain(|path| *path != folder && is_itself(path) && !is_kept(path));
    let own: Vec<PathBuf> = [&folder, home].into_iter().chain(&given.writable).cloned().collect();
    given.readable.retain(|path| !is_led_elsewhere(path, &own) && !is_kept(path));
    Some(Given { level, folder, access: given })
}

/// Whether a path is the data folder, or in it what Planwright keeps for itself and for other programs. The home folder of a program is
/// `mcp/NAME` there.
fn is_kept(path: &Path, home: &Path) -> bool {
    let Some(data) = home.ancestors().nth(2).filter(|_| home.parent().is_some_and(|around| around.ends_with("mcp")))
    else {
        return false;
    };
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let (path, data, home) = (real(path), real(data), real(home));
    let kept = KEPT_FOLDERS.iter().any(|name| path.starts_with(data.join(name)));
    path == data || (kept && !path.starts_with(home))
}

/// Whether a link on the way stands in a folder that the program writes below.
fn is_led_elsewhere(path: &Path, own: &[PathBuf]) -> bool {
    let is_own = |link: &Path| own.iter().any(|folder| link != folder && link.starts_with(folder));
    path.ancestors().any(|part| part.is_symlink() && is_own(part))
}

/// The variables of a program. It looks for other programs where it was found itself. Without a network, programs that load packages
/// say at once what they miss, and do not try for a minute.
pub(crate) fn environment(has_network: bool, path: &str, configured: &[(String, String)]) -> Vec<(String, String)> {
    let offline =
        [("npm_config_offline", "true"), ("UV_OFFLINE", "1")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    let path = ("PATH".to_owned(), path.to_owned());
    let offline = offline.into_iter().filter(|_| !has_network);
    std::iter::once(path).chain(offline).chain(configured.iter().cloned()).collect()
}

/// What a person is told about it before they accept it.
pub(crate) fn describe(options: &UpstreamServerOptions, sandbox: &Sandbox) -> ServerReach {
    let (access, program) = match &options.reach {
        Reach::Program { access, program, .. } => (access, program),
        Reach::Http { url, written, .. } => return ServerReach::Address(describe_address(url, written)),
    };
    let Some(given) = of_program(&options.reach, sandbox) else { return ServerReach::default() };
    let Given { level, folder, access: given } = given;
    let texts = |paths: &[PathBuf]| paths.iter().map(|path| path.display().to_string()).collect();
    let mut writes: Vec<PathBuf> = Vec::new();
    if level == SandboxLevel::Workspace {
        writes.push(folder.clone());
        writes.extend(given.home.filter(|home| *home != folder));
        writes.extend(given.writable.iter().cloned());
    }
    let mut reads = given.readable;
    if level == SandboxLevel::ReadOnly {
        reads.push(folder);
        reads.extend(given.writable);
    }
    ServerReach::Program(ProgramReach {
        program: program.as_ref().map(|program| program.file.clone()),
        variables: access.variables.iter().map(|(name, _)| name.clone()).collect(),
        is_open: level == SandboxLevel::Open,
        has_network: given.network,
        reads: texts(&reads),
        writes: texts(&writes),
        asks: (!access.is_allowed && access.needs_person()).then(|| access.describe()),
        not_enforced: sandbox.support().refusal(level),
    })
}

/// Only names: the values may be secrets.
fn describe_address(url: &str, headers: &[(String, String)]) -> AddressReach {
    let query = url.split('#').next().and_then(|url| url.split_once('?')).map(|(_, query)| query).unwrap_or_default();
    // A part without a name is a value.
    let parameters = query.split('&').filter_map(|part| part.split_once('=')).map(|(name, _)| name.to_owned());
    AddressReach { headers: headers.iter().map(|(name, _)| name.clone()).collect(), parameters: parameters.collect() }
}

/// A person who writes a path into the command means it: a folder is written below, and a file is read. The file of the program, or
/// the script that an interpreter is given, is read with its package.
fn name_paths(given: &mut ProgramAccess, command: &str, arguments: &[String], home: Option<&Path>) {
    if Path::new(command).is_absolute() && Path::new(command).is_file() {
        let program = straight(Path::new(command), &mut given.passages);
        given.readable.push(package(&program, home));
    }
    let mut has_script = command.contains('/');
    for argument in arguments {
        let value = argument
            .split_once('=')
            .filter(|_| argument.starts_with('-'))
            .map_or(argument.as_str(), |(_, value)| value);
        if !Path::new(value).is_absolute() {
            continue;
        }
        let path = &straight(Path::new(value), &mut given.passages);
        if path.is_dir() {
            // Folders of the system are read anyway, and the home folder is given to nobody.
            match may_be_shared(path, home) {
                true if is_settings(path, home) => given.readable.push(path.to_owned()),
                true => given.writable.push(path.to_owned()),
                false => {}
            }
        } else if path.is_file() {
            let read = if has_script { path.to_owned() } else { package(path, home) };
            has_script = true;
            given.readable.push(read);
        }
    }
}

/// The path without `..`. What it led through is added to the passages: the program still uses the path as it is written.
fn straight(path: &Path, passages: &mut Vec<PathBuf>) -> PathBuf {
    let mut way = PathBuf::new();
    for part in path.components() {
        if part == Component::ParentDir {
            passages.push(way.clone());
            way.pop();
        } else {
            way.push(part);
        }
    }
    // Behind a link `..` leads elsewhere than the text says.
    if way == path { way } else { path.canonicalize().unwrap_or(way) }
}

/// Whether a folder is one of the hidden ones of the home folder: what they hold is obeyed by other programs.
fn is_settings(folder: &Path, home: Option<&Path>) -> bool {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let home = home.and_then(|home| home.canonicalize().ok());
    let below = home.and_then(|home| folder.strip_prefix(home).map(Path::to_owned).ok());
    below.is_some_and(|below| below.to_string_lossy().starts_with('.'))
}

/// The folder of the package that a program's file belongs to, or the folder that the file is in, or the file alone where that
/// folder cannot be given.
fn package(file: &Path, home: Option<&Path>) -> PathBuf {
    let around = || file.ancestors().skip(1).take_while(move |folder| may_be_shared(folder, home));
    // Packages of Node use each other across this folder.
    let modules = around().filter(|folder| folder.file_name().is_some_and(|name| name == "node_modules")).last();
    let is_marked = |folder: &&Path| PACKAGE_FILES.iter().any(|name| folder.join(name).is_file());
    let marked = || around().take(MAX_PACKAGE_DEPTH).find(is_marked);
    modules.or_else(marked).or_else(|| around().next()).unwrap_or(file).to_owned()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_card_names_what_an_address_is_sent_and_no_value() {
        let headers = [("Authorization".to_owned(), "Bearer secret".to_owned())];
        let told = describe_address("https://x.example/mcp?tenant=secret&secret&mode=secret#a=b", &headers);
        assert_eq!(told.headers, ["Authorization"]);
        assert_eq!(told.parameters, ["tenant", "mode"]);
    }

    #[test]
    fn paths_of_the_command_are_given() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        for folder in ["home/notes", "home/.config/app", "home/src/server/dist", "elsewhere"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        for file in
            ["home/src/server/package.json", "home/src/server/dist/index.js", "home/alone.js", "home/settings.json"]
        {
            fs::write(at(file), "{}").unwrap();
        }
        let home = at("home");
        let given = |arguments: &[&str]| {
            let arguments: Vec<_> =
                arguments.iter().map(|argument| argument.replace("ROOT", &root.path().display().to_string())).collect();
            let mut given = ProgramAccess::default();
            name_paths(&mut given, "node", &arguments, Some(&home));
            (given.readable, given.writable)
        };
        let (reads, writes) =
            given(&["ROOT/home/src/server/dist/index.js", "--root=ROOT/home/notes", "ROOT/home/settings.json"]);
        assert_eq!(reads, [at("home/src/server"), at("home/settings.json")]);
        assert_eq!(writes, [at("home/notes")]);
        fs::create_dir_all(at("home/src/node_modules/a/node_modules/b")).unwrap();
        fs::write(at("home/src/node_modules/a/node_modules/b/index.js"), "").unwrap();
        let (reads, _) = given(&["ROOT/home/src/node_modules/a/node_modules/b/index.js"]);
        assert_eq!(reads, [at("home/src/node_modules")]);
        // The home folder, what is around it and hidden folders in it are not written.
        let (reads, writes) =
            given(&["ROOT/home/alone.js", "ROOT/home", "ROOT", "ROOT/home/.config/app", "relative", "/usr"]);
        assert_eq!(reads, [at("home/alone.js"), at("home/.config/app")]);
        assert_eq!(writes, Vec::<PathBuf>::new());
    }

    #[test]
    fn a_path_with_dots_is_given_as_it_is_and_led_through() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::create_dir_all(root.join("c")).unwrap();
        let mut passages = Vec::new();
        assert_eq!(straight(&root.join("a/b/../../c"), &mut passages), root.join("c"));
        assert_eq!(passages, [root.join("a/b"), root.join("a")]);
        assert_eq!((straight(&root.join("c"), &mut Vec::new()), passages.len()), (root.join("c"), 2));
    }

    #[test]
    fn what_no_person_allowed_does_not_count() {
        let asked = AskedAccess {
            level: SandboxLevel::Open,
            network: true,
            readable: vec!["/a".into()],
            writable: vec!["/b".into()],
            starts_in: Some("/c".into()),
            variables: Vec::new(),
            is_allowed: false,
        };
        assert_eq!(asked.in_force(), AskedAccess::default());
        let allowed = AskedAccess { is_allowed: true, ..asked };
        assert_eq!(allowed.in_force(), allowed);
        let narrow = AskedAccess { level: SandboxLevel::ReadOnly, ..AskedAccess::default() };
        assert_eq!(narrow.in_force(), narrow);
    }
}
