//! Writes the tar file, part by part. A part is complete before it is written, because its size comes first.

use std::io::{self, Seek as _, SeekFrom, Write};

use sha2::{Digest as _, Sha256};
use tempfile::SpooledTempFile;

use super::manifest::{Manifest, Part};
use super::part_name::PartName;

/// Larger parts are buffered on disk.
const IN_MEMORY: usize = 1 << 20;

pub(super) struct ArchiveWriter<W: Write> {
    tar: tar::Builder<W>,
    pub(super) manifest: Manifest,
}

/// A part until it is complete.
pub(super) struct PartBuffer {
    content: SpooledTempFile,
    hash: Sha256,
    bytes: u64,
}

impl PartBuffer {
    pub(super) fn new() -> Self {
        Self { content: SpooledTempFile::new(IN_MEMORY), hash: Sha256::new(), bytes: 0 }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Write for PartBuffer {
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

impl<W: Write> ArchiveWriter<W> {
    pub(super) fn new(to: W, manifest: Manifest) -> Self {
        Self { tar: tar::Builder::new(to), manifest }
    }

    pub(super) fn add(&mut self, name: &PartName, buffer: PartBuffer) -> io::Result<()> {
        let sha256 = hex::encode(buffer.hash.clone().finalize());
        let bytes = buffer.bytes;
        self.append(name, buffer)?;
        self.manifest.parts.insert(name.to_string(), Part { bytes, sha256 });
        Ok(())
    }

    /// Writes the manifest, which is the last part.
    pub(super) fn finish(mut self) -> io::Result<(W, Manifest)> {
        let mut buffer = PartBuffer::new();
        serde_json::to_writer_pretty(&mut buffer, &self.manifest)?;
        self.append(&PartName::Manifest, buffer)?;
        Ok((self.tar.into_inner()?, self.manifest))
    }

    fn append(&mut self, name: &PartName, mut buffer: PartBuffer) -> io::Result<()> {
        buffer.content.seek(SeekFrom::Start(0))?;
        let mut header = tar::Header::new_gnu();
        header.set_size(buffer.bytes);
        header.set_mode(0o600);
        header.set_mtime(self.manifest.made_at.as_second().unsigned_abs());
        self.tar.append_data(&mut header, name.to_string(), buffer.content)
    }
}
