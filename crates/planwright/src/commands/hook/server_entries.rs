//! The entries of Planwright's server in a client's configuration: the hook works on the session and the store of the server.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::client_files;
use super::wire::HookPlace;
use crate::cli::{Cli, CliCommand, ClientName, Global};

/// What every client calls the server unless a person chose another name.
pub(super) const USUAL_NAME: &str = "planwright";

/// A server of Planwright that the client starts or calls.
#[derive(Debug)]
pub(super) struct ServerEntry {
    pub(super) name: String,
    /// Where the server keeps its plans. The error says why the entry does not tell.
    pub(super) target: Result<Target, String>,
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
}

/// The servers of Planwright that a client has, or the usual one if its configuration names none.
pub(super) fn servers(global: &Global, client: ClientName, place: &HookPlace) -> Vec<ServerEntry> {
    let mut found: BTreeMap<String, Value> = BTreeMap::new();
    let scopes = match &place.servers {
        // The client's plugin told them.
        Some(entries) => vec![entries.clone()],
        None => client_files::scopes(client, &place.project),
    };
    // The nearer scope counts.
    for (name, entry) in scopes.into_iter().flatten() {
        found.entry(name).or_insert(entry);
    }
    let is_off = |entry: &Value| {
        entry.get("enabled") == Some(&Value::Bool(false)) || entry.get("disabled") == Some(&Value::Bool(true))
    };
    let mut servers: Vec<ServerEntry> = found
        .into_iter()
        .filter(|(name, entry)| is_planwright(name, entry) && !is_off(entry))
        .map(|(name, entry)| ServerEntry { target: target(global, &entry), name })
        .collect();
    if servers.is_empty() {
        let session = std::env::var("PLANWRIGHT_SESSION").ok();
        let target = Target { global: global.clone(), session, upstream: Vec::new(), is_remote: false };
        servers.push(ServerEntry { name: USUAL_NAME.to_owned(), target: Ok(target) });
    }
    servers
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

fn target(global: &Global, entry: &Value) -> Result<Target, String> {
    let url = ["url", "httpUrl", "uri"].into_iter().find_map(|field| entry.get(field)?.as_str());
    if let Some(url) = url {
        let path = url.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
        let session = path.rsplit_once("/mcp/").map(|(_, key)| key.to_owned());
        return Ok(Target { global: global.clone(), session, upstream: Vec::new(), is_remote: true });
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
    let mut global = read.global;
    let own = |name: &str| variables.get(name).filter(|value| !value.is_empty()).cloned();
    if !global.typed.data {
        global.data = own("PLANWRIGHT_DATA").map(PathBuf::from).or(global.data);
    }
    if !global.typed.config {
        global.config = own("PLANWRIGHT_CONFIG").map(PathBuf::from).or(global.config);
    }
    if !global.typed.database {
        global.database = own("PLANWRIGHT_DATABASE").or(global.database);
    }
    let is_typed = arguments.iter().any(|word| word == "--session" || word.starts_with("--session="));
    let session = own("PLANWRIGHT_SESSION").filter(|_| !is_typed).or(server.session);
    let upstream = server.upstream.iter().filter_map(|text| Some(text.split_once('=')?.0.trim().to_owned())).collect();
    Ok(Target { global, session, upstream, is_remote: false })
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
