//! A file of libpq that gives a name to a set of parameters: `~/.pg_service.conf`.

use std::path::{Path, PathBuf};

use super::AddressError;
use super::environment::Environment;
use super::parameters::Parameters;

/// Where the file for the whole machine is, unless `PGSYSCONFDIR` says another folder.
const SYSTEM_FOLDERS: [&str; 3] = ["/etc/postgresql-common", "/etc/sysconfig/pgsql", "/etc"];

/// The parameters of a service. `file` is the one that was named, if one was.
pub(super) fn find(service: &str, file: Option<&str>, environment: &Environment) -> Result<Parameters, AddressError> {
    let own = file.map(PathBuf::from).or_else(|| environment.at_home(".pg_service.conf"));
    let system = match environment.variable("PGSYSCONFDIR") {
        Some(folder) => vec![Path::new(folder).join("pg_service.conf")],
        None => SYSTEM_FOLDERS.iter().map(|folder| Path::new(folder).join("pg_service.conf")).collect(),
    };
    for (index, path) in own.iter().chain(&system).enumerate() {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            // A file that was named has to be there.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && (file.is_none() || index > 0) => continue,
            Err(error) => {
                return Err(AddressError(format!("the service file {} cannot be read: {error}", path.display())));
            }
        };
        if let Some(found) = parse(&text, service, path)? {
            return Ok(found);
        }
    }
    Err(AddressError(format!("the service {service:?} is in no service file")))
}

fn parse(text: &str, service: &str, path: &Path) -> Result<Option<Parameters>, AddressError> {
    let mut found: Option<Parameters> = None;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        let wrong = |what: &str| AddressError(format!("the service file {}, line {number}: {what}", path.display()));
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(name) = line.strip_prefix('[') {
            if found.is_some() {
                break;
            }
            if name.strip_suffix(']') == Some(service) {
                found = Some(Parameters::default());
            }
            continue;
        }
        let Some(found) = &mut found else { continue };
        if line.starts_with("ldap") {
            return Err(wrong("services are not looked up in a directory (LDAP)"));
        }
        let (keyword, value) = line.split_once('=').ok_or_else(|| wrong("a line is KEYWORD=VALUE"))?;
        if ["service", "servicefile"].contains(&keyword) {
            return Err(wrong("a service does not name another one"));
        }
        found.set(keyword, value.to_owned()).map_err(|error| wrong(&error.0))?;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# ours\n[other]\nhost=elsewhere\n\n[plans]\n  host=db-a,db-b\ndbname=plans\npassword=a=b c \nsslmode=verify-full\n[last]\nbroken\n";

    #[test]
    fn a_service_is_found_by_its_name() {
        let parameters = parse(TEXT, "plans", Path::new("f")).unwrap().unwrap();
        for (keyword, value) in
            [("host", "db-a,db-b"), ("dbname", "plans"), ("password", "a=b c"), ("sslmode", "verify-full")]
        {
            assert_eq!(parameters.get(keyword), Some(value));
        }
        assert!(parse(TEXT, "plan", Path::new("f")).unwrap().is_none());
    }

    #[test]
    fn a_wrong_line_is_named_by_its_number_and_not_shown() {
        for (text, words) in [
            ("[plans]\nhost\n", "line 2: a line is"),
            ("[plans]\nhost=a\nservice=x\n", "line 3: a service does not"),
            ("[plans]\nldap://x\n", "LDAP"),
            ("[plans]\nhots=s3cret\n", "no parameter `hots`"),
        ] {
            let Err(error) = parse(text, "plans", Path::new("f")) else { panic!("{text}") };
            assert!(error.0.contains(words) && !error.0.contains("s3cret"), "{}", error.0);
        }
    }
}
