//! The servers that an address names, in its order.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;

use super::AddressError;
use super::parameters::Parameters;

pub(crate) const DEFAULT_PORT: u16 = 5432;
/// Where a server of this machine has its socket: on Debian and others, and as it is built from its sources.
const SOCKET_FOLDERS: [&str; 2] = ["/var/run/postgresql", "/tmp"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ServerPlace {
    /// The folder of a socket.
    Socket(PathBuf),
    /// A name, and the IP address where it is known already.
    Network { name: String, address: Option<IpAddr> },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServerAddress {
    pub(crate) place: ServerPlace,
    pub(crate) port: u16,
}

impl ServerAddress {
    /// Whether what is sent leaves this machine.
    pub(crate) fn is_remote(&self) -> bool {
        match &self.place {
            ServerPlace::Socket(_) => false,
            ServerPlace::Network { name, address } => {
                let address = address.or_else(|| name.parse().ok());
                !address.map_or(name == "localhost", |address| address.is_loopback())
            }
        }
    }

    /// What a file of passwords calls it.
    pub(crate) fn pass_file_name(&self) -> String {
        match &self.place {
            ServerPlace::Socket(folder) if SOCKET_FOLDERS.iter().any(|default| folder.as_os_str() == *default) => {
                "localhost".to_owned()
            }
            ServerPlace::Socket(folder) => folder.display().to_string(),
            ServerPlace::Network { name, .. } => name.clone(),
        }
    }
}

impl fmt::Display for ServerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            ServerPlace::Socket(folder) => write!(f, "{}", folder.display())?,
            ServerPlace::Network { name, .. } if name.contains(':') => write!(f, "[{name}]")?,
            ServerPlace::Network { name, .. } => f.write_str(name)?,
        }
        if self.port == DEFAULT_PORT { Ok(()) } else { write!(f, ":{}", self.port) }
    }
}

/// The hosts of a URL. Without any it is the socket of this machine's server, or `localhost` where there is none.
pub(super) fn all(parameters: &Parameters) -> Result<Vec<ServerAddress>, AddressError> {
    let list = |keyword| match parameters.get(keyword) {
        Some(text) => text.split(',').map(str::trim).collect(),
        None => Vec::new(),
    };
    let (names, addresses) = (list("host"), list("hostaddr"));
    if !names.is_empty() && !addresses.is_empty() && names.len() != addresses.len() {
        return Err(AddressError(
            "`host` and `hostaddr` name as many servers as each other, or one of them is left out".to_owned(),
        ));
    }
    let count = names.len().max(addresses.len()).max(1);
    let ports = ports(&list("port"), count)?;
    (0..count)
        .map(|index| {
            let name = names.get(index).copied().unwrap_or_default();
            let address = addresses.get(index).copied().filter(|address| !address.is_empty());
            place(name, address, ports[index]).map(|place| ServerAddress { place, port: ports[index] })
        })
        .collect()
}

/// The servers that `listen_host` and `listen_port` name for announcements, if they do.
pub(super) fn listening(
    parameters: &Parameters,
    hosts: &[ServerAddress],
) -> Result<Option<Vec<ServerAddress>>, AddressError> {
    let (names, port) = (parameters.get("listen_host"), parameters.get("listen_port"));
    if names.is_none() && port.is_none() {
        return Ok(None);
    }
    let names: Option<Vec<_>> = names.map(|names| names.split(',').collect());
    let count = names.as_ref().map_or(hosts.len(), Vec::len);
    let ports = ports(&port.map_or_else(Vec::new, |ports| ports.split(',').collect()), count)?;
    let server = |index: usize| -> Result<ServerAddress, AddressError> {
        let place = match &names {
            Some(names) => place(names[index], None, ports[index])?,
            None => hosts[index].place.clone(),
        };
        Ok(ServerAddress { place, port: ports[index] })
    };
    (0..count).map(server).collect::<Result<_, _>>().map(Some)
}

/// One port for every host: its own, or the one that is given for all.
fn ports(texts: &[&str], count: usize) -> Result<Vec<u16>, AddressError> {
    if texts.len() > 1 && texts.len() != count {
        return Err(AddressError(format!(
            "{} ports are given for {count} servers; give one, or one for each",
            texts.len()
        )));
    }
    let port = |index: usize| match texts.get(index).or(texts.first()).copied().unwrap_or_default() {
        "" => Ok(DEFAULT_PORT),
        text => match text.parse::<u16>() {
            Ok(port) if port > 0 => Ok(port),
            Ok(_) | Err(_) => Err(AddressError("a port is a number from 1 to 65535".to_owned())),
        },
    };
    (0..count).map(port).collect()
}

fn place(name: &str, address: Option<&str>, port: u16) -> Result<ServerPlace, AddressError> {
    if name
        .chars()
        .any(|letter| letter.is_control() || letter == '@' || (letter.is_whitespace() && !name.starts_with('/')))
    {
        return Err(AddressError("a host has a letter that no name of a host has".to_owned()));
    }
    let address = match address.map(str::parse::<IpAddr>) {
        Some(Ok(address)) => Some(address),
        Some(Err(_)) => return Err(AddressError("`hostaddr` is an IP address; a name belongs into `host`".to_owned())),
        None => None,
    };
    Ok(match (name, address) {
        ("", None) => own_machine(port),
        ("", Some(address)) => ServerPlace::Network { name: address.to_string(), address: Some(address) },
        (name, None) if name.starts_with('/') => ServerPlace::Socket(PathBuf::from(name)),
        (name, address) => ServerPlace::Network { name: name.to_owned(), address },
    })
}

fn own_machine(port: u16) -> ServerPlace {
    let folders = SOCKET_FOLDERS.iter().map(PathBuf::from);
    let found = folders.filter(|_| cfg!(unix)).find(|folder| folder.join(format!(".s.PGSQL.{port}")).exists());
    found.map_or_else(|| ServerPlace::Network { name: "localhost".to_owned(), address: None }, ServerPlace::Socket)
}
