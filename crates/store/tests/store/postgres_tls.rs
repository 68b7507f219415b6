//! Servers with TLS and without, and several servers of which one fits.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use planwright_core::policy::Policy;
use planwright_engine::Engine;
use planwright_engine::ledger::StoreChange;
use planwright_store::{LinkSafety, Location, PostgresLedger, inspect};
use planwright_test_support::postgres_server::{PostgresServer, ServerTls, free_port};

use crate::commands::*;
use crate::stores::{Store, client};

/// No connection names this file, so a root certificate in the tester's own home does not count.
const NO_ROOT: &str = "sslrootcert=/nowhere/at/all";

/// Whether connections by this URL are encrypted, or why there are none.
async fn encrypted(server: &PostgresServer, url: &str) -> Result<bool, String> {
    static OPENED: AtomicUsize = AtomicUsize::new(0);
    let number = OPENED.fetch_add(1, Ordering::Relaxed);
    let url = format!("{url}&application_name=under_test_{number}");
    let ledger = match PostgresLedger::open(&url).await {
        Ok(ledger) => ledger,
        Err(error) => {
            assert!(!format!("{error} {error:?}").contains("s3cret"), "{error}");
            return Err(error.to_string());
        }
    };
    let engine = Engine::new(Arc::new(ledger), Policy::default());
    let mut changes = engine.ledger().changes();
    // It has begun to listen.
    while changes.recv().await.unwrap() != StoreChange::Anywhere {}
    let here = nth_session(number);
    ready(&engine, &here, "# Plan").await;
    engine.plans().active(&here).await.unwrap();
    // The writer, the reader and the one that listens.
    let admin = client(&server.socket_url("plans")).await;
    let sql = "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = $1";
    let rows = admin.query(sql, &[&format!("under_test_{number}")]).await.unwrap();
    let found: Vec<bool> = rows.iter().map(|row| row.get(0)).collect();
    assert!(found.len() >= 3, "only {} connections are there", found.len());
    assert!(found.iter().all(|ssl| *ssl == found[0]), "{found:?}");
    Ok(found[0])
}

async fn expect(server: &PostgresServer, url: &str, expected: Result<bool, &str>) {
    match (encrypted(server, url).await, expected) {
        (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{url}"),
        (Err(found), Err(expected)) => assert!(found.contains(expected), "{url}: {found}"),
        (found, expected) => panic!("{url}: {found:?}, and not {expected:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_mode_does_with_tls_what_it_does_in_libpq() {
    let server = PostgresServer::start(ServerTls::Signed).await;
    let (ca, other) = (server.path("ca.crt"), server.path("other.crt"));
    for (user, host, parameters, expected) in [
        ("ada:s3cret", "localhost", format!("sslmode=disable&{NO_ROOT}"), Ok(false)),
        ("ada:s3cret", "localhost", format!("sslmode=allow&{NO_ROOT}"), Ok(false)),
        ("tls_only:s3cret", "localhost", format!("sslmode=allow&{NO_ROOT}"), Ok(true)),
        ("ada:s3cret", "localhost", NO_ROOT.to_owned(), Ok(true)),
        ("plain_only:s3cret", "localhost", format!("sslmode=prefer&{NO_ROOT}"), Ok(false)),
        ("tls_only:s3cret", "localhost", format!("sslmode=disable&{NO_ROOT}"), Err("pg_hba.conf")),
        ("plain_only:s3cret", "localhost", format!("sslmode=require&{NO_ROOT}"), Err("pg_hba.conf")),
        ("ada:s3cret", "127.0.0.1", format!("sslmode=require&{NO_ROOT}"), Ok(true)),
        ("ada:s3cret", "127.0.0.1", format!("sslmode=require&sslrootcert={other}"), Err("not signed by any")),
        ("ada:s3cret", "127.0.0.1", format!("sslmode=verify-ca&sslrootcert={ca}"), Ok(true)),
        ("ada:s3cret", "127.0.0.1", format!("sslmode=verify-ca&sslrootcert={other}"), Err("not signed by any")),
        ("ada:s3cret", "127.0.0.1", format!("sslmode=verify-ca&{NO_ROOT}"), Err("there is no file /nowhere")),
        ("ada:s3cret", "localhost", format!("sslmode=verify-full&sslrootcert={ca}"), Ok(true)),
        (
            "ada:s3cret",
            "localhost",
            format!("sslmode=verify-full&sslrootcert={ca}&hostaddr=127.0.0.1&ssl_min_protocol_version=TLSv1.3"),
            Ok(true),
        ),
        (
            "ada:s3cret",
            "localhost",
            format!("sslmode=verify-ca&sslrootcert={ca}&ssl_max_protocol_version=TLSv1.2"),
            Ok(true),
        ),
        ("ada:s3cret", "127.0.0.1", format!("sslmode=verify-full&sslrootcert={ca}"), Err("and not for 127.0.0.1")),
        (
            "ada:s3cret",
            "db.example.org",
            format!("sslmode=verify-full&sslrootcert={ca}&hostaddr=127.0.0.1"),
            Err("not for db.example.org"),
        ),
        ("ada:s3cret", "localhost", "sslrootcert=system".to_owned(), Err("the operating system")),
        ("ada:s3cret", "localhost", format!("channel_binding=require&sslmode=require&{NO_ROOT}"), Ok(true)),
        ("ada:s3cret", "localhost", format!("channel_binding=disable&sslmode=require&{NO_ROOT}"), Ok(true)),
        ("ada:s3cret", "localhost", "channel_binding=require&sslmode=disable".to_owned(), Err("channel_binding")),
        ("ada:s3cret%00", "localhost", "sslmode=disable".to_owned(), Err("percent-encoded")),
        ("ada:s3cretly", "localhost", format!("sslmode=require&{NO_ROOT}"), Err("password authentication failed")),
        ("ada", "localhost", format!("sslmode=require&passfile=/nowhere&{NO_ROOT}"), Err("PGPASSFILE")),
    ] {
        expect(&server, &server.url(user, host, &parameters), expected).await;
    }
    signs_in_without_a_password_in_the_url(&server).await;
    if std::net::TcpListener::bind("[::1]:0").is_ok() {
        expect(&server, &server.url("ada:s3cret", "::1", &format!("sslmode=require&{NO_ROOT}")), Ok(true)).await;
    }
    is_seen_by_doctor(&server).await;
}

async fn signs_in_without_a_password_in_the_url(server: &PostgresServer) {
    let (certificate, key) = (server.path("client.crt"), server.path("client.key"));
    let shown = format!("sslmode=require&{NO_ROOT}&sslcert={certificate}");
    expect(server, &server.url("certified", "localhost", &format!("{shown}&sslkey={key}")), Ok(true)).await;
    let none = format!("sslmode=require&{NO_ROOT}&sslcertmode=disable");
    expect(server, &server.url("certified", "localhost", &none), Err("certificate")).await;
    let wrong = format!("{shown}&sslkey={}", server.path("other.key"));
    expect(server, &server.url("certified", "localhost", &wrong), Err("is not the one of the certificate")).await;
    let folder = tempfile::tempdir().unwrap();
    let open = folder.path().join("open.key");
    std::fs::copy(&key, &open).unwrap();
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o644)).unwrap();
    let readable = format!("{shown}&sslkey={}", open.display());
    expect(server, &server.url("certified", "localhost", &readable), Err("chmod 600")).await;

    let pass_file = folder.path().join("pgpass");
    std::fs::write(&pass_file, format!("localhost:{}:plans:ada:s3cret\n", server.port)).unwrap();
    std::fs::set_permissions(&pass_file, std::fs::Permissions::from_mode(0o600)).unwrap();
    let by_file = server.url("ada", "localhost", &format!("{NO_ROOT}&passfile={}", pass_file.display()));
    expect(server, &by_file, Ok(true)).await;
    let services = folder.path().join("services");
    let service = format!(
        "[plans]\nhost=localhost\nport={}\ndbname=plans\nuser=ada\npassfile={}\nsslmode=verify-full\nsslrootcert={}\n",
        server.port,
        pass_file.display(),
        server.path("ca.crt")
    );
    std::fs::write(&services, service).unwrap();
    let by_service = format!("postgres://?service=plans&servicefile={}", services.display());
    expect(server, &by_service, Ok(true)).await;
    std::fs::set_permissions(&pass_file, std::fs::Permissions::from_mode(0o644)).unwrap();
    expect(server, &by_file, Err("chmod 600")).await;
}

/// What `doctor` tells of the connection.
async fn is_seen_by_doctor(server: &PostgresServer) {
    for (mode, link) in [("verify-full", LinkSafety::Verified), ("disable", LinkSafety::OwnMachine)] {
        let parameters = format!("sslmode={mode}&sslrootcert={}", server.path("ca.crt"));
        let location = Location::Postgres(server.url("ada:s3cret", "localhost", &parameters).into());
        assert_eq!(inspect(&location).await.unwrap().link, link, "{mode}");
        let command = Location::Postgres(server.url("ada", "localhost", &parameters).into());
        let command = command.with_password_command(Some("echo s3cret"));
        assert_eq!(inspect(&command).await.unwrap().link, link, "{mode} with a command");
    }
}

/// As `openssl req -x509` makes them, and as they were made before there were other names.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn certificates_of_ones_own_making_are_taken_as_libpq_takes_them() {
    let server = PostgresServer::start(ServerTls::SelfSigned).await;
    let (own, ca) = (server.path("self.crt"), server.path("ca.crt"));
    let url = |host: &str, parameters: String| server.url("ada:s3cret", host, &parameters);
    expect(&server, &url("localhost", format!("sslmode=verify-full&sslrootcert={own}")), Ok(true)).await;
    expect(&server, &url("127.0.0.1", format!("sslmode=verify-ca&sslrootcert={own}")), Ok(true)).await;
    expect(&server, &url("localhost", format!("sslmode=require&{NO_ROOT}&channel_binding=require")), Ok(true)).await;
    let unknown = url("localhost", format!("sslmode=verify-ca&sslrootcert={ca}"));
    assert!(encrypted(&server, &unknown).await.unwrap_err().contains("certificate"));
    server.restart(ServerTls::SignedCommonName);
    expect(&server, &url("localhost", format!("sslmode=verify-full&sslrootcert={ca}")), Ok(true)).await;
    let other = url("127.0.0.1", format!("sslmode=verify-full&sslrootcert={ca}"));
    expect(&server, &other, Err("is for localhost, and not for 127.0.0.1")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_several_servers_the_one_that_fits_is_found() {
    let server = PostgresServer::start(ServerTls::Off).await;
    for (mode, expected) in [
        ("disable", Ok(false)),
        ("allow", Ok(false)),
        ("prefer", Ok(false)),
        ("require", Err("takes no encrypted connections")),
    ] {
        expect(&server, &server.url("ada:s3cret", "localhost", &format!("sslmode={mode}&{NO_ROOT}")), expected).await;
    }
    let verify = format!("sslmode=verify-full&sslrootcert={}", server.path("ca.crt"));
    expect(&server, &server.url("ada:s3cret", "localhost", &verify), Err("takes no encrypted connections")).await;

    // From here on it takes no writes. The other one is the server of all tests.
    let admin = client(&server.socket_url("postgres")).await;
    admin.batch_execute("ALTER DATABASE postgres SET default_transaction_read_only = on").await.unwrap();
    let Store::Postgres { url, .. } = Store::postgres().await else { unreachable!() };
    let (before, rest) = url.split_once("host=").unwrap();
    let (folder, after) = rest.split_once('&').unwrap();
    let both = |first: &str, port: u16, kind: &str| {
        format!("{before}host={first}&host={folder}&port={port}&port=5432&{after}&target_session_attrs={kind}")
    };
    let dead = free_port();
    let mut session = 0;
    for (port, kind) in
        [(server.port, "read-write"), (dead, "any"), (dead, "read-write"), (dead, "primary"), (dead, "prefer-standby")]
    {
        for balanced in ["disable", "random"] {
            let url = format!("{}&load_balance_hosts={balanced}", both("127.0.0.1", port, kind));
            let ledger = PostgresLedger::open(&url).await.unwrap_or_else(|error| panic!("{kind}: {error}"));
            let engine = Engine::new(Arc::new(ledger), Policy::default());
            session += 1;
            ready(&engine, &nth_session(session), "# Plan").await;
        }
    }
    // Nothing of the store is there.
    let read_only = Location::Postgres(both("127.0.0.1", server.port, "read-only").into());
    assert_eq!(inspect(&read_only).await.unwrap().schema, 0);
    let standby = unavailable(PostgresLedger::open(both("127.0.0.1", dead, "standby")).await, "it is a primary");
    assert!(standby.contains(&format!("127.0.0.1:{dead}: ")), "{standby}");
}
