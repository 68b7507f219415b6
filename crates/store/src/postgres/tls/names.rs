//! Whether a certificate is for a host, by the rules of libpq.

use std::net::IpAddr;

use super::certificate::Certificate;

/// The error says what the certificate is for.
pub(super) fn check(certificate: &Certificate<'_>, host: &str) -> Result<(), String> {
    let names = certificate.dns_names.iter();
    let address: Option<IpAddr> = host.parse().ok();
    let is_named = names.clone().any(|name| matches(name, host))
        || address.is_some_and(|address| certificate.addresses.contains(&address));
    // The common name counts only where no other name of the same kind is there.
    let others = if address.is_some() { certificate.addresses.is_empty() } else { certificate.dns_names.is_empty() };
    let common = certificate.common_name.iter().filter(|_| others);
    if is_named || common.clone().any(|name| matches(name, host)) {
        return Ok(());
    }
    let addresses = certificate.addresses.iter().map(ToString::to_string);
    let known: Vec<_> = names.chain(common).cloned().chain(addresses).map(|name| shown(&name)).collect();
    Err(match known.as_slice() {
        [] => format!("the server's certificate names no host, and {host} was asked for"),
        known => format!(
            "the server's certificate is for {}, and not for {host}; name the server as its certificate does (`hostaddr` says \
             where it is), or use `sslmode=verify-ca`",
            known.join(", ")
        ),
    })
}

/// `*.example.org` is for one name below it, and for nothing deeper.
fn matches(pattern: &str, host: &str) -> bool {
    if pattern.eq_ignore_ascii_case(host) {
        return true;
    }
    let Some(suffix) = pattern.strip_prefix('*').filter(|suffix| suffix.starts_with('.') && suffix.len() > 1) else {
        return false;
    };
    let Some(at) = host.len().checked_sub(suffix.len()).filter(|at| *at > 0) else { return false };
    host.is_char_boundary(at) && host[at..].eq_ignore_ascii_case(suffix) && !host[..at].contains('.')
}

/// A server that was not recognised chose these words.
fn shown(name: &str) -> String {
    name.chars().filter(char::is_ascii_graphic).take(100).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_one_name() {
        for (pattern, host, expected) in [
            ("db.example.org", "db.example.org", true),
            ("DB.example.org", "db.EXAMPLE.org", true),
            ("*.example.org", "db.example.org", true),
            ("*.example.org", "a.db.example.org", false),
            ("*.example.org", "example.org", false),
            ("*.example.org", ".example.org", false),
            ("d*.example.org", "db.example.org", false),
            ("*", "db", false),
            ("*.", "db.", false),
            ("*.example.org", "ä.example.org", true),
            ("192.0.2.1", "192.0.2.1", true),
        ] {
            assert_eq!(matches(pattern, host), expected, "{pattern} {host}");
        }
    }
}
