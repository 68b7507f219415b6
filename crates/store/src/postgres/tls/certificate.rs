//! What a certificate says. Chains and signatures are judged by `webpki`; this reads what libpq looks at and `webpki` does not
//! tell: the common name, the version, the time of a certificate that is its own root, and what its signature was made with.

use std::net::IpAddr;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use sha2::{Digest as _, Sha224, Sha256, Sha384, Sha512};

const INTEGER: u8 = 0x02;
const OBJECT: u8 = 0x06;
const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const UTC_TIME: u8 = 0x17;
const COMMON_NAME: &[u8] = &[0x55, 4, 3];
const OTHER_NAMES: &[u8] = &[0x55, 0x1d, 0x11];

#[derive(Debug)]
pub(super) struct Certificate<'a> {
    /// 1 or 3 in practice.
    pub(super) version: u8,
    pub(super) is_self_issued: bool,
    /// Seconds since 1970.
    pub(super) not_before: i64,
    pub(super) not_after: i64,
    /// With its tag, as a signature is checked with it.
    pub(super) public_key: &'a [u8],
    pub(super) common_name: Option<String>,
    pub(super) dns_names: Vec<String>,
    pub(super) addresses: Vec<IpAddr>,
    signature: Algorithm<'a>,
}

#[derive(Debug, Clone, Copy)]
struct Algorithm<'a> {
    object: &'a [u8],
    parameters: &'a [u8],
}

/// Reads one element after the other.
#[derive(Debug, Clone, Copy)]
struct DerReader<'a>(&'a [u8]);

#[derive(Debug, Clone, Copy)]
struct DerElement<'a> {
    tag: u8,
    content: &'a [u8],
    whole: &'a [u8],
}

impl<'a> DerReader<'a> {
    fn next(&mut self) -> Option<DerElement<'a>> {
        let [tag, first, rest @ ..] = self.0 else { return None };
        let (length, header) = match *first {
            short @ 0..=0x7f => (usize::from(short), 2),
            long @ 0x81..=0x84 => {
                let count = usize::from(long - 0x80);
                let bytes = rest.get(..count)?;
                (bytes.iter().fold(0_usize, |sum, byte| (sum << 8) | usize::from(*byte)), 2 + count)
            }
            _ => return None,
        };
        let end = header.checked_add(length)?;
        let (whole, rest) = (self.0.get(..end)?, self.0.get(end..)?);
        self.0 = rest;
        Some(DerElement { tag: *tag, content: &whole[header..], whole })
    }

    fn expect(&mut self, tag: u8) -> Option<DerElement<'a>> {
        self.next().filter(|element| element.tag == tag)
    }

    /// The next element, if it has this tag.
    fn optional(&mut self, tag: u8) -> Option<DerElement<'a>> {
        if self.0.first() == Some(&tag) { self.next() } else { None }
    }
}

impl<'a> Certificate<'a> {
    pub(super) fn parse(der: &'a [u8]) -> Option<Self> {
        let mut certificate = DerReader(DerReader(der).expect(SEQUENCE)?.content);
        let mut body = DerReader(certificate.expect(SEQUENCE)?.content);
        let signature = algorithm(certificate.expect(SEQUENCE)?)?;
        let version = match body.optional(0xa0) {
            Some(version) => DerReader(version.content).expect(INTEGER)?.content.last()?.checked_add(1)?,
            None => 1,
        };
        body.expect(INTEGER)?;
        body.expect(SEQUENCE)?;
        let issuer = body.expect(SEQUENCE)?;
        let mut validity = DerReader(body.expect(SEQUENCE)?.content);
        let (not_before, not_after) = (seconds(validity.next()?)?, seconds(validity.next()?)?);
        let subject = body.expect(SEQUENCE)?;
        let public_key = body.expect(SEQUENCE)?;
        let mut parsed = Self {
            version,
            is_self_issued: issuer.whole == subject.whole,
            not_before,
            not_after,
            public_key: public_key.whole,
            common_name: common_name(subject),
            dns_names: Vec::new(),
            addresses: Vec::new(),
            signature,
        };
        // Two unique ids may stand before the extensions.
        while let Some(element) = body.next() {
            if element.tag == 0xa3 {
                parsed.read_extensions(element)?;
            }
        }
        Some(parsed)
    }

    fn read_extensions(&mut self, extensions: DerElement<'_>) -> Option<()> {
        let mut list = DerReader(DerReader(extensions.content).expect(SEQUENCE)?.content);
        while let Some(extension) = list.next() {
            let mut extension = DerReader(extension.content);
            let object = extension.expect(OBJECT)?.content;
            extension.optional(0x01);
            let value = extension.expect(0x04)?.content;
            if object != OTHER_NAMES {
                continue;
            }
            let mut names = DerReader(DerReader(value).expect(SEQUENCE)?.content);
            while let Some(name) = names.next() {
                match (name.tag, name.content.len()) {
                    (0x82, _) => self.dns_names.push(text(name.content)?),
                    (0x87, 4) => self.addresses.push(<[u8; 4]>::try_from(name.content).ok()?.into()),
                    (0x87, 16) => self.addresses.push(<[u8; 16]>::try_from(name.content).ok()?.into()),
                    _ => {}
                }
            }
        }
        Some(())
    }

    /// What both sides of a connection know of it, for SCRAM: a digest of the certificate, made as its signature was. A signature
    /// without a digest of its own has none.
    pub(super) fn channel_binding(&self, der: &[u8]) -> Option<Vec<u8>> {
        Some(match digest(self.signature)? {
            HashKind::Sha224 => Sha224::digest(der).to_vec(),
            HashKind::Sha256 => Sha256::digest(der).to_vec(),
            HashKind::Sha384 => Sha384::digest(der).to_vec(),
            HashKind::Sha512 => Sha512::digest(der).to_vec(),
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HashKind {
    Sha224,
    Sha256,
    Sha384,
    Sha512,
}

/// MD5 and SHA-1 count as SHA-256, by RFC 5929.
fn digest(algorithm: Algorithm<'_>) -> Option<HashKind> {
    const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1];
    const ECDSA: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 4];
    if let Some(kind) = algorithm.object.strip_prefix(RSA) {
        return match kind {
            [4 | 5 | 11] => Some(HashKind::Sha256),
            [10] => pss_digest(algorithm.parameters),
            [12] => Some(HashKind::Sha384),
            [13] => Some(HashKind::Sha512),
            [14] => Some(HashKind::Sha224),
            _ => None,
        };
    }
    match algorithm.object.strip_prefix(ECDSA)? {
        [1] | [3, 2] => Some(HashKind::Sha256),
        [3, 1] => Some(HashKind::Sha224),
        [3, 3] => Some(HashKind::Sha384),
        [3, 4] => Some(HashKind::Sha512),
        _ => None,
    }
}

/// RSASSA-PSS names its digest in its parameters; without one it is SHA-1.
fn pss_digest(parameters: &[u8]) -> Option<HashKind> {
    const SHA2: &[u8] = &[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2];
    let mut parameters = DerReader(DerReader(parameters).expect(SEQUENCE)?.content);
    let Some(hash) = parameters.optional(0xa0) else { return Some(HashKind::Sha256) };
    let named = algorithm(DerReader(hash.content).expect(SEQUENCE)?)?;
    match named.object.strip_prefix(SHA2) {
        Some([1]) => Some(HashKind::Sha256),
        Some([2]) => Some(HashKind::Sha384),
        Some([3]) => Some(HashKind::Sha512),
        Some([4]) => Some(HashKind::Sha224),
        Some(_) => None,
        None => Some(HashKind::Sha256),
    }
}

fn algorithm(element: DerElement<'_>) -> Option<Algorithm<'_>> {
    let mut fields = DerReader(element.content);
    let object = fields.expect(OBJECT)?.content;
    Some(Algorithm { object, parameters: fields.0 })
}

/// The first common name of the subject.
fn common_name(subject: DerElement<'_>) -> Option<String> {
    let mut sets = DerReader(subject.content);
    while let Some(set) = sets.expect(SET) {
        let mut pairs = DerReader(set.content);
        while let Some(pair) = pairs.expect(SEQUENCE) {
            let mut pair = DerReader(pair.content);
            if pair.expect(OBJECT)?.content == COMMON_NAME {
                return text(pair.next()?.content);
            }
        }
    }
    None
}

/// A name with a zero byte in it is a trick.
fn text(content: &[u8]) -> Option<String> {
    String::from_utf8(content.to_vec()).ok().filter(|name| !name.contains('\0'))
}

fn seconds(time: DerElement<'_>) -> Option<i64> {
    let digits = std::str::from_utf8(time.content).ok()?.strip_suffix('Z')?;
    let (year, rest) = digits.split_at_checked(if time.tag == UTC_TIME { 2 } else { 4 })?;
    let year: i16 = year.parse().ok()?;
    // Two digits stand for a year from 1950 to 2049.
    let year = match time.tag {
        UTC_TIME if year < 50 => 2000 + year,
        UTC_TIME => 1900 + year,
        _ => year,
    };
    let field = |at: usize| rest.get(at..at + 2)?.parse::<i8>().ok();
    let moment = DateTime::new(year, field(0)?, field(2)?, field(4)?, field(6)?, field(8)?, 0).ok()?;
    Some(moment.to_zoned(TimeZone::UTC).ok()?.timestamp().as_second())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element(tag: u8, content: &[u8]) -> Vec<u8> {
        [&[tag, u8::try_from(content.len()).unwrap()][..], content].concat()
    }

    #[test]
    fn times_are_read_in_both_forms() {
        for (tag, text, expected) in [
            (UTC_TIME, "700101000000Z", Some(0)),
            (UTC_TIME, "261119080000Z", Some(1_795_075_200)),
            (0x18, "20261119080000Z", Some(1_795_075_200)),
            (0x18, "20261319080000Z", None),
            (UTC_TIME, "261119080000", None),
        ] {
            let whole = element(tag, text.as_bytes());
            assert_eq!(seconds(DerReader(&whole).next().unwrap()), expected, "{text}");
        }
    }

    #[test]
    fn a_digest_is_the_one_of_the_signature() {
        let rsa = |kind: u8| vec![0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, kind];
        let ecdsa = |kind: u8| vec![0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, kind];
        let sha384 = element(OBJECT, &[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 2]);
        let named = element(SEQUENCE, &element(0xa0, &element(SEQUENCE, &sha384)));
        let unnamed = element(SEQUENCE, &[]);
        for (object, parameters, expected) in [
            (rsa(5), vec![], Some(HashKind::Sha256)),
            (rsa(11), vec![], Some(HashKind::Sha256)),
            (rsa(13), vec![], Some(HashKind::Sha512)),
            (rsa(10), named, Some(HashKind::Sha384)),
            (rsa(10), unnamed, Some(HashKind::Sha256)),
            (ecdsa(2), vec![], Some(HashKind::Sha256)),
            (ecdsa(4), vec![], Some(HashKind::Sha512)),
            // Ed25519 has no digest of its own.
            (vec![0x2b, 0x65, 0x70], vec![], None),
        ] {
            assert_eq!(digest(Algorithm { object: &object, parameters: &parameters }), expected, "{object:?}");
        }
    }

    #[test]
    fn what_is_cut_off_is_no_certificate() {
        for bytes in [&[][..], &[0x30], &[0x30, 0x03, 0x30], &[0x30, 0x84, 0xff, 0xff, 0xff, 0xff], &[0x30, 0x80]] {
            assert!(Certificate::parse(bytes).is_none());
        }
    }
}
