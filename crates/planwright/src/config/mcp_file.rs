//! `[mcp.servers.NAME]` in the configuration file, added and removed. Everything else in the file stays as it is.

use std::io::{ErrorKind, Write as _};
use std::path::Path;

use planwright_core::upstream::ServerName;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, Value, value};

use crate::failure::Failure;

/// A server as a person names it on the command line.
#[derive(Debug, Default)]
pub(crate) struct NewServer {
    /// The program and its arguments; empty for a server with an address.
    pub(crate) command: Vec<String>,
    pub(crate) url: Option<String>,
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) cwd: Option<String>,
    pub(crate) sandbox: Option<String>,
    pub(crate) network: bool,
    /// Absolute paths.
    pub(crate) read: Vec<String>,
    pub(crate) write: Vec<String>,
    pub(crate) trust_annotations: bool,
    pub(crate) tools: Vec<String>,
}

/// Adds the server. Returns whether the file has it already, and then changes nothing.
pub(crate) fn add(path: &Path, name: &ServerName, server: &NewServer) -> Result<bool, Failure> {
    let mut document = read(path)?;
    let servers = servers(&mut document, path)?;
    if servers.contains_key(name.as_str()) {
        return Ok(true);
    }
    servers.insert(name.as_str(), Item::Table(table(server)));
    write(path, &document)?;
    Ok(false)
}

/// Removes the server. Returns whether the file had it.
pub(crate) fn remove(path: &Path, name: &ServerName) -> Result<bool, Failure> {
    let mut document = read(path)?;
    if servers(&mut document, path)?.remove(name.as_str()).is_none() {
        return Ok(false);
    }
    write(path, &document)?;
    Ok(true)
}

fn read(path: &Path) -> Result<DocumentMut, Failure> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        Err(error) => return Err(failed(path, &error)),
    };
    text.parse().map_err(|_| Failure::usage(format!("{} is not valid TOML", path.display())))
}

fn servers<'a>(document: &'a mut DocumentMut, path: &Path) -> Result<&'a mut Table, Failure> {
    let odd = || {
        Failure::usage(format!("{} has `mcp.servers` in a form that cannot be changed here", path.display()))
            .hint("write the table [mcp.servers.NAME] into the file by hand")
    };
    let hidden = || {
        let mut table = Table::new();
        // Only the tables below it are written.
        table.set_implicit(true);
        Item::Table(table)
    };
    let mcp = document.entry("mcp").or_insert_with(hidden).as_table_mut().ok_or_else(odd)?;
    mcp.entry("servers").or_insert_with(hidden).as_table_mut().ok_or_else(odd)
}

fn table(server: &NewServer) -> Table {
    let mut table = Table::new();
    let list = |words: &[String]| value(words.iter().collect::<Array>());
    let pairs = |pairs: &[(String, String)]| {
        let mut inline = InlineTable::new();
        for (name, text) in pairs {
            inline.insert(name, Value::from(text.as_str()));
        }
        value(inline)
    };
    if let Some((command, arguments)) = server.command.split_first() {
        table["command"] = value(command);
        if !arguments.is_empty() {
            table["args"] = list(arguments);
        }
    }
    let texts = [("url", &server.url), ("cwd", &server.cwd), ("sandbox", &server.sandbox)];
    for (key, text) in texts {
        if let Some(text) = text {
            table[key] = value(text);
        }
    }
    if server.network {
        table["network"] = value(true);
    }
    for (key, paths) in [("read", &server.read), ("write", &server.write)] {
        if !paths.is_empty() {
            table[key] = list(paths);
        }
    }
    for (key, named) in [("env", &server.environment), ("headers", &server.headers)] {
        if !named.is_empty() {
            table[key] = pairs(named);
        }
    }
    if !server.tools.is_empty() {
        table["tools"] = list(&server.tools);
    }
    if server.trust_annotations {
        table["trust_annotations"] = value(true);
    }
    table
}

/// The file may have secrets in it, so a new one is for its owner only. It is replaced as a whole.
fn write(path: &Path, document: &DocumentMut) -> Result<(), Failure> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let replace = || -> std::io::Result<()> {
        let mut file = tempfile::Builder::new().prefix(".planwright-").tempfile_in(folder)?;
        file.write_all(document.to_string().as_bytes())?;
        if let Ok(before) = std::fs::metadata(path) {
            file.as_file().set_permissions(before.permissions())?;
        }
        file.as_file().sync_all()?;
        file.persist(path)?;
        Ok(())
    };
    replace().map_err(|error| failed(path, &error))
}

fn failed(path: &Path, error: &std::io::Error) -> Failure {
    Failure::unavailable(format!("the configuration {} cannot be changed: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_the_file_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("planwright.toml");
        let before = "# mine\nmodel = \"rehearsal\"   # for now\n\n[plan]\ntools = \"read_only\"\n";
        std::fs::write(&path, before).unwrap();
        let name: ServerName = "fs".parse().unwrap();
        let server = NewServer {
            command: vec!["npx".to_owned(), "-y".to_owned(), "server \"x\"".to_owned()],
            environment: vec![("KEY".to_owned(), "${MY_KEY}".to_owned())],
            network: true,
            write: vec!["/srv".to_owned()],
            trust_annotations: true,
            ..NewServer::default()
        };
        assert!(!add(&path, &name, &server).unwrap());
        let after = std::fs::read_to_string(&path).unwrap();
        let added = "\n[mcp.servers.fs]\ncommand = \"npx\"\nargs = [\"-y\", 'server \"x\"']\nnetwork = true\nwrite = [\"/srv\"]\nenv = { KEY = \"${MY_KEY}\" }\n\
                     trust_annotations = true\n";
        assert_eq!(after, format!("{before}{added}"));
        assert!(add(&path, &name, &server).unwrap());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), after);
        assert!(remove(&path, &name).unwrap());
        assert!(!remove(&path, &name).unwrap());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), before);
    }

    #[test]
    fn a_missing_file_is_made_and_an_odd_one_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (path, name) = (folder.path().join("planwright.toml"), "web".parse().unwrap());
        let server = NewServer { url: Some("https://example.org/mcp".to_owned()), ..NewServer::default() };
        assert!(!add(&path, &name, &server).unwrap());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "[mcp.servers.web]\nurl = \"https://example.org/mcp\"\n");
        std::fs::write(&path, "mcp = 1\n").unwrap();
        assert!(add(&path, &name, &server).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "mcp = 1\n");
    }
}
