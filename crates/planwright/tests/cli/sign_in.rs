//! How a person gets into the server that they start in a terminal.
#![cfg(target_os = "linux")]

use std::net::TcpListener;

use crate::terminal::Terminal;
use crate::world::{World, ran};

#[test]
fn every_start_in_a_terminal_shows_a_link_that_works_once_and_never_the_token() {
    let world = World::new();
    // A first start that failed changes nothing for the next ones.
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    ran(world.command().args(["serve", "--listen", &taken.local_addr().unwrap().to_string()])).exits(6);
    let mut links = Vec::new();
    for _ in 0..2 {
        // The shell would end with the signal's exit code.
        let line = concat!("exec ", env!("CARGO_BIN_EXE_planwright"), " serve --listen 127.0.0.1:0");
        let mut terminal = Terminal::start_with(&world, line, &[]);
        terminal.wait_for("Ctrl+C stops it");
        terminal.type_in("\u{3}");
        let (screen, code) = terminal.end();
        let token = std::fs::read_to_string(world.path("token")).unwrap();
        assert!(!screen.contains(token.trim()), "{screen}");
        let link = screen.split("/#link=").nth(1).map(|rest| rest.chars().take(64).collect::<String>());
        links.push(link.unwrap_or_else(|| panic!("no link: {screen}")));
        assert_eq!(code, 0, "{screen}");
    }
    assert_ne!(links[0], links[1]);
}
