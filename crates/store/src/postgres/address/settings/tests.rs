use std::net::IpAddr;

use super::super::hosts::ServerPlace;
use super::super::tls_settings::{ClientCertificate, Roots, SslMode};
use super::*;

fn environment(variables: &[(&str, &str)]) -> Environment {
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Environment { variables, home: Some("/home/ada".into()), user: Some("ada".to_owned()) }
}

fn read(url: &str) -> ConnectionSettings {
    ConnectionSettings::read(url, &environment(&[])).unwrap_or_else(|error| panic!("{url}: {}", error.0))
}

fn refused(url: &str) -> String {
    match ConnectionSettings::read(url, &environment(&[])) {
        Ok(_) => panic!("{url} was taken"),
        Err(error) => error.0,
    }
}

fn network(name: &str) -> ServerPlace {
    ServerPlace::Network { name: name.to_owned(), address: None }
}

#[test]
fn hosts_and_ports_belong_together() {
    for (url, expected) in [
        ("postgres://db-a:1,db-b:2/p", vec![(network("db-a"), 1), (network("db-b"), 2)]),
        ("postgres://db-a,db-b:2/p", vec![(network("db-a"), 5432), (network("db-b"), 2)]),
        ("postgres:///p?host=db-a&host=db-b&port=7", vec![(network("db-a"), 7), (network("db-b"), 7)]),
        ("postgres://[::1]:7/p", vec![(network("::1"), 7)]),
        ("postgres:///p?host=/run/pg", vec![(ServerPlace::Socket("/run/pg".into()), 5432)]),
    ] {
        let found: Vec<_> = read(url).hosts.into_iter().map(|host| (host.place, host.port)).collect();
        assert_eq!(found, expected, "{url}");
    }
    let both = read("postgres://db-a/p?hostaddr=10.0.0.1");
    let address: IpAddr = "10.0.0.1".parse().unwrap();
    assert_eq!(both.hosts[0].place, ServerPlace::Network { name: "db-a".to_owned(), address: Some(address) });
    for (url, words) in [
        ("postgres://db-a,db-b/p?hostaddr=10.0.0.1", "as many servers"),
        ("postgres://db-a,db-b/p?port=1,2,3", "3 ports are given for 2"),
        ("postgres://db-a/p?port=0", "1 to 65535"),
        ("postgres://db-a/p?port=70000", "1 to 65535"),
        ("postgres://db-a/p?hostaddr=db-a", "IP address"),
        ("postgres://db%0Aa/p", "letter"),
    ] {
        assert!(refused(url).contains(words), "{url}: {}", refused(url));
    }
}

#[test]
fn only_other_machines_are_remote() {
    for (url, remote) in [
        ("postgres:///p?host=/run/pg", false),
        ("postgres://localhost/p", false),
        ("postgres://127.0.0.1/p", false),
        ("postgres://[::1]/p", false),
        ("postgres://db-a/p?hostaddr=127.0.0.1", false),
        ("postgres://localhost,db-a/p", true),
        ("postgres://10.0.0.1/p", true),
    ] {
        assert_eq!(read(url).is_remote(), remote, "{url}");
    }
}

#[test]
fn the_address_for_listening_is_the_same_database_elsewhere() {
    let url = "postgres://ada:s3cret@pooler:6432/plans?listen_host=%2Frun%2Fpg&application_name=a&listen_port=5433";
    let settings = read(url);
    assert_eq!(settings.application_name, "a");
    let direct = settings.for_listening().unwrap();
    assert_eq!((&direct.hosts[0].place, direct.hosts[0].port), (&ServerPlace::Socket("/run/pg".into()), 5433));
    assert_eq!((direct.user.as_deref(), direct.database.as_deref()), (Some("ada"), Some("plans")));
    assert_eq!(direct.password.as_deref(), Some("s3cret"));
    assert!(read("postgres://host/plans").for_listening().is_none());
    let port_only = read("postgres://host:6432/plans?listen_port=5432").for_listening().unwrap();
    assert_eq!((&port_only.hosts[0].place, port_only.hosts[0].port), (&network("host"), 5432));
}

#[test]
fn encryption_is_preferred_unless_the_address_says_more() {
    for (query, mode) in [
        ("", SslMode::Prefer),
        ("sslmode=disable", SslMode::Disable),
        ("sslmode=allow", SslMode::Allow),
        ("sslmode=require", SslMode::Require),
        ("sslmode=verify-ca", SslMode::VerifyCa),
        ("sslmode=verify-full", SslMode::VerifyFull),
        ("sslrootcert=system", SslMode::VerifyFull),
    ] {
        assert_eq!(read(&format!("postgres://h/p?{query}")).tls.mode, mode, "{query}");
    }
    let tls = read("postgres://h/p").tls;
    assert_eq!(tls.roots, Roots::File("/home/ada/.postgresql/root.crt".into()));
    assert_eq!(tls.key, Some("/home/ada/.postgresql/postgresql.key".into()));
    assert_eq!(tls.client_certificate, ClientCertificate::IfThere);
    for (query, words) in [
        ("sslmode=sometimes", "`sslmode` is one of disable, allow"),
        ("sslmode=require&sslrootcert=system", "needs `sslmode=verify-full`"),
        ("sslnegotiation=direct", "needs `sslmode=require`"),
        ("ssl_max_protocol_version=TLSv1.1", "not spoken"),
        ("ssl_min_protocol_version=TLSv1.3&ssl_max_protocol_version=TLSv1.2", "is above"),
        ("gssencmode=require", "Kerberos"),
        ("channel_binding=maybe", "disable, prefer, require"),
        ("target_session_attrs=fast", "read-write"),
        ("connect_timeout=soon", "whole number"),
    ] {
        let message = refused(&format!("postgres://h/p?{query}"));
        assert!(message.contains(words), "{query}: {message}");
    }
}

#[test]
fn the_url_counts_before_a_service_and_that_before_the_variables() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("services");
    std::fs::write(&file, "[plans]\nhost=of-service\nuser=eve\npassword=s3cret\n").unwrap();
    let file = file.to_str().unwrap();
    let environment = environment(&[
        ("PGSERVICE", "plans"),
        ("PGSERVICEFILE", file),
        ("PGHOST", "of-variable"),
        ("PGDATABASE", "of-variable"),
        ("PGSSLMODE", "verify-full"),
        ("PGCONNECT_TIMEOUT", "7"),
        ("PGPASSWORD", "variable"),
        ("PGTARGETSESSIONATTRS", ""),
    ]);
    let settings = ConnectionSettings::read("postgres://bob@", &environment).ok().unwrap();
    assert_eq!(settings.hosts[0].place, network("of-service"));
    assert_eq!((settings.user.as_deref(), settings.database.as_deref()), (Some("bob"), Some("of-variable")));
    assert_eq!(settings.password.as_deref(), Some("s3cret"));
    assert_eq!(settings.variable_password.as_deref(), Some("variable"));
    assert_eq!((settings.tls.mode, settings.connect_timeout.as_secs()), (SslMode::VerifyFull, 7));
    assert_eq!(settings.session_kind, SessionKind::Any);
    let named = format!("postgres://?service=plans&servicefile={file}");
    assert_eq!(read(&named).hosts[0].place, network("of-service"));
    assert!(refused(&format!("postgres://?service=none&servicefile={file}")).contains("in no service file"));
    assert!(refused("postgres://?service=plans&servicefile=/nowhere/at/all").contains("cannot be read"));
}

/// As in libpq they would choose how to sign in, and whose socket it is.
#[test]
fn a_variable_that_cannot_be_followed_is_refused() {
    for (name, words) in [("PGREQUIREAUTH", "channel_binding=require"), ("PGREQUIREPEER", "the owner of a socket")] {
        let read = |value| ConnectionSettings::read("postgres://h/p", &environment(&[(name, value)])).map(drop);
        let Err(error) = read("s3cret") else { panic!("{name} is passed over") };
        assert!(error.0.contains(name) && error.0.contains(words) && !error.0.contains("s3cret"), "{}", error.0);
        assert_eq!(read(""), Ok(()), "an empty variable counts as not set");
    }
    let ignored = environment(&[("PGSSLCOMPRESSION", "1")]);
    assert!(ConnectionSettings::read("postgres://h/p", &ignored).is_ok());
}

#[test]
fn the_name_has_no_secret() {
    let settings = read("postgres://ada:s3cret@[::1]:5433,db-a/plans");
    assert_eq!(settings.name(), "the PostgreSQL database \"plans\" at [::1]:5433, db-a");
}
