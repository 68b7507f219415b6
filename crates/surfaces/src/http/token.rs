//! The access token: where it is kept, how it is made and replaced.

use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret, SecretString};

/// How much chance is in a token that is made here.
const RANDOM_BYTES: usize = 32;

/// Nobody's token is longer; a file that is something else is not read to its end.
const LONGEST: usize = 1024;

/// What whoever comes in has to know.
#[derive(Debug, Clone)]
pub enum Token {
    /// In a file that only its owner may read. Whoever replaces the file replaces the token.
    File(PathBuf),
    /// Said at the start, for as long as the process lives.
    Given(SecretString),
}

/// Whether there was a token already.
#[derive(Debug)]
pub enum Kept {
    /// It was made now. This is the moment to show it.
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
    /// The token as it is now; none if there is none yet. A file with nothing in it holds no token.
    pub fn read(&self) -> Result<Option<SecretString>, TokenError> {
        match self {
            Self::File(path) => read_file(path),
            Self::Given(token) => usable("the token that was given", token.expose_secret()),
        }
    }

    /// The token, made if there is none. Of several processes that do this at once, one makes it and all get the same.
    pub fn make_if_missing(&self) -> Result<Kept, TokenError> {
        match self {
            Self::File(path) => match read_file(path)? {
                Some(token) => Ok(Kept::Found(token)),
                None => make(path),
            },
            Self::Given(token) => match usable("the token that was given", token.expose_secret())? {
                Some(token) => Ok(Kept::Found(token)),
                None => Err(TokenError::Unusable { place: "the token that was given".into(), reason: "it is empty" }),
            },
        }
    }

    /// A new token in place of the old one. Nobody ever reads half of it.
    pub fn rotate(&self) -> Result<SecretString, TokenError> {
        match self {
            Self::File(path) => {
                let token = random()?;
                let draft = Draft::write(path, &token)?;
                draft.replace(path)?;
                Ok(token)
            }
            Self::Given(_) => Err(TokenError::Given),
        }
    }
}

fn make(path: &Path) -> Result<Kept, TokenError> {
    let token = random()?;
    let draft = Draft::write(path, &token)?;
    // A file with nothing in it is in the way of a link, and nobody's token.
    if fs::metadata(path).is_ok_and(|file| file.len() == 0) {
        draft.replace(path)?;
        return Ok(Kept::Made(token));
    }
    match draft.put(path) {
        Ok(()) => Ok(Kept::Made(token)),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => match read_file(path)? {
            Some(theirs) => Ok(Kept::Found(theirs)),
            None => Err(TokenError::Unusable { place: path.display().to_string(), reason: "it is empty" }),
        },
        Err(source) => Err(TokenError::Write { path: path.to_owned(), source }),
    }
}

fn read_file(path: &Path) -> Result<Option<SecretString>, TokenError> {
    let failed = |source| TokenError::Read { path: path.to_owned(), source };
    let bytes = match fs::metadata(path) {
        Ok(file) if file.len() > LONGEST as u64 => {
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

/// A token travels in a header and in a cookie's key: visible ASCII and no space.
fn usable(place: &str, text: &str) -> Result<Option<SecretString>, TokenError> {
    let token = text.trim();
    if token.is_empty() {
        return Ok(None);
    }
    if token.len() > LONGEST {
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
    Ok(hex(&bytes).into())
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A token beside the place where it belongs; removed again unless it gets there.
#[derive(Debug)]
struct Draft {
    path: PathBuf,
}

impl Draft {
    fn write(beside: &Path, token: &SecretString) -> Result<Self, TokenError> {
        let failed = |source| TokenError::Write { path: beside.to_owned(), source };
        let mut unique = [0; 8];
        getrandom::fill(&mut unique).map_err(TokenError::Random)?;
        let mut name = beside.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.new", hex(&unique)));
        let draft = Self { path: beside.with_file_name(name) };

        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&draft.path).map_err(failed)?;
        let written = writeln!(file, "{}", token.expose_secret()).and_then(|()| file.sync_all());
        written.map_err(failed)?;
        Ok(draft)
    }

    /// Where nothing is yet.
    fn put(&self, path: &Path) -> io::Result<()> {
        fs::hard_link(&self.path, path)?;
        sync_folder(path)
    }

    /// Over what is there.
    fn replace(&self, path: &Path) -> Result<(), TokenError> {
        let replaced = fs::rename(&self.path, path).and_then(|()| sync_folder(path));
        replaced.map_err(|source| TokenError::Write { path: path.to_owned(), source })
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// The name is on disk as well, not only what it names.
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}
