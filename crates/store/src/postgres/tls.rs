//! Encrypted connections, judged as libpq judges them.
//!
//! - `files`: the certificates and keys that the settings name
//! - `certificate`, `names`: what a server's certificate says, and whether it is for the host
//! - `verifier`: whether the server is the one that was asked for
//! - `stream`: TLS below the driver, with the channel binding that SCRAM asks for

mod certificate;
mod files;
mod names;
mod stream;
mod verifier;

use std::net::IpAddr;
use std::sync::{Arc, OnceLock};

use rustls::ClientConfig;
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::ServerName;
use rustls::sign::SingleCertAndKey;
use rustls::version::{TLS12, TLS13};

use super::address::tls_settings::{SslMode, TlsSettings};
use verifier::{Checks, ServerVerifier};

pub(super) use stream::{Connector, PlainStream, TlsLayer};

/// What PostgreSQL calls itself where several protocols share a port.
const PROTOCOL: &[u8] = b"postgresql";

/// What became of a handshake, for those who have to explain it.
#[derive(Debug, Default)]
pub(super) struct Handshake {
    /// Why the server's certificate is refused.
    pub(super) refusal: OnceLock<String>,
    pub(super) began: OnceLock<()>,
    pub(super) finished: OnceLock<()>,
}

/// What a connection to `host` begins TLS with, and whether the server's certificate is checked by it. The error is in words.
pub(super) fn connector(
    settings: &TlsSettings,
    host: &str,
    handshake: &Arc<Handshake>,
) -> Result<(Connector, bool), String> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let checks = checks(settings, host, &provider)?;
    let is_verified = !matches!(checks, Checks::Nothing);
    let verifier = ServerVerifier::new(checks, provider.signature_verification_algorithms, Arc::clone(handshake));
    let versions: Vec<_> = [(settings.version_2, &TLS12), (settings.version_3, &TLS13)]
        .iter()
        .filter(|(on, _)| *on)
        .map(|(_, v)| *v)
        .collect();
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&versions)
        .map_err(|error| format!("TLS cannot be set up: {error}"))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    let mut config = match files::client_certificate(settings, &provider)? {
        Some(certified) => builder.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(certified))),
        None => builder.with_no_client_auth(),
    };
    config.enable_sni = settings.server_name;
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    Ok((Connector::new(Arc::new(config), server_name(host), Arc::clone(handshake)), is_verified))
}

/// As in libpq, roots that are there are used also where they are not asked for.
fn checks(settings: &TlsSettings, host: &str, provider: &Arc<CryptoProvider>) -> Result<Checks, String> {
    match files::trusted(settings, provider)? {
        Some(trusted) if settings.mode == SslMode::VerifyFull => Ok(Checks::ChainAndName(trusted, host.to_owned())),
        Some(trusted) => Ok(Checks::Chain(trusted)),
        None => Ok(Checks::Nothing),
    }
}

/// The name for the server, where it is one; the certificate is compared with the host itself.
fn server_name(host: &str) -> ServerName<'static> {
    ServerName::try_from(host.to_owned()).unwrap_or_else(|_| ServerName::from(IpAddr::from([0, 0, 0, 0])))
}
