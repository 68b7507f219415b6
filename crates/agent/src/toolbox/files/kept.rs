//! Kept versions: the content of every file that a tool changed, before and after, found by its hash.
//!
//! They lie in the session's folder beside its files (`kept/`), also for a project, and go with the session. A version is
//! on disk before the file is changed. What is older than the limit goes first, then the oldest where room is needed.

use std::io::{self, ErrorKind, Read, Seek as _, Write as _};
use std::time::{Duration, SystemTime};

use cap_fs_ext::{DirExt as _, FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::{Dir, File, OpenOptions};
use planwright_core::refusal::Refusal;
use planwright_core::workspace::{ContentHash, FileChange};
use planwright_engine::temp_file::{TempFile, UNFINISHED, make_folder};
use sha2::{Digest as _, Sha256};

use super::FileLimits;
use super::folder::SessionFolder;
use super::io_error;

const KEPT_FOLDER: &str = "kept";
/// What a call intends to change, by the name of the call.
const CALLS: &str = "calls";
/// No list of changes of one call is longer.
const MAX_LIST: u64 = 1024 * 1024;
/// Smaller files are read at once, so that what is kept already is not written again.
const MAX_IN_MEMORY_BYTES: u64 = 4 * 1024 * 1024;

#[derive(Debug)]
pub(super) struct KeptVersions {
    folder: Dir,
    unfinished: Dir,
}

impl KeptVersions {
    pub(super) fn make(session: &SessionFolder) -> Result<Self, Refusal> {
        let own = session.make_whole()?;
        let make = || Ok(Self { folder: make_folder(&own, KEPT_FOLDER)?, unfinished: make_folder(&own, UNFINISHED)? });
        make().map_err(|error: io::Error| unusable(&error))
    }

    /// `None` while nothing was kept. Nothing is made.
    pub(super) fn open(session: &SessionFolder) -> Result<Option<Self>, Refusal> {
        let Some(own) = session.open_whole()? else { return Ok(None) };
        let open = || -> io::Result<Self> {
            Ok(Self { folder: own.open_dir_nofollow(KEPT_FOLDER)?, unfinished: own.open_dir_nofollow(UNFINISHED)? })
        };
        match open() {
            Ok(kept) => Ok(Some(kept)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(unusable(&error)),
        }
    }

    pub(super) fn put(&self, content: &[u8]) -> io::Result<ContentHash> {
        let hash = ContentHash::of(content);
        if !self.refresh(&hash)? {
            let temp = TempFile::create(&self.unfinished, |file| file.write_all(content))?;
            self.name(temp, &hash)?;
        }
        Ok(hash)
    }

    /// Keeps what is in a file, which has about `bytes`. Says how many it had.
    pub(super) fn put_file(&self, file: &mut impl Read, bytes: u64) -> io::Result<(ContentHash, u64)> {
        if bytes <= MAX_IN_MEMORY_BYTES {
            let mut content = Vec::new();
            file.read_to_end(&mut content)?;
            return Ok((self.put(&content)?, content.len() as u64));
        }
        let (mut hasher, mut bytes) = (Sha256::new(), 0);
        let temp = TempFile::create(&self.unfinished, |kept| {
            let mut piece = vec![0; 256 * 1024];
            loop {
                match file.read(&mut piece) {
                    Ok(0) => return Ok(()),
                    Ok(read) => {
                        hasher.update(&piece[..read]);
                        kept.write_all(&piece[..read])?;
                        bytes += read as u64;
                    }
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
        })?;
        let hash = ContentHash::from_sha256(hasher.finalize().into());
        if !self.refresh(&hash)? {
            self.name(temp, &hash)?;
        }
        Ok((hash, bytes))
    }

    fn name(&self, temp: TempFile<'_>, hash: &ContentHash) -> io::Result<()> {
        let (subfolder, name) = place(hash);
        temp.replace(&make_folder(&self.folder, &subfolder)?, &name)
    }

    /// Whether the content is kept already. Then it counts as new, so that it is kept as long as its latest change.
    fn refresh(&self, hash: &ContentHash) -> io::Result<bool> {
        match self.open_version(hash, OpenOptions::new().read(true).write(true)) {
            Ok(file) => file.into_std().set_modified(SystemTime::now()).map(|()| true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The content with this hash, or `None` if it is no longer kept or was damaged.
    pub(super) fn get(&self, hash: &ContentHash) -> io::Result<Option<Vec<u8>>> {
        let mut file = match self.open_version(hash, OpenOptions::new().read(true)) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut content = Vec::new();
        file.rewind()?;
        file.read_to_end(&mut content)?;
        Ok((ContentHash::of(&content) == *hash).then_some(content))
    }

    fn open_version(&self, hash: &ContentHash, options: &mut OpenOptions) -> io::Result<File> {
        let (subfolder, name) = place(hash);
        self.folder.open_dir_nofollow(&subfolder)?.open_with(&name, options.follow(FollowSymlinks::No))
    }

    /// Writes down what a call is about to do.
    pub(super) fn note_call(&self, call: &str, changes: &[FileChange]) -> io::Result<()> {
        let text = serde_json::to_vec(changes)?;
        let temp = TempFile::create(&self.unfinished, |file| file.write_all(&text))?;
        temp.replace(&make_folder(&self.folder, CALLS)?, &call_name(call))
    }

    /// What a call of this name was about to do, if it came that far.
    pub(super) fn noted_call(&self, call: &str) -> io::Result<Option<Vec<FileChange>>> {
        let read = || -> io::Result<Vec<u8>> {
            let mut options = OpenOptions::new();
            options.read(true).follow(FollowSymlinks::No);
            let file = self.folder.open_dir_nofollow(CALLS)?.open_with(call_name(call), &options)?;
            let mut text = Vec::new();
            file.take(MAX_LIST).read_to_end(&mut text)?;
            Ok(text)
        };
        match read() {
            Ok(text) => Ok(serde_json::from_slice(&text).ok()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Removes what is too old, and the oldest versions until the rest fits. Says how many bytes are left.
    pub(super) fn clear(&self, limits: &FileLimits) -> io::Result<u64> {
        let now = SystemTime::now();
        let mut versions: Vec<(SystemTime, String, String, u64)> = Vec::new();
        for subfolder in self.folder.entries()?.flatten() {
            let Ok(subfolder) = subfolder.file_name().into_string() else { continue };
            let Ok(entries) = self.folder.open_dir_nofollow(&subfolder).and_then(|subfolder| subfolder.entries())
            else {
                continue;
            };
            for entry in entries.flatten() {
                let (Ok(name), Ok(metadata)) = (entry.file_name().into_string(), entry.metadata()) else { continue };
                let modified = metadata.modified().map_or(now, cap_std::time::SystemTime::into_std);
                versions.push((modified, subfolder.clone(), name, metadata.len()));
            }
        }
        versions.sort_unstable();
        let mut total: u64 = versions.iter().map(|(.., bytes)| bytes).sum();
        for (modified, subfolder, name, bytes) in versions {
            let age = now.duration_since(modified).unwrap_or(Duration::ZERO);
            if age <= limits.kept_time && total <= limits.kept_bytes {
                break;
            }
            self.folder.open_dir_nofollow(&subfolder)?.remove_file(&name)?;
            total = total.saturating_sub(bytes);
        }
        Ok(total)
    }
}

fn place(hash: &ContentHash) -> (String, String) {
    let mut subfolder = hash.to_string();
    let name = subfolder.split_off(2);
    (subfolder, name)
}

/// Names of calls are long and may have any characters.
fn call_name(call: &str) -> String {
    ContentHash::of(call.as_bytes()).to_string()
}

fn unusable(error: &io::Error) -> Refusal {
    io_error::refusal("the folder of kept versions", error)
}

#[cfg(test)]
mod tests {
    use planwright_core::session::SessionIdentity;

    use super::*;

    fn kept() -> (tempfile::TempDir, KeptVersions) {
        let root = tempfile::tempdir().unwrap();
        let session: SessionIdentity = "cli:k3yk3y8x".parse().unwrap();
        let kept = KeptVersions::make(&SessionFolder::new(root.path().to_owned(), &session)).unwrap();
        (root, kept)
    }

    fn age(kept: &KeptVersions, hash: &ContentHash, by: u64) {
        let file = kept.open_version(hash, OpenOptions::new().write(true)).unwrap();
        file.into_std().set_modified(SystemTime::now() - Duration::from_secs(by)).unwrap();
    }

    #[test]
    fn content_is_found_by_its_hash_whatever_its_size() {
        let (_root, kept) = kept();
        let large = vec![7; 5 * 1024 * 1024];
        for content in [&b""[..], b"text", &large] {
            let (hash, bytes) = kept.put_file(&mut io::Cursor::new(content), content.len() as u64).unwrap();
            assert_eq!((hash, bytes), (ContentHash::of(content), content.len() as u64));
            assert_eq!(kept.put(content).unwrap(), hash);
            assert_eq!(kept.get(&hash).unwrap().as_deref(), Some(content));
        }
        assert_eq!(kept.get(&ContentHash::of(b"other")).unwrap(), None);
        assert_eq!(kept.unfinished.entries().unwrap().count(), 0);
    }

    #[test]
    fn damaged_content_counts_as_gone() {
        let (_root, kept) = kept();
        let hash = kept.put(b"text").unwrap();
        kept.open_version(&hash, OpenOptions::new().write(true)).unwrap().write_all(b"TEXT").unwrap();
        assert_eq!(kept.get(&hash).unwrap(), None);
    }

    #[test]
    fn old_versions_go_and_the_oldest_make_room() {
        let (_root, kept) = kept();
        let [oldest, older, newest] = [&b"1111"[..], b"2222", b"3333"].map(|content| kept.put(content).unwrap());
        age(&kept, &oldest, 1000);
        age(&kept, &older, 100);
        let limits = FileLimits { kept_bytes: 100, kept_time: Duration::from_secs(500), ..FileLimits::default() };
        assert_eq!(kept.clear(&limits).unwrap(), 8);
        assert_eq!(kept.get(&oldest).unwrap(), None);
        // What is stored again is as new as its latest change.
        kept.put(b"2222").unwrap();
        age(&kept, &newest, 50);
        assert_eq!(kept.clear(&FileLimits { kept_bytes: 4, ..limits }).unwrap(), 4);
        assert_eq!(kept.get(&newest).unwrap(), None);
        assert!(kept.get(&older).unwrap().is_some());
    }
}
