//! The entries of Planwright's server in a client's configuration: the hook works on the session and the store of the server.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::client_files;
use super::wire::HookPlace;
use crate::cli::{Cli, CliCommand, ClientName, Global};
use crate::commands::install::is_off;
use crate::config::Settings;

/// What every client calls the server unless a person chose another name.
pub(super) const USUAL_NAME: &str = "planwright";

/// A server of Planwright that the client starts or calls, or what the hook's own command names.
#[derive(Debug)]
pub(super) struct ServerEntry {
    pub(super) name: String,
    /// The file of the entry. `None` is the hook's own command.
    pub(super) file: Option<String>,
    /// Where the server keeps its plans. The error says why the entry does not tell.
    pub(super) target: Result<Target, String>,
    /// Whether it works on the store and the session that the hook's own command names.
    pub(super) is_own_again: bool,
    /// Whether its file is one of the project, so that the authors of the repository wrote the entry.
    pub(super) is_of_project: bool,
}

/// The store and the session of a server.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) global: Global,
    /// As it is typed; `None` is the session of the project folder.
    pub(super) session: Option<String>,
    /// The names of the servers behind it that the entry adds.
    pub(super) upstream: Vec<String>,
    /// Whether another process serves it, so that its store is a guess.
    pub(super) is_remote: bool,
    /// Whether the entry names a store, and another one than the hook's own command.
    pub(super) names_store: bool,
}

impl Target {
    /// What the hook's own command names. Nothing else chooses once it names the data folder.
    fn own(global: &Global) -> Self {
        let session = std::env::var("PLANWRIGHT_SESSION").ok().filter(|_| !global.typed.data);
        let global = if global.typed.data { typed_only(global.clone()) } else { global.clone() };
        Self { global, session, upstream: Vec::new(), is_remote: false, names_store: false }
    }

    pub(super) fn named_session(&self) -> Option<&str> {
        self.session.as_deref().map(str::trim).filter(|name| !name.is_empty())
    }
}

/// Every entry of a server of Planwright that the client has, from every scope, and last the hook's own command: an entry of a
/// project must not choose a laxer plan than a person's command does.
pub(super) fn servers(global: &Global, client: ClientName, place: &HookPlace) -> Vec<ServerEntry> {
    let scopes = match &place.servers {
        Some(entries) => vec![("the client's configuration".to_owned(), entries.clone())],
        None => client_files::scopes(client, &place.project),
    };
    let own = Target::own(global);
    let mut seen: Vec<(String, Value)> = Vec::new();
    let mut servers = Vec::new();
    for (file, entries) in scopes {
        for (name, entry) in entries {
            let found = (name, entry);
            if !is_planwright(&found.0, &found.1) || is_off(&found.1) || seen.contains(&found) {
                continue;
            }
            // What a client's plugin tells may come from the project as well.
            let is_of_project = place.servers.is_some() || Path::new(&file).starts_with(&place.project);
            servers.push(server_of(&found, &file, is_of_project, global, &own));
            seen.push(found);
        }
    }
    let name = USUAL_NAME.to_owned();
    servers.push(ServerEntry { name, file: None, target: Ok(own), is_own_again: false, is_of_project: false });
    servers
}

fn server_of(
    (name, entry): &(String, Value),
    file: &str,
    is_of_project: bool,
    global: &Global,
    own: &Target,
) -> ServerEntry {
    let mut target = match is_of_project {
        true => target_of_project(global, own, entry),
        false => target(global, own, entry),
    };
    let mut is_own_again = false;
    if let Ok(target) = &mut target
        && let (Ok(there), Ok(here)) = (Settings::read(&target.global), Settings::read(&own.global))
        && there.location == here.location
    {
        target.names_store = false;
        let is_same_config = there.data == here.data && target.global.config == own.global.config;
        is_own_again = is_same_config && !target.is_remote && target.named_session() == own.named_session();
    }
    ServerEntry { name: name.clone(), file: Some(file.to_owned()), target, is_own_again, is_of_project }
}

/// What an entry of the project names. It may not choose another store: the authors of a repository could name one of their own, with
/// plans that they approved, or a database server of theirs that gets the person's variables.
fn target_of_project(hook: &Global, own: &Target, entry: &Value) -> Result<Target, String> {
    let found = target(hook, own, entry)?;
    let other =
        |why: &str| Err(format!("a file of the project names {why}, and only your own command for the hook may"));
    if found.global.database.is_some() && found.global.database != own.global.database {
        return other("another database");
    }
    if found.global.config.is_some() && found.global.config != own.global.config {
        return other("another configuration");
    }
    let data = |global: &Global| Settings::read(global).ok().map(|settings| settings.data);
    let is_other = found.global.data.is_some() && data(&found.global) != data(&own.global);
    if is_other { other("another data folder") } else { Ok(found) }
}

/// Without what the variables of the shell chose.
fn typed_only(mut global: Global) -> Global {
    let typed = global.typed;
    global.data = global.data.filter(|_| typed.data);
    global.database = global.database.filter(|_| typed.database);
    global.config = global.config.filter(|_| typed.config);
    global
}

fn is_planwright(name: &str, entry: &Value) -> bool {
    let words = |field: &str| match entry.get(field) {
        Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Some(Value::String(word)) => vec![word.clone()],
        Some(_) | None => Vec::new(),
    };
    name == USUAL_NAME
        || [words("command"), words("cmd"), words("args")].concat().iter().any(|word| word.contains(USUAL_NAME))
}

fn target(hook: &Global, own: &Target, entry: &Value) -> Result<Target, String> {
    let url = ["url", "httpUrl", "uri"].into_iter().find_map(|field| entry.get(field)?.as_str());
    if let Some(url) = url {
        let path = url.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
        let session = path.rsplit_once("/mcp/").map(|(_, key)| key.to_owned());
        let (global, upstream) = (own.global.clone(), Vec::new());
        return Ok(Target { global, session, upstream, is_remote: true, names_store: false });
    }
    let mut words = Vec::new();
    for field in ["command", "cmd", "args"] {
        match entry.get(field) {
            None => {}
            Some(Value::String(word)) => words.push(expanded(word)?),
            Some(Value::Array(list)) => {
                for word in list {
                    words.push(expanded(word.as_str().ok_or("its arguments are not texts")?)?);
                }
            }
            Some(_) => return Err(format!("its `{field}` is not a text")),
        }
    }
    let (program, arguments) = words.split_first().ok_or("it has no command")?;
    let program = Path::new(program).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    if !matches!(program.as_str(), "planwright" | "planwright.exe") {
        return Err(format!("it starts `{program}` and not `planwright`"));
    }
    let variables = variables(entry)?;
    let read = Cli::read(std::iter::once(&program).chain(arguments)).map_err(|_| "its arguments are not understood")?;
    let CliCommand::Mcp(server) = read.command else { return Err("it does not start `planwright mcp`".to_owned()) };
    let typed = read.global.typed;
    let mut global = if hook.typed.data { typed_only(read.global) } else { read.global };
    let own = |name: &str| variables.get(name).filter(|value| !value.is_empty()).cloned();
    if !typed.data {
        global.data = own("PLANWRIGHT_DATA").map(PathBuf::from).or(global.data);
    }
    if !typed.config {
        global.config = own("PLANWRIGHT_CONFIG").map(PathBuf::from).or(global.config);
    }
    if !typed.database {
        global.database = own("PLANWRIGHT_DATABASE").or(global.database);
    }
    let is_typed = arguments.iter().any(|word| word == "--session" || word.starts_with("--session="));
    let session = own("PLANWRIGHT_SESSION").filter(|_| !is_typed);
    let session = session.or(server.session.filter(|_| is_typed || !hook.typed.data));
    let names_store = typed.data
        || typed.config
        || typed.database
        || ["PLANWRIGHT_DATA", "PLANWRIGHT_CONFIG", "PLANWRIGHT_DATABASE"].into_iter().any(|name| own(name).is_some());
    let name = |text: &String| Some(text.split_once('=')?.0.split(':').next()?.trim().to_owned());
    let upstream = server.upstream.iter().filter_map(name).collect();
    Ok(Target { global, session, upstream, is_remote: false, names_store })
}

/// The variables that the entry gives the server.
fn variables(entry: &Value) -> Result<BTreeMap<String, String>, String> {
    let mut variables = BTreeMap::new();
    for field in ["env", "environment", "envs"] {
        for (name, value) in entry.get(field).and_then(Value::as_object).into_iter().flatten() {
            if name.starts_with("PLANWRIGHT_") {
                let value = value.as_str().ok_or_else(|| format!("its variable {name} is not a text"))?;
                variables.insert(name.clone(), expanded(value)?);
            }
        }
    }
    Ok(variables)
}

/// A word with `${NAME}` and `${NAME:-default}` put in, as clients do it.
fn expanded(word: &str) -> Result<String, String> {
    let mut expanded = String::new();
    let mut rest = word;
    while let Some((before, after)) = rest.split_once("${") {
        let (inside, next) = after.split_once('}').ok_or_else(|| format!("`{word}` in it is not closed"))?;
        let (name, default) = inside.split_once(":-").map_or((inside, None), |(name, default)| (name, Some(default)));
        let value = std::env::var(name).ok().filter(|value| default.is_none() || !value.is_empty());
        let value = value.or_else(|| default.map(str::to_owned));
        expanded.push_str(before);
        expanded.push_str(&value.ok_or_else(|| format!("it uses the variable {name}, which is not set here"))?);
        rest = next;
    }
    expanded.push_str(rest);
    Ok(expanded)
}
