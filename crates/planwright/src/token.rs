//! Where the access token is.

use std::path::PathBuf;

use planwright_surfaces::http::Token;

use crate::config::Settings;

/// The one from the environment, else the one in the data folder.
pub(crate) fn of(settings: &Settings) -> Token {
    match &settings.server.token {
        Some(given) => Token::Given(given.clone()),
        None => Token::File(path(settings)),
    }
}

pub(crate) fn path(settings: &Settings) -> PathBuf {
    settings.data.join("token")
}
