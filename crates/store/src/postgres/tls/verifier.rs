//! Whether the server is the one that was asked for.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{
    WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature, verify_tls13_signature_with_raw_key,
};
use rustls::pki_types::{CertificateDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};

use super::Handshake;
use super::certificate::Certificate;
use super::names;

/// The certificates that are trusted, and where they came from.
#[derive(Debug, Clone)]
pub(super) struct Trusted {
    pub(super) chains: Arc<WebPkiServerVerifier>,
    pub(super) roots: Vec<CertificateDer<'static>>,
    /// A file, or the operating system.
    pub(super) origin: String,
}

#[derive(Debug)]
pub(super) enum Checks {
    Nothing,
    Chain(Trusted),
    ChainAndName(Trusted, String),
}

#[derive(Debug)]
pub(super) struct ServerVerifier {
    checks: Checks,
    algorithms: WebPkiSupportedAlgorithms,
    handshake: Arc<Handshake>,
}

impl ServerVerifier {
    pub(super) fn new(checks: Checks, algorithms: WebPkiSupportedAlgorithms, handshake: Arc<Handshake>) -> Self {
        Self { checks, algorithms, handshake }
    }
}

impl ServerCertVerifier for ServerVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let presented = Presented { end_entity, intermediates, server_name, now };
        let outcome = match &self.checks {
            Checks::Nothing => Ok(()),
            Checks::Chain(trusted) => presented.check_chain(trusted).map(drop),
            Checks::ChainAndName(trusted, host) => {
                presented.check_chain(trusted).and_then(|certificate| names::check(&certificate, host))
            }
        };
        outcome.map(|()| ServerCertVerified::assertion()).map_err(|reason| {
            let _ = self.handshake.refusal.set(reason);
            Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure)
        })
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.algorithms)
    }

    /// With the key alone, because a certificate of version 1 may come here where none is checked.
    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match Certificate::parse(certificate) {
            Some(parsed) => {
                let key = SubjectPublicKeyInfoDer::from(parsed.public_key);
                verify_tls13_signature_with_raw_key(message, &key, signed, &self.algorithms)
            }
            None => verify_tls13_signature(message, certificate, signed, &self.algorithms),
        }
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// What the server showed.
struct Presented<'a> {
    end_entity: &'a CertificateDer<'a>,
    intermediates: &'a [CertificateDer<'a>],
    server_name: &'a ServerName<'a>,
    now: UnixTime,
}

impl<'a> Presented<'a> {
    /// Whether a trusted certificate leads to the server's. The name is not looked at: `webpki` does not know common names.
    fn check_chain(&self, trusted: &Trusted) -> Result<Certificate<'a>, String> {
        let certificate = Certificate::parse(self.end_entity).ok_or("the server's certificate cannot be read")?;
        // A certificate that signed itself and was given as a root is the server's own, whatever it is marked as.
        if certificate.is_self_issued && trusted.roots.iter().any(|root| root.as_ref() == self.end_entity.as_ref()) {
            return self.check_time(&certificate).map(|()| certificate);
        }
        if certificate.version < 3 {
            return Err(
                "the server's certificate is of version 1, which has no place for what is checked; make a new one \
                        of version 3 (with OpenSSL: `openssl x509 -req … -extfile FILE`, with \
                        `subjectAltName=DNS:HOST` in the file)"
                    .to_owned(),
            );
        }
        let outcome =
            trusted.chains.verify_server_cert(self.end_entity, self.intermediates, self.server_name, &[], self.now);
        match outcome {
            Ok(_) => Ok(certificate),
            // The chain is looked at before the name.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(certificate),
            Err(error) => Err(describe(&error, &trusted.origin)),
        }
    }

    fn check_time(&self, certificate: &Certificate<'_>) -> Result<(), String> {
        let now = i64::try_from(self.now.as_secs()).unwrap_or(i64::MAX);
        if now > certificate.not_after {
            return Err(EXPIRED.to_owned());
        }
        if now < certificate.not_before {
            return Err(NOT_YET.to_owned());
        }
        Ok(())
    }
}

const EXPIRED: &str = "the server's certificate, or one above it, has expired; give the server a new one";
const NOT_YET: &str =
    "the server's certificate, or one above it, is not valid yet; compare the clocks of both machines";

fn describe(error: &Error, origin: &str) -> String {
    use CertificateError as Reason;
    let Error::InvalidCertificate(reason) = error else {
        return format!("the server's certificate cannot be checked: {error}");
    };
    match reason {
        Reason::Expired | Reason::ExpiredContext { .. } => EXPIRED.to_owned(),
        Reason::NotValidYet | Reason::NotValidYetContext { .. } => NOT_YET.to_owned(),
        Reason::UnknownIssuer => format!(
            "the server's certificate is not signed by any certificate of {origin}; name the authority's file with \
             `sslrootcert`"
        ),
        Reason::Revoked => "the server's certificate, or one above it, was revoked".to_owned(),
        Reason::ExpiredRevocationList | Reason::ExpiredRevocationListContext { .. } => {
            "the list of revoked certificates (`sslcrl`) has expired; fetch the authority's new one".to_owned()
        }
        Reason::UnknownRevocationStatus => {
            "no list of revoked certificates (`sslcrl`) is from the authority of the server's certificate".to_owned()
        }
        Reason::InvalidPurpose | Reason::InvalidPurposeContext { .. } => {
            "the server's certificate is not for servers (extendedKeyUsage without serverAuth)".to_owned()
        }
        // The words of `webpki`, whose errors are not part of `rustls`.
        Reason::Other(other) if format!("{other:?}").contains("CaUsedAsEndEntity") => {
            "the server's certificate is marked as one of an authority (basicConstraints CA:TRUE); make one for the server \
             with CA:FALSE, or, if it signed itself, give it as `sslrootcert`"
                .to_owned()
        }
        reason => format!("the server's certificate cannot be used: {reason}"),
    }
}

#[cfg(test)]
mod tests;
