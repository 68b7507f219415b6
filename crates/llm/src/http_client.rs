//! The HTTP client for an address.

use std::error::Error;

use reqwest::{Client, ClientBuilder, Url};

/// A system without certificates, such as a bare container, can still reach an address without TLS. The error is a reason in words.
pub(crate) fn for_address(address: &Url, options: impl Fn() -> ClientBuilder) -> Result<Client, String> {
    let built = options().build();
    let built =
        if address.scheme() == "http" { built.or_else(|_| options().tls_certs_only([]).build()) } else { built };
    built.map_err(|error| {
        let mut cause: &dyn Error = &error;
        while let Some(source) = cause.source() {
            cause = source;
        }
        format!("{cause}. On most systems the package ca-certificates has the certificates that are needed")
    })
}
