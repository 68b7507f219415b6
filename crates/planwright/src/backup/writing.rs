//! The tar, part by part. A part is complete before it goes in, because its size stands before it.

use std::io::{self, Seek as _, SeekFrom, Write};

use sha2::{Digest as _, Sha256};
use tempfile::SpooledTempFile;

use super::manifest::{Manifest, Part};
use super::names::PartName;

/// Larger parts wait on disk.
const IN_MEMORY: usize = 1 << 20;

pub(super) struct Writing<W: Write> {
    tar: tar::Builder<W>,
    pub(super) manifest: Manifest,
}

/// A part that is being put together.
pub(super) struct Draft {
    content: SpooledTempFile,
    hash: Sha256,
    bytes: u64,
}

impl Draft {
    pub(super) fn new() -> Self {
        Self { content: SpooledTempFile::new(IN_MEMORY), hash: Sha256::new(), bytes: 0 }
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.content.write(bytes)?;
        self.hash.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.content.flush()
    }
}

impl<W: Write> Writing<W> {
    pub(super) fn new(to: W, manifest: Manifest) -> Self {
        Self { tar: tar::Builder::new(to), manifest }
    }

    pub(super) fn add(&mut self, name: &PartName, draft: Draft) -> io::Result<()> {
        let sha256 = hex::encode(draft.hash.clone().finalize());
        let bytes = draft.bytes;
        self.append(name, draft)?;
        self.manifest.parts.insert(name.to_string(), Part { bytes, sha256 });
        Ok(())
    }

    /// Writes the manifest, which ends the archive.
    pub(super) fn finish(mut self) -> io::Result<(W, Manifest)> {
        let mut draft = Draft::new();
        serde_json::to_writer_pretty(&mut draft, &self.manifest)?;
        self.append(&PartName::Manifest, draft)?;
        Ok((self.tar.into_inner()?, self.manifest))
    }

    fn append(&mut self, name: &PartName, mut draft: Draft) -> io::Result<()> {
        draft.content.seek(SeekFrom::Start(0))?;
        let mut header = tar::Header::new_gnu();
        header.set_size(draft.bytes);
        header.set_mode(0o600);
        header.set_mtime(self.manifest.made_at.as_second().unsigned_abs());
        self.tar.append_data(&mut header, name.to_string(), draft.content)
    }
}
