//! Requests without a valid token have a rate of their own.

use crate::server_process::{Running, serve};
use crate::world::{World, ran};

#[test]
fn refused_requests_have_the_rate_that_is_set_and_the_owner_is_answered() {
    let world = World::new();
    let mut command = serve(&world);
    command.arg("--json").env("PLANWRIGHT_SERVER_REFUSED_PER_SECOND", "1");
    let server = Running::started(&world, &mut command);
    let refused = (0..200).map(|_| server.without_token("/api/sessions").status);
    let first_over = refused.inspect(|status| assert!([401, 429].contains(status), "{status}")).position(|s| s == 429);
    assert!(first_over.is_some_and(|before| before >= 4), "four may come at once: {first_over:?}");
    assert_eq!(server.get("/api/sessions").status, 200);
}

#[test]
fn the_rate_is_a_whole_number_from_one_up() {
    let world = World::new();
    let mut command = serve(&world);
    command.env("PLANWRIGHT_SERVER_REFUSED_PER_SECOND", "0").stderr(std::process::Stdio::piped());
    ran(&mut command).exits(2).complains("PLANWRIGHT_SERVER_REFUSED_PER_SECOND");
}
