//! How a person gets into the server that they start in a terminal.
#![cfg(target_os = "linux")]

use std::net::TcpListener;

use crate::terminal::Terminal;
use crate::world::{World, ran};

#[test]
fn every_start_in_a_terminal_shows_the_address_with_the_token() {
    let world = World::new();
    // A first start that failed changes nothing for the next ones.
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    ran(world.command().args(["serve", "--listen", &taken.local_addr().unwrap().to_string()])).exits(6);
    for _ in 0..2 {
        // The shell would end with the signal's exit code.
        let line = concat!("exec ", env!("CARGO_BIN_EXE_planwright"), " serve --listen 127.0.0.1:0");
        let mut terminal = Terminal::start_with(&world, line, &[]);
        terminal.wait_for("Ctrl+C stops it");
        terminal.type_in("\u{3}");
        let (screen, code) = terminal.end();
        let token = std::fs::read_to_string(world.path("token")).unwrap();
        assert!(screen.contains(&format!("/#token={}", token.trim())), "{screen}");
        assert_eq!(code, 0, "{screen}");
    }
}
