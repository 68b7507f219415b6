use std::path::Path;

use crate::world::{World, ran};

const GIVEN: &str = "a-token-from-the-environment";

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(path).unwrap()) & 0o777
}

#[test]
fn it_is_made_once_and_then_shown() {
    let world = World::new();
    let first = world.run("token").done().stdout;
    assert!(first.trim().len() >= 43, "{first}");
    assert_eq!(world.run("token show").done().stdout, first);
    let json = world.json("token");
    assert_eq!(json["token"].as_str().unwrap(), first.trim());
    assert_eq!(world.run("token path").done().stdout.trim(), world.path("token").to_str().unwrap());
    #[cfg(unix)]
    assert_eq!(mode(&world.path("token")), 0o600);
    assert!(!world.store().exists(), "a token needs no store");
}

#[test]
fn rotating_replaces_it_and_says_what_that_means() {
    let world = World::new();
    let first = world.run("token").done().stdout;
    let rotated = world.run("token rotate").done().tells("close open connections").stdout;
    let second = world.run("token").done().stdout;
    assert_ne!(first, second);
    assert_eq!(rotated.lines().next(), second.lines().next());
    #[cfg(unix)]
    assert_eq!(mode(&world.path("token")), 0o600);
    let left: Vec<_> = std::fs::read_dir(world.path("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["token"], "nothing is left beside it");
}

#[test]
fn one_from_the_environment_is_not_ours_to_show_or_replace() {
    let world = World::new();
    for line in ["token", "token rotate", "token path"] {
        let refused = ran(world.command().env("PLANWRIGHT_TOKEN", GIVEN).args(line.split(' '))).exits(3);
        refused.complains("PLANWRIGHT_TOKEN").never_complains(GIVEN).never_says(GIVEN);
    }
    assert!(!world.path("token").exists());
    // Empty is not set.
    ran(world.command().env("PLANWRIGHT_TOKEN", "").arg("token")).done();
}

#[test]
fn one_that_cannot_be_a_token_is_refused_without_being_shown() {
    let world = World::new();
    for (token, why) in [("sesame", "at least 8 characters"), ("has spaces in it, many", "characters that a token")] {
        let refused = ran(world.command().env("PLANWRIGHT_TOKEN", token).arg("token")).exits(2);
        refused.complains("the variable PLANWRIGHT_TOKEN").complains(why).never_complains(token);
    }
}
