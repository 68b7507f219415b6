//! A database over the network, named by what users of libpq have: a service, variables, a file of passwords, or a command.

use std::os::unix::fs::PermissionsExt as _;

use planwright_test_support::postgres_server::{PostgresServer, ServerTls};

use crate::world::{World, ran};

const CHECKED: &str = "the connection to the database is encrypted, and its certificate is checked";

#[tokio::test(flavor = "multi_thread")]
async fn a_database_is_found_as_libpq_finds_it() {
    let server = PostgresServer::start(ServerTls::Signed).await;
    tokio::task::spawn_blocking(move || {
        let world = World::new();
        finds_a_service(&world, &server);
        finds_variables(&world, &server);
        runs_a_command(&world, &server);
    })
    .await
    .unwrap();
}

fn finds_a_service(world: &World, server: &PostgresServer) {
    let service = format!(
        "[plans]\nhost=localhost\nport={}\ndbname=plans\nuser=ada\nsslmode=verify-full\nsslrootcert={}\n",
        server.port,
        server.path("ca.crt")
    );
    world.write("services", &service);
    world.write("passwords", &format!("localhost:{}:plans:ada:s3cret\n", server.port));
    let closed = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(world.path("passwords"), closed).unwrap();
    let by_service = |line: &str| {
        let mut command = world.command();
        command.env("PLANWRIGHT_DATABASE", "postgres://?service=plans").env("PGSERVICEFILE", world.path("services"));
        command.env("PGPASSFILE", world.path("passwords"));
        ran(command.args(line.split_whitespace()))
    };
    by_service("chat --session cli:session-one hello").done();
    by_service("doctor").done().tells(CHECKED).never_says("s3cret");
    std::fs::set_permissions(world.path("passwords"), std::fs::Permissions::from_mode(0o644)).unwrap();
    let refused = by_service("plan list");
    assert_ne!(refused.code, 0);
    refused.complains("chmod 600").never_complains("s3cret");
}

fn finds_variables(world: &World, server: &PostgresServer) {
    let mut command = world.command();
    command.env("PLANWRIGHT_DATABASE", "postgres://").env("PGHOST", "localhost").env("PGPORT", server.port.to_string());
    command.env("PGDATABASE", "plans").env("PGUSER", "ada").env("PGPASSWORD", "s3cret");
    command.env("PGSSLMODE", "verify-full").env("PGSSLROOTCERT", server.path("ca.crt"));
    ran(command.arg("doctor")).done().tells(CHECKED).never_says("s3cret");
}

fn runs_a_command(world: &World, server: &PostgresServer) {
    let url = server.url("ada", "localhost", &format!("sslmode=verify-full&sslrootcert={}", server.path("ca.crt")));
    let configured = |command: &str| {
        world.write("planwright.toml", &format!("database = \"{url}\"\ndatabase_password_command = \"{command}\"\n"));
    };
    configured("echo s3cret");
    world.run("doctor").done().tells(CHECKED).never_says("s3cret");
    // Another database than the file's gets no password of the file's.
    let other = ran(world.command().env("PLANWRIGHT_DATABASE", &url).args(["plan", "list"]));
    assert_ne!(other.code, 0);
    other.complains("asks for a password");
    let mut command = world.command();
    command.env("PLANWRIGHT_DATABASE", &url).env("PLANWRIGHT_DATABASE_PASSWORD_COMMAND", "echo s3cret");
    ran(command.arg("doctor")).done().tells(CHECKED);
    configured("echo s3cret; exit 3");
    let failed = world.run("plan list");
    assert_ne!(failed.code, 0);
    failed.complains("exit status: 3").never_complains("s3cret");
}
