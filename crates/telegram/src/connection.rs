//! The connection to Telegram. Variables such as `HTTPS_PROXY` and `SSL_CERT_FILE` have no effect here: who starts the server could
//! put a Telegram of their own in the way, and press every button. Two guarded settings say the same.

use std::sync::Arc;
use std::time::Duration;

use reqwest::{Client, Proxy};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use sha2::{Digest as _, Sha256};

use crate::api::ApiError;
use crate::options::{CertificateFile, TelegramOptions};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) fn client(options: &TelegramOptions, timeout: Duration) -> Result<Client, ApiError> {
    let client = Client::builder().connect_timeout(CONNECT_TIMEOUT).timeout(timeout).no_proxy();
    let client = client.tls_backend_preconfigured(tls(options.certificates.as_ref())?);
    let client = match &options.proxy {
        None => client,
        Some(address) => {
            let proxy = Proxy::all(address);
            client.proxy(proxy.map_err(|_| ApiError::Settings("`telegram.proxy` is not an address".to_owned()))?)
        }
    };
    client.build().map_err(|error| ApiError::Unavailable(error.without_url().to_string()))
}

fn tls(certificates: Option<&CertificateFile>) -> Result<ClientConfig, ApiError> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    for certificate in certificates.map(read).transpose()?.unwrap_or_default() {
        let unusable = |error| ApiError::Settings(format!("a certificate of `telegram.certificates`: {error}"));
        roots.add(certificate).map_err(unusable)?;
    }
    let broken = |error: rustls::Error| ApiError::Unavailable(error.to_string());
    let builder = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().map_err(broken)?;
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// The certificates, if the file is the one that a person chose.
fn read(file: &CertificateFile) -> Result<Vec<CertificateDer<'static>>, ApiError> {
    let path = file.path.display();
    let content = std::fs::read(&file.path)
        .map_err(|error| ApiError::Settings(format!("`telegram.certificates`: {path} cannot be read: {error}")))?;
    let is_chosen = |hash: &String| *hash == hex::encode(Sha256::digest(&content));
    if !file.sha256.as_ref().is_none_or(is_chosen) {
        return Err(ApiError::Settings(format!(
            "`telegram.certificates`: {path} is not the file that was chosen; `planwright config set telegram.certificates {path}` \
             chooses it anew"
        )));
    }
    let certificates = CertificateDer::pem_slice_iter(&content).collect::<Result<Vec<_>, _>>();
    match certificates {
        Ok(certificates) if !certificates.is_empty() => Ok(certificates),
        Ok(_) | Err(_) => {
            Err(ApiError::Settings(format!("`telegram.certificates`: {path} has no certificates in PEM")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(content: &str, sha256: Option<String>) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("own.pem");
        std::fs::write(&path, content).unwrap();
        read(&CertificateFile { path, sha256 }).unwrap_err().to_string()
    }

    #[test]
    fn a_file_that_a_person_did_not_choose_is_refused() {
        let chosen = hex::encode(Sha256::digest("before"));
        assert!(refusal("after", Some(chosen.clone())).contains("is not the file that was chosen"));
        assert!(refusal("before", Some(chosen)).contains("has no certificates"));
        assert!(refusal("", None).contains("has no certificates"));
    }
}
