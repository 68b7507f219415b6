//! Starting: the token, the address, and what is refused.

use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;

use planwright_surfaces::http::{LoadedToken, Server, ServerError, ServerOptions, Token, TokenError};
use secrecy::ExposeSecret;
use tempfile::TempDir;

use crate::store::StoreControl;
use crate::world::options;

async fn bind(change: impl FnOnce(&mut ServerOptions)) -> (TempDir, Result<Server, ServerError>) {
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(&folder, StoreControl::default()).await;
    change(&mut options);
    let bound = Server::bind(options).await;
    (folder, bound)
}

const EVERYWHERE: [&str; 3] = ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"];

#[tokio::test]
async fn an_address_that_others_reach_needs_a_token_first() {
    for address in EVERYWHERE {
        let listen: SocketAddr = address.parse().unwrap();
        let (folder, bound) = bind(|options| options.listen = listen).await;
        let error = bound.unwrap_err();
        assert!(matches!(error, ServerError::NoToken(at) if at == listen), "{address}: {error}");
        assert!(error.to_string().contains("`planwright token`, or set PLANWRIGHT_TOKEN"), "{error}");
        assert!(!folder.path().join("token").exists(), "{address}: no token is made there");

        for none in ["", "  "] {
            let (_folder, bound) = bind(|options| {
                options.listen = listen;
                options.token = Token::Given(none.into());
            })
            .await;
            assert!(matches!(bound.unwrap_err(), ServerError::NoToken(_)), "{address}");
        }
        let (_folder, bound) = bind(|options| {
            options.listen = listen;
            options.token = Token::Given("123456789012345".into());
        })
        .await;
        assert!(matches!(bound.unwrap_err(), ServerError::ShortToken(_)), "{address}");
    }
}

#[tokio::test]
async fn with_a_token_every_address_will_do() {
    let (_folder, bound) = bind(|options| {
        options.listen = "0.0.0.0:0".parse().unwrap();
        options.token.make_if_missing().unwrap();
    })
    .await;
    assert_ne!(bound.unwrap().address().port(), 0);
}

#[tokio::test]
async fn on_this_machine_a_token_is_made_that_only_its_owner_reads() {
    let (folder, bound) = bind(|_| {}).await;
    bound.unwrap();
    let file = folder.path().join("token");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let token = std::fs::read_to_string(&file).unwrap();
    assert_eq!(token.trim().len(), 64, "{token}");
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().ends_with(".new")), "{left:?}");
}

#[tokio::test]
async fn a_token_that_is_there_stays() {
    let folder = tempfile::tempdir().unwrap();
    let token = Token::File(folder.path().join("token"));
    let LoadedToken::Made(made) = token.make_if_missing().unwrap() else { panic!("there was none") };
    let LoadedToken::Found(found) = token.make_if_missing().unwrap() else { panic!("there is one") };
    assert_eq!(made.expose_secret(), found.expose_secret());
    assert_eq!(token.read().unwrap().unwrap().expose_secret(), made.expose_secret());

    let rotated = token.rotate().unwrap();
    assert_ne!(rotated.expose_secret(), made.expose_secret());
    assert_eq!(token.read().unwrap().unwrap().expose_secret(), rotated.expose_secret());
    let mode = std::fs::metadata(folder.path().join("token")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(!format!("{token:?} {made:?}").contains(made.expose_secret()));
}

#[test]
fn of_many_that_make_a_token_at_once_one_does() {
    let folder = tempfile::tempdir().unwrap();
    let token = Token::File(folder.path().join("token"));
    let kept: Vec<_> = std::thread::scope(|scope| {
        let making: Vec<_> = (0..16).map(|_| scope.spawn(|| token.make_if_missing().unwrap())).collect();
        making.into_iter().map(|made| made.join().unwrap()).collect()
    });
    let made = kept.iter().filter(|kept| matches!(kept, LoadedToken::Made(_))).count();
    assert_eq!(made, 1);
    let stored = token.read().unwrap().unwrap();
    for LoadedToken::Made(one) | LoadedToken::Found(one) in &kept {
        assert_eq!(one.expose_secret(), stored.expose_secret());
    }
}

#[test]
fn what_cannot_be_a_token_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    let token = Token::File(file.clone());
    for content in ["two words", "t\u{f6}ken", &"x".repeat(5000)] {
        std::fs::write(&file, content).unwrap();
        assert!(matches!(token.make_if_missing(), Err(TokenError::Unusable { .. })), "{content}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), *content);
    }
    std::fs::write(&file, "").unwrap();
    assert!(matches!(token.make_if_missing(), Ok(LoadedToken::Made(_))), "an empty file holds nothing");
    assert!(matches!(Token::Given("x".into()).rotate(), Err(TokenError::Given)));
}

#[tokio::test]
async fn a_port_that_is_taken_is_said() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let (_folder, bound) = bind(|options| options.listen = address).await;
    let error = bound.unwrap_err();
    assert!(matches!(&error, ServerError::Listen { address: at, .. } if *at == address), "{error}");
    assert!(error.to_string().starts_with(&format!("cannot listen on {address}: ")), "{error}");
}

#[tokio::test]
async fn names_that_cannot_be_names_are_said() {
    for host in ["", "http://plans.example.org", "plans.example.org/", "a b", "plans.example.org:", "*.example.org"] {
        let (_folder, bound) = bind(|options| options.hosts = vec![host.to_owned()]).await;
        assert!(bound.unwrap_err().to_string().starts_with(&format!("{host:?} is not a host")), "{host}");
    }
    for origin in ["", "null", "*", "plans.example.org", "ftp://plans.example.org", "https://plans.example.org/"] {
        let (_folder, bound) = bind(|options| options.origins = vec![origin.to_owned()]).await;
        assert!(bound.unwrap_err().to_string().starts_with(&format!("{origin:?} is not an origin")), "{origin}");
    }
}
