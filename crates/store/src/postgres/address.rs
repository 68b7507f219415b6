//! Where a PostgreSQL database is and how it is reached, as libpq reads it.
//!
//! - `url`: what the URL says
//! - `parameters`: every parameter by its name, the variable it may come from, and which ones are refused or mean nothing here
//! - `environment`: the variables, and the user's home folder
//! - `service_file`, `pass_file`: the two files of libpq
//! - `settings`, `tls_settings`: all of it together, checked
//! - `hosts`: the servers, in the order of the URL

pub(crate) mod environment;
pub(crate) mod hosts;
mod parameters;
pub(crate) mod pass_file;
mod service_file;
pub(crate) mod settings;
pub(crate) mod tls_settings;
mod url;

/// Why an address cannot be used. The message never has a value in it that could be secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AddressError(pub(crate) String);

/// The hosts and the database of a URL, for people: no user, no password, no socket and no parameters.
pub(crate) fn shown(url: &str) -> String {
    let Ok(parameters) = url::parse(url) else { return "postgres://… (the URL cannot be read)".to_owned() };
    let value = |keyword| parameters.get(keyword).unwrap_or_default();
    let hosts = if value("host").is_empty() { value("hostaddr") } else { value("host") };
    let ports: Vec<_> = value("port").split(',').collect();
    let shown: Vec<_> = hosts
        .split(',')
        .enumerate()
        .filter(|(_, host)| !host.starts_with('/'))
        .map(|(index, host)| {
            let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
            match ports.get(index).or(ports.first()).filter(|port| !port.is_empty()) {
                Some(port) if !host.is_empty() => format!("{host}:{port}"),
                Some(_) | None => host,
            }
        })
        .collect();
    let database = match (value("dbname"), value("service")) {
        ("", "") => String::new(),
        ("", service) => format!("/?service={service}"),
        (database, _) => format!("/{database}"),
    };
    let text = format!("postgres://{}{database}", shown.join(","));
    text.chars().filter(|letter| !letter.is_control()).collect()
}
