use std::collections::BTreeMap;
use std::net::TcpListener;

use rusqlite::Connection;
use serde_json::Value;

use crate::provider::{Provider, Reply};
use crate::world::{Ran, World, ran};

/// With an address on which no process listens.
pub(crate) fn doctor(world: &World, variables: &[(&str, &str)]) -> Ran {
    let mut command = world.command();
    command.env("PLANWRIGHT_SERVER_LISTEN", "127.0.0.1:1").envs(variables.iter().copied());
    ran(command.args(["doctor", "--json"]))
}

pub(crate) fn checks(ran: &Ran) -> BTreeMap<String, Value> {
    let answer = ran.json();
    let checks = answer["checks"].as_array().unwrap();
    checks.iter().map(|check| (check["name"].as_str().unwrap().to_owned(), check.clone())).collect()
}

#[track_caller]
fn says(ran: &Ran, name: &str, state: &str, text: &str) {
    let check = &checks(ran)[name];
    assert_eq!(check["state"], state, "{check}");
    assert!(check["words"].as_str().unwrap().contains(text), "{check}");
}

/// Every file with its size, content and time, to see that nothing was changed.
fn everything(world: &World) -> BTreeMap<String, (u64, Vec<u8>)> {
    let files = std::fs::read_dir(world.path("")).unwrap().map(|entry| entry.unwrap());
    files
        .map(|file| {
            (
                file.file_name().into_string().unwrap(),
                (file.metadata().unwrap().len(), std::fs::read(file.path()).unwrap_or_default()),
            )
        })
        .collect()
}

#[test]
fn where_nothing_is_yet_everything_is_fine_and_nothing_is_made() {
    let world = World::new();
    let data = world.path("not/yet");
    let looked = doctor(&world, &[("PLANWRIGHT_DATA", data.to_str().unwrap())]).done();
    says(&looked, "data folder", "fine", "does not exist yet");
    says(&looked, "store", "fine", "does not exist yet");
    says(&looked, "token", "fine", "does not exist yet");
    says(&looked, "model", "notice", "rehearsal");
    says(&looked, "server", "fine", "nothing listens at 127.0.0.1:1");
    says(&looked, "configuration", "fine", "the defaults are used");
    assert!(!data.exists() && !world.path("not").exists());
    world.run("doctor").done().says("✔ configuration").says("! model");
}

#[test]
fn a_setting_that_the_store_has_otherwise_is_named() {
    let world = World::new();
    world.run("plan on").done();
    says(&doctor(&world, &[]), "settings", "fine", "as the store has them");
    let looked = doctor(&world, &[("PLANWRIGHT_GATEWAY_WRITES", "free")]);
    says(&looked, "settings", "notice", "`gateway.writes` is not set in the store, and `free` here");
    world.run("config set gateway.writes free").done();
    says(&doctor(&world, &[("PLANWRIGHT_GATEWAY_WRITES", "free")]), "settings", "fine", "as the store has them");
    world
        .run("config show")
        .done()
        .says("gateway.writes          free")
        .says("sandbox.level           workspace (default)");
}

#[test]
fn the_level_of_the_store_is_the_one_in_force_unless_a_process_asks_for_less() {
    let world = World::new();
    world.run("plan on").done();
    world.run("config set sandbox.level open").done();
    says(&doctor(&world, &[]), "sandbox", "notice", "everything that you may");
    let looked = doctor(&world, &[("PLANWRIGHT_SANDBOX_LEVEL", "read_only")]);
    says(&looked, "settings", "notice", "The stricter value counts for this process");
    assert!(!checks(&looked)["sandbox"]["words"].as_str().unwrap().contains("everything that you may"));
}

/// In front of a database, and with the server's own address for announcements.
#[test]
fn a_connection_pooler_is_named() {
    let pooler = std::env::var("PLANWRIGHT_TEST_PGBOUNCER").expect("`scripts/with-postgres` starts a PgBouncer");
    let world = World::new();
    let database = |url: &str| ran(world.command().env("PLANWRIGHT_DATABASE", url).args(["plan", "on"]));
    database(&pooler).done();
    let looked = doctor(&world, &[("PLANWRIGHT_DATABASE", &pooler)]);
    says(&looked, "store", "fine", "reads and writes");
    says(&looked, "pooler", "notice", "a connection pooler is in front of the database");
    let (_, folder) = pooler.split_once("host=").unwrap();
    let listening = format!("{pooler}&listen_host={}&listen_port=5432", folder.split('&').next().unwrap());
    let looked = doctor(&world, &[("PLANWRIGHT_DATABASE", &listening)]);
    says(&looked, "pooler", "fine", "changes are announced by the server");
}

#[test]
fn a_store_in_use_is_looked_into() {
    let world = World::with_plan();
    world.run("token").done();
    let before = everything(&world);
    let looked = doctor(&world, &[]).done();
    says(&looked, "store", "fine", "SQLite 3.");
    says(&looked, "journals", "fine", "1 session checked and whole");
    says(&looked, "disk", "fine", "are free where the store is");
    says(&looked, "token", "fine", "only you can read it");
    says(&looked, "time", "fine", "was written at");
    assert_eq!(everything(&world), before, "it only looks");
}

#[test]
fn damage_is_found_and_has_its_exit_code() {
    let world = World::with_plan();
    let store = Connection::open(world.store()).unwrap();
    store.execute("UPDATE journal SET body = replace(body, 'drop the', 'keep the')", []).unwrap();
    drop(store);
    let looked = doctor(&world, &[]).exits(7);
    says(&looked, "journals", "wrong", "session mcp:session-one is damaged");
    assert_eq!(looked.json()["fine"], false);
    let world = World::new();
    world.write(
        "planwright.db",
        "this is not a database, but it is long enough to be looked at as one. ".repeat(9).as_str(),
    );
    says(&doctor(&world, &[]).exits(7), "store", "wrong", "not a SQLite database");
    world.write("planwright.db", "");
    says(&doctor(&world, &[]).exits(7), "store", "wrong", "is empty");
}

#[test]
fn a_wrong_setting_is_told_like_everywhere() {
    let world = World::new();
    world.write("planwright.toml", "[server]\nlisten = \"here\"\n");
    let looked = ran(world.command().args(["doctor", "--json"])).exits(2);
    says(&looked, "configuration", "wrong", "line 2, at `listen`: `here` is not an address");
}

#[test]
fn an_older_store_is_not_brought_up_to_date_by_looking() {
    let world = World::with_plan();
    let store = Connection::open(world.store()).unwrap();
    store.pragma_update(None, "user_version", 2).unwrap();
    drop(store);
    let before = everything(&world);
    says(&doctor(&world, &[]).done(), "store", "notice", "has schema 2, and the next command brings it to");
    assert_eq!(everything(&world), before);
    let store = Connection::open(world.store()).unwrap();
    store.pragma_update(None, "user_version", 9_999).unwrap();
    drop(store);
    says(&doctor(&world, &[]).exits(6), "store", "wrong", "newer Planwright");
}

#[cfg(unix)]
#[test]
fn what_others_may_read_is_told() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::with_plan();
    world.run("token").done();
    let open = |name: &str, mode| std::fs::set_permissions(world.path(name), PermissionsExt::from_mode(mode)).unwrap();
    open("token", 0o644);
    let looked = doctor(&world, &[]).exits(6);
    says(&looked, "token", "wrong", "can be read by other users");
    assert!(checks(&looked)["token"]["hint"].as_str().unwrap().contains("token rotate"));
    open("token", 0o600);
    open("", 0o755);
    says(&doctor(&world, &[]).done(), "data folder", "notice", "can be read by other users");
}

#[test]
fn the_model_is_named_and_its_key_only_by_its_variable() {
    let world = World::new();
    for (status, exit, state, expected) in [
        ("200 OK", 6, "wrong", "its key is in ANTHROPIC_API_KEY and is accepted; it does not answer"),
        ("401 Unauthorized", 6, "wrong", "its key is in ANTHROPIC_API_KEY, and it is not accepted"),
        ("404 Not Found", 0, "notice", "whether it is accepted is not known: it answered with HTTP 404"),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let answering = std::thread::spawn(move || {
            let asked = answer_once(&listener, status);
            // One whose key is accepted is asked for a word.
            if status == "200 OK" {
                let word = answer_once(&listener, "400 Bad Request");
                assert!(word.starts_with("post /v1/messages"), "{word}");
            }
            asked
        });
        let chosen = [
            ("PLANWRIGHT_MODEL", "anthropic:claude-x"),
            ("ANTHROPIC_API_KEY", "sk-very-secret"),
            ("ANTHROPIC_BASE_URL", address.as_str()),
        ];
        let looked = doctor(&world, &chosen).exits(exit);
        says(&looked, "model", state, expected);
        looked.never_says("sk-very-secret");
        // The list of models is asked for, and no model.
        let asked = answering.join().unwrap();
        assert!(asked.starts_with("get /v1/models ") && asked.contains("x-api-key: sk-very-secret"), "{asked}");
    }
    let chosen = [("PLANWRIGHT_MODEL", "anthropic:claude-x")];
    says(&doctor(&world, &chosen).exits(6), "model", "wrong", "set ANTHROPIC_API_KEY");
}

/// Answers one request, and says how it began.
fn answer_once(listener: &TcpListener, status: &str) -> String {
    use std::io::{Read as _, Write as _};
    let (mut stream, _) = listener.accept().unwrap();
    let (mut asked, mut piece) = (Vec::new(), [0; 1024]);
    while !asked.windows(4).any(|end| end == b"\r\n\r\n") {
        let read = stream.read(&mut piece).unwrap();
        asked.extend_from_slice(&piece[..read]);
    }
    let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{{}}");
    let _ = stream.write_all(answer.as_bytes());
    String::from_utf8_lossy(&asked).to_lowercase()
}

#[test]
fn the_model_is_asked_for_a_word() {
    let world = World::new();
    let provider = Provider::start(&[Reply::Text("ready".to_owned())]);
    let looked = doctor(&world, &provider.variables()).done();
    says(&looked, "model", "fine", "it answers");
    assert_eq!(provider.asked()["messages"][0]["content"], "Answer with one word: ready");
}

#[test]
fn another_program_at_the_servers_address_is_not_taken_for_ours() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let answering = std::thread::spawn(move || {
        use std::io::{Read as _, Write as _};
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 1024]);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nup");
    });
    let world = World::new();
    let looked = doctor(&world, &[("PLANWRIGHT_SERVER_LISTEN", &address)]).done();
    says(&looked, "server", "notice", "another program");
    // `doctor` takes no `--listen`.
    assert!(checks(&looked)["server"]["hint"].as_str().unwrap().contains("PLANWRIGHT_SERVER_LISTEN"));
    answering.join().unwrap();
    ran(world.command().args(["health", "--listen", "127.0.0.1:1"]))
        .exits(6)
        .complains("nothing listens at 127.0.0.1:1");
}

#[test]
fn a_server_is_looked_for_at_the_address_that_is_named() {
    let world = World::new();
    let looked = world.run("doctor --json --listen 127.0.0.1:1");
    says(&looked, "server", "fine", "nothing listens at 127.0.0.1:1");
    world.run("doctor --listen nowhere").exits(2);
}
