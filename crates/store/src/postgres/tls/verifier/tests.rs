//! The certificates in `fixtures` were made by `openssl` 3.0 and are valid until the year 2126. `ca.pem` signed all but
//! `self_signed.pem` and `listed.pem`; that one is signed by `listing_ca.pem`, whose list `revoked.crl.pem` is valid until 2031.

use std::time::Duration;

use rustls::RootCertStore;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::CertificateRevocationListDer;
use rustls::pki_types::pem::PemObject as _;

use super::super::files;
use super::*;

const CA: &str = include_str!("../fixtures/ca.pem");
const SELF_SIGNED: &str = include_str!("../fixtures/self_signed.pem");
const NAMES: &str = include_str!("../fixtures/names.pem");
const COMMON_NAME: &str = include_str!("../fixtures/common_name.pem");
const VERSION_1: &str = include_str!("../fixtures/version_1.pem");
const AUTHORITY_AS_SERVER: &str = include_str!("../fixtures/authority_as_server.pem");
const LISTING_CA: &str = include_str!("../fixtures/listing_ca.pem");
const LISTED: &str = include_str!("../fixtures/listed.pem");
const REVOKED: &str = include_str!("../fixtures/revoked.crl.pem");

/// In the year 2030.
const THEN: u64 = 1_900_000_000;
/// In the year 2033.
const AFTER_THE_LIST: u64 = 2_000_000_000;
/// In the year 2191.
const TOO_LATE: u64 = 7_000_000_000;
/// In the year 2017.
const TOO_EARLY: u64 = 1_500_000_000;

fn certificate(pem: &str) -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()
}

fn judge(shown: &str, root: &str, host: Option<&str>, second: u64) -> Result<(), String> {
    judge_with_list(shown, root, None, host, second)
}

fn judge_with_list(
    shown: &str,
    root: &str,
    revoked: Option<&str>,
    host: Option<&str>,
    second: u64,
) -> Result<(), String> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let mut store = RootCertStore::empty();
    store.add(certificate(root)).unwrap();
    let revoked = revoked.map(|pem| CertificateRevocationListDer::from_pem_slice(pem.as_bytes()).unwrap());
    let chains = files::chains(store, revoked.into_iter().collect(), &provider).unwrap();
    let trusted = Trusted { chains, roots: vec![certificate(root)], origin: "root.crt".to_owned() };
    let checks = match host {
        Some(host) => Checks::ChainAndName(trusted, host.to_owned()),
        None => Checks::Chain(trusted),
    };
    let handshake = Arc::<Handshake>::default();
    let verifier = ServerVerifier::new(checks, provider.signature_verification_algorithms, Arc::clone(&handshake));
    // What is sent to the server as its name does not count.
    let name = ServerName::try_from("elsewhere.example.net").unwrap();
    let now = UnixTime::since_unix_epoch(Duration::from_secs(second));
    match verifier.verify_server_cert(&certificate(shown), &[], &name, &[], now) {
        Ok(_) => Ok(()),
        Err(_) => Err(handshake.refusal.get().cloned().unwrap()),
    }
}

#[test]
fn what_libpq_takes_is_taken() {
    for (shown, root, host) in [
        (NAMES, CA, None),
        (NAMES, CA, Some("a.example.org")),
        (NAMES, CA, Some("DB")),
        (NAMES, CA, Some("192.0.2.1")),
        (NAMES, CA, Some("2001:db8::1")),
        // No other name is there, so the common name counts.
        (COMMON_NAME, CA, Some("db.example.org")),
        // Given as its own root, although it is marked as an authority's.
        (SELF_SIGNED, SELF_SIGNED, Some("db.example.org")),
        (SELF_SIGNED, SELF_SIGNED, None),
    ] {
        judge(shown, root, host, THEN).unwrap_or_else(|reason| panic!("{host:?}: {reason}"));
    }
}

#[test]
fn what_libpq_refuses_is_refused_in_words() {
    for (shown, root, host, second, words) in [
        (NAMES, CA, Some("other.example.org.net"), THEN, "for *.example.org, db, 192.0.2.1, 2001:db8::1, and not for"),
        (NAMES, CA, Some("192.0.2.2"), THEN, "not for 192.0.2.2"),
        (COMMON_NAME, CA, Some("a.example.org"), THEN, "is for db.example.org, and not for a.example.org"),
        (NAMES, SELF_SIGNED, None, THEN, "not signed by any certificate of root.crt"),
        (SELF_SIGNED, CA, None, THEN, "sslrootcert"),
        (NAMES, CA, None, TOO_LATE, "expired"),
        (NAMES, CA, None, TOO_EARLY, "not valid yet"),
        (SELF_SIGNED, SELF_SIGNED, None, TOO_LATE, "expired"),
        (SELF_SIGNED, SELF_SIGNED, None, TOO_EARLY, "not valid yet"),
    ] {
        let reason = judge(shown, root, host, second).unwrap_err();
        assert!(reason.contains(words), "{reason}");
    }
}

#[test]
fn a_list_of_revoked_certificates_counts_until_it_expires() {
    let judged = |root, second| judge_with_list(LISTED, root, Some(REVOKED), Some("db.example.org"), second);
    assert_eq!(judged(LISTING_CA, THEN), Ok(()));
    let reason = judged(LISTING_CA, AFTER_THE_LIST).unwrap_err();
    assert!(reason.contains("(`sslcrl`) has expired"), "{reason}");
    let reason = judge_with_list(NAMES, CA, Some(REVOKED), None, THEN).unwrap_err();
    assert!(reason.contains("no list of revoked certificates"), "{reason}");
}

/// Here libpq takes what is refused, so the words say what to change.
#[test]
fn what_is_judged_more_strictly_is_told_with_what_to_change() {
    for (shown, words) in [(VERSION_1, "of version 1"), (AUTHORITY_AS_SERVER, "CA:FALSE")] {
        let reason = judge(shown, CA, Some("db.example.org"), THEN).unwrap_err();
        assert!(reason.contains(words), "{reason}");
    }
}

#[test]
fn the_common_name_does_not_count_beside_other_names() {
    let reason = judge(NAMES, CA, Some("other.example.net"), THEN).unwrap_err();
    assert!(!reason.contains("other.example.org"), "{reason}");
    let der = certificate(NAMES);
    let parsed = Certificate::parse(&der).unwrap();
    assert_eq!(parsed.common_name.as_deref(), Some("other.example.org"));
    assert_eq!((parsed.version, parsed.is_self_issued), (3, false));
    // `openssl x509 -outform der | openssl dgst -sha384`, as its signature is made with SHA-384.
    let digest = parsed.channel_binding(&der).unwrap();
    assert_eq!((digest.len(), digest[..4].to_vec()), (48, vec![0x40, 0xa9, 0x8f, 0xc8]));
    let der = certificate(VERSION_1);
    let parsed = Certificate::parse(&der).unwrap();
    assert_eq!((parsed.version, parsed.channel_binding(&der).unwrap().len()), (1, 32));
}
