//! The access token: where it is kept, how it is made and replaced.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret, SecretString};

use crate::private_file::NewFile;

/// The length of a generated token before encoding.
const RANDOM_BYTES: usize = 32;

/// A longer file is not a token, and is not read.
const MAX_BYTES: usize = 1024;

/// Where the access token is kept.
#[derive(Debug, Clone)]
pub enum Token {
    /// In a file that only its owner may read. Replacing the file replaces the token.
    File(PathBuf),
    /// Given at the start, for as long as the process lives.
    Given(SecretString),
}

/// Whether the token existed already.
#[derive(Debug)]
pub enum LoadedToken {
    /// It was made now.
    Made(SecretString),
    Found(SecretString),
}

#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    #[error("the token in {} could not be read: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("a token could not be written to {}: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("no random bytes for a token: {0}")]
    Random(getrandom::Error),
    #[error("{place} is not usable as a token: {reason}")]
    Unusable { place: String, reason: &'static str },
    #[error("the token was given at the start and cannot be replaced; change it where it is given")]
    Given,
}

impl Token {
    /// The current token, if there is one. An empty file holds no token.
    pub fn read(&self) -> Result<Option<SecretString>, TokenError> {
        match self {
            Self::File(path) => read_file(path),
            Self::Given(token) => usable("the token that was given", token.expose_secret()),
        }
    }

    /// The token, made if there is none. If several processes do this at once, all get the same token.
    pub fn make_if_missing(&self) -> Result<LoadedToken, TokenError> {
        match self {
            Self::File(path) => match read_file(path)? {
                Some(token) => Ok(LoadedToken::Found(token)),
                None => make(path),
            },
            Self::Given(token) => match usable("the token that was given", token.expose_secret())? {
                Some(token) => Ok(LoadedToken::Found(token)),
                None => Err(TokenError::Unusable { place: "the token that was given".into(), reason: "it is empty" }),
            },
        }
    }

    /// Replaces the token with a new one, atomically.
    pub fn rotate(&self) -> Result<SecretString, TokenError> {
        match self {
            Self::File(path) => {
                let token = random()?;
                let failed = |source| TokenError::Write { path: path.clone(), source };
                write(path, &token).and_then(|new| new.replace(path)).map_err(failed)?;
                Ok(token)
            }
            Self::Given(_) => Err(TokenError::Given),
        }
    }
}

fn make(path: &Path) -> Result<LoadedToken, TokenError> {
    let token = random()?;
    let failed = |source| TokenError::Write { path: path.to_owned(), source };
    let new = write(path, &token).map_err(failed)?;
    // An empty file holds no token and is in the way of a link.
    if fs::metadata(path).is_ok_and(|file| file.len() == 0) {
        new.replace(path).map_err(failed)?;
        return Ok(LoadedToken::Made(token));
    }
    match new.create(path) {
        Ok(()) => Ok(LoadedToken::Made(token)),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => match read_file(path)? {
            Some(theirs) => Ok(LoadedToken::Found(theirs)),
            None => Err(TokenError::Unusable { place: path.display().to_string(), reason: "it is empty" }),
        },
        Err(source) => Err(failed(source)),
    }
}

fn write(path: &Path, token: &SecretString) -> io::Result<NewFile> {
    NewFile::write(path, format!("{}\n", token.expose_secret()).as_bytes())
}

fn read_file(path: &Path) -> Result<Option<SecretString>, TokenError> {
    let failed = |source| TokenError::Read { path: path.to_owned(), source };
    let bytes = match fs::metadata(path) {
        Ok(file) if file.len() > MAX_BYTES as u64 => {
            return Err(TokenError::Unusable { place: path.display().to_string(), reason: "it is too long" });
        }
        Ok(_) => fs::read(path).map_err(failed)?,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let place = path.display().to_string();
    let Ok(text) = std::str::from_utf8(&bytes) else {
        return Err(TokenError::Unusable { place, reason: "it is not text" });
    };
    usable(&place, text)
}

/// A token is sent in a header: visible ASCII without spaces.
fn usable(place: &str, text: &str) -> Result<Option<SecretString>, TokenError> {
    let token = text.trim();
    if token.is_empty() {
        return Ok(None);
    }
    if token.len() > MAX_BYTES {
        return Err(TokenError::Unusable { place: place.to_owned(), reason: "it is too long" });
    }
    if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(TokenError::Unusable {
            place: place.to_owned(),
            reason: "it has other characters than visible ASCII",
        });
    }
    Ok(Some(token.into()))
}

fn random() -> Result<SecretString, TokenError> {
    let mut bytes = [0; RANDOM_BYTES];
    getrandom::fill(&mut bytes).map_err(TokenError::Random)?;
    Ok(hex::encode(bytes).into())
}
