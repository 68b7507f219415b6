//! Pieces of files in a folder that servers share, or in an S3-compatible storage.
//!
//! A piece is an object `SESSION/HASH`, where `SESSION` is the name that the session's folder has everywhere.

use std::time::Duration;

use async_trait::async_trait;
use futures::TryStreamExt as _;
use jiff::Timestamp;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::{ClientOptions, Error, ObjectMeta, ObjectStore, ObjectStoreExt as _, RetryConfig};
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_core::workspace::ContentHash;
use planwright_engine::ledger::{LedgerError, LedgerResult};
use planwright_engine::shared_files::{BlobStore, StoredBlob};

/// How long one request to the storage may take.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a request that failed is tried again.
const RETRY_TIMEOUT: Duration = Duration::from_secs(20);

/// An object storage.
#[derive(Debug)]
pub struct ObjectBlobs {
    objects: Box<dyn ObjectStore>,
    place: String,
}

impl ObjectBlobs {
    /// A folder that every server reaches, such as a mounted one.
    pub fn in_folder(folder: &std::path::Path) -> Result<Self, Refusal> {
        let place = folder.display().to_string();
        let made = std::fs::create_dir_all(folder).map_err(|error| error.to_string());
        let opened = made.and_then(|()| LocalFileSystem::new_with_prefix(folder).map_err(|error| error.to_string()));
        let objects =
            opened.map_err(|error| Refusal::invalid(format!("The folder {place} cannot be used: {error}.")))?;
        Ok(Self { objects: Box::new(objects.with_fsync(true).with_automatic_cleanup(true)), place })
    }

    /// `s3://BUCKET/PREFIX`, with the key, the region and the endpoint from the usual variables (`AWS_ACCESS_KEY_ID`,
    /// `AWS_REGION`, `AWS_ENDPOINT_URL` …). Variables of others are left alone.
    pub fn in_s3(url: &str, variables: impl IntoIterator<Item = (String, String)>) -> Result<Self, Refusal> {
        let invalid =
            |reason: &dyn std::fmt::Display| Refusal::invalid(format!("{url} cannot be used for files: {reason}."));
        let rest = url.strip_prefix("s3://").ok_or_else(|| invalid(&"it is no address like s3://BUCKET/PREFIX"))?;
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        if bucket.is_empty() {
            return Err(invalid(&"it names no bucket"));
        }
        let prefix = Path::parse(prefix.trim_matches('/')).map_err(|error| invalid(&error))?;
        let (mut builder, mut is_plain) = (AmazonS3Builder::new(), false);
        for (name, value) in variables {
            let key = name.starts_with("AWS_").then(|| name.to_ascii_lowercase().parse::<AmazonS3ConfigKey>().ok());
            if let Some(key) = key.flatten() {
                is_plain |= name.contains("ENDPOINT") && value.starts_with("http://");
                builder = builder.with_config(key, value);
            }
        }
        let retry = RetryConfig { retry_timeout: RETRY_TIMEOUT, ..RetryConfig::default() };
        let client = ClientOptions::new().with_timeout(REQUEST_TIMEOUT).with_allow_http(is_plain);
        let builder = builder.with_bucket_name(bucket).with_retry(retry).with_client_options(client);
        // Not every storage removes several objects with one request.
        let objects = builder.with_disable_bulk_delete(true).build().map_err(|error| invalid(&error))?;
        Ok(Self { objects: Box::new(PrefixStore::new(objects, prefix)), place: url.to_owned() })
    }

    fn failed(&self, error: &Error) -> LedgerError {
        LedgerError::Unavailable(format!("{} does not take files: {error}", self.place))
    }
}

fn folder_of(session: &SessionIdentity) -> Path {
    Path::from(session.folder_name())
}

fn piece(session: &SessionIdentity, hash: &ContentHash) -> Path {
    folder_of(session).join(hash.to_string())
}

fn stored(object: &ObjectMeta, now: Timestamp) -> Option<StoredBlob> {
    let hash = object.location.filename()?.parse().ok()?;
    let at = Timestamp::from_millisecond(object.last_modified.timestamp_millis()).ok()?;
    let age = Duration::try_from(now.duration_since(at)).unwrap_or_default();
    Some(StoredBlob { hash, bytes: object.size, age })
}

#[async_trait]
impl BlobStore for ObjectBlobs {
    fn place(&self) -> String {
        self.place.clone()
    }

    async fn put(&self, session: &SessionIdentity, hash: &ContentHash, content: Vec<u8>) -> LedgerResult<()> {
        let put = self.objects.put(&piece(session, hash), content.into()).await;
        put.map(drop).map_err(|error| self.failed(&error))
    }

    async fn get(&self, session: &SessionIdentity, hash: &ContentHash) -> LedgerResult<Option<Vec<u8>>> {
        let found = match self.objects.get(&piece(session, hash)).await {
            Ok(found) => found.bytes().await,
            Err(error) => Err(error),
        };
        match found {
            Ok(content) => Ok(Some(content.to_vec())),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(self.failed(&error)),
        }
    }

    async fn list(&self, session: &SessionIdentity) -> LedgerResult<Vec<StoredBlob>> {
        let now = Timestamp::now();
        let objects: Vec<ObjectMeta> =
            self.objects.list(Some(&folder_of(session))).try_collect().await.map_err(|error| self.failed(&error))?;
        Ok(objects.iter().filter_map(|object| stored(object, now)).collect())
    }

    async fn remove(
        &self,
        session: &SessionIdentity,
        pieces: &[ContentHash],
        older_than: Duration,
    ) -> LedgerResult<()> {
        for hash in pieces {
            let piece = piece(session, hash);
            if !older_than.is_zero() {
                // A storage removes without conditions, so the piece is looked at right before.
                let object = match self.objects.head(&piece).await {
                    Ok(object) => object,
                    Err(Error::NotFound { .. }) => continue,
                    Err(error) => return Err(self.failed(&error)),
                };
                if stored(&object, Timestamp::now()).is_none_or(|found| found.age < older_than) {
                    continue;
                }
            }
            match self.objects.delete(&piece).await {
                Ok(()) | Err(Error::NotFound { .. }) => {}
                Err(error) => return Err(self.failed(&error)),
            }
        }
        Ok(())
    }

    async fn sessions(&self) -> LedgerResult<Vec<SessionIdentity>> {
        let folders = self.objects.list_with_delimiter(None).await.map_err(|error| self.failed(&error))?;
        let names = folders.common_prefixes.iter().filter_map(Path::filename);
        Ok(names.filter_map(SessionIdentity::from_folder_name).collect())
    }
}
