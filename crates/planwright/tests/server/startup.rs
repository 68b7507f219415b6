use std::io::Read as _;
use std::net::TcpListener;
use std::process::Stdio;

use crate::server_process::{Running, log, logged, serve};
use crate::world::{World, ran};

/// What a person reads at the start.
fn startup_text(world: &World, variables: &[(&str, &str)]) -> String {
    let mut command = world.command();
    command.arg("serve").env("PLANWRIGHT_SERVER_LISTEN", "127.0.0.1:0").envs(variables.iter().copied());
    let mut child = command.stdout(Stdio::piped()).stderr(log(world)).spawn().unwrap();
    let mut output = child.stdout.take().unwrap();
    let mut text = String::new();
    let mut piece = [0; 1024];
    while !text.contains("Ctrl+C stops it") {
        let read = output.read(&mut piece).unwrap();
        assert_ne!(read, 0, "{text}{}", logged(world));
        text.push_str(std::str::from_utf8(&piece[..read]).unwrap());
    }
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    assert!(child.wait().unwrap().success());
    text
}

/// On a terminal the address has a link in it; `tests/cli/sign_in.rs` looks there.
#[test]
fn the_token_is_never_printed_into_a_pipe_or_a_log() {
    let world = World::new();
    for _ in 0..2 {
        let text = startup_text(&world, &[]);
        let token = std::fs::read_to_string(world.path("token")).unwrap();
        assert!(!text.contains(token.trim()), "{text}");
        assert!(text.contains("http://127.0.0.1:") && !text.contains(":0\n"), "{text}");
        assert!(text.contains("`planwright token` shows it"), "{text}");
        assert!(text.contains(&format!("sqlite:{}", world.store().display())), "{text}");
        assert!(text.contains("rehearsal"), "{text}");
        assert!(!text.contains("other machines"), "{text}");
        assert!(!logged(&world).contains(token.trim()));
    }
    assert!(logged(&world).contains("server_started"));
}

#[test]
fn a_token_from_the_environment_is_used_and_not_shown() {
    let world = World::new();
    let given = "a-token-from-the-environment";
    let text = startup_text(&world, &[("PLANWRIGHT_TOKEN", given)]);
    assert!(text.contains("PLANWRIGHT_TOKEN") && !text.contains(given), "{text}");
    assert!(!world.path("token").exists(), "no other one is made");
    let mut server = Running::started(&world, serve(&world).arg("--json").env("PLANWRIGHT_TOKEN", given));
    server.token = given.to_owned();
    assert_eq!(server.get("/api/sessions").status, 200);
}

#[test]
fn a_model_that_was_chosen_is_named() {
    let world = World::new();
    let text = startup_text(&world, &[("PLANWRIGHT_MODEL", "openai:gpt-x"), ("OPENAI_API_KEY", "sk-very-secret")]);
    assert!(text.contains("openai:gpt-x") && !text.contains("sk-very-secret"), "{text}");
    ran(world.command().args(["serve", "--model", "openai:gpt-x"])).exits(2).complains("set OPENAI_API_KEY");
}

#[test]
fn a_port_that_is_taken_is_said_to_be() {
    let world = World::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let refused = ran(world.command().args(["serve", "--listen", &address])).exits(6);
    refused.complains(&format!("another program already listens at {address}")).complains("planwright doctor");
    let refused = ran(world.command().args(["serve", "--json", "--listen", &address])).exits(6);
    assert_eq!(refused.error_json()["code"], "UNAVAILABLE");
}

#[test]
fn a_start_that_fails_leaves_no_token_behind() {
    let world = World::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    ran(world.command().args(["serve", "--listen", &address])).exits(6);
    assert!(!world.path("token").exists());
    // So that listening for other machines is refused, as on a new installation.
    ran(world.command().args(["serve", "--listen", "0.0.0.0:0"])).exits(3).complains("there is no token");
}

#[test]
fn a_server_that_other_machines_can_reach_says_so() {
    let world = World::new();
    world.run("token").done();
    let text = startup_text(&world, &[("PLANWRIGHT_SERVER_LISTEN", "0.0.0.0:0")]);
    assert!(text.contains("other machines can connect at 0.0.0.0:"), "{text}");
    assert!(text.contains("not encrypted"), "{text}");
    let log = logged(&world);
    assert!(log.contains("reachable_by_others"), "{log}");
}

#[test]
fn an_address_that_cannot_be_used_is_said_to_be() {
    let world = World::new();
    for wrong in ["7717", "here:7717", "127.0.0.1", "http://127.0.0.1:7717", "127.0.0.1:70000"] {
        ran(world.command().args(["serve", "--listen", wrong])).exits(2).complains("is not an address with a port");
    }
    ran(world.command().args(["serve", "--host", "https://x"])).exits(2).complains("is not the name of a host");
    assert!(!world.path("token").exists() && !world.store().exists(), "nothing was made");
    // An address that no machine has, which needs a token like every other.
    world.run("token").done();
    ran(world.command().args(["serve", "--listen", "192.0.2.1:7717"])).exits(6).complains("does not have the address");
}

#[test]
fn others_are_not_let_near_it_without_a_token() {
    let world = World::new();
    let refused = ran(world.command().args(["serve", "--listen", "0.0.0.0:0"])).exits(3);
    refused.complains("other machines can reach").complains("planwright token").never_complains("panicked");
    world.run("token").done();
    let mut command = world.command();
    command.args(["serve", "--json", "--listen", "0.0.0.0:0"]).stdout(Stdio::piped()).stderr(log(&world));
    let server = Running::started(&world, &mut command);
    assert_eq!(server.get("/api/sessions").status, 200);
}
