//! Who issued a certificate? The name in it, for a message; nothing is decided by it.

/// Object identifiers, as DER has them: common name and organization (RFC 5280, appendix A).
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
const ORGANIZATION: &[u8] = &[0x55, 0x04, 0x0a];
const SEQUENCE: u8 = 0x30;
const OBJECT_IDENTIFIER: u8 = 0x06;
const VERSION: u8 = 0xa0;

/// The common name of the issuer of a DER certificate, else its organization.
pub(super) fn of(certificate: &[u8]) -> Option<String> {
    let (_, certificate, _) = element(certificate)?;
    let (_, mut signed, _) = element(certificate)?;
    let (tag, _, rest) = element(signed)?;
    if tag == VERSION {
        signed = rest;
    }
    // Serial number and algorithm come before the issuer.
    let (_, _, rest) = element(signed)?;
    let (_, _, rest) = element(rest)?;
    let (_, issuer, _) = element(rest)?;
    named(issuer, COMMON_NAME).or_else(|| named(issuer, ORGANIZATION))
}

/// The value of an attribute of a name.
fn named(mut name: &[u8], attribute: &[u8]) -> Option<String> {
    while let Some((_, set, rest)) = element(name) {
        name = rest;
        let Some((SEQUENCE, pair, _)) = element(set) else { continue };
        let Some((OBJECT_IDENTIFIER, id, value)) = element(pair) else { continue };
        if id == attribute {
            let (_, value, _) = element(value)?;
            let text: String =
                String::from_utf8_lossy(value).chars().filter(|c| !c.is_control()).collect();
            return Some(text).filter(|text| !text.is_empty());
        }
    }
    None
}

/// Tag, content and what follows, of the first element of `der`.
fn element(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = der.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = if first < 0x80 {
        (usize::from(first), rest)
    } else {
        let n_bytes = usize::from(first & 0x7f);
        if n_bytes == 0 || n_bytes > 4 {
            return None;
        }
        let length = rest.get(..n_bytes)?.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
        (length, rest.get(n_bytes..)?)
    };
    Some((tag, rest.get(..length)?, rest.get(length..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_issuer_is_named() {
        let mut authority = rcgen::CertificateParams::new(Vec::new()).unwrap();
        authority.distinguished_name.push(rcgen::DnType::OrganizationName, "Company");
        authority.distinguished_name.push(rcgen::DnType::CommonName, "Company Proxy CA");
        let key = rcgen::KeyPair::generate().unwrap();
        let certificate = authority.self_signed(&key).unwrap();
        assert_eq!(of(certificate.der()).as_deref(), Some("Company Proxy CA"));
    }

    #[test]
    fn what_is_no_certificate_names_nobody() {
        for bytes in
            [&b""[..], b"\x30", b"\x30\x84\xff\xff\xff\xff", b"\x30\x02\x30\x00", &[0x30; 64]]
        {
            assert_eq!(of(bytes), None);
        }
    }
}
