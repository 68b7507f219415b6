//! The certificates, keys and lists of revoked certificates that the settings name. They are read for every connection, so
//! that a new one counts without a restart.

use std::fs::Metadata;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use rustls::client::WebPkiServerVerifier;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use rustls::{Error, InconsistentKeys, RootCertStore};

use super::verifier::Trusted;
use crate::postgres::address::tls_settings::{ClientCertificate, Roots, SslMode, TlsSettings};

/// What servers are trusted by. `None` where the server's certificate is not checked.
pub(super) fn trusted(settings: &TlsSettings, provider: &Arc<CryptoProvider>) -> Result<Option<Trusted>, String> {
    let (roots, origin) = match &settings.roots {
        Roots::System => (system_roots()?.to_vec(), "the operating system".to_owned()),
        Roots::File(path) if path.exists() => (certificates(path)?, path.display().to_string()),
        Roots::File(_) | Roots::None if settings.mode < SslMode::VerifyCa => return Ok(None),
        Roots::File(path) => {
            return Err(format!(
                "there is no file {} with the certificates to trust; name one with `sslrootcert`, trust those of the \
                 operating system with `sslrootcert=system`, or use `sslmode=require`, which does not check who the server is",
                path.display()
            ));
        }
        Roots::None => return Err("`sslrootcert` has to name the file with the certificates to trust".to_owned()),
    };
    let mut store = RootCertStore::empty();
    let (_, unreadable) = store.add_parsable_certificates(roots.iter().cloned());
    if store.is_empty() {
        return Err(format!("{origin} has no certificate that can be trusted ({unreadable} cannot be read)"));
    }
    Ok(Some(Trusted { chains: chains(store, revoked(settings)?, provider)?, roots, origin }))
}

/// What judges chains of certificates. As in libpq, a list of revoked certificates that has expired counts no more.
pub(super) fn chains(
    roots: RootCertStore,
    revoked: Vec<CertificateRevocationListDer<'static>>,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<WebPkiServerVerifier>, String> {
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
        .with_crls(revoked)
        .enforce_revocation_expiration()
        .build()
        .map_err(|error| format!("the list of revoked certificates cannot be used: {error}"))
}

/// Read once: they are many, and change with the system.
fn system_roots() -> Result<&'static [CertificateDer<'static>], String> {
    static FOUND: OnceLock<Vec<CertificateDer<'static>>> = OnceLock::new();
    let found = FOUND.get_or_init(|| rustls_native_certs::load_native_certs().certs);
    if found.is_empty() {
        return Err("the operating system has no certificates to trust (Debian and Ubuntu: apt-get install \
                    ca-certificates)"
            .to_owned());
    }
    Ok(found)
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let unreadable = |error: String| format!("{} has no certificates that can be read: {error}", path.display());
    let found = CertificateDer::pem_file_iter(path).map_err(|error| unreadable(error.to_string()))?;
    let found: Vec<_> = found.collect::<Result<_, _>>().map_err(|error| unreadable(error.to_string()))?;
    if found.is_empty() { Err(unreadable("it has none (PEM is expected)".to_owned())) } else { Ok(found) }
}

fn revoked(settings: &TlsSettings) -> Result<Vec<CertificateRevocationListDer<'static>>, String> {
    let mut paths: Vec<_> = settings.revoked.iter().filter(|path| path.exists()).cloned().collect();
    if let Some(folder) = &settings.revoked_folder {
        let unreadable = |error: std::io::Error| format!("{} cannot be read: {error}", folder.display());
        for entry in folder.read_dir().map_err(unreadable)? {
            paths.push(entry.map_err(unreadable)?.path());
        }
    }
    let mut lists = Vec::new();
    for path in paths.iter().filter(|path| path.is_file()) {
        let unreadable = |error: rustls::pki_types::pem::Error| format!("{} cannot be read: {error}", path.display());
        for list in CertificateRevocationListDer::pem_file_iter(path).map_err(unreadable)? {
            lists.push(list.map_err(unreadable)?);
        }
    }
    Ok(lists)
}

/// The certificate that is shown to a server that asks for one.
pub(super) fn client_certificate(
    settings: &TlsSettings,
    provider: &Arc<CryptoProvider>,
) -> Result<Option<CertifiedKey>, String> {
    let missing = || match settings.client_certificate {
        ClientCertificate::Always => Err("`sslcertmode=require` needs a certificate in `sslcert`".to_owned()),
        ClientCertificate::Never | ClientCertificate::IfThere => Ok(None),
    };
    let Some(path) =
        settings.certificate.as_deref().filter(|_| settings.client_certificate != ClientCertificate::Never)
    else {
        return missing();
    };
    if !path.exists() {
        if settings.certificate_named {
            return Err(format!("there is no certificate {} (`sslcert`)", path.display()));
        }
        return missing();
    }
    let chain = certificates(path)?;
    let key_path = settings.key.as_deref().ok_or("`sslcert` needs its key in `sslkey`")?;
    let key = provider.key_provider.load_private_key(private_key(key_path)?);
    let key = key.map_err(|error| format!("the key {} cannot be used: {error}", key_path.display()))?;
    let certified = CertifiedKey::new(chain, key);
    match certified.keys_match() {
        Err(Error::InconsistentKeys(InconsistentKeys::KeyMismatch)) => {
            Err(format!("the key {} is not the one of the certificate {}", key_path.display(), path.display()))
        }
        // A certificate of version 1 cannot be compared; the server judges it.
        Ok(()) | Err(_) => Ok(Some(certified)),
    }
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, String> {
    let name = path.display();
    let metadata = std::fs::metadata(path).map_err(|error| format!("the key {name} cannot be read: {error}"))?;
    if !metadata.is_file() {
        return Err(format!("the key {name} is no plain file"));
    }
    if others_may_read(&metadata) {
        return Err(format!("the key {name} may be read by others; `chmod 600 {name}` (a key of root may be 640)"));
    }
    let text = std::fs::read(path).map_err(|error| format!("the key {name} cannot be read: {error}"))?;
    let is_encrypted = [&b"BEGIN ENCRYPTED PRIVATE KEY"[..], b"Proc-Type: 4,ENCRYPTED"]
        .iter()
        .any(|mark| text.windows(mark.len()).any(|window| window == *mark));
    if is_encrypted {
        return Err(format!(
            "the key {name} has a passphrase, and such keys cannot be read; take it off with `openssl pkey -in {name} -out NEW`"
        ));
    }
    // The reason could quote the file.
    PrivateKeyDer::from_pem_slice(&text)
        .map_err(|_| format!("{name} has no key that can be read (PEM is expected: PKCS#8, PKCS#1 or SEC1)"))
}

/// As libpq has it: the user's own key is for the user alone, and one of root's may be read by a group.
#[cfg(unix)]
fn others_may_read(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let forbidden = if metadata.uid() == 0 { 0o027 } else { 0o077 };
    metadata.mode() & forbidden != 0
}

#[cfg(not(unix))]
fn others_may_read(_: &Metadata) -> bool {
    false
}
